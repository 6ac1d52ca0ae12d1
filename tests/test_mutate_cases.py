"""Faults around the model (tables, scenarios, currencies, the price), repairs, and workbooks that do not work."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.formula import DataTableFormula
from two_methods import PER_SHARE, two_methods

import xlcheck.mutate  # noqa: F401 - declares the operators
from xlcheck.checking import Request
from xlcheck.errors import UsageError
from xlcheck.mutation import matrix
from xlcheck.mutation.matrix import KillMatrix, kill_matrix
from xlcheck.mutation.subject import OPERATORS
from xlcheck.pipeline import study


def planted(path: Path, monkeypatch: pytest.MonkeyPatch, *names: str, params=None) -> KillMatrix:
    """Plant only the named operators."""
    monkeypatch.setattr(matrix, "OPERATORS", {name: OPERATORS[name] for name in names})
    requests = {"reverse.price-anchor": Request("reverse.price-anchor", params or {})}
    return kill_matrix(study(path), requests)


def flows(path: Path, changes: dict[str, object] | None = None) -> Path:
    """A valuation with a data table over rate and growth, growth by scenario, and a price in euros."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "DCF"
    cells: dict[str, object] = {
        "A1": "WACC", "B1": 0.09, "A2": "Terminal growth", "B2": 0.02, "A3": "Scenario switch", "B3": 2,
        "A4": "Shares outstanding", "B4": 50, "A5": "Net debt", "B5": 200, "A9": "Year",
        "A10": "Revenue growth", "A11": "Revenue growth, bear", "A12": "Revenue growth, base",
        "A13": "Revenue growth, bull", "A15": "EBIT margin", "A16": "EBIT margin, bear", "A17": "EBIT margin, base",
        "A18": "EBIT margin, bull", "A20": "Capex ratio", "A21": "Capex ratio, bear", "A22": "Capex ratio, base",
        "A23": "Capex ratio, bull", "A25": "Revenue", "B25": 800, "A26": "Free cash flow", "A27": "Discount factor",
        "A28": "PV of free cash flow", "A30": "Sum of PV of FCF", "B30": "=SUM(C28:G28)", "A31": "Terminal value",
        "B31": "=G26*(1+B2)/(B1-B2)", "A32": "PV of terminal value", "B32": "=B31*G27", "A33": "Enterprise value",
        "B33": "=B30+B32", "A34": "Equity value", "B34": "=B33-B5", "A35": "Value per share (EUR)", "B35": "=B34/B4",
        "A36": "Share price (EUR)", "B36": 21.4, "A37": "Upside", "B37": "=B35/B36-1",
    }  # fmt: skip
    for index, column in enumerate("CDEFG"):
        before = "BCDEF"[index]
        cells[f"{column}9"] = 2026 + index
        for row, spread in ((10, 0.01), (15, 0.02), (20, 0.005)):
            base = {10: 0.05, 15: 0.2, 20: 0.04}[row]
            cells[f"{column}{row}"] = f"=CHOOSE($B$3,{column}{row + 1},{column}{row + 2},{column}{row + 3})"
            for step in (-1, 0, 1):
                cells[f"{column}{row + 2 + step}"] = base + step * spread
        cells[f"{column}25"] = f"={before}25*(1+{column}10)"
        cells[f"{column}26"] = f"={column}25*({column}15*0.75-{column}20)"
        cells[f"{column}27"], cells[f"{column}28"] = f"=1/(1+$B$1)^{index + 1}", f"={column}26*{column}27"
    cells["A40"] = "=B35"
    for index in range(5):
        cells[f"{'BCDEF'[index]}40"] = 0.01 + 0.005 * index
        cells[f"A{41 + index}"] = 0.08 + 0.005 * index
    for address, content in (cells | (changes or {})).items():
        sheet[address] = content
    for row in range(41, 46):
        for column in range(2, 7):
            sheet.cell(row, column, 0.0)
    sheet["B41"] = DataTableFormula(ref="B41:F45", dt2D=True, dtr=True, r1="B2", r2="B1")
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("operator", "check"),
    [
        ("data-table-on-the-wrong-input", "sensitivity.input-is-the-driver"),
        ("driver-fixed-on-one-case", "scenario.switch-works"),
        ("scenario-switch-that-nothing-reads", "scenario.switch-works"),
        ("price-in-another-currency", "fatal.currency-mix"),
    ],
)
def test_fault_around_the_model_is_noticed_by_its_check(operator, check, tmp_path, monkeypatch):
    found = planted(flows(tmp_path / "model.xlsx"), monkeypatch, operator)
    assert [(mutant.operator, mutant.fate) for mutant in found.mutants] == [(operator, "killed")]
    assert check in found.mutants[0].killed_by


def test_price_of_another_day_is_a_fault_only_where_the_task_names_a_price(tmp_path, monkeypatch):
    path = flows(tmp_path / "model.xlsx")
    assert planted(path, monkeypatch, "price-of-another-day").not_planted == ("price-of-another-day",)
    named = planted(path, monkeypatch, "price-of-another-day", params={"price": Decimal("21.40")})
    assert named.mutants[0].killed_by == ("reverse.price-anchor",)


def test_sign_that_undoes_a_fault_of_the_workbook_is_a_repair(tmp_path, monkeypatch):
    # the first method adds the debt: turning the sign round puts it right
    path = two_methods(tmp_path / "nets.xlsx", {"B5": 480.0, "C20": "=C19+B5", "C29": "=C28-B5"})
    found = planted(path, monkeypatch, "debt-added")
    assert [mutant.fate for mutant in found.mutants] == ["repair"]
    assert found.decided == 0


def test_workbook_without_a_headline_number_is_refused(tmp_path, monkeypatch):
    broken = two_methods(tmp_path / "nets.xlsx", {"B6": 0})
    with pytest.raises(UsageError, match="recomputes to no number"):
        planted(broken, monkeypatch, "debt-added")


def test_off_page_driver_counts_as_a_place_of_its_fault(tmp_path, monkeypatch):
    found = planted(two_methods(tmp_path / "nets.xlsx"), monkeypatch, "adjustment-far-from-the-model")
    assert found.mutants[0].fate == "killed"
    assert found.mutants[0].after == pytest.approx(0.93 * PER_SHARE)
