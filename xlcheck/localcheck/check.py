"""The local check: does each stored value follow from its own formula and the stored values that it reads.

Each formula is evaluated once from Excel's own precedents, so loops and iteration play no part and only the
first stale cell of a chain differs. Three opinions, each asked only about what is still in dispute.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from xlcheck.cells import CellError, CellRef, Scalar
from xlcheck.engines import Engine, Unsolved
from xlcheck.formula import Call, Node, Number, Range, Text, parse, walk
from xlcheck.localcheck.agreement import agree, tolerance_of
from xlcheck.localcheck.shadow import NOT_STORED, Shadow, Values, stored_values
from xlcheck.normalise import cells_of
from xlcheck.workbook import Book, Cell


@dataclass(frozen=True, slots=True)
class Local:
    """What the local check says of one cell: the stored value follows, does not, or cannot be judged."""

    same: bool
    unsolved: Unsolved | None = None
    expected: Scalar = None
    """Where it does not follow: what does."""
    opinions: Mapping[str, Scalar | Unsolved] = field(default_factory=dict)


SAME = Local(True)

_PLACE_BOUND = re.compile(r"\b(?:ISFORMULA|FORMULATEXT|CELL|INFO|SHEETS?|GETPIVOTDATA)\(", re.IGNORECASE)
"""Functions that ask where they stand or what stands there: the shadow book would answer for itself."""
_DIVIDES = re.compile(r"/|(?<![\w.])(?:AVERAGE\w*|MOD|QUOTIENT|STDEV\w*|VAR\w*|SLOPE|CORREL)\(", re.IGNORECASE)
_MIXED = re.compile(r"\{[^{}]*(?:TRUE|FALSE|\")[^{}]*\}", re.IGNORECASE)
_SHARED_GAPS = re.compile(
    r"(?<![\w.])(?:DATEDIF|IM[A-Z]+[0-9]*|XMATCH|TOCOL|TOROW|FREQUENCY|SORT|SORTBY|GROUPBY|PIVOTBY)\(", re.IGNORECASE
)
_LENIENT = frozenset({"#VALUE!", "#NUM!"})
"""Errors by which Excel refuses arguments that other programs accept."""
_SUBTOTAL = re.compile(r"\b(?:SUBTOTAL|AGGREGATE)\(", re.IGNORECASE)
_FEW = 100
"""Of up to so many cells every opinion is heard before one is called stale."""
_MOST = 200
"""The third opinion is slow: it is asked about so many cells at most, the others stay in dispute."""
_RANDOM = re.compile(r"\b(?:RAND|RANDBETWEEN|RANDARRAY)\(", re.IGNORECASE)
_CLOCK = re.compile(r"\b(?:TODAY|NOW)\(", re.IGNORECASE)
_WORDED = re.compile(r"\b(?:TEXT|DOLLAR|FIXED|VALUE|DATEVALUE|NUMBERVALUE|CHAR|CODE)\(", re.IGNORECASE)
"""Functions whose result depends on the language or the system of the Excel that stored it."""


_BEYOND = CellError(error="#N/A")


def local_check(
    shadow: Shadow, opinions: Sequence[Engine], loops: Collection[CellRef] = (), slack: float = 0.0
) -> dict[CellRef, Local]:
    """Judge every formula cell that carries a stored value, and every cell that an array formula fills.

    `opinions` in order of trust. Cells in live loops may lie apart by `slack` (relative, the iteration's delta).
    """
    check = _Check(shadow, stored_values(shadow.book), loops, slack)
    cells = [cell for cell in shadow.book.formula_cells() if cell.stored is not None]
    found, asked = check.first_look(cells)
    disputed: Sequence[Cell] = asked
    said: dict[CellRef, dict[str, Scalar | Unsolved]] = {}
    for number, engine in enumerate(opinions):
        answers = check.spread(disputed, shadow.ask(engine, disputed, check.stored)) if disputed else {}
        for ref, answer in answers.items():
            said.setdefault(ref, {})[engine.name] = answer
        disputed = check.still_open(disputed, said, first=number == 0)[: _MOST if number else None]
    for cell in asked:
        for ref in check.judged(cell):
            found[ref] = check.verdict(ref, cell, said[ref])
    return check.without_consequences(found, opinions)


@dataclass(frozen=True, slots=True)
class _Check:
    shadow: Shadow
    stored: Values
    loops: Collection[CellRef]
    slack: float
    named: dict[re.Pattern[str], list[re.Pattern[str]]] = field(default_factory=dict)
    """Pattern to the defined names in whose formula it stands."""

    def first_look(self, cells: Iterable[Cell]) -> tuple[dict[CellRef, Local], list[Cell]]:
        """Set aside the cells that no engine can judge from stored values."""
        found: dict[CellRef, Local] = {}
        asked = []
        for cell in cells:
            reason = self._beyond(cell)
            if reason is None:
                asked.append(cell)
            else:
                found.update(dict.fromkeys(self.judged(cell), Local(False, reason)))
        return found, asked

    def _beyond(self, cell: Cell) -> Unsolved | None:
        formula = cell.formula or ""
        if _RANDOM.search(formula) or self._through_name(formula, _RANDOM):
            return Unsolved(kind="random", detail="it draws random numbers")
        if _PLACE_BOUND.search(formula):
            return Unsolved(kind="unsupported_function", detail="it asks for a property of a cell or of the workbook")
        return None

    def _through_name(self, formula: str, pattern: re.Pattern[str]) -> bool:
        """Say whether a formula uses a defined name in whose formula the pattern stands."""
        if pattern not in self.named:
            names = [name.name for name in self.shadow.book.names if pattern.search(name.formula)]
            words = [rf"(?<![\w.]){re.escape(name)}(?![\w.(])" for name in names]
            self.named[pattern] = [re.compile(word, re.IGNORECASE) for word in words]
        return any(name.search(formula) for name in self.named[pattern])

    def judged(self, cell: Cell) -> list[CellRef]:
        """Return the cells whose stored value is this formula's: its own, and those that it fills."""
        if cell.array is None or cell.array.size == 1:
            return [cell.ref]
        return [ref for ref in cells_of(cell.array, self.shadow.book.sheet(cell.ref.sheet)) if ref in self.stored]

    def spread(
        self, cells: Iterable[Cell], answers: Mapping[CellRef, Scalar | Unsolved]
    ) -> dict[CellRef, Scalar | Unsolved]:
        """Let one value, row or column fill the whole range of an array formula, as Excel does and engines may not.

        Only where the stored value is the one that so fills the cell: nothing is accused by it.
        """
        full = dict(answers)
        for cell in cells:
            if cell.array is None or cell.array.size == 1 or cell.dynamic:
                continue
            for ref in self.judged(cell):
                if answers[ref] not in (None, _BEYOND):
                    continue
                first = cell.ref
                sources = (
                    first,
                    CellRef(first.sheet, first.row, ref.column),
                    CellRef(first.sheet, ref.row, first.column),
                )
                votes = [answers[source] for source in sources if source in answers and source != ref]
                full[ref] = next((vote for vote in votes if self._agrees(ref, cell, vote)), answers[ref])
        return full

    def still_open(
        self, cells: Sequence[Cell], said: Mapping[CellRef, Mapping[str, Scalar | Unsolved]], *, first: bool
    ) -> list[Cell]:
        """Return the cells of which another opinion is needed: nobody agreed yet with the stored value.

        Where two agree against it another one is heard all the same, unless these cells are many.
        """
        against, unsettled = [], []
        for cell in cells:
            votes = [list(said[ref].values()) for ref in self.judged(cell) if not self._confirmed(ref, cell, said[ref])]
            if any(first or _settled(vote) is None for vote in votes):
                unsettled.append(cell)
            elif votes:
                against.append(cell)
        return unsettled + (against if len(against) <= _FEW else [])

    def _confirmed(self, ref: CellRef, cell: Cell, votes: Mapping[str, Scalar | Unsolved]) -> bool:
        return any(self._agrees(ref, cell, vote) for vote in votes.values())

    def _agrees(self, ref: CellRef, cell: Cell, vote: Scalar | Unsolved) -> bool:
        if isinstance(vote, Unsolved) or vote is None:
            return False
        stored = self.stored[ref]
        assert not isinstance(stored, Unsolved)
        if vote == stored and type(vote) is type(stored):
            return True
        formula = cell.formula or ""
        if agree(stored, vote, tolerance_of(formula)):
            return True
        relative = max(1e-6, self.slack) if ref in self.loops else tolerance_of(formula)
        return agree(stored, vote, relative, self._read(cell))

    def _read(self, cell: Cell) -> Iterable[Scalar]:
        for ref in self.shadow.graph.precedents(cell.ref):
            value = self.stored.get(ref)
            if not isinstance(value, Unsolved):
                yield value

    def verdict(self, ref: CellRef, cell: Cell, votes: Mapping[str, Scalar | Unsolved]) -> Local:
        """Weigh the votes on one cell."""
        if self._confirmed(ref, cell, votes):
            return SAME if len(votes) == 1 else Local(True, opinions=votes)
        if _CLOCK.search(cell.formula or "") or self._through_name(cell.formula or "", _CLOCK):
            clock = Unsolved(kind="clock", detail="it reads the date of the last calculation")
            return Local(False, clock, None, votes)
        settled = _settled(list(votes.values()))
        if settled is not None:
            doubt = self._doubt(ref, cell, settled, list(votes.values()))
            return Local(False, doubt, None if doubt else settled, votes)
        reasons = [vote for vote in votes.values() if isinstance(vote, Unsolved)]
        if len(reasons) == len(votes):
            return Local(False, reasons[0], None, votes)
        return Local(
            False, _disagree("; ".join(f"{name}: {_short(vote)}" for name, vote in votes.items())), None, votes
        )

    def _doubt(self, ref: CellRef, cell: Cell, value: Scalar, votes: Sequence[Scalar | Unsolved]) -> Unsolved | None:
        """Return why two opinions against the stored value do not suffice, None if they do.

        Engines share gaps: an error where Excel has a number is believed only if it is read or is a division by
        zero; a number where Excel has an error only if all three say so.
        """
        formula, stored = cell.formula or "", self.stored[ref]
        if cell.rich:
            return Unsolved(kind="rich_data", detail="it holds a linked data type, not a plain value")
        if _WORDED.search(formula) and (isinstance(stored, str) or "CODE(" in formula.upper()):
            return _disagree("its text depends on the language of the program that stored it")
        if _SUBTOTAL.search(formula) and any(sheet.hidden_rows for sheet in self.shadow.book.sheets):
            return _disagree("it leaves out filtered rows, and which rows a filter hides is not known")
        if _searches_unsorted(formula, ref, self.shadow.book, self.stored):
            return _disagree("it searches by halves in a list that is not sorted")
        if isinstance(value, CellError):
            divided = value.error == "#DIV/0!" and _DIVIDES.search(formula) is not None
            known = not isinstance(stored, CellError) and (divided or value in set(self._read(cell)))
            return None if known else _disagree(f"two engines say {value}, which nothing that it reads explains")
        if isinstance(stored, CellError):
            united = sum(agree(value, vote) for vote in votes if _speaks(vote)) == 3
            if not united or stored.error in _LENIENT:
                return _disagree(f"engines say {_short(value)} where {stored} is stored")
        if _SHARED_GAPS.search(formula):
            return _disagree("engines are known to differ from Excel together in a function of it")
        if _MIXED.search(formula):
            return _disagree("it has an array constant of several kinds, which programs count differently")
        return None

    def _owners(self, refs: Collection[CellRef]) -> dict[CellRef, Cell]:
        """Return for each cell the one whose formula fills it: itself, or the first cell of its array."""
        cells = (cell for cell in self.shadow.book.formula_cells() if refs)
        return {ref: cell for cell in cells for ref in self.judged(cell) if ref in refs}

    def _reads_one_of(self, cell: Cell, refs: Collection[CellRef]) -> bool:
        own = set(self.judged(cell))
        return any(one in refs and one not in own for one in self.shadow.graph.precedents(cell.ref))

    def without_consequences(self, found: dict[CellRef, Local], opinions: Sequence[Engine]) -> dict[CellRef, Local]:
        """Keep of the mismatches only the first of each chain.

        A mismatch that agrees with its stored value once its mismatching precedents hold what they should is a
        consequence. Repeated until nothing changes, for chains of mismatches.
        """
        wrong = {ref: local.expected for ref, local in found.items() if not local.same and local.unsolved is None}
        owners = self._owners(wrong)
        for _ in range(20):
            cells = {
                owner.ref: owner for ref, owner in owners.items() if ref in wrong and self._reads_one_of(owner, wrong)
            }
            before = dict(wrong)
            for engine in opinions[:2]:
                asked = [cell for cell in cells.values() if any(ref in wrong for ref in self.judged(cell))]
                for ref, answer in self.shadow.ask(engine, asked, {**self.stored, **wrong}).items() if asked else ():
                    if ref not in wrong or isinstance(answer, Unsolved):
                        continue
                    if self._agrees(ref, owners[ref], answer):
                        del wrong[ref]
                        found[ref] = Local(True, opinions=found[ref].opinions)
                    elif engine is opinions[0]:
                        wrong[ref] = answer
            if wrong == before:
                break
        for ref, expected in wrong.items():
            found[ref] = Local(False, None, expected, found[ref].opinions)
        return found


def _speaks(vote: Scalar | Unsolved) -> TypeGuard[float | bool | str | CellError]:
    """Say whether an opinion is a vote: a blank is none."""
    return vote is not None and not isinstance(vote, Unsolved)


def _settled(votes: Sequence[Scalar | Unsolved]) -> Scalar:
    """Return the value that two votes share, None if no two agree."""
    real = [vote for vote in votes if _speaks(vote)]
    for index, vote in enumerate(real):
        if any(agree(vote, other) for other in real[index + 1 :]):
            return vote
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


def _disagree(detail: str) -> Unsolved:
    return Unsolved(kind="engines_disagree", detail=detail)


def _short(vote: Scalar | Unsolved) -> str:
    return vote.kind if isinstance(vote, Unsolved) else repr(vote) if isinstance(vote, str) else str(vote)


def claims_nothing(book: Book) -> bool:
    """Say whether the stored values are placeholders: all zero or empty, in a file to be calculated on loading."""
    if not book.calc.full_calc_on_load:
        return False
    return all(
        cell.stored in (None, "") or (cell.stored == 0 and cell.stored is not False) for cell in book.formula_cells()
    )


__all__ = ["NOT_STORED", "SAME", "Local", "claims_nothing", "local_check"]
