"""The third opinion: single formulas, each compiled alone and given the values that it reads."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata, util
from typing import Any

from xlcheck.cells import CellError, CellRef, RangeRef, Scalar
from xlcheck.engines import Clock, Unsolved
from xlcheck.engines.filling import fill
from xlcheck.engines.package import Formula, anchors, read_package

_CODE = re.compile(r"#(?:N/A|[A-Z0/]+[!?])")
_UNTRUSTED = re.compile(
    r"\b(?:TODAY|NOW|RAND|RANDBETWEEN|RANDARRAY|OFFSET|INDIRECT|SUBTOTAL|AGGREGATE|CELL|INFO|LET|LAMBDA|ROW\(\)|COLUMN\(\))",
    re.IGNORECASE,
)
_LONGEST = 1_500
"""Characters of a formula: its parser takes time with the square of them."""
_LARGEST = 200_000


class FormulasSession:
    """One package; formulas are evaluated when they are asked for, precedents first."""

    def __init__(self, package: bytes) -> None:
        draft = read_package(package)
        self._sheets = {title.upper(): (title, cells) for title, cells in draft.sheets.items()}
        self._names = {name.name.upper(): name.formula for name in draft.names if name.sheet is None}
        self._anchors = anchors(draft)

    def recalculate(self) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the value of every formula cell."""
        return self.what_if(
            {},
            [
                CellRef(title, *place)
                for title, cells in self._sheets.values()
                for place, content in cells.items()
                if isinstance(content, Formula)
            ],
        )

    def what_if(
        self, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]
    ) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the outputs with those cells replaced."""
        known: dict[CellRef, Scalar | Unsolved] = dict(changes)
        with _quiet():
            return {ref: self._value(ref, known, ()) for ref in outputs}

    def _value(
        self, ref: CellRef, known: dict[CellRef, Scalar | Unsolved], above: tuple[CellRef, ...]
    ) -> Scalar | Unsolved:
        if ref not in known:
            at = self._anchors.get(ref, ref)
            content = self._sheets.get(at.sheet.upper(), (at.sheet, {}))[1].get((at.row, at.column))
            if not isinstance(content, Formula):
                return content
            if at in above or len(above) > _DEEPEST:
                return Unsolved(kind="cycle", detail=f"formulas: {at} depends on itself, or too deep a chain")
            result = self._evaluate(content.text, at, known, (*above, at))
            if content.array is None:
                known[at] = result[0][0]
            else:
                filled = fill(content.array, result, dynamic=content.dynamic)
                known.update({place: value for place, value in filled if place not in known})
        return known[ref]

    def _evaluate(
        self, text: str, ref: CellRef, known: dict[CellRef, Scalar | Unsolved], above: tuple[CellRef, ...]
    ) -> Sequence[Sequence[Scalar | Unsolved]]:
        """Return the rows of the result, one of one for a single value."""
        if len(text) > _LONGEST:
            detail = f"formulas: a formula of {len(text):,} characters takes it too long"
            return [[Unsolved(kind="engine_failure", detail=detail)]]
        if _UNTRUSTED.search(text):
            detail = "formulas: a function that it does not do as Excel does"
            return [[Unsolved(kind="unsupported_function", detail=detail)]]
        _load_late("scipy.stats")
        import formulas
        from formulas.ranges import Ranges

        try:
            function = formulas.Parser().ast(text)[1].compile()
            arguments = []
            for name in function.inputs:
                found = self._values(name, ref, known, above)
                if isinstance(found, Unsolved):
                    return [[found]]
                arguments.append(Ranges().push(name, found))
            return _rows(function(*arguments))
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it raises is one cell that it cannot judge
            return [[failure(error)]]

    def _values(
        self, name: str, ref: CellRef, known: dict[CellRef, Scalar | Unsolved], above: tuple[CellRef, ...]
    ) -> Any:  # noqa: ANN401
        import numpy
        import schedula

        area = self._area(self._names.get(name, name), ref)
        if area is None or area.size > _LARGEST:
            return Unsolved(kind="unsupported_function", detail=f"formulas: the reference {name} cannot be given to it")
        rows: list[list[object]] = []
        for row in range(area.first_row, area.last_row + 1):
            cells = [
                self._value(CellRef(area.sheet, row, column), known, above)
                for column in range(area.first_column, area.last_column + 1)
            ]
            blocked = next((value for value in cells if isinstance(value, Unsolved)), None)
            if blocked is not None:
                return blocked
            rows.append([schedula.EMPTY if value is None else _given(value) for value in cells])
        values = numpy.empty((len(rows), len(rows[0])), dtype=object)
        values[:] = rows
        return values

    def _area(self, text: str, ref: CellRef) -> RangeRef | None:
        try:
            area = RangeRef.parse(text.replace("$", "") if "!" in text else f"{ref.sheet}!{text}".replace("$", ""))
        except ValueError:
            return None
        found = self._sheets.get(area.sheet.upper())
        return area._replace(sheet=found[0]) if found else None


_DEEPEST = 200


def _given(value: Scalar | Unsolved) -> object:
    if isinstance(value, CellError):
        from formulas.tokens.operand import Error

        return Error.errors.get(value.error, Error.errors["#VALUE!"])
    return value


def _rows(value: object) -> list[list[Scalar | Unsolved]]:
    """Translate a result of the library."""
    import numpy

    grid = numpy.atleast_2d(numpy.asarray(value, dtype=object))
    return [[_scalar(item) for item in row] for row in grid] if grid.size else [[None]]


def _scalar(item: Any) -> Scalar | Unsolved:  # noqa: ANN401
    import numpy

    if isinstance(item, numpy.generic):
        item = item.item()
    if item is None or isinstance(item, bool) or type(item) is str:
        return item
    if isinstance(item, int | float):
        return float(item)
    text = str(item)
    if _CODE.fullmatch(text):
        return CellError(error=text)
    return None if text == "empty" else Unsolved(kind="engine_failure", detail=f"formulas: a result {text[:60]}")


def failure(error: BaseException) -> Unsolved:
    """Translate an exception of the library."""
    cause = f"{type(error).__name__}: {str(error).strip()[:120]}"
    unsupported = "NotImplementedError" in cause or type(error).__module__.startswith("formulas")
    return Unsolved(kind="unsupported_function" if unsupported else "engine_failure", detail=f"formulas: {cause}")


def _load_late(name: str) -> None:
    """Let a module load when something of it is first used: this one takes as long as the library and all the rest."""
    spec = None if name in sys.modules else util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = util.LazyLoader(spec.loader)
    module = sys.modules[name] = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parent, _, child = name.rpartition(".")
    setattr(sys.modules[parent], child, module)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's own reports of its failures from the terminal."""
    logger = logging.getLogger("schedula")
    before = logger.disabled, logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = before[0]
        logging.disable(before[1])


@dataclass(frozen=True, slots=True)
class _Formulas:
    name: str = "formulas"
    version: str = metadata.version("formulas")

    def open(self, package: bytes, clock: Clock) -> FormulasSession:
        """Read the package; nothing is evaluated before it is asked for."""
        del clock
        return FormulasSession(package)


ENGINE = _Formulas()
