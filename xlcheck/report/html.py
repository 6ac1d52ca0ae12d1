"""The HTML report: one self-contained file without scripts, safe whatever the submission holds, fit for print."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from xlcheck.checking import CheckResult
from xlcheck.report.checkdocs import summary
from xlcheck.report.document import Report
from xlcheck.report.pictures import bars, bridge, bridge_steps
from xlcheck.report.sheets import View
from xlcheck.report.words import plain, points, quantity
from xlcheck.roles import Located, LocatedSeries
from xlcheck.scoring.card import Line, ScoreCard

if TYPE_CHECKING:
    from jinja2 import Template

GENERATOR = '<meta name="generator" content="xlcheck">'
STATUS_WORDS = {
    "pass": "passed",
    "fail": "failed",
    "partial": "partly passed",
    "not_applicable": "not applicable",
    "unverifiable": "open",
}
LONGEST = 500
"""Characters of submission text in one place of the page."""


class Item(NamedTuple):
    """A line of the score card beside the check result that decided it."""

    line: Line
    result: CheckResult | None

    @property
    def title(self) -> str:
        """What people read: the rubric's title, else the first sentence of the check's page, else its id."""
        line = self.line
        return summary(line.check) or line.check if line.check and line.title == line.check else line.title

    @property
    def state(self) -> str:
        """One of ``pass fail part open``, as the page colours it."""
        if self.line.open:
            return "open"
        if self.line.credit_low == 1:
            return "pass"
        return "fail" if self.line.credit_low == 0 else "part"


def report_html(report: Report, view: View | None = None) -> str:
    """Return the whole page as text; with a view of the workbook, cells are links into it."""
    style = _style()
    return _template().render(
        report=report,
        card=report.score_card,
        style=style,
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        generator=GENERATOR,
        items=_items(report),
        groups=_groups(_not_charged(report)),
        pictures=_pictures(report),
        roles=[role_row(located) for located in report.roles.values()],
        series=[series_row(line) for line in report.series.values()],
        words=STATUS_WORDS,
        view=view or View((), {}),
    )


@cache
def _style() -> str:
    return files("xlcheck.report").joinpath("templates/report.css").read_text(encoding="utf-8")


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("xlcheck.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(points=points, plain=lambda text: plain(str(text), LONGEST), quantity=quantity)
    return environment.get_template("report.html.j2")


def _items(report: Report) -> dict[str, list[Item]]:
    """Return the lines of the card by where the page shows them."""
    card = report.score_card
    if card is None:
        return {}
    results = {result.item or result.check_id: result for result in report.results}
    found = [Item(line, results.get(line.item)) for line in card.lines]
    lost = sorted((item for item in found if item.line.lost > 0), key=lambda item: -item.line.lost)
    return {
        "fatal": [item for item in found if item.line.kind == "fatal" and item.line.item in card.fatal],
        "lost": lost,
        "open": [item for item in found if item.line.open],
        "program": [item for item in found if item.line.kind == "program"],
        "judge": [item for item in found if item.line.kind == "judge"],
        "deduction": [item for item in found if item.line.kind == "deduction"],
        "ruled_out": [item for item in found if item.line.kind == "fatal" and item.line.item not in card.fatal],
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


def _pictures(report: Report) -> list[tuple[str, str]]:
    """Return (caption, SVG) of every picture that the report has data for."""
    found = []
    steps = bridge_steps(report.roles)
    if report.score_card is not None:
        by_dimension = _earned(report.score_card, "dimension")
        found += [("Points by dimension", bars(by_dimension))] if len(by_dimension) > 1 else []
        by_stage = _earned(report.score_card, "stage")
        found += [("Points by stage", bars(by_stage))] if len(by_stage) > 1 else []
    if steps:
        found.append(("From enterprise to equity value", bridge(steps)))
    return found


def _earned(card: ScoreCard, by: str) -> list[tuple[str, float, float, float]]:
    """Return (heading, earned, open, all) in points, in the order of the rubric."""
    totals: dict[str, list[float]] = {}
    for line in card.lines:
        if line.kind in ("program", "judge"):
            row = totals.setdefault(getattr(line, by) or "other", [0.0, 0.0, 0.0])
            row[0] += float(line.weight * line.credit_low)
            row[1] += float(line.at_stake)
            row[2] += float(line.weight)
    return [(plain(heading, 60), got, undecided, whole) for heading, (got, undecided, whole) in totals.items() if whole]


def role_row(located: Located) -> Sequence[str]:
    """Return role, cell, value, confidence and evidence of a bound role as the page shows them."""
    where = str(located.cell) if located.cell else located.expression or ""
    value = quantity(located.value, located.unit if located.factor == 1 else "")
    return (
        located.role.replace("_", " "),
        plain(where, LONGEST),
        value,
        f"{located.confidence:.2f}",
        located.how,
        plain("; ".join(located.evidence), LONGEST),
    )


def series_row(line: LocatedSeries) -> Sequence[str]:
    """Return the same of a bound series, with its first and last value."""
    first, last = line.cells[0], line.cells[-1]
    unit = line.unit if line.factor == 1 else ""
    values = f"{quantity(line.values[0], unit)} … {quantity(line.values[-1], unit)}"
    return (
        line.role.replace("_", " "),
        plain(f"{first}:{last.address}" if first != last else str(first), LONGEST),
        values,
        f"{line.confidence:.2f}",
        line.how,
        plain("; ".join(line.evidence), LONGEST),
    )
