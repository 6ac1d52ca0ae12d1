"""The marked-up copy: what is added, and that all else stays as it was."""

import io
import os
import zipfile
from functools import cache
from pathlib import Path

import pytest
import sample_reports as sample
from marked_copies import counts, differences, libreoffice, recalculated
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font
from raw_package import packed

from xlcheck import cli
from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import Finding
from xlcheck.errors import SubmissionError
from xlcheck.intake import check_package
from xlcheck.report.annotated import annotated


@cache
def workbook():
    """Two sheets, a chart, a comment, a bold number; the fault of `sample` is planted at Bridge!C9."""
    book = Workbook()
    sheet = book.active
    sheet.title = "Bridge"
    for row, value in ((5, 2186), (6, 360), (7, 80)):
        sheet.cell(row, 3, value)
    sheet["C9"] = "=C5+C6-C7"
    sheet["C9"].number_format = "#,##0.0"
    sheet["C5"].font = Font(bold=True)
    sheet["C5"].comment = Comment("from the model", "author")
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=3, min_row=5, max_row=7))
    sheet.add_chart(chart, "F2")
    book.create_sheet("It's here")["A1"] = 1
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def report(*findings, **more):
    return sample.report([sample.result(None, "bridge.signs", "fail", findings=findings, **more)], None)


def finding(cell, message="The debt is added"):
    return Finding(message=message, cell=cell, found=2466.0, expected=1906.0)


def marked(*findings, **more):
    return annotated(check_package(workbook(), "kilns.xlsx"), report(*findings, **more))


def test_flagged_cell_gets_a_comment_and_a_colour_and_keeps_its_format():
    sheet = load_workbook(io.BytesIO(marked(finding(CellRef("Bridge", 9, 3)))))["Bridge"]
    assert sheet["C9"].comment.text == "bridge.signs: The debt is added\nfound 2,466\nexpected 1,906"
    assert sheet["C9"].fill.fgColor.rgb == "FFF6C7C1"
    assert sheet["C9"].number_format == "#,##0.0"
    assert sheet["C9"].value == "=C5+C6-C7"
    assert sheet["C6"].fill.fill_type is None


def test_warnings_and_consequences_have_another_colour():
    sheet = load_workbook(io.BytesIO(marked(finding(CellRef("Bridge", 9, 3)), caused_by="wacc.capm")))["Bridge"]
    assert sheet["C9"].fill.fgColor.rgb == "FFFFE9B8"
    assert "follows from wacc.capm" in sheet["C9"].comment.text


def test_existing_comment_is_kept_and_added_to():
    sheet = load_workbook(io.BytesIO(marked(finding(CellRef("Bridge", 5, 3)))))["Bridge"]
    assert sheet["C5"].comment.text.startswith("from the model")
    assert "bridge.signs: The debt is added" in sheet["C5"].comment.text
    assert sheet["C5"].font.bold


def test_blank_cell_and_range_can_be_flagged():
    data = marked(finding(CellRef("It's here", 4, 2)), finding(RangeRef("Bridge", 5, 3, 7, 3)))
    book = load_workbook(io.BytesIO(data))
    assert book["It's here"]["B4"].comment is not None
    assert [book["Bridge"].cell(row, 3).fill.fgColor.rgb for row in (5, 6, 7)] == ["FFF6C7C1"] * 3


def test_every_finding_is_listed_with_a_link():
    data = marked(finding(CellRef("It's here", 1, 1)), finding(CellRef("Bridge", 9, 3)), finding(None, "no cell"))
    sheet = load_workbook(io.BytesIO(data))["xlcheck"]
    assert [sheet.cell(row, 4).value for row in (2, 3, 4)] == ["It's here!A1", "Bridge!C9", None]
    assert sheet["D2"].hyperlink.location == "'It''s here'!A1"
    assert sheet["E4"].value == "no cell"
    assert sheet["F3"].value == 2466


def test_text_of_a_finding_is_inert():
    data = marked(finding(CellRef("Bridge", 9, 3), '=HYPERLINK("http://x")\x01<b>'))
    sheet = load_workbook(io.BytesIO(data))["xlcheck"]
    assert (sheet["E2"].value, sheet["E2"].data_type) == ('=HYPERLINK("http://x")<b>', "s")


def test_sheet_of_that_name_is_not_replaced():
    book = load_workbook(io.BytesIO(workbook()))
    book.create_sheet("XLCheck")["A1"] = "mine"
    file = io.BytesIO()
    book.save(file)
    data = annotated(check_package(file.getvalue(), "kilns.xlsx"), report(finding(CellRef("Bridge", 9, 3))))
    assert load_workbook(io.BytesIO(data)).sheetnames == ["Bridge", "It's here", "XLCheck", "xlcheck 2"]


def test_all_other_parts_stay_as_they_were():
    before, after = workbook(), marked(finding(CellRef("It's here", 1, 1)))
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(io.BytesIO(after)) as new:
        same = {name for name in old.namelist() if old.read(name) == new.read(name)}
        assert set(old.namelist()) <= set(new.namelist())
        assert {name for name in old.namelist() if "chart" in name or "drawing" in name} <= same
        assert "xl/worksheets/sheet1.xml" not in set(old.namelist()) - same
        assert new.namelist()[0] == "[Content_Types].xml"


def test_same_inputs_same_bytes():
    assert marked(finding(CellRef("Bridge", 9, 3))) == marked(finding(CellRef("Bridge", 9, 3)))


def with_part(name, old, new):
    """The workbook with a piece of one part replaced."""
    with zipfile.ZipFile(io.BytesIO(workbook())) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    assert old in parts[name]
    return check_package(packed({**parts, name: parts[name].replace(old, new)}), "kilns.xlsx")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("xl/workbook.xml", b'sheetId="2"', b'sheetId="shared"'),
        ("xl/workbook.xml", b"<sheets>", b"<sheets><!-- a remark -->"),
        ("xl/worksheets/sheet1.xml", b'<c r="C9" s="2"', b'<c r="C9" s="9999999"'),
        ("xl/worksheets/sheet1.xml", b'<c r="C9" s="2"', b'<c r="C9" s="-1"'),
    ],
)
def test_odd_numbers_and_remarks_of_a_file_are_no_obstacle(name, old, new):
    copy = annotated(with_part(name, old, new), report(finding(CellRef("Bridge", 9, 3))))
    with zipfile.ZipFile(io.BytesIO(copy)) as archive:
        assert b"Bridge!C9" in archive.read("xl/worksheets/xlcheck_findings.xml")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("[Content_Types].xml", b"<Types", b"<Types Part"),
        ("xl/styles.xml", b"</styleSheet>", b""),
        ("xl/_rels/workbook.xml.rels", b"http://schemas.openxmlformats.org/package", b"http://a/&amp;<package"),
    ],
)
def test_a_part_that_cannot_be_edited_is_named(name, old, new):
    with pytest.raises(SubmissionError, match=r"kilns\.xlsx: .*damaged"):
        annotated(with_part(name, old, new), report(finding(CellRef("Bridge", 9, 3))))


def test_a_workbook_without_its_list_of_types_gets_no_copy():
    with zipfile.ZipFile(io.BytesIO(workbook())) as archive:
        parts = {part: archive.read(part) for part in archive.namelist() if part != "[Content_Types].xml"}
    with pytest.raises(SubmissionError, match=r"kilns\.xlsx: part \[Content_Types\]\.xml is missing"):
        annotated(check_package(packed(parts), "kilns.xlsx"), report(finding(CellRef("Bridge", 9, 3))))


def test_command_writes_a_new_file_only(tmp_path, capsys):
    (tmp_path / "kilns.xlsx").write_bytes(workbook())
    command = ["annotate", str(tmp_path / "kilns.xlsx"), "--out", str(tmp_path / "marked.xlsx")]
    assert cli.main(command) == 0
    assert "Marked-up copy" in capsys.readouterr().out
    assert "xlcheck" in load_workbook(tmp_path / "marked.xlsx").sheetnames
    assert cli.main(command) == 2
    assert (tmp_path / "kilns.xlsx").read_bytes() == workbook()


def test_report_of_another_workbook_is_refused(tmp_path, capsys):
    (tmp_path / "kilns.xlsx").write_bytes(workbook())
    (tmp_path / "report.json").write_text(sample.audited().to_json(), encoding="utf-8")
    command = ["annotate", str(tmp_path / "kilns.xlsx"), "--report", str(tmp_path / "report.json")]
    assert cli.main([*command, "--out", str(tmp_path / "marked.xlsx")]) == 2
    assert "is the report of another workbook" in capsys.readouterr().err
    assert not (tmp_path / "marked.xlsx").exists()


def test_charts_data_tables_and_names_are_counted_and_kept():
    """One chart; a data table and two names are put into the package by hand."""
    before = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook())) as old, zipfile.ZipFile(before, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "xl/workbook.xml":
                names = b'<definedNames><definedName name="a">1</definedName><definedName name="b">2</definedName>'
                part = part.replace(b"<definedNames/>", b"").replace(
                    b"</sheets>", b"</sheets>" + names + b"</definedNames>"
                )
            if name == "xl/worksheets/sheet1.xml":
                part = part.replace(b"<f>C5+C6-C7</f>", b'<f t="dataTable" ref="C9" r1="C5" dt2D="0"/>')
            new.writestr(name, part)
    after = annotated(check_package(before.getvalue(), "kilns.xlsx"), report(finding(CellRef("Bridge", 9, 3))))
    assert counts(before.getvalue()) == counts(after) == {"charts": 1, "data tables": 1, "defined names": 2}


def needs_libreoffice():
    if libreoffice() is None and not os.environ.get("CI"):
        pytest.skip("LibreOffice is not installed")


@pytest.mark.slow
def test_copy_opens_in_libreoffice_with_the_same_value(tmp_path):
    needs_libreoffice()
    path = tmp_path / "marked.xlsx"
    path.write_bytes(marked(finding(CellRef("Bridge", 9, 3)), finding(CellRef("Bridge", 5, 3))))
    book = load_workbook(recalculated(path, tmp_path), data_only=True)
    assert book["Bridge"]["C9"].value == 2466
    assert "bridge.signs" in book["Bridge"]["C9"].comment.text
    assert "from the model" in book["Bridge"]["C5"].comment.text


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["flawed", "typed-outputs"])
def test_marked_up_answer_recalculates_to_the_same_and_holds_every_finding(tmp_path, answer):
    needs_libreoffice()
    task = Path(__file__).parents[1] / "fixtures" / "sic-epitaxy-dcf"
    assert differences(task / answer / "model.xlsx", tmp_path) == []
