"""Whether a formula reads the period it stands in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import Finding, NotApplicable, Outcomes, check
from xlcheck.checks.basis_drivers import misread_drivers
from xlcheck.checks.flow_terms import items_of, kind_of_label, line_label
from xlcheck.checks.lines import Break, Line, lines_of, lone_breaks
from xlcheck.checks.shapes import Slot
from xlcheck.checks.sheet import timeline_of
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Call, Node, Ref, Unary, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book

LEAST_SHIFTED = 3
"""So many neighbours must be shifted alike: one alone is a boundary."""
_OPENING = re.compile(
    r"open|begin|prior|previous|last year|brought|b/f|start|lag|期初|年初|上年|上期|前期|期首|anfang|vorjahr|eröffnung",
    re.IGNORECASE,
)
FLOWS = frozenset(
    {"ebit", "ebitda", "taxes", "nopat", "depreciation", "capex", "change_in_nwc", "revenue", "fcff", "fcfe"}
)
TOTALS = ("fcff", "fcfe", "nopat", "ebit", "pv_fcff")
"""Lines whose formulas add or take lines of the same year."""


class Shift(NamedTuple):
    """A reference of a dated cell to another dated cell."""

    cell: CellRef
    target: CellRef
    years: int
    """Year of the target less the year of the cell."""


@check("basis.period-alignment")
def period_alignment(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Formulas read the period they stand in.

    What it holds:
        A line of the flow that takes its amounts from another line (by a link, or times a rate) takes each year from
        the same year.
    Why it matters:
        A row linked one column off shows plausible numbers, each of the year before, and drops the last year.
    Accepted conventions:
        Changes and growth from the year before, opening balances and lines named so, roll-forwards, averages of two
        years, rates and counts, first years that read the last actual, and cells without dated headings.
    Example:
        Capex of 2026 ``=-Segments!G29``, headed 2025, and so on to the last year.
    How to fix:
        Move the references by one period.
    Units and tolerance:
        Whole years.
    Source:
        FAST Standard 3.03 (column alignment across sheets).
    """
    dated = False
    chain = _flow_lines(recalc, roles)
    sheets = {ref.sheet for ref in chain}
    for sheet in book.sheets:
        if chain and sheet.name not in sheets:
            continue
        for across in (True, False):
            for line in lines_of(recalc, sheet, across=across):
                if timeline_of(recalc, sheet.name).runs_down(line.cells[-1]) == across:
                    continue
                shifts = list(_shifts(recalc, line))
                dated = dated or bool(shifts)
                wrong = _shifted_together(recalc, shifts) if not chain or set(line.cells) & chain else []
                if wrong:
                    yield _finding(book, wrong)
        for one in lone_breaks(recalc, sheet, across=True):
            if _is_shifted(one) and (not chain or one.cells[0] in chain):
                dated = True
                yield _single_finding(book, one)
    across_lines = (line for sheet in book.sheets for line in lines_of(recalc, sheet, across=True))
    for cells, unread in misread_drivers(recalc, graph, (one for one in across_lines if set(one.cells) & chain)):
        dated = True
        yield _driver_finding(cells, unread)
    for reader, shifts in _terms_apart(recalc, roles):
        dated = True
        yield _finding(book, shifts, reader)
    for one in _last_shifted(book, recalc, roles):
        dated = True
        yield _single_finding(book, one)
    if not dated:
        yield NotApplicable(reason="no dated line reads another dated line")


def _driver_finding(cells: Sequence[CellRef], unread: CellRef) -> Finding:
    area = RangeRef(cells[0].sheet, cells[0].row, cells[0].column, cells[-1].row, cells[-1].column)
    message = f"{cells[0]} and the cells after it read the driver of another year; {unread}, of their last, is not read"
    return Finding(message=message, cell=area, found="another year", expected="the driver of the same year")


def _last_shifted(book: Book, recalc: Recalc, roles: Roles) -> Iterator[Break]:
    """Yield the last present value where it takes the factor of the year before although its own year has one."""
    present = roles.series.get("pv_fcff")
    sheet = book.sheet(present.cells[0].sheet) if present is not None else None
    for line in lines_of(recalc, sheet, across=True) if sheet is not None else ():
        places = [line.cells.index(cell) for cell in present.cells if cell in line.cells] if present is not None else []
        if len(places) <= LEAST_SHIFTED:
            continue
        *before, last = places
        pattern = line.forms[before[-1]]
        own = [recalc.number(cell.offset(0, 1)) for cell in _read(line.nodes[before[-1]])]
        if pattern is not None and None not in own and all(line.forms[place] == pattern for place in before):
            one = Break(line, last, last + 1, pattern)
            yield from (one,) if _is_shifted(one) else ()


def _read(node: Node | None) -> list[CellRef]:
    parts = walk(node) if node is not None else ()
    return [part.cell for part in parts if isinstance(part, Ref) and not part.absolute_column]


def _is_shifted(one: Break) -> bool:
    """Say whether a single cell fills the formula of its line with a reference of the period before or after."""
    form = one.line.forms[one.start]
    if one.stop - one.start != 1 or form is None or form.text != one.pattern.text:
        return False
    changed = [(a, b) for a, b in zip(form.slots, one.pattern.slots, strict=True) if a != b]
    return bool(changed) and all(_is_a_period_off(a, b) for a, b in changed)


def _is_a_period_off(one: Slot, other: Slot) -> bool:
    if one.place != other.place or one.place == "#" or len(one.numbers) != 2:
        return False
    return one.numbers[0] == other.numbers[0] and abs(one.numbers[1] - other.numbers[1]) == 1


def _single_finding(book: Book, one: Break) -> Finding:
    held, model = book.get(one.cells[0]), book.get(one.model)
    return Finding(
        message=f"{one.cells[0]} reads the period beside its own, unlike its line ({one.model})",
        cell=one.cells[0],
        found=held.formula if held else None,
        expected=f"the formula of {one.model}, filled: {model.formula if model else ''}",
    )


def _flow_lines(recalc: Recalc, roles: Roles) -> set[CellRef]:
    """Return the cells of the lines that the flow is made of, opened twice."""
    found: set[CellRef] = set()
    for name, located in roles.series.items():
        if name in FLOWS:
            found.update(located.cells)
    for name in ("fcff", "fcfe"):
        for cell in roles.series[name].cells if name in roles.series else ():
            for item in items_of(recalc, roles, cell):
                if item.cell is not None:
                    found.add(item.cell)
                    found.update(inner.cell for inner in items_of(recalc, roles, item.cell) if inner.cell is not None)
    return found


def _shifts(recalc: Recalc, line: Line) -> Iterator[Shift]:
    """Yield, for each formula of a line that reads one dated amount, how many years apart the two stand."""
    for cell, node in zip(line.cells, line.nodes, strict=True):
        own = timeline_of(recalc, cell.sheet).year(cell)
        if node is None or own is None or not _is_taken_over(node):
            continue
        dated = [
            (one.cell, year)
            for one in walk(node)
            if isinstance(one, Ref)
            and recalc.book.sheet(one.cell.sheet) is not None
            and (year := timeline_of(recalc, one.cell.sheet).year(one.cell)) is not None
            and not _is_own_line(line, one.cell)
        ]
        amounts = [(target, year) for target, year in dated if _is_amount(recalc, target)]
        if len(amounts) == 1 and (len(dated) == 1 or _is_own_share(recalc, cell, amounts[0][0], own, dated)):
            yield Shift(cell, amounts[0][0], amounts[0][1] - own)


def _is_own_share(
    recalc: Recalc, cell: CellRef, amount: CellRef, own: int, dated: Sequence[tuple[CellRef, int]]
) -> bool:
    """Say whether an amount of revenue is multiplied by a rate of the formula's own year."""
    rates = [(target, year) for target, year in dated if target != amount]
    labels = " ".join(line_label(recalc, target) for target, _ in rates)
    plain = all(year == own for _, year in rates) and not _OPENING.search(labels)
    return plain and kind_of_label(line_label(recalc, amount)) == "revenue"


def _is_own_line(line: Line, ref: CellRef) -> bool:
    first = line.cells[0]
    return ref.sheet == first.sheet and (ref.row == first.row if line.across else ref.column == first.column)


def _is_taken_over(node: Node) -> bool:
    """Say whether a formula is a product of references, signs and literals, as a link or an amount times a rate."""
    match node:
        case Ref():
            return True
        case Unary(operand=operand):
            return _is_taken_over(operand)
        case Binary(operator="*" | "/", left=left, right=right):
            return all(isinstance(side, Ref) or _is_factor(side) or _is_taken_over(side) for side in (left, right))
        case Call(function="ROUND", arguments=(inner, *_)) if inner is not None:
            return _is_taken_over(inner)
        case _:
            return False


def _is_factor(node: Node) -> bool:
    return not any(isinstance(one, Ref) and not one.absolute_column for one in walk(node))


def _is_amount(recalc: Recalc, ref: CellRef) -> bool:
    value = recalc.number(ref)
    return value is not None and abs(value) > 1.5 and kind_of_label(line_label(recalc, ref)) not in ("nwc", "balance")


def _shifted_together(recalc: Recalc, shifts: Sequence[Shift]) -> list[Shift]:
    """Return the shifts of a line where neighbours all read another year of one line of flows."""
    apart = Counter(shift.years for shift in shifts)
    years, count = apart.most_common(1)[0] if apart else (0, 0)
    wrong = [shift for shift in shifts if shift.years == years]
    if abs(years) != 1 or count < LEAST_SHIFTED or count * 4 < 3 * len(shifts):
        return []
    first = wrong[0]
    labels = (line_label(recalc, first.cell), line_label(recalc, first.target))
    if any(_OPENING.search(label) for label in labels) or kind_of_label(labels[1]) not in FLOWS:
        return []
    targets = [shift.target for shift in wrong]
    one_line = len({(t.sheet, t.row) for t in targets}) == 1 or len({(t.sheet, t.column) for t in targets}) == 1
    return wrong if one_line else []


def _terms_apart(recalc: Recalc, roles: Roles) -> Iterator[tuple[str, list[Shift]]]:
    """Yield the bound totals whose formulas take a bound line of flows from another year only, year after year."""
    for name in TOTALS:
        total = roles.series.get(name)
        for role, line in roles.series.items():
            if total is None or role == name or role not in FLOWS or set(line.cells) & set(total.cells):
                continue
            shifts = [shift for cell in total.cells if (shift := _apart(recalc, cell, (*line.history, *line.cells)))]
            wrong = _shifted_together(recalc, shifts)
            if wrong and len(shifts) * 4 >= 3 * len(total.cells):
                yield f" ({role.replace('_', ' ')})", wrong


def _apart(recalc: Recalc, cell: CellRef, line: Sequence[CellRef]) -> Shift | None:
    """Return how many years off a formula reads a line, None where it reads it not, or in several years."""
    node, own = trees(recalc).get(cell), timeline_of(recalc, cell.sheet).year(cell)
    if node is None or own is None:
        return None
    read = {one.cell for one in walk(node) if isinstance(one, Ref) and one.cell in line}
    if len(read) != 1:
        return None
    target = read.pop()
    year = timeline_of(recalc, target.sheet).year(target)
    return None if year is None else Shift(cell, target, year - own)


def _finding(book: Book, wrong: Sequence[Shift], what: str = "") -> Finding:
    first = wrong[0]
    held = book.get(first.cell)
    when = "the year before" if first.years < 0 else "the year after"
    cells = f"{first.cell} and the {len(wrong) - 1} cells after it"
    return Finding(
        message=f"{cells} read {when}{what}: {first.target} in its first year",
        cell=first.cell,
        found=held.formula if held else None,
        expected="the same year",
    )
