"""What every verb shares: how facts, reports and broken checks are printed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlcheck.checking import Check
    from xlcheck.report.document import Report


def print_facts(args: argparse.Namespace, data: Callable[[], object], text: Callable[[], str]) -> None:
    """Print ``data`` as JSON under ``--json``, else ``text``."""
    from xlcheck.report.json import dumps

    print(dumps(data()) if args.json else text(), end="")


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
