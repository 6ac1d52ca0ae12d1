"""Which input of the live model a reverse DCF was solved for, however its answer was found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from xlcheck.cells import CellRef, is_number
from xlcheck.checks import live, memory, valuation
from xlcheck.checks.switches import MOST_CASES, selections
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc

MOST_INPUTS = 40
"""Typed inputs of the model that are tried as the one a table of values varies."""


@dataclass(frozen=True)
class Solved:
    """The input that a stated implied value stands for."""

    input: CellRef
    stated: float
    loose: float
    """What the stated value may be off by: one unit of its last decimal, or a tenth of a table's step."""
    how: str
    switched: tuple[CellRef, float] | None = None
    """The switch, and its position, in which the model reads the input: our view or the market's."""

    def gap(self, value: CellRef, price: float, recalc: Recalc) -> Callable[[float], float | None]:
        """Return the function that sets the input and gives value per share less price, None where it is no number."""

        def difference(at: float) -> float | None:
            moved = live.run(recalc, {self.input: at, **dict([self.switched] if self.switched else [])}, [value])[value]
            return None if moved is None else moved - price

        return difference


def solved_input(implied: CellRef, value: CellRef, price: float, recalc: Recalc, graph: Graph) -> Solved | None:
    """Return what an implied value stands for: an input of the model, or one that a table behind it varies.

    A goal seek leaves a typed number in the model and a closed form a formula; both are inputs of the value per share.
    An answer read off a table (a data table, or a grid of formulas) is not: the input is the typed number of the model
    at which the value per share is what the table shows.
    """
    source = graph.pure_link(implied)
    stated = recalc.number(source)
    if stated is None:
        return None
    if source in memory.above(graph, [value]):
        held = recalc.book.get(source)
        how = "typed" if held is not None and held.formula is None else "by formula"
        loose = max(10.0 ** -_decimals(stated), 1e-6 * abs(stated))
        if live.derivative(recalc, value, source) or not (positions := _positions(value, source, recalc, graph)):
            return Solved(source, stated, loose, how)
        return Solved(source, stated, loose, f"{how}, with {positions[0]} at {positions[1]:g}", positions)
    for axis, shown in _tables(source, stated, price, recalc, graph):
        for cell in _varied(value, axis, recalc, graph):
            if _reproduces(cell, value, axis, shown, recalc):
                step = min(abs(one - other) for one, other in pairwise(axis))
                return Solved(cell, stated, step / 10, "read off a table")
    return None


def _positions(value: CellRef, source: CellRef, recalc: Recalc, graph: Graph) -> tuple[CellRef, float] | None:
    """Return the switch position in which a value reads an input that it does not read as the switch stands."""
    above = memory.above(graph, [value])
    for switch in dict.fromkeys(choice.switch for choice in selections(recalc) if choice.switch in above):
        for position in range(1, MOST_CASES + 1):
            try:
                moved = [
                    live.run(recalc, {switch: float(position), source: at}, [value])[value]
                    for at in ((recalc.number(source) or 0.0) * one for one in (1.0, 1.01))
                ]
            except ValueError:
                break
            if None not in moved and moved[0] != moved[1]:
                return switch, float(position)
    return None


def _decimals(value: float) -> int:
    return len(f"{value:.10g}".partition(".")[2])


def _tables(
    source: CellRef, stated: float, price: float, recalc: Recalc, graph: Graph
) -> Iterator[tuple[list[float], list[float]]]:
    """Yield pairs of lines behind the answer: one that runs over it, beside one that runs over the price."""
    lines: dict[tuple[str, str, int], dict[int, float]] = defaultdict(dict)
    for cell in memory.above(graph, [source]) - {source}:
        number = recalc.number(cell)
        if number is not None:
            lines[cell.sheet, "down", cell.column][cell.row] = number
            lines[cell.sheet, "across", cell.row][cell.column] = number
    for (sheet, way, _), axis in lines.items():
        for (other, same, _), shown in lines.items():
            places = sorted(axis.keys() & shown.keys()) if (other, same) == (sheet, way) and axis is not shown else []
            one, two = [axis[place] for place in places], [shown[place] for place in places]
            if len(places) >= 3 and _runs_over(one, stated) and min(two) <= price <= max(two):
                yield one, two


def _runs_over(values: list[float], stated: float) -> bool:
    rising = all(one < other for one, other in pairwise(values))
    falling = all(one > other for one, other in pairwise(values))
    return (rising or falling) and min(values) <= stated <= max(values)


def _varied(value: CellRef, axis: list[float], recalc: Recalc, graph: Graph) -> list[CellRef]:
    """Return the typed inputs of the model whose number could stand on the axis, the nearest to its middle first."""
    middle = sum(axis) / len(axis)
    found = []
    for cell in memory.above(graph, [value]):
        held = recalc.book.get(cell)
        if held is not None and held.formula is None and is_number(held.stored):
            found.append((abs(float(held.stored) - middle), cell))  # type: ignore[arg-type]
    return [cell for _, cell in sorted(found)[:MOST_INPUTS]]


def _reproduces(cell: CellRef, value: CellRef, axis: list[float], shown: list[float], recalc: Recalc) -> bool:
    """Say whether the model shows the first, a middle and the last value of a table with the input set to its axis."""
    for place in (0, len(axis) // 2, len(axis) - 1):
        moved = live.run(recalc, {cell: axis[place]}, [value])[value]
        if moved is None or not valuation.close(moved, shown[place], 1e-3):
            return False
    return True
