"""Rows of cells over periods: how a line is kept, and how one is found by its label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xlcheck.cells import CellRef
from xlcheck.formula import r1c1
from xlcheck.roles.layout import SheetLayout
from xlcheck.roles.picks import Chain, Line
from xlcheck.roles.shapes import Shapes
from xlcheck.roles.timeline import Tick, Timeline, Timelines
from xlcheck.roles.vocabulary import SERIES_ROLES

BALANCES = ("total_assets", "total_liabilities_and_equity")
"""Series that may show actual years only."""

UNHEADED = 0.85
"""How well a label must name a line on a sheet without headings of periods."""


@dataclass
class Rows:
    """The lines of one valuation found so far."""

    shapes: Shapes
    chain: Chain
    timelines: Timelines
    found: dict[str, Line] = field(default_factory=dict)

    def put(self, role: str, cells: Iterable[CellRef], *, graph: bool) -> None:
        """Keep a line of two cells or more, if the role has none yet."""
        cells = tuple(cells)
        if len(cells) < 2 or role in self.found:
            return
        label = max(self.shapes.naming.score(cell, role) for cell in cells[:2])
        reason = (
            f"{cells[0]} is reached by formulas from {self.chain.top}"
            if graph
            else (f"{cells[0]} is labelled {self.shapes.naming.label(cells[0])!r}")
        )
        line = Line(role, cells, label, graph, [reason])
        self.found[role] = line

    def kind(self, cell: CellRef) -> str | None:
        """Return what the formula of a cell is."""
        shape = self.shapes.at(cell)
        return shape.kind if shape else None

    def aligned(self, cells: tuple[CellRef, ...], like: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        """Return a line at the periods of the flows `like` that read it, though formulas may read a neighbour's.

        Only where both stand under one heading of periods: elsewhere the columns of two blocks need not agree.
        """
        if not cells or len(cells) != len(like) or cells[0].sheet != like[0].sheet or not in_line([*cells]):
            return cells
        across = like[0].row == like[-1].row
        if not in_line([*like]) or (len({one.row if across else one.column for one in cells}) != 1):
            return cells
        moved = tuple(
            cell._replace(column=one.column) if across else cell._replace(row=one.row)
            for cell, one in zip(cells, like, strict=True)
        )
        if moved == cells or any(self.shapes.naming.layout.num(cell) is None for cell in moved):
            return cells
        heads = {self._head(line, across) for line in (cells[-1], moved[-1], like[-1])}
        return moved if len(heads) == 1 and None not in heads else cells

    def whole(self, cells: list[CellRef], read: frozenset[CellRef]) -> list[CellRef]:
        """Return a line of present values with the forecast years at its ends that the sum leaves out.

        They are filled with the formula of the line, hold a value, stand under the same heading of years, and nothing
        in the valuation reads them.
        """
        if len(cells) < 2 or not in_line(cells):
            return cells
        across = cells[0].row == cells[-1].row
        step = (0, 1) if across else (1, 0)
        return [
            *self._onwards(cells[0], (-step[0], -step[1]), read)[::-1],
            *cells,
            *self._onwards(cells[-1], step, read),
        ]

    def _onwards(self, end: CellRef, step: tuple[int, int], read: frozenset[CellRef]) -> list[CellRef]:
        found: list[CellRef] = []
        cell, across = end, step[0] == 0
        while cell.row + step[0] > 0 and cell.column + step[1] > 0:
            before, cell = cell, cell.offset(*step)
            tick = self._tick(cell, across)
            ours, theirs = self.shapes.book.get(cell), self.shapes.book.get(before)
            alike = (
                ours
                and theirs
                and ours.formula
                and theirs.formula
                and r1c1(ours.formula, cell) == r1c1(theirs.formula, before)
            )
            if not alike or cell in read or tick is None or tick.kind in ("terminal", "actual"):
                break
            if not self.shapes.naming.layout.value(cell):
                break
            found.append(cell)
        return found

    def _tick(self, cell: CellRef, across: bool) -> Tick | None:
        head = self._head(cell, across)
        position = cell.column if across else cell.row
        for one in self.timelines.get(cell.sheet, ()):
            if one.across == across and one.line == head and one.tick(position) is not None:
                return one.tick(position)
        return None

    def _head(self, cell: CellRef, across: bool) -> int | None:
        """Return the line of the nearest dated heading above (left of) a cell that names its period."""
        line, position = (cell.row, cell.column) if across else (cell.column, cell.row)
        found = [
            one.line
            for one in self.timelines.get(cell.sheet, ())
            if one.across == across and one.dated and one.line <= line and one.tick(position) is not None
        ]
        return max(found, default=None)

    def by_label(self, sheet: SheetLayout, role: str, like: tuple[CellRef, ...] | None) -> tuple[CellRef, ...] | None:
        """Find the row (column) of a sheet whose label names a role best, over the periods of the flows `like`."""
        best: tuple[float, tuple[CellRef, ...]] | None = None
        if like is not None and not self.timelines.get(sheet.name):
            return self._unheaded(sheet, role, like)
        for timeline in self.timelines.get(sheet.name, ()):
            if not timeline.dated and like is None:
                continue
            positions = _positions(timeline, like, past=role in BALANCES)
            if like is not None and role not in BALANCES:
                positions = self._in_years_of(like, timeline, positions)
            if len(positions) < 2:
                continue
            for line in sheet.rows if timeline.across else sheet.columns:
                if not _belongs(timeline, line, self.timelines[sheet.name]):
                    continue
                cells = [sheet.ref(line, p) if timeline.across else sheet.ref(p, line) for p in positions]
                numbers = [cell for cell in cells if (cell.row, cell.column) in sheet.numbers]
                if len(numbers) < max(2, 0.7 * len(cells)) or not self._right_unit(role, sheet, numbers):
                    continue
                score = self.shapes.naming.score(numbers[-1], role) - 0.001 * abs(line - timeline.line)
                if score >= 0.55 and (best is None or score > best[0]):
                    best = (score, tuple(numbers))
        return best[1] if best else None

    def _in_years_of(self, like: tuple[CellRef, ...], timeline: Timeline, positions: list[int]) -> list[int]:
        """Cut the periods of another sheet to the years of the flows, where both sheets name all of them."""
        across = like[0].row == like[-1].row
        years = [tick.year for cell in like if (tick := self._tick(cell, across)) and tick.year is not None]
        if not timeline.dated or len(years) != len(like):
            return positions
        wanted = {int(year) for year in years}
        kept = [tick.position for tick in timeline.ticks if tick.year is not None and int(tick.year) in wanted]
        return kept if len(kept) == len(wanted) and set(kept) <= set(positions) else positions

    def _unheaded(self, sheet: SheetLayout, role: str, like: tuple[CellRef, ...]) -> tuple[CellRef, ...] | None:
        """Find a surely labelled line on a sheet that has no headings of its own: in the columns of the flows."""
        across = like[0].row == like[-1].row
        for line in sheet.rows if across else sheet.columns:
            cells = [sheet.ref(line, one.column) if across else sheet.ref(one.row, line) for one in like]
            numbers = [cell for cell in cells if (cell.row, cell.column) in sheet.numbers]
            named = bool(numbers) and self.shapes.naming.score(numbers[-1], role) >= UNHEADED
            if named and len(numbers) == len(cells) and self._right_unit(role, sheet, numbers):
                return tuple(numbers)
        return None

    def _right_unit(self, role: str, sheet: SheetLayout, cells: list[CellRef]) -> bool:
        numbers = [sheet.numbers[cell.row, cell.column] for cell in cells]
        if SERIES_ROLES[role] == "money":
            small = all(number.value is not None and abs(number.value) < 1 for number in numbers)
            return not any(number.percent or number.date for number in numbers) and not (
                small and any(number.value for number in numbers)
            )
        if SERIES_ROLES[role] == "rate":
            return all(
                number.value is None or abs(number.value) <= (10 if number.percent else 60) for number in numbers
            )
        return True

    def extend(self, line: Line) -> None:
        """Add the actual periods before the forecast and the terminal column after it."""
        cells = line.cells
        across = len({cell.row for cell in cells}) == 1
        sheet = self.shapes.naming.layout.by_name[cells[0].sheet]
        own = [cell.column if across else cell.row for cell in cells]
        place = cells[0].row if across else cells[0].column
        fitting = [
            timeline
            for timeline in self.timelines.get(sheet.name, ())
            if timeline.across == across
            and timeline.line <= place
            and sum(1 for position in own if timeline.tick(position)) >= 0.6 * len(own)
        ]
        if not fitting:
            return
        before, after = [], []
        for tick in max(fitting, key=lambda one: (one.dated, one.line)).ticks:
            cell = sheet.ref(place, tick.position) if across else sheet.ref(tick.position, place)
            if line.role != "period" and (cell.row, cell.column) not in sheet.numbers:
                continue
            if tick.position < min(own) and tick.year is not None:
                before.append(cell)
            elif tick.position > max(own) and tick.kind == "terminal":
                after.append(cell)
        line.history = tuple(before)
        line.terminal = after[0] if after else None


def in_line(cells: list[CellRef]) -> bool:
    """Say whether cells stand in one row or one column."""
    return len({cell.sheet for cell in cells}) == 1 and (
        len({cell.row for cell in cells}) == 1 or len({cell.column for cell in cells}) == 1
    )


def _positions(timeline: Timeline, like: tuple[CellRef, ...] | None, *, past: bool = False) -> list[int]:
    """Return the columns (rows) of the forecast periods, or those of the flows where they share the line."""
    if like is not None:
        across = len({cell.row for cell in like}) == 1
        if across == timeline.across and like[0].sheet == timeline.sheet:
            own = [cell.column if across else cell.row for cell in like]
            if sum(1 for position in own if timeline.tick(position)) >= 0.6 * len(own):
                return own
    for kind in ("forecast", "unknown", "actual"):
        found = [tick.position for tick in timeline.ticks if tick.kind == kind and tick.year is not None]
        if found and (kind != "actual" or past):
            return found
    return []


def _belongs(timeline: Timeline, line: int, timelines: tuple[Timeline, ...]) -> bool:
    """Say whether a row stands under this timeline rather than under a nearer one of the same columns."""
    if line <= timeline.line:
        return False
    first = timeline.ticks[0].position
    return not any(
        other.across == timeline.across
        and timeline.line < other.line <= line
        and other.dated
        and any(tick.position == first for tick in other.ticks)
        for other in timelines
    )
