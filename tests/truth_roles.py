"""Roles as hand-checked truth rows state them, so that checks are developed apart from the locator.

A truth row names cells only; units and scales are read from its free-text conventions. The rows stand outside
the project (``../shared``); tests that use them skip where that folder is absent.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from xlcheck.cells import CellRef, RangeRef, as_number
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles, Unit
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.workbook import Book

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
SCALES = (
    ("thousand", 1e3),
    ("lakh", 1e5),
    ("million", 1e6),
    ("crore", 1e7),
    ("billion", 1e9),
)
"""Words of a truth row's unit string, and what they multiply by."""

Row = dict[str, Any]


def truth_rows(name: str) -> dict[str, Row]:
    """Return the role rows of ``corpus`` or ``submissions`` by id; empty where the folder is absent."""
    path = SHARED / name / "roles.jsonl"
    if not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row | {"path": path.parent / "files" / row["file"]} for row in rows}


def truth_roles(row: Row, book: Book, recalc: Recalc) -> Roles:
    """Build the roles that a truth row names, with recomputed values and confidence 1."""
    money, count = _money_scale(row), _count_scale(row)
    scalars = {}
    for role, spec in row["roles"].items():
        cells = _cells(spec, book)
        if role in SCALAR_ROLES and len(cells) == 1:
            scalars[role] = _scalar(role, cells[0], recalc, money, count, row)
    series = {}
    for role, spec in row["series"].items():
        cells = _cells(spec, book)
        if role in SERIES_ROLES and cells:
            series[role] = _series(role, cells, recalc, money, row)
    return Roles(scalars=scalars, series=series, ambiguous={}, headline=row["id"])


def _cells(spec: str | list[str], book: Book) -> list[CellRef]:
    text = spec[0] if isinstance(spec, list) and spec else spec
    if not text:
        return []
    sheet, _, address = str(text).rpartition("!")
    name = next((found.name for found in book.sheets if found.name.strip() == sheet.strip("'").strip()), None)
    return list(RangeRef.parse(f"{name}!{address}").cells()) if name else []


def _unit_words(row: Row) -> str:
    return str(row["conventions"].get("unit", "")).split("(")[0].casefold()


def _money_scale(row: Row) -> float:
    scale = row["conventions"].get("unit_scale")
    if isinstance(scale, int | float):
        return float(scale)
    if isinstance(scale, dict):
        return float(scale.get("DCF", 1.0))
    return next((factor for word, factor in SCALES if word in _unit_words(row)), 1.0)


def _count_scale(row: Row) -> float | None:
    scale = row["conventions"].get("shares_scale")
    if scale is None and isinstance(row["conventions"].get("unit_scale"), dict):
        scale = row["conventions"]["unit_scale"].get("shares")
    return None if scale is None else float(scale)


def _factor(role: str, unit: Unit, value: float | None, money: float, count: float | None) -> float:
    if unit == "money":
        return money
    if unit == "count":
        units = value is not None and abs(value) >= 1e6
        return count if count is not None else 1.0 if units else money
    points = unit == "rate" and value is not None and abs(value) > 1 and role not in ("debt_to_equity", "upside")
    return 0.01 if points else 1.0


def _scalar(role: str, cell: CellRef, recalc: Recalc, money: float, count: float | None, row: Row) -> Located:
    unit = SCALAR_ROLES[role]
    held = recalc.value(cell)
    value = as_number(held)
    if value is None and isinstance(held, str):
        number = re.fullmatch(r"\s*([0-9.]+)\s*[x×]\s*", held)
        value = float(number[1]) if number else None
    return Located(
        role=role,
        cell=cell,
        value=value,
        unit=unit,
        factor=_factor(role, unit, value, money, count),
        currency=row["conventions"].get("currency") if unit in ("money", "per_share") else None,
        confidence=1.0,
        how="binding",
    )


def _series(role: str, cells: list[CellRef], recalc: Recalc, money: float, row: Row) -> LocatedSeries:
    unit = SERIES_ROLES[role]
    values = tuple(as_number(recalc.value(cell)) for cell in cells)
    return LocatedSeries(
        role=role,
        cells=tuple(cells),
        values=values,
        unit=unit,
        factor=money if unit == "money" else 1.0,
        currency=row["conventions"].get("currency") if unit == "money" else None,
        confidence=1.0,
        how="binding",
    )
