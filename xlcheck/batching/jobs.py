"""Which submissions a batch holds: of a folder, a pattern or a CSV manifest."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable
from itertools import pairwise

from pydantic import SkipValidation

from xlcheck import storage
from xlcheck.cells import Frozen
from xlcheck.errors import UsageError, shown

GIVEN = ("verdicts", "binding", "overrides", "reads", "followup", "followup_verdicts")
"""What a grader may give with a submission, as `grade` names it."""
COLUMNS = ("id", "submission", *GIVEN)
WORKBOOKS = (".xlsx", ".xlsm", ".xltx", ".xltm", ".xls", ".xlsb", ".ods", ".numbers")
VERDICTS = (".json", ".jsonl")
_LONGEST = 150
"""Bytes of an id in a file's name, of which disks take 255."""


class Job(Frozen):
    """One submission to grade."""

    id: str
    """Unique in the batch: its name in the folder, or what the manifest says."""
    submission: SkipValidation[str]
    """Path or URL of a workbook, or of a folder with one and its memo files; a path may hold bytes that are no text."""
    verdicts: str | None = None
    """Path or URL of the judge's decisions on it; so the other files of the grader."""
    binding: str | None = None
    overrides: str | None = None
    reads: str | None = None
    followup: str | None = None
    """Path or URL of the answer of the second round."""
    followup_verdicts: str | None = None

    @property
    def key(self) -> str:
        """A file name for the id that no other id has."""
        plain = re.sub(r"[^\w.-]+", "_", self.id)[:60].encode()[:_LONGEST].decode(errors="ignore")
        return plain + "-" + hashlib.sha256(self.id.encode()).hexdigest()[:12]


def find_jobs(source: str, verdicts: str | None = None) -> tuple[Job, ...]:
    """Return the jobs of a batch, sorted by id.

    `source` is a CSV manifest with the column submission and, if wanted, id and those of `GIVEN` (places are relative
    to the manifest); a folder, of which every workbook and every sub-folder is one submission; or a pattern such as
    ``answers/*.xlsx``. `verdicts` is a folder of ``<id>.json`` or ``<id>.jsonl``, for folders and patterns; verdicts
    are never looked for inside a submission, which is the submitter's. Raises UsageError where there is nothing to
    grade, a manifest is not valid, or an id stands twice.
    """
    if source.lower().endswith(".csv"):
        if verdicts is not None:
            raise UsageError(f"{source}: a manifest names the verdicts in its column; leave the folder {verdicts} away")
        jobs = list(_of_manifest(source))
    else:
        given = _given_verdicts(verdicts)
        found = storage.matching(source) if set(source) & set("*?[") else _of_folder(source)
        named = [(_name(place), place) for place in found if not _name(place).startswith((".", "~$", "__MACOSX"))]
        jobs = [Job(id=shown(name), submission=place, verdicts=given.get(name)) for name, place in named]
    return _unique(source, sorted(jobs, key=lambda job: job.id))


def _of_folder(folder: str) -> list[str]:
    inside = storage.entries(folder)
    if inside is None:
        if storage.exists(folder):
            return [folder]
        raise UsageError(f"{folder}: no such folder; give a folder of submissions, a pattern or a .csv manifest")
    return [place for place, is_folder in inside if is_folder or place.lower().endswith(WORKBOOKS)]


def _given_verdicts(folder: str | None) -> dict[str, str]:
    if folder is None:
        return {}
    inside = storage.entries(folder)
    if inside is None:
        raise UsageError(f"{folder}: no such folder of verdicts; give one with <id>.json or <id>.jsonl in it")
    return {
        _name(place).rsplit(".", 1)[0]: place
        for place, is_folder in inside
        if not is_folder and place.lower().endswith(VERDICTS)
    }


def _of_manifest(manifest: str) -> Iterable[Job]:
    content = storage.read(manifest)
    if content is None:
        raise UsageError(f"{manifest}: no such manifest; give a CSV file with the column submission")
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig")), strict=True)
        names = rows.fieldnames or []
        unknown = [name for name in names if name not in COLUMNS]
        if "submission" not in names or unknown:
            told = f"the column {unknown[0]!r} is unknown" if unknown else "there is no column submission"
            raise UsageError(f"{manifest}: {told}; the columns are submission and, if wanted, id, {', '.join(GIVEN)}")
        if len(set(names)) < len(names):
            raise UsageError(f"{manifest}: a column stands there twice: {', '.join(names)}")
        for row in rows:
            if None in row:
                raise UsageError(
                    f'{manifest}, line {rows.line_num}: there are more cells than columns; quote a comma as "a,b"'
                )
            yield _of_row(manifest, rows.line_num, {name: (text or "").strip() for name, text in row.items() if name})
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{manifest} is no CSV file in UTF-8: {error}") from None


def _of_row(manifest: str, line: int, row: dict[str, str]) -> Job:
    if not row["submission"]:
        raise UsageError(f"{manifest}, line {line}: the submission is blank; give a path or URL")
    folder = manifest.replace("\\", "/").rpartition("/")[0]
    given = {name: _beside(folder, row[name]) for name in GIVEN if row.get(name)}
    return Job(id=row.get("id") or row["submission"], submission=_beside(folder, row["submission"]), **given)


def _beside(folder: str, place: str) -> str:
    absolute = place.startswith("/") or "://" in place or re.match(r"[A-Za-z]:[\\/]", place)
    return place if absolute or not folder else storage.join(folder, place)


def _name(place: str) -> str:
    return place.rstrip("/").rsplit("/", 1)[-1]


def _unique(source: str, jobs: list[Job]) -> tuple[Job, ...]:
    if not jobs:
        raise UsageError(f"{source}: there is no submission; a folder of workbooks or of folders is accepted")
    for one, other in pairwise(jobs):
        if one.id == other.id:
            raise UsageError(f"{source}: the id {one.id!r} stands twice; give each submission its own")
    return tuple(jobs)
