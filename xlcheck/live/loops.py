"""Circular references: which cells form loops, where to tear them, and the values at which they settle.

An engine without loops calculates the model with one cell of each loop (the *torn* cell) held constant, and
the torn cell's own formula apart. The model settles where the held value and the formula's result are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from xlcheck.cells import CellError, CellRef, RangeRef, Scalar, as_number
from xlcheck.engines import Unsolved

LoopState = Literal["converged", "indeterminate", "diverging", "iteration_off"]


@dataclass(frozen=True, slots=True)
class Loop:
    """A live loop: cells that depend on themselves in the branches that are taken."""

    cells: tuple[CellRef, ...]
    """In the order of sheets, rows and columns."""
    state: LoopState
    """``indeterminate``: where it settles depends on where it starts; ``iteration_off``: Excel will not iterate it."""


Held = Mapping[CellRef, Scalar]
Step = Callable[[Held], Mapping[CellRef, Scalar | Unsolved]]
"""Takes the values of the torn cells and returns what their formulas give."""

SETTLED = 1e-12
"""Relative change at which a loop counts as settled."""
SAME_END = 1e-6
"""Relative distance of two ends, from two starts, that are one and the same."""
_STEPS = 300
_PATIENCE = 40
"""Steps, or as many as there are torn cells: so long a value may take from one to the next."""


def components(cells: Collection[CellRef], reads: Mapping[CellRef, Sequence[RangeRef]]) -> list[list[CellRef]]:
    """Return the loops among the cells: strongly connected components, and cells that read themselves."""
    edges = _edges(cells, reads)
    found = []
    for component in _strongly_connected(edges):
        if len(component) > 1 or component[0] in edges[component[0]]:
            found.append(sorted(component))
    return found


def _edges(cells: Collection[CellRef], reads: Mapping[CellRef, Sequence[RangeRef]]) -> dict[CellRef, list[CellRef]]:
    """Return for each cell those of the cells that it reads."""
    own = set(cells)
    by_sheet: dict[str, list[CellRef]] = {}
    for ref in sorted(own):
        by_sheet.setdefault(ref.sheet, []).append(ref)
    edges = {}
    for ref in own:
        read: set[CellRef] = set()
        for area in reads.get(ref, ()):
            if area.size <= len(by_sheet.get(area.sheet, ())):
                read.update(one for one in area.cells() if one in own)
            else:
                read.update(one for one in by_sheet.get(area.sheet, ()) if one in area)  # type: ignore[comparison-overlap]
        edges[ref] = sorted(read)
    return edges


def _strongly_connected(edges: Mapping[CellRef, Sequence[CellRef]]) -> list[list[CellRef]]:
    """Tarjan's algorithm with an explicit stack."""
    index: dict[CellRef, int] = {}
    low: dict[CellRef, int] = {}
    path: list[CellRef] = []
    on_path: set[CellRef] = set()
    found: list[list[CellRef]] = []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        path.append(root)
        on_path.add(root)
        while work:
            node, following = work[-1]
            after = next(following, None)
            if after is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[CellRef] = []
                    while not component or component[-1] != node:
                        component.append(path.pop())
                        on_path.discard(component[-1])
                    found.append(component)
            elif after not in index:
                index[after] = low[after] = len(index)
                path.append(after)
                on_path.add(after)
                work.append((after, iter(edges[after])))
            elif after in on_path:
                low[node] = min(low[node], index[after])
    return found


def tears(
    component: Collection[CellRef],
    reads: Mapping[CellRef, Sequence[RangeRef]],
    unsuitable: Collection[CellRef] = (),
) -> list[CellRef]:
    """Return cells without which the component has no loop, few of them, none `unsuitable` if that is possible."""
    edges = {ref: set(read) for ref, read in _edges(component, reads).items()}
    torn: list[CellRef] = []
    while True:
        _strip(edges)
        if not edges:
            return torn
        counts = dict.fromkeys(edges, 0)
        for read in edges.values():
            for one in read:
                counts[one] += 1
        best = max(
            edges, key=lambda ref: (ref not in unsuitable, ref in edges[ref], len(edges[ref]) * counts[ref], ref)
        )
        torn.append(best)
        _remove(edges, best)


def _strip(edges: dict[CellRef, set[CellRef]]) -> None:
    """Take away the cells that lie on no loop."""
    while True:
        read_by_some = {one for read in edges.values() for one in read}
        loose = [ref for ref, read in edges.items() if not read or ref not in read_by_some]
        if not loose:
            return
        for ref in loose:
            _remove(edges, ref)


def _remove(edges: dict[CellRef, set[CellRef]], ref: CellRef) -> None:
    del edges[ref]
    for read in edges.values():
        read.discard(ref)


_UNKNOWN = (CellError(error="#N/A"), CellError(error="#NULL!"))
"""What stands for a value that is not known yet: what comes out alike under both does not depend on it."""


def unwind(torn: Sequence[CellRef], step: Step) -> dict[CellRef, Scalar]:
    """Return the torn cells that no loop runs through in the branches taken, with their values.

    Whatever follows from known cells becomes known, all cells together: where formulas compute what they read, no
    order among them is known. The end is tried again from another start, for formulas that swallow errors.
    """
    known: dict[CellRef, Scalar] = {}
    for _ in range(len(torn) + 1):
        one, other = (step({**dict.fromkeys(torn, unknown), **known}) for unknown in _UNKNOWN)
        found = {ref: value for ref, value in solved(one).items() if value == other[ref]}
        if found == known:
            break
        known = found
    rest: dict[CellRef, Scalar] = {ref: _UNKNOWN[0] for ref in torn if ref not in known}
    moved: dict[CellRef, Scalar] = {ref: (as_number(value) or 0.0) + 1.0 for ref, value in known.items()}
    for _ in range(len(torn) + 1):
        again = solved(step({**rest, **moved}))
        if all(moved[ref] == again.get(ref, moved[ref]) for ref in moved):
            break
        moved.update({ref: value for ref, value in again.items() if ref in moved})
    return {ref: value for ref, value in known.items() if moved[ref] == value == again.get(ref)}


def solved(result: Mapping[CellRef, Scalar | Unsolved]) -> dict[CellRef, Scalar]:
    """Return the values without what is unsolved."""
    return {ref: value for ref, value in result.items() if not isinstance(value, Unsolved)}


def settle(start: Held, step: Step) -> dict[CellRef, Scalar] | None:
    """Iterate to the fixed point; None if it does not settle or runs into an error.

    Plain iteration decides whether a loop settles, as in Excel; once the steps shrink evenly, Aitken's
    extrapolation takes it to the end.
    """
    held = dict(start)
    shrink: list[float] = []
    before: dict[CellRef, float] = {}
    patience = max(_PATIENCE, len(held))
    for count in range(max(_STEPS, len(held))):
        result = step(held)
        if any(isinstance(value, Unsolved | CellError) for value in result.values()):
            return None
        after = {ref: value for ref, value in result.items() if not isinstance(value, Unsolved)}
        change = {ref: _difference(after[ref], held[ref]) for ref in held}
        if all(abs(change[ref]) <= SETTLED * max(1.0, _size(after[ref])) for ref in held):
            return after
        size = max(abs(one) for one in change.values())
        shrink.append(size)
        if count >= patience and size > 0.99 * min(shrink[-21:-20] or [size]):
            return None
        if count % 4 == 3 and len(before) == len(change):
            after = {ref: _extrapolated(value, change[ref], before[ref]) for ref, value in after.items()}
            before = {}
        else:
            before = change
        held = after
    return None


def _difference(after: Scalar, before: Scalar) -> float:
    new, old = as_number(after), as_number(before)
    if new is not None and old is not None:
        return new - old
    return 0.0 if after == before or (before == 0 and after in (None, "")) else 1.0


def _size(value: Scalar) -> float:
    return abs(as_number(value) or 0.0)


def _extrapolated(value: Scalar, change: float, before: float) -> Scalar:
    """Return Aitken's guess of the limit where two changes shrink evenly, else the value itself."""
    number = as_number(value)
    if number is None or before == 0.0:
        return value
    ratio = change / before
    return number + change * ratio / (1.0 - ratio) if 0.02 < abs(ratio) < 0.95 else number


def same_end(one: Held, other: Held) -> bool:
    """Say whether two ends are the same."""
    return all(_close(value, other[ref]) for ref, value in one.items())


def _close(one: Scalar, other: Scalar) -> bool:
    first, second = as_number(one), as_number(other)
    if first is None or second is None:
        return one == other
    return abs(first - second) <= SAME_END * max(1.0, abs(first), abs(second))


def starts(torn: Iterable[CellRef]) -> tuple[Held, ...]:
    """Return the starts from which a loop must reach the same end: blank, as Excel starts, and two others."""
    cells = list(torn)
    return dict.fromkeys(cells, 0.0), dict.fromkeys(cells, 1.0), dict.fromkeys(cells, 1000.0)
