"""The command line: thin verbs over the library, nothing heavy imported before it is used."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlcheck.errors import UsageError, XlcheckError

if TYPE_CHECKING:
    from decimal import Decimal

    from xlcheck.calibrate import Calibration
    from xlcheck.report.document import Report

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

FORMATS = ("csv", "html", "junit", "markdown", "sarif")
DEMO_TASK = "sic-epitaxy-dcf"
DEMO_ANSWERS = {"reference": "A good answer", "flawed": "A flawed answer"}

EXIT_CODES = """exit codes:
  0  fine
  1  the score is below --min-score, or a calibration band is broken
  2  unusable arguments, path, rubric or verdict file
  3  the submission is ungradable or invalid
  4  the score is provisional and --strict was given
  5  a check or an engine broke"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; errors become one sentence on standard error."""
    _forgive_narrow_terminals()
    args = _parser().parse_args(argv)
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
    report, files = _graded(args.submission, args.rubric, args.verdicts, args.out, args.binding)
    _show(args, report)
    if not args.json:
        print(f"\nReport: {files[-1]}")
    return _grade_code(report, args.min_score, strict=args.strict)


def _graded(
    submission: Path, rubric: str, verdicts: Path | None, out: Path, binding: Path | None = None
) -> tuple[Report, Sequence[Path]]:
    from xlcheck.pipeline import grade
    from xlcheck.report.writing import write_report

    report = grade(submission, rubric, verdicts, binding=binding)
    return report, write_report(report, out)


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


def _audit(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import audit

    report = audit(args.workbook, rubric=args.rubric, binding=args.binding)
    _show(args, report)
    return _broken(report)


def _roles(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import load_binding, one_workbook, study
    from xlcheck.report.json import roles_json
    from xlcheck.report.listing import binding_text, roles_text
    from xlcheck.report.writing import write_new

    given = load_binding(args.binding) if args.binding else None
    roles = study(one_workbook(args.workbook), given).roles
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


def _checks(args: argparse.Namespace) -> int:
    import xlcheck.checks  # noqa: F401 - declares the checks
    from xlcheck.checking import CHECKS
    from xlcheck.report.checkdocs import check_json, check_text
    from xlcheck.report.listing import checks_text

    if args.id is None:
        _print(
            args, lambda: {"checks": [check_json(CHECKS[key]) for key in sorted(CHECKS)]}, lambda: checks_text(CHECKS)
        )
        return 0
    if args.id not in CHECKS:
        from difflib import get_close_matches

        near = get_close_matches(args.id, CHECKS, n=3)
        raise UsageError(
            f"there is no check {args.id!r}; {'did you mean ' + ' or '.join(near) if near else 'run xlcheck checks'}"
        )
    found = CHECKS[args.id]
    _print(args, lambda: check_json(found), lambda: check_text(found))
    return 0


def _rubric_check(args: argparse.Namespace) -> int:
    import xlcheck.checks  # noqa: F401 - declares the checks
    from xlcheck.checking import CHECKS
    from xlcheck.report.listing import rubric_json, rubric_text
    from xlcheck.rubric import load_rubric

    rubric = load_rubric(args.rubric, CHECKS)
    _print(args, lambda: rubric_json(rubric), lambda: rubric_text(rubric))
    return 0


def _calibrate(args: argparse.Namespace) -> int:
    from xlcheck.calibrate import calibrate

    calibration = calibrate(args.rubric)
    _print(args, lambda: calibration.model_dump(mode="json"), lambda: _calibration_text(calibration))
    return 0 if calibration.holds else 1


def _export(args: argparse.Namespace) -> int:
    from xlcheck.report.exports import export, read_report

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


# -- arguments -----------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="xlcheck",
        description="Recompute, check and score valuation workbooks.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    _grading_verbs(verbs)
    _reading_verbs(verbs)
    _author_verbs(verbs)
    return parser


def _grading_verbs(verbs: Verbs) -> None:
    demo = _verb(verbs, "demo", _demo, "grade a bundled good answer and a flawed one")
    _out(demo)

    grade = _verb(verbs, "grade", _grade, "score a submission against a rubric")
    grade.add_argument(
        "submission", type=Path, metavar="SUBMISSION", help="a workbook, or a folder with one and memo files"
    )
    grade.add_argument("--rubric", required=True, metavar="ID|FILE", help="a bundled rubric or a YAML file")
    grade.add_argument("--verdicts", type=Path, metavar="FILE", help="the judge's decisions, JSON or JSON Lines")
    grade.add_argument("--min-score", type=_score, metavar="N", help="exit 1 if the score (its low end) is below N")
    grade.add_argument("--strict", action="store_true", help="exit 4 if the score is provisional")
    _binding(grade)
    _out(grade)

    audit = _verb(verbs, "audit", _audit, "run every check that applies on a workbook; no score")
    _workbook(audit)
    audit.add_argument("--rubric", default="generic-dcf", metavar="ID|FILE", help="whose ranges to use (%(default)s)")
    _binding(audit)

    export = verbs.add_parser("export", help="turn a report.json into what another tool reads")
    export.set_defaults(run=_export)
    export.add_argument("report", type=Path, metavar="REPORT.json")
    export.add_argument("--to", required=True, choices=FORMATS, help="the format; it is printed")


def _reading_verbs(verbs: Verbs) -> None:
    roles = _verb(verbs, "roles", _roles, "say which cells are the WACC, the flows, the bridge …")
    _workbook(roles)
    _binding(roles)
    roles.add_argument("--write-binding", type=Path, metavar="FILE", help="write a binding to correct and pass back")

    recalc = _verb(verbs, "recalc", _recalc, "recompute every formula and compare with the stored values")
    _workbook(recalc)

    explain = _verb(verbs, "explain", _explain, "show how one cell comes to its value")
    _workbook(explain)
    explain.add_argument("cell", metavar="CELL", help="such as 'DCF!C40'; without a sheet the first one is meant")
    explain.add_argument("--depth", type=int, default=2, metavar="N", help="levels of precedents (%(default)s)")


def _author_verbs(verbs: Verbs) -> None:
    checks = _verb(verbs, "checks", _checks, "list the checks, or print the page of one")
    checks.add_argument("id", nargs="?", metavar="ID", help="such as bridge.equity-identity")

    rubric = verbs.add_parser("rubric", help="work on rubric files").add_subparsers(required=True, metavar="VERB")
    check = _verb(rubric, "check", _rubric_check, "say whether a rubric file is valid, and what it weighs")
    check.add_argument("rubric", metavar="ID|FILE")

    calibrate = _verb(verbs, "calibrate", _calibrate, "grade a task's known-quality answers and hold their bands")
    calibrate.add_argument("rubric", metavar="ID|FILE", help="a bundled task, or a rubric file")


def _verb(
    verbs: Verbs,
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    parser.set_defaults(run=run)
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


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"xlcheck {version('xlcheck')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
