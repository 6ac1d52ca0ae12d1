"""Whether forecasts are computed: constants typed between formulas, and literals buried inside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from xlcheck.cells import CellRef, is_number
from xlcheck.checking import Finding, Outcomes, check
from xlcheck.checks.claims import SURE_LABEL, label_scores
from xlcheck.checks.headline import headline_chain
from xlcheck.checks.lines import LEAST, Break, Line, lines_of, lone_breaks
from xlcheck.checks.literals import LEAST_AMOUNT, buried_literals, is_converted_input, is_plug
from xlcheck.checks.shapes import is_filled
from xlcheck.checks.sheet import row_label, timeline_of
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Number, Ref, is_link, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book, Cell, Sheet

MOST_FINDINGS = 20
LEAST_TYPED = 2.0
"""Smaller numbers at the end of a line are rates, counts or factors."""
FORECASTS = ("fcff", "fcfe", "nopat", "pv_fcff", "discount_factor")
"""Lines whose bound cells are years of the forecast, however much of their columns is typed."""
_ADDED_LITERAL = re.compile(r"[-+]\s*[\d.]+(?:E[-+]?\d+)?\s*$|^=?\s*[\d.]+\s*\+", re.IGNORECASE)
_ACTUAL = re.compile(r"\d\s*A\b|\bactuals?\b|\baudited\b|\bhistorical\b|\breported\b|实际|历史|已审", re.IGNORECASE)


@check("recompute.no-hardcoded-forecast")
def no_hardcoded_forecast(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Forecasts are computed from labelled assumptions, not typed.

    What it holds:
        No number is typed between formulas of a forecast line, no amount is typed in its first or last year beside
        formulas, and no assumption is buried as a literal in a formula that the headline outputs depend on.
    Why it matters:
        A typed year ignores every assumption, and a buried rate can be neither seen, sourced nor varied.
    Accepted conventions:
        A block that is typed throughout is a line of inputs; actuals are typed; results of array formulas, spills and
        data tables are stored as constants; counters, exponents, powers of ten, 12, 365 and other units of time or
        scale, rounding digits, thresholds and whole numbers up to twelve are no assumptions; a typed amount converted
        by a rate (``=847600000/L3``) is an input; a line that repeats the period before may be given a new level.
    Example:
        Revenue 2029 holds 1,300 while 2028 and 2030 are ``=prior*(1+growth)``; ``=B5*1.02+37``.
    How to fix:
        Fill the neighbour's formula into the cell; give the literal a labelled input cell with its source.
    Units and tolerance:
        The unit of the cell.
    Source:
        FAST Standard 4.01 and 4.02 (no constants in formulas).
    """
    start = _first_year(recalc, roles)
    chain = headline_chain(graph, roles)
    sheets = {ref.sheet for ref in chain}
    read = [sheet for sheet in book.sheets if sheet.name in sheets or not chain]
    surely = frozenset(ref for name in FORECASTS if name in roles.series for ref in roles.series[name].cells)
    typed = [one for sheet in read for one in _typed_breaks(recalc, graph, sheet, start, surely)]
    for one in [one for one in typed if one.cells[0] in chain or not chain][:MOST_FINDINGS]:
        yield _typed_finding(book, recalc, one)
    plugged = dict(_plugs(recalc, start))
    for ref, plug in list(plugged.items())[:MOST_FINDINGS]:
        yield _plug_finding(book, ref, plug)
    rates = _rate_build(graph, roles)
    flows = [cell for name in ("fcff", "fcfe") if name in roles.series for cell in roles.series[name].cells]
    downstream = graph.descendants(flows) if flows else frozenset()
    formulas = trees(recalc)
    lines: dict[tuple[str, int, tuple[float, ...]], list[CellRef]] = {}
    for ref in formulas:
        if (ref not in chain and ref not in downstream) or ref in rates or ref in plugged:
            continue
        node = formulas[ref]
        past = ref not in downstream and _is_past(timeline_of(recalc, ref.sheet).year(ref), start)
        if past or _is_date(book, ref):
            continue
        literals = [] if is_converted_input(node) else list(buried_literals(node))
        if ref not in chain:
            literals = [value for value in literals if abs(value) >= LEAST_AMOUNT]
        if literals:
            lines.setdefault((ref.sheet, ref.row, tuple(literals)), []).append(ref)
    for (_, _, held), refs in list(lines.items())[:MOST_FINDINGS]:
        yield _literal_finding(book, refs, held)


def _first_year(recalc: Recalc, roles: Roles) -> int | None:
    """Return the year of the first forecast flow, by the heading above it."""
    for name in ("fcff", "fcfe", "pv_fcff"):
        located = roles.series.get(name)
        sheet = recalc.book.sheet(located.cells[0].sheet) if located else None
        if located and sheet:
            return timeline_of(recalc, sheet.name).year(located.cells[0])
    return None


def _is_past(year: int | None, start: int | None) -> bool:
    return year is not None and start is not None and year < start


def _rate_build(graph: Graph, roles: Roles) -> frozenset[CellRef]:
    """Return the cells behind the discount rate: the checks of family ``wacc`` judge them."""
    cells = {roles.scalars[name].cell for name in ("wacc", "cost_of_equity") if name in roles.scalars}
    cells -= {None}
    return graph.ancestors([cell for cell in cells if cell is not None])


def _typed_breaks(
    recalc: Recalc, graph: Graph, sheet: Sheet, start: int | None, surely: frozenset[CellRef]
) -> Iterator[Break]:
    timeline = timeline_of(recalc, sheet.name)
    found = [one for one in lone_breaks(recalc, sheet, across=True) if one.typed]
    found += [one for one in lone_breaks(recalc, sheet, across=False) if one.typed and timeline.runs_down(one.cells[0])]
    lines = [(line, across) for across in (True, False) for line in lines_of(recalc, sheet, across=across)]
    found += [
        one
        for line, across in lines
        if across or timeline.runs_down(line.cells[-1])
        for one in _ends(recalc, graph, line)
    ]
    for one in found:
        past = _is_past(timeline.year(one.cells[0]), start)
        forecast = one.cells[0] in surely or _is_discounted(recalc, one.cells[0])
        actual = not forecast and _is_actual(recalc, sheet, one)
        if not past and not actual and not _carries_forward(recalc, one):
            yield one


def _ends(recalc: Recalc, graph: Graph, line: Line) -> Iterator[Break]:
    """Yield the last or first year of a line where a typed amount stands beside three formulas that are filled.

    A rate may be chosen for one year, a line that is rolled forward begins with a typed level, a target that the line
    approaches is an input, and the first year may be a budget where no idle assumption of that year shows otherwise.
    """
    size = len(line.cells)
    for index, neighbours in ((size - 1, range(size - 2, size - 2 - LEAST, -1)), (0, range(1, 1 + LEAST))):
        if size <= LEAST or line.forms[index] is not None:
            continue
        pattern = line.forms[neighbours[0]]
        if pattern is None or any(line.forms[place] != pattern for place in neighbours):
            continue
        rolled = _reads_itself(line, neighbours) or (index == 0 and not _overrides(recalc, graph, line))
        if _is_an_amount(recalc, line, index) and not rolled and not _is_read(line, index):
            yield Break(line, index, index + 1, pattern)


def _is_an_amount(recalc: Recalc, line: Line, index: int) -> bool:
    """Say whether a dated cell holds an amount as its neighbour does, in the year beside the neighbour's."""
    cell, other = line.cells[index], line.cells[index - 1 if index else 1]
    timeline = timeline_of(recalc, cell.sheet)
    year, beside = timeline.year(cell), timeline.year(other)
    values = (recalc.number(cell), recalc.number(other))
    large = all(value is not None and abs(value) > LEAST_TYPED for value in values)
    return large and year is not None and beside is not None and year - beside == (1 if index else -1)


def _reads_itself(line: Line, places: Sequence[int]) -> bool:
    """Say whether the formulas of a line read cells of the line itself: it is rolled forward."""
    own = set(line.cells)
    nodes = [line.nodes[place] for place in places]
    return any(isinstance(one, Ref) and one.cell in own for node in nodes if node for one in walk(node))


def _overrides(recalc: Recalc, graph: Graph, line: Line) -> bool:
    """Say whether an input of the first year, where the neighbour's formula would read it, is there and idle."""
    first, model, node = line.cells[0], line.cells[1], line.nodes[1]
    back = (0, -1) if line.across else (-1, 0)
    for one in walk(node) if node is not None else ():
        if not isinstance(one, Ref) or (one.absolute_column if line.across else one.absolute_row):
            continue
        apart = one.cell.column - model.column if line.across else one.cell.row - model.row
        if one.cell.sheet == first.sheet and apart < 0:
            return False  # it reads the period before, which the first one has not
        if (one.cell.column if line.across else one.cell.row) > 1:
            meant = one.cell.offset(*back)
            if recalc.number(meant) is not None and not graph.dependents(meant):
                return True
    return False


def _is_read(line: Line, index: int) -> bool:
    nodes = [node for node in line.nodes if node is not None]
    return any(isinstance(one, Ref) and one.cell == line.cells[index] for node in nodes for one in walk(node))


def _is_discounted(recalc: Recalc, cell: CellRef) -> bool:
    """Say whether the label of a line names present values or discount factors: no actual has one."""
    scores = label_scores(row_label(recalc, cell))
    return max(scores.get(role, 0.0) for role in ("pv_fcff", "discount_factor")) >= SURE_LABEL


def _carries_forward(recalc: Recalc, one: Break) -> bool:
    """Say whether the line repeats the cell before: then a typed cell is an assumption that changes."""
    node = trees(recalc)[one.model]
    target = next((part.cell for part in walk(node) if isinstance(part, Ref)), None)
    return is_link(node) and target in one.line.cells


def _is_actual(recalc: Recalc, sheet: Sheet, one: Break) -> bool:
    """Say whether the typed cells stand in a period of actuals: its heading says so, or most of it is typed."""
    for ref in one.cells:
        headings = (
            (sheet.cells.get((row, ref.column)) for row in range(1, ref.row))
            if one.line.across
            else (sheet.cells.get((ref.row, column)) for column in range(1, ref.column))
        )
        if any(cell is not None and _ACTUAL.search(str(recalc.value(cell.ref))) for cell in headings if _is_text(cell)):
            return True
        if one.line.across and _mostly_typed(sheet, ref.column):
            return True
    return False


def _is_text(cell: Cell | None) -> bool:
    return cell is not None and isinstance(cell.stored, str) and len(cell.stored) < 24


def _mostly_typed(sheet: Sheet, column: int) -> bool:
    kinds = Counter(
        cell.formula is None
        for (_, other), cell in sheet.cells.items()
        if other == column and (cell.formula is not None or is_number(cell.stored))
    )
    return kinds[True] > 2 * kinds[False]


def _typed_finding(book: Book, recalc: Recalc, one: Break) -> Finding:
    first, model = one.cells[0], one.model
    pattern = book.get(model)
    return Finding(
        message=f"{first} is typed between formulas: its line is computed as in {model}",
        cell=first,
        found=recalc.number(first),
        expected=f"the formula of {model}, filled: {pattern.formula if pattern else ''}",
    )


def _is_date(book: Book, ref: CellRef) -> bool:
    """Say whether a cell shows a date: literals in it are days."""
    cell = book.get(ref)
    return cell is not None and bool(re.search(r"yy|mmm", cell.number_format, re.IGNORECASE))


def _plugs(recalc: Recalc, start: int | None) -> Iterator[tuple[CellRef, float]]:
    """Yield cells that hold the formula of their neighbour plus an amount of their own: it closes a gap."""
    formulas = trees(recalc)
    for ref, node in formulas.matching(_ADDED_LITERAL):
        match node:
            case Binary(operator="+" | "-" as operator, left=left, right=Number(value=value)):
                signed = value if operator == "+" else -value
            case Binary(operator="+", left=Number(value=signed), right=left):
                pass
            case _:
                continue
        if not is_plug(signed) or is_link(left) or _is_past(timeline_of(recalc, ref.sheet).year(ref), start):
            continue
        steps = ((ref.offset(0, 1), 1), (ref.offset(0, -1), -1)) if ref.column > 1 else ((ref.offset(0, 1), 1),)
        if any(other in formulas and is_filled(left, formulas[other], step) for other, step in steps):
            yield ref, signed


def _plug_finding(book: Book, ref: CellRef, plug: float) -> Finding:
    cell = book.get(ref)
    return Finding(
        message=f"{ref} adds {plug:,.6g} to the formula of its neighbours: a plug",
        cell=ref,
        found=cell.formula if cell else None,
        expected="the formula of its neighbours alone",
    )


def _literal_finding(book: Book, refs: Sequence[CellRef], literals: Sequence[float]) -> Finding:
    ref = refs[0]
    cell = book.get(ref)
    more = f" (and {len(refs) - 1} more in its row)" if len(refs) > 1 else ""
    shown = ", ".join(f"{value:g}" for value in literals[:3])
    return Finding(
        message=f"{ref}{more} buries {shown} in its formula: an assumption without a cell of its own",
        cell=ref,
        found=cell.formula if cell else None,
        expected="a reference to a labelled input",
    )
