"""Uses the public API under the type checker."""

from pathlib import Path

from inspect_ai.scorer import Scorer

import xlcheck
from xlcheck.inspect_scorer import xlcheck_scorer
from xlcheck.testing import CheckedWorkbook, assert_fails


def grade_a_folder(folder: Path) -> str:
    """Reads a score card and writes the report."""
    report: xlcheck.Report = xlcheck.grade(folder, rubric="sic-epitaxy-dcf", verdicts=folder / "verdicts.json")
    card = report.score_card
    assert card is not None
    fatal: tuple[str, ...] = tuple(card.fatal)
    return f"{card.low} to {card.high}, {card.status}, {', '.join(fatal)}: {report.to_json()}"


def audit_a_workbook(path: str) -> list[str]:
    """Reads the results of the checks."""
    return [result.check_id for result in xlcheck.audit(path).results if result.status == "fail"]


def ask_what_if(path: str) -> float | None:
    """Moves an input and reads an output."""
    book = xlcheck.load(path)
    recalc = xlcheck.recompute(book)
    wacc = xlcheck.locate(book, recalc)["wacc"]
    value = recalc.what_if({"Assumptions!B1": 0.09}, ["DCF!C40"])["DCF!C40"]
    assert isinstance(value, float)
    return wacc.value


version: str = xlcheck.__version__


def hold_checks(path: Path) -> None:
    """Asserts on single checks, as tests of other projects do."""
    book = CheckedWorkbook(path)
    book.assert_passes("bridge.signs")
    assert_fails(path, "wacc.range", cell="WACC!C23", params={"low": 0.06, "high": 0.09})


def score_an_agent() -> Scorer:
    """Builds the scorer of an Inspect task."""
    return xlcheck_scorer("sic-epitaxy-dcf", workbook="answer.xlsx", memos=["memo.md"], verdicts="verdicts/")


def tabulate(report: xlcheck.Report) -> int:
    """Counts the rows of the table of findings."""
    return len(report.to_frame())
