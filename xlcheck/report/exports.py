"""The formats that other tools read, by name; each renderer is imported on use."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pydantic import ValidationError

from xlcheck.errors import UsageError
from xlcheck.report.document import Report

RENDERERS: dict[str, tuple[str, str]] = {
    "csv": ("table", "report_csv"),
    "github": ("github", "report_github"),
    "gradescope": ("gradescope", "report_gradescope"),
    "html": ("html", "report_html"),
    "json": ("document", "report_json"),
    "junit": ("junit", "report_junit"),
    "markdown": ("markdown", "report_markdown"),
    "parquet": ("table", "report_parquet"),
    "sarif": ("sarif", "report_sarif"),
}
"""Format to module and function; every function takes a `Report` and returns text, or bytes where it is no text."""


def export(report: Report, form: str, language: str = "en") -> str | bytes:
    """Return the report in a format of `RENDERERS`; the language is that of the page, other formats speak English.

    Raises UsageError for another format, for one that needs a package which is not installed, and for a report that
    lacks what the format is for (a score for Gradescope).
    """
    if form not in RENDERERS:
        raise UsageError(f"there is no format {form!r}; choose one of {', '.join(RENDERERS)}")
    if language != "en" and form != "html":
        raise UsageError(f"the format {form} has no language {language!r}; --lang is for --to html")
    module, function = RENDERERS[form]
    more = {"language": language} if form == "html" else {}
    content: str | bytes = getattr(import_module(f"xlcheck.report.{module}"), function)(report, **more)
    return content


def read_report(path: Path) -> Report:
    """Read a report.json; UsageError if it cannot be read or is none."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UsageError(f"{path} is no report of xlcheck: {where}: {first['msg']}") from None
