"""Builds .xlsx packages part by part, so that tests can write what no library would write."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_REL = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"


def rels(*lines: tuple[str, str, str], strict: bool = False) -> str:
    base = "http://purl.oclc.org/ooxml/officeDocument/relationships" if strict else REL
    body = "".join(
        f'<Relationship Id="{rid}" Type="{base}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if kind.startswith("externalLinkPath") else "/>")
        for rid, kind, target in lines
    )
    return f'<Relationships xmlns="{PACKAGE_REL}">{body}</Relationships>'


def sheet_xml(rows: str, *, before: str = "", after: str = "", namespace: str = MAIN) -> str:
    return f'<worksheet xmlns="{namespace}" xmlns:r="{REL}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'


def workbook_xml(sheets: str, *, before: str = "", after: str = "", namespace: str = MAIN) -> str:
    return f'<workbook xmlns="{namespace}" xmlns:r="{REL}">{before}<sheets>{sheets}</sheets>{after}</workbook>'


def parts_of(
    rows: str = '<row r="1"><c r="A1"><v>1</v></c></row>',
    *,
    sheet_after: str = "",
    sheet_before: str = "",
    workbook_before: str = "",
    workbook_after: str = "",
    extra_rels: tuple[tuple[str, str, str], ...] = (),
    extra: dict[str, str | bytes] | None = None,
) -> dict[str, str | bytes]:
    """The parts of a one-sheet workbook (sheet ``S``)."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{TYPES}"/>',
        "_rels/.rels": rels(("rId1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": workbook_xml(
            '<sheet name="S" sheetId="1" r:id="rId1"/>', before=workbook_before, after=workbook_after
        ),
        "xl/_rels/workbook.xml.rels": rels(("rId1", "worksheet", "worksheets/sheet1.xml"), *extra_rels),
        "xl/worksheets/sheet1.xml": sheet_xml(rows, before=sheet_before, after=sheet_after),
    }
    return parts | (extra or {})


def packed(parts: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def write(path: Path, parts: dict[str, str | bytes]) -> Path:
    path.write_bytes(packed(parts))
    return path
