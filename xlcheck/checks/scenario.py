"""Whether scenarios are scenarios of the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from xlcheck.cells import CellRef, RangeRef, is_number
from xlcheck.checking import Finding, NotApplicable, Outcomes, check
from xlcheck.checks.cases import (
    Case,
    CaseLine,
    Entry,
    active_case,
    case_of,
    case_tables,
    heading_above,
    value_role,
)
from xlcheck.checks.headline import output_cells
from xlcheck.checks.sheet import first_text, row_label
from xlcheck.checks.switches import selections
from xlcheck.checks.trees import trees
from xlcheck.formula import Ref, is_link, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.roles.grids import display_unit
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.workbook import Book

NO_TABLE = "the workbook has no table of scenarios"
_WEIGHTED = re.compile(r"weighted|expected value|加权|期望|erwartungswert|gewichtet|加重", re.IGNORECASE)
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
    running = active_case(recalc, selections(recalc)) or "base"
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


def _is_rate(line: CaseLine) -> bool:
    """Say whether a line holds discount rates: then low and high are ends of an axis."""
    return load_lexicon().match(first_text(line.label)).get("wacc", 0.0) >= 0.8


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
        In each line of headline values per case, low ≤ base ≤ high, and a case that has a sheet of its own is linked to
        that sheet.
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
            linked_cases = _linked_cases(recalc, line)
            known = known or bool(linked_cases)
            yield from _of_another_case(recalc, linked_cases)
            values = {entry.case: recalc.number(entry.cell) for entry in line.entries}
            if line.role is None or len(values) < 2 or any(_is_rate(other) for other in table):
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


def _linked_cases(recalc: Recalc, line: CaseLine) -> list[tuple[Entry, Case, str]]:
    """Return the entries of a line that link to a sheet named by a case: with that case and the sheet's name."""
    sheets = {sheet.name: case for sheet in recalc.book.sheets if (case := case_of(sheet.name)) is not None}
    if len(sheets) < 2 or len(set(sheets.values())) < len(sheets):
        return []
    found = []
    for entry in line.entries:
        node = trees(recalc).get(entry.cell)
        if node is not None and is_link(node):
            target = next(one.cell for one in walk(node) if isinstance(one, Ref))
            if target.sheet in sheets and entry.case in sheets.values():
                found.append((entry, sheets[target.sheet], target.sheet))
    return found


def _of_another_case(recalc: Recalc, linked_cases: Sequence[tuple[Entry, Case, str]]) -> Iterator[Finding]:
    """Yield the entries that link to the sheet of another case, where others of the line link to their own."""
    wrong = [one for one in linked_cases if one[0].case != one[1]]
    if len(wrong) * 2 > len(linked_cases):
        return
    for entry, _, sheet in wrong:
        yield Finding(
            message=f"{entry.cell} stands for the {entry.case} case and is linked to the sheet {sheet!r}",
            cell=entry.cell,
            found=recalc.number(entry.cell),
            expected=f"the sheet of the {entry.case} case",
        )


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
        values of that table; so is one that reads all values of a line and no probability.
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
        for ref, wanted in _without_weights(recalc, graph, table, weights):
            known = True
            message = f"{ref} is called weighted and reads no probability; weighted its values are {wanted:,.6g}"
            yield Finding(message=message, cell=ref, found=recalc.number(ref), expected=wanted)
    if not known:
        yield NotApplicable(reason="the workbook states no probability-weighted value")


def _without_weights(
    recalc: Recalc, graph: Graph, table: Sequence[CaseLine], weights: CaseLine
) -> Iterator[tuple[CellRef, float]]:
    """Yield cells labelled as weighted that take in a whole line of values and no weight, where it matters."""
    for line in table:
        wanted = None if line is weights else _weighted(recalc, weights, line)
        for ref in graph.dependents(line.whole[0]) if wanted is not None else ():
            reads, value = set(graph.precedents(ref)), recalc.number(ref)
            if not _is_weighted(recalc, ref) or reads & set(weights.whole) or not set(line.whole) <= reads:
                continue
            if wanted is not None and value is not None and abs(wanted - value) > 1e-6 * max(abs(value), 1e-9):
                yield ref, wanted


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
