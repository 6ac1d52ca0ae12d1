"""A value per share typed below a live equity value is bound, so that it can be accused."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from xlcheck.recompute import recompute
from xlcheck.roles.locate import locate
from xlcheck.workbook import load

ROWS = [
    ("Year", 2026, 2027, 2028),
    ("Free cash flow", 100, 104, 108),
    ("WACC", 0.09),
    ("Terminal growth", 0.02),
    ("Sum of PV of FCF", "=NPV(B3,B2:D2)"),
    ("Terminal value", "=D2*(1+B4)/(B3-B4)"),
    ("PV of terminal value", "=B6/(1+B3)^3"),
    ("Enterprise value", "=B5+B7"),
    ("Net debt", 200),
    ("Equity value", "=B8-B9"),
    ("Shares outstanding (m)", 10),
]


@pytest.mark.parametrize("other", [[], [("Value per share of a peer", None), ("Value per share", 55.0)]])
def test_the_one_right_below_the_equity_value_counts(other: list, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "DCF"
    for row in [*ROWS, ("Value per share", 127.79), *[("",)] * 8, *other]:
        sheet.append(row)
    book.save(tmp_path / "model.xlsx")
    read = load(tmp_path / "model.xlsx")
    recalc = recompute(read)
    found = locate(read, recalc, recalc.graph)
    assert str(found["equity_value"].cell) == "DCF!B10"
    assert str(found["value_per_share"].cell) == "DCF!B12"


@pytest.mark.parametrize(("between", "bound"), [([], True), ([("",), ("Scenarios",)], False)])
def test_a_typed_upside_counts_right_below_value_and_price(between: list, bound: bool, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "DCF"
    value = [("Value per share", "=B10/B11"), ("Current share price", 110.0)]
    for row in [*ROWS, *value, *between, ("Upside", 0.25)]:
        sheet.append(row)
    book.save(tmp_path / "model.xlsx")
    read = load(tmp_path / "model.xlsx")
    recalc = recompute(read)
    found = locate(read, recalc, recalc.graph)
    assert (str(found["upside"].cell) if "upside" in found.scalars else None) == ("DCF!B14" if bound else None)
