"""A person's word on single results: the original stays, the score follows, and every report says so."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
import sample_reports as sample
from planted import clean_model

from xlcheck import cli
from xlcheck.errors import OverrideError, UsageError
from xlcheck.overrides import load_overrides
from xlcheck.pipeline import grade
from xlcheck.report.html import report_html
from xlcheck.report.markdown import report_markdown
from xlcheck.report.terminal import report_text
from xlcheck.rubric import parse_rubric
from xlcheck.scoring.model import score
from xlcheck.verdicts import Verdict

RUBRIC = parse_rubric("""
schema_version: 1
id: kilns
title: DCF of an invented maker of kiln bricks
mode: financial_model
program:
  - {id: P01, check: bridge.equity-identity, weight: 12, group: bridge}
  - {id: P02, check: wacc.identity, weight: 10, group: bridge, when_absent: skip}
  - {id: P03, check: fatal.share-count, weight: 8}
judge:
  - {id: J01, dimension: sources, weight: 40, pass_if: Each assumption has a dated source}
  - {id: J02, dimension: conclusion, weight: 30, pass_if: Says what would disprove it, scale: 0-4}
deductions:
  - {id: D01, points: 5, when: A source is invented}
fatal:
  - {id: F01, judge: Nominal flows at a real rate}
""")
RESULTS = (
    sample.result("P01", "bridge.equity-identity", "fail"),
    sample.result("P02", "wacc.identity", "not_applicable", reason="no rate is built"),
    sample.result("P03", "fatal.share-count", "fail"),
)
VERDICTS = (
    Verdict(item="J01", verdict="pass"),
    Verdict(item="J02", grade=1, reason="thin"),
    Verdict(item="D01", triggered=True),
    Verdict(item="F01", triggered=False),
)


def write(folder: Path, *lines: str) -> Path:
    path = folder / "overrides.yaml"
    path.write_text("overrides:\n" + "".join(f"  - {{{line}}}\n" for line in lines), encoding="utf-8")
    return path


def by(item: str, result: str) -> str:
    return f"item: {item}, result: {result}, who: A. Reviewer, when: 2026-03-31, why: seen in the cell"


@pytest.fixture
def card(tmp_path):
    def scored(*changes: tuple[str, str]):
        lines = [by(item, result) for item, result in changes]
        overrides = load_overrides(write(tmp_path, *lines), RUBRIC) if lines else ()
        return score(RUBRIC, RESULTS, VERDICTS, overrides=overrides)

    return scored


def test_without_overrides_the_fatal_error_caps(card):
    """P01 22·0, P02's weight went to P01, P03 0; judged 40 + 30/4 = 47.5; less 5: 42.5, capped at 40."""
    before = card()
    assert (before.program, before.judged, before.deducted, before.raw) == (0, Decimal("47.5"), 5, Decimal("42.5"))
    assert (before.low, before.fatal, before.overruled) == (40, ("P03",), ())


@pytest.mark.parametrize(
    ("changes", "total"),
    [
        ([("P03", "pass")], "50.5"),  # the 8 points, and no cap: 42.5 + 8
        ([("P03", "0.5")], "46.5"),  # part credit is no fatal error
        ([("P03", "pass"), ("P01", "pass")], "72.5"),  # with the weight of the skipped item
        ([("P03", "pass"), ("P01", "pass"), ("P02", "fail")], "62.5"),  # which takes its own weight back
        ([("P03", "pass"), ("J02", "4")], "73"),
        ([("P03", "pass"), ("J01", "fail")], "10.5"),
        ([("P03", "pass"), ("D01", "not triggered")], "55.5"),
        ([("P03", "pass"), ("F01", "triggered")], "40"),
    ],
)
def test_the_score_is_worked_out_anew(changes, total, card):
    changed = card(*changes)
    assert changed.score == Decimal(total)
    assert set(changed.overruled) == {item for item, _ in changes}
    assert changed == card(*changes)


def test_the_original_stays_on_the_line(card):
    (line,) = [line for line in card(("J02", "4")).lines if line.item == "J02"]
    assert (line.credit_low, line.message) == (1, "thin")
    assert (line.overruled.was_low, line.overruled.was_high) == (Decimal("0.25"), Decimal("0.25"))
    assert line.overruled.override.who == "A. Reviewer"
    assert str(line.overruled.override.when) == "2026-03-31"
    assert line.reason == "changed by hand from a credit of 0.25 to 4 (A. Reviewer, 2026-03-31): seen in the cell"


def test_an_open_item_is_closed(tmp_path):
    overrides = load_overrides(write(tmp_path, by("J01", "pass"), by("P03", "pass")), RUBRIC)
    card = score(RUBRIC, RESULTS, VERDICTS[1:], overrides=overrides)
    assert (card.status, card.score) == ("final", Decimal("50.5"))
    assert "from open to pass" in next(line.reason for line in card.lines if line.item == "J01")


BAD = {
    "an unknown item": (by("P99", "pass"), "overrides[0].item: 'P99' is no item of the rubric"),
    "a word of its own": (by("J01", "maybe"), "takes pass or fail"),
    "a grade for a pass-fail item": (by("J01", "3"), "J01 takes pass or fail"),
    "a word for a graded item": (by("J02", "pass"), "takes a whole grade from 0 to 4"),
    "half a grade": (by("J02", "2.5"), "takes a whole grade from 0 to 4"),
    "too much credit": (by("P01", "1.2"), "takes pass, fail or a credit from 0 to 1"),
    "no number": (by("P01", "NaN"), "takes pass, fail or a credit from 0 to 1"),
    "a deduction passed": (by("D01", "pass"), "takes triggered or not triggered"),
    "nobody": (by("J01", "pass").replace("A. Reviewer", "''"), "overrides[0].who"),
    "no reason": ("item: J01, result: pass, who: A, when: 2026-03-31", "the key 'why' is missing"),
    "no day": (by("J01", "pass").replace("2026-03-31", "lately"), "write a date such as"),
    "a key of its own": (by("J01", "pass") + ", note: x", "unknown key"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_gets_one_sentence_with_line_and_key(fault, tmp_path):
    line, words = BAD[fault]
    with pytest.raises(OverrideError) as caught:
        load_overrides(write(tmp_path, line), RUBRIC)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path}/overrides.yaml:2: ")
    assert caught.value.exit_code == 2


def test_one_item_is_changed_once(tmp_path):
    with pytest.raises(OverrideError, match=r"yaml:3: .*J01 is changed twice"):
        load_overrides(write(tmp_path, by("J01", "pass"), by("J01", "fail")), RUBRIC)


def test_a_file_for_another_rubric_is_refused(tmp_path):
    path = write(tmp_path, by("J01", "pass"))
    path.write_text("rubric: ferries\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(OverrideError, match="are for 'ferries', not for 'kilns'"):
        load_overrides(path, RUBRIC)


def test_every_report_marks_what_was_changed(card):
    report = sample.capped().model_copy(update={"score_card": card(("P03", "pass"), ("J02", "4"))})
    said = "changed by hand from fail to pass (A. Reviewer, 2026-03-31): seen in the cell"
    text = report_text(report)
    assert "(final, 2 results changed by hand)" in text
    assert f"  P03  {said}" in text
    assert "2 results changed by hand" in report_markdown(report)
    assert "### Changed by hand" in report_markdown(report)
    page = report_html(report)
    assert "Changed by hand" in page
    assert "changed by hand from failed to passed (A. Reviewer, 2026-03-31): seen in the cell" in page
    assert "由人工从" in report_html(report, language="zh")
    line = next(one for one in json.loads(report.to_json())["score_card"]["lines"] if one["item"] == "P03")
    assert line["overruled"]["override"]["why"] == "seen in the cell"


def test_grade_takes_a_file_and_refuses_one_where_nothing_is_scored(tmp_path, capsys):
    task = "schema_version: 1\nid: kilns\ntitle: Kilns\nmode: financial_model\nprogram:\n"
    (tmp_path / "rubric.yaml").write_text(
        task + "  - {id: P01, check: recompute.no-error-values, weight: 100}\n", encoding="utf-8"
    )
    clean_model().save(tmp_path / "kilns.xlsx")
    overrides = write(tmp_path, by("P01", "0.25"))
    told = ["--rubric", str(tmp_path / "rubric.yaml"), "--overrides", str(overrides), "--out", str(tmp_path / "out")]
    assert cli.main(["grade", str(tmp_path / "kilns.xlsx"), *told]) == 0
    assert "Score 25 of 100 (final, 1 result changed by hand)" in capsys.readouterr().out
    saved = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert saved["score_card"]["overruled"] == ["P01"]
    assert saved["results"][0]["status"] == "pass"
    (tmp_path / "empty").mkdir()
    assert cli.main(["grade", str(tmp_path / "empty"), *told]) == 2
    assert "there is no result that A. Reviewer could change" in capsys.readouterr().err


def test_a_judgement_takes_overrides_too(tmp_path):
    task = "schema_version: 1\nid: kilns\ntitle: Note\nmode: research_judgement\njudge:\n"
    (tmp_path / "rubric.yaml").write_text(
        task + "  - {id: J01, dimension: thesis, weight: 100, pass_if: argued}\n", encoding="utf-8"
    )
    (tmp_path / "note.md").write_text("Kilns last.", encoding="utf-8")
    overrides = write(tmp_path, by("J01", "pass"))
    card = grade(tmp_path / "note.md", tmp_path / "rubric.yaml", overrides=overrides).score_card
    assert (card.status, card.score, card.overruled) == ("final", 100, ("J01",))
    (tmp_path / "note.md").write_text(" ", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no result that A\. Reviewer could change"):
        grade(tmp_path / "note.md", tmp_path / "rubric.yaml", overrides=overrides)
