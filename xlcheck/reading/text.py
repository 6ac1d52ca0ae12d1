"""Shared strings: rich runs joined, phonetic runs dropped, escaped control characters restored."""

from __future__ import annotations

import re

from xlcheck.errors import SubmissionError
from xlcheck.intake import Package
from xlcheck.reading.parts import where
from xlcheck.reading.xml import local, stream

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
MAX_STRINGS = 5_000_000


def unescaped(text: str) -> str:
    """Turn ``_x000D_`` into the character it stands for."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def shared_strings(package: Package, part: str | None) -> list[str]:
    """Return the shared strings in order; an empty list where the part is missing."""
    data = package.part(part) if part else None
    if data is None or part is None:
        return []
    strings: list[str] = []
    pieces: list[str] = []
    phonetic = 0
    inside = False

    def start(name: str, _: dict[str, str]) -> None:
        nonlocal phonetic, inside
        tag = local(name)
        if tag == "t":
            inside = not phonetic
        elif tag == "rPh":
            phonetic += 1

    def end(name: str) -> None:
        nonlocal phonetic, inside
        tag = local(name)
        if tag == "t":
            inside = False
        elif tag == "rPh":
            phonetic -= 1
        elif tag == "si":
            strings.append(unescaped("".join(pieces)))
            pieces.clear()
            if len(strings) > MAX_STRINGS:
                raise SubmissionError(f"{where(package, part)} has more than {MAX_STRINGS:,} strings")

    def text(data: str) -> None:
        if inside:
            pieces.append(data)

    stream(data, where(package, part), start, end, text)
    return strings
