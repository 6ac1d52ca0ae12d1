"""The command line: thin verbs over the library, nothing heavy imported before it is used."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlcheck.arguments import build_parser
from xlcheck.errors import UsageError, XlcheckError

if TYPE_CHECKING:
    from decimal import Decimal

    from xlcheck.calibrate import Calibration
    from xlcheck.checking import Check
    from xlcheck.report.document import Report

DEMO_TASK = "sic-epitaxy-dcf"
DEMO_ANSWERS = {"reference": "A good answer", "flawed": "A flawed answer"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; errors become one sentence on standard error."""
    _forgive_narrow_terminals()
    gc.set_threshold(50_000, 20, 10)  # a workbook is many objects that live to the end, and in no cycle
    args = build_parser(RUN).parse_args(argv)
    try:
        code: int = args.run(args)
    except XlcheckError as error:
        return _fail(args, str(error), error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        if isinstance(error, SystemExit) or os.environ.get("XLCHECK_TRACEBACK"):
            raise
        hint = "this is a fault of xlcheck; set XLCHECK_TRACEBACK=1 to see where"
        return _fail(args, f"{type(error).__name__}: {error} ({hint})", 5)
    return code


def _fail(args: argparse.Namespace, message: str, code: int) -> int:
    print(f"xlcheck: {' '.join(message.split())}", file=sys.stderr)
    if getattr(args, "json", False):
        import json

        print(json.dumps({"error": {"message": message, "exit_code": code}}, ensure_ascii=False))
    return code


def _forgive_narrow_terminals() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


# -- verbs ---------------------------------------------------------------------------------------------------------


def _demo(args: argparse.Namespace) -> int:
    from xlcheck.resources import bundled

    task = bundled("fixtures", DEMO_TASK)
    if task is None:
        raise XlcheckError(f"the bundled task {DEMO_TASK} is missing; install xlcheck again")
    files: Sequence[Path] = ()
    for answer, says in DEMO_ANSWERS.items():
        report, files = _graded(task / answer, DEMO_TASK, task / answer / "verdicts.json", args.out / answer)
        print(f"{'=' * 4} {says} {'=' * max(4, 90 - len(says))}")
        _show(args, report)
        print()
    print(f"Read the second answer's report in a browser: {files[-1]}")
    return 0


def _grade(args: argparse.Namespace) -> int:
    report, files = _graded(
        args.submission, args.rubric, args.verdicts, args.out, binding=args.binding, vocabulary=args.vocabulary
    )
    _show(args, report)
    if not args.json:
        print(f"\nReport: {files[-1]}")
    return _grade_code(report, args.min_score, strict=args.strict)


def _graded(
    submission: Path,
    rubric: str,
    verdicts: Path | None,
    out: Path,
    *,
    binding: Path | None = None,
    vocabulary: Path | None = None,
) -> tuple[Report, Sequence[Path]]:
    from xlcheck.pipeline import grade_with_papers
    from xlcheck.report.sheets import workbook_view
    from xlcheck.report.writing import write_report

    report, paper = grade_with_papers(submission, rubric, verdicts, binding, vocabulary)
    view = workbook_view(paper, report) if paper is not None else None
    return report, write_report(report, out, view)


def _grade_code(report: Report, min_score: Decimal | None, *, strict: bool) -> int:
    card = report.score_card
    assert card is not None
    if report.broken():
        return _broken(report)
    if card.low is None or card.high is None or card.status in ("ungradable", "invalid"):
        return 3
    if strict and card.status == "provisional":
        return 4
    return 1 if min_score is not None and card.low < min_score else 0


def _compare(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import audit
    from xlcheck.report.compare import compare, comparison_text
    from xlcheck.report.exports import read_report

    first, second = (read_report(path) if path.suffix == ".json" else audit(path) for path in (args.first, args.second))
    found = compare(first, second)
    _print(args, lambda: found.model_dump(mode="json"), lambda: comparison_text(found))
    return 0


def _annotate(args: argparse.Namespace) -> int:
    from xlcheck.intake import open_package
    from xlcheck.pipeline import audit, one_workbook
    from xlcheck.report.annotated import annotated
    from xlcheck.report.exports import read_report
    from xlcheck.report.writing import write_new

    workbook = one_workbook(args.workbook)
    package = open_package(workbook)
    report = audit(workbook) if args.report is None else read_report(args.report)
    if report.workbook_sha256 != package.sha256:
        raise UsageError(f"{args.report} is the report of another workbook (SHA-256 {report.workbook_sha256})")
    write_new(args.out, annotated(package, report))
    print(f"Marked-up copy: {args.out}")
    return _broken(report)


def _audit(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import audit

    report = audit(args.workbook, rubric=args.rubric, binding=args.binding, vocabulary=args.vocabulary)
    _show(args, report)
    return _broken(report)


def _roles(args: argparse.Namespace) -> int:
    from xlcheck.binding import load_binding
    from xlcheck.pipeline import one_workbook, study
    from xlcheck.report.json import roles_json
    from xlcheck.report.listing import binding_text, roles_text
    from xlcheck.report.writing import write_new

    given = load_binding(args.binding) if args.binding else None
    roles = study(one_workbook(args.workbook), given, vocabulary=args.vocabulary).roles
    _print(args, lambda: roles_json(roles), lambda: roles_text(roles))
    if args.write_binding:
        write_new(args.write_binding, binding_text(roles))
    return 0


def _recalc(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import one_workbook
    from xlcheck.recompute import recompute
    from xlcheck.report.json import recalc_json
    from xlcheck.report.listing import recalc_text
    from xlcheck.workbook import load

    recalc = recompute(load(one_workbook(args.workbook)))
    _print(args, lambda: recalc_json(recalc), lambda: recalc_text(recalc))
    return 0


def _explain(args: argparse.Namespace) -> int:
    from xlcheck.graph import build_graph
    from xlcheck.pipeline import one_workbook
    from xlcheck.recompute import recompute
    from xlcheck.report.trace import cell_of, trace_json, trace_text
    from xlcheck.workbook import load

    book = load(one_workbook(args.workbook))
    cell = cell_of(book, args.cell)
    trace = trace_json(recompute(book), build_graph(book), cell, args.depth)
    _print(args, lambda: trace, lambda: trace_text(trace))
    return 0


def _declared() -> Mapping[str, Check]:
    import xlcheck.checks  # noqa: F401 - declares the checks
    from xlcheck.checking import CHECKS

    return CHECKS


def _checks(args: argparse.Namespace) -> int:
    from xlcheck.report.checkdocs import check_json, check_text
    from xlcheck.report.listing import checks_text

    declared = _declared()
    if args.id is None:
        _print(
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
    _print(args, lambda: check_json(found), lambda: check_text(found))
    return 0


def _rubric_check(args: argparse.Namespace) -> int:
    from xlcheck.report.listing import rubric_json, rubric_text
    from xlcheck.rubric import load_rubric

    rubric = load_rubric(args.rubric, _declared())
    _print(args, lambda: rubric_json(rubric), lambda: rubric_text(rubric))
    return 0


def _rubric_new(args: argparse.Namespace) -> int:
    from xlcheck.authoring import skeleton
    from xlcheck.report.writing import write_new

    text = skeleton(args.id, args.title or args.id, args.kind, _declared())
    if args.out is None:
        print(text, end="")
    else:
        write_new(args.out, text)
    return 0


def _rubric_lint(args: argparse.Namespace) -> int:
    from xlcheck.authoring import lint
    from xlcheck.rubric import load_rubric

    found = lint(load_rubric(args.rubric, _declared()))
    text = "".join(f"{advice.code}: {advice.message}\n" for advice in found)
    _print(
        args, lambda: {"advice": [advice.model_dump(mode="json") for advice in found]}, lambda: text or "no advice\n"
    )
    return 0


def _rubric_explain(args: argparse.Namespace) -> int:
    from xlcheck.authoring import explain
    from xlcheck.rubric import load_rubric

    rubric = load_rubric(args.rubric, _declared())
    _print(args, lambda: rubric.model_dump(mode="json"), lambda: explain(rubric))
    return 0


def _schema(args: argparse.Namespace) -> int:
    from xlcheck.report.document import report_schema
    from xlcheck.rubric import rubric_schema

    print({"report": report_schema, "rubric": rubric_schema}[args.document](), end="")
    return 0


def _mutate(args: argparse.Namespace) -> int:
    from xlcheck.mutate import matrix_text, mutate

    matrix = mutate(args.workbook, args.rubric, args.seed, args.out)
    _print(args, lambda: matrix.model_dump(mode="json"), lambda: matrix_text(matrix) + "\n")
    return 0


def _calibrate(args: argparse.Namespace) -> int:
    from xlcheck.calibrate import calibrate

    calibration = calibrate(args.rubric)
    _print(args, lambda: calibration.model_dump(mode="json"), lambda: _calibration_text(calibration))
    return 0 if calibration.holds else 1


def _export(args: argparse.Namespace) -> int:
    from xlcheck.report.exports import export, read_report

    _declared()
    print(export(read_report(args.report), args.to), end="")
    return 0


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


# -- output --------------------------------------------------------------------------------------------------------


def _print(args: argparse.Namespace, data: Callable[[], object], text: Callable[[], str]) -> None:
    from xlcheck.report.json import dumps

    print(dumps(data()) if args.json else text(), end="")


def _show(args: argparse.Namespace, report: Report) -> None:
    from xlcheck.report.terminal import report_text

    print(report.to_json() if args.json else report_text(report, colour=_colour()), end="")


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _broken(report: Report) -> int:
    for check_id, reason in report.broken():
        print(f"xlcheck: {check_id}: {reason}", file=sys.stderr)
    return 5 if report.broken() else 0


RUN: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "grade": _grade,
    "export": _export,
    "compare": _compare,
    "annotate": _annotate,
    "audit": _audit,
    "roles": _roles,
    "recalc": _recalc,
    "explain": _explain,
    "checks": _checks,
    "rubric check": _rubric_check,
    "rubric new": _rubric_new,
    "rubric lint": _rubric_lint,
    "rubric explain": _rubric_explain,
    "schema": _schema,
    "mutate": _mutate,
    "calibrate": _calibrate,
}
"""Verb to the function that runs it and returns the exit code."""


if __name__ == "__main__":
    sys.exit(main())
