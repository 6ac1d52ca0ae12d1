"""Finding the roles of a valuation in a workbook."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xlcheck.cells import CellRef
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Block, Located, LocatedSeries, Roles
from xlcheck.roles.assemble import Assembly
from xlcheck.roles.given import bound_by_grader
from xlcheck.roles.candidates import Candidate, find_candidates
from xlcheck.roles.headline import MARGIN, Standing, find_valuations
from xlcheck.roles.layout import Layout, read_layout
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.roles.naming import Naming
from xlcheck.roles.picks import Pick
from xlcheck.roles.series import Line, Tracks
from xlcheck.roles.shapes import Shapes
from xlcheck.roles.timeline import Timelines, find_timelines
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.workbook import Book


def locate(
    book: Book,
    recalc: Recalc,
    graph: Graph,
    binding: Mapping[str, str] | None = None,
    vocabulary: Path | None = None,
) -> Roles:
    """Return where the roles of the workbook's valuations stand.

    `binding` is the grader's word (role to cell or range) and beats inference; `vocabulary` is a file of further
    words. Raises UsageError for a vocabulary file and BindingError for a binding that cannot be used.
    """
    layout = read_layout(book, recalc)
    lexicon = load_lexicon(vocabulary)
    shapes = Shapes(book, Naming(layout, lexicon))
    timelines: Timelines = {sheet.name: find_timelines(sheet) for sheet in layout.sheets}
    candidates = find_candidates(layout, lexicon, timelines)
    readers = _readers(graph)
    valuations = find_valuations(shapes, candidates, readers)
    blocks = [
        _block(standing, shapes, graph, candidates, timelines, layout)
        for standing in valuations[:1]
    ]
    block, ambiguous = blocks[0] if blocks else (None, {})
    given = bound_by_grader(binding or {}, layout)
    return Roles(
        scalars={**(block.scalars if block else {}), **given.scalars},
        series={**(block.series if block else {}), **given.series},
        ambiguous={role: rivals for role, rivals in ambiguous.items() if role not in given.scalars},
        headline=block.name if block else None,
    )


def _readers(graph: Graph) -> Mapping[CellRef, tuple[CellRef, ...]]:
    found: dict[CellRef, list[CellRef]] = {}
    for reader, rectangles in graph.reads.items():
        for rectangle in rectangles:
            if rectangle.size == 1:
                found.setdefault(CellRef(*rectangle[:3]), []).append(reader)
    return {cell: tuple(readers) for cell, readers in found.items()}


def _block(
    standing: Standing,
    shapes: Shapes,
    graph: Graph,
    candidates: Mapping[str, tuple[Candidate, ...]],
    timelines: Timelines,
    layout: Layout,
) -> tuple[Block, dict[str, tuple[Located, ...]]]:
    chain = standing.chain
    lines = Tracks(shapes, chain, timelines).lines()
    assembly = Assembly(shapes, graph, chain, candidates)
    picks = assembly.complete()
    scalars = {role: located(pick, layout) for role, pick in picks.items()}
    series = {role: located_series(line, layout) for role, line in lines.items()}
    ambiguous = {
        role: tuple(located(pick, layout) for pick in rivals)
        for role, rivals in assembly.ambiguous.items()
        if role not in scalars
    }
    name = f"{chain.top.sheet}: {shapes.naming.label(chain.top) or chain.top.address}"
    return Block(name=name, scalars=scalars, series=series, live=standing.live), ambiguous


def located(pick: Pick, layout: Layout) -> Located:
    """Turn a pick into a located scalar."""
    value = layout.value(pick.cell) if pick.cell else None
    unit = SCALAR_ROLES[pick.role]
    percent = unit == "rate" and value is not None and abs(value) > 1 and pick.role not in ("debt_to_equity", "upside")
    return Located(
        role=pick.role,
        cell=pick.cell,
        expression=None if pick.cell else "",
        value=value,
        unit=unit,
        factor=0.01 if percent else 1.0,
        confidence=confidence(pick.label, graph=pick.graph, identity=pick.identity),
        how=how(pick.label, graph=pick.graph, identity=pick.identity, derived=pick.cell is None),
        evidence=tuple(pick.evidence),
    )


def located_series(line: Line, layout: Layout) -> LocatedSeries:
    """Turn a line into a located series."""
    return LocatedSeries(
        role=line.role,
        cells=line.cells,
        values=tuple(layout.value(cell) for cell in line.cells),
        unit=SERIES_ROLES[line.role],
        confidence=confidence(line.label, graph=line.graph, identity=False),
        how=how(line.label, graph=line.graph, identity=False, derived=False),
        evidence=tuple(line.evidence),
        history=line.history,
        terminal=line.terminal,
        sign=1 if line.sign == 1 else -1 if line.sign == -1 else None,
    )


def confidence(label: float, *, graph: bool, identity: bool) -> float:
    """Return how sure a binding is, 0 to 1, from what speaks for it."""
    sure = 0.55 + 0.35 * min(label, 1.0) if not graph else 0.86 + 0.1 * min(label, 1.0)
    return round(min(0.99, sure + (0.03 if identity else 0.0)), 3)


def how(label: float, *, graph: bool, identity: bool, derived: bool) -> str:
    """Name what a binding rests on: ``label+graph+identity`` …"""
    if derived:
        return "derived"
    words = [word for word, given in (("label", label >= 0.4), ("graph", graph), ("identity", identity)) if given]
    return "+".join(words) or "graph"


__all__ = ["MARGIN", "locate"]
