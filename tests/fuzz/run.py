"""A long run of the fuzzer: ``python tests/fuzz/run.py --count 20000 --jobs 2`` prints what came of the trials.

Trials run in limited workers, some to a worker; of a worker that is lost each trial is tried again alone.
"""
# ruff: noqa: T201 - a script tells its results on the terminal

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from fuzz.trials import trials  # noqa: E402

from xlcheck.confinement import Allowance  # noqa: E402
from xlcheck.errors import XlcheckError  # noqa: E402
from xlcheck.isolation import run_apart  # noqa: E402

FINE = {"graded", "refused"}
TOGETHER = 100
CHUNK = Allowance(seconds=180)
ALONE = Allowance(seconds=15)


def outcomes(first: int, last: int, allowance: Allowance) -> dict[str, list[int]]:
    """Return outcome to seeds; a lost worker's trials are tried alone, and what is lost alone is a hang or crash."""
    try:
        found: dict[str, list[int]] = json.loads(run_apart(trials, json.dumps([first, last]), allowance))
    except XlcheckError as error:
        if last - first == 1:
            return {f"lost: {error}": [first]}
        found = {}
        for seed in range(first, last):
            _add(found, outcomes(seed, seed + 1, ALONE))
    return found


def _add(total: dict[str, list[int]], more: dict[str, list[int]]) -> None:
    for outcome, seeds in more.items():
        total.setdefault(outcome, []).extend(seeds)


def run(first: int, count: int, jobs: int) -> Iterator[dict[str, list[int]]]:
    """Yield the outcomes of each group of trials."""
    starts = range(first, first + count, TOGETHER)
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda start: outcomes(start, min(start + TOGETHER, first + count), CHUNK), starts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    total: dict[str, list[int]] = {}
    for done, found in enumerate(run(args.first, args.count, args.jobs), 1):
        for outcome in found.keys() - total.keys() - FINE:
            print(f"{outcome}  {found[outcome]}", file=sys.stderr, flush=True)
        _add(total, found)
        if done % 25 == 0:
            print(f"{done * TOGETHER} trials, {_memory()} MiB, " + _counts(total), file=sys.stderr, flush=True)
    for outcome, seeds in sorted(total.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(seeds):>6}  {outcome}  {seeds[:5] if outcome not in FINE else ''}")


def _counts(total: dict[str, list[int]]) -> str:
    bad = sum(len(seeds) for outcome, seeds in total.items() if outcome not in FINE)
    return f"{len(total.get('graded', ()))} graded, {len(total.get('refused', ()))} refused, {bad} bad"


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
