"""A report as SARIF 2.1.0, one result per alert, for code-scanning dashboards; a cell is a logical location."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from xlcheck.report.alerts import Alert, alerts
from xlcheck.report.checkdocs import summary
from xlcheck.report.document import Report
from xlcheck.report.json import dumps
from xlcheck.report.words import plain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def report_sarif(report: Report) -> str:
    """Return the SARIF text; every check that ran is a rule."""
    rules = list(dict.fromkeys(result.check_id for result in report.results))
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "xlcheck",
                "semanticVersion": report.xlcheck_version,
                "rules": [_rule(check_id) for check_id in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(report, alert, rules.index(alert.check_id)) for alert in alerts(report)],
    }
    if report.workbook is not None and report.workbook_sha256 is not None:
        run["artifacts"] = [
            {"location": {"uri": quote(report.workbook)}, "hashes": {"sha-256": report.workbook_sha256}}
        ]
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(check_id: str) -> dict[str, Any]:
    says = summary(check_id)
    return {"id": check_id, **({"shortDescription": {"text": says}} if says else {})}


def _result(report: Report, alert: Alert, rule: int) -> dict[str, Any]:
    where = "" if alert.cell is None else plain(str(alert.cell))
    entry: dict[str, Any] = {
        "ruleId": alert.check_id,
        "ruleIndex": rule,
        "level": alert.level,
        "message": {"text": alert.text},
        "partialFingerprints": {"checkAndCell/v1": f"{alert.check_id} {where}".rstrip()},
    }
    if report.workbook is not None:
        location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": quote(report.workbook)}}}
        if where:
            location["logicalLocations"] = [{"fullyQualifiedName": where, "kind": "member"}]
        entry["locations"] = [location]
    if alert.caused_by is not None:
        entry["properties"] = {"causedBy": alert.caused_by}
    return entry
