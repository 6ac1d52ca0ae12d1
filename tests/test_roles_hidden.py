"""A fault does not hide the step it stands in: roles hold by label and place where the formulas lead past them.

Every workbook is the planted clean model with one formula changed; cells are named by the model's own map.
"""

from __future__ import annotations

import pytest
from planted import clean_model

from xlcheck.cells import CellRef
from xlcheck.checking import Request, run_checks
from xlcheck.pipeline import study


def run(model, path, check_id):
    paper = study(model.save(path))
    return paper.roles, run_checks(paper, [Request(check_id, {})])[0]


def scalar(roles, role):
    return str(roles.scalars[role].cell) if role in roles.scalars else None


def series(roles, role):
    return [str(cell) for cell in roles.series[role].cells]


def accused(result):
    return {str(finding.cell) for finding in result.findings}


def test_present_value_of_the_terminal_value_keeps_its_cell_where_enterprise_value_adds_the_whole(tmp_path):
    model = clean_model()
    where = model.set("enterprise_value", "={sum_pv_fcff}+{terminal_value}")
    roles, result = run(model, tmp_path / "m.xlsx", "fatal.terminal-not-discounted")
    assert scalar(roles, "pv_terminal_value") == model.cell("pv_terminal_value")
    assert (result.status, where in accused(result)) == ("fail", True)


@pytest.mark.parametrize("role", ["cash", "minority_interest", "investments"])
def test_line_between_enterprise_and_equity_value_is_bound_though_equity_does_not_read_it(role, tmp_path):
    model = clean_model()
    kept = {"cash": "+{cash}", "debt": "-{debt}", "minority_interest": "-{minority_interest}"}
    kept |= {"investments": "+{investments}"}
    del kept[role]
    where = model.set("equity_value", "={enterprise_value}" + "".join(kept.values()))
    roles, result = run(model, tmp_path / "m.xlsx", "bridge.equity-identity")
    assert scalar(roles, role) == model.cell(role)
    assert (result.status, accused(result)) == ("fail", {where})


def test_equity_value_is_bound_by_its_label_where_the_value_per_share_divides_enterprise_value(tmp_path):
    model = clean_model()
    where = model.set("value_per_share", "={enterprise_value}/{shares}")
    roles, result = run(model, tmp_path / "m.xlsx", "bridge.per-share")
    assert scalar(roles, "equity_value") == model.cell("equity_value")
    assert (result.status, accused(result)) == ("fail", {where})


def test_year_that_the_sum_leaves_out_stays_in_the_row_of_present_values(tmp_path):
    model = clean_model()
    second, last = model.cell("pv_fcff", 1), model.cell("pv_fcff", -1).split("!")[1]
    where = model.set("sum_pv_fcff", f"=SUM({second}:{last})")
    roles, result = run(model, tmp_path / "m.xlsx", "discount.pv-sum")
    assert series(roles, "pv_fcff") == model.forecast("pv_fcff")
    assert (result.status, accused(result)) == ("fail", {where})


def test_row_read_a_year_late_is_bound_at_its_own_years(tmp_path):
    model = clean_model()
    model.set("fcff", "={nopat}+{depreciation}-{capex@prev}-{change_in_nwc}")
    roles, result = run(model, tmp_path / "m.xlsx", "basis.period-alignment")
    assert series(roles, "capex") == model.forecast("capex")
    assert (result.status, accused(result)) == ("fail", {model.cell("fcff", 0)})


def test_present_value_at_the_factor_of_another_year_is_named(tmp_path):
    model = clean_model()
    flow, factor = model.cell("fcff", 3).split("!")[1], model.cell("discount_factor", 2).split("!")[1]
    where = model.set("pv_fcff", f"={flow}*{factor}", period=3)
    roles, result = run(model, tmp_path / "m.xlsx", "discount.pv-sum")
    assert series(roles, "discount_factor") == model.forecast("discount_factor")
    assert (result.status, accused(result)) == ("fail", {where})


@pytest.mark.parametrize(
    ("key", "formula"),
    [
        ("discount_factor", "=1/(1+{wacc}*{discount_period})"),
        ("discount_factor", "=(1+{wacc})^{discount_period}"),
    ],
    ids=["simple interest", "upside down"],
)
def test_factors_of_a_wrong_form_are_still_the_discount_factors(key, formula, tmp_path):
    model = clean_model()
    model.set(key, formula)
    roles, result = run(model, tmp_path / "m.xlsx", "discount.factor-identity")
    assert series(roles, "discount_factor") == model.forecast("discount_factor")
    assert result.status == "fail"


@pytest.mark.parametrize(
    "formula",
    [
        "={fcff[-1]}*(1+{terminal_growth})/({wacc}+{terminal_growth})",
        "={fcff[-1]}*(1+{terminal_growth})/({terminal_growth}-{wacc})",
        "={fcff[-1]}*(1+{terminal_growth})/(0.095-{terminal_growth})",
    ],
    ids=["growth added", "growth less rate", "typed rate"],
)
def test_terminal_value_of_a_wrong_form_keeps_its_cell(formula, tmp_path):
    model = clean_model()
    where = model.set("terminal_value", formula)
    roles, _ = run(model, tmp_path / "m.xlsx", "terminal.gordon-identity")
    assert (scalar(roles, "terminal_value"), scalar(roles, "sum_pv_fcff")) == (where, model.cell("sum_pv_fcff"))


def test_typed_enterprise_value_is_the_headlines_fault(tmp_path):
    model = clean_model()
    where = model.set("enterprise_value", 2090.0)
    roles, result = run(model, tmp_path / "m.xlsx", "recompute.outputs-are-live")
    assert scalar(roles, "value_per_share") == model.cell("value_per_share")
    assert where in accused(result)


def test_share_count_a_thousandfold_is_known_by_the_price(tmp_path):
    model = clean_model()
    model.set("market_cap", 1747.2)
    where = model.set("shares", 48000.0)
    _, result = run(model, tmp_path / "m.xlsx", "fatal.unit-mix")
    found = {CellRef.parse(cell).row for cell in accused(result)}
    assert (result.status, found) == ("fail", {CellRef.parse(where).row})
