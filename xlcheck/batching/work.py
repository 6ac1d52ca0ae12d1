"""One job of a batch: graded in a worker process, its report and row stored; done once, however often it is asked."""

from __future__ import annotations

import hashlib
import json
import tempfile
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from signal import SIGKILL

from xlcheck import storage
from xlcheck.batching.jobs import GIVEN, Job
from xlcheck.batching.rows import Row, lost_row, row_of
from xlcheck.cells import Frozen
from xlcheck.checking import CHECKS
from xlcheck.confinement import Allowance
from xlcheck.errors import SubmissionError, WorkerBrokeError, WorkerLostError, XlcheckError, shown
from xlcheck.intake import submitted_files
from xlcheck.isolation import run_apart
from xlcheck.report.document import Report
from xlcheck.rubric import load_rubric
from xlcheck.tabular import MAX_BYTES
from xlcheck.taskfiles import named_files

_TRIES = 2


class Plan(Frozen):
    """What is the same for every job of a batch."""

    rubric: str
    """A bundled id, or the path or URL of a rubric file."""
    task_sha256: str
    """Of what the rubric and the files it names say; a stored row counts for this task only."""
    out: str
    """Folder of the results, a path or URL."""
    allowance: Allowance = Allowance()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that the jobs have in common, xlcheck's version too, but not of where results go."""
        told = f"{version('xlcheck')} {self.task_sha256} {self.allowance}"
        return hashlib.sha256(told.encode()).hexdigest()


class Done(Frozen):
    """A stored row, and what it was made from."""

    plan: str = ""
    """Digest of the plan that it was made by."""
    made_from: str
    """SHA-256 over all that it depends on; empty where that could not be read, which is tried again."""
    row: Row


def run_job(plan: Plan, job: Job) -> Row:
    """Return the row of a job, graded now or earlier from the very same files.

    The report is stored before the row, so that a row vouches for its report.
    """
    with tempfile.TemporaryDirectory(prefix="xlcheck-job-") as folder:
        try:
            local = job.model_copy(update=_fetched(job, folder))
            rubric = fetch_rubric(plan.rubric, folder)
            made_from = _digest(plan, local)
        except SubmissionError as error:
            return _keep(plan, job, "", lost_row(job, "ungradable", str(error)))
        except (XlcheckError, OSError, ValueError) as error:  # a place may hold a character that no path may
            return _keep(plan, job, "", lost_row(job, "error", str(error)))
        stored = stored_row(plan, job)
        if stored is not None and stored.made_from == made_from and _has_report(plan, job, stored.row):
            return stored.row
        row, report = _graded(job, local, rubric, plan.allowance)
    if report is not None:
        storage.write(_report_place(plan, job), report.encode())
    return _keep(plan, job, made_from, row)


def _places(job: Job) -> dict[str, str]:
    """Return everything of a job that stands at a place, by its name."""
    named = {name: getattr(job, name) for name in ("submission", *GIVEN)}
    return {name: place for name, place in named.items() if place is not None}


def _fetched(job: Job, folder: str) -> dict[str, str]:
    """Return the local places of a job's files; what is remote is copied, each into a folder of its own."""
    local = {}
    for name, place in _places(job).items():
        own = Path(folder, name)
        own.mkdir()
        local[name] = storage.fetch(place, str(own))
    return local


def fetch_rubric(rubric: str, folder: str) -> str:
    """Return a bundled id or a local path of a rubric; a remote one is copied with the files that it names.

    Raises UsageError for one that is not there or not valid.
    """
    if not storage.is_url(rubric):
        return rubric
    own = Path(folder, "rubric")
    own.mkdir()
    local = storage.fetch(rubric, str(own))
    for name in named_files(load_rubric(local, CHECKS)):
        remote = storage.join(rubric.rpartition("/")[0], name)
        if storage.exists(remote):
            (own / name).parent.mkdir(parents=True, exist_ok=True)
            storage.fetch(remote, str((own / name).parent))
    return local


def _keep(plan: Plan, job: Job, made_from: str, row: Row) -> Row:
    done = Done(plan=plan.digest, made_from=made_from, row=row)
    storage.write(_row_place(plan, job), done.model_dump_json().encode())
    return row


def stored_row(plan: Plan, job: Job) -> Done | None:
    """Return what is stored of a job; None where nothing is, or nothing that can be read."""
    content = storage.read(_row_place(plan, job))
    try:
        return None if content is None else Done.model_validate_json(content)
    except ValueError:
        return None


def _row_place(plan: Plan, job: Job) -> str:
    return storage.join(plan.out, "rows", f"{job.key}.json")


def _report_place(plan: Plan, job: Job) -> str:
    return storage.join(plan.out, "reports", f"{job.key}.json")


def _has_report(plan: Plan, job: Job, row: Row) -> bool:
    """Tell whether the report of a row is still there; a row without a rubric never had one."""
    return row.rubric_id is None or storage.exists(_report_place(plan, job))


def _digest(plan: Plan, job: Job) -> str:
    """SHA-256 over everything that the row depends on; SubmissionError for a folder beyond limits."""
    whole = hashlib.sha256(plan.digest.encode())
    for name, place in _places(job).items():
        path = Path(place)
        for file in submitted_files(path) if path.is_dir() else [path] if path.is_file() else []:
            whole.update(f"\0{name}\0{shown(str(file.relative_to(path.parent)))}\0".encode())
            whole.update(_content(file))
    return whole.hexdigest()


def _content(file: Path) -> bytes:
    """Return a digest of a file, of one that is too large for any reader its size alone."""
    size = file.stat().st_size
    if size > MAX_BYTES:
        return size.to_bytes(8)
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").digest()


def _graded(job: Job, local: Job, rubric: str, allowance: Allowance) -> tuple[Row, str | None]:
    order = json.dumps({**_places(local), "rubric": rubric})
    try:
        report = _apart(order, allowance)
        return row_of(job, Report.model_validate_json(report)), report
    except SubmissionError as error:
        return lost_row(job, "ungradable", str(error)), None
    except XlcheckError as error:
        fault = "a fault of xlcheck: " if isinstance(error, WorkerBrokeError) else ""
        return lost_row(job, "error", f"{fault}{error}"), None


def _apart(order: str, allowance: Allowance) -> str:
    """Grade in a worker; one that somebody else kills (a machine short of memory) gets a second try."""
    for left in reversed(range(_TRIES)):
        try:
            return run_apart(graded, order, allowance)
        except WorkerLostError as error:
            if error.killed_by != SIGKILL or not left:
                raise
    raise AssertionError("the last try returns or raises")


def graded(order: str) -> str:
    """Grade what an order (JSON: the arguments of `grade`) names and return the report as JSON."""
    from xlcheck.pipeline import grade

    return grade(**json.loads(order)).to_json()
