"""What a grader reads in the terminal: what was read, what is wrong where, and what could not be told."""

import pytest
import sample_reports as sample
from openpyxl import Workbook

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.report.listing import roles_text
from xlcheck.report.terminal import report_text
from xlcheck.report.trace import label_of
from xlcheck.report.words import amount
from xlcheck.roles import Located, Roles
from xlcheck.workbook import load


def located(value, unit, factor=1.0, currency=None):
    return Located(
        role="wacc", cell=CellRef("S", 1, 1), value=value, unit=unit, factor=factor, currency=currency,
        confidence=0.9, how="label",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "unit", "factor", "currency", "shown"),
    [
        (0.0973, "rate", 1.0, None, "9.73 %"),
        (9.73, "rate", 0.01, None, "9.73 %"),
        (3389.01, "money", 1e6, "EUR", "3,389.01 million EUR"),
        (12.5, "money", 1e8, "CNY", "12.5 亿 CNY"),
        (7.0, "money", 123.0, None, "7"),
        (38.6124, "per_share", 1.0, "EUR", "38.6124 EUR"),
        (None, "money", 1e6, "EUR", "not recomputed"),
    ],
)
def test_an_amount_has_its_scale_and_currency(value, unit, factor, currency, shown):
    assert amount(located(value, unit, factor, currency)) == shown


@pytest.mark.parametrize("make", [sample.good, sample.audited])
def test_a_summary_shows_what_the_valuation_was_read_as(make):
    shown = report_text(make())
    assert "Read as\n" in shown
    assert "  equity value      Bridge!C9  1,906 million EUR\n" in shown
    assert "  WACC              WACC!B4    9.73 %\n" in shown


def test_a_workbook_without_a_valuation_is_told_so():
    report = sample.audited().model_copy(update={"roles": {}})
    assert "No valuation was found in it; with --binding you can say where it stands" in report_text(report)


def test_no_workbook_was_read_as_nothing():
    report = sample.good().model_copy(update={"workbook": None})
    assert "Read as" not in report_text(report)


def test_a_reason_that_several_checks_share_is_said_once():
    results = [
        sample.result(None, check_id, "unverifiable", reason="Bridge!C3 is a loop")
        for check_id in ("bridge.signs", "bridge.per-share")
    ]
    shown = report_text(sample.report(results, None))
    assert "  Bridge!C3 is a loop\n      bridge.signs, bridge.per-share\n" in shown
    assert shown.count("is a loop") == 1


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("DCF!G28 buries 1.22 in its formula", "      DCF!G28 buries 1.22 in its formula"),
        ("the flow is in no sum", "      DCF!G28  the flow is in no sum"),
        ("DCF!G281 is another cell", "      DCF!G28  DCF!G281 is another cell"),
    ],
)
def test_a_sentence_that_begins_with_its_cell_does_not_name_it_twice(message, line):
    finding = Finding(message=message, cell=CellRef("DCF", 28, 7), found=None, expected=None)
    shown = report_text(sample.report([sample.result(None, "bridge.signs", "fail", findings=(finding,))], None))
    assert line in shown.splitlines()


def test_roles_have_a_heading():
    roles = Roles(scalars={"wacc": located(0.0973, "rate")}, series={}, ambiguous={})
    assert roles_text(roles).splitlines()[-2:] == [
        "  role  cell  value   sure  found by",
        "  wacc  S!A1  9.73 %  0.90  label",
    ]


def test_a_traced_cell_has_the_nearest_text_left_of_it(tmp_path):
    book = Workbook()
    book.active.title = "S"
    for address, content in {"A1": "Debt:", "B1": "EUR m", "C1": 360, "D1": 370, "D2": 5}.items():
        book.active[address] = content
    book.save(tmp_path / "b.xlsx")
    read = load(tmp_path / "b.xlsx")
    assert label_of(read, CellRef("S", 1, 4)) == "Debt:"
    assert label_of(read, CellRef("S", 2, 4)) is None
