"""Verdict files: what is accepted, and thirty bad ones with thirty different sentences."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck.errors import VerdictError
from xlcheck.rubric import parse_rubric
from xlcheck.verdicts import Quote, load_verdicts, parse_verdicts

RUBRIC = parse_rubric("""\
schema_version: 1
id: river-ferry-dcf
title: DCF of a river ferry operator
mode: financial_model
program:
  - {id: P01, check: wacc.range, weight: 30}
judge:
  - {id: J01, dimension: assumptions, weight: 40, pass_if: "fleet growth is argued", quote: required}
  - {id: J02, dimension: clarity, weight: 30, pass_if: "clear", scale: 0-4}
deductions:
  - {id: D01, points: 5, when: "a source is invented"}
fatal:
  - {check: fatal.growth-not-below-wacc}
  - {id: F02, judge: "nominal flows discounted at a real rate"}
""")
GOOD = """\
{"schema_version": 1, "rubric": "river-ferry-dcf", "judge": "analyst-a", "run": "1", "verdicts": [
  {"item": "J01", "verdict": "pass", "reason": "see memo",
   "quotes": [{"text": "two ferries a year", "where": "memo.md"}]},
  {"item": "J02", "grade": 3},
  {"item": "D01", "triggered": false},
  {"item": "F02", "triggered": true, "quotes": [{"text": "real rate of 4%"}]}
]}
"""


def test_a_good_file_is_read_with_judge_and_run_of_its_head() -> None:
    verdicts = {verdict.item: verdict for verdict in parse_verdicts(GOOD, RUBRIC)}
    assert verdicts["J01"].verdict == "pass"
    assert verdicts["J01"].quotes == (Quote(text="two ferries a year", where="memo.md"),)
    assert verdicts["J02"].grade == 3
    assert verdicts["D01"].triggered is False
    assert verdicts["F02"].triggered is True
    assert {(verdict.judge, verdict.run) for verdict in verdicts.values()} == {("analyst-a", "1")}


def test_items_left_out_are_simply_not_there() -> None:
    assert parse_verdicts('{"verdicts": []}', RUBRIC) == ()


def test_json_lines_hold_several_judges(tmp_path: Path) -> None:
    lines = [{"item": "J01", "verdict": "fail", "absent": True, "judge": judge} for judge in ("a", "b")]
    path = tmp_path / "all.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    assert [verdict.judge for verdict in load_verdicts(path, RUBRIC)] == ["a", "b"]


def _swap(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


J01 = '"item": "J01", "verdict": "pass"'
BAD = {
    "not JSON": (_swap("[\n", "[,\n"), 1, "not JSON"),
    "cut off": (GOOD[:150], 2, "not JSON"),
    "empty": ("", 1, "the file is empty"),
    "a number": ("7", 1, "an object with the key 'verdicts'"),
    "no verdicts": ('{"judge": "a"}', 1, "'verdicts' is missing"),
    "verdicts is a mapping": ('{"verdicts": {"J01": "pass"}}', 1, "write a list of verdicts"),
    "an unknown key in the head": (_swap('"run"', '"runs"'), 1, "unknown key 'runs' (did you mean 'run'?)"),
    "another rubric": (_swap("river-ferry-dcf", "bus-dcf"), 1, "for the rubric 'bus-dcf'"),
    "a newer schema": (_swap('"schema_version": 1', '"schema_version": 2'), 1, "schema_version is 2"),
    "a judge that is no text": (_swap('"analyst-a"', "5"), 1, "judge is 5"),
    "a doubled key": (_swap('"grade": 3', '"grade": 3, "grade": 4'), 1, "'grade' stands twice"),
    "NaN": (_swap('"grade": 3', '"grade": NaN'), 1, "NaN is no JSON number"),
    "an entry that is no object": (_swap('{"item": "J02", "grade": 3}', '"J02"'), 4, 'found "J02"'),
    "no item": (_swap('"item": "J02", ', ""), 4, "'item' is missing"),
    "an unknown item": (_swap('"J02"', '"J20"'), 4, "'J20' is no item"),
    "a program item": (_swap('"J02"', '"P01"'), 4, "'P01' is no item that a judge decides"),
    "a doubled item": (_swap('"item": "D01", "triggered": false', '"item": "J02", "grade": 2'), 5, "decided twice"),
    "no verdict": (_swap(J01, '"item": "J01"'), 2, "'verdict' is missing"),
    "a null grade": (_swap('"grade": 3', '"grade": null'), 4, "'grade' is missing"),
    "an unknown verdict": (_swap(J01, '"item": "J01", "verdict": "PASS"'), 2, 'verdict is "PASS"'),
    "a grade beyond the scale": (_swap('"grade": 3', '"grade": 5'), 4, "grade is 5"),
    "a grade that is no whole number": (_swap('"grade": 3', '"grade": 2.5'), 4, "grade is 2.5"),
    "a grade that is true": (_swap('"grade": 3', '"grade": true'), 4, "grade is true"),
    "a grade for a pass-fail item": (_swap(J01, '"item": "J01", "grade": 4'), 2, "found the key 'grade'"),
    "a verdict for a graded item": (_swap('"grade": 3', '"verdict": "pass"'), 4, "found the key 'verdict'"),
    "a verdict against its own flag": (_swap(J01, J01 + ', "triggered": false'), 2, "found the key 'triggered'"),
    "a deduction passed": (_swap('"triggered": false', '"verdict": "pass"'), 5, "it is a deduction"),
    "a trigger that is a word": (_swap('"triggered": false', '"triggered": "no"'), 5, 'triggered is "no"'),
    "an unknown key": (_swap('"reason"', '"raeson"'), 2, "did you mean 'reason'?"),
    "a quote without text": (_swap('"text": "two', '"txt": "two'), 2, "quotes[0].text"),
    "a quote that is a text": (_swap('[{"text": "real rate of 4%"}]', '["real rate"]'), 6, 'quotes[0] is "real rate"'),
    "a blank quote": (_swap("two ferries a year", "  "), 2, "quote 1 is empty"),
    "a quote found by the judge": (_swap('"where": "memo.md"', '"found": "exact"'), 2, "unknown key 'found'"),
    "absent and quoted": (_swap(J01, J01.replace("pass", "fail") + ', "absent": true'), 2, "yet it quotes"),
    "absent and full marks": (_swap('"grade": 3', '"grade": 4, "absent": true'), 4, "full marks"),
    "absent in words": (_swap(J01, J01.replace("pass", "fail") + ', "absent": "yes"'), 2, 'absent is "yes"'),
    "a number of 5,000 digits": (_swap('"grade": 3', '"grade": ' + "3" * 5000), 1, "digits"),
    "half a character": (_swap("see memo", "see \\ud83d memo"), 1, "half a character"),
    "a reason that is a number": (_swap('"see memo"', "3"), 2, "reason is 3"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_gets_one_sentence_with_file_and_line(fault: str, tmp_path: Path) -> None:
    text, line, words = BAD[fault]
    path = tmp_path / "verdicts.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VerdictError) as caught:
        load_verdicts(path, RUBRIC)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert words in message
    assert "\n" not in message
    assert "pydantic" not in message
    assert caught.value.exit_code == 2


def test_the_bad_files_get_different_sentences() -> None:
    sentences = set()
    for text, _, _ in BAD.values():
        with pytest.raises(VerdictError) as caught:
            parse_verdicts(text, RUBRIC)
        sentences.add(str(caught.value).partition(": ")[2])
    assert len(sentences) >= 30


def test_errors_in_json_lines_name_their_line() -> None:
    text = '{"item": "J01", "verdict": "pass"}\n{"item": "J02"\n'
    with pytest.raises(VerdictError, match=r"all\.jsonl:2: this is not JSON"):
        parse_verdicts(text, RUBRIC, "all.jsonl", lines=True)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(VerdictError, match="cannot be read"):
        load_verdicts(tmp_path / "absent.json", RUBRIC)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(VerdictError, match="no UTF-8 text"):
        load_verdicts(tmp_path / "binary.json", RUBRIC)


PIECES = st.sampled_from(
    ["", '"', "{", "}", "[", "]", ",", ":", "null", "true", "-1", "1e999", "\\u", "J01", "\n", "\x00", "é"]
)


@given(start=st.integers(0, len(GOOD)), length=st.integers(0, 30), piece=PIECES, lines=st.booleans())
def test_a_damaged_file_is_read_or_refused_never_a_traceback(start: int, length: int, piece: str, lines: bool) -> None:
    text = GOOD[:start] + piece + GOOD[start + length :]
    with contextlib.suppress(VerdictError):
        parse_verdicts(text, RUBRIC, lines=lines)
