"""Sheets built alike (cases, regions, years): a formula built unlike the same cell of its siblings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.formula import r1c1
from xlcheck.workbook import Book, Sheet

LEAST_FORMULAS = 12
"""Formulas below which two sheets are not called alike."""
ALIKE = 0.9
"""Share of labels, and of places with formulas, that sheets built alike have in common."""
OWN_WAY = 0.2
"""Share of a sheet's formulas from which it is built in a way of its own."""
_AT = r"R(?:\[-?\d+\]|\d+)?C(?:\[-?\d+\]|\d+)?"
_ELSEWHERE = re.compile(rf"('(?:[^']|'')+'|[\w.]+)!{_AT}(?::{_AT})?")
_NUMBER = re.compile(r"(?<![\w.\[\]])\d+(?:\.\d+)?(?![\w.\[\]])")

Place = tuple[int, int]


def odd_formulas(book: Book, chain: Collection[CellRef]) -> Iterator[Finding]:
    """Find formulas that differ from the same cell of at least two sheets that agree; one finding a row.

    What a formula takes from other sheets may differ (each case reads its own column), and so may its numbers. Only
    groups of sheets of which the headline reads one count.
    """
    used = {cell.sheet for cell in chain}
    for group in _groups(book):
        if not used & {sheet.name for sheet in group}:
            continue
        odd = _odd(group)
        for sheet in group:
            places = odd[sheet.name]
            if len(places) > OWN_WAY * len(_formulas(sheet)):
                continue
            others = " and ".join(other.name for other in group if other is not sheet)
            for row in sorted({place[0] for place in places}):
                cell = CellRef(sheet.name, *min(place for place in places if place[0] == row))
                message = f"{cell} is built unlike the same cell of {others}, whose formulas agree"
                found = sheet.cells[cell.row, cell.column].formula
                yield Finding(message=message, cell=cell, found=found, expected=places[cell.row, cell.column])


def _groups(book: Book) -> Iterator[list[Sheet]]:
    left = [sheet for sheet in book.sheets if len(_formulas(sheet)) >= LEAST_FORMULAS]
    while left:
        first, *rest = left
        group = [first, *(sheet for sheet in rest if _alike(first, sheet))]
        left = [sheet for sheet in rest if sheet not in group]
        if len(group) >= 3:
            yield group


def _alike(one: Sheet, other: Sheet) -> bool:
    return all(
        len(left & right) >= ALIKE * len(left | right)
        for left, right in ((_labels(one), _labels(other)), (set(_formulas(one)), set(_formulas(other))))
    )


def _labels(sheet: Sheet) -> set[tuple[Place, str]]:
    """Return the typed texts below the title, each with its place."""
    texts = {
        (place, cell.stored)
        for place, cell in sheet.cells.items()
        if cell.formula is None and isinstance(cell.stored, str)
    }
    top = min((place[0] for place, _ in texts), default=0)
    return {(place, text) for place, text in texts if place[0] > top}


def _formulas(sheet: Sheet) -> dict[Place, str]:
    return {place: cell.formula for place, cell in sheet.cells.items() if cell.formula is not None}


def _odd(group: list[Sheet]) -> dict[str, dict[Place, str]]:
    """Return sheet → place → the formula of its siblings, where they all agree and it does not."""
    forms = {sheet.name: _formulas(sheet) for sheet in group}
    odd: dict[str, dict[Place, str]] = defaultdict(dict)
    for place in set.intersection(*(set(found) for found in forms.values())):
        built = {name: _build(found[place], CellRef(name, *place)) for name, found in forms.items()}
        counted = Counter(built.values()).most_common()
        if len(counted) == 2 and counted[1][1] == 1 and counted[0][1] >= 2:
            name = next(name for name, form in built.items() if form == counted[1][0])
            model = next(other for other, form in built.items() if form == counted[0][0])
            odd[name][place] = forms[model][place]
    return odd


def _build(formula: str, at: CellRef) -> str:
    """Return how a formula is built: its own sheet's cells relative, other sheets by name, numbers left out."""
    return _NUMBER.sub("#", _ELSEWHERE.sub(r"\1!", r1c1(formula, at)))
