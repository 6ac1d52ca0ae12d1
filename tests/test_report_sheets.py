"""The view of the workbook in the report."""

import re

import pytest
import sample_reports as sample
from openpyxl import Workbook

from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import Finding, Workpaper
from xlcheck.graph import build_graph
from xlcheck.recompute import recompute
from xlcheck.report.html import report_html
from xlcheck.report.sheets import COLUMNS, ROWS, workbook_view
from xlcheck.roles import Roles
from xlcheck.workbook import load


@pytest.fixture
def paper(tmp_path):
    """Bridge: labels in A, figures in C from row 5, an equity value that adds the debt; a second sheet of text."""
    book = Workbook()
    sheet = book.active
    sheet.title = "Bridge"
    for row, (label, value) in enumerate([("EV", 2186), ("Debt", 360), ("Cash", 80)], 5):
        sheet.cell(row, 1, label)
        sheet.cell(row, 3, value)
    sheet["A9"], sheet["C9"] = "<b>Equity</b>", "=C5+C6-C7"
    sheet["C9"].number_format = "#,##0.0"
    sheet["A40"] = "far below"
    book.create_sheet("Notes")["A1"] = "nothing of interest"
    book.save(tmp_path / "kilns.xlsx")
    read = load(tmp_path / "kilns.xlsx")
    return Workpaper(read, recompute(read), build_graph(read), Roles(scalars={}, series={}, ambiguous={}))


def report(*findings, roles=None, **more):
    results = [sample.result(None, "bridge.signs", "fail", findings=findings, **more)]
    return sample.report(results, None).model_copy(update={"roles": roles or {}})


def finding(cell):
    return Finding(message="The debt is added", cell=cell, found=2466.0, expected=1906.0)


def test_view_shows_the_rows_around_a_flagged_cell_recomputed_and_formatted(paper):
    (sheet,) = workbook_view(paper, report(finding(CellRef("Bridge", 9, 3)))).sheets
    assert sheet.name == "Bridge"
    assert sheet.letters == ("A", "C")
    assert [row.number for row in sheet.rows] == [7, 9]
    flagged = sheet.rows[1].cells[1]
    assert (flagged.shown, flagged.formula, flagged.flag) == ("2,466.0", "=C5+C6-C7", "fault")
    assert sheet.rows[1].cells[0].shown == "<b>Equity</b>"


def test_view_tells_what_a_formula_reads(paper):
    (sheet,) = workbook_view(paper, report(finding(CellRef("Bridge", 9, 3)))).sheets
    assert sheet.rows[1].cells[1].reads.splitlines() == ["0!C5 Bridge", "0!C6 Bridge", "0!C7 Bridge"]
    assert sheet.rows[0].cells[1].reads == ""


def test_only_sheets_with_a_fault_or_a_headline_value_are_unfolded(paper):
    roles = sample.roles()
    debt, equity = ({role: roles[role]} for role in ("debt", "equity_value"))
    assert [sheet.open for sheet in workbook_view(paper, report(roles=debt)).sheets] == [False]
    assert [sheet.open for sheet in workbook_view(paper, report(roles=equity)).sheets] == [True]
    assert [sheet.open for sheet in workbook_view(paper, report(finding(CellRef("Bridge", 7, 3)))).sheets] == [True]


def test_view_tells_roles_and_gaps(paper):
    roles = {role: located for role, located in sample.roles().items() if role == "enterprise_value"}
    flagged = report(finding(CellRef("Bridge", 40, 1)), roles=roles)
    (sheet,) = workbook_view(paper, flagged).sheets
    assert [(row.number, row.gap) for row in sheet.rows] == [(5, False), (6, False), (7, False), (40, True)]
    assert (sheet.rows[0].cells[1].role, sheet.rows[0].cells[1].named) == ("enterprise_value", True)


def test_a_fault_wins_over_a_warning_on_the_same_cell(paper):
    results = [
        sample.result(None, "bridge.signs", "fail", findings=(finding(CellRef("Bridge", 9, 3)),)),
        sample.result(
            None, "bridge.per-share", "fail", findings=(finding(CellRef("Bridge", 9, 3)),), caused_by="bridge.signs"
        ),
    ]
    (sheet,) = workbook_view(paper, sample.report(results, None).model_copy(update={"roles": {}})).sheets
    assert sheet.rows[-1].cells[-1].flag == "fault"


def test_view_is_bounded(paper):
    wide = report(*[finding(RangeRef("Bridge", row, 1, row, 200)) for row in range(1, 900, 3)])
    (sheet,) = workbook_view(paper, wide).sheets
    assert len(sheet.rows) <= ROWS
    assert len(sheet.letters) <= COLUMNS


def test_cells_of_the_page_link_into_the_view(paper):
    flagged = report(finding(CellRef("Bridge", 9, 3)), finding(RangeRef("Bridge", 5, 3, 7, 3)))
    page = report_html(flagged, workbook_view(paper, flagged))
    targets = set(re.findall(r'class="cell" href="#([^"]+)"', page))
    assert targets == {"s0-C9", "s0-C5"}
    for target in targets:
        assert page.count(f'id="{target}"') == 1
    assert "<b>Equity" not in page
    assert not re.search(r'href="[^#]', page)


def test_without_a_view_cells_are_no_links():
    assert 'class="cell" href' not in report_html(sample.capped())
