"""Excel's what-if tables, worked out by what-if: each cell is the table's formula with its inputs replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Unsolved
from xlcheck.workbook import DataTable

Evaluate = Callable[[Mapping[CellRef, Scalar], Sequence[CellRef]], Mapping[CellRef, Scalar | Unsolved]]
"""Takes changed cells and outputs, as a what-if does."""


def head_of(table: DataTable, place: CellRef) -> CellRef:
    """Return the cell of the formula that a table cell evaluates.

    With two inputs it stands in the corner; with one, above the column of values (column input) or left of the
    row (row input).
    """
    top, left = table.range.first_row, table.range.first_column
    if table.row_input and table.column_input:
        return CellRef(place.sheet, top - 1, left - 1)
    if table.row_input:
        return CellRef(place.sheet, place.row, left - 1)
    return CellRef(place.sheet, top - 1, place.column)


def sources_of(table: DataTable, places: Iterable[CellRef]) -> set[CellRef]:
    """Return the cells of the formulas and axes that these cells of the table follow from."""
    found: set[CellRef] = set()
    for place in places:
        found.add(head_of(table, place))
        found.update(_axes_of(table, place))
    return found


def table_values(
    table: DataTable, evaluate: Evaluate, places: Iterable[CellRef] | None = None
) -> dict[CellRef, Scalar | Unsolved]:
    """Return the value of these cells that the table fills, of all by default."""
    wanted = list(table.range.cells() if places is None else places)
    given = evaluate({}, sorted({axis for place in wanted for axis in _axes_of(table, place)}))
    outputs: dict[tuple[Scalar | Unsolved, ...], list[CellRef]] = defaultdict(list)
    inputs = [ref for ref in (table.row_input, table.column_input) if ref is not None]
    for place in wanted:
        outputs[tuple(given[axis] for axis in _axes_of(table, place))].append(place)
    found: dict[CellRef, Scalar | Unsolved] = {}
    for values, group in outputs.items():
        unknown = next((value for value in values if isinstance(value, Unsolved)), None)
        if unknown is not None or not inputs:
            lost = unknown or Unsolved(kind="unsupported_function", detail="the data table names no input cell")
            found.update(dict.fromkeys(group, lost))
            continue
        changes = {ref: value for ref, value in zip(inputs, values, strict=True) if not isinstance(value, Unsolved)}
        heads = {place: head_of(table, place) for place in group}
        answers = evaluate(changes, sorted(set(heads.values())))
        found.update({place: answers[head] for place, head in heads.items()})
    return found


_COSTLIEST = 20_000_000
"""Cells of a data table times formulas of the model: beyond it a table is not filled."""
_TOO_LARGE = Unsolved(kind="engine_failure", detail="the data table is too large to be filled by what-if")


def fill_tables(
    tables: Iterable[tuple[DataTable, Sequence[CellRef]]],
    formulas: int,
    changes: Mapping[CellRef, Scalar],
    held: Mapping[CellRef, Scalar],
    evaluator: Callable[[Mapping[CellRef, Scalar]], Evaluate],
) -> tuple[dict[CellRef, Scalar], dict[CellRef, Unsolved]]:
    """Return the values of the cells that tables fill, without changed ones, and the cells that are unsolved.

    `formulas` is the size of the model; `evaluator` takes what is held and gives the what-if of it.
    """
    values: dict[CellRef, Scalar] = {}
    lost: dict[CellRef, Unsolved] = {}
    for table, places in tables:
        if table.range.size * formulas > _COSTLIEST:
            lost.update(dict.fromkeys(places, _TOO_LARGE))
            continue
        for ref, value in table_values(table, evaluator({**held, **values}), places).items():
            if ref in changes:
                continue
            if isinstance(value, Unsolved):
                lost[ref] = value
            else:
                values[ref] = value
    return values, lost


def _axes_of(table: DataTable, place: CellRef) -> Iterator[CellRef]:
    """Yield the axis cells of a table cell, in the order row input, column input."""
    if table.row_input:
        yield CellRef(place.sheet, table.range.first_row - 1, place.column)
    if table.column_input:
        yield CellRef(place.sheet, place.row, table.range.first_column - 1)
