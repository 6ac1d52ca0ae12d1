"""ROW and COLUMN of several cells as the array that they are: engines give one number for it.

``SUMPRODUCT(A1:A3/1.1^ROW(A1:A3))`` becomes ``SUMPRODUCT(A1:A3/1.1^{1;2;3})``; ``ROW(INDIRECT("1:"&n))``, the
old way to count from 1 to n, becomes ``SEQUENCE(n)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.cells import CellRef, RangeRef
from xlcheck.reading.scope import defined_name, name_area, rectangles, structured
from xlcheck.reading.tokens import Token, tokens
from xlcheck.workbook import Book

POSITION = re.compile(r"(?<![\w.])(?:ROW|COLUMN)\(\s*[^)\s]", re.IGNORECASE)
_COUNTED = re.compile(r"(?<![\w.])ROW\(\s*INDIRECT\(", re.IGNORECASE)
_LITERAL = re.compile(r'\s*"\$?(\d+):\$?(\d+)"\s*')
_FROM = re.compile(r'\s*"\$?(\d+):\$?"\s*&(.+)', re.DOTALL)
_LONGEST = 2_000
"""An array constant is not made longer than this."""


def spell_positions(text: str, at: CellRef, book: Book) -> str:
    """Return a formula (with or without ``=``) in which no ROW or COLUMN stands for several numbers."""
    if not POSITION.search(text):
        return text
    words = list(tokens(_counted(text)))
    return "".join(_spelt(words, at, book))


def _spelt(words: list[Token], at: CellRef, book: Book) -> Iterator[str]:
    index = 0
    while index < len(words):
        area = _argument(words, index, at, book)
        if area is not None:
            yield _array(area, by_row=words[index].text[0] in "Rr")
            index += 3
        else:
            yield words[index].text
            index += 1


def _argument(words: list[Token], index: int, at: CellRef, book: Book) -> RangeRef | None:
    """Return the rectangle that ROW or COLUMN at this word is asked about, if it is more than one cell."""
    if words[index].text.upper() not in ("ROW(", "COLUMN(") or len(words) < index + 3 or words[index + 2].text != ")":
        return None
    word = words[index + 1]
    area = word.area
    if word.kind == "name":
        name = defined_name(word.text, at.sheet, book)
        area = name_area(name, at) if name else None
    if word.kind == "table":
        return structured(word.text, book, at)
    if area is None or area.single:
        return None
    if area.first_row and not area.first_column:
        first, last = sorted((area.first_row, area.last_row))
        return RangeRef(at.sheet, first, 1, last, 1)
    found = rectangles(area, at.sheet, None)
    return found[0] if len(found) == 1 and area.first_row and area.first_column else None


def _array(area: RangeRef, *, by_row: bool) -> str:
    first, last = (area.first_row, area.last_row) if by_row else (area.first_column, area.last_column)
    if last - first + 1 > _LONGEST:
        shape = f"{last - first + 1}" if by_row else f"1,{last - first + 1}"
        return f"(_xlfn.SEQUENCE({shape})+{first - 1})"
    return "{" + (";" if by_row else ",").join(str(number) for number in range(first, last + 1)) + "}"


def _counted(text: str) -> str:
    """Replace ROW(INDIRECT("a:b")) and ROW(INDIRECT("a:"&n)) by a sequence."""
    match = _COUNTED.search(text)
    while match is not None:
        inner = _closing(text, match.end())
        outer = None if inner is None else _closing(text, inner + 1)
        if inner is None or outer is None:
            return text
        sequence = _sequence(text[match.end() : inner])
        if sequence is not None and not text[inner + 1 : outer].strip():
            text = text[: match.start()] + sequence + text[outer + 1 :]
            match = _COUNTED.search(text, match.start() + len(sequence))
        else:
            match = _COUNTED.search(text, match.end())
    return text


def _sequence(argument: str) -> str | None:
    literal = _LITERAL.fullmatch(argument)
    if literal:
        first, last = int(literal[1]), int(literal[2])
        return _array(RangeRef("", first, 1, last, 1), by_row=True) if first <= last else None
    counted = _FROM.fullmatch(argument)
    if counted is None:
        return None
    before = int(counted[1]) - 1
    return f"(_xlfn.SEQUENCE({counted[2]}-{before})+{before})" if before else f"_xlfn.SEQUENCE({counted[2]})"


def _closing(text: str, start: int) -> int | None:
    """Return where the parenthesis opened just before `start` closes; text in quotes does not count."""
    depth, quoted = 1, False
    for index in range(start, len(text)):
        character = text[index]
        if character == '"':
            quoted = not quoted
        elif not quoted and character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return index
    return None
