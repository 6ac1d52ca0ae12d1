"""Whether scenarios are scenarios of the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from xlcheck.cells import CellRef, RangeRef, is_number
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, check
from xlcheck.checks.cases import (
    CaseLine,
    Choice,
    active_case,
    case_tables,
    choices,
    heading_above,
    value_role,
)
from xlcheck.checks.flow_terms import linked
from xlcheck.checks.grids import display_unit
from xlcheck.checks.headline import output_cells
from xlcheck.checks.live import run
from xlcheck.checks.sheet import row_label
from xlcheck.checks.trees import trees
from xlcheck.formula import Ref, is_link
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book

NO_TABLE = "the workbook has no table of scenarios"
_WEIGHTED = re.compile(r"weighted|expected value|加权|期望|erwartungswert|gewichtet|加重", re.IGNORECASE)
_SWITCH = re.compile(
    r"(?:scenario|case)s?[\s-]*(?:switch|selector|selected|toggle)|(?:switch|selector|active|selected)\W+(?:scenario|case)"
    r"|情景(?:开关|选择)|シナリオ(?:切替|選択)|szenario(?:auswahl|schalter)",
    re.IGNORECASE,
)
NEAR = 0.2
"""A snapshot further from the live value than this is of another quantity."""


def _lines(recalc: Recalc) -> list[tuple[CaseLine, ...]]:
    return [table for sheet in recalc.book.sheets for table in case_tables(recalc, sheet) if table]


@check("scenario.base-is-the-model")
def base_is_the_model(book: Book, recalc: Recalc, roles: Roles) -> Outcomes:
    """The active scenario's value is the value of the model.

    What it holds:
        Where a table or section shows a headline value per case, the value of the case that the model runs equals the
        live headline.
    Why it matters:
        A snapshot that drifted, or scenarios computed by a simpler engine, describe another valuation.
    Accepted conventions:
        Snapshots at their own decimals; cases that are not active; other quantities and methods beside the headline.
    Example:
        "Base case" 3,057.72 pasted beside a live 3,057.78.
    How to fix:
        Link the active case, or run the scenarios again.
    Units and tolerance:
        The unit of the output; half a unit of a typed number's last digit, else 1e-6.
    Source:
        FAST Standard (one source for each number).
    """
    outputs = output_cells(roles)
    running = active_case(recalc, choices(recalc)) or "base"
    seen: set[CellRef] = set()
    for table in _lines(recalc):
        for role, live in outputs.items():
            shown = [one.cell for line in table if line.role == role for one in line.entries if one.case == running]
            shown = [ref for ref in shown if ref != live and ref not in seen]
            seen.update(shown)
            found = [finding for ref in shown for finding in _differs(recalc, ref, live)]
            if len(found) == len(shown):
                yield from found[:1]
    for ref, live in _pasted(book, recalc, outputs, running):
        if ref not in seen:
            seen.add(ref)
            yield from _differs(recalc, ref, live)
    if not seen:
        yield NotApplicable(reason="no headline value is shown per scenario")


def _differs(recalc: Recalc, ref: CellRef, live: CellRef) -> Iterator[Finding]:
    shown, value = recalc.number(ref), recalc.number(live)
    if shown is None or value is None:
        return
    if abs(shown - value) > max(1e-6 * max(abs(shown), abs(value)), display_unit(recalc, ref)):
        yield Finding(
            message=f"{ref} shows {shown:,.6g} for the case that the model runs; the model gives {value:,.6g} ({live})",
            cell=ref,
            found=shown,
            expected=value,
        )


def _pasted(
    book: Book, recalc: Recalc, outputs: Mapping[str, CellRef], running: str
) -> Iterator[tuple[CellRef, CellRef]]:
    """Yield typed headline values under a heading that names the running case, near the live value."""
    values = [value for live in outputs.values() if (value := recalc.number(live))]
    for cell in book.cells():
        if cell.formula is not None or not is_number(cell.stored) or cell.ref in outputs.values():
            continue
        if not any(abs(float(cell.stored) / value - 1) <= NEAR for value in values):  # type: ignore[arg-type]
            continue
        left = row_label(recalc, cell.ref).split(" | ")[-1]
        live = outputs.get(value_role(left) or "") if left else None
        value = recalc.number(live) if live else None
        if live is None or not value or abs(float(cell.stored) / value - 1) > NEAR:  # type: ignore[arg-type]
            continue
        if heading_above(recalc, cell.ref) == running:
            yield cell.ref, live


@check("scenario.ordering")
def ordering(recalc: Recalc) -> Outcomes:
    """The low case is worth least and the high case most.

    What it holds:
        In each line of headline values per case, low ≤ base ≤ high.
    Why it matters:
        Cases out of order were mixed up, or their assumptions were.
    Accepted conventions:
        Any names (bear, downside, pessimistic …); equal values; lines of other quantities.
    Example:
        Bear 51.2, base 43.5, bull 35.0.
    How to fix:
        Check which assumptions each case picks.
    Units and tolerance:
        The unit of the output.
    Source:
        CFA Institute, Equity Asset Valuation (scenario analysis).
    """
    known = False
    for table in _lines(recalc):
        for line in table:
            values = {entry.case: recalc.number(entry.cell) for entry in line.entries}
            if line.role is None or len(values) < 2:
                continue
            known = True
            ordered = [(case, values[case]) for case in ("low", "base", "high") if values.get(case) is not None]
            for (lower, a), (upper, b) in pairwise(ordered):
                if a is not None and b is not None and a > b + 1e-9 * abs(b):
                    cell = next(entry.cell for entry in line.entries if entry.case == upper)
                    yield Finding(
                        message=f"the {upper} case ({b:,.6g}) is worth less than the {lower} case ({a:,.6g})",
                        cell=cell,
                        found=b,
                        expected=f"at least {a:,.6g}",
                    )
    if not known:
        yield NotApplicable(reason="no headline value is shown per scenario")


@check("scenario.probabilities-sum-to-one")
def probabilities_sum_to_one(recalc: Recalc) -> Outcomes:
    """The probabilities of the scenarios sum to one.

    What it holds:
        The probabilities beside the cases of a table lie between 0 and 1 and sum to 1 (or 100 in percent points).
    Why it matters:
        A weighted value over 110 % is 10 % too high.
    Accepted conventions:
        Fractions, percent and percent points; rounded thirds (0.33, 0.33, 0.34).
    Example:
        0.3, 0.5 and 0.3.
    How to fix:
        Let the last probability be one minus the others.
    Units and tolerance:
        Fractions; 1e-6, or half a unit of the last typed digit per case.
    Source:
        Kolmogorov's axioms.
    """
    known = False
    for table in _lines(recalc):
        for line in table:
            if not line.is_probability:
                continue
            values = [recalc.number(ref) for ref in line.whole]
            held = [value for value in values if value is not None]
            if len(held) < 2 or min(held) < 0 or max(held) > 100:
                continue
            known = True
            total, whole = sum(held), 100.0 if max(held) > 1 else 1.0
            slack = max(
                1e-6 * whole, sum(display_unit(recalc, ref) for ref in line.whole) if max(held) < 0.34 * whole else 0
            )
            if abs(total - whole) > slack:
                yield Finding(
                    message=f"the probabilities sum to {total:g}", cell=_span(line.whole), found=total, expected=whole
                )
    if not known:
        yield NotApplicable(reason="the workbook states no probabilities of scenarios")


def _span(cells: Sequence[CellRef]) -> RangeRef:
    """Return the rectangle around the cells of a line."""
    rows, columns = [ref.row for ref in cells], [ref.column for ref in cells]
    return RangeRef(cells[0].sheet, min(rows), min(columns), max(rows), max(columns))


@check("scenario.weighted-value", consequence_of=("scenario.probabilities-sum-to-one",))
def weighted_value(recalc: Recalc, graph: Graph) -> Outcomes:
    """The probability-weighted value is the sum of probability times value.

    What it holds:
        A cell labelled as weighted value, reading the probabilities of a table, is their sum-product with one line of
        values of that table.
    Why it matters:
        It is the number that a reader takes as the answer of the scenarios.
    Accepted conventions:
        Weighted upside, revenue or other lines; weights in percent points divided by 100.
    Example:
        ``=B8*C8+B9*C9`` over three cases.
    How to fix:
        Use SUMPRODUCT over all cases.
    Units and tolerance:
        The unit of the value; 1e-6.
    Source:
        Expected value of a discrete distribution.
    """
    known = False
    for table in _lines(recalc):
        weights = next((line for line in table if line.is_probability), None)
        if weights is None:
            continue
        candidates = [ref for ref in graph.descendants([weights.whole[0]]) if _is_weighted(recalc, ref)]
        candidates = [ref for ref in candidates if set(graph.precedents(ref)) - set(weights.whole)]
        for ref in candidates:
            value = recalc.number(ref)
            if value is None or not any(cell in graph.precedents(ref) for cell in weights.whole):
                continue
            sums = [_weighted(recalc, weights, line) for line in table if line is not weights]
            elsewhere = _sum_of_reads(recalc, graph, ref, weights)
            known = True
            fits = [
                one
                for one in (*sums, elsewhere)
                if one is not None and abs(one - value) <= 1e-6 * max(abs(value), 1e-9)
            ]
            if not fits and any(one is not None for one in sums):
                nearest = min((one for one in sums if one is not None), key=lambda one: abs(one - value))
                yield Finding(
                    message=f"{ref} is not the probability-weighted sum of a line of values",
                    cell=ref,
                    found=value,
                    expected=nearest,
                )
    if not known:
        yield NotApplicable(reason="the workbook states no probability-weighted value")


def _is_weighted(recalc: Recalc, ref: CellRef) -> bool:
    return bool(_WEIGHTED.search(row_label(recalc, ref)))


def _weighted(recalc: Recalc, weights: CaseLine, line: CaseLine) -> float | None:
    if len(weights.whole) != len(line.whole):
        return None
    pairs = [(recalc.number(w), recalc.number(v)) for w, v in zip(weights.whole, line.whole, strict=True)]
    if any(w is None or v is None for w, v in pairs):
        return None
    scale = 0.01 if sum(w or 0.0 for w, _ in pairs) > 2 else 1.0
    return sum((w or 0.0) * scale * (v or 0.0) for w, v in pairs)


def _sum_of_reads(recalc: Recalc, graph: Graph, ref: CellRef, weights: CaseLine) -> float | None:
    """Return weights times the other cells that a formula reads, in order, where there are as many of each."""
    reads = list(graph.precedents(ref))
    values = [cell for cell in reads if cell not in weights.whole]
    if len(values) == len(weights.whole) and all(cell in reads for cell in weights.whole):
        numbers = [
            (recalc.number(w) or 0.0) * (recalc.number(v) or 0.0) for w, v in zip(weights.whole, values, strict=True)
        ]
        return sum(numbers)
    return recalc.number(ref) if not set(weights.whole) & set(reads) else None


@check("scenario.switch-works")
def switch_works(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """The scenario switch reaches the headline, and every driver picks the case that it names.

    What it holds:
        Setting the switch to another case moves the headline; all formulas that pick by it list the cases in one order;
        and no driver among them is linked to one case for good.
    Why it matters:
        A driver that stays on its base, or picks bear for bull, is invisible while the base case runs.
    Accepted conventions:
        Drivers common to all cases; switches of other things (units, methods); cases that differ in few drivers.
    Example:
        Eleven drivers ``=CHOOSE(switch,bear,base,bull)`` and one ``=base``.
    How to fix:
        Fill the CHOOSE formula of the neighbouring driver, with its cases in the same order.
    Units and tolerance:
        None.
    Source:
        FAST Standard (scenario selectors); ICAEW Financial Modelling Code.
    """
    found = [choice for choice in choices(recalc) if any(isinstance(option, Ref) for option in choice.options)]
    dead = None if found else _dead_switch(book, recalc, graph, roles)
    if dead is not None:
        yield Finding(
            message=f"{dead} is labelled as the scenario switch and no formula reads it",
            cell=dead,
            found="no effect",
            expected="another value per case",
        )
        return
    if not found:
        yield NotApplicable(reason="the workbook has no scenario switch")
        return
    for switch in dict.fromkeys(choice.switch for choice in found):
        own = [choice for choice in found if choice.switch == switch]
        if len(own) >= 2:
            yield from _out_of_order(book, own)
            yield from _fixed_on_one_case(book, recalc, own)
        yield from _moves_nothing(recalc, graph, roles, own)


def _dead_switch(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> CellRef | None:
    """Return a typed position that is labelled as the scenario switch and that no formula depends on."""
    if not output_cells(roles):
        return None
    for cell in book.cells():
        position = cell.formula is None and is_number(cell.stored) and cell.stored in (1, 2, 3, 4, 5)
        if position and _SWITCH.search(row_label(recalc, cell.ref)) and not graph.dependents(cell.ref):
            return cell.ref
    return None


def _arrangement(choice: Choice) -> tuple[str, str, tuple[int, ...]] | None:
    """Return sheet, direction and order of the options of a choice, None where they do not stand in line."""
    cells = [option.cell for option in choice.options if isinstance(option, Ref)]
    if len(cells) < len(choice.options) or len({cell.sheet for cell in cells}) > 1:
        return None
    if len({cell.row for cell in cells}) == 1:
        line, places = "row", [cell.column for cell in cells]
    elif len({cell.column for cell in cells}) == 1:
        line, places = "column", [cell.row for cell in cells]
    else:
        return None
    ranks = {place: rank for rank, place in enumerate(sorted(places))}
    return (cells[0].sheet, line, tuple(ranks[place] for place in places)) if len(ranks) == len(places) else None


def _out_of_order(book: Book, own: Sequence[Choice]) -> Iterator[Finding]:
    """Yield the first cell of each line whose choices list the cases in another order than the others do."""
    arranged = [(choice, kind) for choice in own if (kind := _arrangement(choice)) is not None]
    for group in {kind[:2] for _, kind in arranged}:
        members = [(choice, kind[2]) for choice, kind in arranged if kind[:2] == group]
        lines = {(choice.cell.sheet, choice.cell.row): order for choice, order in members}
        usual, count = Counter(lines.values()).most_common(1)[0]
        if count < 2 or count * 2 <= len(lines):
            continue
        for (sheet, row), order in lines.items():
            if order != usual:
                first = min(
                    choice.cell for choice, _ in members if (choice.cell.sheet, choice.cell.row) == (sheet, row)
                )
                held = book.get(first)
                yield Finding(
                    message=f"{first} lists the cases in another order than the other drivers: it picks a wrong case",
                    cell=first,
                    found=held.formula if held else None,
                    expected="the order of the other drivers",
                )


def _fixed_on_one_case(book: Book, recalc: Recalc, own: Sequence[Choice]) -> Iterator[Finding]:
    """Yield lines beside the picking drivers that link straight to one of the cases."""
    offsets: dict[tuple[str, tuple[int, ...]], set[int]] = {}
    for choice in own:
        rows = [option.cell.row - choice.cell.row for option in choice.options if isinstance(option, Ref)]
        same = all(isinstance(one, Ref) and one.cell.column == choice.cell.column for one in choice.options)
        if same and len(rows) == len(choice.options):
            offsets.setdefault((choice.cell.sheet, tuple(rows)), set()).add(choice.cell.row)
    formulas = trees(recalc)
    for (sheet, steps), lines in offsets.items():
        if len(lines) < 2:
            continue
        for row in range(min(lines) - 2, max(lines) + 3):
            held_there = [ref for ref in formulas if ref.sheet == sheet and ref.row == row]
            cells = [ref for ref in held_there if is_link(formulas[ref])]
            fixed = sorted(ref for ref in cells if _to_a_case(recalc, ref, steps))
            if row not in lines and len(fixed) >= 2:
                held = book.get(fixed[0])
                yield Finding(
                    message=f"{fixed[0]} is linked to one case for good; the drivers beside it pick by the switch",
                    cell=fixed[0],
                    found=held.formula if held else None,
                    expected="a choice by the switch, as in the lines beside it",
                )


def _to_a_case(recalc: Recalc, ref: CellRef, rows: Sequence[int]) -> bool:
    node = trees(recalc)[ref]
    target = node.cell if isinstance(node, Ref) else linked(recalc, ref)
    same = row_label(recalc, ref).casefold() == row_label(recalc, target).casefold()
    return target.sheet == ref.sheet and target.column == ref.column and target.row - ref.row in rows and same


def _moves_nothing(recalc: Recalc, graph: Graph, roles: Roles, own: Sequence[Choice]) -> Iterator[Finding | Fits]:
    """Yield a finding where no position of a switch that the headline should follow moves it."""
    switch, outputs = own[0].switch, list(output_cells(roles).values())
    held = recalc.book.get(switch)
    if not outputs or held is None or held.formula is not None or not is_number(held.stored):
        return
    positions = [float(place) for place in range(1, len(own[0].options) + 1)]
    found = {tuple(run(recalc, {switch: place}, outputs).values()) for place in positions}
    reached = any(choice.cell in graph.ancestors(outputs) for choice in own)
    differ = any(_options_differ(recalc, choice) for choice in own)
    if len(found) == 1 and differ and None not in next(iter(found)):
        where = "is read by drivers that the headline does not reach" if not reached else "moves no headline output"
        yield Finding(
            message=f"the switch {switch} {where}", cell=switch, found="no effect", expected="another value per case"
        )
    elif len(found) > 1:
        yield Fits(convention=f"{switch} moves the headline over {len(positions)} cases")


def _options_differ(recalc: Recalc, choice: Choice) -> bool:
    values = [recalc.number(one.cell) for one in choice.options if isinstance(one, Ref)]
    return len(set(values)) > 1
