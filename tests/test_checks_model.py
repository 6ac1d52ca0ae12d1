"""Planted faults of the families recompute, basis, flow, statements, sensitivity, scenario, and look-alikes."""

import pytest
from checking_helper import accused, audit, model_roles
from planted import FAULTS, LOOK_ALIKES, plant

from xlcheck.checking import CHECKS

FAMILIES = ("recompute", "basis", "flow", "statements", "sensitivity", "scenario")
OURS = [check for check in CHECKS if check.split(".")[0] in FAMILIES]
MONEY = {"money": 1e6, "count": 1e6}
PLANTED = [fault for fault in FAULTS if fault.check_id in OURS]


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.name)
def test_planted_fault_is_found_at_its_cell(fault, tmp_path):
    model, cell = plant(fault.name)
    found = audit(model.save(tmp_path / "model.xlsx"), model_roles(model), OURS, factors=MONEY, currency="USD")
    assert found[fault.check_id].status == "fail", found[fault.check_id].reason
    assert cell in accused(found[fault.check_id])


def _counts(result):
    return result.status == "fail" and result.severity != "warn"


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alike_is_not_accused(name, tmp_path):
    model = LOOK_ALIKES[name]()
    factors = MONEY | {"shares": 1.0} if "units" in name else MONEY | {"shares": 1e3} if "thousands" in name else MONEY
    found = audit(model.save(tmp_path / "model.xlsx"), model_roles(model), OURS, factors=factors, currency="USD")
    failed = {check: result.findings[0].message for check, result in found.items() if _counts(result)}
    assert not failed
    broken = {check: result.reason for check, result in found.items() if result.reason and "broke" in result.reason}
    assert not broken
