"""From a submission to its packet: read, recomputed and checked as for a grade."""

from __future__ import annotations

import json
from pathlib import Path

from xlcheck.checking import CHECKS
from xlcheck.errors import SubmissionError, UsageError
from xlcheck.intake import MEMO_SUFFIXES, Submission, find_workbook
from xlcheck.judging.items import asked
from xlcheck.judging.packet import Packet, build_packet
from xlcheck.memo import read_memo
from xlcheck.modes import warned
from xlcheck.pipeline import FilePath, Given, grade_with_papers, study
from xlcheck.rubric import Rubric, load_rubric, second_round
from xlcheck.rubric_sections import FollowUp


def prepare(
    submission: FilePath,
    rubric: FilePath,
    *,
    binding: FilePath | None = None,
    vocabulary: FilePath | None = None,
    followup: FilePath | None = None,
    formulas: bool = False,
) -> Packet:
    """Return the packet of a submission, or of its second round; nothing that only the grader holds is in it.

    Raises UsageError for a rubric without anything that a judge decides, SubmissionError where there is nothing to
    read.
    """
    first = load_rubric(rubric, CHECKS)
    rules = round_of(first, second=followup is not None)
    if not asked(rules):
        raise UsageError(f"the rubric {rules.id} has nothing that a judge decides")
    if rules.mode != "financial_model":
        return _of_words(submission, rules, formulas=formulas)
    given = Given(binding=binding, vocabulary=vocabulary, followup=followup)
    graded = grade_with_papers(submission, rubric, None, given)
    report, paper, _ = graded.second or graded
    if paper is None:
        assert report.score_card is not None
        raise SubmissionError(report.score_card.reason or "there is nothing to judge")
    told = _told(first.followup) if followup is not None and first.followup is not None else ()
    return build_packet(rules, paper, paper.memos, report.results, formulas=formulas, told=told)


def round_of(rubric: Rubric, *, second: bool) -> Rubric:
    """Return the rubric itself, or that of its second round; UsageError where it has none."""
    if not second:
        return rubric
    if rubric.followup is None:
        raise UsageError(f"the rubric {rubric.id} has no follow-up section, so there is no second round to judge")
    return second_round(rubric)


def _told(section: FollowUp) -> tuple[str, ...]:
    """Return what the submitter was told between the rounds; not which objection is sound."""
    told = [f"new information: {item.text}" for item in section.information]
    return (*told, *(f"objection {challenge.id}: {challenge.text}" for challenge in section.challenges))


def _of_words(submission: FilePath, rules: Rubric, *, formulas: bool) -> Packet:
    """Return the packet of an answer in words; a workbook beside it is shown too."""
    path = Path(submission)
    lone = path.is_file() and path.suffix.lower() in MEMO_SUFFIXES
    found = Submission(None, (path,)) if lone else find_workbook(path, rules.submission)
    paper = study(found.workbook) if found.workbook is not None else None
    if paper is None and not found.memos:
        raise SubmissionError(f"{path.name}: the folder holds neither a memo nor a workbook")
    memos = tuple(map(read_memo, found.memos))
    results = warned(memos, paper.recalc if paper is not None else None)
    return build_packet(rules, paper, memos, results, formulas=formulas)


def prepared(order: str) -> str:
    """Do `prepare` from and to JSON text, so that it can run in a process of its own."""
    return prepare(**json.loads(order)).model_dump_json()
