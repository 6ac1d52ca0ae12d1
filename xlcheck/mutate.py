"""`xlcheck mutate`: how much of what could be wrong in a workbook would be noticed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import xlcheck.mutation.case_faults
import xlcheck.mutation.flow_faults
import xlcheck.mutation.model_faults
import xlcheck.mutation.rate_faults
import xlcheck.mutation.value_faults  # noqa: F401 - declares the operators
from xlcheck.checking import CHECKS
from xlcheck.errors import UsageError
from xlcheck.mutation.matrix import KillMatrix, kill_matrix, planted_faults
from xlcheck.mutation.subject import Mutation
from xlcheck.pipeline import excel_serial, one_workbook, study
from xlcheck.rubric import load_rubric, requests


def mutate(
    workbook: Path | str, rubric: Path | str = "generic-dcf", seed: int = 0, out: Path | None = None
) -> KillMatrix:
    """Plant one fault at a time in a workbook with live formulas and see which checks notice.

    `rubric` gives the ranges; `seed` fixes the cells that are chosen; `out` is a new folder for the faulty
    workbooks themselves. Raises SubmissionError where the workbook cannot be opened and UsageError for a path or
    rubric that is none and for a folder that holds something.
    """
    rules = load_rubric(rubric, CHECKS)
    path = one_workbook(workbook)
    paper = study(path, valuation_date=rules.valuation_date)
    if out is not None:
        write_mutants(path, out, {name: fault for name, fault in planted_faults(paper, seed) if fault is not None})
    wanted = {request.check_id: request for request in reversed(requests(rules))}
    day = rules.valuation_date
    return kill_matrix(paper, wanted, seed, None if day is None else excel_serial(day))


def write_mutants(path: Path, out: Path, faults: Mapping[str, Mutation]) -> None:
    """Write each faulty workbook, recalculated, under its operator's name.

    A forged stored value and a what-if table on other inputs have no file.
    """
    from xlcheck.engines.resave import resaved

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there already and holds something; name a new folder for the faulty workbooks")
    out.mkdir(parents=True, exist_ok=True)
    package = path.read_bytes()
    for name, fault in faults.items():
        if not fault.stored and not fault.tables:
            (out / f"{name}{path.suffix}").write_bytes(resaved(package, fault.changes))


def matrix_text(matrix: KillMatrix) -> str:
    """Return the kill matrix as a table, survivors first."""
    lines = [f"{matrix.workbook}: {matrix.killed} of {matrix.decided} planted faults noticed"]
    for mutant in matrix.mutants:
        seen = ", ".join(mutant.killed_by) or mutant.said
        lines.append(f"  {mutant.fate:10} {mutant.operator:40} {mutant.cell!s:24} {seen}")
        if mutant.fate == "survived":
            also = f" (but noticed by {', '.join(mutant.also)})" if mutant.also else ""
            lines.append(f"{'':13}expected {', '.join(mutant.expected)}{also}; content {mutant.content}")
    if matrix.not_planted:
        lines.append(f"  nothing to change for: {', '.join(matrix.not_planted)}")
    return "\n".join(lines)
