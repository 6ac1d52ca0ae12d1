"""Runs single checks on invented workbooks whose roles are given, so that the locator plays no part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from openpyxl import Workbook
from planted import Model

import xlcheck.checks  # noqa: F401 - declares the checks
from xlcheck.cells import CellRef, RangeRef, as_number
from xlcheck.checking import CheckResult, Request, Workpaper, run_checks
from xlcheck.graph import build_graph
from xlcheck.recompute import Recalc, recompute
from xlcheck.roles import Located, LocatedSeries, Roles
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.workbook import load

RATES = {"low": Decimal("-1"), "high": Decimal("1")}
Cells = Mapping[str, object]


def write(folder: Path, cells: Cells) -> Path:
    """Write a workbook from ``Sheet!A1`` → content; content in a list goes right from there."""
    book = Workbook()
    book.remove(book.active)
    for where, content in cells.items():
        sheet, address = where.split("!")
        tab = book[sheet] if sheet in book.sheetnames else book.create_sheet(sheet)
        values = content if isinstance(content, list) else [content]
        match = re.fullmatch(r"([A-Z]+)(\d+)", address)
        first = CellRef.parse(f"{sheet}!{match[0]}")
        for index, value in enumerate(values):
            tab.cell(first.row, first.column + index, value)
    path = folder / "model.xlsx"
    book.save(path)
    return path


def bound(recalc: Recalc, roles: Mapping[str, str], factors: Mapping[str, float], currency: str | None) -> Roles:
    """Bind roles to cells (``Sheet!B5``) and ranges (``Sheet!C5:G5``) with confidence 1."""
    scalars, series = {}, {}
    for role, where in roles.items():
        cells = tuple(RangeRef.parse(where).cells())
        values = tuple(as_number(recalc.value(cell)) for cell in cells)
        if role in SERIES_ROLES:
            unit = SERIES_ROLES[role]
            factor = factors.get(role, factors.get(unit, 1.0))
            series[role] = LocatedSeries(
                role=role, cells=cells, values=values, unit=unit, factor=factor, confidence=1.0, how="binding"
            )
            continue
        unit = SCALAR_ROLES[role]
        scalars[role] = Located(
            role=role,
            cell=cells[0],
            value=values[0],
            unit=unit,
            factor=factors.get(role, factors.get(unit, 1.0)),
            currency=currency if unit in ("money", "per_share") else None,
            confidence=1.0,
            how="binding",
        )
    return Roles(scalars=scalars, series=series, ambiguous={}, headline="test")


def audit(
    path: Path,
    roles: Mapping[str, str],
    checks: Iterable[str],
    *,
    params: Mapping[str, Mapping[str, object]] | None = None,
    factors: Mapping[str, float] | None = None,
    currency: str | None = None,
) -> dict[str, CheckResult]:
    """Run checks on a workbook with the given binding; results by check id."""
    book = load(path)
    recalc = recompute(book)
    paper = Workpaper(book, recalc, build_graph(book), bound(recalc, roles, factors or {}, currency))
    given = params or {}
    requests = [Request(check, given.get(check, {})) for check in checks]
    return {result.check_id: result for result in run_checks(paper, requests)}


def model_roles(model: Model) -> dict[str, str]:
    """Return where the roles of a planted model stand, as its builder knows."""
    roles = {key: cell for key, cell in model.scalars.items() if key in SCALAR_ROLES}
    for key in model.series:
        cells = model.forecast(key)
        name = {"pv_fcfe": "pv_fcff"}.get(key, key)
        if name in SERIES_ROLES:
            roles[name] = f"{cells[0]}:{cells[-1].split('!')[1]}"
    if "fcfe" in roles:
        roles.pop("wacc", None)
    return roles


def accused(result: CheckResult) -> set[str]:
    """Return the cells that a result's findings name, ranges cell by cell."""
    found: set[str] = set()
    for finding in result.findings:
        if isinstance(finding.cell, RangeRef):
            found |= {str(cell) for cell in finding.cell.cells()}
        elif finding.cell is not None:
            found.add(str(finding.cell))
    return found
