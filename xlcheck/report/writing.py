"""Writing report.json and report.html into a folder, and never over a file that is not ours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from xlcheck.errors import UsageError
from xlcheck.report.document import Report
from xlcheck.report.html import GENERATOR, report_html

JSON_MARK = '"xlcheck_version"'


class Written(NamedTuple):
    """The files of one report."""

    json: Path
    html: Path


def write_report(report: Report, folder: Path, page: str | None = None) -> Written:
    """Write both files, `page` or else the one that the report alone gives, creating the folder.

    UsageError where it cannot be made, or a file there is not a report of ours.
    """
    files = Written(folder / "report.json", folder / "report.html")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, mark in zip(files, (JSON_MARK, GENERATOR), strict=True):
            _keep_foreign(path, mark)
        replace_file(files.json, report.to_json())
        replace_file(files.html, report_html(report) if page is None else page)
    except OSError as error:
        raise UsageError(f"{folder}: the report cannot be written there: {error.strerror or error}") from None
    return files


def write_new(path: Path, content: str | bytes) -> None:
    """Write a file that must not exist yet; UsageError if it does or cannot be written."""
    try:
        with path.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except FileExistsError:
        raise UsageError(f"{path} exists already; name another file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None


def _keep_foreign(path: Path, mark: str) -> None:
    if not os.path.lexists(path):
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        if mark not in file.read(2_000):
            raise UsageError(f"{path} exists and is no report of xlcheck; choose another folder with --out")


def replace_file(path: Path, text: str) -> None:
    """Write a file of ours whole or not at all, over what stands there."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8", newline="\n")
    partial.replace(path)
