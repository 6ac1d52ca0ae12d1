"""Why two opinions against a stored value may still be wrong together.

Engines share gaps, and what Excel stored can depend on its language. Before a cell is called stale these are asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from xlcheck.cells import CellError, CellRef, Scalar
from xlcheck.engines import Unsolved
from xlcheck.formula import Call, Node, Number, Range, Text, parse, walk
from xlcheck.localcheck.agreement import agree
from xlcheck.localcheck.shadow import Values
from xlcheck.workbook import Book, Cell

_ALL = 3
"""Opinions there are."""
_DIVIDES = re.compile(r"/|\b(?:AVERAGE\w*|MOD|QUOTIENT|STDEV[\w.]*|VAR[\w.]*|SLOPE|CORREL)\(", re.IGNORECASE)
_LENIENT = frozenset({"#VALUE!", "#NUM!"})
"""Errors by which Excel refuses arguments that other programs accept."""
_SUBTOTAL = re.compile(r"\b(?:SUBTOTAL|AGGREGATE)\(", re.IGNORECASE)
_WORDED = re.compile(r"\b(?:TEXT|DOLLAR|FIXED|VALUE|DATEVALUE|NUMBERVALUE|CHAR|CODE)\(", re.IGNORECASE)
"""Functions whose result depends on the language or the system of the Excel that stored it."""
_GAPS: Sequence[tuple[re.Pattern[str], str]] = (
    (
        re.compile(
            r"\b(?:(?:DATEDIF|IM[A-Z]+[0-9]*|XMATCH|TOCOL|TOROW|FREQUENCY|SORT|SORTBY|GROUPBY|PIVOTBY)\(|N\([^()]*:)",
            re.IGNORECASE,
        ),
        "engines are known to differ from Excel together in a function of it",
    ),
    (
        re.compile(r"\{[^{}]*(?:TRUE|FALSE|\")[^{}]*\}", re.IGNORECASE),
        "it has an array constant of several kinds, which programs count differently",
    ),
    (
        re.compile(r'"\s*[0-9]{1,4}[-/.][0-9]{1,2}(?:[-/.][0-9]{1,4})?\s*"'),
        "how a text reads as a date depends on the language of the program that stored it",
    ),
)
"""What may stand in a formula that engines get wrong together."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A cell whose stored value two opinions contradict."""

    ref: CellRef
    cell: Cell
    """The cell whose formula gives the value: itself, or the first of its array."""
    book: Book
    stored: Values
    read: Sequence[Scalar]
    """The stored values that the formula reads."""
    value: Scalar
    """What the opinions say instead."""
    votes: Mapping[str, Scalar | Unsolved]

    @property
    def united(self) -> bool:
        """True if all opinions were heard and say the same."""
        return sum(_speaks(vote) and agree(self.value, vote) for vote in self.votes.values()) == _ALL


def doubt_of(dispute: Dispute) -> Unsolved | None:
    """Return why the opinions against the stored value do not suffice, None if they do."""
    formula, stored = dispute.cell.formula or "", dispute.stored[dispute.ref]
    if dispute.cell.rich:
        return Unsolved(kind="rich_data", detail="it holds a linked data type, not a plain value")
    if _WORDED.search(formula) and (isinstance(stored, str) or "CODE(" in formula.upper()):
        return disagree("its text depends on the language of the program that stored it")
    if _SUBTOTAL.search(formula) and any(sheet.hidden_rows for sheet in dispute.book.sheets):
        return disagree("it leaves out filtered rows, and which rows a filter hides is not known")
    if _searches_unsorted(formula, dispute.ref, dispute.book, dispute.stored):
        return disagree("it searches by halves in a list that is not sorted")
    if "IFERROR(" in formula.upper() and any(isinstance(vote, Unsolved) for vote in dispute.votes.values()):
        return disagree("an engine may take a function that it does not know for the error which IFERROR catches")
    gap = next((words for pattern, words in _GAPS if pattern.search(formula)), None)
    return disagree(gap) if gap else _doubtful_error(dispute, formula)


def _doubtful_error(dispute: Dispute, formula: str) -> Unsolved | None:
    """Return why an error on either side is doubtful.

    An error where Excel has a number is believed only if it is read or is a division by zero; a number where Excel
    has an error only if all opinions say so.
    """
    value, stored = dispute.value, dispute.stored[dispute.ref]
    if isinstance(value, CellError):
        divided = value.error == "#DIV/0!" and _DIVIDES.search(formula) is not None
        alone = dispute.cell.array is None or dispute.cell.array.size == 1  # else another element may have read it
        known = not isinstance(stored, CellError) and (divided or (alone and value in dispute.read))
        return None if known else disagree(f"two engines say {value}, which nothing that it reads explains")
    if isinstance(stored, CellError) and (not dispute.united or stored.error in _LENIENT):
        return disagree(f"engines say {_short(value)} where {stored} is stored")
    return None


_LONGEST_LIST = 100_000
_HALVING = {"MATCH": 2, "VLOOKUP": 3, "HLOOKUP": 3, "LOOKUP": None}
"""Functions that search by halves unless the argument at this place forbids it."""


def _searches_unsorted(formula: str, ref: CellRef, book: Book, stored: Values) -> bool:
    """Say whether a formula searches a list that is not ascending: then each program finds something else."""
    if "LOOKUP(" not in formula.upper() and "MATCH(" not in formula.upper():
        return False
    calls = [node for node in walk(parse(formula, ref.sheet, book, ref)) if isinstance(node, Call)]
    return any(call.function in _HALVING and _halves(call) and not _ascending(call, stored) for call in calls)


def _halves(call: Call) -> bool:
    place = _HALVING[call.function]
    if place is None or len(call.arguments) <= place:
        return True
    mode = call.arguments[place]
    return not ((isinstance(mode, Number) and mode.value == 0) or (isinstance(mode, Text) and mode.value == "FALSE"))


def _ascending(call: Call, stored: Values) -> bool:
    where: Node | None = call.arguments[1] if len(call.arguments) > 1 else None
    if not isinstance(where, Range):
        return False
    area = where.range
    if call.function == "HLOOKUP":
        area = area._replace(last_row=area.first_row)
    elif call.function in ("VLOOKUP", "LOOKUP"):
        area = area._replace(last_column=area.first_column)
    if area.size > _LONGEST_LIST:
        return False
    numbers = [value for one in area.cells() if isinstance(value := stored.get(one), float)]
    return len(numbers) == area.size and numbers == sorted(numbers)


def _speaks(vote: Scalar | Unsolved) -> TypeGuard[float | bool | str | CellError]:
    """Say whether an opinion is a vote: a blank is none."""
    return vote is not None and not isinstance(vote, Unsolved)


def settled(votes: Sequence[Scalar | Unsolved]) -> Scalar:
    """Return the value that two votes share, None if no two agree."""
    real = [vote for vote in votes if _speaks(vote)]
    for index, vote in enumerate(real):
        if any(agree(vote, other) for other in real[index + 1 :]):
            return vote
    return None


def disagree(detail: str) -> Unsolved:
    """Return that the engines do not agree, and on what."""
    return Unsolved(kind="engines_disagree", detail=detail)


def told(votes: Mapping[str, Scalar | Unsolved]) -> str:
    """Return what each engine says, in one line."""
    return "; ".join(f"{name}: {_short(vote)}" for name, vote in votes.items())


def _short(vote: Scalar | Unsolved) -> str:
    return vote.kind if isinstance(vote, Unsolved) else repr(vote) if isinstance(vote, str) else str(vote)
