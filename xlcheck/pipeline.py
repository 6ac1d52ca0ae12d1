"""The whole flow on one screen: a submission becomes a `Report`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import xlcheck.checks  # noqa: F401 - declares the checks
from xlcheck.actuals import Actual
from xlcheck.binding import Binding, load_binding
from xlcheck.checking import CHECKS, CheckResult, Request, Workpaper, run_checks
from xlcheck.checks.instructions import CHECK_ID
from xlcheck.citations import leak_in
from xlcheck.effects import with_effects
from xlcheck.errors import SubmissionError, UsageError
from xlcheck.evidence import Evidence
from xlcheck.followup import SecondRound
from xlcheck.intake import find_workbook
from xlcheck.memo import read_memo
from xlcheck.overrides import Override, load_overrides
from xlcheck.progress import stage
from xlcheck.recompute import Recalc, recompute
from xlcheck.report.document import Report
from xlcheck.report.rounds import differences
from xlcheck.roles import Roles
from xlcheck.roles.locate import locate as locate_roles
from xlcheck.rubric import Rubric, fingerprint, load_rubric, requests, second_round
from xlcheck.scoring.card import ScoreCard
from xlcheck.taskfiles import actuals_of, evidence_of, outcomes_of
from xlcheck.verdicts import Verdict
from xlcheck.workbook import Book, load

FilePath = Path | str


def grade(
    submission: FilePath,
    rubric: FilePath,
    verdicts: FilePath | Sequence[FilePath] | None = None,
    *,
    binding: FilePath | None = None,
    vocabulary: FilePath | None = None,
    overrides: FilePath | None = None,
    evidence: FilePath | None = None,
    reads: FilePath | None = None,
    live_web_used: bool = False,
    followup: FilePath | None = None,
    followup_verdicts: FilePath | Sequence[FilePath] | None = None,
) -> Report:
    """Score a workbook, or a folder with one and its memo files, against a rubric (bundled id or file).

    Several verdict files are several judges or runs: the majority decides, a tie stays open. `overrides` is a YAML
    file of results that a person changed, with who, why and when; `binding` one of ``role: cell``, the grader's word;
    `vocabulary` one of further words for labels. `evidence` is the pack of sources (else the rubric's), `reads` the
    log of those that were opened; `live_web_used` makes the run invalid. `followup` is the answer of the second round,
    whose report stands in the first one's `followup`. Rubrics without a model take tables or memos as submissions.
    Without verdicts every judge item is open and the score an interval. A submission that cannot be opened gives a
    report with the status ``ungradable``, an empty one 0 points. Raises UsageError for a path that does not exist
    and for rubric, verdict, override, binding and vocabulary files that are not valid.
    """
    given = Given(binding, vocabulary, overrides, evidence, reads, live_web_used, followup, followup_verdicts)
    return grade_with_papers(submission, rubric, verdicts, given).report


class Given(NamedTuple):
    """What a grader gives beside submission, rubric and verdicts, as `grade` explains."""

    binding: FilePath | None = None
    vocabulary: FilePath | None = None
    overrides: FilePath | None = None
    evidence: FilePath | None = None
    reads: FilePath | None = None
    live_web_used: bool = False
    followup: FilePath | None = None
    followup_verdicts: FilePath | Sequence[FilePath] | None = None


NOTHING_GIVEN = Given()


NO_VALUATION = (
    "no cell of a valuation was found with confidence (a discount rate, flows, an enterprise value, a value per share)"
    "; --binding names them"
)


class Graded(NamedTuple):
    """A report and what it rests on, for renderers that show the workbook."""

    report: Report
    paper: Workpaper | None
    """None where there was no workbook to read."""
    second: Graded | None = None
    """The second round."""


def grade_with_papers(
    submission: FilePath,
    rubric: FilePath,
    verdicts: FilePath | Sequence[FilePath] | None,
    given: Given = NOTHING_GIVEN,
) -> Graded:
    """Grade as `grade` does, and keep the workpapers."""
    rules = load_rubric(rubric, CHECKS)
    rulings = _rulings(verdicts, rules)
    evidence = evidence_of(rubric, rules, given.evidence, given.reads)
    if rules.mode != "financial_model":
        return _other_mode(submission, rules, rulings, evidence, rubric=rubric, given=given)
    known = Known(evidence, actuals_of(rubric, rules))
    if given.followup is None:
        return _round(submission, rules, rulings, known, given)
    if rules.followup is None:
        raise UsageError(f"the rubric {rules.id} has no follow-up section, so there is no second round to grade")
    later = second_round(rules)
    later_rulings = _rulings(given.followup_verdicts, later)
    first = _round(submission, rules, rulings, known, given)
    asked = SecondRound(information=rules.followup.information, challenges=rules.followup.challenges)
    dated = replace(evidence, cutoff=later.cutoff) if evidence is not None else None
    again = Known(dated, (), asked, first.paper)
    second = _round(given.followup, later, later_rulings, again, given._replace(overrides=None))
    if second.paper is not None:
        told = {"differences": differences(second.paper)}
        second = second._replace(report=second.report.model_copy(update=told))
    return Graded(first.report.model_copy(update={"followup": second.report}), first.paper, second)


class Known(NamedTuple):
    """What checks may ask for besides the workbook."""

    evidence: Evidence | None
    actuals: tuple[Actual, ...] = ()
    second_round: SecondRound | None = None
    previous: Workpaper | None = None


def _round(submission: FilePath, rules: Rubric, rulings: tuple[Verdict, ...], known: Known, given: Given) -> Graded:
    from xlcheck.quotes import memo_passages, verify, workbook_passages
    from xlcheck.scoring.model import empty_card, score, ungradable_card

    changed = load_overrides(given.overrides, rules) if given.overrides is not None else ()
    binding = _binding(rules, given.binding)
    try:
        found = find_workbook(submission, rules.submission)
        paper = None
        if found.workbook is not None:
            paper = study(found.workbook, binding, rules.valuation_date, given.vocabulary, found.memos)
    except SubmissionError as error:
        return _unread(rules, None, ungradable_card(rules, str(error)), changed, given)
    if paper is None:
        return _unread(rules, None, empty_card(rules, found.reason or "there is no workbook"), changed, given)
    if not any(paper.book.cells()):
        return _unread(rules, paper, empty_card(rules, f"{paper.book.file_name} has no cell content"), changed, given)
    if _asks_for_nothing(rules) and not (paper.roles.scalars or paper.roles.series or paper.roles.ambiguous):
        return _unread(rules, paper, ungradable_card(rules, f"{paper.book.file_name}: {NO_VALUATION}"), changed, given)
    paper = replace(paper, **known._asdict())
    results = _checked(paper, _asked(rules))
    handed_in = workbook_passages(paper.book, paper.recalc) + memo_passages(paper.memos)
    leak = leak_in(paper.recalc, paper.memos, known.evidence)
    card = score(rules, results, verify(rulings, handed_in), leak=leak, overrides=changed)
    return Graded(_report(rules, paper, results, _audited(card, given)), paper)


def _asks_for_nothing(rules: Rubric) -> bool:
    """Tell whether whatever is absent costs nothing, so that a workbook about something else would have full marks."""
    return not rules.judge and all(item.when_absent == "skip" for item in rules.program)


def _rulings(verdicts: FilePath | Sequence[FilePath] | None, rules: Rubric) -> tuple[Verdict, ...]:
    from xlcheck.verdicts import load_all_verdicts

    return load_all_verdicts([verdicts] if isinstance(verdicts, FilePath) else verdicts or (), rules)


def _audited(card: ScoreCard, given: Given) -> ScoreCard:
    """Void a run in which, as an audit of it says, the live web was used."""
    from xlcheck.scoring.model import without_total

    return without_total(card, "invalid", "an audit says that the live web was used") if given.live_web_used else card


def _other_mode(
    submission: FilePath,
    rules: Rubric,
    rulings: tuple[Verdict, ...],
    evidence: Evidence | None,
    *,
    rubric: FilePath,
    given: Given,
) -> Graded:
    from xlcheck import modes
    from xlcheck.scoring.model import ungradable_card

    written = rules.mode == "research_judgement"
    for name in ("followup", "binding") if written else ("overrides", "followup", "binding"):
        if getattr(given, name) is not None:
            raise UsageError(f"{rules.id} has the mode {rules.mode}, which takes no {name}")
    changed = load_overrides(given.overrides, rules) if given.overrides is not None else ()
    path = Path(submission)
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    try:
        if rules.mode == "quantile_forecast":
            marked = modes.forecast(rules, path, outcomes_of(rubric, rules))
        elif rules.mode == "outcome":
            marked = modes.questions(rules, path, rulings, evidence)
        else:
            marked = modes.judged(rules, path, rulings, evidence, changed)
    except SubmissionError as error:
        marked = modes.Marked(ungradable_card(rules, str(error)))
    if changed and not marked.card.overruled:
        return _unread(rules, None, marked.card, changed, given)
    report = _report(rules, None, marked.results, _audited(marked.card, given))
    return Graded(report.model_copy(update={"forecast": marked.forecast, "outcome": marked.outcome}), None)


def _unread(
    rules: Rubric, paper: Workpaper | None, card: ScoreCard, changed: Sequence[Override], given: Given
) -> Graded:
    if changed:
        raise UsageError(f"there is no result that {changed[0].who} could change: {card.reason}")
    return Graded(_report(rules, paper, (), _audited(card, given)), paper)


def audit(
    workbook: FilePath,
    rubric: FilePath = "generic-dcf",
    *,
    binding: FilePath | None = None,
    vocabulary: FilePath | None = None,
) -> Report:
    """Run every check on a workbook, with the ranges of a rubric; no score.

    Raises SubmissionError where the workbook cannot be opened, UsageError for a path that is none and for
    a rubric, binding or vocabulary file that is not valid.
    """
    return audit_with_papers(workbook, rubric, binding, vocabulary).report


def audit_with_papers(
    workbook: FilePath, rubric: FilePath, binding: FilePath | None = None, vocabulary: FilePath | None = None
) -> Graded:
    """Audit as `audit` does, and keep the workpaper."""
    rules = load_rubric(rubric, CHECKS)
    model, memos = workbook_and_memos(workbook)
    paper = study(model, _binding(rules, binding), rules.valuation_date, vocabulary, memos)
    paper = replace(paper, evidence=evidence_of(rubric, rules))
    told = {request.check_id: request.params for request in reversed(requests(rules))}
    wanted = [Request(check_id, told.get(check_id, {})) for check_id in CHECKS]
    return Graded(_report(rules, paper, _checked(paper, wanted), None), paper)


def _asked(rules: Rubric) -> list[Request]:
    """Return the checks of a rubric, and the one that runs whatever it asks for: it warns and changes no score."""
    asked = list(requests(rules))
    named = any(request.check_id == CHECK_ID for request in asked)
    return asked if named else [*asked, Request(CHECK_ID, severity="warn")]


def _checked(paper: Workpaper, wanted: Iterable[Request]) -> tuple[CheckResult, ...]:
    with stage("Checking"):
        results = run_checks(paper, wanted)
    with stage("Repairing each fault for its effect"):
        return with_effects(results, paper.recalc, paper.roles)


def study(
    workbook: FilePath,
    binding: Binding | None = None,
    valuation_date: date | None = None,
    vocabulary: FilePath | None = None,
    memos: Iterable[Path] = (),
) -> Workpaper:
    """Read, recompute and locate: everything that checks may ask for."""
    with stage("Reading the workbook"):
        book = load(workbook)
    with stage("Recomputing"):
        recalc = recompute(book, None if valuation_date is None else excel_serial(valuation_date))
    with stage("Finding the roles"):
        roles = _located(book, recalc, binding, vocabulary)
    return Workpaper(book, recalc, recalc.graph, roles, tuple(map(read_memo, memos)))


def locate(book: Book, recalc: Recalc, binding: FilePath | None = None, vocabulary: FilePath | None = None) -> Roles:
    """Find the cells that the valuation hangs on.

    `binding` is a YAML file of ``role: cell``, the grader's word; `vocabulary` one of further words for labels.
    """
    return _located(book, recalc, load_binding(binding) if binding is not None else None, vocabulary)


def _located(book: Book, recalc: Recalc, binding: Binding | None, vocabulary: FilePath | None) -> Roles:
    given = {role: str(place) for role, place in (binding or {}).items()}
    words = None if vocabulary is None else Path(vocabulary)
    return locate_roles(book, recalc, recalc.graph, given, words)


def one_workbook(path: FilePath) -> Path:
    """Return the workbook that a path means, a file or a folder with one; SubmissionError if there is none."""
    workbook, _ = workbook_and_memos(path)
    return workbook


def workbook_and_memos(path: FilePath) -> tuple[Path, tuple[Path, ...]]:
    """Return the workbook that a path means and the memo files beside it; raises as `one_workbook` does."""
    found = find_workbook(path)
    if found.workbook is None:
        raise SubmissionError(found.reason or f"{path}: there is no workbook")
    return found.workbook, found.memos


def excel_serial(day: date) -> float:
    """Return a date as Excel's serial number in the 1900 system."""
    return float((day - date(1899, 12, 30)).days)


def _binding(rules: Rubric, file: FilePath | None) -> Binding:
    return {**rules.binding, **(load_binding(file) if file is not None else {})}


def _report(rules: Rubric, paper: Workpaper | None, results: tuple[CheckResult, ...], card: ScoreCard | None) -> Report:
    roles = paper.roles if paper is not None else Roles(scalars={}, series={}, ambiguous={})
    return Report(
        xlcheck_version=version("xlcheck"),
        engines=dict(sorted(paper.recalc.engines.items())) if paper is not None else {},
        workbook=paper.book.file_name if paper is not None else None,
        workbook_sha256=paper.book.sha256 if paper is not None else None,
        rubric_id=rules.id,
        rubric_title=rules.title,
        rubric_sha256=fingerprint(rules),
        roles=roles.scalars,
        series=roles.series,
        ambiguous=roles.ambiguous,
        headline=roles.headline,
        results=results,
        score_card=card,
    )
