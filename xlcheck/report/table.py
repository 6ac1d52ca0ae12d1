"""A report as CSV: one row per finding, and nothing in it that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

from xlcheck.report.document import Report, finding_rows
from xlcheck.report.words import plain

_RUNS = ("=", "+", "-", "@")
_LONGEST = 2_000


def report_csv(report: Report) -> str:
    """Return the CSV text; text that a spreadsheet would take for a formula gets a leading apostrophe."""
    rows = finding_rows(report.results)
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["check_id"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _inert(value) for name, value in row.items()} for row in rows)
    return file.getvalue()


def _inert(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = plain(value, _LONGEST)
    return f"'{text}" if text.startswith(_RUNS) else text
