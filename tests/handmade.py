"""Books built by hand for tests of the recomputation: no file, no reader."""

from xlcheck.cells import CellError, CellRef, RangeRef
from xlcheck.workbook import Book, CalcSettings, Cell, DataTable, DefinedName, Sheet, Table


def ref(text):
    return CellRef.parse(text if "!" in text else f"M!{text}")


def area(text):
    return RangeRef.parse(text if "!" in text else f"M!{text}")


def cell(where, content, stored=None, **more):
    """A formula if `content` starts with ``=``, else a constant."""
    if isinstance(content, str) and content.startswith("="):
        return Cell(where, content, stored, **more)
    if isinstance(content, str) and content.startswith("#"):
        content = CellError(error=content)
    return Cell(where, None, float(content) if type(content) is int else content, **more)


def book(cells, *, names=(), tables=(), external=None, hidden=(), **calc):
    """`cells`: address (``Sheet!A1``, or ``A1`` on sheet M) to content, (formula, stored), or a Cell."""
    sheets = {}
    for where, content in cells.items():
        at = ref(where)
        if isinstance(content, Cell):
            made = content
        elif isinstance(content, tuple):
            made = cell(at, *content)
        else:
            made = cell(at, content)
        sheets.setdefault(at.sheet, {})[at.row, at.column] = made
    return Book(
        file_name="handmade.xlsx",
        sha256="0" * 64,
        sheets=tuple(Sheet(name, "visible", found, frozenset(hidden)) for name, found in sheets.items()),
        names=tuple(DefinedName(*name) for name in names),
        tables=tuple(tables),
        calc=CalcSettings(**calc),
        external=external or {},
    )


def array(where, formula, fills, stored=None, *, dynamic=False):
    return Cell(ref(where), formula, stored, array=area(fills), dynamic=dynamic)


def data_table(fills, row_input=None, column_input=None, stored=None):
    """The first cell of a data table."""
    rectangle = area(fills)
    first = CellRef(rectangle.sheet, rectangle.first_row, rectangle.first_column)
    inputs = (row_input and ref(row_input), column_input and ref(column_input))
    return Cell(first, None, stored, data_table=DataTable(rectangle, *inputs))


def table(name, fills, columns, totals=0):
    return Table(name, area(fills), tuple(columns), 1, totals)
