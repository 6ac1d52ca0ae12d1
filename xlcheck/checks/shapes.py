"""Formulas compared along a line: what stays the same from one period to the next, and what moves with it.

A formula is split into its shape (functions and operators) and its slots (references and literals). Along a line a
slot moves by a steady step: one column per period, nothing for an anchored reference (or an unanchored one that
always meets the same cell), one row per period for transposed assumptions, one for an exponent 1, 2, 3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from xlcheck.formula import Array, Binary, Call, External, Name, Node, Number, Range, Ref, Text, Unary, Union

ROUNDINGS = frozenset({"ROUND", "ROUNDUP", "ROUNDDOWN", "MROUND", "TRUNC", "INT"})


class Slot(NamedTuple):
    """One reference or literal of a formula, as numbers that can be compared along a line."""

    place: str
    """Sheet of a reference, ``#`` for a literal, the text of anything else."""
    numbers: tuple[float, ...]
    """(row, column), the four bounds of a range, or the literal."""


class Shape(NamedTuple):
    """A formula without its references and literals, and those in order."""

    text: str
    slots: tuple[Slot, ...]


def shape_of(node: Node | None) -> Shape:
    """Return the shape of a formula; a rounding around a term and a leading plus are left out."""
    slots: list[Slot] = []
    return Shape(_text(node, slots), tuple(slots))


def _text(node: Node | None, slots: list[Slot]) -> str:  # noqa: C901 - one case per node type
    match node:
        case None:
            return ""
        case Ref(cell=cell):
            slots.append(Slot(cell.sheet, (cell.row, cell.column)))
            return "r"
        case Range(range=area):
            slots.append(Slot(area.sheet, (area.first_row, area.first_column, area.last_row, area.last_column)))
            return "R"
        case Number(value=value):
            slots.append(Slot("#", (value,)))
            return "n"
        case Text(value=text):
            return repr(text)
        case Name(name=name):
            return name.casefold()
        case External():
            return "[external]"
        case Union(parts=parts):
            return f"({','.join(_text(part, slots) for part in parts)})"
        case Array(rows=rows):
            return f"{{{';'.join(','.join(_text(item, slots) for item in row) for row in rows)}}}"
        case Unary(operator="+", operand=operand):
            return _text(operand, slots)
        case Unary(operator=operator, operand=operand):
            return f"{operator}({_text(operand, slots)})"
        case Binary(operator=operator, left=left, right=right):
            return f"({_text(left, slots)}{operator}{_text(right, slots)})"
        case Call(function=function, arguments=arguments):
            if function in ROUNDINGS and arguments:
                return _text(arguments[0], slots)
            return f"{function}({','.join(_text(argument, slots) for argument in arguments)})"


class Form(NamedTuple):
    """A formula as it reads in every period of its line: shape and slots with their movement taken out."""

    text: str
    slots: tuple[Slot, ...]


def forms(shapes: Sequence[Shape | None]) -> list[Form | None]:
    """Return the form of each formula of a line, in order; None where there is no formula.

    Two cells have the same form exactly when one is the other filled along the line.
    """
    found: list[Form | None] = [None] * len(shapes)
    kinds: dict[tuple[str, tuple[str, ...]], list[tuple[int, Shape]]] = defaultdict(list)
    for index, one in enumerate(shapes):
        if one is not None:
            kinds[one.text, tuple([slot.place for slot in one.slots])].append((index, one))
    for (text, places), members in kinds.items():
        steps = [_step([(index, shape.slots[number]) for index, shape in members]) for number in range(len(places))]
        for index, shape in members:
            bases = [_base(slot, step, index) for slot, step in zip(shape.slots, steps, strict=True)]
            found[index] = Form(text, tuple(bases))
    return found


def _base(slot: Slot, step: tuple[float, ...], index: int) -> Slot:
    """Return a slot as it would stand at the start of its line."""
    moved = [value - move * index for value, move in zip(slot.numbers, step, strict=True)]
    return Slot(slot.place, tuple([_nine(number) for number in moved]))


def _nine(number: float) -> float:
    """Round to nine decimals; whole numbers, which most are, need no slow rounding."""
    return number if number.is_integer() else round(number, 9)


def _step(members: Sequence[tuple[int, Slot]]) -> tuple[float, ...]:
    """Return how far a slot moves per position: the movement most neighbours show, none if there is no majority."""
    moves = Counter(_move(first, second) for first, second in pairwise(members))
    if not moves:
        return tuple(0.0 for _ in members[0][1].numbers)
    if max(moves.values()) == 1 and 4 < len(members) <= _FEW:
        moves += Counter(_move(first, second) for first, second in combinations(members, 2))
    most = max(moves.values())
    tied = [step for step, count in moves.items() if count == most]
    if len(tied) == 1:
        return tied[0]
    return max(tied, key=lambda step: (_agreeing(members, step), not any(step)))


_FEW = 30
"""A line of at most so many cells in which no two neighbours agree is compared cell with cell."""


def _move(one: tuple[int, Slot], other: tuple[int, Slot]) -> tuple[float, ...]:
    """Return how far a slot moves per position between two cells of a line."""
    (i, first), (j, second) = one, other
    if first.numbers == second.numbers:
        return (0.0,) * len(first.numbers)
    return tuple([_nine((b - a) / (j - i)) for a, b in zip(first.numbers, second.numbers, strict=True)])


def _agreeing(members: Sequence[tuple[int, Slot]], step: tuple[float, ...]) -> int:
    """Return how many cells of a line are one formula filled by this movement."""
    return max(Counter(_base(slot, step, index) for index, slot in members).values())


def is_filled(one: Node, other: Node, step: int) -> bool:
    """Say whether `other`, `step` columns to the right, is `one` filled there: references stay or move along."""
    here, there = shape_of(one), shape_of(other)
    if here.text != there.text or not here.slots:
        return False
    return all(_moved(a, b, step) for a, b in zip(here.slots, there.slots, strict=True))


def _moved(one: Slot, other: Slot, step: int) -> bool:
    if one.place != other.place or len(one.numbers) != len(other.numbers):
        return False
    if one.place == "#":
        return one == other
    moves = [b - a for a, b in zip(one.numbers, other.numbers, strict=True)]
    return all(move == 0 for move in moves[::2]) and all(move in (0, step) for move in moves[1::2])
