"""Functions that a workbook defines by LAMBDA under a name, written out: only the primary engine knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xlcheck.normalise.calls import arguments, rewritten
from xlcheck.reading.tokens import Token, tokens
from xlcheck.workbook import Book

_DEEPEST = 5
"""Functions within functions; one that calls itself is left as it is."""


class Function(NamedTuple):
    """What a name stands for."""

    parameters: Sequence[str]
    body: Sequence[Token]


def functions(book: Book) -> Mapping[str, Function]:
    """Return the functions that names of the workbook define, by their name in capitals."""
    found = {}
    for name in book.names:
        words = list(tokens(name.formula))
        if name.sheet is None and words and words[0].text.upper() in ("LAMBDA(", "_XLFN.LAMBDA("):
            parts = arguments(words[1:])
            if parts is not None:
                parameters = ["".join(word.text for word in part).strip().casefold() for part in parts[:-1]]
                found[name.name.upper()] = Function(parameters, parts[-1])
    return found


def written_out(formula: str, known: Mapping[str, Function]) -> str:
    """Return a formula with the calls of these functions replaced by their bodies."""

    def body(name: str, _: Sequence[list[Token]], texts: Sequence[str]) -> str | None:
        function = known[name]
        if len(texts) != len(function.parameters):
            return None
        given = {parameter: f"({text})" for parameter, text in zip(function.parameters, texts, strict=True)}
        return f"({''.join(given.get(word.text.casefold(), word.text) for word in function.body)})"

    for _ in range(_DEEPEST if known else 0):
        if not any(f"{name}(" in formula.upper() for name in known):
            break
        formula = rewritten(formula, known, body)
    return formula
