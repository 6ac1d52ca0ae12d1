"""A formula as a small tree: what a grader reads in it (references, terms with signs, literals).

It is a reader, not an evaluator: values always come from an engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from xlcheck.cells import CellRef, RangeRef


@dataclass(frozen=True, slots=True)
class Number:
    """A literal number; percent signs are applied (``5%`` is 0.05)."""

    value: float


@dataclass(frozen=True, slots=True)
class Text:
    """A literal text, a boolean or an error literal, as written."""

    value: str


@dataclass(frozen=True, slots=True)
class Ref:
    """One cell; `absolute_row` and `absolute_column` tell the dollar signs."""

    cell: CellRef
    absolute_row: bool = False
    absolute_column: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """A rectangle (whole rows and columns are cut to the used area of the sheet)."""

    range: RangeRef


@dataclass(frozen=True, slots=True)
class Name:
    """A defined name or structured reference that has no plain rectangle."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x`` or ``+x``; percent becomes a division by 100."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """``left operator right`` with ``+ - * / ^ & = <> < > <= >=``."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; the name is upper case without ``_xlfn.`` prefixes; a missing argument is None."""

    function: str
    arguments: tuple[Node | None, ...]


Node = Number | Text | Ref | Range | Name | Unary | Binary | Call
