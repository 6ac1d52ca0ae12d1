"""Small tables of a grader or a submitter, from CSV at once and from Parquet with the extra ``parquet``."""

from __future__ import annotations

import csv
from collections.abc import Collection
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from xlcheck.errors import XlcheckError

SUFFIXES = (".csv", ".parquet")
MAX_BYTES = 200_000_000
MAX_ROWS = 2_000_000


class Row(NamedTuple):
    """One row, every cell as text; blank cells are ''."""

    number: int
    """As a person counts: of a CSV file the line, of a Parquet file the row, from 1."""
    cells: dict[str, str]


def read_table(path: Path, needed: Collection[str], error: type[XlcheckError]) -> list[Row]:
    """Read a table that has at least the columns `needed`; raises `error`, one sentence naming file and column."""
    if path.suffix.lower() not in SUFFIXES:
        raise error(f"{path.name}: a table is a file that ends in {' or '.join(SUFFIXES)}")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise error(f"{path.name}: the file is larger than {MAX_BYTES:,} bytes")
        columns, rows = (_parquet if path.suffix.lower() == ".parquet" else _csv)(path, error)
    except OSError as problem:
        raise error(f"{path.name} cannot be read: {problem.strerror or problem}") from None
    missing = [name for name in needed if name not in columns]
    if missing:
        raise error(f"{path.name}: the column {missing[0]!r} is missing; it has {', '.join(columns) or 'none'}")
    if not rows:
        raise error(f"{path.name} has no rows")
    return rows


def _csv(path: Path, error: type[XlcheckError]) -> tuple[list[str], list[Row]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = [name.strip() for name in reader.fieldnames or ()]
            reader.fieldnames = columns
            rows = [Row(reader.line_num, _texts(cells, path, reader.line_num, error)) for cells in reader]
    except UnicodeDecodeError as problem:
        raise error(f"{path.name} is no UTF-8 text: byte {problem.start}") from None
    except csv.Error as problem:
        raise error(f"{path.name}:{reader.line_num}: this is no CSV: {problem}") from None
    if len(set(columns)) < len(columns):
        raise error(f"{path.name}: a column stands there twice: {', '.join(columns)}")
    return columns, rows


def _texts(cells: dict[str, str | None], path: Path, line: int, error: type[XlcheckError]) -> dict[str, str]:
    if None in cells or None in cells.values():
        count = "more" if None in cells else "fewer"
        raise error(f"{path.name}:{line}: the row has {count} cells than there are columns")
    return {name: (text or "").strip() for name, text in cells.items()}


def _parquet(path: Path, error: type[XlcheckError]) -> tuple[list[str], list[Row]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise error(f"{path.name}: reading Parquet needs the extra, pip install 'xlcheck[parquet]'") from None
    try:
        file = pq.ParquetFile(path)
        if file.metadata.num_rows > MAX_ROWS:
            raise error(f"{path.name}: {file.metadata.num_rows:,} rows; at most {MAX_ROWS:,} are read")
        table = file.read()
    except pa.ArrowException as problem:
        raise error(f"{path.name} is no sound Parquet file: {str(problem).splitlines()[0]}") from None
    rows = [
        Row(number, {name: _shown(value) for name, value in cells.items()})
        for number, cells in enumerate(table.to_pylist(), 1)
    ]
    return list(table.column_names), rows


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, float | Decimal):
        return str(value)
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
