"""Whether stored and recomputed values agree, and whether the headline results are numbers at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlcheck.cells import CellError, CellRef, Scalar, is_number
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks.headline import STEPS, headline_chain, nothing_bound, output_cells
from xlcheck.checks.recompute_loops import loops_of_kind
from xlcheck.engines import Unsolved
from xlcheck.graph import Graph
from xlcheck.recompute import CellVerdict, Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book

MOST_FINDINGS = 20
"""A reader repairs the first cells of a chain; a longer list hides them."""


@check("recompute.cached-values-match", consequence_of=("recompute.circularity",))
def cached_values_match(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Every stored value is what its own formula gives.

    What it holds:
        The value that the file carries for a formula follows from that formula and the values it reads. Cells that
        the headline outputs depend on decide; stale cells elsewhere are named in the convention line.
    Why it matters:
        A typed-over or stale result is read by everyone who does not recalculate, and no assumption explains it.
    Accepted conventions:
        A file without stored values (written by a library) claims nothing; zeros in every formula cell together with
        the order to recalculate on opening are a writer's habit. TODAY() and NOW() are taken at their stored value,
        results under *precision as displayed* at their displayed digits.
    Example:
        ``DCF!B9`` holds ``=B7*3`` with B7 = 120 and the stored value 999: expected 360.
    How to fix:
        Recalculate the workbook (Ctrl+Alt+F9) and save it; where a value was forced, change the assumption instead.
    Units and tolerance:
        The unit of the cell; 1e-9 relative for plain formulas, the workbook's own delta for iterative loops.
    Source:
        FAST Standard 4.01 (no overwritten calculations); two engines must agree against the stored value.
    """
    stored = [verdict for verdict in recalc.verdicts.values() if verdict.stored is not None]
    if not recalc.verdicts:
        yield NotApplicable(reason="the workbook holds no formula")
        return
    if not stored:
        yield Fits(convention="no stored values: nothing was claimed")
        return
    if book.calc.full_calc_on_load and all(verdict.stored == 0 for verdict in stored):
        yield Fits(convention="a stored zero in every formula cell and recalculation on opening: a writer's habit")
        return
    stale = {
        ref: verdict
        for ref, verdict in recalc.verdicts.items()
        if verdict.status == "stale" and not _is_circular(recalc, ref)
    }
    chain = headline_chain(graph, roles)
    decisive = {ref: verdict for ref, verdict in stale.items() if ref in chain or not chain}
    for ref, verdict in list(decisive.items())[:MOST_FINDINGS]:
        yield _stale_finding(ref, verdict)
    if decisive:
        return
    if stale:
        yield Fits(convention=f"stale only where no headline output depends on it: {_some(stale)}")
    yield from _open_headline(recalc, roles)


def _is_circular(recalc: Recalc, ref: CellRef) -> bool:
    """Say whether a cell stands in a loop: Excel stores 0 there, and another check names it."""
    value = recalc.value(ref)
    return isinstance(value, Unsolved) and value.kind in ("cycle", "indeterminate_loop")


def _stale_finding(ref: CellRef, verdict: CellVerdict) -> Finding:
    expected = verdict.expected if verdict.expected is not None else verdict.recomputed
    return Finding(
        message=f"the stored value of {ref} does not follow from its formula: {_shown(verdict.stored)} is stored, "
        f"{_shown(expected)} results",
        cell=ref,
        found=_plain(verdict.stored),
        expected=_plain(expected),
    )


def _open_headline(recalc: Recalc, roles: Roles) -> Iterator[Unverifiable]:
    for role, cell in output_cells(roles).items():
        verdict = recalc.verdicts.get(cell)
        if verdict is not None and verdict.status == "unsolved" and verdict.unsolved is not None:
            yield Unverifiable(reason=f"{cell} ({role}) could not be recomputed: {verdict.unsolved.detail}")


def _some(refs: Mapping[CellRef, object]) -> str:
    first = ", ".join(str(ref) for ref in list(refs)[:5])
    return first if len(refs) <= 5 else f"{first} and {len(refs) - 5} more"


def _plain(value: Scalar | Unsolved) -> float | str | None:
    if value is None or isinstance(value, str | float):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    return float(value) if is_number(value) else str(value)  # type: ignore[arg-type]


def _shown(value: Scalar | Unsolved) -> str:
    plain = _plain(value)
    return "nothing" if plain is None else f"{plain:,.6g}" if isinstance(plain, float) else repr(plain)


@check("recompute.no-error-values")
def no_error_values(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """No headline output recomputes to an error.

    What it holds:
        Value per share, equity, enterprise value and the steps and flows they are built from recompute to numbers. The
        finding names the first cell of the chain that turns into an error.
    Why it matters:
        A valuation that ends in #REF! or #DIV/0! has no result, whatever its stored values still show.
    Accepted conventions:
        Errors that no output reads, errors in a lookup table that are never returned, errors caught by IFERROR or
        ISNA, and placeholders of rich data types (stocks, pictures) are none.
    Example:
        ``DCF!B15 =G10*(1+g)/(WACC-g)`` with both rates blank gives #DIV/0!; B17, B21 and B23 inherit it.
    How to fix:
        Repair the first cell named; what reads it follows.
    Units and tolerance:
        None: an error is an error.
    Source:
        FAST Standard; Excel's error values.
    """
    outputs = output_cells(roles, STEPS)
    flows = [cell for name in ("fcff", "fcfe") if name in roles.series for cell in roles.series[name].cells]
    cells = [*outputs.values(), *flows]
    if not cells:
        yield from nothing_bound(roles)
        return
    roots: dict[CellRef, CellError] = {}
    for cell in cells:
        value = recalc.value(cell)
        if isinstance(value, CellError):
            roots |= _error_roots(recalc, graph, cell)
    for ref, error in list(roots.items())[:MOST_FINDINGS]:
        yield Finding(
            message=f"{ref} recomputes to {error} and the headline result with it",
            cell=ref,
            found=str(error),
            expected="a number",
        )
    for role, cell in outputs.items():
        shown = recalc.value(cell)
        if roots and cell not in roots and isinstance(shown, CellError):
            yield _error_output(role, cell, str(shown))
            break
    if not roots:
        yield from _behind_unsolved(recalc, graph, outputs)


def _error_roots(recalc: Recalc, graph: Graph, start: CellRef) -> dict[CellRef, CellError]:
    """Return the cells at which the error of a cell begins: those that read no error themselves."""
    roots: dict[CellRef, CellError] = {}
    seen, stack = {start}, [start]
    while stack:
        ref = stack.pop()
        error = recalc.value(ref)
        before = [other for other in graph.precedents(ref) if isinstance(recalc.value(other), CellError)]
        before = [other for other in before if not _is_placeholder(recalc.book, other)]
        if not before:
            roots[ref] = CellError(error=str(error))
        fresh = [other for other in before if other not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return roots or {start: CellError(error=str(recalc.value(start)))}


def _is_placeholder(book: Book, ref: CellRef) -> bool:
    cell = book.get(ref)
    return cell is not None and cell.rich


def _behind_unsolved(recalc: Recalc, graph: Graph, outputs: Mapping[str, CellRef]) -> Iterator[Finding | Unverifiable]:
    """Yield errors that reach an output which could not be recomputed whatever its loops hold, else leave it open."""
    for role, cell in outputs.items():
        value = recalc.value(cell)
        if not isinstance(value, Unsolved):
            continue
        roots = _whatever_the_loops(recalc, graph, cell)
        for ref, error in list(roots.items())[:MOST_FINDINGS]:
            yield Finding(
                message=f"{ref} recomputes to {error}, and {cell} with it whatever the circular cells before it hold",
                cell=ref,
                found=str(error),
                expected="a number",
            )
        if roots:
            yield _error_output(role, cell, str(next(iter(roots.values()))))
            return
        yield Unverifiable(reason=f"{cell} ({role}) could not be recomputed: {value.detail}")


def _error_output(role: str, cell: CellRef, error: str) -> Finding:
    return Finding(
        message=f"{cell} ({role.replace('_', ' ')}) recomputes to {error}", cell=cell, found=error, expected="a number"
    )


def _whatever_the_loops(recalc: Recalc, graph: Graph, cell: CellRef) -> dict[CellRef, CellError]:
    """Return where errors begin if every circular cell held a number and the cell were still an error."""
    reached = graph.ancestors([cell])
    circular = [ref for loop in loops_of_kind(recalc, graph, "cycle") for ref in loop if ref in reached]
    if not circular:
        return {}
    trials = [recalc.what_if_cells(dict.fromkeys(circular, value), sorted(reached)) for value in (1.0, 1234.5)]
    if not all(isinstance(trial.get(cell), CellError) for trial in trials):
        return {}
    errors = {ref: error for ref, error in trials[0].items() if isinstance(error, CellError) and ref not in circular}
    begin = {ref: error for ref, error in errors.items() if not any(other in errors for other in graph.precedents(ref))}
    return dict(sorted(begin.items()))
