"""Two reports side by side."""

import json

import pytest
import sample_reports as sample

from xlcheck import cli
from xlcheck.errors import UsageError
from xlcheck.report.compare import compare, comparison_text


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


def test_command_reads_reports(tmp_path, capsys):
    (tmp_path / "a.json").write_text(sample.good().to_json(), encoding="utf-8")
    (tmp_path / "b.json").write_text(sample.capped().to_json(), encoding="utf-8")
    assert cli.main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == ["70", "40"]
