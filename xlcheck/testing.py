"""What tests of other projects may use: a fake engine, and assertions on one check of one workbook.

With pytest, `xlcheck.pytest_plugin` adds a fixture that keeps workbooks between tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import xlcheck.checks  # noqa: F401 - declares the checks
from xlcheck.checking import CHECKS, CheckResult, Request, run_checks
from xlcheck.engines.fake import FakeEngine
from xlcheck.errors import UsageError
from xlcheck.pipeline import study

__all__ = ["CheckedWorkbook", "FakeEngine", "assert_fails", "assert_passes", "run_check"]

Params = Mapping[str, float | Decimal | bool | str]
"""What a rubric item says under ``params``: ``{"low": 0.06, "high": 0.09}``."""


class CheckedWorkbook:
    """A workbook that is read, recomputed and located once, for any number of checks."""

    def __init__(self, workbook: Path | str) -> None:
        """Read a file; SubmissionError if it cannot be opened."""
        self.paper = study(workbook)

    def run(self, check_id: str, params: Params | None = None) -> CheckResult:
        """Run one check; UsageError if there is none of that id."""
        if check_id not in CHECKS:
            raise UsageError(f"there is no check {check_id!r}; `xlcheck checks` lists them")
        given = {name: _exact(value) for name, value in (params or {}).items()}
        (result,) = run_checks(self.paper, [Request(check_id, given)])
        return result

    def assert_passes(self, check_id: str, params: Params | None = None) -> None:
        """Assert that the check passes; the message says what it found instead."""
        __tracebackhide__ = True
        result = self.run(check_id, params)
        assert result.status == "pass", self._story(result)

    def assert_fails(self, check_id: str, cell: str | None = None, params: Params | None = None) -> None:
        """Assert that the check fails, and at this cell (``Sheet name!A1``) if one is given."""
        __tracebackhide__ = True
        result = self.run(check_id, params)
        assert result.status == "fail", self._story(result)
        cells = {str(finding.cell) for finding in result.findings}
        assert cell is None or cell in cells, f"{self._story(result)}; not at {cell}"

    def _story(self, result: CheckResult) -> str:
        found = "; ".join(f"{finding.cell}: {finding.message}" for finding in result.findings)
        said = found or result.reason or "nothing found"
        return f"{self.paper.book.file_name}: {result.check_id} is {result.status}: {said}"


def _exact(value: float | Decimal | bool | str) -> Decimal | bool | str:
    return value if isinstance(value, bool | str | Decimal) else Decimal(str(value))


def run_check(workbook: Path | str, check_id: str, params: Params | None = None) -> CheckResult:
    """Run one check on a workbook; raises as `CheckedWorkbook` does."""
    return CheckedWorkbook(workbook).run(check_id, params)


def assert_passes(workbook: Path | str, check_id: str, params: Params | None = None) -> None:
    """Assert that a check passes on a workbook; raises as `CheckedWorkbook` does."""
    __tracebackhide__ = True
    CheckedWorkbook(workbook).assert_passes(check_id, params)


def assert_fails(workbook: Path | str, check_id: str, cell: str | None = None, params: Params | None = None) -> None:
    """Assert that a check fails on a workbook, and at this cell if one is given; raises as `CheckedWorkbook` does."""
    __tracebackhide__ = True
    CheckedWorkbook(workbook).assert_fails(check_id, cell, params)
