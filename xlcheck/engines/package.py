"""Write the smallest .xlsx package that an engine can load: formulas and constants, no stored results.

An engine never sees the submitted file; it sees what is written here. Formula cells carry no value, so
no stored result can reach a recalculation. There are no styles, drawings or links.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xlcheck.cells import CellError, CellRef, RangeRef, Scalar, column_letters, parse_a1
from xlcheck.engines import PRIMARY
from xlcheck.workbook import DefinedName, Table


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula to write, with its leading ``=``."""

    text: str
    array: RangeRef | None = None
    """The range that it fills, for an array formula."""
    dynamic: bool = False
    """True for a dynamic array: it spills, and nothing is intersected implicitly."""
    for_primary: str = ""
    """How the primary engine must see `text` where it would misread it."""


Content = Formula | Scalar
SheetCells = Mapping[tuple[int, int], Content]


@dataclass(frozen=True, slots=True)
class Draft:
    """The workbook to write: sheets in order, each a mapping of (row, column) to content."""

    sheets: Mapping[str, SheetCells]
    names: Sequence[DefinedName] = ()
    tables: Sequence[Table] = ()
    date1904: bool = False
    hidden_rows: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Sheet name to the rows that SUBTOTAL(109, …) leaves out."""


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PKG = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
_SPECIAL = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff&<>]|_x")
_DYNAMIC = (
    f'{_HEAD}<metadata xmlns="{_MAIN}" xmlns:xda="http://schemas.microsoft.com/office/spreadsheetml/2017/dynamicarray">'
    '<metadataTypes count="1"><metadataType name="XLDAPR" minSupportedVersion="120000" copy="1" pasteAll="1" '
    'pasteValues="1" merge="1" splitFirst="1" rowColShift="1" clearFormats="1" clearComments="1" assign="1" '
    'coerce="1" cellMeta="1"/></metadataTypes><futureMetadata name="XLDAPR" count="1"><bk><extLst>'
    '<ext uri="{bdbb8cdc-fa1e-496e-a857-3c3f30c029c3}"><xda:dynamicArrayProperties fDynamic="1" fCollapsed="0"/>'
    '</ext></extLst></bk></futureMetadata><cellMetadata count="1"><bk><rc t="1" v="0"/></bk></cellMetadata></metadata>'
)


def write_package(draft: Draft, reader: str = "") -> bytes:
    """Return the bytes of the package (stored, not compressed: it never leaves memory).

    `reader` is the name of the engine that will read it: the primary engine needs some formulas put otherwise.
    """
    primary = reader == PRIMARY
    names = list(draft.sheets) or ["Sheet1"]
    tables: dict[str, list[tuple[int, Table]]] = defaultdict(list)
    for number, table in enumerate(draft.tables, 1):
        tables[table.range.sheet].append((number, table))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as package:
        package.writestr("[Content_Types].xml", _content_types(len(names), len(draft.tables)))
        package.writestr("_rels/.rels", _relationships([("officeDocument", "xl/workbook.xml")]))
        package.writestr("xl/workbook.xml", _workbook(draft, names))
        parts = [("worksheet", f"worksheets/sheet{index}.xml") for index in range(1, len(names) + 1)]
        package.writestr("xl/_rels/workbook.xml.rels", _relationships([*parts, ("sheetMetadata", "metadata.xml")]))
        package.writestr("xl/metadata.xml", _DYNAMIC)
        for index, name in enumerate(names, 1):
            own = tables[name]
            hidden = draft.hidden_rows.get(name, frozenset())
            cells = draft.sheets.get(name, {})
            if primary:
                cells = {place: _for_primary(content) for place, content in cells.items()}
            package.writestr(f"xl/worksheets/sheet{index}.xml", _sheet(cells, hidden, len(own)))
            if own:
                links = [("table", f"../tables/table{number}.xml") for number, _ in own]
                package.writestr(f"xl/worksheets/_rels/sheet{index}.xml.rels", _relationships(links))
            for number, table in own:
                package.writestr(f"xl/tables/table{number}.xml", _table(number, table))
    return buffer.getvalue()


def _content_types(sheets: int, tables: int) -> str:
    parts = [("workbook", "workbook", "sheet.main"), ("metadata", "metadata", "sheetMetadata")]
    parts += [(f"worksheets/sheet{i}", "", "worksheet") for i in range(1, sheets + 1)]
    parts += [(f"tables/table{i}", "", "table") for i in range(1, tables + 1)]
    overrides = "".join(
        f'<Override PartName="/xl/{path}.xml" ContentType="{_TYPE}.{kind}+xml"/>' for path, _, kind in parts
    )
    return (
        f'{_HEAD}<Types xmlns="{_PKG}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relationships(targets: Iterable[tuple[str, str]]) -> str:
    links = "".join(
        f'<Relationship Id="rId{i}" Type="{_REL}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets, 1)
    )
    return f'{_HEAD}<Relationships xmlns="{_PKG}/relationships">{links}</Relationships>'


def _workbook(draft: Draft, names: list[str]) -> str:
    sheets = "".join(
        f'<sheet name="{_attribute(name)}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(names, 1)
    )
    defined = "".join(_defined(name, names) for name in draft.names)
    date1904 = '<workbookPr date1904="1"/>' if draft.date1904 else ""
    return (
        f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_REL}">{date1904}<sheets>{sheets}</sheets>'
        f"{f'<definedNames>{defined}</definedNames>' if defined else ''}</workbook>"
    )


def _defined(name: DefinedName, sheets: list[str]) -> str:
    scope = f' localSheetId="{sheets.index(name.sheet)}"' if name.sheet is not None else ""
    return f'<definedName name="{_attribute(name.name)}"{scope}>{_text(name.formula)}</definedName>'


def _sheet(cells: SheetCells, hidden: frozenset[int], tables: int) -> str:
    out = [f'{_HEAD}<worksheet xmlns="{_MAIN}" xmlns:r="{_REL}"><sheetData>']
    current = 0
    for row, column in sorted(cells):
        if row != current:
            if current:
                out.append("</row>")
            out.append(f'<row r="{row}" hidden="1">' if row in hidden else f'<row r="{row}">')
            current = row
        out.append(_cell(f"{column_letters(column)}{row}", cells[row, column]))
    out.append("</row></sheetData>" if current else "</sheetData>")
    if tables:
        parts = "".join(f'<tablePart r:id="rId{i}"/>' for i in range(1, tables + 1))
        out.append(f'<tableParts count="{tables}">{parts}</tableParts>')
    out.append("</worksheet>")
    return "".join(out)


def anchors(draft: Draft) -> dict[CellRef, CellRef]:
    """Return each cell that an array formula fills, with the cell in which the formula stands."""
    found: dict[CellRef, CellRef] = {}
    for title, cells in draft.sheets.items():
        for place, content in cells.items():
            if isinstance(content, Formula) and content.array is not None:
                found.update(dict.fromkeys(content.array.cells(), CellRef(title, *place)))
    return found


def _cell(address: str, content: Content) -> str:
    if isinstance(content, Formula):
        body = _text(content.text[1:])
        if content.array is None:
            return f'<c r="{address}"><f>{body}</f></c>'
        mark = ' cm="1"' if content.dynamic else ""
        return f'<c r="{address}"{mark}><f t="array" ref="{content.array.address}">{body}</f></c>'
    if content is None:
        return ""
    if isinstance(content, bool):
        return f'<c r="{address}" t="b"><v>{int(content)}</v></c>'
    if isinstance(content, int | float):
        return f'<c r="{address}"><v>{content!r}</v></c>'
    if isinstance(content, CellError):
        return f'<c r="{address}" t="e"><v>{_text(content.error)}</v></c>'
    return f'<c r="{address}" t="inlineStr"><is><t xml:space="preserve">{_text(content)}</t></is></c>'


def _for_primary(content: Content) -> Content:
    """Return a formula as the primary engine must see it.

    Excel spreads a single row, column or value over the range of an array formula. The engine writes #N/A past the
    result, but spreads over the array of a condition.
    """
    if not isinstance(content, Formula):
        return content
    text, area = content.for_primary or content.text, content.array
    if area is not None and area.size > 1 and not content.dynamic:
        rows, columns = area.last_row - area.first_row + 1, area.last_column - area.first_column + 1
        text = f"=IF(_xlfn.SEQUENCE({rows},{columns}),{text[1:]})"
    return content if text is content.text else Formula(text, area, content.dynamic)


def _table(number: int, table: Table) -> str:
    columns = "".join(
        f'<tableColumn id="{i}" name="{_attribute(column)}"/>' for i, column in enumerate(table.columns, 1)
    )
    return (
        f'{_HEAD}<table xmlns="{_MAIN}" id="{number}" name="{_attribute(table.name)}" '
        f'displayName="{_attribute(table.name)}" ref="{table.range.address}" headerRowCount="{table.header_rows}" '
        f'totalsRowCount="{table.totals_rows}"><tableColumns count="{len(table.columns)}">{columns}</tableColumns>'
        "</table>"
    )


def _text(text: str) -> str:
    return _escaped(_CONTROL.sub(_hexadecimal, text)) if _SPECIAL.search(text) else text


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    written = _escaped(_CONTROL.sub(_hexadecimal, text)).replace('"', "&quot;")
    return written.replace("\n", "_x000a_").replace("\r", "_x000d_").replace("\t", "_x0009_")


def _hexadecimal(match: re.Match[str]) -> str:
    found = match[0]
    return f"_x005F{found}" if len(found) > 1 else f"_x{ord(found):04X}_"


_READ_CELL = re.compile(
    r'<c r="(?P<address>[A-Z]+[0-9]+)"(?P<cm> cm="1")?(?: t="(?P<type>[a-zA-Z]+)")?>'
    r'(?:<f(?: t="array" ref="(?P<array>[^"]+)")?>(?P<formula>.*?)</f>|<v>(?P<value>.*?)</v>'
    r'|<is><t xml:space="preserve">(?P<text>.*?)</t></is>)</c>',
    re.DOTALL,
)
_READ_NAME = re.compile(r'<definedName name="([^"]*)"(?: localSheetId="([0-9]+)")?>(.*?)</definedName>', re.DOTALL)
_READ_SHEET = re.compile(r'<sheet name="([^"]*)"')
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")


def read_package(package: bytes) -> Draft:
    """Read back what `write_package` wrote (and nothing else); tables and hidden rows are left out."""
    with zipfile.ZipFile(io.BytesIO(package)) as parts:
        workbook = parts.read("xl/workbook.xml").decode()
        titles = [_unescape(name) for name in _READ_SHEET.findall(workbook)]
        sheets = {
            title: dict(_read_cells(title, parts.read(f"xl/worksheets/sheet{index}.xml").decode()))
            for index, title in enumerate(titles, 1)
        }
    names = [
        DefinedName(_unescape(name), titles[int(scope)] if scope else None, _unescape(formula))
        for name, scope, formula in _READ_NAME.findall(workbook)
    ]
    return Draft(sheets, names, date1904='date1904="1"' in workbook)


def _read_cells(title: str, text: str) -> Iterator[tuple[tuple[int, int], Content]]:
    for match in _READ_CELL.finditer(text):
        place = parse_a1(match["address"])
        kind, value = match["type"], match["value"]
        if match["formula"] is not None:
            area = RangeRef.parse(f"{title}!{match['array']}") if match["array"] else None
            yield place, Formula("=" + _unescape(match["formula"]), area, match["cm"] is not None)
        elif match["text"] is not None:
            yield place, _unescape(match["text"])
        elif kind == "e":
            yield place, CellError(error=_unescape(value))
        else:
            yield place, value == "1" if kind == "b" else float(value)


def _unescape(text: str) -> str:
    plain = text.replace("&quot;", '"').replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), plain)
