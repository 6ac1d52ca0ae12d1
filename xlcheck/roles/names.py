"""Defined names as evidence: what the workbook itself calls a cell. Like a label, a name can stand at the wrong one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xlcheck.cells import CellRef
from xlcheck.formula import Ref, parse
from xlcheck.workbook import Book

LESS = 0.1
"""What a defined name says less than a label of the same words."""
_BREAK = re.compile(r"[_.\\?]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def spoken(name: str) -> str:
    """Return a defined name as words: ``TerminalGrowth`` and ``terminal_growth`` are both ``Terminal growth``."""
    return " ".join(part for part in _BREAK.split(name) if part)


def named_cells(book: Book) -> Mapping[CellRef, tuple[str, ...]]:
    """Return the words of the defined names that point to one cell, by cell."""
    found: dict[CellRef, tuple[str, ...]] = {}
    for one in book.names:
        node = None if one.hidden or one.name.startswith("_") else parse(one.formula, book.sheets[0].name, book)
        if isinstance(node, Ref):
            found[node.cell] = (*found.get(node.cell, ()), spoken(one.name))
    return found
