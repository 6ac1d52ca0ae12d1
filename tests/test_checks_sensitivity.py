"""Checks of families sensitivity and scenario on small invented workbooks."""

import zipfile

import pytest
from checking_helper import accused, audit, write

ROLES = {"wacc": "M!B1", "terminal_growth": "M!B2", "enterprise_value": "M!B7", "sum_pv_fcff": "M!B5"}
MODEL = {
    "M!A1": ["WACC", 0.1],
    "M!A2": ["Terminal growth", 0.02],
    "M!A3": ["Flow", 50],
    "M!A5": ["PV of flows", "=B3/(1+B1)"],
    "M!A6": ["Terminal value", "=B3*(1+B2)/(B1-B2)/(1+B1)"],
    "M!A7": ["Enterprise value", "=B5+B6"],
}
RATES, GROWTHS = (0.09, 0.095, 0.1, 0.105, 0.11), (0.01, 0.015, 0.02, 0.025, 0.03)


def value(rate, growth, explicit_rate=None):
    """The closed form of the model above."""
    first = 50 / (1 + (rate if explicit_rate is None else explicit_rate))
    return first + 50 * (1 + growth) / (rate - growth) / (1 + rate)


def grid(cell, rates=RATES, growths=GROWTHS):
    """Lay a grid of growth (across) and rate (down) beside the model."""
    cells = {**MODEL, "M!D10": "Enterprise value: WACC (down), terminal growth (across)", "M!E11": list(growths)}
    for index, rate in enumerate(rates):
        cells[f"M!D{12 + index}"] = [rate, *(cell(rate, growth, index, j) for j, growth in enumerate(growths))]
    return cells


def formula(_rate, _growth, row, column):
    return f"=$B$3/(1+$D{12 + row})+$B$3*(1+{'EFGHI'[column]}$11)/($D{12 + row}-{'EFGHI'[column]}$11)/(1+$D{12 + row})"


def half_priced(_rate, _growth, row, column):
    return f"=$B$5+$B$3*(1+{'EFGHI'[column]}$11)/($D{12 + row}-{'EFGHI'[column]}$11)/(1+$D{12 + row})"


def one(folder, check, cells, roles=ROLES):
    return audit(write(folder, cells), roles, [check])[check]


@pytest.mark.parametrize("cell", [formula, lambda rate, growth, *_: round(value(rate, growth), 2)])
@pytest.mark.parametrize(
    "check", ["grid-recomputed", "centre-is-base", "even-steps", "monotonic", "no-invalid-cells", "reprices-all"]
)
def test_a_grid_that_equals_the_model_is_silent(tmp_path, check, cell):
    assert one(tmp_path, f"sensitivity.{check}", grid(cell)).status in ("pass", "not_applicable")


def test_a_grid_of_an_older_run_differs_everywhere(tmp_path):
    result = one(
        tmp_path, "sensitivity.grid-recomputed", grid(lambda rate, growth, *_: round(1.5 * value(rate, growth), 2))
    )
    assert result.status == "fail"
    assert str(result.findings[0].cell) == "M!E12:I16"
    assert result.findings[0].expected == pytest.approx(value(0.09, 0.01))


def test_one_pasted_cell_is_named_and_breaks_the_direction(tmp_path):
    cells = grid(formula)
    cells["M!D12"] = [0.09, *(formula(0, 0, 0, j) for j in range(4)), 400.0]
    assert accused(one(tmp_path, "sensitivity.grid-recomputed", cells)) == {"M!I12"}
    assert accused(one(tmp_path, "sensitivity.monotonic", cells)) == {"M!I12"}


def test_a_grid_with_the_flows_at_the_base_rate_does_not_reprice_all(tmp_path):
    result = one(tmp_path, "sensitivity.reprices-all", grid(half_priced))
    assert result.status == "fail"
    assert result.findings[0].found == pytest.approx(value(0.09, 0.01, explicit_rate=0.1))


def test_a_typed_grid_is_warned_of_and_a_live_one_is_not(tmp_path):
    typed = one(tmp_path, "sensitivity.live", grid(lambda rate, growth, *_: round(value(rate, growth), 2)))
    assert (typed.status, typed.severity) == ("fail", "warn")
    assert one(tmp_path, "sensitivity.live", grid(formula)).status == "pass"


def test_a_grid_around_another_base_is_off_centre(tmp_path):
    cells = grid(formula, rates=(0.12, 0.125, 0.13, 0.135, 0.14))
    result = one(tmp_path, "sensitivity.centre-is-base", cells)
    assert {"M!G14", "M!D14"} <= accused(result)
    rounded = grid(formula, rates=(0.0898, 0.0948, 0.0998, 0.1048, 0.1098))
    assert one(tmp_path, "sensitivity.centre-is-base", rounded).status == "pass"


@pytest.mark.parametrize(
    ("growths", "cells"),
    [
        ((0.01, 0.015, 0.03, 0.02, 0.035), {"M!G11", "M!H11"}),
        ((0.01, 0.015, 0.02, 0.026, 0.03), {"M!H11"}),
        ((0.01, 0.015, 0.02, 0.0225, 0.025), set()),
    ],
)
def test_an_axis_out_of_step_is_named_but_not_an_inserted_value(tmp_path, growths, cells):
    found = accused(one(tmp_path, "sensitivity.even-steps", grid(formula, growths=growths)))
    assert bool(found) == bool(cells)
    assert found <= cells


def with_table(path, row_input, column_input):
    """Turn E12:I16 into an Excel data table over two input cells, its values without formulas."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    text = parts["xl/worksheets/sheet1.xml"].decode()
    attributes = f't="dataTable" ref="E12:I16" dt2D="1" dtr="1" r1="{row_input}" r2="{column_input}"'
    start = text.index('<c r="E12"')
    inside = text.index("<v>", start)
    text = f"{text[:inside]}<f {attributes}/>{text[inside:]}"
    parts["xl/worksheets/sheet1.xml"] = text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def table(folder, row_input, column_input, factor=1.0):
    cells = grid(lambda rate, growth, *_: factor * value(rate, growth)) | {
        "M!D11": "=B7",
        "M!A8": ["Spare growth", 0.02],
    }
    return with_table(write(folder, cells), row_input, column_input)


def test_a_data_table_over_a_twin_of_the_driver_is_named(tmp_path):
    check = "sensitivity.input-is-the-driver"
    assert audit(table(tmp_path, "B2", "B1"), ROLES, [check])[check].status == "pass"
    result = audit(table(tmp_path, "B8", "B1"), ROLES, [check])[check]
    assert str(result.findings[0].cell) == "M!E12:I16"
    assert result.findings[0].expected == "M!B2"


def test_a_data_table_with_old_values_is_stale(tmp_path):
    check = "sensitivity.grid-recomputed"
    assert audit(table(tmp_path, "B2", "B1"), ROLES, [check])[check].status == "pass"
    assert audit(table(tmp_path, "B2", "B1", factor=1.1), ROLES, [check])[check].status == "fail"


@pytest.mark.parametrize(
    ("claim", "status"), [("the WACC", "pass"), ("the terminal growth rate", "fail"), ("rain", None)]
)
def test_the_input_named_as_most_sensitive_is_compared(tmp_path, claim, status):
    result = one(
        tmp_path, "sensitivity.most-sensitive-input", {**MODEL, "M!A9": f"The value is most sensitive to {claim}."}
    )
    assert result.status == (status or "not_applicable")


CASES = {
    "M!A1": ["Scenario switch", 2],
    "M!A2": ["Active", '=CHOOSE(B1,"Bear","Base","Bull")'],
    "M!A3": ["Year", 2026, 2027],
    "M!A4": ["Growth", "=CHOOSE($B$1,B8,B12,B16)", "=CHOOSE($B$1,C8,C12,C16)"],
    "M!A5": ["Margin", "=CHOOSE($B$1,B9,B13,B17)", "=CHOOSE($B$1,C9,C13,C17)"],
    "M!A6": ["Capex share", "=CHOOSE($B$1,B10,B14,B18)", "=CHOOSE($B$1,C10,C14,C18)"],
    "M!A8": ["Growth", 0.01, 0.01],
    "M!A9": ["Margin", 0.1, 0.1],
    "M!A10": ["Capex share", 0.05, 0.05],
    "M!A12": ["Growth", 0.02, 0.02],
    "M!A13": ["Margin", 0.12, 0.12],
    "M!A14": ["Capex share", 0.05, 0.05],
    "M!A16": ["Growth", 0.03, 0.03],
    "M!A17": ["Margin", 0.14, 0.14],
    "M!A18": ["Capex share", 0.04, 0.04],
    "M!A20": ["Equity value", "=1000*(1+B4)*(1+C4)*(C5-C6)"],
    "M!A22": ["Case", "Probability", "Equity value"],
    "M!A23": ["Bear", 0.25, 51.005],
    "M!A24": ["Base", 0.5, 72.828],
    "M!A25": ["Bull", 0.25, 106.09],
    "M!A26": ["Probability-weighted", None, "=SUMPRODUCT(B23:B25,C23:C25)"],
}
EQUITY = {"equity_value": "M!B20"}
SCENARIO = ["base-is-the-model", "ordering", "probabilities-sum-to-one", "weighted-value", "switch-works"]


@pytest.mark.parametrize("check", SCENARIO)
def test_right_scenarios_pass(tmp_path, check):
    assert one(tmp_path, f"scenario.{check}", CASES, EQUITY).status == "pass"


@pytest.mark.parametrize(
    ("check", "change", "cell"),
    [
        ("base-is-the-model", {"M!A24": ["Base", 0.5, 72.9]}, "M!C24"),
        ("ordering", {"M!A25": ["Bull", 0.25, 60.0]}, "M!C25"),
        ("probabilities-sum-to-one", {"M!A25": ["Bull", 0.35, 106.09]}, "M!B25"),
        ("weighted-value", {"M!A26": ["Probability-weighted", None, "=B23*C23+B24*C24"]}, "M!C26"),
        ("switch-works", {"M!A5": ["Margin", "=B13", "=C13"]}, "M!B5"),
        ("switch-works", {"M!A5": ["Margin", "=CHOOSE($B$1,B17,B13,B9)", "=CHOOSE($B$1,C17,C13,C9)"]}, "M!B5"),
        ("switch-works", {"M!A20": ["Equity value", "=1000*(1+B12)*(C13-C14)"]}, "M!B1"),
    ],
)
def test_a_scenario_fault_is_found_at_its_cell(tmp_path, check, change, cell):
    result = one(tmp_path, f"scenario.{check}", {**CASES, **change}, EQUITY)
    assert result.status == "fail", result.reason
    assert cell in accused(result)


def test_weighted_values_are_no_probabilities(tmp_path):
    cells = {**CASES, "M!D22": "Probability-weighted value"}
    cells |= {f"M!D{line}": f"=B{line}*C{line}" for line in (23, 24, 25)}
    result = one(tmp_path, "scenario.probabilities-sum-to-one", cells, EQUITY)
    assert result.status == "pass"


@pytest.mark.parametrize(
    ("options", "status"), [("B8,B12,B16", "pass"), ("B8,B16,B12", "fail"), ("B16,B12,B8", "pass")]
)
def test_two_drivers_are_compared_by_the_cases_that_their_options_name(tmp_path, options, status):
    cells = {
        "M!A1": ["Scenario switch", 2],
        "M!A4": ["Growth", "=CHOOSE($B$1,B6,B7,B9)"],
        "M!A5": ["Margin", f"=CHOOSE($B$1,{options})"],
        "M!A6": ["Growth, bear", 0.01],
        "M!A7": ["Growth, base", 0.02],
        "M!A9": ["Growth, bull", 0.03],
        "M!A20": ["Equity value", "=1000*(1+B4)*B5"],
    }
    named = {8: "bear", 12: "base", 16: "bull"} if options != "B16,B12,B8" else {16: "bear", 12: "base", 8: "bull"}
    cells |= {f"M!A{line}": [f"Margin, {case}", line / 100] for line, case in named.items()}
    result = one(tmp_path, "scenario.switch-works", cells, EQUITY)
    assert result.status == status, result.findings
    assert accused(result) == ({"M!B5"} if status == "fail" else set())


@pytest.mark.parametrize(("link", "status"), [("=Bull!B2", "pass"), ("=Base!B2", "fail"), ("=Base!B2*1.1", "pass")])
def test_a_case_is_linked_to_the_sheet_of_its_name(tmp_path, link, status):
    cells = {f"{name}!A2": ["Equity value", value] for name, value in (("Bear", 50), ("Base", 60), ("Bull", 70))}
    cells |= {"S!A1": ["Case", "Equity value"], "S!A2": ["Bear", "=Bear!B2"], "S!A3": ["Base", "=Base!B2"]}
    result = one(tmp_path, "scenario.ordering", {**cells, "S!A4": ["Bull", link]}, {})
    assert result.status == status
    assert accused(result) == ({"S!B4"} if status == "fail" else set())


def test_grid_whose_formulas_discount_at_typed_points_is_false_in_every_cell(tmp_path):
    def prices(*rates):
        return {f"G!B{row}": [f"=100/(1+{rate})^{t}" for t in (1, 2, 3)] for row, rate in enumerate(rates, start=2)}

    points = audit(write(tmp_path, prices(6.2, 7, 7.8)), {}, ["sensitivity.grid-recomputed"])
    assert [str(one.cell) for one in points["sensitivity.grid-recomputed"].findings] == ["G!B2:D4"]
    fractions = audit(write(tmp_path, prices(0.062, 0.07, 0.078)), {}, ["sensitivity.grid-recomputed"])
    assert fractions["sensitivity.grid-recomputed"].status == "not_applicable"
