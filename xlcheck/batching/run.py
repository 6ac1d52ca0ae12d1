"""A whole batch: on this machine's processors or on a Ray cluster; its rows, table and summary."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from xlcheck import storage
from xlcheck.batching.jobs import Job
from xlcheck.batching.rows import Row, Summary, Tally, need_arrow, parquet
from xlcheck.batching.work import Plan, fetch_rubric, run_job, stored_row
from xlcheck.checking import CHECKS
from xlcheck.confinement import DEFAULT_ALLOWANCE, Allowance
from xlcheck.errors import UsageError
from xlcheck.progress import watched
from xlcheck.rubric import Rubric, fingerprint, load_rubric
from xlcheck.taskfiles import actuals_of, evidence_of, outcomes_of

Runner = Callable[[Plan, Sequence[Job]], Iterator[Row]]
_AHEAD = 2


def run_batch(
    jobs: Sequence[Job],
    rubric: str,
    out: str,
    *,
    runner: Runner,
    allowance: Allowance = DEFAULT_ALLOWANCE,
) -> Summary:
    """Grade every job not yet graded, then write ``results.parquet`` and ``summary.json`` into ``out``.

    Started again after any end, it goes on where it was: rows made from the same files, task, limits and version
    are kept. The results depend on neither the order nor the number of workers.
    Raises UsageError for a rubric that is not valid, and for an ``out`` that cannot be written.
    """
    import xlcheck.checks  # noqa: F401 - declares the checks that the rubric names

    need_arrow()
    with tempfile.TemporaryDirectory(prefix="xlcheck-") as folder:
        local = fetch_rubric(rubric, folder)
        task = task_sha256(local, load_rubric(local, CHECKS))
    plan = Plan(rubric=rubric, task_sha256=task, out=out, allowance=allowance)
    _apart(out, jobs)
    for folder in (out, storage.join(out, "reports"), storage.join(out, "rows")):
        storage.sweep(folder)
    for _ in watched(runner(plan, jobs), "Grading", len(jobs)):
        pass
    tally = Tally()
    table = parquet(tally.add(_stored(plan, job)) for job in jobs)
    found = tally.summary()
    storage.write(storage.join(out, "results.parquet"), table)
    storage.write(storage.join(out, "summary.json"), found.model_dump_json(indent=2).encode())
    return found


def task_sha256(rubric: str, rules: Rubric) -> str:
    """Return a digest of what the rubric says and of the files that it names: its evidence, actuals and outcomes."""
    outcomes = outcomes_of(rubric, rules) if rules.forecast is not None else None
    told = (fingerprint(rules), evidence_of(rubric, rules), actuals_of(rubric, rules), outcomes)
    return hashlib.sha256(repr(told).encode()).hexdigest()


def _apart(out: str, jobs: Sequence[Job]) -> None:
    """Raise UsageError where the results would lie in a submission, and change it."""
    for job in jobs:
        if storage.lies_in(out, job.submission):
            raise UsageError(f"{out}: the results would lie in the submission {job.id}; name another folder")


def _stored(plan: Plan, job: Job) -> Row:
    stored = stored_row(plan, job)
    if stored is None or stored.plan != plan.digest:
        became = "taken away" if stored is None else "replaced by a batch with another rubric or other limits"
        raise UsageError(f"{plan.out}: the row of {job.id} was {became} during the run; start it again")
    return stored.row


def on_this_machine(workers: int) -> Runner:
    """Return a runner with so many worker processes at a time."""

    def run(plan: Plan, jobs: Sequence[Job]) -> Iterator[Row]:
        with ThreadPoolExecutor(workers) as pool:
            waiting: set[Future[Row]] = set()
            try:
                for job in jobs:
                    waiting.add(pool.submit(run_job, plan, job))
                    if len(waiting) >= workers * _AHEAD:
                        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in done)
                for future in waiting:
                    yield future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    return run


def on_ray(address: str | None, tries: int = 5) -> Runner:
    """Return a runner on a Ray cluster (``address``; None starts one here); a lost worker's job is tried again.

    Submissions, rubric and results must lie where every node reaches them. Raises UsageError where Ray is not
    installed or the cluster not reached.
    """

    def run(plan: Plan, jobs: Sequence[Job]) -> Iterator[Row]:
        ray = _ray(address)
        remote = ray.remote(num_cpus=1, max_retries=tries)(run_job)
        most = max(1, int(ray.cluster_resources().get("CPU", 1))) * _AHEAD
        waiting: list[object] = []
        for job in jobs:
            waiting.append(remote.remote(plan, job))
            if len(waiting) >= most:
                done, waiting = ray.wait(waiting, num_returns=1)
                yield from ray.get(done)
        yield from (ray.get(one) for one in waiting)

    return run


def _ray(address: str | None) -> Any:  # noqa: ANN401 - a module without types
    try:
        import ray
    except ImportError:
        raise UsageError('--on ray needs Ray; install it with pip install "xlcheck[ray]"') from None
    if not ray.is_initialized():
        try:
            ray.init(address=address, include_dashboard=False, log_to_driver=False, configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UsageError(f"no Ray cluster is reached at {address}: {error}") from None
    return ray
