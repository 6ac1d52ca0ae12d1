"""Links from accounts in thousands to a valuation in millions."""

import pytest
from checking_helper import accused, audit, write

MODEL = {
    "Accounts!A1": "EUR thousand", "Accounts!A2": "EBIT", "Accounts!B2": [60000, 63000, 66000],
    "Accounts!A3": "Capex", "Accounts!B3": [-20000, -21000, -22000], "Accounts!A4": "Debt", "Accounts!B4": 84000,
    "Accounts!A5": "Cash", "Accounts!B5": 15500, "V!A1": "EUR million", "V!A2": "EBIT",
    "V!B2": ["=Accounts!B2/1000", "=Accounts!C2/1000", "=Accounts!D2/1000"], "V!A3": "Capex",
    "V!B3": ["=Accounts!B3/1000", "=Accounts!C3/1000", "=Accounts!D3/1000"], "V!A4": "Free cash flow",
    "V!B4": ["=B2+B3", "=C2+C3", "=D2+D3"], "V!A5": "Enterprise value", "V!B5": "=NPV(0.1,B4:D4)*4",
    "V!A6": "Debt", "V!B6": "=-Accounts!B4/1000", "V!A7": "Cash", "V!B7": "=Accounts!B5/1000",
    "V!A8": "Equity value", "V!B8": "=SUM(B5:B7)",
}  # fmt: skip
ROLES = {"fcff": "V!B4:D4", "enterprise_value": "V!B5", "debt": "V!B6", "cash": "V!B7", "equity_value": "V!B8"}


@pytest.mark.parametrize(
    ("changes", "cells"),
    [
        ({}, set()),
        ({"V!B6": "=-Accounts!B4"}, {"V!B6"}),
        ({"V!B6": "=-Accounts!B4", "Accounts!B4": 84}, set()),  # the debt is kept in millions there
    ],
)
def test_one_amount_that_is_not_brought_to_millions_is_found(changes, cells, tmp_path):
    found = audit(write(tmp_path, MODEL | changes), ROLES, ["fatal.unit-mix"])["fatal.unit-mix"]
    assert accused(found) == cells
    assert all(one.expected == pytest.approx(-84.0) for one in found.findings)
