"""The whole flow on one screen: a submission becomes a `Report`."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from xlcheck.checking import CHECKS, CheckResult, Request, Workpaper, run_checks
from xlcheck.report.document import Report
from xlcheck.roles import Roles


def study(workbook: Path | str, *, binding: Path | str | None = None, valuation_date: float | None = None) -> Workpaper:
    """Read, recompute and locate: everything that checks may ask for."""
    from xlcheck.graph import build_graph
    from xlcheck.recompute import recompute
    from xlcheck.workbook import load

    book = load(workbook)
    recalc = recompute(book, valuation_date)
    graph = build_graph(book)
    try:  # temporary: until the locator exists
        from xlcheck.roles.locate import locate
    except ModuleNotFoundError:
        return Workpaper(book, recalc, graph, Roles(scalars={}, series={}, ambiguous={}))
    return Workpaper(book, recalc, graph, locate(book, recalc, graph, binding))


def audit(workbook: Path | str, rubric: Path | str = "generic-dcf", *, binding: Path | str | None = None) -> Report:
    """Run every check on a workbook, with the ranges of a rubric; no score.

    Raises SubmissionError where the workbook cannot be opened, UsageError for a path or rubric that is none.
    """
    import xlcheck.checks  # noqa: F401 - declares the checks

    paper = study(workbook, binding=binding)
    requests = [Request(check_id) for check_id in CHECKS]
    return _report(paper, run_checks(paper, requests))


def _report(paper: Workpaper, results: tuple[CheckResult, ...]) -> Report:
    return Report(
        xlcheck_version=version("xlcheck"),
        engines=dict(paper.recalc.engines),
        workbook=paper.book.file_name,
        workbook_sha256=paper.book.sha256,
        rubric_id="generic-dcf",
        rubric_sha256="",
        roles=paper.roles.scalars,
        series=paper.roles.series,
        ambiguous=paper.roles.ambiguous,
        headline=paper.roles.headline,
        results=results,
    )
