"""Cells that the primary engine cannot calculate, or calculates in doubt, asked of the other engines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xlcheck.cells import CellError, CellRef, Scalar
from xlcheck.engines import BLOCKED, Engine, Unsolved
from xlcheck.formula import Binary, Range, parse, walk
from xlcheck.live.reasons import comes_from_outside
from xlcheck.localcheck.agreement import agree, tolerance_of
from xlcheck.localcheck.shadow import Shadow
from xlcheck.workbook import Cell

Values = Mapping[CellRef, Scalar | Unsolved]

_ASKED = frozenset({"unsupported_function", "engine_failure"})
_TRUSTED_ERRORS = frozenset({"#DIV/0!", "#REF!", "#NAME?"})
"""Errors that the primary engine gives only where Excel does too."""
_GAPS = re.compile(
    r"\b(?:XIRR|XNPV|IRR|MIRR|RATE|NPV|YIELD|PRICE|SUMPRODUCT|[VHX]?LOOKUP|SUMIFS?|COUNTIFS?|AVERAGEIFS?)\(",
    re.IGNORECASE,
)
"""Functions for which the primary engine is known to give an error where Excel has a number."""
_DATE_IN_WORDS = re.compile(
    r"(?:[0-9]|\b)(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\W{0,2}[0-9]|\b[0-9]{1,2}[-/][0-9]{1,2}\b"
    r"|\b[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2,4}\b",
    re.IGNORECASE,
)
MOST = 100
"""No more cells than this are asked of the other engines."""


@dataclass(frozen=True, slots=True)
class Outside:
    """Asks the other engines about single cells, from recomputed values of their precedents."""

    shadow: Shadow
    engines: Sequence[Engine]

    def doubtful(self, values: Values) -> list[Cell]:
        """Return the cells to ask about: unsupported ones, and errors that nothing which they read explains."""
        return list(self._doubtful(values))

    def _doubtful(self, values: Values) -> Iterator[Cell]:
        for cell in self.shadow.book.formula_cells():
            value = values.get(cell.ref)
            formula = cell.formula or ""
            if isinstance(value, Unsolved):
                asked = value.kind in _ASKED and BLOCKED not in value.detail and not comes_from_outside(formula)
                asked = asked and "IFERROR(" not in formula.upper()  # they take a function unknown to them for an error
            else:
                asked = (
                    isinstance(value, CellError)
                    and value.error not in _TRUSTED_ERRORS
                    and (_GAPS.search(formula) is not None or self._reads_date_in_words(cell, values))
                    and not self._explained(cell, values)
                )
            if asked and not self._beyond(cell):
                yield cell

    def _beyond(self, cell: Cell) -> bool:
        """Say whether the other engines would answer for another formula: they do not intersect ranges implicitly."""
        if cell.array is not None:
            return cell.array.size > 1
        tree = parse(cell.formula or "", cell.ref.sheet, self.shadow.book, cell.ref)
        return isinstance(tree, Range) or any(
            isinstance(side, Range)
            for node in walk(tree)
            for side in ((node.left, node.right) if isinstance(node, Binary) else (getattr(node, "operand", None),))
        )

    def _reads_date_in_words(self, cell: Cell, values: Values) -> bool:
        """Say whether a text that the formula holds or reads is a date in Excel, and none for the primary engine."""
        read = [self._value(ref, values) for ref in self.shadow.graph.precedents(cell.ref)]
        return any(_DATE_IN_WORDS.search(text) for text in [*read, cell.formula] if isinstance(text, str))

    def _value(self, ref: CellRef, values: Values) -> Scalar | Unsolved:
        """Return a recomputed value or a constant, never a stored result."""
        cell = self.shadow.book.get(ref)
        return cell.stored if ref not in values and cell is not None and cell.formula is None else values.get(ref)

    def _explained(self, cell: Cell, values: Values) -> bool:
        return any(isinstance(values.get(ref), CellError) for ref in self.shadow.graph.precedents(cell.ref))

    def answers(self, cells: Sequence[Cell], values: Values) -> dict[CellRef, Scalar | Unsolved]:
        """Return what replaces the primary engine's word on each cell.

        An unsupported cell takes what the others say if they do not contradict each other. An error stands unless
        both others agree on a value; if only one of them has a value, nothing is known. The third engine is asked
        only where the second did not confirm the first.
        """
        said: dict[CellRef, list[Scalar | Unsolved]] = {cell.ref: [] for cell in cells}
        asked = list(cells)
        dated = {cell.ref for cell in cells if self._reads_date_in_words(cell, values)}
        for engine in self.engines:
            answers = self.shadow.ask(engine, asked, values) if asked else {}
            for cell in asked:
                said[cell.ref].append(answers[cell.ref])
            asked = [cell for cell in asked if values.get(cell.ref) not in said[cell.ref] or cell.ref in dated]
        return {
            cell.ref: _weigh(cell, values.get(cell.ref), said[cell.ref], unanimous=cell.ref in dated) for cell in cells
        }


def _weigh(
    cell: Cell, primary: Scalar | Unsolved, others: Sequence[Scalar | Unsolved], *, unanimous: bool
) -> Scalar | Unsolved:
    votes = [vote for vote in others if vote is not None and not isinstance(vote, Unsolved)]
    if not votes:
        return primary
    relative = tolerance_of(cell.formula or "")
    united = all(agree(votes[0], vote, relative) for vote in votes[1:])
    if isinstance(primary, Unsolved):
        return votes[0] if united and not isinstance(votes[0], CellError) else primary
    confirmed = all if unanimous else any
    if confirmed(vote == primary for vote in votes):
        return primary
    if united and len(votes) == len(others):
        return votes[0]
    told = ", ".join(str(vote) for vote in votes)
    return Unsolved(kind="engines_disagree", detail=f"{cell.ref}: one engine says {primary}, another {told}")
