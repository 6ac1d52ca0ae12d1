"""The binding file: the grader's word on where a role stands, above all that is inferred.

YAML, one ``role: cell`` a line, such as ``wacc: "WACC!C23"``; series take a range, ``fcff: "DCF!F5:M5"``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xlcheck.cells import CellRef, RangeRef
from xlcheck.errors import BindingError
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.yamltext import closest, read_document

Binding = dict[str, CellRef | RangeRef]


def load_binding(path: Path | str) -> Binding:
    """Read a binding file; BindingError names file, line and role."""
    document = read_document(Path(path), BindingError)
    if document.data is None:
        return {}
    if not isinstance(document.data, dict):
        raise BindingError(f"{document.source}:1: lines such as 'wacc: \"WACC!C23\"' are expected")
    return {
        role: _place(role, value, f"{document.source}:{document.line((role,))}")
        for role, value in document.data.items()
    }


def binding_schema() -> dict[str, Any]:
    """Return the JSON Schema of a binding file."""
    cell = r"\$?[A-Za-z]{1,3}\$?[1-9][0-9]{0,6}"
    one = {"type": "string", "pattern": f"^.+!{cell}(:{cell})?$"}
    roles = dict.fromkeys((*SCALAR_ROLES, *SERIES_ROLES), one)
    return {"title": "Where roles stand", "type": "object", "properties": roles, "additionalProperties": False}


def _place(role: str, value: object, where: str) -> CellRef | RangeRef:
    if role not in SCALAR_ROLES and role not in SERIES_ROLES:
        known = (*SCALAR_ROLES, *SERIES_ROLES)
        raise BindingError(f"{where}: {role!r} is no role{closest(role, known)}")
    if not isinstance(value, str):
        raise BindingError(f"{where}: {role}: a cell such as 'Sheet name!A1' is expected")
    try:
        place = RangeRef.parse(value)
    except ValueError as error:
        raise BindingError(f"{where}: {role}: {error}") from None
    if place.size == 1:
        return CellRef(*place[:3])
    if role not in SERIES_ROLES:
        raise BindingError(f"{where}: {role} is one cell, and {value!r} is a range")
    if place.first_row != place.last_row and place.first_column != place.last_column:
        raise BindingError(f"{where}: {role} is one row or one column, and {value!r} is a block")
    return place
