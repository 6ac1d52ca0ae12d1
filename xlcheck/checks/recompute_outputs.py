"""Whether the headline results follow from the assumptions, and whether any of them is left empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlcheck.cells import CellRef, is_number
from xlcheck.checking import Finding, Outcomes, Unverifiable, check
from xlcheck.checks import cut_off
from xlcheck.checks.headline import OUTPUTS, nothing_bound, output_cells
from xlcheck.checks.lines import result_cells
from xlcheck.checks.pasted import pasted_finding, pasted_value
from xlcheck.checks.sheet import is_label, text_at
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.workbook import Book

WORD_FOR_WORD = 0.93
LONGEST_LABEL = 48


@check("recompute.outputs-are-live")
def outputs_are_live(
    book: Book,
    recalc: Recalc,
    graph: Graph,
    roles: Roles,
    discount_rate: LocatedSeries | None,
    terminal_growth: Located | None,
    exit_multiple: Located | None,
) -> Outcomes:
    """Value per share, equity and enterprise value are formulas that reach the assumptions.

    What it holds:
        Each bound headline output is a formula, and through formulas it reaches the discount rate, the terminal growth
        (where the method uses one) and at least one operating input. No typed number labelled as an output is, to its
        last digit, the total of live cells above it.
    Why it matters:
        A typed result does not move when an assumption moves: sensitivities and scenarios built on it are empty.
    Accepted conventions:
        The rate may vary by year, be a cost of equity, stand in a formula or be typed as an input; an exit multiple
        needs no terminal growth; typed flow rows are inputs; a pasted copy beside a live model is only a copy.
    Example:
        ``DCF!B23`` holds 26.61 as a constant where ``=B21/B22`` belongs.
    How to fix:
        Write the formula from the bridge back into the cell.
    Units and tolerance:
        None: decided on the formula graph.
    Source:
        FAST Standard 4.01; CFA Institute, Equity Asset Valuation (model construction).
    """
    outputs = output_cells(roles)
    typed = [role for role, cell in outputs.items() if _is_typed(book, cell)]
    cut = [one for one in cut_off.typed(roles, recalc, graph) if one.cell not in [outputs[role] for role in typed]]
    if not outputs and not cut:
        yield from nothing_bound(roles)
        return
    for one in cut:
        message = f"{one.cell} ({one.role.replace('_', ' ')}) is typed in: it is {one.parts}, which stand there live"
        yield Finding(message=message, cell=one.cell, found=recalc.number(one.cell), expected=one.value)
    for role in typed:
        cell = outputs[role]
        yield Finding(
            message=f"{cell} ({role.replace('_', ' ')}) is typed in: no formula leads to it",
            cell=cell,
            found=recalc.number(cell),
            expected="a formula that reaches the assumptions",
        )
    live = {role: cell for role, cell in outputs.items() if role not in typed}
    if live:
        yield from _unreached(graph, roles, live, discount_rate, terminal_growth, exit_multiple)


def _is_typed(book: Book, ref: CellRef) -> bool:
    cell, sheet = book.get(ref), book.sheet(ref.sheet)
    if cell is None or sheet is None or cell.formula is not None or not is_number(cell.stored):
        return False
    return ref not in result_cells(sheet)


def _unreached(
    graph: Graph,
    roles: Roles,
    live: Mapping[str, CellRef],
    discount_rate: LocatedSeries | None,
    terminal_growth: Located | None,
    exit_multiple: Located | None,
) -> Iterator[Finding | Unverifiable]:
    role, cell = next(iter(live.items()))
    reached = graph.ancestors([cell])
    inputs = [
        ref for ref in reached if (held := graph.book.get(ref)) and held.formula is None and is_number(held.stored)
    ]
    if not inputs:
        yield Finding(
            message=f"{cell} ({role.replace('_', ' ')}) is a formula that reaches no input",
            cell=cell,
            found="no input behind it",
            expected="a formula that reaches the assumptions",
        )
        return
    rates = [roles.scalars[name].cell for name in ("wacc", "cost_of_equity", "terminal_wacc") if name in roles.scalars]
    rates += list(discount_rate.cells) if discount_rate else []
    if rates and not any(rate in reached for rate in rates):
        pasted = pasted_value(graph, roles, reached, inputs)
        if pasted is not None:
            yield pasted_finding(graph, pasted, f"{cell} ({role.replace('_', ' ')})")
            return
        yield Unverifiable(reason=f"{cell} does not depend on the rate found at {rates[0]}: see wacc.is-the-rate-used")
    growth = terminal_growth.cell if terminal_growth else None
    multiple = exit_multiple.cell if exit_multiple else None
    if growth and growth not in reached and (multiple is None or multiple not in reached):
        yield Unverifiable(reason=f"{cell} depends neither on the terminal growth at {growth} nor on an exit multiple")


@check("recompute.no-blank-outputs")
def no_blank_outputs(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """No headline output is labelled and left empty.

    What it holds:
        Where the workbook labels a value per share, equity value or enterprise value, a value stands beside it; below
        an equity value with a share count that nothing reads, the line labelled as price or value per share is filled.
    Why it matters:
        An empty cell has nothing to compare, and a comparison of nothing must not count as agreement.
    Accepted conventions:
        A template whose formulas wait for inputs, a heading above a block and a label that stands in several places
        (one of them with its value) are no blank outputs.
    Example:
        "Value per share" in ``DCF!A23`` with nothing right of it.
    How to fix:
        Complete the model, or remove the label.
    Units and tolerance:
        None.
    Source:
        FAST Standard (no unfinished calculations in a delivered model).
    """
    bound = output_cells(roles)
    cut = cut_off.emptied(roles, recalc, graph)
    if cut is not None:
        message = f"{cut.cell} is labelled as a value per share and is empty: {cut.parts} would give it"
        yield Finding(message=message, cell=cut.cell, found=None, expected=cut.value, unit="per share")
    for role, cell in bound.items():
        if recalc.value(cell) in (None, ""):
            yield Finding(
                message=f"{cell} is the {role.replace('_', ' ')} and is empty",
                cell=cell,
                found=None,
                expected="the result of a formula",
            )
    labelled = list(_output_labels(book, recalc))
    gaps = [(role, label, gap) for role, label, gap in labelled if gap is not None]
    blank = [item for item in gaps if item[0] not in bound]
    valued = {role for role, _, gap in labelled if gap is None}
    empty = not any(is_number(cell.stored) or cell.formula is not None for cell in book.cells())
    findings = [item for item in blank if item[0] not in valued and (empty or bound or valued)]
    findings += [item for item in gaps if (bound or valued) and item not in findings and graph.dependents(item[2])]
    if not bound and not findings and cut is None:
        yield from nothing_bound(roles)
        return
    for role, label, gap in findings if cut is None else ():
        yield Finding(
            message=f"{label} names the {role.replace('_', ' ')}, but {gap} beside it is empty",
            cell=gap,
            found=None,
            expected="the result of a formula",
        )


def _output_labels(book: Book, recalc: Recalc) -> Iterator[tuple[str, CellRef, CellRef | None]]:
    """Yield role, label cell and the empty cell where its value belongs (None where the row holds a value)."""
    for sheet in book.sheets:
        for cell in sheet.cells.values():
            role = _named_output(cell.stored) if isinstance(cell.stored, str) else None
            if role is None:
                continue
            columns = range(cell.ref.column + 1, sheet.max_column + 1)
            right = [CellRef(sheet.name, cell.ref.row, column) for column in columns]
            if any(recalc.value(ref) is not None and not is_label(text_at(recalc, ref)) for ref in right):
                yield role, cell.ref, None
            elif not is_number(recalc.value(cell.ref.offset(1, 0))):
                yield role, cell.ref, _value_cell(recalc, cell.ref)


def _named_output(text: str) -> str | None:
    """Return the headline output that a short text names word for word."""
    if len(text) > LONGEST_LABEL:
        return None
    scores = load_lexicon().match(text)
    best = max(OUTPUTS, key=lambda role: scores.get(role, 0.0))
    return best if scores.get(best, 0.0) >= WORD_FOR_WORD else None


def _value_cell(recalc: Recalc, label: CellRef) -> CellRef:
    """Return the cell of a label's row in the column where the rows around it hold their numbers."""
    near = [label.offset(rows, columns) for columns in range(1, 8) for rows in (-1, 1, -2, 2, -3, 3)]
    held = next((ref for ref in near if ref.row > 0 and is_number(recalc.value(ref))), None)
    return CellRef(label.sheet, label.row, held.column if held else label.column + 1)
