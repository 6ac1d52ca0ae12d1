"""Checks of family recompute on small invented workbooks: each fault beside its look-alike."""

from dataclasses import replace

import pytest
from checking_helper import accused, audit, bound, model_roles, write
from planted import clean_model, with_stored_values

from xlcheck.cells import CellRef
from xlcheck.checking import Request, Workpaper, run_checks
from xlcheck.engines import Unsolved
from xlcheck.graph import build_graph
from xlcheck.recompute import recompute
from xlcheck.workbook import CalcSettings, load

HEADLINE = {"value_per_share": "M!B9", "equity_value": "M!B8"}
SMALL = {
    "M!A1": ["Key", "Low", "Mid", "High"],
    "M!A8": ["Equity value", 900],
    "M!A9": ["Value per share", "=B8/30"],
}


def one(folder, check, cells, roles=HEADLINE):
    return audit(write(folder, cells), roles, [check])[check]


def on_book(folder, check, cells, roles=HEADLINE, calc=None, values=None):
    """Run one check with other calculation settings or recomputed values than the file gives."""
    book = load(write(folder, cells))
    book = book if calc is None else replace(book, calc=calc)
    recalc = recompute(book)
    if values:
        recalc = replace(recalc, values={**recalc.values, **values})
    paper = Workpaper(book, recalc, build_graph(book), bound(recalc, roles, {}, None))
    return run_checks(paper, [Request(check)])[0]


def test_a_forged_result_is_stale_at_its_own_cell_only(tmp_path):
    cells = {"M!A7": ["Base", 120], "M!A8": ["Equity value", "=B7*3"], "M!A9": ["Value per share", "=B8/30"]}
    path = with_stored_values(write(tmp_path, cells), {"M!B8": 999.0, "M!B9": 33.3})
    result = audit(path, HEADLINE, ["recompute.cached-values-match"])["recompute.cached-values-match"]
    assert accused(result) == {"M!B8"}
    assert (result.findings[0].found, result.findings[0].expected) == (999.0, 360.0)


def test_stored_values_that_follow_and_files_without_any_pass(tmp_path):
    cells = {"M!A7": ["Base", 120], "M!A8": ["Equity value", "=B7*3"], "M!A9": ["Value per share", "=B8/30"]}
    path = write(tmp_path, cells)
    assert audit(path, HEADLINE, ["recompute.cached-values-match"])["recompute.cached-values-match"].convention
    right = with_stored_values(path, {"M!B8": 360.0, "M!B9": 12.0})
    assert audit(right, HEADLINE, ["recompute.cached-values-match"])["recompute.cached-values-match"].status == "pass"


def test_an_error_behind_the_headline_is_named_where_it_begins(tmp_path):
    cells = {
        "M!A6": ["Count", 0],
        "M!A7": ["Ratio", "=5/B6"],
        "M!A8": ["Equity value", "=B7*3"],
        "M!A9": ["Value", "=B8/30"],
    }
    result = one(tmp_path, "recompute.no-error-values", cells)
    assert "M!B7" in accused(result)
    assert result.findings[0].found == "#DIV/0!"


def test_an_error_that_no_output_reads_is_none(tmp_path):
    cells = {**SMALL, "M!A3": ["Side", "=1/0"], "M!A4": ["Caught", "=IFERROR(B3,0)"]}
    assert one(tmp_path, "recompute.no-error-values", cells).status == "pass"


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ('=VLOOKUP("Mid",$D$2:$E$4,2)*100', "fail"),
        ('=VLOOKUP("Mid",$D$2:$E$4,2,FALSE)*100', "pass"),
        ('=INDEX($E$2:$E$4,MATCH("Mid",$D$2:$D$4,0))*100', "pass"),
        ("=LOOKUP(2,$G$2:$G$4,$E$2:$E$4)*100", "pass"),
        ("=INDEX($E$2:$E$4,MATCH(1E+306,$H$2:$H$4))*100", "pass"),
    ],
)
def test_only_an_approximate_lookup_on_unsorted_keys_fails(tmp_path, formula, status):
    cells = {
        **SMALL,
        "M!D2": ["Zeta", 9, None, 1, 3],
        "M!D3": ["Mid", 8, None, 2, 1],
        "M!D4": ["Alpha", 7, None, 3, 2],
        "M!A8": ["Equity value", formula],
    }
    assert one(tmp_path, "recompute.lookup-mode", cells).status == status


def test_a_note_written_as_a_formula_does_not_parse(tmp_path):
    path = write(tmp_path, {**SMALL, "M!C3": "=4.30% + 0.91 × 5.50% = 9.31%"})
    result = audit(path, HEADLINE, ["recompute.formulas-parse"])["recompute.formulas-parse"]
    assert accused(result) == {"M!C3"}


@pytest.mark.parametrize("formula", ['="(" & A9', "=SUM('M'!B8:'M'!B9)", "=NOFUNCTION(B8)", "=B8 /\n 2"])
def test_odd_but_valid_formulas_parse(tmp_path, formula):
    path = write(tmp_path, {**SMALL, "M!C3": formula})
    assert audit(path, HEADLINE, ["recompute.formulas-parse"])["recompute.formulas-parse"].status == "pass"


def test_a_link_to_another_workbook_counts_only_behind_the_headline(tmp_path):
    behind = one(tmp_path, "recompute.no-external-links", {**SMALL, "M!A8": ["Equity value", "=[1]Other!B2*3"]})
    assert accused(behind) == {"M!B8"}
    beside = one(tmp_path, "recompute.no-external-links", {**SMALL, "M!D3": "=[1]Other!B2"})
    assert beside.status == "pass"
    assert beside.convention


@pytest.mark.parametrize(
    ("calc", "check", "status"),
    [
        (CalcSettings(mode="manual"), "recompute.calc-mode", "fail"),
        (CalcSettings(full_precision=False), "recompute.calc-mode", "fail"),
        (CalcSettings(mode="autoNoTable"), "recompute.calc-mode", "pass"),
        (CalcSettings(date1904=True), "recompute.date-system", "fail"),
        (CalcSettings(), "recompute.date-system", "pass"),
    ],
)
def test_calculation_settings_are_warned_of(tmp_path, calc, check, status):
    result = on_book(tmp_path, check, SMALL, calc=calc)
    assert (result.status, result.severity) == (status, "warn")


def test_a_loop_is_accused_without_iteration_and_an_indeterminate_one_by_its_own_check(tmp_path):
    cells = {
        "M!A6": ["Sales", 100],
        "M!A7": ["Profit", "=B6*B8"],
        "M!A8": ["Margin", "=B7/B6"],
        "M!A9": ["Value", "=B7/5"],
    }
    roles = {"value_per_share": "M!B9"}
    result = on_book(tmp_path, "recompute.circularity", cells, roles)
    assert result.status == "fail"
    assert {"M!B7", "M!B8"} <= accused(result)
    loose = Unsolved(kind="indeterminate_loop", detail="two starts give two results")
    values = {CellRef.parse("M!B7"): loose, CellRef.parse("M!B8"): loose}
    found = on_book(tmp_path, "recompute.indeterminate-loop", cells, roles, values=values)
    assert accused(found) == {"M!B7", "M!B8"}


def test_a_check_that_rounds_its_gap_away_is_shown_with_the_raw_gap(tmp_path):
    cells = {"M!A1": ["Assets", 1004], "M!A2": ["Liabilities and equity", 1000], "M!A3": ["Check", "=ROUND(B1-B2,-1)"]}
    result = one(tmp_path, "recompute.check-cells", cells)
    assert accused(result) == {"M!B3"}
    assert result.findings[0].found == 4.0


@pytest.mark.parametrize("content", ["=ROUND(B1-B2,2)", '=IF(ABS(B1-B2)<0.01,"OK","ERROR")', "=B1-B2"])
def test_a_check_that_holds_is_silent(tmp_path, content):
    cells = {"M!A1": ["Assets", 1004], "M!A2": ["Liabilities and equity", 1004], "M!A3": ["Check", content]}
    assert one(tmp_path, "recompute.check-cells", cells).status == "pass"


@pytest.mark.parametrize(
    ("sheet", "label", "content"),
    [
        ("校验", "权益价值勾稽", '=IF(ABS(M!B1-M!B2)<0.01,"通过","不通过")'),
        ("检查", "負債與權益", '=IF(M!B1=M!B2,"OK","錯誤：差異")'),
        ("整合性チェック", "貸借の一致", '=IF(ABS(M!B1-M!B2)<1,"OK","NG")'),
        ("核對", "資產負債差異", "=M!B1-M!B2"),
        ("Checks", "Assets equal claims", "=ABS(M!B1-M!B2)<0.01"),
        ("6_检查", "资产与权益", "通过"),
    ],
)
def test_what_fails_on_a_sheet_of_checks_is_named_in_any_language(tmp_path, sheet, label, content):
    cells = {"M!A1": ["Assets", 1004], "M!A2": ["Liabilities and equity", 1000]}
    cells[f"{sheet}!A2"] = [label, content] if content.startswith("=") else [label, "=M!B1-M!B2", content]
    result = one(tmp_path, "recompute.check-cells", cells)
    assert accused(result) == {f"{sheet}!B2" if content.startswith("=") else f"{sheet}!C2"}


@pytest.mark.parametrize(
    ("label", "content"),
    [
        ("权益价值勾稽", '=IF(ABS(M!B1-M!B2-4)<0.01,"通过","不通过")'),
        ("每股价值与现价差异", "=M!B1-M!B2"),
        ("终值占比合理性", '=IF(M!B1>M!B2,"异常","通过")'),
        ("增长率不高于折现率", "=M!B1<M!B2"),
        ("资产合计", "=M!B1-M!B2"),
        ("两年收入差额", "=M!B1-M!B2"),
        ("是否为乐观情景", "=M!B1=3"),
    ],
)
def test_what_holds_or_need_not_hold_on_a_sheet_of_checks_is_silent(tmp_path, label, content):
    cells = {"M!A1": ["Assets", 1004], "M!A2": ["Liabilities and equity", 1000], "校验!A2": [label, content]}
    assert one(tmp_path, "recompute.check-cells", cells).status in ("pass", "not_applicable")


def test_an_unanchored_assumption_that_slides_onto_blanks_breaks_the_row(tmp_path):
    years = ["Year", 2026, 2027, 2028, 2029]
    cells = {
        "M!A1": years,
        "M!A2": ["Debt", 10, 11, 12, 13],
        "M!A3": ["Tax rate", None, None, None, None],
        "M!H3": 0.25,
        "M!A4": ["After tax", "=B2*(1-H3)", "=C2*(1-I3)", "=D2*(1-J3)", "=E2*(1-K3)"],
    }
    result = one(tmp_path, "recompute.row-consistency", cells, {})
    assert accused(result) == {"M!C4"}
    anchored = {**cells, "M!A4": ["After tax", "=B2*(1-$H3)", "=C2*(1-$H3)", "=D2*(1-$H3)", "=E2*(1-$H3)"]}
    assert one(tmp_path, "recompute.row-consistency", anchored, {}).status == "pass"


@pytest.mark.parametrize(
    "row",
    [
        ["Line", "=B9*1", "=B2*$H$1", "=C2*$H$1", "=D2*$H$1"],
        ["Line", "=B2*$H$1", "=ROUND(C2*$H$1,0)", "=D2*$H$1", "=E2*$H$1"],
        ["Line", "=B2*$H$1", "=C2*$H$1", "=D2*$H$1", "=E2*(1+$H$2)/($H$1-$H$2)"],
        ["Line", "=B2*H3", "=C2*H4", "=D2*H5", "=E2*H6"],
        ["Line", "=B2/(1+$H$1)^1", "=C2/(1+$H$1)^2", "=D2/(1+$H$1)^3", "=E2/(1+$H$1)^4"],
    ],
)
def test_accepted_ways_of_filling_a_row_pass(tmp_path, row):
    cells = {
        "M!A1": ["Year", 2026, 2027, 2028, 2029],
        "M!A2": ["Flow", 10, 11, 12, 13],
        "M!A9": ["Base", 9],
        "M!A10": row,
        **{f"M!H{number}": 0.1 + number / 100 for number in range(1, 7)},
    }
    assert one(tmp_path, "recompute.row-consistency", cells, {}).status == "pass"


@pytest.mark.parametrize(("heading", "status"), [("Terminal", "pass"), (2030, "fail")])
def test_a_terminal_column_may_read_another_line(tmp_path, heading, status):
    cells = {
        "M!A1": ["Year", 2026, 2027, 2028, 2029, heading],
        "M!A2": ["Flow", 10, 11, 12, 13, 14],
        "M!A3": ["Terminal value", None, None, None, None, 200],
        "M!A4": ["Factor", 0.9, 0.8, 0.7, 0.6, 0.6],
        "M!A5": ["Present value", "=B2*B4", "=C2*C4", "=D2*D4", "=E2*E4", "=F3*F4"],
    }
    assert one(tmp_path, "recompute.row-consistency", cells, {}).status == status


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ("=B8*1.02+37", "fail"),
        ("=B8*12/365", "pass"),
        ("=B8/1000000", "pass"),
        ("=MAX(0,B8)*(1-B7)^2", "pass"),
        ("=B8/2", "pass"),
    ],
)
def test_literals_that_are_assumptions_are_told_from_units_and_counters(tmp_path, formula, status):
    cells = {"M!A7": ["Share", 0.1], "M!A8": ["Equity value", 900], "M!A9": ["Value per share", formula]}
    assert one(tmp_path, "recompute.no-hardcoded-forecast", cells, {"value_per_share": "M!B9"}).status == status


def test_typed_actuals_and_carried_levels_are_inputs(tmp_path):
    cells = {
        "M!A1": ["Year", "2023A", "2024A", "2025A", "2026E", "2027E", "2028E", "2029E"],
        "M!A2": ["Sales", 90, 95, 100, "=D2*1", "=E2*1", "=F2*1", "=G2*1"],
        "M!A3": ["Days", 60, 60, 60, "=D3", "=E3", 55, "=G3"],
    }
    assert one(tmp_path, "recompute.no-hardcoded-forecast", cells, {}).status == "pass"


def test_a_moving_window_and_a_terminal_column_are_covered_ranges(tmp_path):
    cells = {
        "M!A1": ["Year", 2026, 2027, 2028, 2029, "Terminal"],
        "M!A2": ["Flow", "=10*1", "=B2*2", "=C2*2", "=D2*2", "=E2*3"],
        "M!A3": ["Sum to date", "=SUM($B2:B2)", "=SUM($B2:C2)", "=SUM($B2:D2)", "=SUM($B2:E2)"],
        "M!A5": ["Sum", "=SUM(B2:E2)"],
    }
    assert one(tmp_path, "recompute.range-coverage", cells, {}).status == "pass"
    short = {**cells, "M!A2": ["Flow", 10, "=B2*2", "=C2*2", "=D2*2"], "M!A5": ["Sum", "=SUM(B2:D2)"]}
    assert accused(one(tmp_path, "recompute.range-coverage", short, {})) == {"M!B5"}


def test_a_template_without_inputs_accuses_nothing_of_the_outputs(tmp_path):
    model = clean_model()
    for key in ("wacc", "terminal_growth", "shares"):
        model.set(key, None)
    ids = ["recompute.no-blank-outputs", "recompute.outputs-are-live"]
    found = audit(model.save(tmp_path / "template.xlsx"), model_roles(model), ids)
    assert {result.status for result in found.values()} <= {"pass", "not_applicable", "unverifiable"}


def typed_ends(row, **more):
    return {
        "M!A1": ["Year", 2026, 2027, 2028, 2029, 2030],
        "M!A2": ["Sales", 100, 110, 121, 133, 146],
        "M!A3": ["Capex share", 0.05, 0.05, 0.05, 0.05, 0.05],
        "M!A4": row,
        **{f"M!A{line}": ["More", *(f"={column}2*{line}" for column in "BCDEF")] for line in (5, 6)},
        **{f"M!{where}": content for where, content in more.items()},
    }


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        (["Capex", "=B2*B3", "=C2*C3", "=D2*D3", "=E2*E3", 9], {"M!F4"}),
        (["Capex", 9, "=C2*C3", "=D2*D3", "=E2*E3", "=F2*F3"], {"M!B4"}),
        (["Capex", 9, "=C2*$H$1", "=D2*$H$1", "=E2*$H$1", "=F2*$H$1"], set()),
        (["Sales plan", 9, "=B4*1", "=C4*1", "=D4*1", "=E4*1"], set()),
        (["Rate", "=B3*1", "=C3*1", "=D3*1", "=E3*1", 0.04], set()),
        (["Glide", "=10+($F4-10)*B3", "=10+($F4-10)*C3", "=10+($F4-10)*D3", "=10+($F4-10)*E3", 9], set()),
    ],
)
def test_a_typed_amount_at_the_end_of_a_line_is_found_and_inputs_are_not(tmp_path, row, cells):
    assert accused(one(tmp_path, "recompute.no-hardcoded-forecast", typed_ends(row, H1=0.05), {})) == cells


def test_a_typed_year_over_links_is_found_and_a_new_level_of_a_repeated_one_is_not(tmp_path):
    links = ["Capex", "=P!B4", "=P!C4", 9, "=P!E4", "=P!F4"]
    plan = {"P!A4": ["Capex", 5, 6, 7, 8, 9]}
    assert accused(one(tmp_path, "recompute.no-hardcoded-forecast", typed_ends(links) | plan, {})) == {"M!D4"}
