"""The pytest plugin: known-quality answers as tests, and workbooks to hold checks against.

Every ``calibration.yaml`` that pytest comes across is a set of tests, one per answer, named by the band that it must
keep. The fixture `xlcheck_workbook` reads a workbook once however many checks a test session runs on it.
Nothing but pytest is imported until one of them is used.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest._code.code import ExceptionInfo, TerminalRepr

    from xlcheck.calibrate import Case, Row
    from xlcheck.testing import CheckedWorkbook

FILE = "calibration.yaml"
_KEYS = (re.compile(r"^rubric\s*:", re.MULTILINE), re.compile(r"^answers\s*:", re.MULTILINE))
_HEAD = 65_536
"""Characters in which the keys of a calibration file of ours must appear: others use that file name too."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the calibration files of xlcheck."""
    if file_path.name != FILE or not _is_ours(file_path):
        return None
    found: pytest.Collector = KnownAnswers.from_parent(parent, path=file_path)
    return found


def _is_ours(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        head = file.read(_HEAD)
    return all(key.search(head) for key in _KEYS)


class KnownAnswers(pytest.File):
    """One calibration file."""

    def collect(self) -> Iterator[KnownAnswer]:
        """Yield a test per answer; CollectError for a file that is not valid."""
        from xlcheck.calibrate import band, read_cases
        from xlcheck.errors import XlcheckError

        try:
            cases = read_cases(self.path)
        except XlcheckError as error:
            raise self.CollectError(str(error)) from None
        for case in cases:
            answer: KnownAnswer = KnownAnswer.from_parent(
                self, name=f"{case.answer.name}[{band(case.answer)}]", case=case
            )
            yield answer


class KnownAnswer(pytest.Item):
    """One answer, which must keep its band."""

    def __init__(self, *, case: Case, **more: Any) -> None:  # noqa: ANN401 - pytest's own arguments
        super().__init__(**more)
        self.case = case

    def runtest(self) -> None:
        """Grade the answer; BrokenBandError if its score leaves the band."""
        from xlcheck.calibrate import grade_case

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an engine that warns says nothing about the answer
            row = grade_case(self.case)
        if not row.holds:
            raise BrokenBandError(row)

    def repr_failure(self, excinfo: ExceptionInfo[BaseException], style: Any = None) -> str | TerminalRepr:  # noqa: ANN401
        """Say what moved the score, without a traceback."""
        from xlcheck.errors import XlcheckError

        if isinstance(excinfo.value, BrokenBandError | XlcheckError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Head the failure with answer and band."""
        return self.path, None, f"{self.path.parent.name}: {self.name}"


class BrokenBandError(AssertionError):
    """An answer left its band; the text names the items that moved it."""

    def __init__(self, row: Row) -> None:
        ends = " to ".join(dict.fromkeys(str(end) for end in (row.low, row.high) if end is not None))
        moved = "".join(f"\n  {mover}" for mover in row.moved)
        super().__init__(f"{row.name} scores {ends or row.status}, must be {row.band}: {row.reason}{moved}")


@pytest.fixture(scope="session")
def xlcheck_workbook() -> Callable[[Path | str], CheckedWorkbook]:
    """Return a function from a path to its `xlcheck.testing.CheckedWorkbook`, read again only when the file changes."""
    from xlcheck.testing import CheckedWorkbook

    kept: dict[tuple[str, int, int], CheckedWorkbook] = {}

    def read(workbook: Path | str) -> CheckedWorkbook:
        path = Path(workbook)
        if not path.is_file():
            return CheckedWorkbook(path)
        state = path.stat()
        key = (str(path.resolve()), state.st_mtime_ns, state.st_size)
        if key not in kept:
            kept[key] = CheckedWorkbook(path)
        return kept[key]

    return read
