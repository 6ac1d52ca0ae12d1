"""Formulas and stored values, read in one pass from packages written part by part."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from raw_package import parts_of, rels, sheet_xml, workbook_xml, write

from xlcheck.cells import CellError, CellRef, RangeRef
from xlcheck.errors import SubmissionError
from xlcheck.intake import Limits
from xlcheck.workbook import Book, Cell, load


def read(tmp_path: Path, rows: str = "", **more: Any) -> Book:
    return load(write(tmp_path / "model.xlsx", parts_of(rows, **more)))


def cell(book: Book, address: str) -> Cell:
    found = book.get(CellRef.parse(f"S!{address}"))
    assert found is not None, address
    return found


def row(*cells: str, number: int = 1) -> str:
    return f'<row r="{number}">{"".join(cells)}</row>'


@pytest.mark.parametrize(
    ("xml", "stored"),
    [
        ('<c r="A1"><v>1.5</v></c>', 1.5),
        ('<c r="A1" t="n"><v>-2E3</v></c>', -2000.0),
        ('<c r="A1" t="b"><v>1</v></c>', True),
        ('<c r="A1" t="b"><v>0</v></c>', False),
        ('<c r="A1" t="e"><v>#DIV/0!</v></c>', CellError(error="#DIV/0!")),
        ('<c r="A1" t="str"><v>12.5x</v></c>', "12.5x"),
        ('<c r="A1" t="str"><f>A2</f><v></v></c>', ""),
        ('<c r="A1" t="str"><v>=1+1</v></c>', "=1+1"),
        ('<c r="A1" t="inlineStr"><is><t>Net debt</t></is></c>', "Net debt"),
        ('<c r="A1" t="inlineStr"><is><r><t>Net </t></r><r><t>debt</t></r></is></c>', "Net debt"),
        ('<c r="A1" t="inlineStr"><is><t>売上高</t><rPh sb="0" eb="1"><t>ウリアゲ</t></rPh></is></c>', "売上高"),
        ('<c r="A1" t="str"><v>a_x000D_b_x005F_x0041_</v></c>', "a\rb_x0041_"),
        ('<c r="A1" t="str"><v>_xD83D__xDE00_ _xD83D_</v></c>', "\U0001f600 \ufffd"),
        ('<c r="A1" t="d"><v>2026-03-31</v></c>', 46112.0),
        ('<c r="A1" t="d"><v>2026-03-31T12:00:00Z</v></c>', 46112.5),
        ('<c r="A1"><v>1e999</v></c>', CellError(error="#NUM!")),
    ],
)
def test_every_type_of_value_is_read(tmp_path: Path, xml: str, stored: object) -> None:
    found = cell(read(tmp_path, row(xml)), "A1").stored
    assert found == stored
    assert type(found) is type(stored)


def test_text_that_starts_with_an_equals_sign_is_no_formula(tmp_path: Path) -> None:
    book = read(tmp_path, row('<c r="A1" t="inlineStr"><is><t>=A2+1</t></is></c>'))
    assert cell(book, "A1").formula is None
    assert list(book.formula_cells()) == []


def test_a_formula_without_a_stored_value_has_none(tmp_path: Path) -> None:
    book = read(tmp_path, row('<c r="A1"><f>1+1</f></c>', '<c r="B1"><f>1+1</f><v>2</v></c>'))
    assert cell(book, "A1").formula == "=1+1"
    assert cell(book, "A1").stored is None
    assert cell(book, "B1").stored == 2.0


def test_a_cell_with_a_format_only_is_left_out(tmp_path: Path) -> None:
    book = read(tmp_path, row('<c r="A1" s="1"/>', '<c r="B1"><v/></c>', '<c r="C1"><v>1</v></c>'))
    assert [str(one.ref) for one in book.cells()] == ["S!C1"]


def test_rows_and_cells_without_addresses_are_counted(tmp_path: Path) -> None:
    xml = (
        "<row><c><v>1</v></c><c><v>2</v></c></row>"
        '<row><c r="C2"><v>3</v></c><c><v>4</v></c></row><row r="9"><c><v>5</v></c></row>'
    )
    book = read(tmp_path, xml)
    assert {one.ref.address: one.stored for one in book.cells()} == {"A1": 1, "B1": 2, "C2": 3, "D2": 4, "A9": 5}


def test_cells_that_hold_nothing_are_counted_where_addresses_are_missing(tmp_path: Path) -> None:
    xml = '<row r="4"><c s="1"/><c><v>1</v></c><c r="F4" s="1"/><c s="1"/><c><v>2</v></c></row>'
    assert {one.ref.address: one.stored for one in read(tmp_path, xml).cells()} == {"B4": 1, "H4": 2}


def test_shared_formulas_are_translated(tmp_path: Path) -> None:
    book = read(
        tmp_path,
        row('<c r="B1"><f t="shared" ref="B1:C2" si="0">A1*$A1+A$1&amp;"A1"+SUM(A:A)+LOG10(A1)</f><v>1</v></c>')
        + row('<c r="C2"><f t="shared" si="0"/><v>2</v></c>', number=2),
    )
    assert cell(book, "C2").formula == '=B2*$A2+B$1&"A1"+SUM(B:B)+LOG10(B2)'


def test_a_shared_formula_before_its_first_cell_is_still_found(tmp_path: Path) -> None:
    book = read(
        tmp_path,
        row('<c r="A1"><f t="shared" si="3"/><v>1</v></c>', '<c r="B1"><f t="shared" ref="A1:B1" si="3">B2+1</f></c>'),
    )
    assert cell(book, "A1").formula == "=A2+1"


def test_a_shared_formula_that_no_cell_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match=r"model\.xlsx: sheet S: cell A1 shares a formula"):
        read(tmp_path, row('<c r="A1"><f t="shared" si="3"/></c>'))


def test_array_and_dynamic_formulas_keep_their_range(tmp_path: Path) -> None:
    book = read(
        tmp_path,
        row(
            '<c r="A1"><f t="array" ref="A1:A3">B1:B3*2</f><v>2</v></c>',
            '<c r="C1" cm="1"><f t="array" ref="C1:C2">_xlfn.UNIQUE(B1:B3)</f><v>2</v></c>',
            '<c r="D1" vm="1" t="e"><v>#VALUE!</v></c>',
        ),
    )
    assert cell(book, "A1").array == RangeRef.parse("S!A1:A3")
    assert not cell(book, "A1").dynamic
    assert cell(book, "C1").dynamic
    assert cell(book, "C1").formula == "=_xlfn.UNIQUE(B1:B3)"
    assert cell(book, "D1").rich


@pytest.mark.parametrize(
    ("attributes", "row_input", "column_input"),
    [
        ('dt2D="1" dtr="1" r1="B1" r2="B2"', "S!B1", "S!B2"),
        ('dtr="1" r1="B1"', "S!B1", None),
        ('dtr="0" r1="B1"', None, "S!B1"),
        ('r1="B1"', None, "S!B1"),
        ('dt2D="1" r1="B1" r2="B2" del2="1"', "S!B1", None),
    ],
)
def test_data_tables_name_their_input_cells(
    tmp_path: Path, attributes: str, row_input: str | None, column_input: str | None
) -> None:
    xml = row(f'<c r="D5"><f t="dataTable" ref="D5:E6" {attributes}/><v>7</v></c>', number=5)
    found = cell(read(tmp_path, xml), "D5")
    assert found.formula is None
    assert found.stored == 7
    assert found.data_table is not None
    assert found.data_table.range == RangeRef.parse("S!D5:E6")
    assert found.data_table.row_input == (CellRef.parse(row_input) if row_input else None)
    assert found.data_table.column_input == (CellRef.parse(column_input) if column_input else None)


STRINGS = (
    '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="9" uniqueCount="77">'
    '<si><t xml:space="preserve"> WACC </t></si><si><r><t>Equity</t></r><r><t> value</t></r></si>'
    "<si><t>株価</t><rPh><t>カブカ</t></rPh></si><si/></sst>"
)


def test_shared_strings_join_runs_and_drop_phonetics(tmp_path: Path) -> None:
    cells = "".join(f'<c r="{letter}1" t="s"><v>{index}</v></c>' for index, letter in enumerate("ABCD"))
    book = read(
        tmp_path,
        row(cells),
        extra={"xl/sharedStrings.xml": STRINGS},
        extra_rels=(("rId9", "sharedStrings", "sharedStrings.xml"),),
    )
    assert [one.stored for one in book.cells()] == [" WACC ", "Equity value", "株価", ""]


def test_a_string_that_the_file_does_not_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="cell B7 points to shared string '4', but the file holds 0"):
        read(tmp_path, row('<c r="B7" t="s"><v>4</v></c>', number=7))


STYLES = """<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<numFmts><numFmt numFmtId="164" formatCode="0.0x"/><numFmt numFmtId="165" formatCode=";;;"/></numFmts>
<fonts><font><color theme="1"/></font><font><color theme="0"/></font><font><color rgb="FFFFFFFF"/></font>
<font><color indexed="9"/></font><font><color theme="0" tint="-0.5"/></font><font><color rgb="FF1F4E78"/></font></fonts>
<fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>
<fill><patternFill patternType="solid"><fgColor rgb="FF1F4E78"/></patternFill></fill></fills>
<cellXfs>
<xf numFmtId="10" fontId="0" fillId="0"/><xf numFmtId="164" fontId="1" fillId="0"/><xf numFmtId="165" fontId="0"/>
<xf numFmtId="14" fontId="2"/><xf fontId="3"/><xf fontId="4"/><xf fontId="1" fillId="2"/><xf fontId="5" fillId="2"/>
<xf fontId="5" fillId="0"/>
</cellXfs></styleSheet>"""


def test_formats_and_hidden_values_are_told_by_the_style(tmp_path: Path) -> None:
    cells = "".join(f'<c r="{letter}1" s="{index}"><v>1</v></c>' for index, letter in enumerate("ABCDEFGHIJ"))
    book = read(tmp_path, row(cells), extra={"xl/styles.xml": STYLES}, extra_rels=(("rId9", "styles", "styles.xml"),))
    formats = [one.number_format for one in book.cells()]
    assert formats == ["0.00%", "0.0x", ";;;", "mm-dd-yy", *["General"] * 6]
    hidden = {one.ref.address for one in book.cells() if one.white}
    # white on nothing three times, an empty format, and blue on the same blue; white on blue can be read
    assert hidden == {"B1", "C1", "D1", "E1", "H1"}


def test_without_a_styles_part_every_format_is_general(tmp_path: Path) -> None:
    assert cell(read(tmp_path, row('<c r="A1" s="7"><v>1</v></c>')), "A1").number_format == "General"


def test_strict_files_absolute_targets_and_other_case_are_read(tmp_path: Path) -> None:
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    parts = {
        "_rels/.rels": rels(("rId1", "officeDocument", "/xl/Workbook.xml"), strict=True),
        "xl/workbook.xml": workbook_xml('<sheet name="Model " sheetId="1" r:id="rId1"/>', namespace=strict).replace(
            "http://schemas.openxmlformats.org/officeDocument/2006", "http://purl.oclc.org/ooxml/officeDocument"
        ),
        "xl/_rels/workbook.xml.rels": rels(("rId1", "worksheet", "/xl/worksheets/Sheet1.xml"), strict=True),
        "xl/worksheets/sheet1.xml": sheet_xml(row('<c r="A1"><f>1+1</f><v>2</v></c>'), namespace=strict),
    }
    book = load(write(tmp_path / "strict.xlsx", parts))
    assert [sheet.name for sheet in book.sheets] == ["Model "]
    assert book.get(CellRef("Model ", 1, 1)) == book.get(CellRef("MODEL ", 1, 1))
    assert book.get(CellRef("Model ", 1, 1)) is not None


def test_prefixed_namespaces_are_read(tmp_path: Path) -> None:
    xml = (
        '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>'
        '<x:row r="1"><x:c r="A1"><x:f>B1</x:f><x:v>3</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    )
    book = load(write(tmp_path / "m.xlsx", parts_of() | {"xl/worksheets/sheet1.xml": xml}))
    assert cell(book, "A1").formula == "=B1"


def test_hidden_rows_columns_and_merges_are_kept(tmp_path: Path) -> None:
    book = read(
        tmp_path,
        '<row r="2" hidden="1"><c r="A2"><v>1</v></c></row><row r="3" hidden="true"/><row r="4" ht="0"/>',
        sheet_before='<dimension ref="A1:XFD1048576"/>'
        '<cols><col min="2" max="3" hidden="1"/><col min="5" max="5"/></cols>',
        sheet_after='<mergeCells count="1"><mergeCell ref="A2:C2"/></mergeCells>',
    )
    sheet = book.sheets[0]
    assert sheet.hidden_rows == {2, 3, 4}
    assert sheet.hidden_columns == {2, 3}
    assert sheet.merged == (RangeRef.parse("S!A2:C2"),)
    assert (sheet.max_row, sheet.max_column) == (2, 1)


def test_rows_and_columns_of_a_control_are_no_rows_of_the_sheet(tmp_path: Path) -> None:
    book = read(
        tmp_path,
        '<row r="1048576"><c r="A1048576"><v>1</v></c></row>',
        sheet_after='<controls><anchor><from><col>1</col><row hidden="1">3</row></from></anchor></controls>',
    )
    assert (len(list(book.cells())), book.sheets[0].hidden_rows) == (1, frozenset())


def test_names_are_scoped_and_settings_are_read(tmp_path: Path) -> None:
    parts = parts_of() | {
        "xl/workbook.xml": workbook_xml(
            '<sheet name="C" sheetId="3" r:id="rIdC"/><sheet name="S" sheetId="1" state="veryHidden" r:id="rId1"/>',
            before='<workbookPr date1904="true"/>',
            after='<definedNames><definedName name="g">S!$A$1</definedName>'
            '<definedName name="g" localSheetId="1" hidden="1">S!$A$2</definedName></definedNames>'
            '<calcPr calcMode="manual" iterate="1" iterateCount="50" iterateDelta="1E-4" fullPrecision="0"/>',
        ),
        "xl/_rels/workbook.xml.rels": rels(
            ("rId1", "worksheet", "worksheets/sheet1.xml"), ("rIdC", "chartsheet", "chartsheets/sheet1.xml")
        ),
    }
    book = load(write(tmp_path / "m.xlsx", parts))
    assert [(sheet.name, sheet.state) for sheet in book.sheets] == [("S", "veryHidden")]
    own, whole = book.name("G", "s"), book.name("g", "Other")
    assert own is not None
    assert whole is not None
    assert (own.formula, own.sheet, own.hidden) == ("S!$A$2", "S", True)
    assert (whole.formula, whole.sheet, whole.hidden) == ("S!$A$1", None, False)
    calc = book.calc
    assert (calc.mode, calc.iterate, calc.iterate_count, calc.iterate_delta) == ("manual", True, 50, 1e-4)
    assert (calc.full_precision, calc.date1904) == (False, True)


def test_a_date_of_a_1904_workbook_counts_from_1904(tmp_path: Path) -> None:
    book = read(tmp_path, row('<c r="A1" t="d"><v>2026-03-31</v></c>'), workbook_before='<workbookPr date1904="1"/>')
    assert cell(book, "A1").stored == 46112 - 1462


def test_tables_comments_and_links_are_read(tmp_path: Path) -> None:
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    extra: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": rels(
            ("r1", "table", "../tables/table1.xml"),
            ("r2", "comments", "../comments1.xml"),
            ("r3", "threadedComment", "../threadedComments/t1.xml"),
        ),
        "xl/tables/table1.xml": f'<table {main} id="1" name="T" displayName="Flows" ref="A1:B4" totalsRowCount="1">'
        '<tableColumns count="2"><tableColumn id="1" name="Year"/><tableColumn id="2" name="Cash_x000a_flow"/>'
        "</tableColumns></table>",
        "xl/comments1.xml": f'<comments {main}><commentList><comment ref="A1"><text><r><t>Source: </t></r><r><t>10-K'
        '</t></r></text></comment><comment ref="B2"><text><t>[Threaded comment] notice</t></text></comment>'
        "</commentList></comments>",
        "xl/threadedComments/t1.xml": '<ThreadedComments xmlns="x"><threadedComment ref="B2"><text>Why 9%?</text>'
        '</threadedComment><threadedComment ref="B2"><text>Peers</text></threadedComment></ThreadedComments>',
        "xl/externalLinks/externalLink1.xml": f'<externalLink {main} xmlns:r="http://schemas.openxmlformats.org/'
        'officeDocument/2006/relationships"><externalBook r:id="rId1"><sheetNames><sheetName val="Data"/></sheetNames>'
        '<sheetDataSet><sheetData sheetId="0"><row r="3"><cell r="B3"><v>12.5</v></cell><cell r="C3" t="str"><v>x</v>'
        "</cell></row></sheetData></sheetDataSet></externalBook></externalLink>",
        "xl/externalLinks/_rels/externalLink1.xml.rels": rels(("rId1", "externalLinkPath", "file:///tmp/peers.xlsx")),
    }
    book = read(
        tmp_path,
        workbook_after='<externalReferences><externalReference r:id="rId7"/></externalReferences>',
        extra_rels=(("rId7", "externalLink", "externalLinks/externalLink1.xml"),),
        extra=extra,
    )
    table = book.table("FLOWS")
    assert table is not None
    assert (table.range, table.columns) == (RangeRef.parse("S!A1:B4"), ("Year", "Cash\nflow"))
    assert (table.header_rows, table.totals_rows) == (1, 1)
    assert book.sheets[0].comments == {(1, 1): "Source: 10-K", (2, 2): "Why 9%?\nPeers"}
    assert book.external == {1: {CellRef("Data", 3, 2): 12.5, CellRef("Data", 3, 3): "x"}}
    assert book.external_names == {1: "file:///tmp/peers.xlsx"}


def test_the_writing_program_and_the_time_of_saving_are_read(tmp_path: Path) -> None:
    book = read(
        tmp_path,
        extra={
            "docProps/app.xml": "<Properties><Application>Microsoft Excel</Application></Properties>",
            "docProps/core.xml": '<cp xmlns:d="x"><d:modified>2026-03-31T10:00:00+02:00</d:modified></cp>',
        },
    )
    assert book.application == "Microsoft Excel"
    assert book.last_saved == datetime(2026, 3, 31, 8, tzinfo=UTC)
    assert read(tmp_path).last_saved is None


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        ('<row r="1"><c r="XFE1"><v>1</v></c></row>', "cell XFE1 lies outside the grid A1:XFD1048576"),
        ('<row r="1"><c r="A1048577"><v>1</v></c></row>', "cell A1048577 lies outside"),
        ('<row r="1048577"><c><v>1</v></c></row>', "row 1048577 lies outside"),
        ('<row r="1"><c r="1A"><v>1</v></c></row>', "cell 1A lies outside"),
        ('<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>', "cell A1 stands twice"),
        ('<row r="1"><c r="A1"><v>1</v></row>', "damaged"),
    ],
)
def test_what_cannot_be_read_is_named_by_sheet_and_cell(tmp_path: Path, xml: str, words: str) -> None:
    with pytest.raises(SubmissionError, match=r"model\.xlsx: sheet S") as caught:
        read(tmp_path, xml)
    assert words in str(caught.value)


def test_an_error_sentence_shows_no_control_characters(tmp_path: Path) -> None:
    parts = parts_of("<row><c r='XFE1'><v>1</v></c></row>")
    parts["xl/workbook.xml"] = str(parts["xl/workbook.xml"]).replace('name="S"', 'name="S&#10;x&#9;y"')
    with pytest.raises(SubmissionError, match=r"model\.xlsx: sheet S\?x\?y: cell XFE1"):
        load(write(tmp_path / "model.xlsx", parts))


def test_a_missing_sheet_part_is_named(tmp_path: Path) -> None:
    parts = parts_of()
    del parts["xl/worksheets/sheet1.xml"]
    with pytest.raises(SubmissionError, match=r"model\.xlsx: sheet S: its part is missing"):
        load(write(tmp_path / "model.xlsx", parts))


@pytest.mark.parametrize(("written", "meant"), [("2:3", "S!A2:XFD3"), ("B:C", "S!B1:C1048576")])
def test_merged_whole_rows_and_columns_as_libreoffice_writes_them(tmp_path: Path, written: str, meant: str) -> None:
    merges = f'<mergeCells count="1"><mergeCell ref="{written}"/></mergeCells>'
    book = load(write(tmp_path / "model.xlsx", parts_of(sheet_after=merges)))
    assert book.sheets[0].merged == (RangeRef.parse(meant),)


def test_budgets_for_cells_and_merges_hold(tmp_path: Path) -> None:
    merges = "".join(f'<mergeCell ref="A{n}:B{n}"/>' for n in range(1, 12))
    path = write(tmp_path / "model.xlsx", parts_of(sheet_after=f"<mergeCells>{merges}</mergeCells>"))
    with pytest.raises(SubmissionError, match="more than 10 merged ranges"):
        load(path, Limits(merges=10))
    path = write(tmp_path / "model.xlsx", parts_of(row(*["<c><v>1</v></c>"] * 5)))
    with pytest.raises(SubmissionError, match="more than 4 cells"):
        load(path, Limits(cells=4))


def test_the_reader_imports_no_heavy_module() -> None:
    code = (
        "import sys, xlcheck.workbook, xlcheck.reading.book\n"
        "heavy = {'openpyxl', 'lxml', 'pandas', 'numpy', 'formulas', 'formualizer', 'cellrune'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_same_book_is_read_as_openpyxl_reads_it(tmp_path: Path) -> None:
    """An independent reader, on a sheet it wrote itself."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "It's a model"
    sheet["A1"], sheet["B1"], sheet["C1"] = "WACC", 0.09, "=B1*2"
    sheet["C1"].number_format = "0.0%"
    sheet["D1"] = "'=text"
    path = tmp_path / "m.xlsx"
    book.save(path)
    ours = load(path)
    found = {one.ref.address: (one.formula, one.stored, one.number_format) for one in ours.cells()}
    assert found == {
        "A1": (None, "WACC", "General"),
        "B1": (None, 0.09, "General"),
        "C1": ("=B1*2", None, "0.0%"),
        "D1": (None, "'=text", "General"),
    }
    assert ours.sheets[0].name == "It's a model"


SHARED = Path(__file__).parents[2] / "shared"


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the public corpus is not here")
def test_every_public_workbook_is_read_or_refused_in_one_sentence() -> None:
    files = [file for folder in ("corpus", "cases", "submissions") for file in (SHARED / folder / "files").rglob("*")]
    for file in (file for file in files if file.suffix.startswith(".xls") and file.stat().st_size < 200_000):
        try:
            assert load(file).sheets
        except SubmissionError as error:
            assert str(error).startswith(f"{file.name}: ")  # noqa: PT017
