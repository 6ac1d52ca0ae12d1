"""A report as GitHub's workflow commands: printed in a job, each becomes an annotation of the run."""

from __future__ import annotations

from xlcheck.report.alerts import Alert, alerts
from xlcheck.report.document import Report
from xlcheck.report.words import plain, points

_COMMAND = {"error": "error", "warning": "warning", "note": "notice"}
_ORDER = list(_COMMAND)
_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY_ESCAPES = {**_ESCAPES, ":": "%3A", ",": "%2C"}


def report_github(report: Report) -> str:
    """Return one command a line: errors first, since GitHub shows ten of a kind; then the score."""
    told = sorted(alerts(report), key=lambda alert: _ORDER.index(alert.level))
    return "".join(f"{line}\n" for line in [*(_command(report, alert) for alert in told), _last(report)])


def _command(report: Report, alert: Alert) -> str:
    where = "" if alert.cell is None else f" {plain(str(alert.cell))}"
    file = f"file={_property(report.workbook)}," if report.workbook is not None else ""
    title = _property(f"{alert.check_id}{where}")
    return f"::{_COMMAND[alert.level]} {file}title={title}::{_escaped(alert.text, _ESCAPES)}"


def _last(report: Report) -> str:
    card = report.score_card
    if card is None:
        said = "audit: no score"
    elif card.low is None or card.high is None:
        said = f"no score: {card.status}. {plain(card.reason or '')}"
    else:
        ends = " to ".join(dict.fromkeys((points(card.low), points(card.high))))
        said = f"{ends} of 100 ({card.status})"
    name = plain(report.workbook or "no workbook")
    return f"::notice title=xlcheck::{_escaped(f'{name} by {report.rubric_id}: {said}', _ESCAPES)}"


def _property(text: str) -> str:
    return _escaped(plain(text), _PROPERTY_ESCAPES)


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)
