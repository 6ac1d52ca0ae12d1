"""Verbs of a task author: checks, rubric …, schema, mutate, calibrate."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from xlcheck.arguments import Verbs, add_workbook
from xlcheck.commands.output import declared_checks, print_facts, show_file
from xlcheck.errors import UsageError

if TYPE_CHECKING:
    from xlcheck.calibrate import Calibration

SCHEMAS = ("report", "rubric", "verdicts", "binding", "calibration")
RUBRIC_KINDS = ("dcf", "reverse-dcf", "checks-only", "judgement")


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs of a task author."""
    checks = verbs.add("checks", _checks, "list the checks, or print the page of one")
    checks.add_argument("id", nargs="?", metavar="ID", help="such as bridge.equity-identity")

    _rubric_verbs(verbs)

    schema = verbs.add("schema", _schema, "print the JSON Schema of a document")
    schema.add_argument("document", choices=SCHEMAS)

    mutate = verbs.add("mutate", _mutate, "plant one fault at a time in a good workbook and see which checks notice")
    add_workbook(mutate, strange=False)
    mutate.add_argument("--rubric", default="generic-dcf", metavar="ID|FILE", help="whose ranges to use (%(default)s)")
    mutate.add_argument("--seed", type=int, default=0, metavar="N", help="fixes the cells chosen (%(default)s)")
    mutate.add_argument("--out", type=Path, metavar="DIR", help="also write the faulty workbooks, into a new folder")

    calibrate = verbs.add("calibrate", _calibrate, "grade a task's known-quality answers and hold their bands")
    calibrate.add_argument("rubric", metavar="ID|FILE", help="a bundled task, or a rubric file")


def _rubric_verbs(verbs: Verbs) -> None:
    rubric = verbs.group("rubric", "check, lint, explain or begin a rubric file")
    for name, run, summary in (
        ("check", _rubric_check, "say whether a rubric file is valid, and what it weighs"),
        ("lint", _rubric_lint, "say what is weak in a valid rubric"),
        ("explain", _rubric_explain, "say what a rubric asks for, in plain words"),
    ):
        rubric.add(name, run, summary).add_argument("rubric", metavar="ID|FILE")
    new = rubric.add("new", _rubric_new, "print a valid rubric to begin with")
    new.add_argument("id", metavar="ID", help="short name, such as my-company-dcf")
    new.add_argument("--kind", choices=RUBRIC_KINDS, default="dcf", help="what is to be graded (%(default)s)")
    new.add_argument("--title", metavar="TEXT", help="what people see")
    new.add_argument("--out", type=Path, metavar="FILE", help="write it to a new file")


def _checks(args: argparse.Namespace) -> int:
    from xlcheck.report.checkdocs import check_json, check_text
    from xlcheck.report.listing import checks_text

    declared = declared_checks()
    if args.id is None:
        print_facts(
            args,
            lambda: {"checks": [check_json(declared[key]) for key in sorted(declared)]},
            lambda: checks_text(declared),
        )
        return 0
    if args.id not in declared:
        from difflib import get_close_matches

        near = get_close_matches(args.id, declared, n=3)
        raise UsageError(
            f"there is no check {args.id!r}; {'did you mean ' + ' or '.join(near) if near else 'run xlcheck checks'}"
        )
    found = declared[args.id]
    print_facts(args, lambda: check_json(found), lambda: check_text(found))
    return 0


def _rubric_check(args: argparse.Namespace) -> int:
    from xlcheck.report.listing import rubric_json, rubric_text
    from xlcheck.rubric import load_rubric

    rubric = load_rubric(args.rubric, declared_checks())
    print_facts(args, lambda: rubric_json(rubric), lambda: rubric_text(rubric))
    return 0


def _rubric_new(args: argparse.Namespace) -> int:
    from xlcheck.authoring import skeleton

    show_file(args, skeleton(args.id, args.title or args.id, args.kind, declared_checks()))
    return 0


def _rubric_lint(args: argparse.Namespace) -> int:
    from xlcheck.authoring import lint
    from xlcheck.rubric import load_rubric

    found = lint(load_rubric(args.rubric, declared_checks()))
    text = "".join(f"{advice.code}: {advice.message}\n" for advice in found)
    print_facts(
        args, lambda: {"advice": [advice.model_dump(mode="json") for advice in found]}, lambda: text or "no advice\n"
    )
    return 0


def _rubric_explain(args: argparse.Namespace) -> int:
    from xlcheck.authoring import explain
    from xlcheck.rubric import load_rubric

    rubric = load_rubric(args.rubric, declared_checks())
    print_facts(args, lambda: rubric.model_dump(mode="json"), lambda: explain(rubric))
    return 0


def _schema(args: argparse.Namespace) -> int:
    from xlcheck.schemas import schema_text

    print(schema_text(args.document), end="")
    return 0


def _mutate(args: argparse.Namespace) -> int:
    from xlcheck.mutate import matrix_text, mutate

    matrix = mutate(args.workbook, args.rubric, args.seed, args.out)
    print_facts(args, lambda: matrix.model_dump(mode="json"), lambda: matrix_text(matrix) + "\n")
    return 0


def _calibrate(args: argparse.Namespace) -> int:
    from xlcheck.calibrate import calibrate

    calibration = calibrate(args.rubric)
    print_facts(args, lambda: calibration.model_dump(mode="json"), lambda: _calibration_text(calibration))
    return 0 if calibration.holds else 1


def _calibration_text(calibration: Calibration) -> str:
    from xlcheck.report.words import columns, points

    rows = [["answer", "score", "must be", ""]]
    for row in calibration.rows:
        ends = [points(end) for end in (row.low, row.high) if end is not None]
        shown = " to ".join(dict.fromkeys(ends)) or row.status
        rows.append([row.name, shown, row.band, "holds" if row.holds else "BROKEN"])
    text = columns(rows, indent="")
    for row in calibration.rows:
        if not row.holds:
            text += f"\n{row.name}: {row.reason}\n" + "".join(f"  {mover}\n" for mover in row.moved)
    return text
