"""A report as SARIF 2.1.0, one result per finding, for code-scanning dashboards; a cell is a logical location."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from xlcheck.checking import CheckResult, Finding
from xlcheck.report.document import Report
from xlcheck.report.json import dumps
from xlcheck.report.words import plain, quantity

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LONGEST = 1_000


def report_sarif(report: Report) -> str:
    """Return the SARIF text; fatal and scored findings are errors, warnings are warnings, open checks are notes."""
    rules = list(dict.fromkeys(result.check_id for result in report.results))
    found = [
        _entry(report, result, finding, rules.index(result.check_id))
        for result in report.results
        if result.status in ("fail", "partial", "unverifiable")
        for finding in result.findings or (None,)
    ]
    driver = {
        "name": "xlcheck",
        "semanticVersion": report.xlcheck_version,
        "rules": [{"id": rule} for rule in rules],
    }
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": found}
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _entry(report: Report, result: CheckResult, finding: Finding | None, rule: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "ruleId": result.check_id,
        "ruleIndex": rule,
        "level": _level(result),
        "message": {"text": _message(result, finding)},
    }
    if report.workbook is not None:
        entry["locations"] = [_location(report.workbook, finding)]
    if result.caused_by is not None:
        entry["properties"] = {"causedBy": result.caused_by}
    return entry


def _level(result: CheckResult) -> str:
    if result.status == "unverifiable":
        return "note"
    return "warning" if result.severity == "warn" or result.caused_by else "error"


def _message(result: CheckResult, finding: Finding | None) -> str:
    if finding is None:
        return plain(result.reason or "not decided", _LONGEST)
    parts = [finding.message]
    parts += [f"found {quantity(finding.found, finding.unit)}"] if finding.found is not None else []
    parts += [f"expected {quantity(finding.expected, finding.unit)}"] if finding.expected is not None else []
    return plain("; ".join(parts), _LONGEST)


def _location(workbook: str, finding: Finding | None) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": quote(workbook)}}}
    if finding is not None and finding.cell is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": plain(str(finding.cell)), "kind": "member"}]
    return location
