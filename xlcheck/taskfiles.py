"""The files that a rubric names, and what a grader gives beside the submission."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

from xlcheck.actuals import Actual, load_actuals
from xlcheck.errors import UsageError
from xlcheck.evidence import Evidence, load_pack, load_reads
from xlcheck.resources import bundled
from xlcheck.rubric import Rubric, rubric_path
from xlcheck.tabular import read_table

FilePath = Path | str


def task_file(rubric: FilePath, rules: Rubric, name: str) -> Path:
    """Return a file that a rubric names: beside the rubric file, else in the bundled task's folder.

    Raises UsageError where it is in neither.
    """
    folders = [rubric_path(rubric).parent]
    task = bundled("fixtures", rules.id)
    if task is not None:
        folders.append(task)
    for folder in folders:
        if (folder / name).is_file() and (folder / name).resolve().is_relative_to(folder.resolve()):
            return folder / name
    raise UsageError(f"the rubric {rules.id} names {name}, which is not in {' or '.join(map(str, folders))}")


def named_files(rules: Rubric) -> tuple[str, ...]:
    """Return the names of the files that a rubric names."""
    pack = rules.evidence.pack if rules.evidence is not None else None
    outcomes = rules.forecast.outcomes if rules.forecast is not None else None
    return tuple(name for name in (pack, rules.actuals, outcomes) if name is not None)


def evidence_of(
    rubric: FilePath, rules: Rubric, pack: FilePath | None = None, reads: FilePath | None = None
) -> Evidence | None:
    """Return what an answer may rest on: the pack given, else the rubric's; None where neither pack nor cutoff is set.

    `reads` is the log of the sources that were opened. Raises UsageError for a file that is not valid.
    """
    named = rules.evidence.pack if rules.evidence is not None else None
    closed = rules.evidence.closed if rules.evidence is not None else True
    path = Path(pack) if pack is not None else task_file(rubric, rules, named) if named is not None else None
    if path is None:
        if reads is not None:
            raise UsageError(f"{reads} is a log of sources that were read, and there is no evidence pack")
        return Evidence(rules.cutoff) if rules.cutoff is not None else None
    found = load_pack(path)
    return Evidence(rules.cutoff, found.sources, closed, load_reads(reads, found) if reads is not None else None)


def actuals_of(rubric: FilePath, rules: Rubric) -> tuple[Actual, ...]:
    """Return what came true, where the rubric names a file of it; UsageError for one that is not valid."""
    return () if rules.actuals is None else load_actuals(task_file(rubric, rules, rules.actuals), rules.cutoff)


def outcomes_of(rubric: FilePath, rules: Rubric) -> dict[date, Decimal]:
    """Return day to outcome of a forecast task; UsageError for a file that is missing or not valid."""
    name = rules.forecast.outcomes if rules.forecast is not None else None
    if name is None:
        raise UsageError(f"the rubric {rules.id} names no file of outcomes; add outcomes to its forecast")
    path = task_file(rubric, rules, name)
    found: dict[date, Decimal] = {}
    for row in read_table(path, ("day", "value"), UsageError):
        day = day_of(row.cells["day"])
        value = number_of(row.cells["value"])
        if day is None or value is None:
            raise UsageError(f"{path}:{row.number}: a day such as 2026-03-31 and a finite value are expected")
        if day in found:
            raise UsageError(f"{path}:{row.number}: the day {day} stands there twice")
        found[day] = value
    return found


def day_of(text: str) -> date | None:
    """Return the day of an ISO date or time stamp, None for anything else."""
    try:
        return date.fromisoformat(text[:10]) if len(text) == 10 or text[10:11] in ("T", " ") else None
    except ValueError:
        return None


def number_of(text: str) -> Decimal | None:
    """Return a finite number from its text, None for anything else."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
