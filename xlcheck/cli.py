"""The command line: its verbs stand in ``commands/``, nothing heavy is imported before it is used."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence

from xlcheck.arguments import empty_parser
from xlcheck.commands import authoring, batching, grading, reading
from xlcheck.errors import XlcheckError
from xlcheck.progress import let_progress_show

COMMANDS = (grading, reading, authoring, batching)
"""Modules of verbs; each adds its own."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every verb."""
    parser, verbs = empty_parser()
    for module in COMMANDS:
        module.add_verbs(verbs)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; errors become one sentence on standard error."""
    _forgive_narrow_terminals()
    gc.set_threshold(50_000, 20, 10)  # a workbook is many objects that live to the end, and in no cycle
    args = build_parser().parse_args(argv)
    let_progress_show(sys.stderr.isatty() and not args.quiet)
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


if __name__ == "__main__":
    sys.exit(main())
