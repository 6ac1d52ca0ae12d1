"""What a dashboard or a pull request is told of a report: one alert per finding, and one per check that is open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import CheckResult, Finding
from xlcheck.report.document import Report
from xlcheck.report.words import figures, plain

Level = Literal["error", "warning", "note"]
_LONGEST = 1_000


class Alert(NamedTuple):
    """One sentence about one cell."""

    check_id: str
    level: Level
    """Fatal and scored findings are errors; warnings and consequences warnings; what is open is a note."""
    cell: CellRef | RangeRef | None
    text: str
    caused_by: str | None


def alerts(report: Report) -> Iterator[Alert]:
    """Yield what failed and what is open, in the order of the report."""
    for result in report.results:
        if result.status not in ("fail", "partial", "unverifiable"):
            continue
        for finding in result.findings or (None,):
            cell = finding.cell if finding is not None else None
            yield Alert(result.check_id, _level(result), cell, _text(result, finding), result.caused_by)


def _level(result: CheckResult) -> Level:
    if result.status == "unverifiable":
        return "note"
    return "warning" if result.severity == "warn" or result.caused_by else "error"


def _text(result: CheckResult, finding: Finding | None) -> str:
    if finding is None:
        return plain(result.reason or "not decided", _LONGEST)
    parts = [finding.message, *figures(finding.found, finding.expected, finding.unit)]
    return plain("; ".join(parts), _LONGEST)
