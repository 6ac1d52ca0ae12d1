"""What the live model answers for the pictures, against values worked out by hand."""

from dataclasses import replace

import pytest
import sample_reports as sample
from openpyxl import Workbook

from xlcheck.cells import CellRef, RangeRef
from xlcheck.pipeline import study
from xlcheck.report.html_pictures import pictures, repair_rows
from xlcheck.report.language import words
from xlcheck.report.pictures_values import decimals, grid, percent, repairs, tornado
from xlcheck.report.studies import Studies, studies
from xlcheck.report.studies.heat import HeatMap

BINDING = {
    "wacc": "Value!B1", "terminal_growth": "Value!B2", "enterprise_value": "Value!B4", "debt": "Value!B5",
    "cash": "Value!B6", "minority_interest": "Value!B7", "equity_value": "Value!B8", "shares": "Value!B9",
    "value_per_share": "Value!B10",
}  # fmt: skip
ROWS = (
    ("WACC", 0.1), ("Terminal growth", 0.02), ("Next flow before growth", 100),
    ("Enterprise value", "=B3*(1+B2)/(B1-B2)"),
    ("Debt", 200), ("Cash", 50), ("Minority interest", 30), ("Equity value", "=B4-B5+B6+B7"), ("Shares", 10),
    ("Value per share", "=B8/B9"), ("Year of the price", 2026),
)  # fmt: skip


def per_share(rate=0.1, growth=0.02, flow=100.0, debt=200.0, cash=50.0, minority=30.0, shares=10.0):
    """The value per share of the model above: a perpetuity of one flow, with the minority interest added."""
    return (flow * (1 + growth) / (rate - growth) - debt + cash + minority) / shares


def paper(folder, own=None, more=0):
    """The model as a workpaper; `own` is a grid of typed numbers, rates down and growths across.

    `more` typed numbers are added up in the flow.
    """
    book = Workbook()
    sheet = book.active
    sheet.title = "Value"
    for row, (label, value) in enumerate(ROWS, 1):
        sheet.cell(row, 1, label)
        sheet.cell(row, 2, value)
    for row in range(20, 20 + more):
        sheet.cell(row, 1, f"Part {row}")
        sheet.cell(row, 2, 100 / more)
    if more:
        sheet["B3"] = f"=SUM(B20:B{19 + more})"
    if own is not None:
        rates, growths, values = own
        sheet["D1"] = "Value per share by WACC and terminal growth"
        for across, growth in enumerate(growths):
            sheet.cell(3, 5 + across, growth)
        for down, rate in enumerate(rates):
            sheet.cell(4 + down, 4, rate)
            for across in range(len(growths)):
                sheet.cell(4 + down, 5 + across, values[down][across])
    book.save(folder / "value.xlsx")
    return study(folder / "value.xlsx", BINDING)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    return studies(paper(tmp_path_factory.mktemp("value")), sample.report([], None))


def test_fewer_than_150_runs_of_the_model_are_asked_for(tmp_path):
    """A page is written in seconds whatever the size of the workbook: 60 lines of inputs, a grid of 81 cells."""
    rates, growths = ([start + step / 100 for step in range(9)] for start in (0.08, 0.01))
    own = [[round(per_share(rate, growth), 2) if rate > growth else 0.0 for growth in growths] for rate in rates]
    asked = []
    book = paper(tmp_path, (rates, growths, own), more=60)

    def counted(changes, outputs):
        asked.append(changes)
        return book.recalc.what_if_cells(changes, outputs)

    found = studies(replace(book, recalc=replace(book.recalc, what_if_cells=counted)), sample.report([], None))
    assert len(found.movers) == 10
    assert 81 <= len(asked) < 150


# -- rate and growth -------------------------------------------------------------------------------------------------


def test_without_a_grid_of_its_own_the_map_lies_around_the_base(answers):
    heat = answers.heat
    assert (answers.output, heat.output) == ("value_per_share", "value_per_share")
    assert answers.base == pytest.approx(per_share())
    assert heat.rates == pytest.approx((0.08, 0.09, 0.1, 0.11, 0.12))
    assert heat.growths == pytest.approx((0.01, 0.015, 0.02, 0.025, 0.03))
    for rate, row in zip(heat.rates, heat.model, strict=True):
        assert row == pytest.approx([per_share(rate, growth) for growth in heat.growths])
    assert heat.own_area is None


def test_own_grid_lies_beside_the_model_and_only_its_wrong_number_differs(tmp_path):
    rates, growths = (0.09, 0.1, 0.11), (0.01, 0.02, 0.03)
    own = [[round(per_share(rate, growth), 2) for growth in growths] for rate in rates]
    own[2][0] += 0.03
    heat = studies(paper(tmp_path, (rates, growths, own)), sample.report([], None)).heat
    assert heat.own_area == RangeRef("Value", 4, 5, 6, 7)
    assert (heat.rates, heat.growths) == (rates, growths)
    assert heat.own[1][1] == 115.5
    assert heat.model[1][1] == pytest.approx(115.5)
    assert heat.differs == {(2, 0)}


def test_no_value_stands_where_growth_is_not_below_the_rate(tmp_path):
    rates, growths = (0.02, 0.1, 0.18), (0.01, 0.02, 0.03)
    own = [[round(per_share(rate, growth), 2) if rate > growth else 1.0 for growth in growths] for rate in rates]
    heat = studies(paper(tmp_path, (rates, growths, own)), sample.report([], None)).heat
    assert heat.model[0][1:] == (None, None)
    assert heat.differs == frozenset()


def test_no_map_where_the_value_does_not_move_with_the_rate(tmp_path):
    book = paper(tmp_path)
    roles = dict(book.roles.scalars)
    roles["wacc"] = roles["wacc"].model_copy(update={"cell": CellRef("Value", 11, 2), "value": 0.1})
    unmoved = book.roles.model_copy(update={"scalars": roles})
    assert studies(replace(book, roles=unmoved), sample.report([], None)).heat is None


# -- what moves the value --------------------------------------------------------------------------------------------


def test_each_line_is_moved_a_tenth_down_and_up(answers):
    found = {str(mover.cells): mover for mover in answers.movers}
    flow = found["Value!B3"]
    assert (flow.label, flow.low) == ("Next flow before growth", pytest.approx(per_share(flow=90)))
    assert flow.high == pytest.approx(per_share(flow=110))
    assert flow.elasticity(answers.base) == pytest.approx(1275 / 1155)
    assert found["Value!B5"].high == pytest.approx(per_share(debt=220))
    assert found["Value!B9"].role == "shares"


def test_strongest_comes_first_and_years_are_no_assumption(answers):
    swings = [abs(mover.high - mover.low) for mover in answers.movers]
    assert swings == sorted(swings, reverse=True)
    assert str(answers.movers[0].cells) == "Value!B1"
    assert "Value!B11" not in {str(mover.cells) for mover in answers.movers}


# -- the bridge ------------------------------------------------------------------------------------------------------


def test_bridge_is_told_as_the_workbook_takes_it(answers):
    items = {item.role: item.stated for item in answers.bridge.items}
    assert items == pytest.approx({"debt": -200, "cash": 50, "minority_interest": 30})
    assert answers.bridge.rest == 0
    assert answers.bridge.right == answers.bridge.stated == pytest.approx(1155)


def test_a_sign_is_put_right_only_where_a_check_says_that_it_is_wrong(tmp_path):
    failed = sample.report([sample.result(None, "bridge.signs", "fail", findings=(sample.SLIP,))], None)
    bridge = studies(paper(tmp_path), failed).bridge
    assert [item.role for item in bridge.items if item.right != item.stated] == ["minority_interest"]
    assert bridge.right == pytest.approx(1155 - 60)
    shown = pictures(failed, Studies("equity_value", 1155, None, (), bridge), words())
    (drawn,) = (one.svg for row in shown for one in row if one.caption == "From enterprise to equity value")
    assert "should be -30" in drawn
    assert "equity, signs right" in drawn


# -- repairs ---------------------------------------------------------------------------------------------------------


def test_repairs_are_told_once_with_item_cell_and_both_values():
    (repair,) = repair_rows(sample.capped())
    assert repair == ("P01 bridge.equity-identity", "Bridge!C9", 30.825, 23.825)
    assert "30.50 → 24.40 (-20.0 %)" in repairs([repair._replace(stated=30.5, repaired=24.4)])
    assert "10.25 → 10,250.00 (×1,000)" in repairs([repair._replace(stated=10.25, repaired=10_250.0)])


def test_no_picture_without_a_repair():
    assert not [one for row in pictures(sample.good(), None, words()) for one in row if "fault" in one.caption]


def test_grids_that_are_compared_stand_side_by_side(answers):
    heat = answers.heat._replace(own=answers.heat.model, own_area=RangeRef("Value", 4, 5, 8, 9))
    rows = pictures(sample.capped(), answers._replace(heat=heat), words())
    starts = [[one.caption.split()[0] for one in row] for row in rows]
    assert starts == [["What", "From"], ["Value", "The"], ["What", "Points"], ["Points"]]
    alone = [[one.caption.split()[0] for one in row] for row in pictures(sample.capped(), answers, words())]
    assert alone == [["What", "From"], ["Value", "What"], ["Points", "Points"]]


# -- drawing ---------------------------------------------------------------------------------------------------------


def test_grid_marks_what_differs_and_frames_the_base():
    heat = HeatMap("value_per_share", (0.09, 0.1), (0.01, 0.02), ((12.5, 14.0), (10.0, None)), (0.1, 0.01))
    drawn = grid(heat, heat.model, frozenset({(0, 1)}))
    assert ">12.50<" in drawn
    assert ">≠ 14.00<" in drawn
    assert ">–<" in drawn
    assert drawn.count('class="base"') == 1
    assert drawn.count('class="wrong"') == 1


def test_pictures_escape_the_labels_of_a_submission(answers):
    mover = answers.movers[0]._replace(label='<script>"x"</script>')
    assert "<script" not in tornado([mover], answers.base, words())


def test_numbers_have_four_digits():
    assert [decimals([value]) for value in (0.05, 4.2, 38.6, 1191.5, 25_000.5, 0.0)] == [5, 3, 2, 0, 0, 0]
    assert decimals([456.0, 38.0]) == 0
    assert [percent(rate) for rate in (0.09, 0.0995626, 0.1)] == ["9 %", "9.96 %", "10 %"]
