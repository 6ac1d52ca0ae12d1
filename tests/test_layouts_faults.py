"""One slip at a time in careful layouts is found at its cell; what only looks like one is not."""

import re
from importlib import import_module

import pytest
from layouts import workbook, write

import xlcheck

WRONG = [
    ("quarterly_flows", "DCF", "E36 =Q28*(1+E6)/(E5-E6)", "terminal.gordon-identity", "DCF!E36"),
    ("quarterly_flows", "DCF", "F31:Q31 =1/(1+$E$5)^F29", "discount.factor-identity", "DCF!F31:Q31"),
    ("quarterly_flows", "DCF", "E40 =E12", "bridge.signs", "DCF!E40"),
    (
        "quarterly_flows", "DCF", "E12 =E15\nB15 Short-term debt\nE15 38\nB16 Long-term debt\nE16 120",
        "bridge.completeness", "DCF!E41",
    ),
    ("present_value_function", "Sheet1", "B15 =B13*B8+B14*B9", "wacc.identity", "Sheet1!B15"),
    ("labels_on_the_right", "Intrinsic Value", "B30 =B28/Shares", "bridge.per-share", "Intrinsic Value!B30"),
    (
        "labels_on_the_right", "Intrinsic Value", "B27 =B26/(1+RequiredReturn)^4", "terminal.discounted-once",
        "Intrinsic Value!B27",
    ),
    (
        "labels_on_the_right", "Intrinsic Value", "C21:G21 =C17+C18-C18-C20", "flow.fcff-identity",
        "Intrinsic Value!C21",
    ),
    ("averaged_terminal_values", "Control", "F22:K22 =OFFSET(F22,4-$F$8,0)", "scenario.switch-works", "Control!F22"),
    ("averaged_terminal_values", "DCF", "F26 =F25*K18", "terminal.discounted-once", "DCF!F26"),
    ("averaged_terminal_values", "DCF", "F33 =F28+F29+F31+F32", "bridge.equity-identity", "DCF!F33"),
    ("averaged_terminal_values", "DCF", "F25 =K8*Control!F11", "terminal.exit-multiple-identity", "DCF!F25"),
    ("russian_roubles", "Оценка", "B34 =B32+B33", "bridge.signs", "Оценка!B34"),
    ("russian_roubles", "Оценка", "B12 =B11*B7+B10*B8", "wacc.identity", "Оценка!B12"),
    ("russian_roubles", "Оценка", "B38 =B37/B36-1", "bridge.upside", "Оценка!B38"),
    ("russian_roubles", "Оценка", "B7 =B4*B5+B6", "wacc.capm", "Оценка!B7"),
    ("russian_roubles", "Оценка", "B24:F24 =B20+B21+B19-B22-B23", "flow.fcff-identity", "Оценка!B24"),
    ("sum_of_the_parts", "SOTP", "D43 =D16+D28", "bridge.enterprise-value", "SOTP!D43"),
    ("sum_of_the_parts", "SOTP", "D40 =SUM(E38:I38)+D39", "bridge.enterprise-value", "SOTP!D40"),
    ("sum_of_the_parts", "SOTP", "D36 11%", "fatal.growth-not-below-wacc", "SOTP!D36"),
    ("assumptions_by_key", "valuation", "B11 =B7+B8-B9", "bridge.equity-identity", "valuation!B11"),
    ("assumptions_by_key", "valuation", "B5 =model!F11*(1+B3)/(B2-B3)", "terminal.gordon-identity", "valuation!B5"),
    ("assumptions_by_key", "model", "C10:G10 =C9-B9", "flow.nwc-sign", "model!C10"),
    ("excess_returns", "Equity valuation", "B30 =B26+B27+B28", "terminal.discounted-once", "Equity valuation!B30"),
    ("excess_returns", "Equity valuation", "B7 =B4*B5+B6", "wacc.capm", "Equity valuation!B7"),
    ("peers_and_exit_on_ebit", "Peers", "E7 =B7/(1+(1-D6)*C7)", "recompute.row-consistency", "Peers!E7"),
    ("peers_and_exit_on_ebit", "Drivers", "F11 =AVERAGE(B11:C11)", "recompute.row-consistency", "Drivers!F11"),
    ("peers_and_exit_on_ebit", "WACC", "B8 =B7*(1+(1-B5)*B6)", "wacc.relevered-beta", "WACC!B8"),
    ("peers_and_exit_on_ebit", "WACC", "B9 =B3+B8*B4", "wacc.capm", "WACC!B9"),
    ("peers_and_exit_on_ebit", "DCF", "E15:I15 =E7-E10+E8-E12-E14", "flow.fcff-identity", "DCF!E15"),
    ("peers_and_exit_on_ebit", "DCF", "E12:I12 =E5*Drivers!$F$11", "flow.row-is-what-it-says", "DCF!E12"),
    ("peers_and_exit_on_ebit", "DCF", "B32 =SUM(B29,B31)", "bridge.equity-identity", "DCF!B32"),
    ("net_income_to_firm", "Model", "C13:G13 =(C10+C11-C12)-(B10+B11-B12)", "flow.nwc-sign", "Model!C13"),
    ("net_income_to_firm", "Model", "C7:G7 =C6", "flow.fcff-identity", "Model!C7"),
    ("net_income_to_firm", "Model", "C15:G15 =C4+C6+C8+C13-C9", "flow.fcff-identity", "Model!C6"),
    (
        "net_income_to_firm", "Model",
        "A55:B55 Options (m) | 20\nA56:B56 Strike price | 6\nB61 =B55-B55*B52/B56\nB48:C48 =$B$37+$B$61",
        "bridge.diluted-shares", "Model!B61",
    ),
    ("net_income_to_firm", "Model", "B42 =NPV(B34,D15:G15)", "recompute.range-coverage", "Model!B42"),
    (
        "peers_and_exit_on_ebit", "WACC", "A12 After-tax cost of debt\nB12 =B10*(1-B5)\nB11 =(0.7*B9+0.1*7%+0.2*B10)/1",
        "wacc.identity", "WACC!B11",
    ),
    (
        "peers_and_exit_on_ebit", "DCF", "C40 Factor of the terminal value\nD40 =H16\nB25 =B23*D40",
        "terminal.discounted-once", "DCF!D40",
    ),
    ("chance_of_failure", "Valuation output", "M9 =M7", "flow.fcff-identity", "Valuation output!M9"),
    (
        "net_income_to_firm", "Model", "A18 Net working capital\nB18:G18 =B10+B11+B12\nC13:G13 =B18-C18",
        "flow.nwc-sign", "Model!C18",
    ),
    (
        "net_income_to_firm", "Model",
        "A14 Net cash flow from operations\nC14:G14 =C4+C8+C13\nC15:G15 =C14-C6*(1-$B$36)-C9",
        "flow.fcff-identity", "Model!C15",
    ),
    ("two_columns_of_methods", "Control", "E9 =INDEX(B9:D9,1)", "scenario.switch-works", "Control!E9"),
    (
        "peers_and_exit_on_ebit", "Drivers",
        "A13 Growth\nC13:D13 =C4/B4-1\nF13 =AVERAGE(C13:D13)\nA14 D&A to capex\nB14:D14 =B6/B5\nF14 =AVERAGE(B14:D14)\n"
        "F11 =AVERAGE(B11:C11)",
        "recompute.row-consistency", "Drivers!F11",
    ),
    (
        "net_income_to_firm", "Model", "A14 NOPAT\nC14:G14 =C4+C7\nC15:G15 =C14+C8+C13-C9\nC7:G7 =C6",
        "flow.fcff-identity", "Model!C7",
    ),
    (
        "two_columns_of_methods", "Model",
        "A16 Interest\nC16:G16 5 | 5 | 5 | 5 | 5\nA17 Profit before tax\nC17:G17 =C7-C16\nA18 Tax\n"
        "C18:G18 =C17*Control!$B$11\nA8 Taxes on EBIT\nC8:G8 =C18",
        "flow.tax-on-ebit", "Model!C8",
    ),
    ("two_columns_of_methods", "DCF", "C13 =F6", "terminal.discounted-once", "DCF!C14"),
    ("two_columns_of_methods", "DCF", "C17 =-Model!$B$15", "bridge.signs", "DCF!C17"),
    ("two_columns_of_methods", "DCF", "B18:C18 =B15+B17", "bridge.completeness", "DCF!B18"),
    ("two_columns_of_methods", "DCF", "B17:C17 =Model!$C$15\nB16:C16 =-Model!$C$14", "bridge.balance-date", "DCF!B16"),
    ("two_columns_of_methods", "DCF", "B32 =B30+B31", "bridge.diluted-shares", "DCF!B32"),
    ("two_columns_of_methods", "DCF", "C4:F4 =Model!C12", "recompute.row-consistency", "DCF!C4"),
    ("two_columns_of_methods", "Summary", "B5 =Control!B18*B3+Control!B18*B4", "bridge.per-share", "Summary!B5"),
    ("net_income_to_firm", "Model", "B60 =B57+B58-B59", "bridge.net-debt", "Model!B60"),
    ("chance_of_failure", "Valuation output", "B29 =B27+B28", "bridge.signs", "Valuation output!B29"),
]  # fmt: skip
RIGHT = [
    ("quarterly_flows", "flows in the middle of each quarter", "DCF", "F30:Q30 =(F29-0.5)/4"),
    (
        "quarterly_flows", "debt in two parts", "DCF",
        "E12 =E15+E16\nB15 Short-term debt\nE15 38\nB16 Long-term debt\nE16 120",
    ),
    ("quarterly_flows", "debt typed negative and added", "DCF", "E12 -38\nE40 =E12"),
    (
        "quarterly_flows", "customers finance the growth", "DCF",
        "B26 Net working capital (deferred revenue)\nB27 Change in deferred revenue\nF27:Q27 =F26-E26",
    ),
    ("peers_and_exit_on_ebit", "one average of the latest years alone", "Drivers", "F11 =AVERAGE(C11:D11)"),
    (
        "peers_and_exit_on_ebit", "one line of averages over fewer years, in all columns", "Drivers",
        "F11 =AVERAGE($B$11:$C$11)\nG9 =AVERAGE($B$9:$D$9)\nG10 =AVERAGE($B$10:$D$10)\nG11 =AVERAGE($B$11:$C$11)\n"
        "G12 =AVERAGE($B$12:$D$12)",
    ),
    ("labels_on_the_right", "investment net of depreciation", "Intrinsic Value", "C21:G21 =C17-(C19-C18)-C20"),
    ("averaged_terminal_values", "the plain mean of both methods", "DCF", "F27 =AVERAGE(F24,F26)"),
    ("assumptions_by_key", "another lookup", "valuation", 'B8 =VLOOKUP("cash",assumptions!$A:$B,2,FALSE)'),
    ("chance_of_failure", "options negative and added", "Valuation output", "B28 =-'Input sheet'!B20\nB29 =B27+B28"),
    ("russian_roubles", "net cash", "Оценка", "B33 -350"),
    ("sum_of_the_parts", "a segment that loses money", "SOTP", "E32:I32 -12 | -8 | -4 | 3 | 9"),
]  # fmt: skip


def audited(folder, name, sheet, edit):
    book = workbook(import_module(f"layouts.{name}").LAYOUT)
    for line in edit.splitlines():
        write(book[sheet], line)
    path = folder / "model.xlsx"
    book.save(path)
    return xlcheck.audit(path).model_dump(mode="json")["results"]


def failed(results):
    return {one["check_id"]: one for one in results if one["status"] in ("fail", "partial")}


@pytest.mark.parametrize(("name", "sheet", "edit", "check", "cell"), WRONG, ids=[f"{one[0]}-{one[3]}" for one in WRONG])
def test_slip_is_found_at_its_cell(name, sheet, edit, check, cell, tmp_path):
    found = failed(audited(tmp_path, name, sheet, edit))
    assert check in found
    places = [finding["cell"] or "" for finding in found[check]["findings"]]
    assert any(re.split(r"[:]", place)[0] == cell.partition(":")[0] for place in places), places


@pytest.mark.parametrize(("name", "what", "sheet", "edit"), RIGHT, ids=[one[1] for one in RIGHT])
def test_what_only_looks_like_a_slip_is_not_accused(name, what, sheet, edit, tmp_path):
    found = failed(audited(tmp_path, name, sheet, edit))
    assert [check for check, one in found.items() if one["severity"] != "warn" and not one["caused_by"]] == []


BLENDED = "C26 Blended terminal value\nF26 =Control!F12*F23+{rest}*F25\nC27 PV of terminal value\nF27 =F26*K18"


def test_weights_of_two_terminal_values_are_one_fault_of_one_check(tmp_path):
    found = failed(audited(tmp_path, "averaged_terminal_values", "DCF", BLENDED.format(rest="0.7")))
    assert [finding["cell"] for finding in found["terminal.gordon-identity"]["findings"]] == ["DCF!F26"]
    assert "bridge.per-share" not in found
    assert failed(audited(tmp_path, "averaged_terminal_values", "DCF", BLENDED.format(rest="(1-Control!F12)"))) == {}
