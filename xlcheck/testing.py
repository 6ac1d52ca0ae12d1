"""What tests of other projects may use: a fake engine, and assertions on one check of one workbook."""

from __future__ import annotations

from pathlib import Path

import xlcheck.checks  # noqa: F401 - declares the checks
from xlcheck.checking import CHECKS, CheckResult, Params, Request, run_checks
from xlcheck.engines.fake import FakeEngine
from xlcheck.errors import UsageError
from xlcheck.pipeline import study

__all__ = ["FakeEngine", "assert_fails", "assert_passes", "run_check"]


def run_check(workbook: Path | str, check_id: str, params: Params | None = None) -> CheckResult:
    """Run one check on a workbook; UsageError if there is none of that id."""
    if check_id not in CHECKS:
        raise UsageError(f"there is no check {check_id!r}; `xlcheck checks` lists them")
    (result,) = run_checks(study(workbook), [Request(check_id, params or {})])
    return result


def assert_passes(workbook: Path | str, check_id: str, params: Params | None = None) -> None:
    """Assert that the check passes; the message says what it found instead."""
    result = run_check(workbook, check_id, params)
    assert result.status == "pass", _story(workbook, result)


def assert_fails(workbook: Path | str, check_id: str, cell: str | None = None, params: Params | None = None) -> None:
    """Assert that the check fails, and at this cell (``Sheet name!A1``) if one is given."""
    result = run_check(workbook, check_id, params)
    assert result.status == "fail", _story(workbook, result)
    assert cell is None or cell in {str(finding.cell) for finding in result.findings}, _story(workbook, result)


def _story(workbook: Path | str, result: CheckResult) -> str:
    found = "; ".join(f"{finding.cell}: {finding.message}" for finding in result.findings)
    return f"{Path(workbook).name}: {result.check_id} is {result.status}: {found or result.reason or 'nothing found'}"
