"""The report: one versioned document that every renderer reads, and the JSON of ``grade`` and ``audit``.

It holds no clock, host or path: the same inputs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from xlcheck.cells import Frozen
from xlcheck.checking import BROKEN, CheckResult, Finding
from xlcheck.diff import Difference
from xlcheck.report.json import dumps
from xlcheck.roles import Located, LocatedSeries
from xlcheck.scoring.card import ScoreCard
from xlcheck.scoring.forecast import ForecastScore
from xlcheck.scoring.outcome import Outcome

if TYPE_CHECKING:
    from pandas import DataFrame


class Report(Frozen):
    """What was found in one submission, by the checks alone (`audit`) or with its score (`grade`)."""

    schema_version: Literal[1] = 1
    """Raised when a key changes its meaning or goes away; new keys may appear without it."""
    xlcheck_version: str
    engines: Mapping[str, str]
    """Recalculation engine to version, those that were asked; empty where nothing was recomputed."""
    workbook: str | None
    """File name without folders; None where there was no workbook."""
    workbook_sha256: str | None
    rubric_id: str
    rubric_title: str
    rubric_sha256: str
    """Of what the rubric says, whatever its comments and layout."""
    roles: Mapping[str, Located]
    """Bound scalar roles of the headline valuation."""
    series: Mapping[str, LocatedSeries]
    ambiguous: Mapping[str, tuple[Located, ...]]
    """Roles that could not be told with confidence, with their candidates."""
    headline: str | None
    """Name of the headline valuation; None if none was found or it is ambiguous."""
    results: tuple[CheckResult, ...]
    score_card: ScoreCard | None
    """None for an audit, which gives no score."""
    followup: Report | None = None
    """The second round, a report of its own."""
    differences: tuple[Difference, ...] = ()
    """In the report of a second round: its outputs and changed cells beside those of the first."""
    forecast: ForecastScore | None = None
    """In the mode `quantile_forecast`: the weighted interval scores behind the points."""
    outcome: Outcome | None = None
    """In the mode `outcome`: the share of every question."""

    def to_json(self) -> str:
        """Return the document as JSON text; decimals are strings, cells ``Sheet name!A1``."""
        return dumps(self.model_dump(mode="json"))

    def broken(self) -> list[tuple[str, str]]:
        """Return (check id, reason) of every check that raised an error instead of giving a result."""
        return [
            (result.check_id, result.reason)
            for result in self.results
            if result.reason is not None and result.reason.startswith(BROKEN)
        ]

    def to_frame(self) -> DataFrame:
        """Return one row per finding, and one per check without findings, as a pandas table with typed columns."""
        import pandas as pd

        return pd.DataFrame(finding_rows(self.results), columns=list(COLUMNS)).astype(COLUMNS)


def report_json(report: Report) -> str:
    """Return report.json again."""
    return report.to_json()


COLUMNS = {
    "item": "string",
    "check_id": "string",
    "severity": "string",
    "status": "string",
    "credit": "Float64",
    "convention": "string",
    "caused_by": "string",
    "reason": "string",
    "cell": "string",
    "found": "Float64",
    "found_text": "string",
    "expected": "Float64",
    "expected_text": "string",
    "unit": "string",
    "message": "string",
}
"""Column to pandas type; a value that is missing is ``pd.NA``. A number stands in `found`, a text in `found_text`."""


def finding_rows(results: Iterable[CheckResult]) -> list[dict[str, object]]:
    """Return one flat row per finding, and one per check without findings; its keys are those of `COLUMNS`."""
    return [_row(result, finding) for result in results for finding in result.findings or (None,)]


def _row(result: CheckResult, finding: Finding | None) -> dict[str, object]:
    row = dict.fromkeys(COLUMNS) | {
        "item": result.item,
        "check_id": result.check_id,
        "severity": result.severity,
        "status": result.status,
        "credit": None if result.credit is None else float(result.credit),
        "convention": result.convention,
        "caused_by": result.caused_by,
        "reason": result.reason,
    }
    if finding is None:
        return row
    values = {
        name + ("_text" if isinstance(value, str) else ""): value
        for name, value in (("found", finding.found), ("expected", finding.expected))
    }
    cell = None if finding.cell is None else str(finding.cell)
    return row | values | {"cell": cell, "unit": finding.unit, "message": finding.message}
