"""How the page writes values, points and the sentences of the program in its language."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from xlcheck.cells import CellRef, RangeRef, is_number
from xlcheck.checking import Finding
from xlcheck.report.document import Report
from xlcheck.report.language import Words
from xlcheck.report.words import plain, points, quantity
from xlcheck.roles import Located, LocatedSeries

LONGEST = 500
"""Characters of submission text in one place of the page."""


def filters(report: Report, say: Words) -> dict[str, Callable[..., str]]:
    """Return the functions that the template calls."""
    sheets = sheet_names(report)

    def sentence(text: str, otherwise: str = "generic_reason") -> str:
        return plain(say.sentence(text, otherwise, sheets), LONGEST)

    def value(found: float | str | None, unit: str = "", *, said: bool = False) -> str:
        """Write what was found; `said` for what the program says of it, which the submission never does."""
        if found is None:
            return say("nothing")
        if not isinstance(found, str):
            return quantity(found, unit)
        return plain(say.phrase(found, sheets) if said else say.word(found), LONGEST)

    def interval(low: Decimal, high: Decimal | None) -> str:
        same = high is None or points(low) == points(high)
        return points(low) if high is None or same else say("range", low=points(low), high=points(high))

    return {
        "sentence": sentence,
        "value": value,
        "interval": interval,
        "points": points,
        "plain": lambda text: plain(str(text), LONGEST),
        "off": off,
    }


def off(found: Finding) -> str:
    """Return by how much the found number misses the expected one, in per cent; empty where that says nothing."""
    if not is_number(found.found) or not is_number(found.expected) or not found.found or not found.expected:
        return ""
    share = (float(found.found or 0.0) / float(found.expected) - 1) * 100
    return f"{share:+.1f} %" if 0.05 <= abs(share) < 1000 else ""


def sheet_names(report: Report) -> tuple[str, ...]:
    """Return the names of the sheets that a report speaks of, so that cells in its sentences can be told."""
    cells: list[CellRef | RangeRef | None] = [located.cell for located in report.roles.values()]
    for line in report.series.values():
        cells += line.cells
    for result in report.results:
        cells += [*result.cells_read, *(finding.cell for finding in result.findings)]
    bound: list[Located | LocatedSeries] = [*report.roles.values(), *report.series.values()]
    evidence = (text for one in bound for text in one.evidence)
    labels = (match[1] for text in evidence if (match := _LABEL.match(text)))
    return tuple(dict.fromkeys((*(cell.sheet for cell in cells if cell is not None), *labels)))


_LABEL = re.compile(r"([^!]{1,31})![A-Z]{1,3}[0-9]+ ")
"""The cell that a sentence of evidence begins with."""
