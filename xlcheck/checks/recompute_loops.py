"""Circular references: declared and converging, or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, Outcomes, check
from xlcheck.checks.headline import headline_chain, output_cells
from xlcheck.engines import Unsolved, UnsolvedKind
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book

MOST_FINDINGS = 10


@check("recompute.circularity")
def circularity(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Circular references are declared by iterative calculation and converge.

    What it holds:
        No formula depends on itself while iterative calculation is off; with iteration on, each loop that the headline
        depends on settles on a value.
    Why it matters:
        Without iteration Excel warns and shows 0 in the loop; a loop that does not settle shows whatever the last round
        left.
    Accepted conventions:
        Market-value weights and interest on average balances as declared iterative loops; cycles that exist only in
        branches not taken, or in references such as OFFSET and ROW that read no value, are not circular.
    Example:
        ``W!B7`` (WACC) reads the equity weight in B8, which reads the equity value that WACC discounts.
    How to fix:
        Use target weights, solve the loop in closed form, or switch iterative calculation on and say so.
    Units and tolerance:
        The workbook's own maximum change.
    Source:
        FAST Standard 1.04 (no circularity); Excel documentation of iterative calculation.
    """
    chain = headline_chain(graph, roles)
    loops = [loop for loop in loops_of_kind(recalc, graph, "cycle") if not chain or any(ref in chain for ref in loop)]
    if book.calc.iterate:
        loops = [loop for loop in loops if _known_not_to_settle(recalc, loop[0])]
    for found in loops[:MOST_FINDINGS]:
        loop = _entry_first(graph, roles, found)
        first = loop[0]
        why = "does not settle" if book.calc.iterate else "depends on itself, and iterative calculation is off"
        yield Finding(
            message=f"{first} {why}: {' → '.join(ref.address for ref in loop[:6])}",
            cell=first,
            found="circular reference",
            expected="a formula that does not read its own result",
        )
        for other in loop[1:8]:
            yield Finding(
                message=f"{other} is part of the loop of {first}", cell=other, found="circular reference", expected=None
            )
    if not loops and book.calc.iterate:
        yield Fits(convention="iterative calculation is on, and every loop settles")


def _entry_first(graph: Graph, roles: Roles, loop: list[CellRef]) -> list[CellRef]:
    """Put first the cells of a loop that read a headline output: there the result comes back in as an input."""
    outputs = set(output_cells(roles).values())
    back = [ref for ref in loop if ref not in outputs and outputs & set(graph.precedents(ref))]
    return [*back, *(ref for ref in loop if ref not in back)]


def _known_not_to_settle(recalc: Recalc, ref: CellRef) -> bool:
    """Say whether the recomputation iterated a loop and it did not converge (rather than gave up on it)."""
    value = recalc.value(ref)
    return isinstance(value, Unsolved) and "converge" in value.detail


@check("recompute.indeterminate-loop", consequence_of=("recompute.circularity",))
def indeterminate_loop(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """The solution of a loop does not depend on where the iteration starts.

    What it holds:
        Each loop behind the headline, restarted from another value, comes back to the same result.
    Why it matters:
        A loop that keeps any value it is given (a margin that divides what it multiplies) has lost its input; the
        number in the file survives only as long as nobody recalculates from scratch.
    Accepted conventions:
        Loops with one fixed point, however slowly they settle.
    Example:
        EBITDA ``=F21*F25`` and margin ``=F24/F21``: every margin is a solution.
    How to fix:
        Replace one of the two formulas by its input.
    Units and tolerance:
        The workbook's own maximum change.
    Source:
        Excel documentation of iterative calculation; FAST Standard 1.04.
    """
    chain = headline_chain(graph, roles)
    for loop in loops_of_kind(recalc, graph, "indeterminate_loop")[:MOST_FINDINGS]:
        if chain and not any(ref in chain for ref in loop):
            continue
        for ref in loop[:4]:
            yield Finding(
                message=f"{ref} keeps whatever value the iteration starts from",
                cell=ref,
                found="indeterminate",
                expected="one solution",
            )


def loops_of_kind(recalc: Recalc, graph: Graph, kind: UnsolvedKind) -> list[list[CellRef]]:
    """Return the loops of a kind, each with its cells in the order of the sheet."""
    cells = {ref: None for ref, value in recalc.values.items() if isinstance(value, Unsolved) and value.kind == kind}
    reads = {ref: [other for other in graph.precedents(ref) if other in cells] for ref in cells}
    return [sorted(loop) for loop in _components(reads) if len(loop) > 1 or loop[0] in reads[loop[0]]]


def _components(reads: Mapping[CellRef, list[CellRef]]) -> Iterator[list[CellRef]]:
    """Yield the strongly connected parts of a graph (Tarjan, without recursion)."""
    index: dict[CellRef, int] = {}
    low: dict[CellRef, int] = {}
    stack: list[CellRef] = []
    on_stack: set[CellRef] = set()
    for start in reads:
        work = [(start, iter(reads[start]))] if start not in index else []
        while work:
            ref, following = work[-1]
            if ref not in index:
                index[ref] = low[ref] = len(index)
                stack.append(ref)
                on_stack.add(ref)
            deeper = next((other for other in following if other not in index or other in on_stack), None)
            if deeper is not None and deeper not in index:
                work.append((deeper, iter(reads[deeper])))
                continue
            if deeper is not None:
                low[ref] = min(low[ref], index[deeper])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[ref])
            if low[ref] == index[ref]:
                loop: list[CellRef] = []
                while not loop or loop[-1] != ref:
                    loop.append(stack.pop())
                    on_stack.discard(loop[-1])
                yield loop
