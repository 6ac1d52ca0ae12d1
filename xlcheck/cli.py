"""The command line: thin verbs over the library, nothing heavy imported before it is used."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlcheck.errors import XlcheckError

if TYPE_CHECKING:
    from xlcheck.report.document import Report

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
        _print_json({"error": {"message": message, "exit_code": code}})
    return code


def _forgive_narrow_terminals() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


# -- verbs ---------------------------------------------------------------------------------------------------------


def _audit(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import audit

    report = audit(args.workbook, rubric=args.rubric, binding=args.binding)
    _show(args, report)
    return _broken(report)


def _roles(args: argparse.Namespace) -> int:
    from xlcheck.pipeline import study
    from xlcheck.report.json import roles_json
    from xlcheck.report.listing import roles_text

    paper = study(args.workbook, binding=args.binding)
    if args.json:
        _print_json(roles_json(paper.roles))
    else:
        print(roles_text(paper.roles), end="")
    return 0


def _recalc(args: argparse.Namespace) -> int:
    from xlcheck.recompute import recompute
    from xlcheck.report.json import recalc_json
    from xlcheck.report.listing import recalc_text
    from xlcheck.workbook import load

    recalc = recompute(load(args.workbook))
    if args.json:
        _print_json(recalc_json(recalc))
    else:
        print(recalc_text(recalc), end="")
    return 0


# -- output --------------------------------------------------------------------------------------------------------


def _print_json(data: object) -> None:
    from xlcheck.report.json import dumps

    print(dumps(data), end="")


def _show(args: argparse.Namespace, report: Report) -> None:
    from xlcheck.report.terminal import report_text

    if args.json:
        print(report.to_json(), end="")
    else:
        print(report_text(report, colour=_colour()), end="")


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

    audit = _verb(verbs, "audit", _audit, "run every check that applies on a workbook; no score")
    _workbook(audit)
    audit.add_argument("--rubric", default="generic-dcf", metavar="ID|FILE", help="whose ranges to use")
    _binding(audit)

    roles = _verb(verbs, "roles", _roles, "say which cells are the WACC, the flows, the bridge …")
    _workbook(roles)
    _binding(roles)
    roles.add_argument(
        "--write-binding", type=Path, metavar="FILE", help="write a binding file to correct and pass back"
    )

    recalc = _verb(verbs, "recalc", _recalc, "recompute every formula and compare with the stored values")
    _workbook(recalc)
    return parser


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
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


def _binding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--binding", type=Path, metavar="FILE", help="YAML file of role: cell, the grader's word")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"xlcheck {version('xlcheck')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
