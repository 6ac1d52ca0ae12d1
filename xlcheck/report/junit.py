"""A report as JUnit XML, one test case per rubric item (or per check of an audit), for CI servers."""

from __future__ import annotations

from typing import NamedTuple
from xml.etree import ElementTree as ET  # only writes; nothing of a submission is parsed here

from xlcheck.checking import CheckResult
from xlcheck.report.document import Report
from xlcheck.report.words import figures, plain
from xlcheck.scoring.card import Line

_LONGEST = 1_000


class Case(NamedTuple):
    """One test case."""

    family: str
    name: str
    failure: str | None
    skipped: str | None


def report_junit(report: Report) -> str:
    """Return the XML text: a lost point or a fatal error is a failure, what is open or absent is skipped."""
    card = report.score_card
    cases = [_result(result) for result in report.results] if card is None else [_line(line) for line in card.lines]
    failures = sum(case.failure is not None for case in cases)
    skipped = sum(case.skipped is not None for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}
    root = ET.Element("testsuites", counts)
    name = plain(report.workbook or "no workbook")
    suite = ET.SubElement(root, "testsuite", {"name": name, **counts, "skipped": str(skipped)})
    for case in cases:
        test = ET.SubElement(suite, "testcase", {"classname": case.family, "name": case.name})
        if case.failure is not None:
            ET.SubElement(test, "failure", {"message": case.failure}).text = case.failure
        elif case.skipped is not None:
            ET.SubElement(test, "skipped", {"message": case.skipped})
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _line(line: Line) -> Case:
    lost = line.lost > 0 or (line.kind == "fatal" and line.credit_high == 0)
    said = _said(line) if lost else None
    return Case(line.kind, plain(f"{line.item} {line.title}"), said, _reason(line.reason) if line.open else None)


def _said(line: Line) -> str:
    parts = [line.cell or "", line.message or line.reason or line.title, *figures(line.found, line.expected)]
    return plain(", ".join(filter(None, parts)), _LONGEST)


def _result(result: CheckResult) -> Case:
    family, name = result.check_id.split(".", 1)
    if result.status in ("fail", "partial"):
        said = "; ".join(f"{finding.cell}: {finding.message}" for finding in result.findings)
        return Case(family, name, plain(said, _LONGEST), None)
    skipped = None if result.status == "pass" else _reason(result.reason)
    return Case(family, name, None, skipped)


def _reason(reason: str | None) -> str:
    return plain(reason or "not decided", _LONGEST)
