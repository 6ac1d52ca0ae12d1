"""Why a cell is unsolved, in words of the workbook: its function, its loop, its link, or the cell it depends on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import BLOCKED, Unsolved, UnsolvedKind
from xlcheck.graph import Graph
from xlcheck.live.loops import Loop, LoopState
from xlcheck.workbook import Book

Values = Mapping[CellRef, Scalar | Unsolved]

_RICH = re.compile(
    r"\b(_FV|FIELDVALUE|STOCKHISTORY|RTD|WEBSERVICE|FILTERXML|IMAGE|PY|DDE|CUBE[A-Z]+|GETPIVOTDATA)\(",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"\b(RAND|RANDBETWEEN|RANDARRAY)\(", re.IGNORECASE)
_LINK = re.compile(r"\[(\d+)\]|\[([^\[\]]+\.xl\w+)\]", re.IGNORECASE)
_STATES: Mapping[LoopState, tuple[UnsolvedKind, str]] = {
    "converged": ("cycle", "settles"),
    "indeterminate": ("indeterminate_loop", "settles at values that depend on where the iteration starts"),
    "diverging": ("cycle", "does not settle under iteration"),
    "iteration_off": ("cycle", "is live and iterative calculation is off"),
}


def explained(values: Values, book: Book, graph: Graph, loops: Sequence[Loop]) -> dict[CellRef, Scalar | Unsolved]:
    """Return the values with the reason of each unsolved cell named; blocked cells take the kind of their cause."""
    found = dict(values)
    in_loop = {ref: loop for loop in loops if loop.state != "converged" for ref in loop.cells}
    unsolved = {ref: value for ref, value in values.items() if isinstance(value, Unsolved)}
    for ref, value in unsolved.items():
        if not value.detail.startswith(BLOCKED):
            found[ref] = _in_loop(in_loop[ref]) if ref in in_loop else _own_reason(ref, value, book)
    causes: dict[CellRef, CellRef] = {}
    for ref, value in unsolved.items():
        if value.detail.startswith(BLOCKED):
            cause = _cause(ref, unsolved, graph, causes)
            root = found.get(cause)
            if cause != ref and isinstance(root, Unsolved):
                found[ref] = Unsolved(kind=root.kind, detail=f"it depends on {cause}: {root.detail}")
    return found


def comes_from_outside(formula: str) -> bool:
    """Say whether a formula takes its value from a feed, a linked data type or another workbook."""
    return bool(_RICH.search(formula) or _LINK.search(formula))


def _in_loop(loop: Loop) -> Unsolved:
    kind, words = _STATES[loop.state]
    shown = ", ".join(str(ref) for ref in loop.cells[:8])
    more = f" and {len(loop.cells) - 8} more cells" if len(loop.cells) > 8 else ""
    return Unsolved(kind=kind, detail=f"the loop through {shown}{more} {words}")


def _own_reason(ref: CellRef, value: Unsolved, book: Book) -> Unsolved:
    cell = book.get(ref)
    formula = cell.formula or "" if cell else ""
    rich, random, link = _RICH.search(formula), _RANDOM.search(formula), _LINK.search(formula)
    if rich:
        return Unsolved(kind="rich_data", detail=f"{rich[1].upper()} takes its value from outside the workbook")
    if random:
        return Unsolved(kind="random", detail=f"{random[1].upper()} gives another number at each calculation")
    if link and value.kind == "unsupported_function":
        target = book.external_names.get(int(link[1]), "another workbook") if link[1] else link[2]
        return Unsolved(kind="external_link", detail=f"the file stores no value for its link to {target}")
    if value.kind == "clock":
        return Unsolved(
            kind="clock", detail="it reads today's date, and neither a valuation date nor a save time is known"
        )
    return value


def _cause(ref: CellRef, unsolved: Mapping[CellRef, Unsolved], graph: Graph, causes: dict[CellRef, CellRef]) -> CellRef:
    """Follow unsolved precedents to the first that is no consequence."""
    path: list[CellRef] = []
    seen: set[CellRef] = set()
    while ref not in causes:
        path.append(ref)
        seen.add(ref)
        above = [one for one in graph.precedents(ref) if one in unsolved]
        roots = [one for one in above if not unsolved[one].detail.startswith(BLOCKED)]
        following = next(iter(roots), None) or next((one for one in above if one not in seen), None)
        if following is None or following in roots:
            causes[ref] = following or ref
            break
        ref = following
    for one in path:
        causes[one] = causes[ref]
    return causes[path[0]] if path else causes[ref]
