"""Shared strings: rich runs joined, phonetic runs dropped, escaped control characters restored."""

from __future__ import annotations

import re

from xlcheck.errors import SubmissionError
from xlcheck.intake import Package
from xlcheck.reading.parts import where
from xlcheck.reading.xml import MAX_DEPTH, local, stream

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


def unescaped(text: str) -> str:
    """Turn ``_x000D_`` into the character it stands for; half a surrogate pair becomes U+FFFD."""
    if "_x" not in text:
        return text
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def shared_strings(package: Package, part: str | None) -> list[str]:
    """Return the shared strings in order; an empty list where the part is missing."""
    if part is None or part not in package:
        return []
    strings: list[str] = []
    pieces: list[str] = []
    budget = package.limits.string_characters
    depth = phonetic = 0
    inside = False

    def start(name: str, _: dict[str, str]) -> None:
        nonlocal depth, phonetic, inside
        tag = local(name)
        depth += 1
        if depth > MAX_DEPTH:
            raise SubmissionError(f"{where(package, part)} nests elements deeper than any workbook needs")
        if tag == "t":
            inside = not phonetic
        elif tag == "rPh":
            phonetic += 1

    def end(name: str) -> None:
        nonlocal depth, phonetic, inside
        tag = local(name)
        depth -= 1
        if tag == "t":
            inside = False
        elif tag == "rPh":
            phonetic -= 1
        elif tag == "si":
            strings.append(unescaped("".join(pieces)))
            pieces.clear()

    def text(data: str) -> None:
        nonlocal budget
        if inside:
            pieces.append(data)
            budget -= len(data)
            if budget < 0:
                limit = package.limits.string_characters
                raise SubmissionError(f"{where(package, part)} holds more than {limit:,} characters of text")

    stream(package.chunks(part), where(package, part), start, end, text)
    return strings
