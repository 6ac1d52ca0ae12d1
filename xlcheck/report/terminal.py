"""The terminal summary: score, fatal errors first, then each lost point with its cell, found and expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from xlcheck.checking import CheckResult, Finding
from xlcheck.report.document import Report
from xlcheck.report.words import plain, quantity

_CODES = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}
_STATUS_COLOUR = {"pass": "green", "fail": "red", "partial": "yellow", "unverifiable": "yellow"}
_SHOWN = 5


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
    return "".join(f"{line}\n" for line in _audit_lines(report, paint))


def _audit_lines(report: Report, paint: Paint) -> Iterator[str]:
    yield paint(f"{plain(report.workbook or 'no workbook')}: {_tally(report.results)}", "bold")
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
    open_results = [result for result in report.results if result.status == "unverifiable"]
    if open_results:
        yield ""
        yield paint("Could not be verified", "bold")
        for result in open_results:
            yield f"  {result.check_id}: {plain(result.reason or '', 200)}"


def _tally(results: Iterable[CheckResult]) -> str:
    counts: Counter[str] = Counter(result.status for result in results)
    words = {"pass": "passed", "fail": "failed", "partial": "partly passed", "unverifiable": "not verifiable"}
    words["not_applicable"] = "not applicable"
    return ", ".join(f"{counts[status]} {word}" for status, word in words.items() if counts[status]) or "no checks"


def result_lines(result: CheckResult, paint: Paint) -> Iterator[str]:
    """Yield the id of a check, then one line per finding."""
    name = paint(result.check_id, _STATUS_COLOUR.get(result.status, "dim"))
    cause = f" (follows from {result.caused_by})" if result.caused_by else ""
    yield f"  {name}{cause}"
    for finding in result.findings[:_SHOWN]:
        yield from finding_lines(finding, paint)
    if len(result.findings) > _SHOWN:
        yield f"    … and {len(result.findings) - _SHOWN} more"


def finding_lines(finding: Finding, paint: Paint) -> Iterator[str]:
    """Yield the cell with its sentence, then found and expected, then the effect on value."""
    where = plain(str(finding.cell)) + ": " if finding.cell is not None else ""
    yield f"    {paint(where, 'bold')}{plain(finding.message, 300)}"
    if finding.found is not None or finding.expected is not None:
        found, expected = quantity(finding.found, finding.unit), quantity(finding.expected, finding.unit)
        yield paint(f"      found {found}, expected {expected}", "dim")
    if finding.effect is not None:
        effect = finding.effect
        role = effect.role.replace("_", " ")
        yield paint(
            f"      repaired, {role} moves from {quantity(effect.stated)} to {quantity(effect.repaired)}", "dim"
        )
