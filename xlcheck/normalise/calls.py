"""Calls within a formula's text, rewritten one by one from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xlcheck.reading.tokens import Token, tokens

Convert = Callable[[str, Sequence[list[Token]], Sequence[str]], str | None]
"""Takes a function's name, the words of its arguments and their rewritten texts; None leaves the call as it is."""


_DEEPEST = 100
"""Calls within calls that are rewritten; Excel itself takes 64."""


def rewritten(formula: str, names: Collection[str], convert: Convert) -> str:
    """Return a formula with every call of the named functions passed through `convert`, down to `_DEEPEST`."""
    return _text(list(tokens(formula)), names, convert, 0)


def _text(words: Sequence[Token], names: Collection[str], convert: Convert, depth: int) -> str:
    out = []
    index = 0
    while index < len(words):
        word = words[index]
        name = word.text.rstrip("( ").upper()
        called = word.kind == "function" and name in names and depth < _DEEPEST
        found = arguments(words[index + 1 :]) if called else None
        if found is None:
            out.append(word.text)
            index += 1
            continue
        texts = [_text(argument, names, convert, depth + 1) for argument in found]
        out.append(convert(name, found, texts) or f"{word.text}{','.join(texts)})")
        index += 1 + sum(map(len, found)) + len(found)
    return "".join(out)


def arguments(words: Sequence[Token]) -> list[list[Token]] | None:
    """Return the words of each argument, up to the bracket that closes the call; None if none does."""
    found: list[list[Token]] = [[]]
    depth = 0
    for word in words:
        if depth == 0 and word.kind == "close":
            return found
        if depth == 0 and word.text == ",":
            found.append([])
            continue
        depth += (word.kind in ("function", "open")) - (word.kind == "close")
        found[-1].append(word)
    return None
