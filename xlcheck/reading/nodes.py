"""The node types of a formula tree."""

from __future__ import annotations

from dataclasses import dataclass, field

from xlcheck.cells import CellRef, RangeRef


@dataclass(frozen=True, slots=True)
class Number:
    """A literal number; percent signs are applied (``5%`` is 0.05)."""

    value: float
    position: int = field(default=-1, compare=False)
    """Where it stands in the text of the formula (0 is its first character), -1 if not known."""


@dataclass(frozen=True, slots=True)
class Text:
    """A literal text (with its quotes), a boolean or an error literal, as written."""

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
class Union:
    """Several references in one: ``(A1,B2)``, or a 3-D reference over sheets."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """An array constant, row by row."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class External:
    """A reference into a linked workbook: ``[1]Sheet1!A1``."""

    link: int
    """The number of the link; 0 where the file is named in words."""
    range: RangeRef | None
    """The rectangle in that workbook, None for a name."""
    text: str
    """As written."""


@dataclass(frozen=True, slots=True)
class Name:
    """A defined name or structured reference that has no plain rectangle; also what cannot be parsed."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x`` or ``+x``; percent becomes a division by 100."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """``left operator right`` with ``+ - * / ^ & = <> < > <= >=``; ``:`` and a blank join computed references."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; the name is upper case without ``_xlfn.`` prefixes; a missing argument is None.

    A spilled range ``A1#`` is ``ANCHORARRAY``, an implicit intersection ``@x`` is ``SINGLE``, a called
    result (``LAMBDA(…)(5)``) is ``APPLY`` with the function first.
    """

    function: str
    arguments: tuple[Node | None, ...]


Node = Number | Text | Ref | Range | Union | Array | External | Name | Unary | Binary | Call
