"""A report as Gradescope's ``results.json``, one test per rubric item, for an autograder."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from xlcheck.errors import UsageError
from xlcheck.report.document import Report
from xlcheck.report.json import dumps
from xlcheck.report.words import figures, plain, points
from xlcheck.scoring.card import Line, ScoreCard

_LONGEST = 1_000


def report_gradescope(report: Report) -> str:
    """Return the JSON text; UsageError for an audit, which has no score.

    A provisional score counts as the number that its rubric names, else with its low end. Where there is no total,
    the key ``score`` is missing: Gradescope then tells that the autograder gave none, and a person has to look.
    """
    card = report.score_card
    if card is None:
        raise UsageError("an audit has no score to hand to Gradescope; export the report of a grade")
    counted = card.low if card.score is None else card.score
    result: dict[str, Any] = {} if counted is None else {"score": float(counted)}
    result["output"] = _summary(report, card, counted)
    result["output_format"] = "text"
    result["tests"] = [_test(line, number) for number, line in enumerate(card.lines, 1)] if counted is not None else []
    return dumps(result)


def _summary(report: Report, card: ScoreCard, counted: Decimal | None) -> str:
    if card.low is None or card.high is None or counted is None:
        return f"No score: {card.status}. {plain(card.reason or '', _LONGEST)}"
    said = [f"{points(counted)} of 100, graded by {report.rubric_id}"]
    if card.low != card.high:
        said.append(f"provisional: {points(card.low)} to {points(card.high)}, until what is open is decided")
    if card.fatal:
        said.append(f"capped at {points(card.cap)}: {', '.join(card.fatal)}")
    if card.reason:
        said.append(plain(card.reason, _LONGEST))
    return "\n".join(said)


def _test(line: Line, number: int) -> dict[str, Any]:
    wrong = line.lost > 0 or (line.kind == "fatal" and line.credit_high == 0)
    test: dict[str, Any] = {
        "number": str(number),
        "name": plain(f"{line.item} {line.title}"),
        "output": _output(line),
        "status": "failed" if wrong or line.open else "passed",
    }
    if line.kind in ("program", "judge"):
        test["score"], test["max_score"] = float(line.weight - line.lost - line.at_stake), float(line.weight)
    elif line.kind == "deduction":
        test["score"], test["max_score"] = float(-line.lost - line.at_stake), 0.0
    return test


def _output(line: Line) -> str:
    said = [line.message or "", *figures(line.found, line.expected)]
    said.append(f"open: {line.reason or 'not decided'}" if line.open else line.reason or "")
    where = f"{line.cell}: " if line.cell else ""
    return plain(where + "; ".join(filter(None, said)), _LONGEST)
