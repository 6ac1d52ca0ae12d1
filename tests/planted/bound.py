"""Roles of a planted workbook as its builder knows them, so that a check is tested apart from the locator."""

from __future__ import annotations

from pathlib import Path

from xlcheck.cells import CellRef, as_number
from xlcheck.checking import CheckResult, Params, Request, Workpaper, run_checks
from xlcheck.graph import build_graph
from xlcheck.recompute import Recalc, recompute
from xlcheck.roles import Located, LocatedSeries, Roles, Unit
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.workbook import load

from .model import ACTUALS, Model

MILLION = 1e6
ALIAS = {"price_used": "current_price", "pv_fcfe": "pv_fcff"}
"""Keys of the builder that stand for a role of another name."""


def workpaper(model: Model, path: Path) -> Workpaper:
    """Save the model, recompute it and bind every role to the cell its builder put it in."""
    book = load(model.save(path))
    recalc = recompute(book)
    return Workpaper(book, recalc, build_graph(book), bound_roles(model, recalc))


def run_one(model: Model, path: Path, check_id: str, params: Params | None = None) -> CheckResult:
    """Run one check on the model with its roles bound."""
    return run_checks(workpaper(model, path), [Request(check_id, params or {})])[0]


def bound_roles(model: Model, recalc: Recalc) -> Roles:
    """Return the roles; money and shares count millions, whatever a fault did to them."""
    scalars = {}
    for key, where in model.scalars.items():
        role = ALIAS.get(key, key)
        if role in SCALAR_ROLES:
            scalars[role] = _scalar(role, CellRef.parse(where), model, recalc)
    series = {
        ALIAS.get(key, key): _series(ALIAS.get(key, key), [CellRef.parse(cell) for cell in cells], model, recalc)
        for key, cells in model.series.items()
        if ALIAS.get(key, key) in SERIES_ROLES
    }
    return Roles(scalars=scalars, series=series, ambiguous={}, headline="Valuation")


def _scalar(role: str, cell: CellRef, model: Model, recalc: Recalc) -> Located:
    unit = SCALAR_ROLES[role]
    value = as_number(recalc.value(cell))
    return Located(
        role=role,
        cell=cell,
        value=value,
        unit=unit,
        factor=model.factors.get(role, _factor(unit)),
        currency=None,
        confidence=1.0,
        how="binding",
    )


def _series(role: str, cells: list[CellRef], model: Model, recalc: Recalc) -> LocatedSeries:
    unit = SERIES_ROLES[role]
    forecast = cells[ACTUALS:]
    return LocatedSeries(
        role=role,
        cells=tuple(forecast),
        values=tuple(as_number(recalc.value(cell)) for cell in forecast),
        unit=unit,
        factor=_factor(unit),
        confidence=1.0,
        how="binding",
        history=tuple(cell for cell in cells[:ACTUALS] if recalc.value(cell) is not None),
        sign=model.outflow_sign if role in ("capex", "change_in_nwc") else None,
    )


def _factor(unit: Unit) -> float:
    return MILLION if unit in ("money", "count") else 1.0
