"""The JSON that scripts read: stable keys, cells written ``Sheet name!A1``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from xlcheck.cells import CellError, Scalar
from xlcheck.engines import Unsolved
from xlcheck.recompute import CellVerdict, Recalc
from xlcheck.roles import Roles

STATUSES = ("same", "stale", "unsolved", "no_stored_value")


def dumps(data: object) -> str:
    """Return JSON text with two spaces of indent, in UTF-8 characters, with a final newline; NaN is refused."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def roles_json(roles: Roles) -> dict[str, Any]:
    """Return what ``roles --json`` prints: bound roles, series, candidates that cannot be told apart, headline."""
    dumped = roles.model_dump(mode="json")
    return {
        "roles": dumped["scalars"],
        "series": dumped["series"],
        "ambiguous": dumped["ambiguous"],
        "grids": dumped["grids"],
        "alternates": dumped["alternates"],
        "headline": {"name": roles.headline, "ambiguous": roles.headline_ambiguous},
    }


def recalc_json(recalc: Recalc) -> dict[str, Any]:
    """Return what ``recalc --json`` prints: stored and recomputed value of every formula cell, and a count."""
    cells = {str(ref): verdict_json(verdict) for ref, verdict in recalc.verdicts.items()}
    counts: Counter[str] = Counter(verdict.status for verdict in recalc.verdicts.values())
    kinds = Counter(verdict.unsolved.kind for verdict in recalc.verdicts.values() if verdict.unsolved)
    summary = {
        "formula_cells": len(cells),
        **{status: counts[status] for status in STATUSES},
        "unsolved_by_kind": dict(sorted(kinds.items())),
        "engines": dict(recalc.engines),
    }
    return {"cells": cells, "summary": summary}


def verdict_json(verdict: CellVerdict) -> dict[str, Any]:
    """Return one cell of ``recalc --json``; an error value is written as its code, ``#REF!``."""
    said: dict[str, Any] = {
        "stored": scalar_json(verdict.stored),
        "recomputed": scalar_json(verdict.recomputed),
        "status": verdict.status,
        "kind": verdict.unsolved.kind if verdict.unsolved else None,
        "detail": verdict.unsolved.detail if verdict.unsolved else None,
    }
    if verdict.status == "stale":
        said["expected"] = scalar_json(verdict.expected)
    return said


def opinions_json(opinions: Mapping[str, Scalar | Unsolved] | None) -> dict[str, Any]:
    """Return engine name to value; an engine that could not speak gives ``{"unsolved": kind, "detail": …}``."""
    return {name: opinion_json(opinion) for name, opinion in (opinions or {}).items()}


def opinion_json(opinion: Scalar | Unsolved) -> Any:  # noqa: ANN401 - JSON has many types
    """Return a value, or ``{"unsolved": kind, "detail": …}``."""
    if isinstance(opinion, Unsolved):
        return {"unsolved": opinion.kind, "detail": opinion.detail}
    return scalar_json(opinion)


def scalar_json(value: Scalar) -> float | bool | str | None:
    """Return a cell value as JSON writes it: an error value becomes its code."""
    return value.error if isinstance(value, CellError) else value
