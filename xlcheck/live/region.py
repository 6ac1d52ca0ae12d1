"""The part of a model that its loops run through, loaded apart so that iterating them is cheap."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Clock, Engine, Unsolved
from xlcheck.engines.package import Content, Draft, write_package
from xlcheck.graph import Graph
from xlcheck.normalise import external_sheets, formula_of, workbook_names
from xlcheck.normalise.rewrite import Rewriter

Values = Mapping[CellRef, Scalar | Unsolved]


class LoopRegion:
    """All cells between torn cells as formulas, what they read from outside as constants."""

    def __init__(
        self, engine: Engine, clock: Clock, rewriter: Rewriter, graph: Graph, torn: Mapping[CellRef, CellRef]
    ) -> None:
        """`torn`: torn cell to the place of its formula on an added sheet."""
        self._torn = torn
        self.inside = frozenset(graph.descendants(torn) & graph.ancestors(torn)) | frozenset(torn)
        self.dynamic = not self.inside.isdisjoint(graph.dynamic)
        """True if cells inside compute what they read: the region is then not known and must not be used."""
        read = {ref for cell in self.inside for ref in graph.precedents(cell)}
        self.outside = sorted(read - self.inside)
        self._outside_values: dict[CellRef, Scalar] = {}
        draft = _draft(rewriter, self.inside, torn)
        self._session = engine.open(write_package(draft, engine.name), clock)

    def look_outside(self, values: Values) -> bool:
        """Take the values that the region reads from outside; say whether all are known."""
        self._outside_values = {ref: value for ref, value in values.items() if not isinstance(value, Unsolved)}
        return len(self._outside_values) == len(values)

    def step(self, held: Mapping[CellRef, Scalar], torn: Iterable[CellRef]) -> dict[CellRef, Scalar | Unsolved]:
        """Return what the formulas of these torn cells give with the torn cells (and any others) held."""
        places = {ref: self._torn[ref] for ref in torn}
        found = self._session.what_if({**self._outside_values, **held}, list(places.values()))
        return {ref: found[place] for ref, place in places.items()}


def _draft(rewriter: Rewriter, inside: Collection[CellRef], torn: Mapping[CellRef, CellRef]) -> Draft:
    book = rewriter.book
    sheets: dict[str, dict[tuple[int, int], Content]] = {sheet.name: {} for sheet in book.sheets}
    for ref in inside:
        cell = book.get(ref)
        if cell is None or cell.formula is None:
            continue
        if ref in torn:
            place = torn[ref]
            sheets.setdefault(place.sheet, {})[place.row, place.column] = replace(
                formula_of(rewriter, cell, pinned=True), array=None
            )
        else:
            sheets[ref.sheet][ref.row, ref.column] = formula_of(rewriter, cell)
    return Draft(
        sheets={**sheets, **external_sheets(rewriter)},
        names=workbook_names(rewriter),
        tables=book.tables,
        date1904=book.calc.date1904,
        hidden_rows={sheet.name: sheet.hidden_rows for sheet in book.sheets if sheet.hidden_rows},
    )
