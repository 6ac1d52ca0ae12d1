"""Verbs of a task author: checks, rubric …, schema, mutate, calibrate."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from xlcheck.arguments import Verbs, add_workbook, score
from xlcheck.commands.output import declared_checks, print_facts, show_file
from xlcheck.errors import UsageError

SCHEMAS = ("report", "rubric", "verdicts", "binding", "calibration", "overrides", "pack", "actuals")
RUBRIC_KINDS = ("dcf", "reverse-dcf", "checks-only", "judgement")


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs of a task author."""
    checks = verbs.add("checks", _checks, "list the checks, or print the page of one")
    checks.add_argument("id", nargs="?", metavar="ID", help="such as bridge.equity-identity")

    _rubric_verbs(verbs)

    schema = verbs.add("schema", _schema, "print the JSON Schema of a document")
    schema.add_argument("document", choices=SCHEMAS, help="whose schema")

    mutate = verbs.add("mutate", _mutate, "plant one fault at a time in a good workbook and see which checks notice")
    add_workbook(mutate, strange=False)
    mutate.add_argument("--rubric", default="generic-dcf", metavar="ID|FILE", help="whose ranges to use (%(default)s)")
    mutate.add_argument("--seed", type=int, default=0, metavar="N", help="fixes the cells chosen (%(default)s)")
    mutate.add_argument("--out", type=Path, metavar="DIR", help="also write the faulty workbooks, into a new folder")

    calibrate = verbs.add("calibrate", _calibrate, "grade a task's known-quality answers and hold their bands")
    calibrate.add_argument("task", metavar="ID|FILE", help="a bundled task, a calibration.yaml, or a folder with one")
    calibrate.add_argument("--mutants", action="store_true", help="also plant faults in the reference")
    calibrate.add_argument("--seed", type=int, default=0, metavar="N", help="fixes the cells chosen (%(default)s)")
    calibrate.add_argument("--answers", type=Path, metavar="DIR", help="reports to correlate items over")
    calibrate.add_argument(
        "--min-kill", type=score, metavar="N", help="exit 1 if fewer than N %% of the faults cost points"
    )
    calibrate.add_argument(
        "--save", action="store_true", help="keep the result beside the rubric, with its fingerprint"
    )
    calibrate.add_argument("--out", type=Path, metavar="DIR", help="write calibration.html, with pictures, into it")


def _rubric_verbs(verbs: Verbs) -> None:
    rubric = verbs.group("rubric", "check, lint, explain or begin a rubric file")
    for name, run, summary in (
        ("check", _rubric_check, "say whether a rubric file is valid, and what it weighs"),
        ("lint", _rubric_lint, "say what is weak in a valid rubric"),
        ("explain", _rubric_explain, "say what a rubric asks for, in plain words"),
    ):
        rubric.add(name, run, summary).add_argument("rubric", metavar="ID|FILE", help="a bundled rubric or a YAML file")
    new = rubric.add("new", _rubric_new, "print a valid rubric to begin with")
    new.add_argument("id", nargs="?", metavar="ID", help="short name, such as my-company-dcf; without one it asks")
    new.add_argument("--kind", choices=RUBRIC_KINDS, default="dcf", help="what is to be graded (%(default)s)")
    new.add_argument("--title", metavar="TEXT", help="what people see")
    new.add_argument("--currency", metavar="CODE", help="ISO code of the money that the task wants, in millions")
    new.add_argument("--cutoff", metavar="DATE", help="day after which evidence is a leak, such as 2026-03-31")
    new.add_argument("--price", metavar="N", help="price per share at the cutoff")
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
    from xlcheck.rubric import parse_rubric

    if args.id is None:
        _ask(args)
    facts = {name: getattr(args, name) for name in ("currency", "cutoff", "price") if getattr(args, name)}
    text = skeleton(args.id, args.title or args.id, args.kind, declared_checks(), facts)
    parse_rubric(text, f"{args.id}.yaml", declared_checks())
    show_file(args, text)
    return 0


def _ask(args: argparse.Namespace) -> None:
    """Fill in what a new rubric needs from answers at the terminal; an empty answer leaves the default."""
    if not sys.stdin.isatty():
        raise UsageError("give the new rubric a short name, such as my-company-dcf; questions need a terminal")

    def asked(question: str, default: str | None) -> str | None:
        print(f"{question} [{default or 'none'}]: ", end="", file=sys.stderr, flush=True)
        return input().strip() or default

    args.id = asked("Short name", "my-company-dcf")
    args.title = asked("Title, as people see it", args.title or args.id)
    args.kind = asked(f"Kind: {', '.join(RUBRIC_KINDS)}", args.kind)
    args.currency = asked("Currency of the task (ISO code)", args.currency)
    args.cutoff = asked("Cutoff: evidence of later date is a leak", args.cutoff)
    args.price = asked("Price per share at the cutoff", args.price)
    where = asked("File", str(args.out or f"{args.id}.yaml"))
    args.out = Path(where) if where is not None else None


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
    from xlcheck.explaining import explain
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
    from xlcheck.calibrate import calibration_of, hold_all
    from xlcheck.discrimination import discriminate
    from xlcheck.discrimination_page import calibration_text, discrimination_text, write_page
    from xlcheck.provenance import save

    answers = hold_all(args.task)
    calibration = calibration_of(answers)
    wanted = args.mutants or args.min_kill is not None or args.answers is not None
    found = discriminate(answers, args.answers, args.seed) if wanted else None
    notes = [f"Saved: {save(answers[0].case.rubric, calibration, found)}"] if args.save else []
    notes += [f"Page: {write_page(args.out, calibration, found)}"] if args.out is not None else []

    def facts() -> dict[str, object]:
        told = {"discrimination": found.model_dump(mode="json")} if found is not None else {}
        return calibration.model_dump(mode="json") | told

    def words() -> str:
        parts = [calibration_text(calibration), discrimination_text(found) if found is not None else None]
        return "\n".join([part for part in parts if part] + [f"{note}\n" for note in notes])

    print_facts(args, facts, words)
    spared = found is not None and args.min_kill is not None and found.kill_rate < args.min_kill
    return 0 if calibration.holds and not spared else 1
