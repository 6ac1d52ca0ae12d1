"""What the fuzzer changes: whole models in many layouts, one that uses much of the format, and memos."""

from __future__ import annotations

import sys
import zipfile
from functools import lru_cache
from importlib import import_module
from io import BytesIO
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

from layouts import workbook  # noqa: E402
from memo_files import pdf  # noqa: E402
from openpyxl.chart import LineChart, Reference  # noqa: E402
from openpyxl.comments import Comment  # noqa: E402
from openpyxl.formatting.rule import CellIsRule, ColorScaleRule  # noqa: E402
from openpyxl.workbook.defined_name import DefinedName  # noqa: E402
from openpyxl.worksheet.datavalidation import DataValidation  # noqa: E402
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula  # noqa: E402
from openpyxl.worksheet.table import Table  # noqa: E402
from planted.model import clean_model  # noqa: E402

TASKS = ("sic-epitaxy-dcf", "ashare-pump-dcf", "bigtech-reverse-dcf")
FIXTURES = TESTS.parent / "fixtures"
NAMES = (
    *("clean", "chinese", "rich"),
    *sorted(path.stem for path in (TESTS / "layouts").glob("[a-z]*.py")),
    *TASKS,
)
"""Of the models."""


@lru_cache(8)
def parts(name: str) -> dict[str, str | bytes]:
    """The parts of a model, as text where they are text."""
    with zipfile.ZipFile(BytesIO(_model(name))) as archive:
        return {part: text_of(archive.read(part)) for part in archive.namelist()}


def text_of(content: bytes) -> str | bytes:
    """Return text where the bytes are text."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _model(name: str) -> bytes:
    if name in TASKS:
        return (FIXTURES / name / "reference" / "model.xlsx").read_bytes()
    if name in ("clean", "chinese"):
        book = clean_model(language="zh" if name == "chinese" else "en").workbook
    elif name == "rich":
        book = _rich()
    else:
        book = workbook(import_module(f"layouts.{name}").LAYOUT)
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _rich():
    """A model with much else in its file: a table, a chart, rules, a comment, arrays, a data table, hidden rows."""
    book = clean_model(scenarios=True, statements=True, options=True).workbook
    more = book.create_sheet("More")
    for row in (("Year", "Flow", "Share"), (2026, 10, 0.1), (2027, 12, 0.2), (2028, 14, "=B4/SUM(Flows[Flow])")):
        more.append(row)
    more.add_table(Table(displayName="Flows", ref="A1:C4"))
    more["E1"] = ArrayFormula("E1:E3", "=A2:A4*B2:B4")
    more["G1"], more["G2"], more["H1"] = "=B2*2", 1, 2
    more["H2"] = DataTableFormula(ref="H2:I3", dt2D=True, r1="B2", r2="B3")
    more["A6"] = '=IFERROR(XLOOKUP(2027,Flows[Year],Flows[Flow]),TEXTJOIN(",",TRUE,A2:A4))'
    more["A7"], more["A8"] = "=LET(x,B2,x*Rate)", "=SUMPRODUCT((A2:A4>2026)*B2:B4)+INDEX(B2:B4,MATCH(2027,A2:A4,0))"
    more["A1"].comment = Comment("from the annual report", "analyst")
    more["A2"].hyperlink = "https://example.com/a"
    more.merge_cells("A10:C11")
    more.row_dimensions[7].hidden, more.column_dimensions["C"].outlineLevel = True, 1
    more.conditional_formatting.add("B2:B4", CellIsRule(operator="lessThan", formula=["0"]))
    more.conditional_formatting.add(
        "C2:C4", ColorScaleRule(start_type="min", start_color="AA0000", end_type="max", end_color="00AA00")
    )
    check = DataValidation(type="list", formula1='"base,high"')
    more.add_data_validation(check)
    check.add("D2")
    chart = LineChart()
    chart.add_data(Reference(more, min_col=2, min_row=1, max_row=4), titles_from_data=True)
    more.add_chart(chart, "K2")
    book.defined_names["Rate"] = DefinedName("Rate", attr_text="More!$C$2")
    book.create_sheet("Hidden").sheet_state = "veryHidden"
    return book


@lru_cache(1)
def memos() -> dict[str, bytes]:
    """A memo in each format that is read, by file name."""
    text = (FIXTURES / TASKS[0] / "reference" / "memo.md").read_text("utf-8")
    return {"memo.md": text.encode(), "memo.docx": _docx(text), "memo.pdf": pdf(_latin(text))}


def _docx(text: str) -> bytes:
    from docx import Document

    document, buffer = Document(), BytesIO()
    for line in text.splitlines():
        document.add_paragraph(line)
    cells = document.add_table(rows=1, cols=2).rows[0].cells
    cells[0].text, cells[1].text = "WACC", "8.4%"
    document.save(buffer)
    return buffer.getvalue()


def _latin(text: str) -> list[str]:
    """Return lines that a PDF can hold as they are."""
    lines = (line.translate(str.maketrans("()\\", "[]/")) for line in text.splitlines()[:40])
    return [line.encode("latin-1", "replace").decode("latin-1") for line in lines]
