"""The HTML report: one self-contained file, safe whatever the submission holds, fit for print."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from xlcheck.checking import CheckResult, Workpaper
from xlcheck.report.checkdocs import summary
from xlcheck.report.document import Report
from xlcheck.report.html_pictures import pictures
from xlcheck.report.html_rows import RoleRow, glance, role_row, series_row
from xlcheck.report.html_words import filters, sheet_names
from xlcheck.report.language import Words, words
from xlcheck.report.sheets import View, workbook_view
from xlcheck.report.studies import Studies, studies
from xlcheck.scoring.card import Line, ScoreCard

if TYPE_CHECKING:
    from jinja2 import Environment, Template

GENERATOR = '<meta name="generator" content="xlcheck">'


class Item(NamedTuple):
    """A line of the score card beside the check result that decided it."""

    line: Line
    result: CheckResult | None
    say: Words

    @property
    def title(self) -> str:
        """What people read: the rubric's title, else the first sentence of the check's page, else its id."""
        line = self.line
        return check_title(line.check, self.say) if line.check and line.title == line.check else line.title

    @property
    def state(self) -> str:
        """One of ``pass fail part open``, as the page colours it."""
        return _state(self.line.credit_low, self.line.credit_high)

    @property
    def before(self) -> str:
        """The result in words before a person changed it."""
        was = self.line.overruled
        state = _state(was.was_low, was.was_high) if was is not None else self.state
        if self.line.kind in ("fatal", "deduction") and state != "open":
            return self.say("not_found" if state == "pass" else "was_found")
        return self.say(_STATE_WORDS[state])

    @property
    def after(self) -> str:
        """The result in words that a person gave; a grade or a credit as it was given."""
        result = self.line.overruled.override.result if self.line.overruled is not None else ""
        return self.say(_GIVEN_WORDS[result]) if result in _GIVEN_WORDS else result

    @property
    def outcome(self) -> str:
        """The result in words."""
        line, say = self.line, self.say
        if line.open:
            return say("unverifiable")
        if line.kind in ("fatal", "deduction") and not line.check:
            return say("not_found" if line.credit_low == 1 else "was_found")
        if line.kind == "fatal":
            return say("holds" if line.credit_low == 1 else "fails")
        if self.result is not None and self.result.status in ("fail", "partial") and self.state == "pass":
            return say("credited")
        if self.result is not None and self.result.status in ("not_applicable", "unverifiable"):
            return say(self.result.status)
        return say(_STATE_WORDS[self.state])


_GIVEN_WORDS = {"pass": "passed", "fail": "failed", "triggered": "was_found", "not triggered": "not_found"}
_STATE_WORDS = {"pass": "passed", "fail": "failed", "part": "part", "open": "unverifiable"}


def _state(low: Decimal, high: Decimal) -> str:
    if low != high:
        return "open"
    return "pass" if low == 1 else "fail" if low == 0 else "part"


def check_title(check_id: str, say: Words) -> str:
    """Return the first sentence of a check's page in that language, else its id."""
    return say.check(check_id, summary(check_id)) or check_id


def report_page(report: Report, paper: Workpaper | None, language: str = "en") -> str:
    """Return the page with what the workpaper can add: the view of the workbook, and answers of the live model."""
    if paper is None:
        return report_html(report, language=language)
    return report_html(report, workbook_view(paper, report), studied=studies(paper, report), language=language)


def report_html(
    report: Report, view: View | None = None, *, studied: Studies | None = None, language: str = "en"
) -> str:
    """Return the whole page as text.

    With a view of the workbook, cells are links into it; with studies of the live model, there are more pictures.
    """
    say = words(language)
    style, script = _asset("report.css"), _asset("report.js")
    return _template().render(
        report=report,
        card=report.score_card,
        say=say,
        style=style,
        style_hash=_hash(style),
        script=script if view is not None and view.sheets else "",
        script_hash=_hash(script),
        generator=GENERATOR,
        items=_items(report, say),
        groups=_groups(_not_charged(report)),
        sums=_sums(report.score_card),
        counts=_counts(report.results),
        glance=glance(report, say),
        pictures=pictures(report, studied, say),
        roles=list(_role_rows(report, say)),
        title_of=lambda result: check_title(result.check_id, say),
        view=view or View((), {}),
        **filters(report, say),
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return files("xlcheck.report").joinpath(f"templates/{name}").read_text(encoding="utf-8")


@cache
def _template() -> Template:
    return environment(keep_trailing_newline=True).get_template("report.html.j2")


def environment(*, keep_trailing_newline: bool = False) -> Environment:
    """Return the one way in which our templates become pages: escaped, and no name may be missing."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("xlcheck.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=keep_trailing_newline,
    )


def _items(report: Report, say: Words) -> dict[str, list[Item]]:
    """Return the lines of the card by where the page shows them."""
    card = report.score_card
    if card is None:
        return {}
    results = {result.item or result.check_id: result for result in report.results}
    found = [Item(line, results.get(line.item), say) for line in card.lines]
    lost = sorted((item for item in found if item.line.lost > 0), key=lambda item: -item.line.lost)
    return {
        "fatal": [item for item in found if item.line.kind == "fatal" and item.line.item in card.fatal],
        "lost": lost,
        "open": [item for item in found if item.line.open],
        "changed": [item for item in found if item.line.overruled],
        "program": [item for item in found if item.line.kind == "program"],
        "judge": [item for item in found if item.line.kind == "judge"],
        "deduction": [item for item in found if item.line.kind == "deduction"],
        "ruled_out": [item for item in found if item.line.kind == "fatal" and item.line.item not in card.fatal],
    }


def _sums(card: ScoreCard | None) -> dict[str, Decimal]:
    """Return the points to be had and the open ones, of checks and judge."""
    lines = card.lines if card is not None else ()

    def total(kind: str, name: str) -> Decimal:
        return sum((getattr(line, name) for line in lines if line.kind == kind), start=Decimal(0))

    return {f"{kind}_{name}": total(kind, name) for kind in ("program", "judge") for name in ("weight", "at_stake")}


def _counts(results: Iterable[CheckResult]) -> dict[str, int]:
    """Return how many checks of an audit came out how, by the word of the page."""
    held = list(results)
    groups, statuses = _groups(held), [result.status for result in held]
    return {
        "fatal_errors": len(groups["fatal"]),
        "faults": len(groups["faults"]),
        "consequences_short": len(groups["follows"]),
        "warnings": len(groups["warnings"]),
        "not_verified": len(groups["open"]),
        "passed": statuses.count("pass"),
        "not_applicable": statuses.count("not_applicable"),
    }


def _not_charged(report: Report) -> list[CheckResult]:
    """Return the results that no line of the card tells already."""
    lines = report.score_card.lines if report.score_card is not None else ()
    charged = {line.item for line in lines}
    return [result for result in report.results if result.item not in charged]


def _groups(results: Iterable[CheckResult]) -> dict[str, list[CheckResult]]:
    """Return the results of an audit by where the page shows them."""
    groups: dict[str, list[CheckResult]] = {"fatal": [], "faults": [], "follows": [], "warnings": [], "open": []}
    for result in results:
        if result.status == "unverifiable":
            groups["open"].append(result)
        elif result.status in ("fail", "partial"):
            groups[_group(result)].append(result)
    return groups


def _group(result: CheckResult) -> str:
    if result.severity == "fatal":
        return "fatal"
    if result.caused_by:
        return "follows"
    return "warnings" if result.severity == "warn" else "faults"


def _role_rows(report: Report, say: Words) -> Iterator[RoleRow]:
    sheets = sheet_names(report)
    yield from (role_row(located, say, sheets) for located in report.roles.values())
    yield from (series_row(line, say, sheets) for line in report.series.values())
