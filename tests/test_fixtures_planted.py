"""The shared planted workbooks: right by plain arithmetic, no look-alike accused, every planted fault found."""

from __future__ import annotations

from decimal import Decimal

import pytest
from planted import FAULTS, LOOK_ALIKES, clean_model, plant, run_one, with_stored_values, workpaper

from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import BROKEN, CHECKS, Request, run_checks
from xlcheck.pipeline import audit, study
from xlcheck.recompute import recompute
from xlcheck.rubric import load_rubric
from xlcheck.workbook import load

GENERIC = {item.check: item.params for item in load_rubric("generic-dcf").program}
GROWTH = (0.10, 0.08, 0.06, 0.045, 0.03)


def value_per_share(*, half_year: float = 0.0, multiple: float | None = None, cash: float = 140.0, debt: float = 310.0):
    """The clean model by plain arithmetic: 48 million shares, 2.5 % growth for ever."""
    market, tax = 36.4 * 48.0, 0.25
    equity_cost = 0.04 + 1.02 * (1 + (1 - tax) * debt / market) * 0.055
    wacc = (market * equity_cost + debt * 0.058 * (1 - tax)) / (market + debt)
    revenue, working, total, flow = 1000.0, 180.0, 0.0, 0.0
    for year, growth in enumerate(GROWTH, 1):
        revenue *= 1 + growth
        flow = revenue * (0.25 - 0.06) * (1 - tax) + revenue * (0.06 - 0.072) - (0.18 * revenue - working)
        working = 0.18 * revenue
        total += flow / (1 + wacc) ** (year - half_year)
    if multiple is None:
        total += flow * 1.025 / (wacc - 0.025) / (1 + wacc) ** (5 - half_year)
    else:
        total += 0.25 * revenue * multiple / (1 + wacc) ** 5
    return (total + cash - debt - 35.0 + 22.0) / 48.0


VARIANTS = {
    "plain": ({}, value_per_share()),
    "mid_year": ({"timing": "mid"}, value_per_share(half_year=0.5)),
    "exit_multiple": ({"terminal": "multiple"}, value_per_share(multiple=8.5)),
    "exit_multiple_mid_year": ({"terminal": "multiple", "timing": "mid"}, value_per_share(half_year=0.5, multiple=8.5)),
    "net_cash": ({"net_cash": True}, value_per_share(cash=240.0, debt=60.0)),
    "chinese": ({"language": "zh"}, value_per_share()),
    "years_down": ({"down": True}, value_per_share()),
    "scenarios": ({"scenarios": True}, value_per_share()),
    "statements": ({"statements": True}, value_per_share()),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_clean_model_gives_the_value_of_plain_arithmetic(variant, tmp_path):
    arguments, expected = VARIANTS[variant]
    model = clean_model(**arguments)
    recalc = recompute(load(model.save(tmp_path / "model.xlsx")))
    assert recalc.number(CellRef.parse(model.cell("value_per_share"))) == pytest.approx(expected, rel=1e-12)
    assert recalc.number(CellRef.parse(model.cell("grid_centre"))) == pytest.approx(expected, rel=1e-9)


def test_stored_value_is_written_beside_its_formula(tmp_path):
    model = clean_model()
    path = with_stored_values(model.save(tmp_path / "model.xlsx"), {model.cell("ebit", 2): 999.0})
    cell = load(path).get(CellRef.parse(model.cell("ebit", 2)))
    assert cell is not None
    assert (cell.stored, cell.formula) == (999.0, "=F7-F8")


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alike_is_not_accused_where_the_roles_are_given(name, tmp_path):
    paper = workpaper(LOOK_ALIKES[name](), tmp_path / "model.xlsx")
    results = run_checks(paper, [Request(check_id, GENERIC.get(check_id, {})) for check_id in CHECKS])
    accused = {
        result.check_id: [finding.message for finding in result.findings]
        for result in results
        if result.severity != "warn"
    }
    assert {check_id: said for check_id, said in accused.items() if said} == {}
    assert [result.reason for result in results if (result.reason or "").startswith(BROKEN)] == []


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alike_is_not_accused(name, tmp_path):
    report = audit(LOOK_ALIKES[name]().save(tmp_path / "model.xlsx"))
    accused = {
        result.check_id: [finding.message for finding in result.findings]
        for result in report.results
        if result.status in ("fail", "partial") and result.severity != "warn"
    }
    assert accused == {}


RANGES = {
    "wacc.range": {"low": Decimal("0.06"), "high": Decimal("0.14")},
    "terminal.growth-range": {"low": Decimal(0), "high": Decimal("0.04")},
    "terminal.steady-state": {"capex_to_depreciation": Decimal("0.9"), "growth_gap": Decimal("0.03")},
    "metric.terminal-value-share": {"low": Decimal("0.4"), "high": Decimal("0.85")},
    "metric.implied-ev-ebitda": {"low": Decimal(4), "high": Decimal(20)},
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.check_id}:{fault.name}")
def test_planted_fault_is_found_where_the_roles_are_given(fault, tmp_path):
    if fault.check_id not in CHECKS:
        pytest.skip(f"{fault.check_id} is not declared yet")
    model, cell = plant(fault.name)
    result = run_one(model, tmp_path / "model.xlsx", fault.check_id, RANGES.get(fault.check_id))
    assert result.status in ("fail", "partial"), result.reason
    assert any(_at(finding.cell, CellRef.parse(cell)) for finding in result.findings), [
        (str(finding.cell), finding.message) for finding in result.findings
    ]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.check_id}:{fault.name}")
def test_planted_fault_is_found_at_its_cell(fault, tmp_path):
    if fault.check_id not in CHECKS:
        pytest.skip(f"{fault.check_id} is not declared yet")
    model, cell = plant(fault.name)
    paper = study(model.save(tmp_path / "model.xlsx"))
    result = run_checks(paper, [Request(fault.check_id, RANGES.get(fault.check_id, {}))])[0]
    assert result.status in ("fail", "partial"), result.reason
    assert any(_at(finding.cell, CellRef.parse(cell)) for finding in result.findings), [
        (str(finding.cell), finding.message) for finding in result.findings
    ]


def _at(found: CellRef | RangeRef | None, wanted: CellRef) -> bool:
    """Say whether the finding stands at the cell, in its row or in a range that holds it."""
    if isinstance(found, RangeRef):
        return wanted in found
    return found is not None and (found.sheet, found.row) == (wanted.sheet, wanted.row)
