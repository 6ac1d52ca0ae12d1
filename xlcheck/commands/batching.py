"""The verb that grades many submissions: batch."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from xlcheck.arguments import Verbs, add_allowance, allowance_of, positive
from xlcheck.commands.output import print_facts
from xlcheck.errors import UsageError

if TYPE_CHECKING:
    from xlcheck.batching.rows import Summary
    from xlcheck.batching.run import Runner

_SHOWN = 10


def add_verbs(verbs: Verbs) -> None:
    """Add the verb of a batch."""
    batch = verbs.add("batch", _batch, "grade many submissions, each in a limited process; goes on where it stopped")
    batch.add_argument("source", metavar="DIR|PATTERN|MANIFEST.csv", help="where the submissions are, a path or URL")
    batch.add_argument("--rubric", required=True, metavar="ID|FILE", help="a bundled rubric or a YAML file")
    batch.add_argument("--verdicts", metavar="DIR", help="folder of the judge's decisions, <id>.json or <id>.jsonl")
    batch.add_argument("--out", required=True, metavar="DIR", help="folder of the results, a path or URL")
    batch.add_argument(
        "--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="worker processes (as many as cores)"
    )
    batch.add_argument("--on", choices=("local", "ray"), default="local", help="where to grade (%(default)s)")
    batch.add_argument("--address", metavar="ADDRESS", help="of a Ray cluster; without it --on ray starts one here")
    add_allowance(batch)


def _batch(args: argparse.Namespace) -> int:
    from xlcheck import storage
    from xlcheck.batching.jobs import find_jobs
    from xlcheck.batching.run import run_batch

    jobs = find_jobs(args.source, args.verdicts)
    if storage.lies_in(args.out, args.source):  # the next time its folders would be submissions
        raise UsageError(
            f"{args.out}: the results would lie among the submissions; name a folder outside {args.source}"
        )
    found = run_batch(jobs, args.rubric, args.out, runner=_runner(args), allowance=allowance_of(args))
    print_facts(args, lambda: found.model_dump(mode="json"), lambda: _text(found, args.out))
    return 5 if found.status.get("error") else 0


def _runner(args: argparse.Namespace) -> Runner:
    from xlcheck.batching.run import on_ray, on_this_machine

    return on_ray(args.address) if args.on == "ray" else on_this_machine(args.jobs)


def _text(found: Summary, out: str) -> str:
    lines = [f"{found.submissions} submissions: " + ", ".join(f"{n} {status}" for status, n in found.status.items())]
    if found.mean_low is not None and found.mean_high is not None:
        ends = dict.fromkeys(f"{end:.1f}" for end in (found.mean_low, found.mean_high))
        lines.append(f"mean score {' to '.join(ends)}")
    if found.quartiles is not None:
        lines.append("quartiles of the final scores " + " · ".join(f"{point:.1f}" for point in found.quartiles))
    for title, counted in (("fatal errors", found.fatal), ("checks failed most", found.failed)):
        lines += [f"{title}:"] if counted else []
        lines += [f"  {n:>6}  {name}" for name, n in list(counted.items())[:_SHOWN]]
    if found.not_graded:
        lines.append("not graded:")
        lines += [f"  {name}: {reason}" for name, reason in list(found.not_graded.items())[:_SHOWN]]
        more = len(found.not_graded) - _SHOWN
        lines += [f"  and {more} more, all in summary.json"] if more > 0 else []
    lines.append(f"Results: {out.rstrip('/')}/results.parquet, a report each in {out.rstrip('/')}/reports")
    return "\n".join(lines) + "\n"
