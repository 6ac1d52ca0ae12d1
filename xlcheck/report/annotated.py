"""A marked-up copy of the submission: comments and colour on flagged cells, and a sheet that lists the findings.

Only the XML parts that need it are edited; charts, data tables, caches and everything else are copied as they are.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from itertools import count
from typing import NamedTuple

from lxml import etree

from xlcheck.cells import CellRef
from xlcheck.checking import CheckResult, Finding
from xlcheck.intake import Package
from xlcheck.reading.parts import relationships, workbook_part
from xlcheck.report.document import Report
from xlcheck.report.markup import (
    CONTENT_TYPES,
    MAIN_TYPE,
    Parts,
    add_relationship,
    declare_part,
    namespace,
    number,
    office,
    read_part,
    set_part,
)
from xlcheck.report.notes import write_notes
from xlcheck.report.remarks_sheet import SHEET_NAME, remarks_sheet
from xlcheck.report.styling import Styles, colour_cells
from xlcheck.report.words import figures, plain

LARGEST = 60
"""Cells of one range that are coloured; of a larger one only the first."""
_LONGEST = 1_500


class Mark(NamedTuple):
    """What is written on one cell."""

    colour: str
    """``fault`` or ``warning``."""
    text: str


Marks = Mapping[tuple[int, int], Mark]


def annotated(package: Package, report: Report) -> bytes:
    """Return the marked-up copy of a workbook as the bytes of a file of the same kind."""
    parts = Parts(package, {})
    book = workbook_part(package)
    styles = Styles.of(parts, book)
    sheets = _sheet_parts(package, book)
    for name, marks in _marks(report).items():
        if name in sheets:
            _mark_sheet(parts, sheets[name], marks, styles)
    if styles is not None:
        styles.write(parts)
    _add_sheet(parts, book, remarks_sheet(report, namespace(read_part(parts, book))))
    return _zip(parts)


def _mark_sheet(parts: Parts, part: str, marks: Marks, styles: Styles | None) -> None:
    root = read_part(parts, part)
    if styles is not None:
        colour_cells(root, {place: mark.colour for place, mark in marks.items()}, styles)
    notes = {place: mark.text for place, mark in marks.items() if mark.text}
    write_notes(parts, part, root, notes)
    set_part(parts, part, root)


def _marks(report: Report) -> dict[str, dict[tuple[int, int], Mark]]:
    """Return sheet name to cell to mark; several findings on one cell share one note."""
    marks: dict[str, dict[tuple[int, int], Mark]] = {}
    for result in report.results:
        if result.status not in ("fail", "partial"):
            continue
        colour = "warning" if result.severity == "warn" or result.caused_by else "fault"
        for finding in result.findings:
            for at, ref in enumerate(_cells(finding)):
                sheet = marks.setdefault(ref.sheet, {})
                text = _note(result, finding) if at == 0 else ""
                sheet[ref.row, ref.column] = _merged(sheet.get((ref.row, ref.column)), Mark(colour, text))
    return marks


def _merged(first: Mark | None, second: Mark) -> Mark:
    if first is None:
        return second
    texts = [text for text in (first.text, second.text) if text]
    colour = "fault" if "fault" in (first.colour, second.colour) else "warning"
    return Mark(colour, "\n\n".join(dict.fromkeys(texts)))


def _cells(finding: Finding) -> Iterator[CellRef]:
    if finding.cell is None:
        return
    if isinstance(finding.cell, CellRef):
        yield finding.cell
    else:
        cells = finding.cell.cells()
        yield from cells if finding.cell.size <= LARGEST else [next(cells)]


def _note(result: CheckResult, finding: Finding) -> str:
    lines = [f"{result.check_id}: {plain(finding.message, _LONGEST)}"]
    lines += figures(finding.found, finding.expected, finding.unit)
    lines += [f"follows from {result.caused_by}"] if result.caused_by else []
    return "\n".join(lines)


def _sheet_parts(package: Package, book: str) -> dict[str, str]:
    """Return sheet name to part name of every worksheet."""
    root = read_part(Parts(package, {}), book)
    targets = relationships(package, book)
    found = {}
    for sheet in root.iter(f"{{{namespace(root)}}}sheet"):
        rel = targets.get(sheet.get(f"{{{office(root)}}}id", ""))
        if rel is not None and rel.kind == "worksheet" and rel.target in package:
            found[sheet.get("name", "")] = rel.target
    return found


def _add_sheet(parts: Parts, book: str, content: etree._Element) -> None:
    root = read_part(parts, book)
    space = namespace(root)
    sheets = root.find(f"{{{space}}}sheets")
    if sheets is None:
        return
    present = list(sheets.iterchildren(f"{{{space}}}sheet"))
    names = {sheet.get("name", "").casefold() for sheet in present}
    identifier = 1 + max((number(sheet, "sheetId", 0) for sheet in present), default=0)
    part = posixpath.join(posixpath.dirname(book), "worksheets", "xlcheck_findings.xml")
    declare_part(parts, part, f"{MAIN_TYPE}.worksheet+xml")
    identity = add_relationship(parts, book, part, "worksheet", office(root))
    name = next(name for name in _names() if name.casefold() not in names)
    sheet = etree.SubElement(sheets, f"{{{space}}}sheet")
    sheet.set("name", name)
    sheet.set("sheetId", str(identifier))
    sheet.set(f"{{{office(root)}}}id", identity)
    set_part(parts, book, root)
    set_part(parts, part, content)


def _names() -> Iterator[str]:
    yield SHEET_NAME
    yield from (f"{SHEET_NAME} {at}" for at in count(2))


def _zip(parts: Parts) -> bytes:
    """Write the package: content types first, unchanged parts as they were, and no clock in it."""
    file = io.BytesIO()
    changed = dict(parts.changed)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        infos = sorted(parts.package.entries.values(), key=lambda info: info.filename != CONTENT_TYPES)
        for info in infos:
            data = changed.pop(info.filename, None)
            new.writestr(_entry(info.filename), (parts.package.part(info.filename) if data is None else data) or b"")
        for name, data in sorted(changed.items()):
            new.writestr(_entry(name), data)
    return file.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
