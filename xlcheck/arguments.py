"""What the verbs' arguments have in common: exit codes, the parser verbs are added to, types of arguments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal

    from xlcheck.confinement import Allowance

Run = Callable[[argparse.Namespace], int]
"""A verb's function: it does the work, prints, and returns the exit code."""

EXIT_CODES = """exit codes:
  0  fine
  1  the score is below --min-score, or a calibration band is broken
  2  unusable arguments, path, rubric or verdict file
  3  the submission is ungradable or invalid
  4  the score is provisional and --strict was given
  5  a check or an engine broke"""


class Verbs(NamedTuple):
    """Where verbs are added."""

    parsers: argparse._SubParsersAction[argparse.ArgumentParser]

    def add(self, name: str, run: Run, summary: str) -> argparse.ArgumentParser:
        """Add a verb and its function, with what every verb takes: ``--json`` and ``--quiet``."""
        parser = self.parsers.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        parser.set_defaults(run=run)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--quiet", "-q", action="store_true", help="show no progress on standard error")
        return parser

    def group(self, name: str, summary: str) -> Verbs:
        """Add a verb that has verbs of its own, such as ``rubric check``."""
        inner = self.parsers.add_parser(name, help=summary)
        return Verbs(inner.add_subparsers(required=True, metavar="VERB"))


def empty_parser() -> tuple[argparse.ArgumentParser, Verbs]:
    """Return the parser without verbs, and where to add them."""
    parser = argparse.ArgumentParser(
        prog="xlcheck",
        description="Recompute, check and score valuation workbooks.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    return parser, Verbs(parser.add_subparsers(dest="verb", required=True, metavar="VERB"))


def add_workbook(parser: argparse.ArgumentParser, *, strange: bool = True) -> None:
    """Add the workbook that a verb reads; one from a stranger is opened in a process of its own."""
    parser.add_argument("workbook", type=Path, metavar="WORKBOOK", help="an .xlsx or .xlsm file, or a folder with one")
    if strange:
        add_own_process(parser)


def add_out(parser: argparse.ArgumentParser) -> None:
    """Add the folder that reports go to."""
    parser.add_argument(
        "--out", type=Path, default=Path("xlcheck-report"), metavar="DIR", help="folder of the report (%(default)s)"
    )


def add_language(parser: argparse.ArgumentParser) -> None:
    """Add the language of the HTML report."""
    parser.add_argument("--lang", choices=("en", "zh"), default="en", help="language of report.html (%(default)s)")


def add_binding(parser: argparse.ArgumentParser) -> None:
    """Add the files in which a grader helps the locator."""
    parser.add_argument("--binding", type=Path, metavar="FILE", help="YAML file of role: cell, the grader's word")
    parser.add_argument("--vocabulary", type=Path, metavar="FILE", help="YAML file of further words for labels")


def add_allowance(parser: argparse.ArgumentParser) -> None:
    """Add what one workbook may cost."""
    parser.add_argument("--max-seconds", type=positive, default=60, metavar="N", help="of one workbook (%(default)s)")
    parser.add_argument(
        "--max-memory", type=positive, default=2048, metavar="MIB", help="of one workbook, in MiB (%(default)s)"
    )


def add_own_process(parser: argparse.ArgumentParser) -> None:
    """Let the command line run the verb in a limited process of its own, since it opens a stranger's workbook."""
    add_allowance(parser)
    parser.set_defaults(own_process=True)


def allowance_of(args: argparse.Namespace) -> Allowance:
    """Return what `add_allowance` was told."""
    from xlcheck.confinement import Allowance

    return Allowance(seconds=args.max_seconds, memory_mib=args.max_memory)


def add_evidence(parser: argparse.ArgumentParser) -> None:
    """Add what a grader knows of the sources that an answer used."""
    parser.add_argument(
        "--evidence", type=Path, metavar="FILE", help="the evidence pack (pack.yaml); else the rubric's own"
    )
    parser.add_argument("--reads", type=Path, metavar="FILE", help="log of the sources that were opened, one a line")
    parser.add_argument(
        "--live-web-used", action="store_true", help="an audit says that the live web was used: the run is invalid"
    )


def add_followup(parser: argparse.ArgumentParser) -> None:
    """Add the answer of a second round."""
    parser.add_argument("--followup", type=Path, metavar="SUBMISSION2", help="the answer of the second round")
    parser.add_argument(
        "--followup-verdicts",
        type=Path,
        action="append",
        metavar="FILE",
        help="a judge's decisions on the second round; again for another judge",
    )


def score(text: str) -> Decimal:
    """Return a score from 0 to 100 from its text; raises ``argparse.ArgumentTypeError``."""
    from decimal import Decimal, InvalidOperation

    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not 0 <= value <= 100 if value.is_finite() else True:
        raise argparse.ArgumentTypeError(f"{text!r} is no score; give a number from 0 to 100")
    return value


def positive(text: str) -> int:
    """Return a whole number above 0 from its text; raises ``argparse.ArgumentTypeError``."""
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"xlcheck {version('xlcheck')}\n")
        parser.exit()
