"""Grade hostile files in limited workers, and print the table of docs/security.md: ``python tests/hostile/run.py``."""
# ruff: noqa: T201 - a script tells its results on the terminal

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[1])]

from hostile.cases import CASES, Case  # noqa: E402

from xlcheck.batching.work import graded  # noqa: E402
from xlcheck.checking import BROKEN  # noqa: E402
from xlcheck.confinement import Allowance  # noqa: E402
from xlcheck.errors import WorkerLostError, XlcheckError  # noqa: E402
from xlcheck.isolation import run_apart  # noqa: E402
from xlcheck.pipeline import NO_VALUATION  # noqa: E402

ALLOWANCE = Allowance(seconds=10)


class Outcome(NamedTuple):
    """What became of one file."""

    kind: Literal["graded", "refused", "ended", "broke"]
    sentence: str
    seconds: float


def outcome(case: Case, folder: Path) -> Outcome:
    """Return what a grader is told of a case."""
    path = folder / f"{case.name}.xlsx"
    path.write_bytes(case.build())
    order = json.dumps({"submission": str(path), "rubric": "generic-dcf", "verdicts": None})
    begun = time.monotonic()
    try:
        report = json.loads(run_apart(graded, order, ALLOWANCE))
    except WorkerLostError as error:
        return Outcome("ended", str(error), time.monotonic() - begun)
    except XlcheckError as error:
        return Outcome("broke", str(error), time.monotonic() - begun)
    seconds = time.monotonic() - begun
    card = report["score_card"]
    if card["status"] == "ungradable" and NO_VALUATION not in card["reason"]:
        return Outcome("refused", card["reason"], seconds)
    broken = [result["check_id"] for result in report["results"] if (result["reason"] or "").startswith(BROKEN)]
    if broken:
        return Outcome("broke", f"checks that raised an error: {', '.join(broken)}", seconds)
    return Outcome("graded", card["reason"] or f"{card['low']} to {card['high']} points", seconds)


def main() -> None:
    print("| file | what it is | outcome |\n|---|---|---|")
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if len(sys.argv) > 1 and case.name not in sys.argv[1:]:
                continue
            found = outcome(case, Path(folder))
            slowest = max(slowest, found.seconds)
            told = found.sentence.replace("|", "\\|").removeprefix(f"{case.name}.xlsx: ")
            print(f"| {case.name} | {case.what} | {found.kind}: {told} |", flush=True)
            print(f"{found.seconds:6.2f} s  {case.name}", file=sys.stderr)
    print(f"slowest {slowest:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
