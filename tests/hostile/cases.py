"""Files built to hang, crash, exhaust or mislead a grader, each made when asked for and none stored.

A case says what it is, builds its bytes, and says what must come of it: words of the refusal, or None where the file
is to be graded like any other.
"""

from __future__ import annotations

import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import NamedTuple

from raw_package import MAIN, packed, parts_of, rels, sheet_xml, workbook_xml

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504
Parts = dict[str, str | bytes]


class Case(NamedTuple):
    """One hostile file."""

    name: str
    what: str
    build: Callable[[], bytes]
    refusal: str | None
    """Words of the sentence that refuses it; None: it is graded, or ended by a limit, in either case harmlessly."""


def formulas(*texts: str) -> bytes:
    """A sheet with these formulas down column A, over a column of numbers in B."""
    rows = "".join(
        f'<row r="{at}"><c r="A{at}"><f>{_escaped(text)}</f><v>1</v></c><c r="B{at}"><v>{at}</v></c></row>'
        for at, text in enumerate(texts, 1)
    )
    return packed(parts_of(rows))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def with_part(name: str, content: str | bytes, *, stored: bool = False) -> bytes:
    return packed(parts_of() | {name: content}, zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED)


def styled(body: str) -> bytes:
    part = f'<styleSheet xmlns="{MAIN}">{body}</styleSheet>'
    return packed(parts_of(extra={"xl/styles.xml": part}, extra_rels=(("rId9", "styles", "styles.xml"),)))


def stringed(body: str, rows: str = '<row><c t="s"><v>0</v></c></row>') -> bytes:
    part = f'<sst xmlns="{MAIN}">{body}</sst>'
    rel = (("rId9", "sharedStrings", "sharedStrings.xml"),)
    return packed(parts_of(rows, extra={"xl/sharedStrings.xml": part}, extra_rels=rel))


# -- the container -------------------------------------------------------------------------------------------------


def overlapping() -> bytes:
    """Two entries of the directory share one body."""
    data = bytearray(with_part("xl/aaa.xml", "<a>x</a>", stored=True))
    directory = data.index(b"PK\x01\x02")
    entries = [at for at in range(directory, len(data)) if data[at : at + 4] == b"PK\x01\x02"]
    offset = struct.unpack_from("<I", data, entries[0] + 42)[0]
    struct.pack_into("<I", data, entries[-1] + 42, offset)
    return bytes(data)


def lying_size() -> bytes:
    data = bytearray(with_part("xl/zz.xml", "<a>" + "x" * 5_000 + "</a>"))
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 24, 10)
    return bytes(data)


def twice(first: str, second: str) -> bytes:
    buffer = BytesIO(packed(parts_of()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr(first, "<a/>")
            archive.writestr(second, "<b/>")
    return buffer.getvalue()


def locked() -> bytes:
    data = bytearray(packed(parts_of()))
    at = -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        data[at + 8] |= 1
    return bytes(data)


def bomb(levels: int = 1) -> bytes:
    """A part that unpacks to 300 times its size, put into a zip in a zip for each further level."""
    inner = packed({"zero.bin": b"\0" * 60_000_000})
    for _ in range(levels - 1):
        inner = packed({"inner.zip": inner * 40})
    return with_part("xl/embeddings/inner.zip", inner) if levels > 1 else with_part("xl/zero.bin", b"\0" * 60_000_000)


def containers() -> Iterator[Case]:
    yield Case("empty", "no byte", bytes, "empty")
    yield Case("text", "plain text named .xlsx", lambda: b"wacc,0.09\n", "no zip container")
    yield Case("pdf", "a PDF named .xlsx", lambda: b"%PDF-1.7\n", "PDF")
    yield Case("html", "a web page named .xlsx", lambda: b"<html><script>1</script></html>", "HTML")
    yield Case("xls", "the old binary format", lambda: OLE + "Workbook\0".encode("utf-16-le"), "legacy binary .xls")
    yield Case("password", "an encrypted workbook", lambda: OLE + "EncryptedPackage".encode("utf-16-le"), "password")
    yield Case("zip-locked", "parts encrypted by the zip", locked, "encrypted")
    yield Case("cut-short", "a download that broke off", lambda: packed(parts_of())[:400], "damaged")
    yield Case("word", "a Word file named .xlsx", lambda: packed({"word/document.xml": "<x/>"}), "Word")
    yield Case("bomb", "60 MB of zeros in 60 kB", bomb, "ratio")
    yield Case("nested-bomb", "a bomb in a zip in a zip", lambda: bomb(2), None)
    yield Case("lying-size", "a part larger than its directory says", lying_size, "declares")
    yield Case("overlap", "two entries over one body", overlapping, "overlap")
    yield Case("two-names", "a part that the directory names otherwise", _two_names, "another name")
    yield Case("checksum", "a byte changed after packing", _bad_checksum, "checksum")
    yield Case("traversal", "a part named ../../etc/cron.d/x", lambda: with_part("../../etc/x", "x"), "points outside")
    yield Case("absolute", "a part named /etc/x", lambda: with_part("/etc/x", "x"), "points outside")
    yield Case("drive", r"a part named C:\x", lambda: with_part("C:\\x", "x"), "points outside")
    yield Case("doubled", "one part twice", lambda: twice("xl/a.xml", "xl/a.xml"), "twice")
    yield Case("case-collision", "two parts that differ by case", lambda: twice("xl/a.xml", "XL/A.XML"), "twice")
    yield Case("many-parts", "3,000 parts", _many_parts, "parts")


def _two_names() -> bytes:
    data = bytearray(with_part("xl/aa.xml", "<a/>"))
    at = data.rindex(b"xl/aa.xml")
    data[at : at + 9] = b"xl/bb.xml"
    return bytes(data)


def _bad_checksum() -> bytes:
    return with_part("xl/zz.xml", "<a>x</a>", stored=True).replace(b"<a>x</a>", b"<a>y</a>")


def _many_parts() -> bytes:
    return packed(parts_of() | {f"xl/media/{number}.bin": b"" for number in range(3_000)})


# -- XML -----------------------------------------------------------------------------------------------------------


def laugh(level: int) -> str:
    return f"&l{level};" * 10


LAUGHS = '<!ENTITY l0 "ha">' + "".join(f'<!ENTITY l{n} "{laugh(n - 1)}">' for n in range(1, 10))


def markup() -> Iterator[Case]:
    sheet = "xl/worksheets/sheet1.xml"
    xxe = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'
    yield Case("xxe", "an external entity", lambda: with_part(sheet, xxe), "DOCTYPE")
    yield Case("xxe-utf16", "the same in UTF-16", lambda: with_part(sheet, xxe.encode("utf-16")), "DOCTYPE")
    yield Case(
        "billion-laughs",
        "entities in entities",
        lambda: with_part(sheet, f"<!DOCTYPE a [{LAUGHS}]><a>&l9;</a>"),
        "DOCTYPE",
    )
    yield Case(
        "remote-dtd", "a DTD on a server", lambda: with_part(sheet, '<!DOCTYPE a SYSTEM "http://x.invalid">'), "DOCTYPE"
    )
    deep = "<a>" * 300_000 + "</a>" * 300_000
    yield Case("deep-xml", "300,000 nested tags", lambda: packed(parts_of(sheet_before=deep)), "")
    yield Case(
        "endless-tag",
        "one attribute of 24 MB",
        lambda: packed(parts_of(sheet_before=f'<a b="{"xy" * 12_000_000}"/>')),
        "",
    )
    yield Case("merges", "a million merged ranges", _merges, "")
    yield Case("styles", "a million styles", lambda: styled(f"<cellXfs>{'<xf/>' * 1_000_000}</cellXfs>"), "")
    yield Case("strings", "200 MB of shared strings", lambda: stringed(f"<si><t>{'xy' * 15_000}</t></si>" * 7_000), "")
    yield Case(
        "long-string",
        "one label of a million characters",
        lambda: stringed(f"<si><t>{'WACC ' * 200_000}</t></si>"),
        None,
    )
    yield Case("bad-utf8", "bytes that are no text", lambda: with_part(sheet, b"\0\xff" * 500), "damaged")
    yield Case(
        "unknown-encoding",
        "an encoding nobody knows",
        lambda: with_part(sheet, '<?xml version="1.0" encoding="x-9"?><a/>'),
        "",
    )
    yield Case("empty-part", "a sheet of no byte", lambda: with_part(sheet, b""), "")
    yield Case("other-root", "a sheet that is something else", lambda: with_part(sheet, "<svg/>"), None)
    yield Case("outside", "a sheet at file:///etc/passwd", _target("file:///etc/passwd"), "its part is missing")
    yield Case("remote", "a sheet on a server", _target("http://x.invalid/sheet.xml"), "its part is missing")


def _merges() -> bytes:
    return packed(parts_of(sheet_after="<mergeCells>" + '<mergeCell ref="A1:B2"/>' * 1_000_000 + "</mergeCells>"))


def _target(place: str) -> Callable[[], bytes]:
    return lambda: with_part("xl/_rels/workbook.xml.rels", rels(("rId1", "worksheet", place)))


# -- the grid ------------------------------------------------------------------------------------------------------


def grids() -> Iterator[Case]:
    def row(body: str, at: str = "1") -> Callable[[], bytes]:
        return lambda: packed(parts_of(f'<row r="{at}">{body}</row>'))

    yield Case("beyond-columns", "a cell at XFE1", row('<c r="XFE1"><v>1</v></c>'), "outside")
    yield Case("beyond-rows", "a row 1,048,577", row('<c r="A1048577"><v>1</v></c>', "1048577"), "outside")
    yield Case("corner", "one cell at XFD1048576", row('<c r="XFD1048576"><v>1</v></c>', "1048576"), None)
    yield Case("many-digits", "a number of a million digits", row(f'<c r="A1"><v>{"9" * 1_000_000}</v></c>'), None)
    yield Case("no-number", "NaN and INF as values", row('<c r="A1"><v>NaN</v></c><c r="B1"><v>-INF</v></c>'), None)
    yield Case("far-date", "a date in the year 10^300", row('<c r="A1"><f>DATE(9999,12,31)*1E300</f></c>'), None)
    yield Case(
        "dimension",
        "a dimension that lies",
        lambda: packed(parts_of(sheet_before='<dimension ref="A1:XFD1048576"/>')),
        None,
    )
    yield Case("hidden-columns", "all columns hidden 100,000 times", _hidden_columns, None)
    yield Case("same-cell", "one cell 10,000 times", row('<c r="A1"><v>1</v></c>' * 10_000), "stands twice")
    yield Case("backwards", "rows and cells in reverse", _backwards, None)
    yield Case("many-sheets", "1,500 sheets", _sheets, None)
    yield Case("same-sheets", "two sheets of one name", _same_sheets, "two sheets are named")
    yield Case(
        "string-index",
        "a shared string that is not there",
        row('<c r="A1" t="s"><v>4000000000</v></c>'),
        "points to shared string",
    )
    yield Case("style-index", "a style that is not there", row('<c r="A1" s="4000000000"><v>1</v></c>'), None)


def _hidden_columns() -> bytes:
    columns = '<col min="1" max="16384" hidden="1"/>' * 100_000
    return packed(parts_of(sheet_before=f"<cols>{columns}</cols>"))


def _same_sheets() -> bytes:
    parts = parts_of()
    once = '<sheet name="S" sheetId="1" r:id="rId1"/>'
    book = str(parts["xl/workbook.xml"]).replace(once, once + once.replace('"1" r', '"2" r'))
    return packed({**parts, "xl/workbook.xml": book})


def _backwards() -> bytes:
    rows = "".join(
        f'<row r="{at}"><c r="C{at}"><v>3</v></c><c r="A{at}"><v>1</v></c></row>' for at in range(300, 0, -1)
    )
    return packed(parts_of(rows))


def _sheets() -> bytes:
    numbers = range(1, 1_501)
    listed = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
    rows = '<row r="1"><c r="A1"><f>SUM(S1:S1500!B1)</f><v>0</v></c></row>'
    return packed(
        {f"xl/worksheets/sheet{n}.xml": sheet_xml(rows) for n in numbers}
        | {
            "_rels/.rels": rels(("rId1", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": workbook_xml(listed),
            "xl/_rels/workbook.xml.rels": rels(*((f"r{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers)),
        }
    )


# -- formulas ------------------------------------------------------------------------------------------------------


def expressions() -> Iterator[Case]:
    def one(name: str, what: str, *texts: str) -> Case:
        return Case(name, what, lambda: formulas(*texts), None)

    yield Case("endless-formula", "a formula of 40,000 characters", lambda: formulas("1" + "+1" * 20_000), "32,768")
    yield one("long-formula", "a formula of 9,000 characters", "1" + "+1" * 4_500)
    yield one("brackets", "8,000 brackets", "(" * 8_000 + "B1" + ")" * 8_000)
    yield one("nested-if", "IF nested 300 times", "IF(B1>0," * 300 + "1" + ",0)" * 300)
    yield one("nested-lambdas", "LAMBDA nested 2,500 times", "LAMBDA(x," * 2_500 + "x" + ")" * 2_500)
    yield one(
        "swelling-text",
        "a text of 10^9 letters put together within one function",
        'LEN(SUBSTITUTE(REPT("a",32767),"a",REPT("b",32767)))',
    )
    yield one("minus-signs", "16,000 minus signs", "-" * 16_000 + "B1")
    yield one("rept", "a text of 10^9 letters", 'REPT("x",1000000000)', "LEN(A1)")
    yield one("doubling", "a text doubled 60 times", '"xy"', *(f"A{at}&A{at}" for at in range(1, 61)))
    yield one("sequence", "an array of the whole grid", "SUM(SEQUENCE(1048576,16384))")
    yield one("randarray", "10^10 random numbers", "SUM(RANDARRAY(100000,100000))")
    yield one("mmult", "a product of big matrices", "SUM(MMULT(SEQUENCE(4000,4000),SEQUENCE(4000,4000)))")
    yield one("offset", "OFFSET over the whole grid", "SUM(OFFSET(A2,0,0,1048575,16384))")
    yield one("indirect", "INDIRECT over the whole grid", 'SUM(INDIRECT("B1:XFD1048576"))')
    yield one("sumproduct", "SUMPRODUCT over whole columns", "SUMPRODUCT(B:B*B:B*(C:C=0))")
    yield one("whole-grid", "300 sums over the whole grid", *["SUM($B$1:$XFD$1048576)"] * 300)
    yield one("recursion", "a LAMBDA that calls itself for ever", "LET(f,LAMBDA(g,n,g(g,n+1)),f(f,1))")
    yield one("reduce", "REDUCE over a million steps", "REDUCE(0,SEQUENCE(1000000),LAMBDA(a,b,a+b))")
    yield one("makearray", "MAKEARRAY of 25 million", "SUM(MAKEARRAY(5000,5000,LAMBDA(r,c,r*c)))")
    yield one(
        "wildcards",
        "a search made to backtrack",
        'REPT("a",30000)',
        'SEARCH("*a*a*a*a*a*a*a*a*b",A1)',
        'COUNTIF(A1:A1,"*a*a*a*a*a*a*a*b")',
    )
    yield one(
        "factorial", "FACT and COMBIN of huge numbers", "FACT(1E9)", "COMBIN(1E9,5E8)", "PERMUT(1E9,5E8)", "9^9^9^9"
    )
    yield one("workdays", "working days of 8,000 years", "NETWORKDAYS(1,2958465)", "WORKDAY(1,2000000)")
    yield one("irr", "an IRR that has none", "IRR({1,1,1,1})", "RATE(1000000,1,1,1)", "XIRR({1,1},{1,2})")
    yield one("textjoin", "a text of a whole column", 'LEN(TEXTJOIN("x",FALSE,C1:C1048576))')
    yield one(
        "dde",
        "a DDE link to a program",
        "cmd|'/c calc'!A0",
        'HYPERLINK("http://x.invalid","pay")',
        'WEBSERVICE("http://x.invalid")',
    )
    yield Case("deep-chain", "a chain of 100,000 cells", _chain, None)
    yield Case("shared-bomb", "a long formula shared by a whole row", _shared, "")
    yield Case("loop", "a loop of 2,000 cells, 32,767 rounds", _loop, None)
    yield Case("data-table", "a data table of 1,000,000 cells", _data_table, None)
    yield Case("table-at-the-edge", "a data table in row 1, whose axis would be row 0", _edge_table, None)
    yield Case("table-header", "a loop through the header of a table", _header_loop, None)
    yield Case("names", "names that name each other", _names, None)
    yield Case("doubling-names", "names that each name the one before twice", _doubling_names, None)
    yield Case("calling-names", "LAMBDAs by name that call each other for ever", _calling_names, None)
    yield Case("name-chain", "a chain of 5,000 names", _name_chain, None)
    yield Case("macro", "a macro and an embedded object", _macro, None)


def _chain() -> bytes:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row>' + "".join(
        f'<row r="{at}"><c r="A{at}"><f>A{at - 1}+1</f><v>{at}</v></c></row>' for at in range(2, 100_001)
    )
    return packed(parts_of(rows))


def _shared() -> bytes:
    master = f'<c r="A1"><f t="shared" si="0" ref="A1:XFD1">{"1" + "+1" * 16_000}</f></c>'
    follower = '<c><f t="shared" si="0"/></c>'
    return packed(parts_of(f"<row>{master}{follower * 16_000}</row>"))


def _loop() -> bytes:
    rows = "".join(
        f'<row r="{at}"><c r="A{at}"><f>A{at % 2_000 + 1}*1.0000001+1</f><v>0</v></c></row>' for at in range(1, 2_001)
    )
    return packed(parts_of(rows, workbook_after='<calcPr iterate="1" iterateCount="32767" iterateDelta="0"/>'))


def _data_table() -> bytes:
    table = '<c r="B2"><f t="dataTable" ref="B2:ALM1001" dt2D="1" dtr="1" r1="A1" r2="A2"/><v>0</v></c>'
    rows = f'<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c>{table}</row>'
    return packed(parts_of(rows))


def _edge_table() -> bytes:
    table = '<c r="B1"><f t="dataTable" ref="B1:Z1" dtr="1" r1="A3"/><v>0</v></c><c r="C1"><v>0</v></c>'
    return packed(parts_of(f'<row r="1"><c r="A1"><f>A3*2</f><v>2</v></c>{table}</row><row r="2"/>'))


def _header_loop() -> bytes:
    """The engine takes only texts for the header of a table, but a loop is broken with numbers."""
    table = f'<table xmlns="{MAIN}" displayName="T" ref="A1:B3"><tableColumns><tableColumn name="a"/>'
    extra: Parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": rels(("t", "table", "../tables/t.xml")),
        "xl/tables/t.xml": f'{table}<tableColumn name="b"/></tableColumns></table>',
    }
    return packed(parts_of('<row r="1"><c r="A1"><f>SUM(T[#All])+1</f><v>1</v></c></row>', extra=extra))


def _doubling_names() -> bytes:
    return _named(("n_0", "S!$B$1"), *((f"n_{at}", f"n_{at - 1}+n_{at - 1}") for at in range(1, 60)))


def _calling_names() -> bytes:
    twice = "LAMBDA(x,IF(x&lt;=0,0,{0}(x-1)+{0}(x-1)))"
    return _named(("one", twice.format("other")), ("other", twice.format("one")), ("start", "one(60)"))


def _named(*pairs: tuple[str, str]) -> bytes:
    names = "".join(f'<definedName name="{name}">{text}</definedName>' for name, text in pairs)
    rows = f'<row r="1"><c r="A1"><f>{pairs[-1][0]}+1</f><v>1</v></c></row>'
    return packed(parts_of(rows, workbook_after=f"<definedNames>{names}</definedNames>"))


def _names() -> bytes:
    return _named(("wacc", "growth+1"), ("growth", "wacc+1"))


def _name_chain() -> bytes:
    return _named(("n_0", "S!$B$1"), *((f"n_{at}", f"n_{at - 1}+1") for at in range(1, 5_000)))


def _macro() -> bytes:
    extra: Parts = {"xl/vbaProject.bin": b"Auto_Open", "xl/embeddings/oleObject1.bin": OLE}
    return packed(parts_of(extra=extra, extra_rels=(("v", "vbaProject", "vbaProject.bin"),)))


# -- what is shown -------------------------------------------------------------------------------------------------


def texts() -> Iterator[Case]:
    def label(text: str) -> Callable[[], bytes]:
        cell = f'<c r="A1" t="inlineStr"><is><t>{_escaped(text)}</t></is></c><c r="B1"><v>0.09</v></c>'
        return lambda: packed(parts_of(f'<row r="1">{cell}</row>'))

    yield Case("script", "a label with a script", label("<script>alert(1)</script> WACC"), None)
    yield Case("csv-formula", "a label that a spreadsheet would run", label("=HYPERLINK(1) WACC"), None)
    yield Case("right-to-left", "a label turned by an override", label("\u202eCCAW\u202c \u2066WACC"), None)
    yield Case("control", "escaped control characters", label("_x0000__x001B_[2J WACC"), None)
    yield Case("combining", "10,000 accents on a letter", label("W" + "\u0301" * 10_000), None)
    yield Case("sheet-name", "a sheet named as an attack", _sheet_name, None)
    yield Case("blank-format", "100,000 styles of one endless format of blanks", _blank_format, None)
    yield Case("number-format", "a format code of 50,000 characters", _number_format, None)


def _blank_format() -> bytes:
    codes = f'<numFmts><numFmt numFmtId="164" formatCode="{" " * 400_000}"/></numFmts>'
    styles = '<xf numFmtId="164"/>' * 100_000
    return styled(f"{codes}<cellXfs>{styles}</cellXfs>")


def _number_format() -> bytes:
    codes = f'<numFmts><numFmt numFmtId="164" formatCode="{"0" * 50_000}"/></numFmts>'
    return styled(f'{codes}<cellXfs><xf numFmtId="164"/></cellXfs>')


def _sheet_name() -> bytes:
    name = "&quot;&gt;&lt;img src=x onerror=1&gt;'!A1"
    return packed(parts_of() | {"xl/workbook.xml": workbook_xml(f'<sheet name="{name}" sheetId="1" r:id="rId1"/>')})


CASES = (*containers(), *markup(), *grids(), *expressions(), *texts())
