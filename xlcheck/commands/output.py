"""What every verb shares: how facts, reports and broken checks are printed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from xlcheck.errors import UsageError

if TYPE_CHECKING:
    from xlcheck.checking import Check
    from xlcheck.report.document import Report


def print_facts(args: argparse.Namespace, data: Callable[[], object], text: Callable[[], str]) -> None:
    """Print ``data`` as JSON under ``--json``, else ``text``."""
    from xlcheck.report.json import dumps

    print(dumps(data()) if args.json else text(), end="")


def show_file(args: argparse.Namespace, content: str | bytes, says: str = "Written") -> None:
    """Write the new file that ``--out`` names, or print the text; UsageError for bytes without a file.

    ``--json`` prints ``{"written": file}``, or ``{"text": …}`` where there is no file.
    """
    from xlcheck.report.writing import write_new

    if args.out is not None:
        write_new(args.out, content)
        print_facts(args, lambda: {"written": str(args.out)}, lambda: f"{says}: {args.out}\n")
    elif isinstance(content, str):
        print_facts(args, lambda: {"text": content}, lambda: content)
    else:
        raise UsageError("this format is no text to print; name a file with --out")


def show_report(args: argparse.Namespace, report: Report) -> None:
    """Print a report as JSON or for the terminal."""
    from xlcheck.report.terminal import report_text

    print(report.to_json() if args.json else report_text(report, colour=colour()), end="")


def colour() -> bool:
    """Tell whether standard output shows colours and nobody declined them."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def broken_code(report: Report) -> int:
    """Name the checks that broke on standard error and return the exit code."""
    for check_id, reason in report.broken():
        print(f"xlcheck: {check_id}: {reason}", file=sys.stderr)
    return 5 if report.broken() else 0


def declared_checks() -> Mapping[str, Check]:
    """Return every declared check by id."""
    import xlcheck.checks  # noqa: F401 - declares the checks
    from xlcheck.checking import CHECKS

    return CHECKS
