"""The second opinion: asked about cells in dispute, never edited but loaded anew for each question."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib import metadata
from typing import Any

import formualizer

from xlcheck.cells import CellError, CellRef, Scalar
from xlcheck.engines import Clock, Unsolved, UnsolvedKind, is_panic
from xlcheck.engines.filling import fill
from xlcheck.engines.package import Formula, anchors, read_package, write_package
from xlcheck.errors import EngineError

ERRORS: Mapping[str, str | UnsolvedKind] = {
    "Div": "#DIV/0!",
    "Na": "#N/A",
    "Null": "#NULL!",
    "Num": "#NUM!",
    "Ref": "#REF!",
    "Value": "#VALUE!",
    "Spill": "#SPILL!",
    "Calc": "#CALC!",
    "Name": "unsupported_function",
    "NImpl": "unsupported_function",
    "Circ": "cycle",
    "Cancelled": "engine_failure",
    "Error": "engine_failure",
}
"""Every error kind of the engine: the Excel code, or why the cell is unsolved.

``Name`` is no Excel value here: the engine says it of functions and names that it does not know.
"""


class FormualizerSession:
    """One package; every question loads it afresh.

    It is cut into its constants and its formulas, which the engine takes one by one: one formula that it
    cannot resolve would otherwise spoil every later answer.
    """

    def __init__(self, package: bytes, clock: Clock) -> None:
        draft = read_package(package)
        self._formulas = {
            CellRef(title, *place): content
            for title, cells in draft.sheets.items()
            for place, content in cells.items()
            if isinstance(content, Formula)
        }
        self._anchors = anchors(draft)
        constants = {
            title: {place: content for place, content in cells.items() if not isinstance(content, Formula)}
            for title, cells in draft.sheets.items()
        }
        self._constants = write_package(replace(draft, sheets=constants))
        self._date1904 = draft.date1904
        self._clock = clock

    def recalculate(self) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the value of every formula cell."""
        return self.what_if({}, list(self._formulas))

    def what_if(
        self, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]
    ) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the outputs with those cells replaced."""
        workbook, refused = self._load(changes, [ref for ref in self._formulas if ref not in changes])
        found: dict[CellRef, Scalar | Unsolved] = {}
        for ref in outputs:
            if ref not in found:
                anchor = self._anchors.get(ref, ref)
                value = refused[anchor] if anchor in refused else self._value(workbook, anchor)
                if ref in self._anchors:
                    found.update(self._filled(workbook, self._formulas[anchor], value))
                else:
                    found[ref] = value
        return {ref: found[ref] for ref in outputs}

    def _filled(
        self,
        workbook: Any,  # noqa: ANN401
        formula: Formula,
        first: Scalar | Unsolved,
    ) -> Iterator[tuple[CellRef, Scalar | Unsolved]]:
        """Yield every cell of an array; the engine spills each as a dynamic one, blank past the end."""
        area = formula.array
        assert area is not None
        if isinstance(first, Unsolved):
            return fill(area, [[first]], dynamic=formula.dynamic)
        width = area.last_column - area.first_column + 1
        values = [self._value(workbook, ref) for ref in area.cells()]
        rows = [values[start : start + width] for start in range(0, len(values), width)]
        if not formula.dynamic:
            width = next((count for count, value in enumerate(rows[0]) if value is None), width) or 1
            rows = [row[:width] for row in rows if row[0] is not None] or [[first]]
        return fill(area, rows, dynamic=formula.dynamic)

    def _load(
        self, changes: Mapping[CellRef, Scalar], formulas: Sequence[CellRef]
    ) -> tuple[Any, dict[CellRef, Unsolved]]:
        settings = formualizer.EvaluationConfig()
        settings.cycle_detection = "runtime"
        settings.date_system = "1904" if self._date1904 else "1900"
        settings.enable_parallel = False
        refused: dict[CellRef, Unsolved] = {}
        with engine_errors():
            config = formualizer.WorkbookConfig(eval_config=settings)
            workbook = formualizer.Workbook.from_bytes(self._constants, config=config)
            workbook.set_temporal_egress("serial")
            if self._clock.now is not None:
                start = datetime(1904, 1, 1, tzinfo=UTC) if self._date1904 else datetime(1899, 12, 30, tzinfo=UTC)
                workbook.set_deterministic_clock(start + timedelta(days=self._clock.now))
            for ref, value in changes.items():
                workbook.set_value(ref.sheet, ref.row, ref.column, _literal(value))
        for ref in formulas:
            try:
                workbook.set_formula(ref.sheet, ref.row, ref.column, self._formulas[ref].text)
                if len(formulas) <= _FEW:
                    workbook.get_eval_plan([(ref.sheet, ref.row, ref.column)])
            except Exception as error:  # noqa: BLE001 - whatever it refuses is one cell that it cannot judge
                refused[ref] = Unsolved(kind="unsupported_function", detail=f"formualizer: {error}")
                workbook.set_value(ref.sheet, ref.row, ref.column, None)
        self._evaluated = False
        if len(formulas) > _FEW:
            with contextlib.suppress(formualizer.ExcelEvaluationError):
                workbook.evaluate_all()
                self._evaluated = True
        return workbook, refused

    def _value(self, workbook: Any, ref: CellRef) -> Scalar | Unsolved:  # noqa: ANN401
        formula = self._formulas.get(ref)
        if self._clock.now is None and formula is not None and _VOLATILE.search(formula.text):
            return Unsolved(kind="clock", detail="formualizer: no date is pinned for TODAY and NOW")
        try:
            if formula is not None and not self._evaluated:
                return scalar(workbook.evaluate_cell(ref.sheet, ref.row, ref.column))
            return scalar(workbook.get_value(ref.sheet, ref.row, ref.column))
        except formualizer.ExcelEvaluationError as error:
            return excel_error(getattr(error, "kind", "Error"), str(error))
        except Exception as error:  # noqa: BLE001 - see above
            return Unsolved(kind="engine_failure", detail=f"formualizer: {error}")
        except BaseException as error:
            if is_panic(error):
                return Unsolved(kind="engine_failure", detail=f"formualizer broke: {error}")
            raise


_FEW = 300
"""Up to so many formulas each is planned alone, so that one which cannot be resolved is known by name."""

_VOLATILE = re.compile(r"\b(?:TODAY|NOW)\(", re.IGNORECASE)


def scalar(value: object) -> Scalar | Unsolved:
    """Translate a value of the engine; of an array the first element."""
    if isinstance(value, list):
        first = value[0] if value else None
        return scalar(first[0] if isinstance(first, list) and first else first)
    if isinstance(value, dict):
        return excel_error(str(value.get("kind")), "")
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return float(value)
    return Unsolved(kind="engine_failure", detail=f"formualizer: a value of type {type(value).__name__}")


def excel_error(kind: str, message: str) -> CellError | Unsolved:
    """Translate an error kind; an unknown one is an engine failure."""
    found = ERRORS.get(kind, "engine_failure")
    if found.startswith("#"):
        return CellError(error=found)
    return Unsolved(kind=found, detail=f"formualizer: {kind} {message}".strip())


_KINDS = {code: kind for kind, code in ERRORS.items()}


def _literal(value: Scalar) -> object:
    if isinstance(value, CellError):
        return formualizer.LiteralValue.error(_KINDS.get(value.error, "Value"), None)
    return value


@contextlib.contextmanager
def engine_errors() -> Iterator[None]:
    """Turn whatever the engine raises into an EngineError."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        raise EngineError(f"formualizer: {type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class _Formualizer:
    name: str = "formualizer"
    version: str = metadata.version("formualizer")

    def open(self, package: bytes, clock: Clock) -> FormualizerSession:
        """Load the package; EngineError if the engine cannot."""
        return FormualizerSession(package, clock)


ENGINE = _Formualizer()
