"""The command line: its verbs stand in ``commands/``, nothing heavy is imported before it is used."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence

from xlcheck.arguments import allowance_of, empty_parser
from xlcheck.commands import authoring, batching, grading, judging, reading, serving
from xlcheck.errors import WorkerLostError, XlcheckError
from xlcheck.progress import let_progress_show

COMMANDS = (grading, judging, reading, authoring, batching, serving)
"""Modules of verbs; each adds its own."""
OPENED = ("workbook", "submission", "first")
"""Arguments that name what a verb opens."""
WRITTEN = ("out", "write_binding")
"""Arguments that name what a verb writes."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every verb."""
    parser, verbs = empty_parser()
    for module in COMMANDS:
        module.add_verbs(verbs)
    return parser


def entry() -> int:
    """Run the command line; a verb that opens a stranger's workbook runs in a limited process of its own."""
    args = build_parser().parse_args()
    if not getattr(args, "own_process", False):
        return _run(args)
    from xlcheck.confinement import run_limited

    places = (getattr(args, name, None) for name in WRITTEN)
    try:
        return run_limited(lambda: _run(args), allowance_of(args), tuple(str(place) for place in places if place))
    except WorkerLostError as error:
        return _fail(args, _over(args, str(error)), error.exit_code)


def _over(args: argparse.Namespace, limit: str) -> str:
    opened = next(str(getattr(args, name)) for name in OPENED if hasattr(args, name))
    return f"{opened}: {limit} (--max-seconds and --max-memory allow more)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb in this process and return its exit code; errors become one sentence on standard error."""
    return _run(build_parser().parse_args(argv))


def _run(args: argparse.Namespace) -> int:
    _forgive_narrow_terminals()
    gc.set_threshold(50_000, 20, 10)  # a workbook is many objects that live to the end, and in no cycle
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else every installed package is searched for some
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
        from xlcheck.confinement import at_the_limit

        if getattr(args, "own_process", False) and at_the_limit(allowance_of(args), error):
            return _fail(args, _over(args, f"it needed more than {args.max_memory} MiB of memory"), 3)
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
    sys.exit(entry())
