"""Sheet names that begin with a digit: Excel writes them in quotes, LibreOffice without, and engines read a number."""

from __future__ import annotations

import re

from xlcheck.reading.tokens import quote, tokens, unquoted

_BARE = re.compile(r"(?<![\w.'\]])[0-9][\w.]*(?::[\w.]+)?!")


def with_quotes(formula: str) -> str:
    """Return a formula in which such a sheet name stands in quotes: ``2_Costs!B4`` is ``'2_Costs'!B4``."""
    if not _BARE.search(formula):
        return formula
    return "".join(
        quote(unquoted(word.area.sheet)) + word.text[len(word.area.sheet) :]
        if word.area is not None and _BARE.match(word.area.sheet)
        else word.text
        for word in tokens(formula)
    )
