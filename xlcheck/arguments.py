"""What the command line understands: one parser, a verb a paragraph."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal

Run = Mapping[str, Callable[[argparse.Namespace], int]]

EXIT_CODES = """exit codes:
  0  fine
  1  the score is below --min-score, or a calibration band is broken
  2  unusable arguments, path, rubric or verdict file
  3  the submission is ungradable or invalid
  4  the score is provisional and --strict was given
  5  a check or an engine broke"""

FORMATS = ("csv", "html", "junit", "markdown", "sarif")
RUBRIC_KINDS = ("dcf", "reverse-dcf", "checks-only", "judgement")


def build_parser(run: Run) -> argparse.ArgumentParser:
    """Return the parser; every verb sets ``run`` to its function of the mapping."""
    parser = argparse.ArgumentParser(
        prog="xlcheck",
        description="Recompute, check and score valuation workbooks.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    verbs = Verbs(parser.add_subparsers(dest="verb", required=True, metavar="VERB"), run)
    _grading_verbs(verbs)
    _reading_verbs(verbs)
    _author_verbs(verbs)
    return parser


def _grading_verbs(verbs: Verbs) -> None:
    demo = verbs.add("demo", "grade a bundled good answer and a flawed one")
    _out(demo)

    grade = verbs.add("grade", "score a submission against a rubric")
    grade.add_argument(
        "submission", type=Path, metavar="SUBMISSION", help="a workbook, or a folder with one and memo files"
    )
    grade.add_argument("--rubric", required=True, metavar="ID|FILE", help="a bundled rubric or a YAML file")
    grade.add_argument("--verdicts", type=Path, metavar="FILE", help="the judge's decisions, JSON or JSON Lines")
    grade.add_argument("--min-score", type=_score, metavar="N", help="exit 1 if the score (its low end) is below N")
    grade.add_argument("--strict", action="store_true", help="exit 4 if the score is provisional")
    _binding(grade)
    _out(grade)

    audit = verbs.add("audit", "run every check that applies on a workbook; no score")
    _workbook(audit)
    audit.add_argument("--rubric", default="generic-dcf", metavar="ID|FILE", help="whose ranges to use (%(default)s)")
    _binding(audit)

    export = verbs.add("export", "turn a report.json into what another tool reads", json=False)
    export.add_argument("report", type=Path, metavar="REPORT.json")
    export.add_argument("--to", required=True, choices=FORMATS, help="the format; it is printed")

    compare = verbs.add("compare", "say what differs between two answers, and why")
    compare.add_argument("first", type=Path, metavar="FIRST", help="a report.json, or a workbook to audit")
    compare.add_argument("second", type=Path, metavar="SECOND", help="another of the same rubric")

    annotate = verbs.add("annotate", "write a copy of a workbook with the findings in comments and colour", json=False)
    _workbook(annotate)
    annotate.add_argument("--report", type=Path, metavar="FILE", help="a report.json of it; without one it is audited")
    annotate.add_argument("--out", type=Path, default=Path("annotated.xlsx"), metavar="FILE", help="(%(default)s)")


def _reading_verbs(verbs: Verbs) -> None:
    roles = verbs.add("roles", "say which cells are the WACC, the flows, the bridge …")
    _workbook(roles)
    _binding(roles)
    roles.add_argument("--write-binding", type=Path, metavar="FILE", help="write a binding to correct and pass back")

    recalc = verbs.add("recalc", "recompute every formula and compare with the stored values")
    _workbook(recalc)

    explain = verbs.add("explain", "show how one cell comes to its value")
    _workbook(explain)
    explain.add_argument("cell", metavar="CELL", help="such as 'DCF!C40'; without a sheet the first one is meant")
    explain.add_argument("--depth", type=int, default=2, metavar="N", help="levels of precedents (%(default)s)")


def _author_verbs(verbs: Verbs) -> None:
    checks = verbs.add("checks", "list the checks, or print the page of one")
    checks.add_argument("id", nargs="?", metavar="ID", help="such as bridge.equity-identity")

    _rubric_verbs(verbs)

    schema = verbs.add("schema", "print the JSON Schema of a document", json=False)
    schema.add_argument("document", choices=("report", "rubric"))

    mutate = verbs.add("mutate", "plant one fault at a time in a good workbook and see which checks notice")
    _workbook(mutate)
    mutate.add_argument("--rubric", default="generic-dcf", metavar="ID|FILE", help="whose ranges to use (%(default)s)")
    mutate.add_argument("--seed", type=int, default=0, metavar="N", help="fixes the cells chosen (%(default)s)")
    mutate.add_argument("--out", type=Path, metavar="DIR", help="also write the faulty workbooks, into a new folder")

    calibrate = verbs.add("calibrate", "grade a task's known-quality answers and hold their bands")
    calibrate.add_argument("rubric", metavar="ID|FILE", help="a bundled task, or a rubric file")


def _rubric_verbs(verbs: Verbs) -> None:
    inner = verbs.parsers.add_parser("rubric", help="check, lint, explain or begin a rubric file")
    rubric = Verbs(inner.add_subparsers(required=True, metavar="VERB"), verbs.run, "rubric ")
    for name, summary in (
        ("check", "say whether a rubric file is valid, and what it weighs"),
        ("lint", "say what is weak in a valid rubric"),
        ("explain", "say what a rubric asks for, in plain words"),
    ):
        rubric.add(name, summary).add_argument("rubric", metavar="ID|FILE")
    new = rubric.add("new", "print a valid rubric to begin with", json=False)
    new.add_argument("id", metavar="ID", help="short name, such as my-company-dcf")
    new.add_argument("--kind", choices=RUBRIC_KINDS, default="dcf", help="what is to be graded (%(default)s)")
    new.add_argument("--title", metavar="TEXT", help="what people see")
    new.add_argument("--out", type=Path, metavar="FILE", help="write it to a new file")


class Verbs(NamedTuple):
    """Where verbs are added."""

    parsers: argparse._SubParsersAction[argparse.ArgumentParser]
    run: Run
    prefix: str = ""

    def add(self, name: str, summary: str, *, json: bool = True) -> argparse.ArgumentParser:
        """Add a verb, with ``--json`` unless it prints no facts."""
        parser = self.parsers.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        parser.set_defaults(run=self.run[self.prefix + name])
        if json:
            parser.add_argument("--json", action="store_true", help="print JSON")
        return parser


def _workbook(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workbook", type=Path, metavar="WORKBOOK", help="an .xlsx or .xlsm file, or a folder with one")


def _out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, default=Path("xlcheck-report"), metavar="DIR", help="folder of the report (%(default)s)"
    )


def _score(text: str) -> Decimal:
    from decimal import Decimal, InvalidOperation

    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not 0 <= value <= 100 if value.is_finite() else True:
        raise argparse.ArgumentTypeError(f"{text!r} is no score; give a number from 0 to 100")
    return value


def _binding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--binding", type=Path, metavar="FILE", help="YAML file of role: cell, the grader's word")
    parser.add_argument("--vocabulary", type=Path, metavar="FILE", help="YAML file of further words for labels")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"xlcheck {version('xlcheck')}\n")
        parser.exit()
