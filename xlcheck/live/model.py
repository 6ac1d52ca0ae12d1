"""The live model: the normalised copy in the primary engine, with what the engine cannot do held outside.

Held cells are constants for the engine, kept true from outside: torn cells of loops, the cells of data
tables, and cells that another engine has to calculate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from xlcheck.cells import CellRef, RangeRef, Scalar
from xlcheck.engines import Clock, Engine, Session, Unsolved
from xlcheck.engines.package import Draft, write_package
from xlcheck.errors import EngineError
from xlcheck.graph import Graph
from xlcheck.live.datatables import Evaluate, fill_tables, sources_of
from xlcheck.live.loops import Loop, LoopState, components, same_end, settle, solved, starts, tears, unwind
from xlcheck.live.outside import MOST, Outside
from xlcheck.live.reasons import explained
from xlcheck.live.refused import RefusedCopy
from xlcheck.live.region import LoopRegion
from xlcheck.localcheck.shadow import UNKNOWN, Shadow, Values
from xlcheck.normalise import cells_of, followers, formula_of, normalise, without_arrays
from xlcheck.normalise.rewrite import Rewriter, undefined_names
from xlcheck.workbook import Book, Cell

Changes = Mapping[CellRef, Scalar]


class LiveModel:
    """A book loaded for whole recalculation and what-if.

    `values` holds every formula cell and every cell that an array formula or a data table fills; `loops` the
    live loops that were found.
    """

    def __init__(self, book: Book, graph: Graph, engines: Sequence[Engine], clock: Clock) -> None:
        """Load and recalculate; every formula is unsolved where the primary engine, `engines[0]`, refuses the copy."""
        self.book = book
        self.graph = graph
        self.loops: tuple[Loop, ...] = ()
        self._engine = engines[0]
        self._clock = clock
        self.rewriter = Rewriter(book)
        self._outside = Outside(Shadow(book, graph, self.rewriter, clock), engines[1:])
        self._torn: dict[CellRef, CellRef] = {}
        self._lent: dict[CellRef, Cell] = {}
        self._lost: dict[CellRef, Unsolved] = {}
        self._heard: set[CellRef] = set()
        self._held: dict[CellRef, Scalar] = {}
        self._tables = [cell.data_table for cell in book.cells() if cell.data_table is not None]
        self._unwound = False
        self._region: LoopRegion | None = None
        self._bare: dict[frozenset[RangeRef], Session] = {}
        self._reached: dict[frozenset[CellRef], bool] = {}
        self._session = self._open(())
        self.values: Values = self._first_values()

    def _open(self, torn: Collection[CellRef]) -> Session:
        """Load the copy with these cells torn: blank in their place, their formulas on added sheets."""
        places = {sheet.name: f"Loops_{index}_" for index, sheet in enumerate(self.book.sheets)}
        self._torn = {ref: CellRef(places[ref.sheet], ref.row, ref.column) for ref in torn}
        self._bare = {}
        return self._load(torn)

    def _load(self, torn: Collection[CellRef], blank: Collection[CellRef] = ()) -> Session:
        whole = self._draft_with({*torn, *blank})
        # A name, table or array that the engine refuses must not cost the workbook: what uses it is unsolved then.
        nameless = replace(whole, names=(), tables=())
        for draft in (whole, nameless):
            with suppress(EngineError):
                return self._engine.open(write_package(draft, self._engine.name), self._clock)
        try:
            return self._engine.open(write_package(without_arrays(nameless), self._engine.name), self._clock)
        except EngineError as error:
            return RefusedCopy(self._wanted, error)

    def _draft_with(self, blank: Collection[CellRef]) -> Draft:
        return self._with_added(normalise(self.book, self.rewriter, {*blank, *self._lent}))

    def _with_added(self, draft: Draft) -> Draft:
        sheets = dict(draft.sheets)
        for ref, place in self._torn.items():
            cell = self.book.get(ref)
            assert cell is not None
            pinned = replace(formula_of(self.rewriter, cell, pinned=True), array=None)
            sheets[place.sheet] = {**sheets.get(place.sheet, {}), (place.row, place.column): pinned}
        for ref in self._lost:
            sheets[ref.sheet] = {**sheets[ref.sheet], (ref.row, ref.column): UNKNOWN}
        return replace(draft, sheets=sheets)

    def _first_values(self) -> Values:
        values = self._read()
        if self._names_undefined(values):
            values = self._read()
        looped = [ref for ref, value in values.items() if _kind(value) == "cycle"]
        if looped:
            self._tear(looped)
            values = self._read()
        for _ in range(_ROUNDS):
            if not self._outsource(values):
                break
            values = self._read()
        if self._tables:
            self._fill_all_tables()
            values = self._read()
        return explained(values, self.book, self.graph, self.loops)

    def _names_undefined(self, values: Values) -> bool:
        """Let words that are no names be the errors that they are for Excel; say whether there are any."""
        refused = (cell for cell in self.book.formula_cells() if _kind(values[cell.ref]) == "unsupported_function")
        undefined = undefined_names(refused, self.book)
        if undefined:
            self.rewriter = replace(self.rewriter, undefined=undefined)
            self._outside = replace(self._outside, shadow=replace(self._outside.shadow, rewriter=self.rewriter))
            self._session = self._open(())
        return bool(undefined)

    def _read(self) -> dict[CellRef, Scalar | Unsolved]:
        """Return the values of all formula cells and filled cells, with the held cells as they are."""
        if self._held:
            found = dict(self._session.what_if(self._held, sorted(self._wanted)))
        else:
            own = {sheet.name: sheet.cells for sheet in self.book.sheets}
            found = {
                ref: value
                for ref, value in self._session.recalculate().items()
                if ref.sheet in own and (ref in self._wanted or (ref.row, ref.column) not in own[ref.sheet])
            }
            found.update({ref: None for ref in self._wanted if ref not in found})
        found.update(self._lost)
        return found

    @cached_property
    def _wanted(self) -> frozenset[CellRef]:
        formulas = {cell.ref for cell in self.book.formula_cells()}
        filled = {CellRef(sheet.name, *place) for sheet in self.book.sheets for place in followers(sheet)}
        return frozenset(formulas | filled)

    # What is held outside: loops

    def _tear(self, looped: Sequence[CellRef]) -> None:
        """Tear the loops, find where they settle, and leave those untorn that have no one end."""
        found = components(looped, self.graph.reads) or [[ref] for ref in looped]
        arrays = {ref for area in self._arrays if area.size > 1 for ref in self._cells_of(area)}
        torn = [tears(component, self.graph.reads, arrays) or component for component in found]
        every = [ref for cells in torn for ref in cells]
        self._open_torn(every)
        known = unwind(every, lambda held: self._torn_results(every, {**self._held, **held}))
        self._held.update(known)
        self._unwound = bool(known)
        left: set[CellRef] = set()
        for component, cells in zip(found, torn, strict=True):
            live = [ref for ref in cells if ref not in self._held]
            if live and not self._settled(component, live):
                left.update(live)
        left |= self._unstable([ref for ref in every if ref not in left])
        while left:
            self._held = {ref: value for ref, value in self._held.items() if ref not in left}
            self._open_torn([ref for ref in self._torn if ref not in left])
            results = self._torn_results(self._torn, self._held)
            left = {ref for ref, value in results.items() if isinstance(value, Unsolved)}

    def _open_torn(self, torn: Collection[CellRef]) -> None:
        self._session = self._open(torn)
        self._region = None
        self._reached = {}
        if torn:
            region = LoopRegion(self._engine, self._clock, self.rewriter, self.graph, self._torn)
            if not region.dynamic and region.look_outside(self._session.what_if(self._held, region.outside)):
                self._region = region

    def _settled(self, component: Sequence[CellRef], torn: Sequence[CellRef]) -> bool:
        def step(held: Changes) -> Values:
            return self._torn_results(torn, {**self._held, **held})

        state: LoopState = "iteration_off"
        if self.book.calc.iterate:
            ends = [end for start in starts(torn) if (end := settle(start, step)) is not None]
            state = "diverging" if len(ends) < 2 else "converged"
            if ends and not all(same_end(ends[0], end) for end in ends[1:]):
                state = "indeterminate"
            if state == "converged":
                self._held.update(ends[0])
        self.loops = (*self.loops, Loop(tuple(component), state))
        return state == "converged"

    def _unstable(self, torn: Sequence[CellRef]) -> set[CellRef]:
        """Let all loops settle together, for one may read another in a way unknown before; return what does not."""
        held = {ref: self._held[ref] for ref in torn}
        results = self._torn_results(torn, self._held)
        stable = {ref for ref, value in solved(results).items() if same_end({ref: value}, held)}
        moved = set(torn) - stable
        if not moved:
            return set()
        end = settle(held, lambda step: self._torn_results(torn, {**self._held, **step}))
        self._held.update(end or {})
        return moved if end is None else set()

    def _torn_results(self, torn: Iterable[CellRef], state: Changes) -> dict[CellRef, Scalar | Unsolved]:
        if self._region is not None:
            return self._region.step(state, torn)
        places = {ref: self._torn[ref] for ref in torn}
        found = self._session.what_if(state, list(places.values()))
        return {ref: found[place] for ref, place in places.items()}

    def _loop_values(self, changes: Changes, held: Changes) -> dict[CellRef, Scalar] | None:
        """Return where the torn cells settle under the changes, starting where they are; None if they do not."""
        torn = [ref for ref in self._torn if ref not in changes]
        base: Changes = {**held, **changes}
        if self._region is not None:
            outside = self._session.what_if(base, self._region.outside)
            if not self._region.look_outside(outside):
                return None
            base = {ref: value for ref, value in base.items() if ref in self._region.inside}

        def step(moved: Changes) -> Values:
            return self._torn_results(torn, {**base, **moved})

        known = unwind(torn, step) if self._unwound else {}
        rest = {ref: held.get(ref) for ref in torn if ref not in known}
        end = settle(rest, lambda moved: self._torn_results(rest, {**base, **known, **moved})) if rest else {}
        return None if end is None else {**known, **end}

    # What is held outside: cells that another engine calculates

    def _outsource(self, values: Values) -> bool:
        """Ask the other engines about cells in doubt; say whether anything came of it."""
        cells = [cell for cell in self._outside.doubtful(values) if cell.ref not in self._heard]
        cells = cells[: MOST - len(self._heard)]
        if not cells or not self._outside.engines:
            return False
        self._heard.update(cell.ref for cell in cells)
        answers = self._outside.answers(cells, {**self._constants, **values})
        lent = {cell.ref: cell for cell in cells if answers[cell.ref] != values[cell.ref]}
        lost = {ref: value for ref in lent if isinstance(value := answers[ref], Unsolved)}
        for ref in lost:
            del lent[ref]
        if not lent and not lost:
            return False
        self._lent.update(lent)
        self._lost.update(lost)
        self._held.update({ref: value for ref in lent if not isinstance(value := answers[ref], Unsolved)})
        self._open_torn(list(self._torn))
        return True

    @cached_property
    def _constants(self) -> dict[CellRef, Scalar]:
        return {cell.ref: cell.stored for cell in self.book.cells() if cell.ref not in self._wanted}

    def _lent_values(self, changes: Changes, held: Changes) -> dict[CellRef, Scalar]:
        """Return the lent cells that the changes reach, asked anew from the values they read now."""
        moved = self.graph.descendants({*changes, *(ref for ref in held if held[ref] != self._held.get(ref))})
        cells = [cell for ref, cell in self._lent.items() if ref in moved and ref not in changes]
        if not cells:
            return {}
        read = sorted({ref for cell in cells for ref in self.graph.precedents(cell.ref)})
        values = {**self._constants, **self._session.what_if({**held, **changes}, read)}
        unknown = Unsolved(kind="unsupported_function", detail="the primary engine cannot")
        answers = self._outside.answers(cells, {**values, **dict.fromkeys((cell.ref for cell in cells), unknown)})
        return {ref: value for ref, value in answers.items() if not isinstance(value, Unsolved)}

    # What is held outside: data tables

    def _filled(self, changes: Changes, held: Changes) -> tuple[dict[CellRef, Scalar], dict[CellRef, Unsolved]]:
        """Return what the data tables hold under the changes, and the cells of theirs that are unsolved."""
        tables = [(table, self._cells_of(table.range)) for table in self._tables]
        return fill_tables(tables, len(self._wanted), changes, held, lambda base: self._evaluator(changes, base))

    def _cells_of(self, area: RangeRef) -> list[CellRef]:
        return cells_of(area, self.book.sheet(area.sheet))

    def _evaluator(self, changes: Changes, held: Changes) -> Evaluate:
        return lambda inputs, outputs: self._answer({**changes, **inputs}, outputs, tables=held)

    def _fill_all_tables(self) -> None:
        """Fill the tables, and again as long as a table's own formulas or axes read what a table was filled with."""
        sources = sorted({ref for table in self._tables for ref in sources_of(table, self._cells_of(table.range))})
        before = self._answer({}, sources, tables=self._held)
        for _ in range(_ROUNDS):
            values, lost = self._filled({}, self._held)
            self._held.update(values)
            if lost.keys() - self._lost.keys():
                self._lost.update(lost)
                self._open_torn(list(self._torn))
            after = self._answer({}, sources, tables=self._held)
            if after == before:
                break
            before = after

    @cached_property
    def _after_tables(self) -> frozenset[CellRef]:
        return self.graph.descendants({ref for table in self._tables for ref in self._cells_of(table.range)})

    # What-if

    def what_if(self, changes: Changes, outputs: Sequence[CellRef]) -> Values:
        """Return the outputs with those cells replaced, formula cells too; the model stays as it was.

        Only what depends on the changes is calculated again. Loops settle anew from where they are, data tables
        are filled anew if an output reads them.
        """
        hit = [area for area in self._arrays if any(ref in area for ref in changes)]  # type: ignore[comparison-overlap]
        if not hit:
            return self._asked(changes, outputs)
        changes = self._whole_arrays(changes, hit)
        before = self._session, self._region
        self._session, self._region = self._without_arrays(frozenset(hit)), None
        try:
            return self._asked(changes, outputs)
        finally:
            self._session, self._region = before

    def other_what_if(self, changes: Changes, outputs: Sequence[CellRef]) -> Values:
        """Ask the second engine the same, with loops and other held cells where they stand unchanged (slow)."""
        other = self._outside.engines[0]
        try:
            session = other.open(write_package(self._draft_with(self._torn), other.name), self._clock)
            return session.what_if({**self._held, **changes}, outputs)
        except EngineError as error:
            return dict.fromkeys(outputs, Unsolved(kind="engine_failure", detail=str(error)))

    def _asked(self, changes: Changes, outputs: Sequence[CellRef]) -> Values:
        held: Changes = self._held
        lost: Mapping[CellRef, Unsolved] = {}
        if self._tables and not self._after_tables.isdisjoint(outputs):
            values, lost = self._filled(changes, held)
            held = {**held, **values}
        answers = dict(self._answer(changes, outputs, tables=held))
        if lost:
            after = self.graph.descendants(lost)
            answers.update({ref: lost.get(ref, next(iter(lost.values()))) for ref in answers if ref in after})
        return {ref: self._worded(ref, value) for ref, value in answers.items()}

    def _worded(self, ref: CellRef, value: Scalar | Unsolved) -> Scalar | Unsolved:
        """Give an unsolved cell the reason found for it in the first recalculation, which names its cause."""
        known = self.values.get(ref)
        return known if isinstance(value, Unsolved) and isinstance(known, Unsolved) else value

    def _answer(self, changes: Changes, outputs: Sequence[CellRef], tables: Changes) -> Values:
        if not self._torn and not self._lent:
            return self._session.what_if({**tables, **changes}, outputs)
        held = dict(tables)
        for _ in range(_ROUNDS):
            before = dict(held)
            settled = self._loop_values(changes, held) if self._reaches_loops(changes) else {}
            if settled is None:
                return self._unsettled(self._session.what_if({**held, **changes}, outputs))
            held.update(settled)
            if self._lent:
                held.update(self._lent_values(changes, held))
            if same_end(held, before):
                break
        return self._session.what_if({**held, **changes}, outputs)

    def _reaches_loops(self, changes: Changes) -> bool:
        """Say whether the changes, or lent cells that follow them, can move a loop."""
        if not self._torn or not (changes or self._lent):
            return False
        if self._region is None or self._lent:
            return True
        key = frozenset(changes)
        if key not in self._reached:
            around = self._region.inside.union(self._region.outside)
            self._reached[key] = not around.isdisjoint(self.graph.descendants(key))
        return self._reached[key]

    def _unsettled(self, answers: Values) -> Values:
        after = self.graph.descendants(self._torn)
        lost = Unsolved(kind="cycle", detail=f"under these changes the loop through {min(self._torn)} does not settle")
        return {ref: lost if ref in after else value for ref, value in answers.items()}

    @cached_property
    def _arrays(self) -> list[RangeRef]:
        """The ranges of array formulas, those of one cell too: an engine cannot put them back once overwritten."""
        return [cell.array for cell in self.book.formula_cells() if cell.array is not None]

    def _whole_arrays(self, changes: Changes, hit: Sequence[RangeRef]) -> Changes:
        """Let the other cells of an array keep their values where one of its cells is replaced."""
        others = sorted({ref for area in hit for ref in self._cells_of(area)} - set(changes))
        rest = {ref: value for ref, value in changes.items() if not any(ref in area for area in hit)}  # type: ignore[comparison-overlap]
        kept = self._answer(rest, others, tables=self._held) if others else {}
        return {**{ref: value for ref, value in kept.items() if not isinstance(value, Unsolved)}, **changes}

    def _without_arrays(self, hit: frozenset[RangeRef]) -> Session:
        """Return a session in which the cells of these arrays are plain blank ones."""
        if hit not in self._bare:
            self._bare[hit] = self._load(self._torn, {ref for area in hit for ref in self._cells_of(area)})
        return self._bare[hit]


_ROUNDS = 4


def _kind(value: Scalar | Unsolved) -> str | None:
    return value.kind if isinstance(value, Unsolved) else None
