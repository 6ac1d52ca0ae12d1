"""Whether sums cover the cells they are meant to cover, each once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from xlcheck import dcf
from xlcheck.cells import CellRef, RangeRef, is_number
from xlcheck.checking import Finding, Outcomes, check
from xlcheck.checks import memory, valuation
from xlcheck.checks.headline import headline_chain
from xlcheck.checks.shapes import forms, shape_of
from xlcheck.checks.sheet import LONGEST_LABEL, timeline_of
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Call, Node, Number, Range, Unary
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book

MOST_FINDINGS = 20
LEAST = 3
"""Ranges of fewer cells are chosen, not filled."""
_SUMMING = re.compile(r"\b(?:SUM|NPV|SUMPRODUCT|XNPV)\s*\(", re.IGNORECASE)
_SUMS = frozenset({"SUM", "NPV", "SUMPRODUCT", "XNPV"})


class Sum(NamedTuple):
    """A range that a formula adds up."""

    cell: CellRef
    area: RangeRef
    function: str

    @property
    def across(self) -> bool:
        """Whether the range is one row."""
        return self.area.first_row == self.area.last_row


@check("recompute.range-coverage")
def range_coverage(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Sums cover each like cell once.

    What it holds:
        A range that is summed or discounted does not stop short of a neighbour that is filled by the same formula in
        the next dated or counted period (or of a filled line between range and total), and holds no subtotal of its
        own cells.
    Why it matters:
        A line or a year added outside the range is shown and not counted; a subtotal inside it is counted twice.
    Accepted conventions:
        A terminal column with a formula of its own, stages summed apart, moving windows, SUBTOTAL over SUBTOTAL, and a
        sum of everything halved on purpose.
    Example:
        ``DCF!B14 =SUM(C12:F12)`` while G12 holds the last year's present value.
    How to fix:
        Extend the range to the last like cell, or add up the subtotals only.
    Units and tolerance:
        The unit of the summed cells.
    Source:
        FAST Standard; Panko, spreadsheet error taxonomy (range errors).
    """
    chain = headline_chain(graph, roles)
    sums = [one for ref, node in trees(recalc).matching(_SUMMING) for one in _sums(ref, node)]
    starts = {(one.area.sheet, one.area.first_row, one.area.first_column) for one in sums}
    found = 0
    for one in sums:
        if chain and one.cell not in chain:
            continue
        for finding in (
            *_short(book, recalc, graph, one, starts),
            *_late(book, recalc, graph, one, roles),
            *_doubled(recalc, one),
        ):
            found += 1
            if found <= MOST_FINDINGS:
                yield finding


def _sums(ref: CellRef, node: Node, halved: bool = False) -> Iterator[Sum]:
    match node:
        case Binary(operator="/", left=left, right=Number(value=2.0)):
            yield from _sums(ref, left, halved=True)
        case Binary(left=left, right=right):
            yield from _sums(ref, left, halved)
            yield from _sums(ref, right, halved)
        case Unary(operand=operand):
            yield from _sums(ref, operand, halved)
        case Call(function=function, arguments=arguments):
            for argument in arguments:
                if isinstance(argument, Range) and function in _SUMS and not halved:
                    area = argument.range
                    if (area.first_row == area.last_row) != (area.first_column == area.last_column):
                        yield Sum(ref, area, function)
                elif argument is not None:
                    yield from _sums(ref, argument, halved)


def _short(book: Book, recalc: Recalc, graph: Graph, one: Sum, starts: set[tuple[str, int, int]]) -> Iterator[Finding]:
    """Yield the finding of a range that stops before a like cell."""
    cells = list(one.area.cells())
    beside = cells[-1].offset(0, 1) if one.across else cells[-1].offset(1, 0)
    if beside == one.cell or not is_number(recalc.value(beside)) or beside in graph.precedents(one.cell):
        return
    if (beside.sheet, beside.row, beside.column) in starts or _is_window(recalc, one):
        return
    dated = len(cells) >= LEAST and _is_next_period(book, recalc, cells[-1], beside, across=one.across)
    inserted = _is_inserted(book, graph, one, cells, beside) and recalc.number(beside) != 0
    if inserted or (dated and _is_like(recalc, cells, beside)):
        yield _short_finding(recalc, one, beside)


def _late(book: Book, recalc: Recalc, graph: Graph, one: Sum, roles: Roles) -> Iterator[Finding]:
    """Yield the finding of an NPV that begins after the first forecast flow: what that flow rests on is forecast.

    Only where the terminal value is brought back one year more than the NPV has flows: a model that is valued at the
    end of its first forecast year leaves that year out of both.
    """
    first = next(one.area.cells())
    back, position = ((0, -1), first.column) if one.across else ((-1, 0), first.row)
    if one.function != "NPV" or position < 2 or one.area.size < LEAST:
        return
    before = first.offset(*back)
    formulas = trees(recalc)
    if not is_number(recalc.value(before)) or before in memory.above(graph, [one.cell]) or before not in formulas:
        return
    cells = [before, *one.area.cells()][:3]
    same = forms([shape_of(formulas.get(cell)) for cell in cells])
    if any(form != same[0] for form in same) or not _is_next_period(book, recalc, before, first, across=one.across):
        return
    if _made_alike(recalc, graph, before, back) and _years_of_terminal(roles, recalc, graph) == one.area.size + 1:
        yield Finding(
            message=f"{one.cell} discounts {one.area.address} and leaves out the flow before it, {before}",
            cell=one.cell,
            found=one.area.address,
            expected=f"a range that begins with {before.address}",
        )


def _years_of_terminal(roles: Roles, recalc: Recalc, graph: Graph) -> int | None:
    """Return the whole years that the terminal value is brought back, None where that is not known or not whole."""
    weighed, rate = valuation.weights(roles, recalc, graph), roles.get("wacc")
    weight = weighed.terminals[-1][1] if weighed is not None and weighed.terminals else None
    years = dcf.exponent_of(weight, rate.amount) if weight and rate is not None and rate.amount else None
    return round(years) if years is not None and abs(years - round(years)) < 0.02 else None


def _made_alike(recalc: Recalc, graph: Graph, before: CellRef, back: tuple[int, int]) -> bool:
    """Say whether each number of a period that a flow rests on is typed, or computed, as in the period after it."""
    inside = {
        cell
        for cell in memory.above(graph, [before])
        if cell.sheet == before.sheet and (cell.row == before.row if back[0] else cell.column == before.column)
    }
    after = [cell.offset(-back[0], -back[1]) for cell in inside]
    formulas = trees(recalc)
    return len(inside) > 1 and all(
        (cell in formulas) == (other in formulas) for cell, other in zip(inside, after, strict=True)
    )


def _is_window(recalc: Recalc, one: Sum) -> bool:
    """Say whether the formula is filled beside itself: then its range moves or grows along the line."""
    formulas = trees(recalc)
    own = shape_of(formulas[one.cell]).text
    steps = ((0, -1), (0, 1)) if one.across else ((-1, 0), (1, 0))
    beside = [one.cell.offset(*step) for step in steps if one.cell.row + step[0] and one.cell.column + step[1]]
    return any(other in formulas and shape_of(formulas[other]).text == own for other in beside)


def _is_inserted(book: Book, graph: Graph, one: Sum, cells: list[CellRef], beside: CellRef) -> bool:
    """Say whether a line stands between a range and its total below, in the same format, and feeds nothing."""
    total = one.cell
    if one.across or total.sheet != beside.sheet or total.column != beside.column or total.row <= beside.row:
        return False
    last, added = book.get(cells[-1]), book.get(beside)
    alike = last is not None and added is not None and last.number_format == added.number_format
    kinds = last is not None and added is not None and (last.formula is None) == (added.formula is None)
    return alike and kinds and total.row == beside.row + 1 and not graph.dependents(beside)


def _is_like(recalc: Recalc, cells: list[CellRef], beside: CellRef) -> bool:
    """Say whether the neighbour holds the formula that the last cells of the range hold, filled."""
    formulas = trees(recalc)
    nodes = [formulas.get(ref) for ref in (*cells[-2:], beside)]
    if any(node is None for node in nodes):
        return False
    found = forms([shape_of(node) for node in nodes])
    return all(form == found[0] for form in found)


def _is_next_period(book: Book, recalc: Recalc, last: CellRef, beside: CellRef, *, across: bool) -> bool:
    """Say whether the headings date the neighbour one year, or one counted period, after the end of the range."""
    if book.sheet(last.sheet) is None:
        return False
    timeline = timeline_of(recalc, last.sheet)
    one, two = timeline.year(last), timeline.year(beside)
    if one is not None or two is not None:
        return one is not None and two is not None and two == one + 1
    return _is_counted(recalc, last, across=across)


def _is_counted(recalc: Recalc, last: CellRef, *, across: bool) -> bool:
    """Say whether a heading counts 1, 2, 3 over the end of the range and its neighbour."""
    headings = range(1, last.row) if across else range(1, last.column)
    for line in headings:
        places = [CellRef(last.sheet, line, last.column + step) for step in (-1, 0, 1)]
        if not across:
            places = [CellRef(last.sheet, last.row + step, line) for step in (-1, 0, 1)]
        before, here, after = (_count(recalc, ref) if ref.row > 0 and ref.column > 0 else None for ref in places)
        if before is not None and here is not None and after is not None and before + 1 == here == after - 1 >= 1:
            return True
    return False


_COUNTED = re.compile(
    r"\W*(?:year|yr|period|y|p|t|n|jahr|an|année|año|ano|anno|第|期间)?\W*(\d{1,2})\W*(?:年|期|年目|[EFP])?\W*",
    re.IGNORECASE,
)


def _count(recalc: Recalc, ref: CellRef) -> float | None:
    """Return the number of a counted heading: 3, ``Year 3``, ``t+3``, ``第3年``."""
    value = recalc.value(ref)
    match = _COUNTED.fullmatch(value[:LONGEST_LABEL]) if isinstance(value, str) else None
    return float(match[1]) if match is not None else recalc.number(ref)


def _short_finding(recalc: Recalc, one: Sum, beside: CellRef) -> Finding:
    value = recalc.number(beside)
    return Finding(
        message=f"{one.cell} covers {one.area.address} and leaves out {beside} ({value:,.6g}), which continues it",
        cell=one.cell,
        found=one.area.address,
        expected=f"a range that includes {beside.address}",
    )


def _doubled(recalc: Recalc, one: Sum) -> Iterator[Finding]:
    """Yield the subtotals inside a summed range whose own cells are summed too."""
    if one.function != "SUM":
        return
    formulas = trees(recalc)
    inside = set(one.area.cells()) if one.area.size <= 2000 else set()
    for ref in one.area.cells() if inside else ():
        node = formulas.get(ref)
        if not (isinstance(node, Call) and node.function == "SUM"):
            continue
        parts = [argument.range for argument in node.arguments if isinstance(argument, Range)]
        covered = [cell for part in parts if part.size <= 2000 for cell in part.cells()]
        counted = [cell for cell in covered if is_number(recalc.value(cell))]
        if len(counted) > 1 and all(cell in inside for cell in covered):
            yield Finding(
                message=f"{one.cell} counts {ref} and the cells it already sums ({parts[0].address})",
                cell=one.cell,
                found=recalc.number(one.cell),
                expected=f"{ref.address} counted once",
            )
