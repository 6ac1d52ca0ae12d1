"""Whether one formula is filled along each line of periods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from xlcheck.cells import CellRef, RangeRef, is_number
from xlcheck.checking import Finding, Fits, Outcomes, check
from xlcheck.checks.headline import headline_chain
from xlcheck.checks.lines import Break, Line, breaks, lines_of, lone_breaks
from xlcheck.checks.shapes import Form, Slot, forms, shape_of
from xlcheck.checks.sheet import column_label, row_label, timeline_of
from xlcheck.checks.sibling_sheets import odd_formulas
from xlcheck.checks.trees import trees
from xlcheck.formula import Ref
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book, Sheet

MOST_FINDINGS = 20


@check("recompute.row-consistency")
def row_consistency(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Along a line of periods one formula is filled.

    What it holds:
        Cells of a forecast line are the same formula moved along the line, compared by what they refer to; so are the
        rows of a table, where one reads its neighbour's row or fewer numbers than all others. A cell that
        differs between neighbours that agree, a last period that reads another line, and an unanchored assumption that
        slides onto empty cells are findings. Of three or more sheets built alike, so is a formula that is built unlike
        the same cell of all others.
    Why it matters:
        One period that is computed otherwise looks like all others and carries its error into every total.
    Accepted conventions:
        The first forecast period may read the last actual; a stub or terminal column, a stage boundary, total columns,
        neighbouring scenario blocks, one assumption per year read from a column, an exponent typed 1, 2, 3 and a
        rounding in some periods are no breaks. An unanchored reference that meets the same cell everywhere counts as
        anchored. Lines that no headline output depends on do not decide.
    Example:
        Taxes are ``=D4*tax`` in every year but ``=F3*tax`` (EBITDA) in F.
    How to fix:
        Copy the formula of the neighbour into the cell; anchor single assumptions with ``$``.
    Units and tolerance:
        None: formulas are compared, not values.
    Source:
        FAST Standard 3.03 (row consistency).
    """
    chain = headline_chain(graph, roles)
    sheets = {ref.sheet for ref in chain}
    read = [sheet for sheet in book.sheets if sheet.name in sheets or not chain]
    found = [finding for sheet in read for finding in _findings(book, recalc, sheet)]
    decisive = [finding for finding in found if not chain or _first_cell(finding) in chain]
    yield from decisive[:MOST_FINDINGS]
    yield from islice(odd_formulas(book, chain), MOST_FINDINGS)
    if found and not decisive:
        where = ", ".join(str(finding.cell) for finding in found[:3])
        yield Fits(convention=f"breaks only in lines that no headline output depends on: {where}")


def _first_cell(finding: Finding) -> CellRef | None:
    return next(finding.cell.cells()) if isinstance(finding.cell, RangeRef) else finding.cell


def _findings(book: Book, recalc: Recalc, sheet: Sheet) -> Iterator[Finding]:
    timeline = timeline_of(recalc, sheet.name)
    for across in (True, False):
        for one in lone_breaks(recalc, sheet, across=across):
            numeric = all(is_number(recalc.value(ref)) for ref in (*one.cells, one.model))
            written = any(
                slot.place != "#" for form in one.line.forms[one.start : one.stop] if form for slot in form.slots
            )
            if not one.typed and written and numeric and (across or timeline.runs_down(one.cells[0])):
                yield _break_finding(book, one)
        for line in lines_of(recalc, sheet, across=across):
            if not across and not timeline.runs_down(line.cells[-1]):
                slipped = (one for one in breaks(line) if not one.typed and _slips_in_a_table(recalc, one))
                yield from (_break_finding(book, one) for one in slipped)
            if across or timeline.runs_down(line.cells[-1]):
                if not _ends_apart(recalc, line):
                    yield from _other_line_at_the_end(book, recalc, line)
                yield from _sliding(book, recalc, sheet, line)
                yield from _repeated_link(book, recalc, line)


def _break_finding(book: Book, one: Break) -> Finding:
    first, model = one.cells[0], one.model
    return Finding(
        message=f"{first} breaks the pattern of its line, which {model} follows",
        cell=first,
        found=_formula(book, first),
        expected=f"the formula of {model}, filled: {_formula(book, model)}",
    )


def _slips_in_a_table(recalc: Recalc, one: Break) -> bool:
    """Say whether a row of a table (peers, tranches) reads its neighbour's row, or fewer of its columns than others.

    Cells that hold no number are left out on purpose: an average that starts a year later is no slip.
    """
    step, shape, own = _moves(one.line, one.pattern), one.line.shapes[one.start], one.cells[0]
    if step is None or shape is None or len(one.cells) > 1 or shape.text != one.pattern.text:
        return False
    formulas = trees(recalc)
    beside = [own.offset(0, by) for by in (-1, 1) if own.column + by > 0]
    if any(cell in formulas and shape_of(formulas[cell]).text == shape.text for cell in beside):
        return False  # filled along its own line: what that line is made of, not a slip
    changed = 0
    for base, move, found in zip(one.pattern.slots, step, shape.slots, strict=True):
        wanted = tuple(round(value + by * one.start) for value, by in zip(base.numbers, move, strict=True))
        if base.place != found.place:
            return False
        if found.numbers == wanted:
            continue
        changed += 1
        if found.place == "#" or not _is_near_slip(recalc, Slot(base.place, wanted), found, own):
            return False
    return changed > 0


def _is_near_slip(recalc: Recalc, wanted: Slot, found: Slot, own: CellRef) -> bool:
    if len(wanted.numbers) == 2:
        (row, column), (other, beside) = wanted.numbers, found.numbers
        cell = CellRef(wanted.place, int(row), int(column))
        return row == own.row and abs(other - row) == 1 and beside == column and recalc.number(cell) is not None
    top, left, bottom, right = (int(value) for value in wanted.numbers)
    first, last = int(found.numbers[1]), int(found.numbers[3])
    if not top == bottom == own.row == found.numbers[0] == found.numbers[2] or not left == first <= last < right:
        return False  # an average of the latest years alone is a choice
    missing = range(last + 1, right + 1)
    return all(recalc.number(CellRef(wanted.place, top, column)) is not None for column in missing)


def _formula(book: Book, ref: CellRef) -> str | None:
    cell = book.get(ref)
    return cell.formula if cell else None


_NO_PERIOD = re.compile(
    r"terminal|\bTV\b|perpet|residual|normali[sz]|steady|exit|永续|終値|终值|継続|残存|restwert|ewige|finale|residuel|residuo",
    re.IGNORECASE,
)


def _ends_apart(recalc: Recalc, line: Line) -> bool:
    """Say whether the last cell of a line stands under another kind of heading than the years before it."""
    before, last = line.cells[-2:]
    timeline = timeline_of(recalc, last.sheet)
    if timeline.year(last) is None and timeline.year(before) is not None:
        return True
    return bool(_NO_PERIOD.search(column_label(recalc, last) if line.across else row_label(recalc, last)))


def _other_line_at_the_end(book: Book, recalc: Recalc, line: Line) -> Iterator[Finding]:
    """Yield a last cell that reads the right period of a wrong line, where the right line has a number."""
    *before, last = line.forms
    pattern = before[-1] if before else None
    follow = [form for form in before if form == pattern]
    if last is None or pattern is None or last == pattern or len(follow) < 3 or last.text != pattern.text:
        return
    if tuple(slot.place for slot in last.slots) != tuple(slot.place for slot in pattern.slots):
        return
    index = len(line.forms) - 1
    changed = [(a, b) for a, b in zip(last.slots, pattern.slots, strict=True) if a != b]
    step = _moves(line, pattern)
    if len(changed) != 1 or len(pattern.slots) < 2 or step is None:
        return
    found, expected = (_cell_of(slot, index, step[pattern.slots.index(changed[0][1])]) for slot in changed[0])
    if found is None or expected is None or found.sheet != line.cells[-1].sheet:
        return
    own = line.cells[-1]
    periods = (expected.column, own.column) if line.across else (expected.row, own.row)
    if (found.column if line.across else found.row) in periods and is_number(recalc.value(expected)):
        yield Finding(
            message=f"{line.cells[-1]} reads {found} where its line reads {expected}",
            cell=line.cells[-1],
            found=_formula(book, line.cells[-1]),
            expected=f"{expected} in the place of {found}",
        )


def _moves(line: Line, pattern: Form) -> list[tuple[float, ...]] | None:
    """Return how far each slot of the pattern moves per cell, from the nearest two cells that follow it."""
    follow = [index for index, form in enumerate(line.forms) if form == pattern]
    if len(follow) < 2:
        return None
    here, there = min(pairwise(follow), key=lambda pair: pair[1] - pair[0])
    one, two = line.shapes[here], line.shapes[there]
    assert one is not None
    assert two is not None
    return [
        tuple((b - a) / (there - here) for a, b in zip(first.numbers, second.numbers, strict=True))
        for first, second in zip(one.slots, two.slots, strict=True)
    ]


def _cell_of(base: Slot, index: int, step: tuple[float, ...]) -> CellRef | None:
    if base.place == "#" or len(base.numbers) != 2:
        return None
    row, column = (round(value + move * index) for value, move in zip(base.numbers, step, strict=True))
    return CellRef(base.place, row, column)


def _sliding(book: Book, recalc: Recalc, sheet: Sheet, line: Line) -> Iterator[Finding]:
    """Yield the cells in which a single assumption, not anchored, has slid onto empty cells."""
    form = line.forms[-1]
    members = [index for index, other in enumerate(line.forms) if other is not None and other == form]
    if form is None or len(members) < 3:
        return
    step = _moves(line, form)
    if step is None:
        return
    for slot, move in zip(form.slots, step, strict=True):
        targets = [_cell_of(slot, index, move) for index in members]
        cells = [target for target in targets if target is not None]
        if len(cells) != len(members) or len(set(cells)) != len(cells):
            continue
        if not _alone(recalc, cells) or _is_own_period(line, members, cells):
            continue
        slid = [line.cells[index] for index in members[1:]]
        yield Finding(
            message=f"the reference to {cells[0]} is not anchored: from {slid[0]} on it reads empty cells",
            cell=slid[0],
            found=_formula(book, slid[0]),
            expected=f"{cells[0]} anchored in {sheet.name}!{line.cells[members[0]].address}",
        )


def _repeated_link(book: Book, recalc: Recalc, line: Line) -> Iterator[Finding]:
    """Yield the cells of a line of links that reads one period twice and leaves the last one of its source out."""
    links = [node.cell for node in line.nodes if isinstance(node, Ref)]
    if len(links) < max(4, len(line.nodes)) or len({link.sheet for link in links}) > 1:
        return
    across = len({link.row for link in links}) == 1
    if not across and len({link.column for link in links}) > 1:
        return
    steps = [b.column - a.column if across else b.row - a.row for a, b in pairwise(links)]
    if steps.count(0) != 1 or steps.count(1) != len(steps) - 1:
        return
    if steps[-1] == 0:
        return  # a terminal column may repeat the last year
    start, left = steps.index(0) + 1, links[-1].offset(*((0, 1) if across else (1, 0)))
    formulas = trees(recalc)
    alike = forms([shape_of(node) if (node := formulas.get(cell)) else None for cell in (*links[-2:], left)])
    if alike[0] is None or any(form != alike[0] for form in alike) or not is_number(recalc.value(left)):
        return
    cells = line.cells[start:]
    yield Finding(
        message=f"{cells[0]} reads {links[start]} a second time: the line ends before {left}",
        cell=RangeRef(cells[0].sheet, cells[0].row, cells[0].column, cells[-1].row, cells[-1].column),
        found=_formula(book, cells[0]),
        expected=f"the next period in {cells[0].address} and after it",
    )


def _alone(recalc: Recalc, cells: list[CellRef]) -> bool:
    """Say whether only the first of the cells holds something, a typed or computed number."""
    values = [recalc.value(cell) for cell in cells]
    return is_number(values[0]) and values[0] != 0 and all(value is None for value in values[1:])


def _is_own_period(line: Line, members: list[int], cells: list[CellRef]) -> bool:
    """Say whether a reference stays in the period of its own cell, or the one before: then blanks are blank periods."""
    for index, target in zip(members, cells, strict=True):
        own = line.cells[index]
        apart = target.column - own.column if line.across else target.row - own.row
        if apart not in (0, -1):
            return False
    return True
