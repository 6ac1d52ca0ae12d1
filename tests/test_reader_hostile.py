"""Files built to exhaust or mislead a reader: each is refused or read within seconds. None is stored as a bomb."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from raw_package import packed, parts_of, rels, sheet_xml, workbook_xml

from xlcheck.cells import CellRef
from xlcheck.errors import SubmissionError
from xlcheck.formula import references
from xlcheck.graph import build_graph
from xlcheck.intake import DEFAULT_LIMITS, Limits, check_package
from xlcheck.reading.tokens import tokens
from xlcheck.workbook import Book, load

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ANY_RATIO = Limits(ratio=1e9)
"""Repetitive test files pack better than real attacks need to: let them past the first guard."""


@pytest.fixture(autouse=True)
def within_ten_seconds() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < 10


def opened(tmp_path: Path, parts: dict[str, str | bytes], limits: Limits = ANY_RATIO) -> Book:
    path = tmp_path / "hostile.xlsx"
    path.write_bytes(packed(parts))
    return load(path, limits)


def refused(tmp_path: Path, parts: dict[str, str | bytes], limits: Limits = ANY_RATIO) -> str:
    with pytest.raises(SubmissionError) as caught:
        opened(tmp_path, parts, limits)
    assert str(caught.value).startswith("hostile.xlsx: ")
    return str(caught.value)


def styled(body: str) -> dict[str, str | bytes]:
    return parts_of(
        extra={"xl/styles.xml": f'<styleSheet xmlns="{MAIN}">{body}</styleSheet>'},
        extra_rels=(("rId9", "styles", "styles.xml"),),
    )


def stringed(body: str, rows: str = "") -> dict[str, str | bytes]:
    return parts_of(
        rows,
        extra={"xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{body}</sst>'},
        extra_rels=(("rId9", "sharedStrings", "sharedStrings.xml"),),
    )


def test_a_million_merged_ranges(tmp_path: Path) -> None:
    merges = "<mergeCells>" + '<mergeCell ref="A1:B2"/>' * 1_000_000 + "</mergeCells>"
    assert "more than 100,000 merged ranges" in refused(tmp_path, parts_of(sheet_after=merges))


def test_more_styles_than_excel_has(tmp_path: Path) -> None:
    assert "xl/styles.xml has more elements" in refused(tmp_path, styled(f"<cellXfs>{'<xf/>' * 420_000}</cellXfs>"))


def test_deep_nesting_in_every_kind_of_part(tmp_path: Path) -> None:
    deep = "<a>" * 300_000 + "</a>" * 300_000
    assert "nests" in refused(tmp_path, styled(deep))
    assert "nests" in refused(tmp_path, stringed(deep))
    assert "nests" in refused(tmp_path, parts_of(sheet_before=deep))
    assert "nests" in refused(tmp_path, parts_of(f'<row r="1"><c r="A1"><v>{deep}</v></c></row>'))
    assert "nests" in refused(tmp_path, parts_of(workbook_after=deep))


def test_a_shared_string_bomb(tmp_path: Path) -> None:
    body = f"<si><t>{'x' * 30_000}</t></si>" * 400
    limits = Limits(ratio=1e9, string_characters=10_000_000)
    assert "more than 10,000,000 characters" in refused(tmp_path, stringed(body), limits)


def test_one_long_string_shown_by_many_cells_costs_its_length_once(tmp_path: Path) -> None:
    rows = "<row>" + '<c t="s"><v>0</v></c>' * 16_000 + "</row>"
    tracemalloc.start()
    book = opened(tmp_path, stringed(f"<si><t>{'x' * 1_000_000}</t></si>", rows))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(1 for _ in book.cells()) == 16_000
    assert peak < 100_000_000


def test_two_sheets_of_one_name_are_refused(tmp_path: Path) -> None:
    parts = parts_of()
    for other, fine in (("S", False), ("s2", True)):
        both = f'<sheet name="S" sheetId="1" r:id="rId1"/><sheet name="{other}" sheetId="2" r:id="rId1"/>'
        whole = {**parts, "xl/workbook.xml": workbook_xml(both)}
        if fine:
            assert [sheet.name for sheet in opened(tmp_path, whole).sheets] == ["S", "s2"]
        else:
            assert "two sheets are named 'S'" in refused(tmp_path, whole)


def test_a_dimension_that_lies_is_not_believed(tmp_path: Path) -> None:
    for lie in ("A1:XFD1048576", "A1", "nonsense", ""):
        book = opened(tmp_path, parts_of(sheet_before=f'<dimension ref="{lie}"/>'))
        assert (book.sheets[0].max_row, book.sheets[0].max_column) == (1, 1)


def test_counts_that_lie_are_not_believed(tmp_path: Path) -> None:
    parts = stringed("<si><t>a</t></si>", '<row><c t="s"><v>0</v></c></row>')
    parts["xl/sharedStrings.xml"] = str(parts["xl/sharedStrings.xml"]).replace(
        "<sst", '<sst count="-5" uniqueCount="4294967295"'
    )
    assert [cell.stored for cell in opened(tmp_path, parts).cells()] == ["a"]


def test_a_column_range_that_lies_is_cut_to_the_grid(tmp_path: Path) -> None:
    cols = '<cols><col min="0" max="4294967295" hidden="1"/></cols>'
    assert len(opened(tmp_path, parts_of(sheet_before=cols)).sheets[0].hidden_columns) == 16_384


def test_long_formulas_are_read_and_endless_ones_refused(tmp_path: Path) -> None:
    long = "1" + "+1" * 4_500
    book = opened(tmp_path, parts_of(f'<row><c r="A1"><f>{long}</f></c></row>'))
    assert book.get(CellRef("S", 1, 1)).formula == "=" + long  # type: ignore[union-attr]
    message = refused(tmp_path, parts_of(f'<row><c r="A1"><f>{"1" + "+1" * 20_000}</f></c></row>'))
    assert "formula of cell A1 has 40,002 characters; at most 32,768" in message


def test_a_shared_formula_bomb(tmp_path: Path) -> None:
    master = f'<c r="A1"><f t="shared" si="0" ref="A1:XFD1">{"1" + "+1" * 16_000}</f></c>'
    follower = '<c><f t="shared" si="0"/></c>'
    rows = f"<row>{master}{follower * 16_000}</row>"
    assert "more than 200,000,000 characters" in refused(tmp_path, parts_of(rows))


def test_deeply_nested_formulas_do_not_stop_the_graph(tmp_path: Path) -> None:
    deep = "(" * 8_000 + "B1" + ")" * 8_000
    book = opened(tmp_path, parts_of(f'<row><c r="A1"><f>{deep}</f></c><c r="B1"><v>1</v></c></row>'))
    graph = build_graph(book)
    assert graph.descendants([CellRef("S", 1, 2)]) == {CellRef("S", 1, 1), CellRef("S", 1, 2)}
    assert graph.pure_link(CellRef("S", 1, 1)) == CellRef("S", 1, 1)


REPEATED = [
    '"',
    "'",
    "[",
    "A",
    "1:",
    "A1:",
    "((",
    "--",
    "$",
    "!",
    "#",
    "'!",
    "a.b",
    "A1 ",
    "][",
    "1",
    "9x",
    "['",
    "[a",
    "S!",
]


@pytest.mark.parametrize("pattern", REPEATED)
def test_no_pattern_makes_the_lexer_slow(pattern: str) -> None:
    text = (pattern * 30_000)[:30_000] + "x"
    start = time.process_time()
    assert "".join(word.text for word in tokens(text)) == text
    references(text, "S")
    assert time.process_time() - start < 2


def test_an_endless_comment_or_tag_is_refused(tmp_path: Path) -> None:
    for junk in (f"<!--{'<>' * 12_000_000}-->", f'<a b="{"x" * 24_000_000}"/>'):
        assert "tag or comment of more than 20,000,000 bytes" in refused(tmp_path, parts_of(sheet_before=junk))


def test_too_many_tags_are_refused_before_parsing(tmp_path: Path) -> None:
    assert "XML tags; at most 16,000,000" in refused(tmp_path, parts_of(sheet_before="<a/>" * 16_000_001))


def test_more_cells_than_a_row_has(tmp_path: Path) -> None:
    rows = f"<row>{'<c><v>1</v></c>' * 16_385}</row>"
    assert "cell 16385 of row 1 lies outside the grid" in refused(tmp_path, parts_of(rows))


def test_a_number_of_a_million_digits(tmp_path: Path) -> None:
    book = opened(tmp_path, parts_of(f'<row><c r="A1"><v>{"9" * 1_000_000}</v></c></row>'))
    assert str(book.get(CellRef("S", 1, 1)).stored) == "#NUM!"  # type: ignore[union-attr]
    assert "lies outside" in refused(tmp_path, parts_of(f'<row r="{"9" * 1_000_000}"/>'))


def test_a_nested_archive_is_not_opened(tmp_path: Path) -> None:
    inner = packed({"bomb.bin": b"\0" * 9_000_000})
    book = opened(tmp_path, parts_of(extra={"xl/embeddings/inner.zip": inner}), DEFAULT_LIMITS)
    assert len(book.sheets) == 1


def test_links_and_macros_are_not_touched(tmp_path: Path) -> None:
    """DDE formulas, links to files and macro parts are words in a file."""
    parts = parts_of(
        "<row><c r=\"A1\"><f>[1]!'!A0'</f><v>1</v></c><c r=\"B1\"><f>cmd|'/c calc'!A0</f><v>2</v></c></row>",
        workbook_after='<externalReferences><externalReference r:id="rId7"/></externalReferences>',
        extra={
            "xl/vbaProject.bin": b"Auto_Open",
            "xl/externalLinks/externalLink1.xml": f'<externalLink xmlns="{MAIN}"><ddeLink ddeService="cmd"/>'
            "</externalLink>",
        },
        extra_rels=(("rId7", "externalLink", "externalLinks/externalLink1.xml"), ("v", "vbaProject", "vbaProject.bin")),
    )
    book = opened(tmp_path, parts)
    assert book.external == {}
    assert [cell.stored for cell in book.cells()] == [1, 2]
    assert len(build_graph(book).reads) == 2


def test_a_relationship_to_a_place_outside_finds_no_part(tmp_path: Path) -> None:
    for target in ("../../../../etc/passwd", "file:///etc/passwd", "/etc/passwd", "http://example.invalid/sheet.xml"):
        parts = parts_of() | {"xl/_rels/workbook.xml.rels": rels(("rId1", "worksheet", target))}
        assert "its part is missing" in refused(tmp_path, parts)


def test_a_sheet_whose_root_is_something_else_is_no_crash(tmp_path: Path) -> None:
    for xml in (
        "<a/>",
        "<row/>",
        "<c/>",
        "<c><v>1</v></c>",
        "<mergeCell/>",
        "<rPh/>",
        "<worksheet><v/><f/></worksheet>",
    ):
        try:
            opened(tmp_path, parts_of() | {"xl/worksheets/sheet1.xml": xml})
        except SubmissionError as error:
            assert str(error).startswith("hostile.xlsx: ")  # noqa: PT017


def test_odd_encodings_are_refused_or_read(tmp_path: Path) -> None:
    xml = sheet_xml('<row r="1"><c r="A1"><v>7</v></c></row>')
    for encoding, codec in (("UTF-16", "utf-16"), ("UTF-8", "utf-8-sig"), ("ISO-8859-1", "latin-1")):
        head = f'<?xml version="1.0" encoding="{encoding}"?>'
        book = opened(tmp_path, parts_of() | {"xl/worksheets/sheet1.xml": (head + xml).encode(codec)})
        assert [cell.stored for cell in book.cells()] == [7]
    for name in ("UTF-7", "x-unknown"):
        head = f'<?xml version="1.0" encoding="{name}"?>'
        assert "sheet S" in refused(tmp_path, parts_of() | {"xl/worksheets/sheet1.xml": (head + xml).encode()})
    assert "damaged" in refused(tmp_path, parts_of() | {"xl/worksheets/sheet1.xml": b"\0\xff" * 50})


def test_an_empty_part_is_called_damaged(tmp_path: Path) -> None:
    for part in ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "_rels/.rels", "xl/_rels/workbook.xml.rels"):
        assert "hostile.xlsx: " in refused(tmp_path, parts_of() | {part: b""})


def test_many_parts_are_counted_together() -> None:
    parts = parts_of() | {f"xl/media/{number}.bin": b"\0" * 5_000_000 for number in range(5)}
    with pytest.raises(SubmissionError, match="at most 20,000,000 are accepted"):
        check_package(packed(parts), "hostile.xlsx", Limits(unpacked_bytes=20_000_000))


def test_a_copy_that_the_engine_refuses_is_no_error(tmp_path: Path) -> None:
    from xlcheck.engines import Unsolved
    from xlcheck.recompute import recompute

    parts = parts_of('<row r="1"><c r="A1"><f>1+1</f><v>3</v></c></row>')
    parts["xl/workbook.xml"] = str(parts["xl/workbook.xml"]).replace('name="S"', 'name="S:T"')
    values = recompute(opened(tmp_path, parts)).values
    assert list(values) == [CellRef("S:T", 1, 1)]
    value = values[CellRef("S:T", 1, 1)]
    assert value == 2 or isinstance(value, Unsolved)
