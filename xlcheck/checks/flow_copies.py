"""Whether a line that stands in two places has one set of values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from xlcheck.cells import DEFAULT_TOLERANCE, CellRef
from xlcheck.checking import Finding, NotApplicable, Outcomes, check
from xlcheck.checks.flow_terms import FLOW_KINDS, kind_of_label
from xlcheck.checks.sheet import first_text, row_label, timeline_of
from xlcheck.recompute import Recalc
from xlcheck.roles import LocatedSeries
from xlcheck.workbook import Book

LEAST_YEARS = 3
"""Fewer years that agree make two lines of the same name, not one line in two places."""


@check("flow.same-quantity-two-values")
def same_quantity_two_values(book: Book, recalc: Recalc, fcff: LocatedSeries) -> Outcomes:
    """A line that stands in two places has the same values in both.

    What it holds:
        A year typed into a line of the flow's sheet equals the line of the same label on another sheet, where the two
        are dated alike and agree in most years.
    Why it matters:
        A copy typed from an older run values another company than the one the statements show.
    Accepted conventions:
        The same word for another scenario, segment or unit (then few years agree); signs turned for presentation.
    Example:
        Revenue 2028 is 1,191 in the DCF and 1,204 in the income statement; the other years agree.
    How to fix:
        Link the copy to its source.
    Units and tolerance:
        The unit of the sheet; 1e-6 of the larger value.
    Source:
        FAST Standard (one source for each number).
    """
    home = fcff.cells[0].sheet
    lines = {sheet.name: _labelled_lines(recalc, sheet.name, book) for sheet in book.sheets}
    pairs = 0
    for label, own in lines.get(home, {}).items():
        for other, found in lines.items():
            if other == home or label not in found:
                continue
            years = sorted(own.keys() & found[label].keys())
            equal = [year for year in years if _agree(recalc, own[year], found[label][year])]
            pairs += bool(equal)
            odd = [year for year in years if year not in equal and _is_typed(book, own[year])]
            if odd and len(equal) >= LEAST_YEARS and len(odd) * 3 <= len(years):
                one, two = own[odd[0]], found[label][odd[0]]
                yield Finding(
                    message=f"{one} and {two} are the same line in {odd[0]} with two values",
                    cell=one,
                    found=recalc.number(one),
                    expected=recalc.number(two),
                )
    if not pairs:
        yield NotApplicable(reason="no line of the flow's sheet stands on another sheet as well")


def _is_typed(book: Book, ref: CellRef) -> bool:
    cell = book.get(ref)
    return cell is not None and cell.formula is None


def _labelled_lines(recalc: Recalc, sheet: str, book: Book) -> Mapping[str, Mapping[int, CellRef]]:
    """Return label to year to cell, for lines of amounts whose label stands once on the sheet."""
    found: dict[str, dict[int, CellRef]] = {}
    twice: set[str] = set()
    timeline = timeline_of(recalc, sheet)
    cells = book.sheet(sheet)
    rows: dict[int, dict[int, CellRef]] = defaultdict(dict)
    for cell in cells.cells.values() if cells else ():
        year = timeline.year(cell.ref) if timeline.across else None
        if year is not None and recalc.number(cell.ref) is not None:
            rows[cell.ref.row].setdefault(year, cell.ref)
    for line in rows.values():
        label = first_text(row_label(recalc, next(iter(line.values())))).casefold()
        twice |= {label} & found.keys()
        if label and kind_of_label(label) in FLOW_KINDS:
            found[label] = line
    return {label: line for label, line in found.items() if label not in twice}


def _agree(recalc: Recalc, one: CellRef, two: CellRef) -> bool:
    a, b = recalc.number(one), recalc.number(two)
    return a is not None and b is not None and DEFAULT_TOLERANCE.allows(abs(a), abs(b))
