"""The verdict on every stored value: the local check and the whole recalculation, weighed together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Unsolved
from xlcheck.graph import Graph
from xlcheck.live.datatables import Evaluate, table_values
from xlcheck.live.loops import Loop
from xlcheck.localcheck.agreement import SOLVED, agree, tolerance_of
from xlcheck.localcheck.check import Local
from xlcheck.localcheck.doubts import told
from xlcheck.workbook import Book, DataTable

Verdict = Literal["same", "stale", "unsolved", "no_stored_value"]
Values = Mapping[CellRef, Scalar | Unsolved]


@dataclass(frozen=True, slots=True)
class CellVerdict:
    """What the recomputation says of one formula cell (or data-table cell)."""

    status: Verdict
    stored: Scalar
    recomputed: Scalar
    """From the whole recalculation; None with `unsolved` set where that leg could not speak."""
    unsolved: Unsolved | None = None
    expected: Scalar = None
    """For `stale`: the value that follows from the cell's own formula and its precedents."""
    opinions: Mapping[str, Scalar | Unsolved] | None = None
    """For cells in dispute: engine name to what it said."""


def weigh(
    book: Book, graph: Graph, values: Values, local: Mapping[CellRef, Local], loops: Iterable[Loop]
) -> dict[CellRef, CellVerdict]:
    """Return the verdict on every cell of `values`; without local findings no stored value is judged."""
    scales = _Scales(book, graph, frozenset(ref for loop in loops for ref in loop.cells))
    found: dict[CellRef, CellVerdict] = {}
    apart: list[CellRef] = []
    for ref, value in values.items():
        found[ref] = _one(book, ref, value, local, scales)
        recomputed = found[ref].recomputed
        if found[ref].status == "same" and recomputed is not None and not scales.agree(ref, recomputed):
            apart.append(ref)
    if apart:
        _settle_apart(found, apart, graph, local)
    return found


@dataclass(frozen=True)
class _Scales:
    """Compares a cell's stored value with another one, with the tolerance that the cell deserves."""

    book: Book
    graph: Graph
    loops: frozenset[CellRef]

    def agree(self, ref: CellRef, value: Scalar) -> bool:
        cell = self.book.get(ref)
        if cell is None:
            return True
        relative = tolerance_of(cell.formula or "")
        if agree(cell.stored, value, relative):
            return True
        if self.book.calc.iterate and self.loops:
            relative = max(1e-6, self.book.calc.iterate_delta)
        if ref in self.solved:
            relative = max(relative, SOLVED)
        read = (one.stored for ref in self.graph.precedents(ref) if (one := self.book.get(ref)) is not None)
        return agree(cell.stored, value, max(relative, _COMPOUNDED), read, SOLVED if ref in self.solved else _CHAINED)

    @cached_property
    def solved(self) -> frozenset[CellRef]:
        """Cells that follow from one which a function finds by search: a net present value at the rate of return."""
        searched = [one.ref for one in self.book.formula_cells() if tolerance_of(one.formula or "") == SOLVED]
        return self.graph.descendants(searched)


_COMPOUNDED = 1e-8
"""Relative: rounding grows along a chain of formulas."""
_CHAINED = 1e-11
"""Of the largest number read, for what is left of a difference at the end of a chain."""


def _one(
    book: Book, ref: CellRef, value: Scalar | Unsolved, local: Mapping[CellRef, Local], scales: _Scales
) -> CellVerdict:
    cell = book.get(ref)
    stored = cell.stored if cell else None
    lost = value if isinstance(value, Unsolved) else None
    recomputed = None if isinstance(value, Unsolved) else value
    if stored is None or not local:
        return CellVerdict("no_stored_value", stored if local else None, recomputed, lost)
    said = local.get(ref)
    if said is None:
        return _by_whole_leg(stored, recomputed, lost, same=lost is None and scales.agree(ref, recomputed))
    opinions = said.opinions or None
    if said.same:
        return CellVerdict("same", stored, recomputed, lost, opinions=opinions)
    if said.unsolved is None:
        return CellVerdict("stale", stored, recomputed, lost, said.expected, opinions)
    if lost is None and said.unsolved.kind != "random" and scales.agree(ref, recomputed):
        return CellVerdict("same", stored, recomputed, opinions=opinions)
    vague = said.unsolved.kind in ("unsupported_function", "engine_failure")
    reason = lost if lost is not None and vague else said.unsolved
    return CellVerdict("unsolved", stored, recomputed, reason, opinions=opinions)


def _by_whole_leg(stored: Scalar, recomputed: Scalar, lost: Unsolved | None, *, same: bool) -> CellVerdict:
    """Judge a data-table cell, which no local check reaches: by the what-if that fills it."""
    if lost is not None:
        return CellVerdict("unsolved", stored, None, lost)
    return CellVerdict("same" if same else "stale", stored, recomputed, expected=None if same else recomputed)


def _settle_apart(
    found: dict[CellRef, CellVerdict],
    apart: list[CellRef],
    graph: Graph,
    local: Mapping[CellRef, Local],
) -> None:
    """Explain cells that follow from their stored precedents but not from the whole recalculation.

    They are the consequence of a stale cell, of another date, or of cells without a stored value. Where the engine
    of the whole recalculation differs from the stored value even from stored precedents, and another engine confirms
    that value, the stored value stands and the recomputed one is not known. What nothing explains is a disagreement.
    """
    sources = {ref for ref, verdict in found.items() if verdict.status in ("stale", "no_stored_value")}
    sources |= {ref for ref, verdict in found.items() if verdict.status == "unsolved"}
    sources |= {ref for ref, said in local.items() if said.unsolved is not None}
    consequences = graph.descendants(sources) if sources else frozenset()
    for ref in apart:
        if ref in consequences:
            continue
        before = found[ref]
        opinions = before.opinions or {}
        primary = next(iter(opinions.values()), None)
        if primary is not None and not isinstance(primary, Unsolved) and agree(primary, before.recomputed, _COMPOUNDED):
            detail = f"engines differ from the same precedents: {told(opinions)}"
            disagree = Unsolved(kind="engines_disagree", detail=detail)
            found[ref] = CellVerdict("same", before.stored, None, disagree, opinions=opinions)
            continue
        detail = f"the whole recalculation gives {before.recomputed}, the stored precedents give {before.stored}"
        disagree = Unsolved(kind="engines_disagree", detail=detail)
        found[ref] = CellVerdict("unsolved", before.stored, before.recomputed, disagree, opinions=before.opinions)


_WITNESSES = 3
"""So many cells of a stale data table are asked of the second engine, which must load the model for each."""


def confirmed_table(
    table: DataTable, found: Mapping[CellRef, CellVerdict], other: Evaluate
) -> dict[CellRef, CellVerdict]:
    """Return new verdicts for the stale cells of a data table that the second engine does not confirm."""
    stale = [ref for ref, verdict in found.items() if verdict.status == "stale" and ref in table.range]  # type: ignore[comparison-overlap]
    for ref in stale[:_WITNESSES]:
        said = table_values(table, other, [ref])[ref]
        verdict = found[ref]
        if isinstance(said, Unsolved) or not agree(verdict.recomputed, said, _COMPOUNDED):
            detail = f"{ref}: one engine fills the data table with {verdict.recomputed}, the other with {said}"
            doubt = Unsolved(kind="engines_disagree", detail=detail)
            return {one: CellVerdict("unsolved", found[one].stored, found[one].recomputed, doubt) for one in stale}
    return {}
