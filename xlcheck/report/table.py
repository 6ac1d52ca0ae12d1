"""A report as a table, one row per finding: CSV that no spreadsheet would run, and Parquet."""

from __future__ import annotations

import csv
import io

from xlcheck.errors import UsageError
from xlcheck.report.document import COLUMNS, Report, finding_rows
from xlcheck.report.words import plain

_RUNS = tuple("=+-@＝＋－＠")
"""What makes a spreadsheet take a text for a formula, in the full-width form too."""
_LONGEST = 2_000


def report_csv(report: Report) -> str:
    """Return the CSV text; text that a spreadsheet would take for a formula gets a leading apostrophe."""
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    for row in finding_rows(report.results):
        writer.writerow({name: inert(value) for name, value in row.items()})
    return file.getvalue()


def inert(value: object) -> object:
    """Return a value that a spreadsheet shows and never runs; tabs and line ends become spaces."""
    if not isinstance(value, str):
        return value
    text = plain(value, _LONGEST)
    return f"'{text}" if text.lstrip().startswith(_RUNS) else text


def report_parquet(report: Report) -> bytes:
    """Return `Report.to_frame` as a Parquet file; UsageError where pyarrow is not installed."""
    file = io.BytesIO()
    try:
        report.to_frame().to_parquet(file, engine="pyarrow", index=False)
    except ImportError:
        raise UsageError('Parquet needs pyarrow; install it with pip install "xlcheck[parquet]"') from None
    return file.getvalue()
