"""The primary engine: never silent about what it cannot do, incremental, pinned clock."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import cellrune

from xlcheck.cells import CellError, CellRef, RangeRef, Scalar, column_letters, parse_a1
from xlcheck.engines import BLOCKED, Clock, Unsolved, UnsolvedKind, is_panic
from xlcheck.errors import EngineError

ISSUES: Mapping[str, UnsolvedKind] = {
    "calculation.unsupported_function": "unsupported_function",
    "calculation.unsupported_expression": "unsupported_function",
    "calculation.unsupported_name": "unsupported_function",
    "calculation.unsupported_sheet_range": "unsupported_function",
    "calculation.unsupported_structured_reference": "unsupported_function",
    "calculation.parse_error": "unsupported_function",
    "calculation.missing_formula_text": "engine_failure",
    "calculation.resource_limit_exceeded": "engine_failure",
    "calculation.volatile_input_missing": "clock",
    "calculation.circular_reference": "cycle",
    "calculation.blocked_by_upstream": "engine_failure",
}
"""Every issue code that the engine puts on a cell, and what it means here."""

_READ_LIMITS = {
    "max_archive_bytes": 2 << 30,
    "max_entry_uncompressed_bytes": 2 << 30,
    "max_total_uncompressed_bytes": 4 << 30,
    "max_cells_per_sheet": 17_179_869_184,
    "max_total_cells": 17_179_869_184,
    "max_total_cell_text_bytes": 2 << 30,
    "max_total_formula_bytes": 2 << 30,
    "max_defined_names": 1_000_000,
    "max_tables": 10_000,
    "max_sheets": 10_000,
    "max_entries": 50_000,
    "max_shared_strings": 1 << 31,
    "max_formula_bytes": 1 << 20,
    "max_compression_ratio": 1_000_000,
}
"""Far above what intake lets in: the package is one that we wrote."""
_CALCULATION_LIMITS = {"max_dependency_edges": 100_000_000}


def scalar(value: Mapping[str, Any]) -> Scalar | Unsolved:
    """Translate a value or issue of the engine."""
    kind = value["kind"]
    if kind in ("number", "text", "logical"):
        found: Scalar = value["value"]
        return found
    if kind == "error":
        return CellError(error=value["value"])
    if kind == "blank":
        return None
    if kind == "unavailable":
        return issue(value["code"], value.get("detail"), value["message"])
    return Unsolved(kind="engine_failure", detail="the engine holds a value of a kind that it cannot export")


def issue(code: str, detail: str | None, message: str) -> Unsolved:
    """Translate an issue code; an unknown one is an engine failure."""
    if code == "calculation.blocked_by_upstream":
        return Unsolved(kind="engine_failure", detail=f"{BLOCKED} ({message})")
    return Unsolved(kind=ISSUES.get(code, "engine_failure"), detail=f"{code}: {detail or message}")


class CellruneSession:
    """One package loaded; edits are made in place and undone before the next question."""

    def __init__(self, package: bytes, clock: Clock) -> None:
        self._package = package
        self._options: dict[str, Any] = {
            "today_serial": clock.today,
            "now_serial": clock.now,
            "financial_solver_semantics": "extended_search",
            "calculation_limits": _CALCULATION_LIMITS,
        }
        self._changed: dict[CellRef, Scalar] = {}
        self._open()

    def _open(self) -> None:
        with _engine_errors():
            self._workbook = cellrune.Workbook.from_bytes(self._package, read_limits=_READ_LIMITS)
            self._workbook.calculate(**self._options)
            summary = self._workbook.summary()
        self._revision = summary["semantic_revision"]
        self._used = {sheet["name"]: sheet["used_range"] for sheet in summary["sheets"]}
        self._changed = {}
        self._original: dict[CellRef, Mapping[str, Any]] = {}

    def recalculate(self) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the value of every formula cell, array and spill cells included."""
        self._apply({})
        values: dict[CellRef, Scalar | Unsolved] = {}
        for name, used in self._used.items():
            if used:
                values.update(self._sheet_values(name, used))
        return values

    def what_if(
        self, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]
    ) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the outputs with those cells replaced; what an earlier question changed is put back first.

        Changes that the engine refuses (a number in the header of a table) leave every output unsolved.
        """
        try:
            self._apply(changes)
        except EngineError as error:
            return dict.fromkeys(outputs, Unsolved(kind="engine_failure", detail=str(error)))
        return {ref: self._read(ref) for ref in outputs}

    def _read(self, ref: CellRef) -> Scalar | Unsolved:
        try:
            with _engine_errors():
                return scalar(self._workbook.read_values(ref.sheet, ref.address, ref.address)[0][0])
        except EngineError as error:
            return Unsolved(kind="engine_failure", detail=str(error))

    def _apply(self, changes: Mapping[CellRef, Scalar]) -> None:
        """Bring the workbook from its present changes to these, in one edit and one calculation."""
        edits = [self._undo(ref) for ref in self._changed if ref not in changes]
        edits += [
            self._edit(ref, value)
            for ref, value in changes.items()
            if ref not in self._changed or self._changed[ref] != value or type(self._changed[ref]) is not type(value)
        ]
        if not edits:
            return
        try:
            with _engine_errors():
                receipt = self._workbook.apply_changes_v2(self._revision, edits)
                self._revision = receipt["result_revision"]
                self._workbook.calculate(**self._options)
        except EngineError:
            self._open()
            raise
        self._changed = dict(changes)

    def _edit(self, ref: CellRef, value: Scalar) -> dict[str, Any]:
        if ref not in self._original:
            page = self._workbook.read_range(ref.sheet, ref.address, ref.address)
            self._original[ref] = page["cells"][0]
        if value is None:
            return {"kind": "clear_cell", "sheet": ref.sheet, "address": ref.address}
        return {"kind": "set_value", "sheet": ref.sheet, "address": ref.address, "value": _writable(value)}

    def _undo(self, ref: CellRef) -> dict[str, Any]:
        cell = self._original[ref]
        place = {"sheet": ref.sheet, "address": ref.address}
        if cell["formula"] is not None:
            return {"kind": "set_formula", "formula": f"={cell['formula'].removeprefix('=')}", **place}
        if cell["source_value"]["kind"] == "blank":
            return {"kind": "clear_cell", **place}
        return {"kind": "set_value", "value": dict(cell["source_value"]), **place}

    def _sheet_values(self, sheet: str, used: str) -> Iterable[tuple[CellRef, Scalar | Unsolved]]:
        area = RangeRef.parse(f"{sheet}!{used}")
        if area.size > _SPARSE:
            return self._sparse_values(sheet)
        return self._dense_values(area)

    def _dense_values(self, area: RangeRef) -> Iterator[tuple[CellRef, Scalar | Unsolved]]:
        columns = range(area.first_column, area.last_column + 1)
        height = max(1, _RECTANGLE // len(columns))
        first, last = column_letters(area.first_column), column_letters(area.last_column)
        for top in range(area.first_row, area.last_row + 1, height):
            bottom = min(top + height - 1, area.last_row)
            with _engine_errors():
                rows = self._workbook.read_values(area.sheet, f"{first}{top}", f"{last}{bottom}")
            for row, cells in enumerate(rows, top):
                for column, value in zip(columns, cells, strict=True):
                    if value["kind"] != "blank":
                        yield CellRef(area.sheet, row, column), scalar(value)

    def _sparse_values(self, sheet: str) -> Iterator[tuple[CellRef, Scalar | Unsolved]]:
        with _engine_errors():
            delta = self._workbook.recalculate(mode="full", **self._options)
        for cell in delta["changed_cells"]:
            if cell["cell"]["sheet_name"] == sheet:
                result = cell["result"]
                found = result["value"] if result["kind"] == "value" else result
                yield CellRef(sheet, *parse_a1(cell["cell"]["address"])), scalar(found)


_SPARSE = 4_000_000
_RECTANGLE = 1_000_000


def _writable(value: Scalar) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"kind": "logical", "value": value}
    if isinstance(value, int | float):
        return {"kind": "number", "value": float(value)}
    if isinstance(value, CellError):
        return {"kind": "error", "value": value.error}
    return {"kind": "text", "value": value}


@contextlib.contextmanager
def _engine_errors() -> Iterator[None]:
    try:
        yield
    except cellrune.CellRuneError as error:
        raise EngineError(f"cellrune {error.kind} error {error.code}: {error}") from error
    except BaseException as error:
        if is_panic(error):
            raise EngineError(f"cellrune broke: {error}") from error
        raise


@dataclass(frozen=True, slots=True)
class _Cellrune:
    name: str = "cellrune"
    version: str = metadata.version("cellrune")

    def open(self, package: bytes, clock: Clock) -> CellruneSession:
        """Load and calculate the package; EngineError if the engine cannot."""
        return CellruneSession(package, clock)


ENGINE = _Cellrune()
