"""Each planted fault is found by its check at its cell, and no look-alike is accused: the locator plays no part."""

from decimal import Decimal

import pytest
from checking_helper import accused, audit, model_roles
from planted import FAULTS, LOOK_ALIKES, plant

from xlcheck.checking import CHECKS

FAMILIES = ("wacc", "discount", "terminal", "bridge", "metric", "response", "independent", "reverse", "fatal")
OURS = [check for check in CHECKS if check.split(".")[0] in FAMILIES]
PARAMS = {
    "terminal.growth-range": {"low": Decimal("-0.03"), "high": Decimal("0.06"), "spread": Decimal("0.01")},
    "terminal.steady-state": {"capex_to_depreciation": Decimal("0.75")},
    "metric.terminal-value-share": {"low": Decimal("0.2"), "high": Decimal("0.9")},
    "metric.implied-ev-ebitda": {"low": Decimal("2"), "high": Decimal("20")},
    "wacc.range": {"low": Decimal("0.04"), "high": Decimal("0.15")},
}
MONEY = {"money": 1e6, "count": 1e6}
PLANTED = [fault for fault in FAULTS if fault.check_id in OURS]


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.name)
def test_planted_fault_is_found_at_its_cell(fault, tmp_path):
    model, cell = plant(fault.name)
    roles = model_roles(model)
    if fault.name == "equity_flow_at_the_wacc":
        roles["wacc"] = "Inputs!B40"
    found = audit(
        model.save(tmp_path / "model.xlsx"), roles, [fault.check_id], params=PARAMS, factors=MONEY, currency="USD"
    )
    assert found[fault.check_id].status == "fail", found[fault.check_id].reason
    assert cell in accused(found[fault.check_id])


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alike_is_not_accused(name, tmp_path):
    model = LOOK_ALIKES[name]()
    factors = MONEY | {"shares": 1.0} if "units" in name else MONEY | {"shares": 1e3} if "thousands" in name else MONEY
    if name == "rates_in_percent_points":
        factors = factors | {"wacc": 0.01}
    path = model.save(tmp_path / "model.xlsx")
    found = audit(path, model_roles(model), OURS, params=PARAMS, factors=factors, currency="USD")
    failed = {check: result.findings[0].message for check, result in found.items() if result.status == "fail"}
    assert not failed
    broken = {check: result.reason for check, result in found.items() if result.reason and "broke" in result.reason}
    assert not broken
