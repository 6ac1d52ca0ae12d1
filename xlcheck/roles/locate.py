"""Finding the roles of a valuation in a workbook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from xlcheck.cells import CellRef
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Block, Located, Roles
from xlcheck.roles.anchors import Anchors
from xlcheck.roles.assemble import Assembly
from xlcheck.roles.basis import Bases
from xlcheck.roles.candidates import Candidate, find_candidates
from xlcheck.roles.given import Given, bound_by_grader
from xlcheck.roles.graft import Graft, typed_value_per_share
from xlcheck.roles.grids import with_grids
from xlcheck.roles.headline import Standing, find_valuations, tied
from xlcheck.roles.identities import mark
from xlcheck.roles.layout import Layout, SheetLayout, read_layout
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.roles.naming import Naming
from xlcheck.roles.picks import Chain, Line, Pick
from xlcheck.roles.rows import Rows
from xlcheck.roles.series import Tracks
from xlcheck.roles.shapes import Shapes
from xlcheck.roles.timeline import Timelines, find_timelines
from xlcheck.roles.units import Valuer
from xlcheck.workbook import Book

MOST_ALTERNATES = 9
"""Valuations that are reported at most, the headline among them."""


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
    candidates = find_candidates(layout, lexicon)
    valuations = find_valuations(shapes, candidates, _readers(graph))
    search = Search(shapes, graph, candidates, timelines, Valuer(layout, Bases(layout)))
    given = bound_by_grader(binding or {}, layout)
    return with_grids(recalc, graph, _roles(search, valuations, given))


def _roles(search: Search, valuations: list[Standing], given: Given) -> Roles:
    """Return the roles of the headline, of all that tie as such, or those that the grader names."""
    if not valuations:
        return Roles(scalars=given.scalars, series=given.series, ambiguous={})
    first = search.whole(valuations[0], [one.chain for one in valuations[1:] if one.role != "value_per_share"])
    others = tuple(search.outline(standing) for standing in valuations[1:MOST_ALTERNATES])
    rivals = [one for one in valuations[1:] if tied(valuations[0], one, search.shapes)]
    if rivals and "value_per_share" not in given.scalars:
        blocks = (first.block, *others)
        shared, doubtful = apart((first.block, *(search.whole(one).block for one in rivals)))
        return Roles(
            scalars={**shared.scalars, **given.scalars},
            series={**shared.series, **given.series},
            ambiguous={**first.ambiguous, **doubtful},
            alternates=blocks,
            headline_ambiguous=True,
        )
    return Roles(
        scalars={**first.block.scalars, **given.scalars},
        series={**first.block.series, **given.series},
        ambiguous={role: some for role, some in first.ambiguous.items() if role not in given.scalars},
        alternates=others,
        headline=first.block.name,
    )


def _readers(graph: Graph) -> Mapping[CellRef, tuple[CellRef, ...]]:
    found: dict[CellRef, list[CellRef]] = {}
    for reader, rectangles in graph.reads.items():
        for rectangle in rectangles:
            if rectangle.size == 1:
                found.setdefault(CellRef(*rectangle[:3]), []).append(reader)
    return {cell: tuple(readers) for cell, readers in found.items()}


@dataclass(frozen=True)
class Found:
    """A valuation with its roles, and those that cannot be told apart."""

    block: Block
    ambiguous: dict[str, tuple[Located, ...]]


@dataclass(frozen=True)
class Search:
    """What is needed to turn a standing valuation into a block of located roles."""

    shapes: Shapes
    graph: Graph
    candidates: Mapping[str, tuple[Candidate, ...]]
    timelines: Timelines
    valuer: Valuer

    def whole(self, standing: Standing, others: Iterable[Chain] = ()) -> Found:
        """Return a valuation with every role that can be found for it, `others` filling in where it is cut short."""
        chain = standing.chain
        Graft(self.shapes, self.candidates, chain).mend(others)
        Anchors(self.shapes, self.candidates, chain).hold()
        if standing.role != "value_per_share":
            typed = typed_value_per_share(chain, self.candidates, self.shapes)
            if typed is not None:
                chain.put(typed)
        lines = Tracks(Rows(self.shapes, chain, self.timelines), self.graph.ancestors([chain.top])).lines()
        assembly = Assembly(self.shapes, self.graph, chain, self.candidates)
        picks = assembly.complete()
        lines = self._by_rate(lines, picks)
        if "fcfe" in lines and "fcff" not in lines:
            self._to_equity(picks)
        mark(picks, lines, self.valuer.layout)
        block = Block(
            name=self._name(chain),
            scalars=self.valuer.scalars(picks),
            series=self.valuer.series(_in_time(lines, self.valuer.layout)),
            live=standing.live,
        )
        doubtful = {role: rivals for role, rivals in assembly.ambiguous.items() if role not in picks}
        return Found(block, {role: tuple(map(self.valuer.scalar, rivals)) for role, rivals in doubtful.items()})

    @staticmethod
    def _by_rate(lines: Mapping[str, Line], picks: Mapping[str, Pick]) -> Mapping[str, Line]:
        """Flows at a cost of equity that no label calls flows to the firm are flows to equity: excess returns."""
        flows, rate = lines.get("fcff"), picks.get("cost_of_equity")
        if flows is None or rate is None or not rate.graph or "wacc" in picks or flows.label >= 0.5:
            return lines
        return {**{role: line for role, line in lines.items() if role != "fcff"}, "fcfe": replace(flows, role="fcfe")}

    @staticmethod
    def _to_equity(picks: dict[str, Pick]) -> None:
        """Flows to equity have no enterprise value: what their sum makes is equity, unless its label insists."""
        whole = picks.get("enterprise_value")
        if whole is not None and whole.label < 0.6:
            del picks["enterprise_value"]

    def outline(self, standing: Standing) -> Block:
        """Return a valuation with the roles that its own formulas lead to."""
        chain = standing.chain
        return Block(name=self._name(chain), scalars=self.valuer.scalars(chain.picks), series={}, live=standing.live)

    def _name(self, chain: Chain) -> str:
        return f"{chain.top.sheet}: {self.shapes.naming.label(chain.top) or chain.top.address}"


_YEAR = re.compile(r"(?:19|20)\d\d")


def _year(sheet: SheetLayout, cell: CellRef, layout: Layout, *, above: bool) -> int | None:
    """Return the year that a cell shows, or that the nearest text above it names."""
    over = sheet.text_above(cell.row, cell.column) if above else None
    text = over[1] if over else sheet.texts.get((cell.row, cell.column)) or f"{layout.value(cell) or 0:.0f}"
    match = _YEAR.search(text)
    return int(match[0]) if match else None


def _in_time(lines: Mapping[str, Line], layout: Layout) -> Mapping[str, Line]:
    """Put the lines of a sheet whose years stand latest first into the order of time."""
    flows = lines.get("fcff") or lines.get("fcfe")
    for line in (lines.get("period"), lines.get("discount_period"), flows):
        sheet = layout.by_name.get(line.cells[0].sheet) if line is not None else None
        if line is None or sheet is None or len(line.cells) < 3:
            continue
        years = [_year(sheet, cell, layout, above=line is flows) for cell in line.cells]
        if None not in years:
            break
    else:
        return lines
    if any(before - after != 1 for before, after in pairwise(year for year in years if year is not None)):
        return lines
    return {
        role: replace(line, cells=line.cells[::-1]) if line.cells[0].sheet == sheet.name else line
        for role, line in lines.items()
    }


def apart(blocks: tuple[Block, ...]) -> tuple[Block, dict[str, tuple[Located, ...]]]:
    """Split the roles of valuations of equal standing into those they share and those they do not."""
    first = blocks[0]
    roles = {role for block in blocks for role in block.scalars}
    cells = {role: [block.scalars[role] for block in blocks if role in block.scalars] for role in roles}
    shared = {
        role: found[0]
        for role, found in cells.items()
        if len(found) == len(blocks) and len({one.cell for one in found}) == 1 and found[0].cell is not None
    }
    doubtful = {role: tuple(found) for role, found in sorted(cells.items()) if role not in shared}
    return Block(name=first.name, scalars=shared, series={}, live=first.live), doubtful
