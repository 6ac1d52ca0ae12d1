"""Sensitivity grids: where they stand, which inputs their axes vary, and which output they show."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlcheck.cells import CellRef, RangeRef, is_number
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Grid, Located, Roles
from xlcheck.roles.lists import sensitivity_lists
from xlcheck.roles.rectangles import Rectangle, rectangles
from xlcheck.workbook import DataTable, Sheet

AXIS_ROLES = ("wacc", "terminal_wacc", "cost_of_equity", "terminal_growth", "exit_multiple")
OUTPUT_ROLES = (
    "value_per_share", "equity_value", "enterprise_value", "pv_terminal_value", "terminal_value", "sum_pv_fcff",
    "upside",
)  # fmt: skip
_WORDS = {
    "wacc": re.compile(r"wacc|discount rate|cost of capital|折现率|資本コスト|割引率|kapitalkosten", re.IGNORECASE),
    "terminal_growth": re.compile(r"growth|永续|増|成長|wachstum|\bg\b", re.IGNORECASE),
    "exit_multiple": re.compile(r"multiple|ev/ebitda|倍数|倍率|multiplikator", re.IGNORECASE),
}
MOST_SHIFT = 0.05
"""Largest shift of a rate or growth on an axis of shifts."""
_OUTPUT_WORDS = {
    "value_per_share": re.compile(r"per share|share price|每股|股价|1株|株価|je aktie", re.IGNORECASE),
    "enterprise_value": re.compile(r"enterprise|\bEV\b|企业价值|事業価値|unternehmenswert", re.IGNORECASE),
    "equity_value": re.compile(r"equity value|股权价值|株式価値|eigenkapitalwert", re.IGNORECASE),
}


@dataclass(frozen=True)
class Axis:
    """One axis of a grid."""

    cells: tuple[CellRef, ...]
    values: tuple[float, ...]
    role: str | None
    """Scalar role that it varies."""
    input: CellRef | None
    """The cell that receives its values."""
    scale: float = 1.0
    """What an axis value is multiplied with before it goes into the input (0.01 where one is in points)."""
    looks_like: str | None = None
    """For a data table: the role that its values suggest, whatever cell they go into."""

    def base(self, recalc: Recalc) -> int | None:
        """Return the position of the model's own value on the axis, or None."""
        held = recalc.number(self.input) if self.input else None
        if held is None:
            return None
        near = [
            index
            for index, value in enumerate(self.values)
            if abs(value * self.scale - held) <= 1e-6 * max(abs(held), 1e-9)
        ]
        return near[0] if near else None


@dataclass(frozen=True)
class SensitivityGrid:
    """A grid of results over one or two axes."""

    area: RangeRef
    top: Axis | None
    left: Axis | None
    output: CellRef | None
    output_sure: bool
    """True where a formula, or the value at the base, tells the output, not only a heading."""
    table: DataTable | None
    """Set for Excel's own data tables."""
    live: bool
    """False for typed numbers."""

    def axes_at(self, ref: CellRef) -> list[tuple[Axis, float]]:
        """Return the axes with the values that a cell of the grid stands under and beside."""
        found = []
        if self.top is not None:
            found.append((self.top, self.top.values[ref.column - self.area.first_column]))
        if self.left is not None:
            found.append((self.left, self.left.values[ref.row - self.area.first_row]))
        return found


_FOUND: dict[tuple[int, int], tuple[SensitivityGrid, ...]] = {}


LARGEST = 10_000
"""Cells of a data table that can be a sensitivity grid; larger ones are not read by anybody."""


def find_grids(recalc: Recalc, graph: Graph, roles: Roles) -> tuple[SensitivityGrid, ...]:
    """Return the data tables and the grids of formulas or numbers whose axes surround the model's own inputs.

    Remembered for as long as the recomputation lives.
    """
    key = (id(recalc), id(roles))
    if key not in _FOUND:
        _FOUND[key] = _find(recalc, graph, roles)
        weakref.finalize(recalc, _FOUND.pop, key, None)
    return _FOUND[key]


def with_grids(recalc: Recalc, graph: Graph, roles: Roles) -> Roles:
    """Return the roles with the sensitivity grids of the workbook, which are told by the inputs they vary."""
    found = find_grids(recalc, graph, roles)
    if not found:
        return roles
    whole = roles.model_copy(update={"grids": tuple(_reported(one, roles, graph) for one in found)})
    _FOUND[id(recalc), id(whole)] = found
    weakref.finalize(recalc, _FOUND.pop, (id(recalc), id(whole)), None)
    return whole


def _reported(grid: SensitivityGrid, roles: Roles, graph: Graph) -> Grid:
    corner = grid.area.first_row - 1, grid.area.first_column - 1
    output = graph.pure_link(grid.output) if grid.output is not None else None
    shown = (role for role in OUTPUT_ROLES if (held := roles.get(role)) and held.cell and held.cell == output)
    return Grid(
        cells=grid.area,
        row_axis=grid.top.cells if grid.top else (),
        column_axis=grid.left.cells if grid.left else (),
        row_role=grid.top.role if grid.top else None,
        column_role=grid.left.role if grid.left else None,
        corner=CellRef(grid.area.sheet, *corner) if min(corner) > 0 else None,
        output_role=next(shown, None),
        live=grid.live,
        evidence=("a data table" if grid.table is not None else "its axes surround the model's own inputs",),
    )


def _find(recalc: Recalc, graph: Graph, roles: Roles) -> tuple[SensitivityGrid, ...]:
    found = []
    for sheet in recalc.book.sheets:
        held = (cell.data_table for cell in sheet.cells.values() if cell.data_table is not None)
        tables = [table for table in held if table.range.size <= LARGEST]
        found += [_of_table(recalc, graph, roles, table) for table in tables]
        taken = {ref for table in tables for ref in table.range.cells()}
        for rectangle in rectangles(recalc, sheet):
            if not any(ref in taken for ref in rectangle[0].cells()):
                grid = _of_rectangle(recalc, graph, roles, rectangle)
                if grid is not None:
                    found.append(grid)
        taken |= {ref for grid in found for ref in grid.area.cells()}
        found += [one for one in _lists(recalc, graph, roles, sheet) if not taken & set(one.area.cells())]
    return tuple(found)


def _lists(recalc: Recalc, graph: Graph, roles: Roles, sheet: Sheet) -> Iterator[SensitivityGrid]:
    for role, inputs, shown, outputs in sensitivity_lists(recalc, sheet):
        located = roles.scalars.get(shown)
        values = tuple(recalc.number(cell) or 0.0 for cell in inputs)
        axis = _bind(graph, roles, Axis(inputs, values, role, None))
        live = all((held := recalc.book.get(cell)) is not None and held.formula is not None for cell in outputs)
        base = axis.base(recalc)
        if located is None or located.cell is None or axis.role is None or (not live and base is None):
            continue
        shown_at_base = recalc.number(outputs[base]) if base is not None else None
        if live or (shown_at_base and located.value and abs(shown_at_base / located.value - 1) < 1e-3):
            area = RangeRef(sheet.name, outputs[0].row, outputs[0].column, outputs[-1].row, outputs[-1].column)
            yield SensitivityGrid(area, None, axis, located.cell, True, None, live)


def _of_table(recalc: Recalc, graph: Graph, roles: Roles, table: DataTable) -> SensitivityGrid:
    area = table.range
    above = [
        CellRef(area.sheet, area.first_row - 1, column) for column in range(area.first_column, area.last_column + 1)
    ]
    beside = [CellRef(area.sheet, row, area.first_column - 1) for row in range(area.first_row, area.last_row + 1)]
    top = _table_axis(recalc, graph, roles, above, table.row_input)
    left = _table_axis(recalc, graph, roles, beside, table.column_input)
    corner = CellRef(area.sheet, area.first_row - 1, area.first_column - 1)
    output: CellRef | None = corner if table.row_input and table.column_input else None
    if output is None:
        output = above[0] if table.column_input and len(above) == 1 else beside[0] if len(beside) == 1 else None
    return SensitivityGrid(area, top, left, output, output is not None, table, live=True)


def _table_axis(
    recalc: Recalc, graph: Graph, roles: Roles, cells: Sequence[CellRef], target: CellRef | None
) -> Axis | None:
    if target is None:
        return None
    values = [recalc.number(ref) for ref in cells]
    if any(value is None for value in values):
        return None
    held = tuple(value for value in values if value is not None)
    driven = graph.descendants([target])
    role = next((name for name in AXIS_ROLES if name in roles.scalars and roles.scalars[name].cell in driven), None)
    return Axis(tuple(cells), held, role, target, looks_like=role or _role_of(roles, held, ""))


def _of_rectangle(recalc: Recalc, graph: Graph, roles: Roles, rectangle: Rectangle) -> SensitivityGrid | None:
    area, above, beside = rectangle
    notes = _heading(recalc, area)
    top = _plain_axis(recalc, graph, roles, above, _beside_axis(recalc, above, across=True))
    left = _plain_axis(recalc, graph, roles, beside, _beside_axis(recalc, beside, across=False))
    top, left = _as_level(graph, roles, top, left, notes), _as_level(graph, roles, left, top, notes)
    top, left = _by_exclusion(graph, roles, top, left)
    if top.role is None or left.role is None or top.role == left.role:
        return None
    cells = list(area.cells())
    live = all((held := recalc.book.get(ref)) is not None and held.formula is not None for ref in cells)
    bare = SensitivityGrid(area, top, left, None, False, None, live)
    output, sure = _output(recalc, graph, roles, bare, notes)
    if output is None:
        return None
    return SensitivityGrid(area, top, left, output, sure, None, live)


def _plain_axis(recalc: Recalc, graph: Graph, roles: Roles, cells: tuple[CellRef, ...], notes: str) -> Axis:
    values = tuple(value for value in (recalc.number(ref) for ref in cells) if value is not None)
    role = _role_of(roles, values, notes)
    return _bind(graph, roles, Axis(cells, values, role, None))


def _bind(graph: Graph, roles: Roles, axis: Axis) -> Axis:
    located = roles.scalars.get(axis.role) if axis.role else None
    if located is None or located.cell is None or located.value is None:
        return Axis(axis.cells, axis.values, None, None)
    scale = 1.0
    middle = sorted(axis.values)[len(axis.values) // 2]
    if abs(located.value) > 0 and middle / located.value > 20:
        scale = 0.01
    return Axis(axis.cells, axis.values, axis.role, graph.pure_link(located.cell), scale)


def _role_of(roles: Roles, values: Sequence[float], notes: str) -> str | None:
    """Return the role that an axis varies: the one whose own value it surrounds, or the one its heading names."""
    exact = [name for name in AXIS_ROLES if _meets(roles.scalars.get(name), values)]
    if exact:
        return exact[0]
    around = [name for name in AXIS_ROLES if _surrounds(roles.scalars.get(name), values)]
    named = [name for name in AXIS_ROLES if name in _WORDS and name in roles.scalars and _WORDS[name].search(notes)]
    both = [name for name in around if name in named]
    if len(both) == 1:
        return both[0]
    if len(named) == 1 and not around:
        return named[0]
    return around[0] if around and (len(around) == 1 or "wacc" in around) else None


def _meets(located: Located | None, values: Sequence[float]) -> bool:
    held = located.value if located is not None else None
    return held is not None and held != 0 and any(abs(value - held) <= 1e-9 * abs(held) for value in values)


def _surrounds(located: Located | None, values: Sequence[float]) -> bool:
    if located is None or located.value is None:
        return False
    low, high = min(values), max(values)
    return any(low * scale - 1e-9 <= located.value <= high * scale + 1e-9 for scale in (1.0, 0.01))


def _as_level(graph: Graph, roles: Roles, axis: Axis, other: Axis, notes: str) -> Axis:
    """Turn an axis of shifts (-1 %, 0, +1 %) into the levels they mean, by what the other axis leaves to vary."""
    low, high = min(axis.values), max(axis.values)
    if not (0.0 in axis.values and abs(low + high) < 1e-9 and 0 < high <= MOST_SHIFT):
        return axis
    left_over = {"terminal_growth": "wacc", "exit_multiple": "wacc", "wacc": "terminal_growth"}.get(other.role or "")
    located = roles.scalars.get(left_over) if left_over and _WORDS[left_over].search(notes) else None
    if located is None or located.value is None or not high < located.value < 1:
        return axis
    return _bind(graph, roles, Axis(axis.cells, tuple(located.value + one for one in axis.values), left_over, None))


def _by_exclusion(graph: Graph, roles: Roles, top: Axis, left: Axis) -> tuple[Axis, Axis]:
    """Name the rate axis of a grid whose other axis is growth or the multiple, though it misses the model's rate."""
    for one, other in ((top, left), (left, top)):
        if one.role is None and other.role in ("terminal_growth", "exit_multiple") and "wacc" in roles.scalars:
            rates = all(0.02 <= value <= 0.4 for value in one.values)
            if rates and (other.role == "exit_multiple" or min(one.values) > max(other.values) * 0.99):
                named = _bind(graph, roles, Axis(one.cells, one.values, "wacc", None))
                return (named, other) if one is top else (other, named)
    return top, left


def _heading(recalc: Recalc, area: RangeRef) -> str:
    """Return the texts above and in the corner of a grid."""
    rows = range(max(1, area.first_row - 5), area.first_row)
    columns = range(max(1, area.first_column - 3), area.last_column + 1)
    texts = (_text_at(recalc, CellRef(area.sheet, row, column)) for row in rows for column in columns)
    return " | ".join(text for text in texts if text)


def _text_at(recalc: Recalc, ref: CellRef) -> str:
    value = recalc.value(ref)
    return value.strip() if isinstance(value, str) else ""


def _beside_axis(recalc: Recalc, cells: tuple[CellRef, ...], *, across: bool) -> str:
    """Return the texts next to an axis: above a horizontal one, left of a vertical one."""
    first = cells[0]
    if across:
        places = [
            CellRef(first.sheet, row, ref.column) for ref in cells for row in (first.row - 1, first.row - 2) if row > 0
        ]
    else:
        places = [
            CellRef(first.sheet, ref.row, column)
            for ref in cells
            for column in range(max(1, first.column - 2), first.column)
        ]
    return " | ".join(text for place in places if (text := _text_at(recalc, place)))


def _output(
    recalc: Recalc, graph: Graph, roles: Roles, grid: SensitivityGrid, notes: str
) -> tuple[CellRef | None, bool]:
    beside = grid.left.cells[0].column if grid.left else grid.area.first_column - 1
    corner = CellRef(grid.area.sheet, grid.area.first_row - 1, beside)
    held = recalc.book.get(corner)
    outputs = {name: cell for name in OUTPUT_ROLES if name in roles.scalars and (cell := roles.scalars[name].cell)}
    if held is not None and held.formula is not None and is_number(recalc.value(corner)):
        return corner, True
    centre = centre_cell(recalc, grid)
    shown = recalc.number(centre) if centre else None
    for cell in outputs.values():
        base = recalc.number(cell)
        if (
            shown is not None
            and base is not None
            and abs(shown - base) <= max(1e-3 * abs(base), display_unit(recalc, centre))
        ):
            return cell, True
    other = _beside_the_headline(recalc, graph, grid, centre) if centre is not None else None
    if other is not None:
        return other, True
    named = [name for name, words in _OUTPUT_WORDS.items() if name in outputs and words.search(notes)]
    if named:
        return outputs[named[0]], False
    numbers = [value for ref in grid.area.cells() if (value := recalc.number(ref)) is not None]
    around = [
        cell for cell in outputs.values() if (base := recalc.number(cell)) and min(numbers) <= base <= max(numbers)
    ]
    return (around[0], False) if len(around) == 1 else (None, False)


def _beside_the_headline(recalc: Recalc, graph: Graph, grid: SensitivityGrid, centre: CellRef) -> CellRef | None:
    """Return a formula outside the grid that depends on both inputs and has the value shown at the base."""
    shown = recalc.number(centre)
    inputs = [axis.input for axis in (grid.top, grid.left) if axis is not None and axis.input is not None]
    if not shown or len(inputs) < 2:
        return None
    both = graph.descendants([inputs[0]]) & graph.descendants([inputs[1]])
    area = set(grid.area.cells())
    slack = max(1e-9 * abs(shown), display_unit(recalc, centre))
    fits = [ref for ref in both if ref not in area and (value := recalc.number(ref)) and abs(value - shown) <= slack]
    return min(fits) if fits else None


def centre_cell(recalc: Recalc, grid: SensitivityGrid) -> CellRef | None:
    """Return the cell at the model's own values on both axes, or None where an axis misses its value."""
    column = grid.top.base(recalc) if grid.top else 0
    row = grid.left.base(recalc) if grid.left else 0
    if column is None or row is None:
        return None
    return CellRef(grid.area.sheet, grid.area.first_row + row, grid.area.first_column + column)


def display_unit(recalc: Recalc, ref: CellRef | None) -> float:
    """Return half a unit of the last digit that a typed number carries (0 for a formula or full precision)."""
    held = recalc.book.get(ref) if ref else None
    if held is None or held.formula is not None or not is_number(held.stored):
        return 0.0
    text = repr(float(held.stored))  # type: ignore[arg-type]
    digits = len(text.split(".")[1]) if "." in text and "e" not in text else 0
    whole = text.endswith(".0")
    return 0.0 if digits > 6 else 0.51 * 10.0 ** -(0 if whole else digits)
