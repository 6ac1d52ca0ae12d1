"""The local check: does each stored value follow from its own formula and the stored values that it reads.

Each formula is evaluated once from Excel's own precedents, so loops and iteration play no part and only the
first stale cell of a chain differs. Three opinions, each asked only about what is still in dispute.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Engine, Unsolved
from xlcheck.localcheck.agreement import agree, tolerance_of
from xlcheck.localcheck.doubts import Dispute, disagree, doubt_of, settled, told
from xlcheck.localcheck.shadow import NOT_STORED, Shadow, Values, stored_values
from xlcheck.normalise import cells_of
from xlcheck.workbook import Book, Cell


@dataclass(frozen=True, slots=True)
class Local:
    """What the local check says of one cell: the stored value follows, does not, or cannot be judged."""

    same: bool
    unsolved: Unsolved | None = None
    expected: Scalar = None
    """Where it does not follow, or two opinions say so in spite of a doubt: what does."""
    opinions: Mapping[str, Scalar | Unsolved] = field(default_factory=dict)


SAME = Local(True)

_PLACE_BOUND = re.compile(r"\b(?:ISFORMULA|FORMULATEXT|CELL|INFO|SHEETS?|GETPIVOTDATA)\(", re.IGNORECASE)
"""Functions that ask where they stand or what stands there: the shadow book would answer for itself."""
_FEW = 100
"""Of up to so many cells every opinion is heard before one is called stale."""
_MOST = 500
"""The third opinion is slow: it is asked about so many cells at most, the others stay in dispute."""
_RANDOM = re.compile(r"\b(?:RAND|RANDBETWEEN|RANDARRAY)\(", re.IGNORECASE)
_CLOCK = re.compile(r"\b(?:TODAY|NOW)\(", re.IGNORECASE)


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
        answers = shadow.ask(engine, disputed, check.stored) if disputed else {}
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
        calls = "(" in formula
        if (calls and _RANDOM.search(formula)) or self._through_name(formula, _RANDOM):
            return Unsolved(kind="random", detail="it draws random numbers")
        if calls and _PLACE_BOUND.search(formula):
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

    def still_open(
        self, cells: Sequence[Cell], said: Mapping[CellRef, Mapping[str, Scalar | Unsolved]], *, first: bool
    ) -> list[Cell]:
        """Return the cells of which another opinion is needed: nobody agreed yet with the stored value.

        Where two agree against it another one is heard all the same, unless these cells are many.
        """
        against, unsettled = [], []
        for cell in cells:
            votes = [list(said[ref].values()) for ref in self.judged(cell) if not self._confirmed(ref, cell, said[ref])]
            if any(first or settled(vote) is None for vote in votes):
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
        value = settled(list(votes.values()))
        if value is not None:
            doubt = doubt_of(Dispute(ref, cell, self.shadow.book, self.stored, list(self._read(cell)), value, votes))
            return Local(False, doubt, value, votes)
        reasons = [vote for vote in votes.values() if isinstance(vote, Unsolved)]
        if len(reasons) == len(votes):
            return Local(False, reasons[0], None, votes)
        return Local(False, disagree(told(votes)), None, votes)

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
        consequence. Repeated until nothing changes, for chains of mismatches. Cells in doubt take part, for they may
        be the forged ones, and are not accused.
        """
        wrong: dict[CellRef, Scalar] = {
            ref: local.expected for ref, local in found.items() if not local.same and local.expected is not None
        }
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
            if found[ref].unsolved is None:
                found[ref] = Local(False, None, expected, found[ref].opinions)
        return found


def claims_nothing(book: Book) -> bool:
    """Say whether the stored values are placeholders: all zero or empty, in a file to be calculated on loading."""
    if not book.calc.full_calc_on_load:
        return False
    return all(
        cell.stored in (None, "") or (cell.stored == 0 and cell.stored is not False) for cell in book.formula_cells()
    )


__all__ = ["NOT_STORED", "SAME", "Local", "claims_nothing", "local_check"]
