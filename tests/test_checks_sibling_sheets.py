"""Three sheets of cases built alike, each reading its own column of the inputs."""

from checking_helper import write
from test_checks_bridge_direction import RATES, sheet

from xlcheck.pipeline import audit

GROWTH = {"In!A6": "Growth of flows", "In!B6": [0.01, 0.03, 0.05], "In!A7": "First flow", "In!B7": 100.0}


def case(name: str, column: str, factor: float = 1.02) -> dict:
    cells = sheet(name) | {
        f"{name}!B3": ["=In!$B$7", f"=B3*(1+In!${column}$6)*{factor}", f"=C3*(1+In!${column}$6)*{factor}"]
    }
    return cells | {f"{name}!A1": f"Case {name}"}


CASES = RATES | GROWTH | case("Base", "C") | case("Low", "B", 1.01) | case("High", "D", 1.01)
SUM = {"Sum!A1": "Mean of the cases", "Sum!B1": "=(Base!B14+Low!B14+High!B14)/3"}


def broken(tmp_path, changes):
    results = {one.check_id: one for one in audit(write(tmp_path, CASES | SUM | changes)).results}
    return [str(finding.cell) for finding in results["recompute.row-consistency"].findings]


def test_cases_that_read_their_own_columns_and_numbers_are_alike(tmp_path):
    assert broken(tmp_path, {}) == []


def test_sign_of_one_case_is_found(tmp_path):
    assert broken(tmp_path, {"Low!B12": "=In!B4"}) == ["Low!B12"]


def test_whole_row_of_one_case_is_one_finding(tmp_path):
    odd = [f"=1/(1+In!$B$1)^({year}2-1)" for year in "BCD"]
    assert broken(tmp_path, {"High!B4": odd}) == ["High!B4"]


def test_sheet_that_goes_its_own_way_is_no_sibling(tmp_path):
    rows = {f"High!B{row}": f"=In!B1*{row}" for row in (7, 8, 9, 10, 11, 12)}
    assert broken(tmp_path, rows) == []
