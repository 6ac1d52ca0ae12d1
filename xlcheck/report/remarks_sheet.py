"""The sheet ``xlcheck`` of a marked-up copy: every finding with a link to its cell."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from xlcheck.cells import CellRef, is_number
from xlcheck.checking import CheckResult, Finding
from xlcheck.report.document import Report
from xlcheck.report.markup import new_root
from xlcheck.report.words import plain

SHEET_NAME = "xlcheck"
_HEADER = ("Status", "Severity", "Check", "Cell", "Finding", "Found", "Expected", "Unit", "Follows from")
_WIDTHS = (10, 10, 34, 24, 90, 16, 16, 12, 30)
_LONGEST = 2_000


def remarks_sheet(report: Report, space: str) -> etree._Element:
    """Return the worksheet; texts are inline and inert, cells are links inside the workbook."""
    root = new_root("worksheet", space)
    columns = etree.SubElement(root, f"{{{space}}}cols")
    for at, width in enumerate(_WIDTHS, 1):
        etree.SubElement(columns, f"{{{space}}}col", min=str(at), max=str(at), width=str(width), customWidth="1")
    data = etree.SubElement(root, f"{{{space}}}sheetData")
    _row(data, space, 1, _HEADER)
    links = []
    for number, (result, finding) in enumerate(_entries(report), 2):
        _row(data, space, number, _values(result, finding))
        if finding is not None and finding.cell is not None:
            links.append((number, finding.cell))
    if links:
        holder = etree.SubElement(root, f"{{{space}}}hyperlinks")
        for number, cell in links:
            link = etree.SubElement(holder, f"{{{space}}}hyperlink", ref=f"D{number}")
            link.set("location", f"{_quoted(cell.sheet)}!{cell.address}")
    return root


def _entries(report: Report) -> list[tuple[CheckResult, Finding | None]]:
    found: list[tuple[CheckResult, Finding | None]] = []
    for result in report.results:
        if result.status in ("fail", "partial"):
            found += [(result, finding) for finding in result.findings]
        elif result.status == "unverifiable":
            found.append((result, None))
    return found


def _values(result: CheckResult, finding: Finding | None) -> Sequence[object]:
    head = (result.status, result.severity, result.check_id)
    if finding is None:
        return (*head, "", result.reason or "", "", "", "", "")
    where = "" if finding.cell is None else str(finding.cell)
    return (*head, where, finding.message, finding.found, finding.expected, finding.unit, result.caused_by or "")


def _row(data: etree._Element, space: str, number: int, values: Sequence[object]) -> None:
    row = etree.SubElement(data, f"{{{space}}}row", r=str(number))
    for column, value in enumerate(values, 1):
        if value is None or value == "":
            continue
        cell = etree.SubElement(row, f"{{{space}}}c", r=CellRef("", number, column).address)
        if is_number(value):
            etree.SubElement(cell, f"{{{space}}}v").text = repr(value)
        else:
            cell.set("t", "inlineStr")
            text = etree.SubElement(etree.SubElement(cell, f"{{{space}}}is"), f"{{{space}}}t")
            text.text = plain(str(value), _LONGEST)


def _quoted(sheet: str) -> str:
    return "'" + sheet.replace("'", "''") + "'"
