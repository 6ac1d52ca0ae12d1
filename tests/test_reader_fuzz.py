"""Mutated parts and containers: a book or one clear sentence, never another exception."""

from __future__ import annotations

import random

import pytest
from fuzz import changes
from raw_package import packed, parts_of, rels

from xlcheck.errors import SubmissionError
from xlcheck.graph import build_graph
from xlcheck.intake import check_package
from xlcheck.reading.book import read_book

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
ROWS = """
<row r="1" hidden="1"><c r="A1" t="s" s="1"><v>0</v></c><c r="B1" t="b"><v>1</v></c><c t="e"><v>#N/A</v></c></row>
<row r="2"><c r="A2" s="2"><f>SUM(Flows[Year])+rate*[1]Data!B3</f><v>3.5</v></c>
<c r="B2"><f t="shared" ref="B2:C2" si="0">A1*$B$1+'S'!A1:B1</f><v>1</v></c><c r="C2"><f t="shared" si="0"/><v>2</v></c>
<c r="D2" t="d"><v>2026-03-31</v></c></row>
<row r="5"><c r="A5" cm="1"><f t="array" ref="A5:A6">A1:A2*2</f><v>1</v></c>
<c r="D5"><f t="dataTable" ref="D5:E6" dt2D="1" dtr="1" r1="B1" r2="B2"/><v>7</v></c>
<c r="F5" t="inlineStr"><is><r><t>a</t></r><rPh><t>b</t></rPh></is></c></row>"""
PARTS = parts_of(
    ROWS,
    sheet_before='<dimension ref="A1:F6"/><cols><col min="2" max="3" hidden="1"/></cols>',
    sheet_after='<mergeCells><mergeCell ref="A2:C2"/></mergeCells>',
    workbook_before='<workbookPr date1904="1"/>',
    workbook_after='<externalReferences><externalReference r:id="rId7"/></externalReferences>'
    '<definedNames><definedName name="rate" localSheetId="0">S!$A$1</definedName></definedNames>'
    '<calcPr iterate="1" iterateCount="50" iterateDelta="1E-4"/>',
    extra_rels=(
        ("rId7", "externalLink", "externalLinks/externalLink1.xml"),
        ("rId8", "styles", "styles.xml"),
        ("rId9", "sharedStrings", "sharedStrings.xml"),
    ),
    extra={
        "xl/styles.xml": f'<styleSheet {MAIN}><numFmts><numFmt numFmtId="164" formatCode=";;;"/></numFmts><fonts><font>'
        '<color theme="0" tint="0"/></font></fonts><fills><fill><patternFill patternType="solid">'
        '<fgColor rgb="FFFFFFFF"/>'
        '</patternFill></fill></fills><cellXfs><xf/><xf numFmtId="164" fontId="0" fillId="0"/></cellXfs></styleSheet>',
        "xl/sharedStrings.xml": f"<sst {MAIN}><si><t>WACC_x000D_</t></si></sst>",
        "xl/worksheets/_rels/sheet1.xml.rels": rels(
            ("r1", "table", "../tables/table1.xml"),
            ("r2", "comments", "../comments1.xml"),
            ("r3", "threadedComment", "../t1.xml"),
        ),
        "xl/tables/table1.xml": f'<table {MAIN} name="T" displayName="Flows" ref="A1:B4" totalsRowCount="1">'
        '<tableColumns><tableColumn name="Year"/><tableColumn name="Cash"/></tableColumns></table>',
        "xl/comments1.xml": f'<comments {MAIN}><commentList><comment ref="A1"><text><t>x</t></text></comment>'
        "</commentList></comments>",
        "xl/t1.xml": '<ThreadedComments><threadedComment ref="B2"><text>y</text></threadedComment></ThreadedComments>',
        "xl/externalLinks/externalLink1.xml": f'<externalLink {MAIN} {REL}><externalBook r:id="rId1"><sheetNames>'
        '<sheetName val="Data"/></sheetNames><sheetDataSet><sheetData sheetId="0"><row r="3"><cell r="B3"><v>12.5</v>'
        "</cell></row></sheetData></sheetDataSet></externalBook></externalLink>",
        "docProps/app.xml": "<Properties><Application>Microsoft Excel</Application></Properties>",
        "docProps/core.xml": "<cp><modified>2026-03-31T10:00:00Z</modified></cp>",
    },
)


def read(data: bytes) -> bool:
    """Read a package whole and walk its graph; False if it was refused."""
    try:
        book = read_book(check_package(data, "fuzz.xlsx"))
    except SubmissionError as error:
        assert str(error).startswith("fuzz.xlsx")  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017
        return False
    graph = build_graph(book)
    graph.descendants(cell.ref for cell in book.cells())
    graph.ancestors(cell.ref for cell in book.cells())
    for cell in book.cells():
        graph.pure_link(cell.ref)
    assert graph.dynamic is not None
    return True


@pytest.mark.parametrize("seed", range(6))
def test_mutated_parts_are_read_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    read_through = 0
    for _ in range(60):
        parts = dict(PARTS)
        name = chance.choice(list(parts))
        if chance.random() < 0.05:
            del parts[name]
        else:
            parts[name] = changes.part(str(parts[name]), chance)
        read_through += read(packed(parts))
    assert read_through > 0


@pytest.mark.parametrize("seed", range(4))
def test_mutated_containers_are_read_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    whole = packed(PARTS)
    for _ in range(150):
        read(changes.container(whole, chance))


def test_the_unchanged_package_is_read() -> None:
    assert read(packed(PARTS))
