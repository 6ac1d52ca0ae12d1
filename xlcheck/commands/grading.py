"""Verbs of a grader: demo, grade, audit, export, compare, annotate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlcheck.arguments import (
    Verbs,
    add_binding,
    add_evidence,
    add_followup,
    add_language,
    add_out,
    add_own_process,
    add_workbook,
    score,
)
from xlcheck.commands.output import broken_code, declared_checks, print_facts, show_file, show_report
from xlcheck.errors import UsageError, XlcheckError

if TYPE_CHECKING:
    from decimal import Decimal

    from xlcheck.checking import Workpaper
    from xlcheck.pipeline import Given
    from xlcheck.report.document import Report
    from xlcheck.report.writing import Written

DEMO_TASK = "sic-epitaxy-dcf"
DEMO_ANSWERS = {"reference": "A good answer", "flawed": "A flawed answer"}
FORMATS = ("csv", "github", "gradescope", "html", "json", "junit", "markdown", "parquet", "sarif")


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs of a grader."""
    demo = verbs.add("demo", _demo, "grade a bundled good answer and a flawed one")
    add_out(demo)

    grade = verbs.add("grade", _grade, "score a submission against a rubric")
    grade.add_argument(
        "submission", type=Path, metavar="SUBMISSION", help="a workbook, or a folder with one and memo files"
    )
    grade.add_argument("--rubric", required=True, metavar="ID|FILE", help="a bundled rubric or a YAML file")
    grade.add_argument(
        "--verdicts",
        type=Path,
        action="append",
        metavar="FILE",
        help="a judge's decisions, JSON or JSON Lines; again for another judge",
    )
    grade.add_argument("--overrides", type=Path, metavar="FILE", help="YAML file of results changed by a person")
    grade.add_argument("--min-score", type=score, metavar="N", help="exit 1 if the score (its low end) is below N")
    grade.add_argument("--strict", action="store_true", help="exit 4 if the score is provisional")
    add_followup(grade)
    add_evidence(grade)
    add_binding(grade)
    add_out(grade)
    add_language(grade)
    add_own_process(grade)

    audit = verbs.add("audit", _audit, "run every check that applies on a workbook; no score")
    add_workbook(audit)
    audit.add_argument("--rubric", default="generic-dcf", metavar="ID|FILE", help="whose ranges to use (%(default)s)")
    add_binding(audit)
    audit.add_argument("--out", type=Path, metavar="DIR", help="write report.json and report.html into a folder too")
    add_language(audit)

    export = verbs.add("export", _export, "turn a report.json into what another tool reads")
    export.add_argument("report", type=Path, metavar="REPORT.json", help="what grade or audit wrote")
    export.add_argument("--to", required=True, choices=FORMATS, help="the format")
    export.add_argument("--out", type=Path, metavar="FILE", help="write a new file instead of printing")
    add_language(export)

    compare = verbs.add("compare", _compare, "say what differs between two answers, and why")
    compare.add_argument("first", type=Path, metavar="FIRST", help="a report.json, or a workbook to audit")
    compare.add_argument("second", type=Path, metavar="SECOND", help="another of the same rubric")
    add_own_process(compare)

    annotate = verbs.add("annotate", _annotate, "write a copy of a workbook with the findings in comments and colour")
    add_workbook(annotate)
    annotate.add_argument("--report", type=Path, metavar="FILE", help="a report.json of it; without one it is audited")
    annotate.add_argument(
        "--out", type=Path, default=Path("annotated.xlsx"), metavar="FILE", help="the new file (%(default)s)"
    )


def _demo(args: argparse.Namespace) -> int:
    from xlcheck.resources import bundled

    task = bundled("fixtures", DEMO_TASK)
    if task is None:
        raise XlcheckError(f"the bundled task {DEMO_TASK} is missing; install xlcheck again")
    shown: dict[str, Report] = {}
    for answer, says in DEMO_ANSWERS.items():
        verdicts = task / answer / "verdicts.json"
        shown[answer], files = _graded(task / answer, DEMO_TASK, [verdicts], args.out / answer)
        if not args.json:
            print(f"{'=' * 4} {says} {'=' * max(4, 90 - len(says))}")
            show_report(args, shown[answer])
            print()
    last = f"Read the second answer's report in a browser: {files.html}\n"
    print_facts(args, lambda: {name: report.model_dump(mode="json") for name, report in shown.items()}, lambda: last)
    return 0


def _grade(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import Given
    from xlcheck.report.rounds import differences_text

    _say_if_changed(args.rubric)
    given = Given(**{name: getattr(args, name) for name in Given._fields})
    report, files = _graded(args.submission, args.rubric, args.verdicts, args.out, language=args.lang, given=given)
    show_report(args, report)
    if report.followup is not None and not args.json:
        print("\n==== Second round " + "=" * 72)
        show_report(args, report.followup)
        print(f"\nBoth rounds\n{differences_text(report.followup.differences)}", end="")
    if not args.json:
        print(f"\nReport: {files.html}")
    rounds = [report] if report.followup is None else [report, report.followup]
    codes = [_grade_code(one, args.min_score, strict=args.strict) for one in rounds]
    return next((code for code in codes if code), 0)


def _say_if_changed(rubric: str) -> None:
    """Warn on standard error where the rubric's calibration does not speak for it."""
    from xlcheck.provenance import warning
    from xlcheck.rubric import load_rubric

    said = warning(rubric, load_rubric(rubric))
    if said is not None:
        print(f"xlcheck: warning: {said}", file=sys.stderr)


def _graded(
    submission: Path,
    rubric: str,
    verdicts: Sequence[Path] | None,
    out: Path,
    *,
    language: str = "en",
    given: Given | None = None,
) -> tuple[Report, Written]:
    from xlcheck.pipeline import NOTHING_GIVEN, grade_with_papers
    from xlcheck.report.html import report_page
    from xlcheck.report.writing import write_report

    report, paper, second = grade_with_papers(submission, rubric, verdicts, given or NOTHING_GIVEN)
    if second is not None:
        write_report(second.report, out / "followup", report_page(second.report, second.paper, language))
    return report, write_report(report, out, report_page(report, paper, language))


def _grade_code(report: Report, min_score: Decimal | None, *, strict: bool) -> int:
    card = report.score_card
    assert card is not None
    if report.broken():
        return broken_code(report)
    if card.low is None or card.high is None or card.status in ("ungradable", "invalid"):
        return 3
    if strict and card.status == "provisional":
        return 4
    return 1 if min_score is not None and card.low < min_score else 0


def _audit(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import audit_with_papers

    report, paper = audit_with_papers(args.workbook, args.rubric, args.binding, args.vocabulary)[:2]
    show_report(args, report)
    if args.out is not None:
        from xlcheck.report.html import report_page
        from xlcheck.report.writing import write_report

        files = write_report(report, args.out, report_page(report, paper, args.lang))
        if not args.json:
            print(f"\nReport: {files.html}")
    return broken_code(report)


def _export(args: argparse.Namespace) -> int:
    from xlcheck.report.exports import export, read_report

    declared_checks()
    show_file(args, export(read_report(args.report), args.to, args.lang))
    return 0


def _compare(args: argparse.Namespace) -> int:
    from xlcheck.report.compare import compare, compare_papers, comparison_text

    (one, first), (two, second) = (_read_or_audited(path) for path in (args.first, args.second))
    books = None if first is None or second is None else (first, second)
    found = compare(one, two) if books is None else compare_papers(one, two, books)
    print_facts(args, lambda: found.model_dump(mode="json"), lambda: comparison_text(found))
    return 0


def _read_or_audited(path: Path) -> tuple[Report, Workpaper | None]:
    from xlcheck.pipeline import audit_with_papers
    from xlcheck.report.exports import read_report

    return (read_report(path), None) if path.suffix == ".json" else audit_with_papers(path, "generic-dcf")[:2]


def _annotate(args: argparse.Namespace) -> int:
    from xlcheck.intake import open_package
    from xlcheck.pipeline import audit, one_workbook
    from xlcheck.report.annotated import annotated
    from xlcheck.report.exports import read_report

    workbook = one_workbook(args.workbook)
    package = open_package(workbook)
    report = audit(workbook) if args.report is None else read_report(args.report)
    if report.workbook_sha256 != package.sha256:
        raise UsageError(f"{args.report} is the report of another workbook (SHA-256 {report.workbook_sha256})")
    show_file(args, annotated(package, report), "Marked-up copy")
    return broken_code(report)
