"""Properties of the workbook as a whole that make a result hard to trust: hidden, volatile or foreign drivers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from xlcheck.cells import CellRef, is_number
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, check
from xlcheck.checks.claims import SURE_LABEL, label_scores
from xlcheck.checks.headline import OUTPUTS, headline_chain
from xlcheck.checks.sheet import row_label
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book, Cell, Sheet

MOST_FINDINGS = 20
FAR_OFF = 8
"""Rows or columns between a lone cell and its next neighbour."""
_QUOTED_TEXT = re.compile(r'"(?:[^"]|"")*"')
_EXTERNAL = re.compile(r"\[\d+\]|\[[^\[\]]+\.xl\w+\]", re.IGNORECASE)
_VOLATILE = re.compile(r"\b(TODAY|NOW|RAND|RANDBETWEEN|RANDARRAY)\s*\(", re.IGNORECASE)


def _code(formula: str) -> str:
    """Return a formula without the texts in it, so that words inside them are not taken for functions."""
    return _QUOTED_TEXT.sub('""', formula)


@check("recompute.no-hidden-drivers", severity="warn")
def no_hidden_drivers(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """No input that a headline output depends on is hidden.

    What it holds:
        Typed numbers behind the headline outputs do not stand on hidden sheets, in hidden rows or columns, in white
        or empty-format text, or alone and unlabelled far off the page.
    Why it matters:
        A reader who cannot see an input cannot judge it.
    Accepted conventions:
        Hidden lists of texts, hidden calculations whose inputs are visible, and grouped rows that nothing depends on.
    Example:
        A very hidden sheet holds the haircut 0.93 that value per share is multiplied with.
    How to fix:
        Show the input, label it, and give its source.
    Units and tolerance:
        None.
    Source:
        FAST Standard 1.03 (transparency); ICAEW Financial Modelling Code.
    """
    chain = headline_chain(graph, roles)
    if not chain:
        yield NotApplicable(reason="no headline output of a valuation was found")
        return
    for sheet in book.sheets:
        reasons: dict[str, list[Cell]] = {}
        for cell in sheet.cells.values():
            why = _hidden(sheet, cell) if cell.formula is None and is_number(cell.stored) else None
            if why and cell.ref in chain:
                reasons.setdefault(why, []).append(cell)
        for cell in _off_the_page(sheet, recalc, graph, chain):
            reasons.setdefault("it stands alone, without a label, far from all other cells", []).append(cell)
        for why, cells in list(reasons.items())[:MOST_FINDINGS]:
            yield _hidden_finding(why, cells)


def _hidden_finding(why: str, cells: list[Cell]) -> Finding:
    first, others = cells[0], len(cells) - 1
    more = f" (and {others} more)" if others else ""
    return Finding(
        message=f"{first.ref}{more} drives the headline result and is hidden: {why}",
        cell=first.ref,
        found=float(first.stored),  # type: ignore[arg-type]
        expected="a visible, labelled input",
    )


def _hidden(sheet: Sheet, cell: Cell) -> str | None:
    if sheet.state != "visible":
        return "its sheet is hidden" if sheet.state == "hidden" else "its sheet is very hidden (not listed by Excel)"
    if cell.ref.row in sheet.hidden_rows:
        return f"row {cell.ref.row} is hidden"
    if cell.ref.column in sheet.hidden_columns:
        return "its column is hidden"
    return "its text is white or has an empty format" if cell.white else None


def _off_the_page(sheet: Sheet, recalc: Recalc, graph: Graph, chain: frozenset[CellRef]) -> Iterator[Cell]:
    """Yield typed numbers alone in their row and column and far from all others that a result depends on."""
    rows, columns = Counter(row for row, _ in sheet.cells), Counter(column for _, column in sheet.cells)
    for (row, column), cell in sheet.cells.items():
        alone = rows[row] == 1 and columns[column] == 1 and cell.formula is None and is_number(cell.stored)
        if not alone or max(row, column) <= FAR_OFF:
            continue
        near = [one for one in sheet.cells if max(abs(one[0] - row), abs(one[1] - column)) <= FAR_OFF]
        readers = graph.dependents(cell.ref)
        results = [ref for ref in readers if max(_as_output(ref, recalc), default=0.0) >= SURE_LABEL]
        if len(near) == 1 and (cell.ref in chain or results):
            yield cell


def _as_output(ref: CellRef, recalc: Recalc) -> list[float]:
    scores = label_scores(row_label(recalc, ref))
    return [scores[role] for role in OUTPUTS if role in scores]


@check("recompute.no-external-links", severity="warn")
def no_external_links(book: Book, graph: Graph, roles: Roles) -> Outcomes:
    """No formula behind the headline outputs reads another workbook.

    What it holds:
        Formulas and defined names that the headline outputs depend on stay inside the workbook.
    Why it matters:
        The other file is not part of the submission: its value can be stale, and nobody can trace it.
    Accepted conventions:
        Links that no headline output reads are named in the convention line only.
    Example:
        ``WACC!H14 =[2]Model!E133`` takes the tax rate from a file that was not handed in.
    How to fix:
        Copy the input into the workbook with its source.
    Units and tolerance:
        None.
    Source:
        FAST Standard (no links to other workbooks); ICAEW Financial Modelling Code.
    """
    linked = [cell.ref for cell in book.formula_cells() if _EXTERNAL.search(_code(cell.formula or ""))]
    names = [name.name.casefold() for name in book.names if _EXTERNAL.search(_code(name.formula))]
    for cell in book.formula_cells() if names else ():
        code = _code(cell.formula or "").casefold()
        if any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", code) for name in names):
            linked.append(cell.ref)
    chain = headline_chain(graph, roles)
    decisive = [ref for ref in linked if ref in chain or not chain]
    yield from _foreign(book, decisive)
    if linked and not decisive:
        yield Fits(convention=f"{len(linked)} links to other workbooks, none behind a headline output")


def _foreign(book: Book, refs: list[CellRef]) -> Iterator[Finding]:
    for ref in refs[:MOST_FINDINGS]:
        cell = book.get(ref)
        yield Finding(
            message=f"{ref} reads another workbook",
            cell=ref,
            found=cell.formula if cell else None,
            expected="an input inside the workbook",
        )


@check("recompute.no-volatile-drivers", severity="warn")
def no_volatile_drivers(book: Book, graph: Graph, roles: Roles) -> Outcomes:
    """The headline result does not change by itself.

    What it holds:
        No cell behind the headline outputs calls TODAY, NOW, RAND, RANDBETWEEN or RANDARRAY.
    Why it matters:
        A valuation dated TODAY() gives another value tomorrow: the figure in the report cannot be met again.
    Accepted conventions:
        Such functions in titles, time stamps and cells that no headline output reads; OFFSET and INDIRECT, which are
        recalculated often but give the same result.
    Example:
        ``DCF!C4 =TODAY()`` as the valuation date of the stub period.
    How to fix:
        Type the valuation date.
    Units and tolerance:
        None.
    Source:
        FAST Standard; Excel documentation of volatile functions.
    """
    chain = headline_chain(graph, roles)
    volatile = [cell for cell in book.formula_cells() if _VOLATILE.search(_code(cell.formula or ""))]
    decisive = [cell for cell in volatile if cell.ref in chain or not chain]
    for cell in decisive[:MOST_FINDINGS]:
        yield Finding(
            message=f"{cell.ref} changes by itself and moves the headline result",
            cell=cell.ref,
            found=cell.formula,
            expected="a typed date or number",
        )
    if volatile and not decisive:
        yield Fits(convention="volatile functions only where no headline output depends on them")


@check("recompute.calc-mode", severity="warn")
def calc_mode(book: Book) -> Outcomes:
    """The workbook calculates automatically and at full precision.

    What it holds:
        Calculation is not set to manual, and *precision as displayed* is off.
    Why it matters:
        Under manual calculation changed assumptions leave the results as they were; precision as displayed rounds every
        intermediate result for good.
    Accepted conventions:
        Automatic except for data tables (usual where tables are slow) and iterative calculation for declared loops.
    Example:
        3.33 · 3 shows 9.99 where two decimals are displayed and the setting is on.
    How to fix:
        Formulas → Calculation options → Automatic; File → Options → Advanced → clear *Set precision as displayed*.
    Units and tolerance:
        None.
    Source:
        Excel documentation of calculation settings; ECMA-376 calcPr.
    """
    if book.calc.mode == "manual":
        yield Finding(
            message="the workbook is set to manual calculation", cell=None, found="manual", expected="automatic"
        )
    if not book.calc.full_precision:
        yield Finding(
            message="precision as displayed is on: every result is rounded to what its format shows",
            cell=None,
            found="precision as displayed",
            expected="full precision",
        )
    if book.calc.mode == "autoNoTable":
        yield Fits(convention="automatic except for data tables")


@check("recompute.date-system", severity="warn")
def date_system(book: Book) -> Outcomes:
    """The workbook counts dates from 1900.

    What it holds:
        The 1904 date system is off.
    Why it matters:
        Dates copied between the two systems move by 1,462 days: four years of discounting.
    Accepted conventions:
        Differences of dates inside one workbook are right in both systems.
    Example:
        A valuation date of 31 December 2025 pasted into a 1900 workbook reads 30 December 2021.
    How to fix:
        File → Options → Advanced → clear *Use 1904 date system*, then check every typed date.
    Units and tolerance:
        Days.
    Source:
        Excel documentation; ECMA-376 workbookPr date1904.
    """
    if book.calc.date1904:
        yield Finding(
            message="the workbook counts dates from 1904", cell=None, found="1904 date system", expected="1900"
        )
