"""Which roles the labels around a number name, and where a number's label stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xlcheck.cells import CellRef
from xlcheck.roles.layout import Layout, SheetLayout, is_unit
from xlcheck.roles.lexicon import Lexicon
from xlcheck.roles.names import LESS, named_cells

FAR = 0.03
"""What each further text takes off a label's match."""
ABOVE = 0.12
"""What a column heading takes off against a label in the row."""


@dataclass(frozen=True, slots=True)
class Named:
    """A role that a label gives to a number."""

    role: str
    score: float
    label: CellRef
    text: str


@dataclass
class Naming:
    """Answers, with a memory, which roles the labels of a cell name."""

    layout: Layout
    lexicon: Lexicon
    _memory: dict[CellRef, Mapping[str, Named]] = field(default_factory=dict)

    @cached_property
    def defined(self) -> Mapping[CellRef, tuple[str, ...]]:
        """The words of the defined names that point to a cell."""
        return named_cells(self.layout.book)

    def at(self, ref: CellRef) -> Mapping[str, Named]:
        """Return role → how its label names it, for a number cell."""
        if ref not in self._memory:
            self._memory[ref] = self._read(ref)
        return self._memory[ref]

    def score(self, ref: CellRef, *roles: str) -> float:
        """Return the best score that the labels give to any of the roles, 0 if none."""
        found = self.at(ref)
        return max((found[role].score for role in roles if role in found), default=0.0)

    def opens(self, ref: CellRef) -> bool:
        """Say whether a typed 1 opens a row of factors, each of which is the one before over the year's own rate."""
        num = self.layout.num(ref)
        return num is not None and num.value == 1 and not num.formula and self.score(ref, "discount_factor") >= 0.5

    def label(self, ref: CellRef) -> str:
        """Return the text that stands for a cell: left in its row, else above; '' if there is none."""
        sheet = self.layout.by_name.get(ref.sheet)
        if sheet is None:
            return ""
        best = max(self.at(ref).values(), key=lambda named: named.score, default=None)
        if best is not None:
            return best.text
        for _, text in sheet.left_texts(ref.row, ref.column):
            if not is_unit(text):
                return text
        above = sheet.text_above(ref.row, ref.column, 2)
        return above[1] if above else ""

    def _read(self, ref: CellRef) -> Mapping[str, Named]:
        sheet = self.layout.by_name.get(ref.sheet)
        if sheet is None:
            return {}
        found: dict[str, Named] = {}
        for index, (column, text) in enumerate(_row_labels(sheet, ref)):
            self._add(found, text, sheet.ref(ref.row, column), FAR * index)
        behind = sheet.right_text(ref.row, ref.column)
        if behind is not None:
            self._add(found, behind[1], sheet.ref(ref.row, behind[0]), 0.0)
        above = sheet.text_above(ref.row, ref.column)
        if above is not None:
            near = above[0] >= ref.row - 3 or _full_between(sheet, ref, above[0])
            if near and not any(named.score >= 0.6 and named.role != "period" for named in found.values()):
                self._add(found, above[1], sheet.ref(above[0], ref.column), ABOVE)
        for name in self.defined.get(ref, ()):
            self._add(found, name, ref, LESS)
        return found

    def _add(self, found: dict[str, Named], text: str, label: CellRef, less: float) -> None:
        for role, score in self.lexicon.match(text).items():
            known = found.get(role)
            if score - less > 0.05 and (known is None or known.score < score - less):
                found[role] = Named(role, score - less, label, text)


def _row_labels(sheet: SheetLayout, ref: CellRef) -> list[tuple[int, str]]:
    texts = list(sheet.left_texts(ref.row, ref.column))
    return [(column, text) for column, text in texts if not is_unit(text)] or texts[-1:]  # "Per share" alone is a label


def _full_between(sheet: SheetLayout, ref: CellRef, head: int) -> bool:
    """Say whether every cell between a column heading and the number is a number too (a table).

    The first may be blank where its row holds other numbers: an actual year without the forecast's lines.
    """
    blank = (head + 1, ref.column) not in sheet.texts and any(
        (head + 1, one) in sheet.numbers for one in sheet.rows.get(head + 1, ())
    )
    return all((row, ref.column) in sheet.numbers for row in range(head + 1 + blank, ref.row))
