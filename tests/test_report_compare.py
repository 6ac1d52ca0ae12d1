"""Two reports side by side."""

import json

import pytest
import sample_reports as sample
from openpyxl import Workbook

from xlcheck import cli
from xlcheck.cells import CellRef
from xlcheck.errors import UsageError
from xlcheck.report.compare import compare, comparison_text
from xlcheck.roles import LocatedSeries


def test_only_what_differs_is_told_with_its_reason():
    found = compare(sample.good(), sample.capped())
    assert [item.item for item in found.items] == ["P01", "J02", "fatal.share-count"]
    first, second = found.items[0].first, found.items[0].second
    assert (first.points, first.status) == (12, "full")
    assert (second.points, second.status) == (0, "none")
    assert second.reason == "Bridge!C9: The debt is added instead of taken off"
    assert (found.items[2].first.status, found.items[2].second.status) == ("not triggered", "triggered")
    assert found.scores == ("70", "40")


def test_a_report_does_not_differ_from_itself():
    found = compare(sample.provisional(), sample.provisional())
    assert (found.items, found.values) == ((), ())
    assert found.scores == ("52 to 100", "52 to 100")


def test_values_that_moved_are_told():
    roles = sample.roles()
    roles["wacc"] = roles["wacc"].model_copy(update={"value": 0.08})
    roles["debt"] = roles["debt"].model_copy(update={"value": 360.0000001})
    del roles["cash"]
    found = compare(sample.good(), sample.good().model_copy(update={"roles": roles}))
    assert [(value.role, value.first, value.second) for value in found.values] == [
        ("cash", 80.0, None),
        ("wacc", 0.0973, 0.08),
    ]


def test_text_names_both_sides():
    text = comparison_text(compare(sample.good(), sample.capped()))
    assert "Score: 70 and 40" in text
    assert "3 items came out differently" in text
    assert "first:  full, 12 points" in text
    assert "second: none, 0 points; Bridge!C9: The debt is added instead of taken off" in text


def test_audits_are_compared_by_check():
    found = compare(sample.audited(), sample.report([sample.result(None, "wacc.identity", "pass")], None))
    assert [item.item for item in found.items] == ["bridge.equity-identity", "bridge.per-share", "discount.pv-sum"]
    assert found.scores is None


@pytest.mark.parametrize(
    "other",
    [sample.audited(), sample.good().model_copy(update={"rubric_sha256": "cd" * 32})],
    ids=["audit", "another rubric"],
)
def test_reports_of_different_kinds_are_refused(other):
    with pytest.raises(UsageError):
        compare(sample.good(), other)


def line(*values):
    cells = tuple(CellRef("DCF", 5, 6 + at) for at in range(len(values)))
    return LocatedSeries(role="fcff", cells=cells, values=values, unit="money", confidence=0.9, how="label")


def test_lines_of_the_forecast_that_moved_are_told():
    first, second = (
        sample.good().model_copy(update={"series": {"fcff": line(*values)}})
        for values in ((10.0, 11.0, None), (10.0, 12.0, 13.0))
    )
    (moved,) = compare(first, second).series
    assert (moved.role, moved.moved) == ("fcff", 2)
    assert "fcff  2 of 3 periods, first 11 → 12" in comparison_text(compare(first, second))
    assert compare(first, first).series == ()


def workbook(path, growth, *, note=False):
    """A small valuation; with a note its rows stand one lower."""
    book = Workbook()
    sheet = book.active
    sheet.title = "DCF"
    at = 2 if note else 1
    rows = [("WACC", 0.1), ("Terminal growth rate", growth), ("FCFF", 100), ("Shares outstanding", 10)]
    for row, (label, value) in enumerate(rows, at):
        sheet.cell(row, 1, label)
        sheet.cell(row, 2, value)
    sheet.cell(at + 4, 1, "Enterprise value")
    sheet.cell(at + 4, 2, f"=B{at + 2}*(1+B{at + 1})/(B{at}-B{at + 1})")
    sheet.cell(at + 5, 1, "Value per share")
    sheet.cell(at + 5, 2, f"=B{at + 4}/B{at + 3}")
    book.save(path)


@pytest.mark.parametrize("note", [False, True], ids=["same rows", "rows moved"])
def test_two_workbooks_are_compared_input_by_input(tmp_path, capsys, note):
    workbook(tmp_path / "a.xlsx", 0.02)
    workbook(tmp_path / "b.xlsx", 0.03, note=note)
    assert cli.main(["compare", str(tmp_path / "a.xlsx"), str(tmp_path / "b.xlsx"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == [{"cell": "DCF!B2", "label": "Terminal growth rate", "first": 0.02, "second": 0.03}]
    moved = {value["role"]: (value["first"], value["second"]) for value in found["values"]}
    assert moved["value_per_share"] == pytest.approx((102 / 0.08 / 10, 103 / 0.07 / 10))


def test_reports_alone_tell_no_inputs():
    assert compare(sample.good(), sample.capped()).inputs is None


def test_command_reads_reports(tmp_path, capsys):
    (tmp_path / "a.json").write_text(sample.good().to_json(), encoding="utf-8")
    (tmp_path / "b.json").write_text(sample.capped().to_json(), encoding="utf-8")
    assert cli.main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == ["70", "40"]
