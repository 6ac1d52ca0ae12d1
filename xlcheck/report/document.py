"""The report: one versioned document that every renderer reads, and the JSON of ``grade`` and ``audit``.

It holds no clock, host or path: the same inputs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from xlcheck.cells import Frozen
from xlcheck.checking import BROKEN, CheckResult
from xlcheck.report.json import dumps
from xlcheck.roles import Located, LocatedSeries
from xlcheck.scoring.card import ScoreCard

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
        """Return one row per finding, and one per check without findings, as a pandas table."""
        import pandas as pd

        return pd.DataFrame(finding_rows(self.results))


def report_schema() -> str:
    """Return the JSON Schema of report.json; decimals are strings there, cells texts such as ``DCF!C40``."""
    return dumps(Report.model_json_schema(mode="serialization"))


def finding_rows(results: Iterable[CheckResult]) -> list[dict[str, object]]:
    """Return one flat row per finding, and one per check without findings."""
    return [row for result in results for row in _rows(result)]


def _rows(result: CheckResult) -> list[dict[str, object]]:
    head = {
        "item": result.item,
        "check_id": result.check_id,
        "severity": result.severity,
        "status": result.status,
        "credit": None if result.credit is None else float(result.credit),
        "convention": result.convention,
        "caused_by": result.caused_by,
        "reason": result.reason,
    }
    blank = {"cell": None, "found": None, "expected": None, "unit": None, "message": None}
    return [
        {
            **head,
            "cell": None if finding.cell is None else str(finding.cell),
            "found": finding.found,
            "expected": finding.expected,
            "unit": finding.unit,
            "message": finding.message,
        }
        for finding in result.findings
    ] or [{**head, **blank}]
