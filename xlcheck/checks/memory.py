"""What checks of one workbook ask for again and again, worked out once and dropped with the workbook."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar, cast

from xlcheck.cells import CellRef
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles

_T = TypeVar("_T")
_MEMORY: dict[int, dict[Hashable, object]] = {}


def remembered(owner: object, key: Hashable, compute: Callable[[], _T]) -> _T:
    """Return what was computed for this owner under this key, computing it the first time.

    The memory of an owner ends with the owner (graphs and recomputations are never changed).
    """
    memory = _MEMORY.get(id(owner))
    if memory is None:
        memory = _MEMORY[id(owner)] = {}
        weakref.finalize(owner, _MEMORY.pop, id(owner), None)
    if key not in memory:
        memory[key] = compute()
    return cast(_T, memory[key])


def for_roles(recalc: Recalc, roles: Roles, name: str, compute: Callable[[], _T]) -> _T:
    """Remember what depends on the bound roles as well; the roles are kept so that their identity stays theirs."""
    remembered(recalc, ("roles", id(roles)), lambda: roles)
    return remembered(recalc, (name, id(roles)), compute)


def rows_named(recalc: Recalc, pattern: re.Pattern[str]) -> frozenset[tuple[str, int]]:
    """Return (sheet, row) of every row that holds a typed text in which the pattern is found."""

    def find() -> frozenset[tuple[str, int]]:
        texts = (cell for cell in recalc.book.cells() if cell.formula is None and isinstance(cell.stored, str))
        return frozenset((cell.ref.sheet, cell.ref.row) for cell in texts if pattern.search(str(cell.stored)))

    return remembered(recalc, ("rows", pattern.pattern), find)


def above(graph: Graph, cells: Iterable[CellRef]) -> frozenset[CellRef]:
    """Return every cell that the given cells depend on, themselves included."""
    key = frozenset(cells)
    return remembered(graph, ("above", key), lambda: graph.ancestors(key))
