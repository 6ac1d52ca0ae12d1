"""The terminal summary: score, fatal errors first, then each lost point with its cell, found and expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from xlcheck.checking import CheckResult, Finding
from xlcheck.report.checkdocs import summary
from xlcheck.report.document import Report
from xlcheck.report.words import amount, columns, count, figures, plain, points, quantity, status_words
from xlcheck.scoring.card import Line, ScoreCard

_CODES = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}
_STATUS_COLOUR = {"pass": "green", "fail": "red", "partial": "yellow", "unverifiable": "yellow"}
_SHOWN = 5
_READ = {
    "value_per_share": "value per share",
    "equity_value": "equity value",
    "enterprise_value": "enterprise value",
    "wacc": "WACC",
    "terminal_growth": "terminal growth",
}
"""Roles that a summary shows, and their names."""


class Paint:
    """Wraps text in ANSI colour codes, or leaves it as it is."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, style: str) -> str:
        """Return the text in a style of ``red green yellow bold dim``."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style in _CODES else text


def report_text(report: Report, *, colour: bool = False) -> str:
    """Return the summary of a report as lines for a terminal."""
    paint = Paint(colour)
    card = report.score_card
    lines = _audit_lines(report, paint) if card is None else _grade_lines(report, card, paint)
    return "".join(f"{line}\n" for line in lines)


def _grade_lines(report: Report, card: ScoreCard, paint: Paint) -> Iterator[str]:
    yield f"{plain(report.workbook or 'No workbook')}, graded by {report.rubric_id}: {report.rubric_title}"
    yield ""
    yield from _score_lines(card, paint)
    yield from _read_lines(report, paint)
    findings = {result.item or result.check_id: result for result in report.results}
    fatal = [line for line in card.lines if line.kind == "fatal" and not line.open and line.item in card.fatal]
    lost = sorted((line for line in card.lines if line.lost > 0), key=lambda line: -line.lost)
    undecided = [line for line in card.lines if line.open]
    for title, lines in (("Fatal errors", fatal), ("Points lost", lost), ("Open", undecided)):
        if lines:
            yield ""
            yield paint(title, "bold")
            for line in lines:
                yield from _line_lines(line, findings.get(line.item), paint)
    changed = [line for line in card.lines if line.overruled]
    if changed:
        yield ""
        yield paint("Changed by hand", "bold")
        yield from (f"  {paint(line.item, 'yellow')}  {plain(line.reason or '', 300)}" for line in changed)
    yield from _warnings(report, paint)


def _score_lines(card: ScoreCard, paint: Paint) -> Iterator[str]:
    if card.low is None or card.high is None:
        yield f"{paint(f'No score: {card.status}', 'red')}. {plain(card.reason or '', 400)}"
        return
    shown = points(card.low) if card.low == card.high else f"{points(card.low)} to {points(card.high)}"
    colour = "red" if card.fatal else "yellow" if card.status != "final" else "green"
    yield paint(f"Score {shown} of 100", colour) + f" ({status_words(card)})"
    if card.reason:
        yield plain(card.reason, 400)
    best = card.best
    for name, low, high in (
        ("from checks", card.program, best.program if best else card.program),
        ("from the judge", card.judged, best.judged if best else card.judged),
        ("deducted", card.deducted, best.deducted if best else card.deducted),
    ):
        yield f"  {name + ':':15} {points(low) if low == high else f'{points(low)} to {points(high)}'}"
    if card.fatal:
        without = card.uncapped if best is None else best.uncapped
        fatal_errors = count(len(card.fatal), "fatal error")
        yield f"  capped at {points(card.cap)} by {fatal_errors}; without it at most {points(without)}"


def _line_lines(line: Line, result: CheckResult | None, paint: Paint) -> Iterator[str]:
    what = f"-{points(line.lost)}" if line.lost > 0 else f"{points(line.at_stake)} open" if line.at_stake > 0 else ""
    name = paint(line.item, "yellow" if line.open else "red")
    said = [line.check or "", line.title if line.title != line.check else summary(line.check)]
    shown = ": ".join(text for text in said if text and text != line.item)
    yield f"  {name}  {what + '  ' if what else ''}{plain(shown, 200)}".rstrip()
    if result is not None and result.findings:
        yield from _finding_block(result.findings, paint)
    elif line.message:
        yield f"      {plain(line.message, 300)}"
    if line.reason:
        yield f"      {plain(line.reason, 300)}"


def _warnings(report: Report, paint: Paint) -> Iterator[str]:
    charged = {line.check for line in report.score_card.lines} if report.score_card else set()
    warned = [
        result
        for result in report.results
        if result.severity == "warn" and result.status in ("fail", "partial") and result.check_id not in charged
    ]
    if warned:
        yield ""
        yield paint("Warnings", "bold")
        for result in warned:
            yield from result_lines(result, paint)


def _audit_lines(report: Report, paint: Paint) -> Iterator[str]:
    yield paint(f"{plain(report.workbook or 'no workbook')}: {_tally(report.results)}", "bold")
    yield from _read_lines(report, paint)
    wrong = [result for result in report.results if result.status in ("fail", "partial")]
    for title, chosen in (
        ("Fatal errors", [result for result in wrong if result.severity == "fatal"]),
        ("Faults", [result for result in wrong if result.severity == "scored" and not result.caused_by]),
        ("Consequences of the above", [result for result in wrong if result.severity != "fatal" and result.caused_by]),
        ("Warnings", [result for result in wrong if result.severity == "warn" and not result.caused_by]),
    ):
        if chosen:
            yield ""
            yield paint(title, "bold")
            for result in chosen:
                yield from result_lines(result, paint)
    unsure: dict[str, list[str]] = {}
    for result in report.results:
        if result.status == "unverifiable":
            unsure.setdefault(plain(result.reason or "not decided", 200), []).append(result.check_id)
    if unsure:
        yield ""
        yield paint("Could not be verified", "bold")
        for reason, check_ids in unsure.items():
            yield f"  {reason}"
            yield f"      {', '.join(check_ids)}"


def _read_lines(report: Report, paint: Paint) -> Iterator[str]:
    """Yield what the valuation was read as, so that a grader sees at once whether the right cells were found."""
    if report.workbook is None:
        return
    yield ""
    found = [report.roles[role] for role in _READ if role in report.roles]
    if not found:
        yield "No valuation was found in it; with --binding you can say where it stands"
        return
    yield paint("Read as", "bold")
    rows = [[_READ[at.role], plain(str(at.cell or at.expression)), amount(at)] for at in found]
    yield from columns(rows).splitlines()


def _tally(results: Iterable[CheckResult]) -> str:
    counts: Counter[str] = Counter(result.status for result in results)
    words = {"pass": "passed", "fail": "failed", "partial": "partly passed", "unverifiable": "not verifiable"}
    words["not_applicable"] = "not applicable"
    return ", ".join(f"{counts[status]} {word}" for status, word in words.items() if counts[status]) or "no checks"


def result_lines(result: CheckResult, paint: Paint) -> Iterator[str]:
    """Yield the id of a check with what it holds, then its findings."""
    name = paint(result.check_id, _STATUS_COLOUR.get(result.status, "dim"))
    cause = f" (follows from {result.caused_by})" if result.caused_by else ""
    says = summary(result.check_id)
    yield f"  {name}{cause}{': ' + says if says else ''}"
    yield from _finding_block(result.findings, paint)


def _finding_block(findings: tuple[Finding, ...], paint: Paint) -> Iterator[str]:
    for finding in findings[:_SHOWN]:
        yield from finding_lines(finding, paint)
    if len(findings) > _SHOWN:
        yield f"      … and {len(findings) - _SHOWN} more"


def finding_lines(finding: Finding, paint: Paint) -> Iterator[str]:
    """Yield the cell with its sentence, then found and expected, then the effect on value."""
    cell, message = plain(str(finding.cell or "")), plain(finding.message, 300)
    said = message.removeprefix(f"{cell} ")  # many sentences begin with the cell, which stands there already
    gap = " " if said != message else "  "
    yield f"      {paint(cell, 'bold') + gap if cell else ''}{said}"
    shown = figures(finding.found, finding.expected, finding.unit)
    if shown:
        yield paint(f"        {', '.join(shown)}", "dim")
    if finding.effect is not None and finding.effect.stated != finding.effect.repaired:
        effect = finding.effect
        moves = f"from {quantity(effect.stated)} to {quantity(effect.repaired)}"
        yield paint(f"        repaired, {effect.role.replace('_', ' ')} moves {moves}", "dim")
