"""A Markdown summary of a report, for pull requests and chat: score, fatal errors, lost points, open items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from xlcheck.checking import CheckResult
from xlcheck.report.document import Report
from xlcheck.report.words import figures, plain, points, status_words
from xlcheck.scoring.card import Line, ScoreCard

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$])")


def escaped(text: str) -> str:
    """Return text of a submission so that Markdown and HTML show it as it is."""
    return _MARKS.sub(r"\\\1", plain(text, 300))


def report_markdown(report: Report) -> str:
    """Return the summary as Markdown text."""
    card = report.score_card
    lines = [f"## {escaped(report.workbook or 'No workbook')}", ""]
    lines += _audit(report.results) if card is None else _grade(report, card)
    return "\n".join(lines) + "\n"


def _grade(report: Report, card: ScoreCard) -> Iterator[str]:
    if card.low is None or card.high is None:
        yield f"**No score: {card.status}.** {escaped(card.reason or '')}"
        return
    shown = points(card.low) if card.low == card.high else f"{points(card.low)} to {points(card.high)}"
    capped = f", capped at {points(card.cap)} by a fatal error (sum {points(card.uncapped)})" if card.fatal else ""
    yield f"**{shown} of 100** ({status_words(card)}{capped}) by `{report.rubric_id}`"
    if card.reason:
        yield f"\n{escaped(card.reason)}"
    fatal = [line for line in card.lines if line.kind == "fatal" and line.item in card.fatal]
    lost = sorted((line for line in card.lines if line.lost > 0), key=lambda line: -line.lost)
    yield from _table("Fatal errors", [_row(line, "fatal") for line in fatal])
    yield from _table("Points lost", [_row(line, f"−{points(line.lost)}") for line in lost])
    yield from _table("Open", [_row(line, points(line.at_stake)) for line in card.lines if line.open])
    changed = [line for line in card.lines if line.overruled]
    yield from _table("Changed by hand", [[*_row(line, "")[:4], escaped(line.reason or "")] for line in changed])


def _row(line: Line, amount: str) -> list[str]:
    said = [line.message or line.reason or "", *figures(line.found, line.expected)]
    return [amount, line.item, escaped(line.title), escaped(line.cell or ""), escaped("; ".join(filter(None, said)))]


def _audit(results: Iterable[CheckResult]) -> Iterator[str]:
    rows = [
        [result.status, result.check_id, result.severity, escaped(str(finding.cell or "")), escaped(finding.message)]
        for result in results
        if result.status in ("fail", "partial")
        for finding in result.findings[:5]
    ]
    yield from _table("Findings", rows) if rows else ["No check failed."]


def _table(title: str, rows: list[list[str]]) -> Iterator[str]:
    if not rows:
        return
    yield f"\n### {title}\n"
    yield "| | | | Cell | |"
    yield "|---|---|---|---|---|"
    yield from ("| " + " | ".join(row) + " |" for row in rows)
