"""Scenario tables and switches: which cells hold which case, and what a switch chooses between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from xlcheck.cells import CellRef
from xlcheck.checks.sheet import column_label, first_text, is_label, row_label, text_at
from xlcheck.checks.trees import trees
from xlcheck.formula import Call, Node, Ref, Text, walk
from xlcheck.recompute import Recalc
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.workbook import Sheet

Case = Literal["low", "base", "high"]
_CASES: dict[Case, re.Pattern[str]] = {
    "low": re.compile(
        r"\b(?:bear(?:ish)?|down(?:side)?|worst|pessimist\w*|low|conservative|adverse|negativ|recession|stress(?:ed)?|"
        r"severe|slowdown)\b|悲观|悲觀|熊市|下行|保守|悲観|衰退",
        re.IGNORECASE,
    ),
    "base": re.compile(
        r"\b(?:base|central|mid|most likely|basis|basisfall|management)\b|基准|基本|中性|ベース", re.IGNORECASE
    ),
    "high": re.compile(
        r"\b(?:bull(?:ish)?|up(?:side)?|best|optimist\w*|high|positiv|blue[\s-]?sky|boom)\b|乐观|樂觀|牛市|上行|楽観",
        re.IGNORECASE,
    ),
}
_PROBABILITY = re.compile(
    r"probabilit|\bprob\b|likelihood|概率|可能性|権重|权重|wahrscheinlich|確率|\bweight", re.IGNORECASE
)
_WEIGHED = re.compile(r"weighted|×|加权|加重|gewichtet|pondér|pondera", re.IGNORECASE)
_OF_AN_INPUT = re.compile(r"wacc|rate|growth|multiple|beta|price|52|quartile|率|倍", re.IGNORECASE)
"""A low or high discount rate is an end of an axis, not a case."""
_CHOOSE = re.compile(r"\bCHOOSE\s*\(", re.IGNORECASE)
LONGEST_NAME = 32
VALUE_ROLES = ("value_per_share", "equity_value", "enterprise_value")


class Entry(NamedTuple):
    """One case of a line."""

    case: Case
    cell: CellRef


class CaseLine(NamedTuple):
    """A quantity over the cases of a table: probability, value per share and the like."""

    label: str
    entries: tuple[Entry, ...]
    whole: tuple[CellRef, ...]
    """All cells of the line, those of cases without a known name included."""

    @property
    def is_probability(self) -> bool:
        """Whether the label names probabilities, not a value weighted with them."""
        return bool(_PROBABILITY.search(self.label)) and not _WEIGHED.search(self.label)

    @property
    def role(self) -> str | None:
        """The headline output that the label names, or None."""
        return value_role(self.label)


def case_of(text: str) -> Case | None:
    """Return the case that a short text names, None for none or several."""
    if not text or len(text) > LONGEST_NAME or _OF_AN_INPUT.search(text):
        return None
    found = [case for case, words in _CASES.items() if words.search(text)]
    return found[0] if len(found) == 1 else None


def case_in(label: str) -> Case | None:
    """Return the case that a label of a driver names ("Growth, bear"), None for none or several."""
    found = [case for case, words in _CASES.items() if words.search(label)]
    return found[0] if len(found) == 1 else None


def value_role(label: str) -> str | None:
    """Return the headline output that a label names."""
    scores = load_lexicon().match(first_text(label))
    best = max(VALUE_ROLES, key=lambda role: scores.get(role, 0.0))
    return best if scores.get(best, 0.0) >= 0.6 else None


def case_tables(recalc: Recalc, sheet: Sheet) -> Iterator[tuple[CaseLine, ...]]:
    """Yield the scenario tables of a sheet: cases side by side, or below each other."""
    named: dict[tuple[int, int], Case] = {}
    for (row, column), cell in sheet.cells.items():
        case = case_of(text_at(recalc, cell.ref)) if cell.formula is not None or isinstance(cell.stored, str) else None
        if case is not None:
            named[row, column] = case
    for row in sorted({row for row, _ in named}):
        columns = {column: case for (r, column), case in named.items() if r == row}
        if len(set(columns.values())) >= 2 and len(columns) == len(set(columns.values())):
            yield tuple(_across(recalc, sheet, row, columns))
    for column in sorted({column for _, column in named}):
        rows = {row: case for (row, c), case in named.items() if c == column}
        for group in _groups(rows):
            yield tuple(_down(recalc, sheet, column, {row: rows[row] for row in group}))


def _groups(rows: dict[int, Case]) -> Iterator[list[int]]:
    """Yield runs of neighbouring rows that name different cases."""
    group: list[int] = []
    for row in sorted(rows):
        if group and (row - group[-1] > 2 or rows[row] in [rows[one] for one in group]):
            if len(group) >= 2:
                yield group
            group = []
        group.append(row)
    if len(group) >= 2:
        yield group


def _across(recalc: Recalc, sheet: Sheet, row: int, columns: dict[int, Case]) -> Iterator[CaseLine]:
    """Yield the lines below case names that stand side by side; each name heads the columns up to the next."""
    starts = sorted(columns)
    width = min(b - a for a, b in pairwise(starts))
    for line in range(row + 1, min(row + 60, sheet.max_row) + 1):
        entries = []
        for start in starts:
            block = [CellRef(sheet.name, line, column) for column in range(start, start + width)]
            held = [ref for ref in block if recalc.number(ref) is not None]
            if len(held) == 1:
                entries.append(Entry(columns[start], held[0]))
        if len(entries) == len(starts):
            label = row_label(recalc, CellRef(sheet.name, line, starts[0])) or row_label(recalc, entries[0].cell)
            yield CaseLine(label, tuple(entries), tuple(entry.cell for entry in entries))


def _down(recalc: Recalc, sheet: Sheet, column: int, rows: dict[int, Case]) -> Iterator[CaseLine]:
    """Yield the columns right of case names that stand below each other."""
    first, last = min(rows), max(rows)
    last = _last_case(recalc, sheet, column, first, last)
    for other in range(column + 1, min(column + 15, sheet.max_column) + 1):
        cells = {row: CellRef(sheet.name, row, other) for row in rows}
        if all(recalc.number(ref) is not None for ref in cells.values()):
            label = column_label(recalc, cells[first])
            whole = [CellRef(sheet.name, row, other) for row in range(first, last + 1)]
            held = tuple(ref for ref in whole if recalc.number(ref) is not None)
            yield CaseLine(label, tuple(Entry(rows[row], ref) for row, ref in cells.items()), held)


_SUMMED = re.compile(
    r"weight|expect|total|\bsum\b|average|mean|price|upside|check|加权|合计|合計|总|總|平均|期望|股价|加重|summe|gesamt",
    re.IGNORECASE,
)


def _last_case(recalc: Recalc, sheet: Sheet, column: int, first: int, last: int) -> int:
    """Return the last row of a table of cases: others may follow the named ones until the probabilities are whole."""
    for other in range(column + 1, min(column + 15, sheet.max_column) + 1):
        cells = [CellRef(sheet.name, row, other) for row in range(first, last + 1)]
        label = column_label(recalc, cells[0])
        if not _PROBABILITY.search(label) or _WEIGHED.search(label):
            continue
        held = sum(recalc.number(cell) or 0.0 for cell in cells)
        whole, end = (100.0 if held > 1.5 else 1.0), last
        while held < whole * (1 - 1e-9) and end < last + 4:
            name = text_at(recalc, CellRef(sheet.name, end + 1, column))
            share = recalc.number(CellRef(sheet.name, end + 1, other))
            if not name or len(name) > LONGEST_NAME or _SUMMED.search(name) or share is None or not 0 < share < whole:
                break
            held, end = held + share, end + 1
        return end
    return last


class Choice(NamedTuple):
    """A formula that picks by a switch."""

    cell: CellRef
    switch: CellRef
    options: tuple[Node | None, ...]
    plain: bool = True
    """False where the position is worked out from the switch (``4-switch``)."""


def choices(recalc: Recalc) -> list[Choice]:
    """Return the CHOOSE formulas that pick by a single cell."""
    found = []
    for ref, node in trees(recalc).matching(_CHOOSE):
        for one in walk(node):
            if isinstance(one, Call) and one.function == "CHOOSE" and len(one.arguments) >= 3:
                switch = one.arguments[0]
                if isinstance(switch, Ref):
                    found.append(Choice(ref, switch.cell, one.arguments[1:]))
    return found


def active_case(recalc: Recalc, found: Sequence[Choice]) -> Case | None:
    """Return the case that the switch is on, where a formula names it (``CHOOSE(C5,"Bear","Base","Bull")``)."""
    for choice in found:
        if all(isinstance(option, Text) for option in choice.options):
            case = case_of(text_at(recalc, choice.cell))
            if case is not None:
                return case
    for choice in found:
        names = [case_of(text_at(recalc, one.cell)) if isinstance(one, Ref) else None for one in choice.options]
        position = recalc.number(choice.switch)
        if all(names) and position is not None and 1 <= position <= len(names):
            return names[int(position) - 1]
    return None


def heading_above(recalc: Recalc, ref: CellRef) -> Case | None:
    """Return the case that the nearest heading above a cell's row names, looking in the columns left of it."""
    for row in range(ref.row, max(0, ref.row - 25), -1):
        for column in range(1, ref.column + 1):
            text = text_at(recalc, CellRef(ref.sheet, row, column))
            if text and len(text) < 60 and is_label(text):
                found = [case for case, words in _CASES.items() if words.search(text)]
                if len(found) == 1 and re.search(r"case|scenario|情景|シナリオ|szenario", text, re.IGNORECASE):
                    return found[0]
    return None
