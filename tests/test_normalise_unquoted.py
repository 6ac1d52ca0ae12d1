"""Sheets named ``2_Costs`` or ``2026``: LibreOffice names them in formulas without quotes."""

from checking_helper import write

from xlcheck.cells import CellRef
from xlcheck.normalise.unquoted import with_quotes
from xlcheck.pipeline import study


def test_sheet_names_that_begin_with_a_digit_get_their_quotes():
    assert with_quotes("=1_In!$B$2*(1-2_Costs!B4)") == "='1_In'!$B$2*(1-'2_Costs'!B4)"
    assert with_quotes('=SUM(2026!A1:A3)&" 2_Costs!B4 "') == "=SUM('2026'!A1:A3)&\" 2_Costs!B4 \""
    assert with_quotes("='1_In'!B2*Costs2!B4+2") == "='1_In'!B2*Costs2!B4+2"


def test_bare_references_to_such_sheets_are_recomputed(tmp_path):
    cells = {"1_In!B2": 0.25, "2_Costs!B4": 40.0, "M!A1": "Profit", "M!B1": "=200*(1-1_In!$B$2)-2_Costs!B4"}
    assert study(write(tmp_path, cells)).recalc.number(CellRef("M", 1, 2)) == 110.0
