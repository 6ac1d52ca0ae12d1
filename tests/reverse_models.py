"""Reverse DCFs of an invented ferry line, years down the rows, solved in four ways; every figure in closed form.

Value per share = (Σ F·(1 + g)^t/(1 + r)^t + F·(1 + g)^10·(1 + gT)/(r - gT)/(1 + r)^10 - net debt) / shares, for ten
years of flows that grow by the growth the price implies.
"""

from __future__ import annotations

from pathlib import Path

from openpyxl import Workbook
from openpyxl.worksheet.formula import DataTableFormula

FLOW, RATE, TERMINAL, NET_DEBT, SHARES, YEARS = 240.0, 0.088, 0.02, 310.0, 125.0, 10
TABLE = [0.0, 0.02, 0.04, 0.06, 0.08, 0.10, 0.12]


def value_per_share(growth: float) -> float:
    """Return the value per share at a growth rate."""
    flows = [FLOW * (1 + growth) ** year for year in range(1, YEARS + 1)]
    present = sum(flow / (1 + RATE) ** year for year, flow in enumerate(flows, start=1))
    terminal = flows[-1] * (1 + TERMINAL) / (RATE - TERMINAL) / (1 + RATE) ** YEARS
    return (present + terminal - NET_DEBT) / SHARES


def goal_seek(path: Path, growth: float, price: float) -> Path:
    """A growth rate typed by goal seek."""
    book = _model(growth, price)
    return _saved(book, path)


def closed_form(path: Path, price: float, slip: float = 0.0) -> Path:
    """A terminal growth that follows from the price by the inverse of the perpetuity: (TV·r - F)/(TV + F)."""
    book = _model(0.05, price)
    sheet = book["Expectations"]
    sheet["A8"], sheet["B8"] = "Growth implied by price, terminal", f"=(B36*B6-D25)/(B36+D25)+{slip}"
    sheet["A36"], sheet["B36"] = "Terminal value that the price pays for", "=(B3*B4+B5-SUM(F16:F25))/E25"
    sheet["A9"], sheet["B9"], sheet["B7"] = "Flow growth", 0.05, "=B8"
    return _saved(book, path)


def data_table(path: Path, price: float, misread: float = 0.0) -> Path:
    """A growth rate interpolated between the rows of a data table over the model's own growth."""
    book = _model(0.05, price)
    sheet = book["Expectations"]
    sheet["C40"] = "=B33"
    for row, growth in enumerate(TABLE, start=41):
        sheet.cell(row, 2, growth)
        sheet.cell(row, 3, value_per_share(growth))
    sheet["C41"] = DataTableFormula(ref="C41:C47", dt2D=False, dtr=False, r1="B9")
    _interpolated(book, price, misread)
    return _saved(book, path)


def formula_grid(path: Path, price: float) -> Path:
    """A growth rate interpolated between the rows of a grid whose values follow from closed forms of their own."""
    book = _model(0.05, price)
    sheet = book["Expectations"]
    for row, growth in enumerate(TABLE, start=41):
        sheet.cell(row, 2, growth)
        q = f"((1+B{row})/(1+$B$6))"
        terminal = f"{q}^10*(1+$B$7)/($B$6-$B$7)"
        sheet.cell(row, 3, f"=($B$10*({q}*(1-{q}^10)/(1-{q})+{terminal})-$B$5)/$B$4")
    _interpolated(book, price, 0.0)
    return _saved(book, path)


def _interpolated(book: Workbook, price: float, misread: float) -> None:
    sheet = book["Expectations"]
    sheet["A9"], sheet["A50"] = "Flow growth, base case", "Row below the price"
    sheet["B50"] = "=MATCH(B3,C41:C47,1)"
    sheet["A51"] = "Market-implied growth"
    low, high = "INDEX(B41:B47,B50)", "INDEX(B41:B47,B50+1)"
    below, above = "INDEX(C41:C47,B50)", "INDEX(C41:C47,B50+1)"
    sheet["B51"] = f"={low}+({high}-{low})*(B3-{below})/({above}-{below})+{misread}"


def _model(growth: float, price: float) -> Workbook:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Expectations"
    inputs = [
        ("Share price (EUR)", price), ("Shares outstanding (million)", SHARES), ("Net debt", NET_DEBT),
        ("Discount rate (WACC)", RATE), ("Terminal growth", TERMINAL), (None, None), ("Implied growth rate", growth),
        ("Free cash flow, last year", FLOW),
    ]  # fmt: skip
    sheet["A1"] = "Sundlinie ferries: what the price presupposes, EUR million"
    for row, (label, content) in enumerate(inputs, start=3):
        sheet.cell(row, 1, label)
        sheet.cell(row, 2, content)
    for column, heading in enumerate(["Year", "Period", "", "Free cash flow", "Discount factor", "Present value"], 1):
        sheet.cell(15, column, heading)
    growth_cell = "$B$9"
    for year in range(1, YEARS + 1):
        row = 15 + year
        before = "$B$10" if year == 1 else f"D{row - 1}"
        contents = [2025 + year, year, None, f"={before}*(1+{growth_cell})", f"=1/(1+$B$6)^B{row}", f"=D{row}*E{row}"]
        for column, content in enumerate(contents, start=1):
            sheet.cell(row, column, content)
    results = [
        ("Sum of present values", "=SUM(F16:F25)"), ("Terminal value", "=D25*(1+$B$7)/(B6-$B$7)"),
        ("Present value of terminal value", "=B28*E25"), ("Enterprise value", "=B27+B29"), ("Less: net debt", "=-B5"),
        ("Equity value", "=B30+B31"), ("Value per share (EUR)", "=B32/B4"),
    ]  # fmt: skip
    for row, (label, content) in enumerate(results, start=27):
        sheet.cell(row, 1, label)
        sheet.cell(row, 2, content)
    return book


def _saved(book: Workbook, path: Path) -> Path:
    book.save(path)
    return path
