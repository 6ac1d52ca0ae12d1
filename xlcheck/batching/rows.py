"""One row a submission, and what all rows together say."""

from __future__ import annotations

import io
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.util import find_spec
from itertools import islice
from statistics import quantiles
from typing import Literal

from xlcheck.batching.jobs import Job
from xlcheck.cells import Frozen
from xlcheck.errors import UsageError, shown
from xlcheck.report.document import Report
from xlcheck.scoring.card import CardStatus

_CHUNK = 1_000
_SEPARATOR = "; "


class Row(Frozen):
    """The result of one submission, flat; amounts are points of 0 to 100."""

    id: str
    submission: str
    status: CardStatus | Literal["error"]
    """``error`` where the grader's own files, or xlcheck, kept it from being graded."""
    score: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    program: Decimal | None = None
    judged: Decimal | None = None
    deducted: Decimal | None = None
    uncapped: Decimal | None = None
    """What the low end would be without fatal errors."""
    fatal: str = ""
    """Ids of the fatal errors, separated by ``; ``; so the other lists."""
    failed: str = ""
    """Ids of the checks that failed."""
    open_items: str = ""
    broken: str = ""
    """Ids of the checks that raised an error."""
    followup_low: Decimal | None = None
    """Low and high end of the second round, where there was one."""
    followup_high: Decimal | None = None
    followup_fatal: str = ""
    followup_failed: str = ""
    reason: str | None = None
    workbook: str | None = None
    workbook_sha256: str | None = None
    rubric_id: str | None = None
    rubric_sha256: str | None = None
    xlcheck_version: str | None = None


def row_of(job: Job, report: Report) -> Row:
    """Return the row of a graded submission."""
    card = report.score_card
    assert card is not None
    graded = card.status not in ("ungradable", "invalid")
    second = report.followup
    second_card = second.score_card if second is not None else None
    return Row(
        id=job.id,
        submission=shown(job.submission),
        status=card.status,
        score=card.score,
        low=card.low,
        high=card.high,
        program=card.program if graded else None,
        judged=card.judged if graded else None,
        deducted=card.deducted if graded else None,
        uncapped=card.uncapped if graded else None,
        fatal=_listed(card.fatal),
        failed=_failed(report),
        open_items=_listed(card.open_items),
        broken=_listed(check_id for check_id, _ in report.broken()),
        followup_low=second_card.low if second_card is not None else None,
        followup_high=second_card.high if second_card is not None else None,
        followup_fatal=_listed(second_card.fatal) if second_card is not None else "",
        followup_failed=_failed(second) if second is not None else "",
        reason=card.reason,
        workbook=report.workbook,
        workbook_sha256=report.workbook_sha256,
        rubric_id=report.rubric_id,
        rubric_sha256=report.rubric_sha256,
        xlcheck_version=report.xlcheck_version,
    )


def _failed(report: Report) -> str:
    return _listed(result.check_id for result in report.results if result.status == "fail")


def lost_row(job: Job, status: Literal["ungradable", "error"], reason: str) -> Row:
    """Return the row of a submission that gave no report."""
    return Row(id=job.id, submission=shown(job.submission), status=status, reason=reason)


def _listed(ids: Iterable[str]) -> str:
    return _SEPARATOR.join(sorted(set(ids)))


def parquet(rows: Iterable[Row]) -> bytes:
    """Return the rows as a Parquet file, in their order; points are float64, every text column is nullable.

    Raises UsageError where pyarrow is not installed.
    """
    need_arrow()
    import pyarrow as arrow
    import pyarrow.parquet

    schema = arrow.schema([(name, arrow.float64() if name in _POINTS else arrow.string()) for name in Row.model_fields])
    file = io.BytesIO()
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        left = map(_plain, rows)
        while chunk := list(islice(left, _CHUNK)):
            writer.write_table(arrow.Table.from_pylist(chunk, schema=schema))
    return file.getvalue()


_POINTS = frozenset(
    {"score", "low", "high", "program", "judged", "deducted", "uncapped", "followup_low", "followup_high"}
)


def _plain(row: Row) -> dict[str, object]:
    return {name: float(value) if isinstance(value, Decimal) else value for name, value in row}


def need_arrow() -> None:
    """Raise UsageError where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise UsageError('results are written as Parquet; install it with pip install "xlcheck[parquet]"')


class Summary(Frozen):
    """What the rows of a batch say together."""

    submissions: int
    status: dict[str, int]
    """Status to number of rows."""
    mean_low: float | None
    """Of the low ends, in points; None where no row has one."""
    mean_high: float | None
    """Of the high ends; the mean score where every score is final."""
    quartiles: tuple[float, float, float] | None
    """25 %, 50 % and 75 % of the final scores; None for fewer than two."""
    fatal: dict[str, int]
    """Fatal error to number of rows, the most frequent first."""
    failed: dict[str, int]
    """Failed check to number of rows, the most frequent first."""
    not_graded: dict[str, str]
    """Id to reason of the rows that are ungradable, invalid or an error."""


@dataclass
class Tally:
    """Counts rows one by one, so that no batch is too long to be summed up."""

    status: Counter[str] = field(default_factory=Counter)
    fatal: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    not_graded: dict[str, str] = field(default_factory=dict)
    final: array[float] = field(default_factory=lambda: array("d"))
    """Scores that are final, in points."""
    ends: list[Decimal] = field(default_factory=lambda: [Decimal(0), Decimal(0)])
    """Sums of the low and the high ends."""
    scored: int = 0
    """Rows that have both ends."""

    def add(self, row: Row) -> Row:
        """Count a row, and return it."""
        self.status[row.status] += 1
        self.fatal.update(filter(None, row.fatal.split(_SEPARATOR)))
        self.failed.update(filter(None, row.failed.split(_SEPARATOR)))
        if row.status not in ("final", "provisional"):
            self.not_graded[row.id] = row.reason or row.status
        if row.low is not None and row.high is not None:
            self.scored += 1
            self.ends = [self.ends[0] + row.low, self.ends[1] + row.high]
            self.final.extend([float(row.low)] if row.status == "final" else [])
        return row

    def summary(self) -> Summary:
        """Return what the rows counted so far say together."""
        first, second, third = quantiles(self.final, n=4, method="inclusive") if len(self.final) > 1 else (0.0,) * 3
        means = [round(float(total / self.scored), 6) for total in self.ends] if self.scored else [None, None]
        return Summary(
            submissions=self.status.total(),
            status=_ordered(self.status),
            mean_low=means[0],
            mean_high=means[1],
            quartiles=(first, second, third) if len(self.final) > 1 else None,
            fatal=_ordered(self.fatal),
            failed=_ordered(self.failed),
            not_graded=self.not_graded,
        )


def _ordered(counted: Counter[str]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
