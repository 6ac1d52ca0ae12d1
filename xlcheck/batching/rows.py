"""One row a submission, and what all rows together say."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from importlib.util import find_spec
from statistics import mean, quantiles
from typing import Literal

from xlcheck.batching.jobs import Job
from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.intake import shown
from xlcheck.report.document import Report
from xlcheck.scoring.card import CardStatus

_CHUNK = 5_000
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


def parquet(rows: Sequence[Row]) -> bytes:
    """Return the rows as a Parquet file, in their order; points are float64, every text column is nullable.

    Raises UsageError where pyarrow is not installed.
    """
    need_arrow()
    import pyarrow as arrow
    import pyarrow.parquet

    schema = arrow.schema([(name, arrow.float64() if name in _POINTS else arrow.string()) for name in Row.model_fields])
    file = io.BytesIO()
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        for start in range(0, len(rows), _CHUNK):
            chunk = [_plain(row) for row in rows[start : start + _CHUNK]]
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


def summary(rows: Sequence[Row]) -> Summary:
    """Count the rows of a batch."""
    scores = [float(row.low) for row in rows if row.low is not None and row.status == "final"]
    lows = [float(row.low) for row in rows if row.low is not None]
    highs = [float(row.high) for row in rows if row.high is not None]
    first, second, third = quantiles(scores, n=4, method="inclusive") if len(scores) > 1 else (0.0, 0.0, 0.0)
    return Summary(
        submissions=len(rows),
        status=_counted(row.status for row in rows),
        mean_low=round(mean(lows), 6) if lows else None,
        mean_high=round(mean(highs), 6) if highs else None,
        quartiles=(first, second, third) if len(scores) > 1 else None,
        fatal=_counted(name for row in rows for name in row.fatal.split(_SEPARATOR) if name),
        failed=_counted(name for row in rows for name in row.failed.split(_SEPARATOR) if name),
        not_graded={row.id: row.reason or row.status for row in rows if row.status not in ("final", "provisional")},
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))
