"""Searches for the nearest smaller value in a list that holds blank cells.

Excel passes over the blanks; the primary engine does in LOOKUP only, while its MATCH, VLOOKUP and HLOOKUP take a blank
for the greatest value. Its copy has a LOOKUP in their place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from xlcheck.cells import CellRef, RangeRef
from xlcheck.normalise.calls import rewritten
from xlcheck.reading.scope import defined_name, name_area, rectangles, structured
from xlcheck.reading.tokens import Token, written
from xlcheck.workbook import Book

_SEARCH = re.compile(r"\b(?:MATCH|[VH]LOOKUP)\(", re.IGNORECASE)
_MODE = {"MATCH": 2, "VLOOKUP": 3, "HLOOKUP": 3}
"""Functions that search, and the place of the argument which says how."""
_NEAREST = ("1", "TRUE", "TRUE()")
"""What it says for the nearest smaller value; so does its absence."""


@dataclass(frozen=True, slots=True)
class Searches:
    """Rewrites the searches of one book."""

    book: Book
    _lists: dict[RangeRef, RangeRef | None] = field(default_factory=dict)

    def rewritten(self, formula: str, at: CellRef) -> str:
        """Return a formula in which no function but LOOKUP looks for the nearest smaller value among blank cells."""
        if not _SEARCH.search(formula):
            return formula
        return rewritten(formula, _MODE, lambda name, arguments, texts: self._lookup(name, arguments, texts, at))

    def _lookup(self, name: str, arguments: Sequence[list[Token]], texts: Sequence[str], at: CellRef) -> str | None:
        """Return what stands for one call, None if it may stay. A descending list has blanks at its end only."""
        place = _MODE[name]
        mode = texts[place].strip().upper() if len(texts) > place else _NEAREST[0]
        downwards = name == "MATCH" and mode == "-1"
        if not place <= len(texts) <= place + 1 or not (downwards or mode in _NEAREST):
            return None
        area = self._searched(arguments[1], at)
        if area is None:
            return None
        tall = name == "VLOOKUP" or (name == "MATCH" and area.first_column == area.last_column)
        if name == "MATCH" and not tall and area.first_row != area.last_row:
            return None
        line = area._replace(last_column=area.first_column) if tall else area._replace(last_row=area.first_row)
        if line not in self._lists:
            self._lists[line] = self._to_last_value(line)
        known = self._lists[line]
        if known is None:
            return None
        if downwards:
            return f"MATCH({texts[0]},{written(known)},-1)"
        numbers = f"_xlfn.SEQUENCE({known.size})" if tall else f"_xlfn.SEQUENCE(1,{known.size})"
        found = f"LOOKUP({texts[0]},{written(known)},{numbers})"
        if name == "MATCH":
            return found
        return f"INDEX({written(area)},{f'{found},{texts[2]}' if tall else f'{texts[2]},{found}'})"

    def _searched(self, words: Sequence[Token], at: CellRef) -> RangeRef | None:
        """Return the rectangle that an argument is, None if it is computed or lies elsewhere."""
        significant = [word for word in words if word.kind != "space"]
        if len(significant) != 1:
            return None
        word = significant[0]
        if word.kind == "table":
            return structured(word.text, self.book, at)
        area = word.area
        if word.kind == "name":
            name = defined_name(word.text, at.sheet, self.book)
            area = name_area(name, at) if name is not None else None
        found = rectangles(area, at.sheet, self.book) if area is not None else ()
        return found[0] if len(found) == 1 and self.book.sheet(found[0].sheet) is not None else None

    def _to_last_value(self, line: RangeRef) -> RangeRef | None:
        """Return a row or column up to its last value; None if no cell of it is blank, or all are."""
        sheet = self.book.sheet(line.sheet)
        assert sheet is not None
        bottom, right = min(line.last_row, sheet.max_row), min(line.last_column, sheet.max_column)
        within = line._replace(last_row=max(bottom, line.first_row), last_column=max(right, line.first_column))
        held = [
            ref for ref in within.cells() if (cell := self.book.get(ref)) and (cell.formula or cell.stored is not None)
        ]
        if not held or len(held) == line.size:
            return None
        return line._replace(last_row=held[-1].row, last_column=held[-1].column)
