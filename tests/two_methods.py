"""An invented maker of fishing nets valued twice over in one workbook: by perpetuity and by an exit multiple."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from openpyxl import Workbook

RATE, GROWTH, MULTIPLE, NET_DEBT, SHARES = 0.1, 0.02, 7.0, -480.0, 125.0
FLOWS, EBITDA = [90.0, 96.0, 103.0, 108.0, 112.0], [150.0, 158.0, 166.0, 172.0, 178.0]
PRESENT = sum(flow / (1 + RATE) ** year for year, flow in enumerate(FLOWS, start=1))
PERPETUITY = FLOWS[-1] * (1 + GROWTH) / (RATE - GROWTH)
BACK = (1 + RATE) ** -5
VALUE = PRESENT + PERPETUITY * BACK
EQUITY = VALUE - NET_DEBT
PER_SHARE = EQUITY / SHARES

TOP = {
    "A1": "Kestrel Nets, EUR million", "A2": "WACC", "B2": RATE, "A3": "Terminal growth", "B3": GROWTH,
    "A4": "Exit multiple (EV/EBITDA)", "B4": MULTIPLE, "A5": "Net debt", "B5": NET_DEBT, "A6": "Shares outstanding",
    "B6": SHARES, "A9": "Year", "A10": "Free cash flow", "A11": "EBITDA", "A12": "Discount factor",
    "A13": "PV of free cash flow",
}  # fmt: skip


def _block(row: int, method: str, terminal: str) -> dict[str, object]:
    labels = [
        f"Valuation by {method}", "Sum of PV of FCFs", "Terminal value", "PV of terminal value", "Enterprise value",
        "Equity value", f"Value per share ({method})",
    ]  # fmt: skip
    formulas = [
        None, "=SUM(C13:G13)", terminal, f"=C{row + 2}*G12", f"=C{row + 1}+C{row + 3}", f"=C{row + 4}-B5",
        f"=C{row + 5}/B6",
    ]  # fmt: skip
    cells: dict[str, object] = {}
    for index, (label, formula) in enumerate(zip(labels, formulas, strict=True)):
        cells[f"A{row + index}"], cells[f"C{row + index}"] = label, formula
    return cells


def two_methods(path: Path, changes: Mapping[str, object] | None = None) -> Path:
    """Write the workbook, sheet Valuation: by perpetuity in C16:C21 below its heading, by multiple in C25:C30."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Valuation"
    cells: dict[str, object] = dict(TOP)
    for index, column in enumerate("CDEFG"):
        cells[f"{column}9"] = f"Year {index + 1}"
        cells[f"{column}10"], cells[f"{column}11"] = FLOWS[index], EBITDA[index]
        cells[f"{column}12"], cells[f"{column}13"] = f"=1/(1+$B$2)^{index + 1}", f"={column}10*{column}12"
    cells |= _block(15, "perpetuity", "=G10*(1+B3)/(B2-B3)") | _block(24, "exit multiple", "=G11*B4")
    for address, content in (cells | dict(changes or {})).items():
        sheet[address] = content
    book.save(path)
    return path
