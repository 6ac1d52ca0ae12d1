"""The kill matrix: which planted fault is noticed by which check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Literal

from xlcheck.cells import CellRef, Frozen, RangeRef, Scalar
from xlcheck.checking import CHECKS, CheckResult, Request, Workpaper, run_checks
from xlcheck.checks.headline import output_cells
from xlcheck.engines import Unsolved
from xlcheck.errors import UsageError
from xlcheck.mutation.edits import edited
from xlcheck.mutation.subject import OPERATORS, Mutation, Subject
from xlcheck.progress import watched
from xlcheck.recompute import Recalc, recompute
from xlcheck.roles.locate import locate
from xlcheck.workbook import Book

Fate = Literal["killed", "survived", "equivalent", "repair"]
"""`equivalent` leaves the headline as it was; `repair` undoes a fault that the workbook had at that very cell."""
SAME_VALUE = 1e-9
"""Relative difference of the headline outputs below which a fault of arithmetic is called equivalent."""


class Mutant(Frozen):
    """One planted fault and what the checks said of it."""

    operator: str
    cell: CellRef
    content: str | None
    """What was put into the cell, as text; None for a blank."""
    fate: Fate
    killed_by: tuple[str, ...]
    """The expected checks that newly fail at a mutated cell or in its row (its column where time runs down)."""
    also: tuple[str, ...]
    """Other checks that newly fail, anywhere."""
    expected: tuple[str, ...]
    """The checks made for the fault."""
    said: str
    """Why it survived: what the first expected check answered."""
    output: str | None
    """The headline output that was compared."""
    before: float | None
    after: float | None


class KillMatrix(Frozen):
    """What became of every operator on one workbook."""

    workbook: str
    workbook_sha256: str
    seed: int
    mutants: tuple[Mutant, ...]
    """Survivors first."""
    not_planted: tuple[str, ...]
    """Operators that found nothing to change in this workbook."""

    @property
    def killed(self) -> int:
        """Return the number of faults that were noticed."""
        return sum(mutant.fate == "killed" for mutant in self.mutants)

    @property
    def decided(self) -> int:
        """Return the number of faults that change something for the worse: neither equivalent nor repairs."""
        return sum(mutant.fate in ("killed", "survived") for mutant in self.mutants)


def kill_matrix(
    paper: Workpaper, requests: Mapping[str, Request], seed: int = 0, valuation_date: float | None = None
) -> KillMatrix:
    """Plant every fault that fits and run the checks on each.

    `requests` gives the ranges, by check id; `valuation_date` (Excel serial of the 1900 system) pins the clock.
    Raises UsageError for a workbook whose headline value was not found or recomputes to no number.
    """
    must_work(paper)
    wanted = [requests.get(check_id, Request(check_id)) for check_id in CHECKS]
    base = mutated(paper, None, valuation_date)
    before = {result.check_id: result for result in run_checks(base, wanted)}
    mutants: list[Mutant] = []
    missing = []
    for name, mutation in planted_faults(paper, seed):
        if mutation is None or not _departs(mutation, requests):
            missing.append(name)
            continue
        mutants.append(
            _tried(name, mutation, paper, mutated(paper, mutation, valuation_date), wanted=wanted, before=before)
        )
    order = {"survived": 0, "killed": 1, "repair": 2, "equivalent": 3}
    return KillMatrix(
        workbook=paper.book.file_name,
        workbook_sha256=paper.book.sha256,
        seed=seed,
        mutants=tuple(sorted(mutants, key=lambda mutant: order[mutant.fate])),
        not_planted=tuple(missing),
    )


def planted_faults(paper: Workpaper, seed: int = 0) -> Iterator[tuple[str, Mutation | None]]:
    """Yield each operator with its fault, None where it finds nothing to change in this workbook."""
    for name, function in watched(OPERATORS.items(), "Planting faults"):
        subject = Subject(paper, Random(f"{seed}:{name}"))  # noqa: S311 - a choice to repeat, no secret
        mutations = list(function(subject))
        for mutation in mutations:
            yield name, mutation
        if not mutations:
            yield name, None


def _tried(
    name: str,
    mutation: Mutation,
    paper: Workpaper,
    mutant: Workpaper,
    *,
    wanted: list[Request],
    before: Mapping[str, CheckResult],
) -> Mutant:
    results = run_checks(mutant, wanted)
    down = _sheets_down(paper)
    fresh = [result for result in results if _newly_failed(result, before[result.check_id])]
    killers = tuple(
        result.check_id
        for result in fresh
        if result.check_id in mutation.checks and (mutation.anywhere or _near(result, mutation, down))
    )
    output, was, now = _moved(paper, mutant)
    same = not output_moved(paper, mutant)
    content = mutation.changes.get(mutation.cell, _inputs(mutation))
    said = next(result for result in results if result.check_id == mutation.checks[0])
    return Mutant(
        operator=name,
        cell=mutation.cell,
        content=None if content is None else str(content),
        fate="killed" if killers else _unnoticed(mutation, results, before, same=same),
        killed_by=killers,
        also=tuple(result.check_id for result in fresh if result.check_id not in killers),
        expected=mutation.checks,
        said=f"{said.status}{f': {said.reason}' if said.reason else ''}",
        output=None if output is None else str(output),
        before=was,
        after=now,
    )


def _departs(mutation: Mutation, requests: Mapping[str, Request]) -> bool:
    """Say whether the rubric sets what the fault departs from."""
    if mutation.needs is None:
        return True
    check_id, parameter = mutation.needs
    return check_id in requests and requests[check_id].params.get(parameter) is not None


def _inputs(mutation: Mutation) -> str | None:
    table = mutation.tables.get(mutation.cell)
    return None if table is None else f"{{=TABLE({table.row_input or ''},{table.column_input or ''})}}"


def _unnoticed(
    mutation: Mutation, results: Iterable[CheckResult], before: Mapping[str, CheckResult], *, same: bool
) -> Fate:
    """Tell why an expected check says nothing new: nothing changed, a fault was undone, or it was missed."""
    if same and not mutation.structural:
        return "equivalent"
    said = {result.check_id: result.status for result in results}
    faulted = [
        check_id
        for check_id in mutation.checks
        if any(finding.cell == mutation.cell for finding in before[check_id].findings)
    ]
    return "repair" if faulted and all(said[check_id] == "pass" for check_id in faulted) else "survived"


def must_work(paper: Workpaper) -> None:
    """Refuse a workbook in which no fault could show: its headline was not found, or is no number to begin with."""
    output = _headline(paper)
    if output is None:
        raise UsageError(
            f"{paper.book.file_name}: no headline value is a cell; faults are planted in a whole valuation"
        )
    if paper.recalc.number(output) is None:
        shown = paper.recalc.value(output)
        raise UsageError(
            f"{paper.book.file_name}: the headline value {output} recomputes to no number ({shown}); "
            "faults are planted only in a workbook that works"
        )


def mutated(paper: Workpaper, mutation: Mutation | None, day: float | None) -> Workpaper:
    """Return the workbook with the fault (None: without one), its values regenerated so that staleness is no help."""
    if mutation is None or not mutation.stored:
        changes, tables = ({}, {}) if mutation is None else (mutation.changes, mutation.tables)
        return _restudied(paper, edited(paper.book, changes, tables=tables), day)
    kept: dict[CellRef, Scalar] = {
        ref: value for ref, value in paper.recalc.values.items() if not isinstance(value, Unsolved)
    }
    return _restudied(paper, edited(paper.book, mutation.changes, {**kept, **mutation.stored}), day)


def _restudied(paper: Workpaper, book: Book, day: float | None) -> Workpaper:
    recalc = recompute(book, day)
    if any(cell.data_table is not None or cell.array is not None for cell in book.cells()):
        book = _filled(book, recalc)
        recalc = recompute(book, day)
    roles = locate(book, recalc, recalc.graph)
    return replace(paper, book=book, recalc=recalc, graph=recalc.graph, roles=roles)


def _filled(book: Book, recalc: Recalc) -> Book:
    """Return the book with the cells that tables and arrays fill holding what the model now gives."""
    filled: dict[CellRef, Scalar] = {cell.ref: cell.stored for cell in book.formula_cells() if cell.stored is not None}
    for ref, value in recalc.values.items():
        cell = book.get(ref)
        if cell is not None and cell.formula is None and not isinstance(value, Unsolved):
            filled[ref] = value
    return edited(book, {}, filled)


def _newly_failed(result: CheckResult, before: CheckResult) -> bool:
    if result.status not in ("fail", "partial"):
        return False
    return before.status not in ("fail", "partial") or result.findings != before.findings


def _sheets_down(paper: Workpaper) -> frozenset[str]:
    """Return the sheets on which time runs down, so that a line of the forecast is a column."""
    lines = (series.cells for series in paper.roles.series.values())
    return frozenset(line[0].sheet for line in lines if len(line) > 1 and len({cell.column for cell in line}) == 1)


def _near(result: CheckResult, mutation: Mutation, down: frozenset[str]) -> bool:
    return any(_touches(finding.cell, cell, down) for finding in result.findings for cell in mutation.places)


def _touches(place: CellRef | RangeRef | None, cell: CellRef, down: frozenset[str]) -> bool:
    if place is None or place.sheet != cell.sheet:
        return False
    area = RangeRef(*place, *place[1:]) if isinstance(place, CellRef) else place
    in_column = cell.sheet in down and area.first_column <= cell.column <= area.last_column
    return in_column or area.first_row <= cell.row <= area.last_row


def output_moved(paper: Workpaper, mutant: Workpaper) -> bool:
    """Say whether the headline output is another one in the mutant, or cannot be compared."""
    _, was, now = _moved(paper, mutant)
    return was is None or now is None or abs(was - now) > SAME_VALUE * max(abs(was), abs(now))


def _moved(paper: Workpaper, mutant: Workpaper) -> tuple[CellRef | None, float | None, float | None]:
    output = _headline(paper)
    return (None, None, None) if output is None else (output, paper.recalc.number(output), mutant.recalc.number(output))


def _headline(paper: Workpaper) -> CellRef | None:
    """Return the cell of the headline output, the last one of the chain first."""
    return next(iter(output_cells(paper.roles).values()), None)
