"""Verdict files at the command line: thirty faults, and forty quotes held against real files of five kinds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from memo_files import pdf
from openpyxl import Workbook
from openpyxl.comments import Comment
from test_verdicts import BAD

from xlcheck import cli
from xlcheck.pipeline import grade, study
from xlcheck.quotes import memo_passages, verify, workbook_passages
from xlcheck.scoring.card import lost_points
from xlcheck.verdicts import Quote, Verdict

TASK = """\
schema_version: 1
id: river-ferry-dcf
title: DCF of a river ferry operator
mode: financial_model
program:
  - {id: P01, check: recompute.no-error-values, weight: 30, stage: verification, dimension: integrity}
judge:
  - {id: J01, dimension: assumptions, stage: assumption, weight: 40, pass_if: "fleet growth is argued", quote: required}
  - {id: J02, dimension: clarity, weight: 30, pass_if: "clear", scale: 0-4}
deductions:
  - {id: D01, points: 5, when: "a source is invented"}
fatal:
  - {id: F02, judge: "nominal flows discounted at a real rate"}
"""


def ferry() -> Workbook:
    book = Workbook()
    sheet = book.active
    sheet.title = "DCF"
    sheet.append(["WACC", 0.0973])
    sheet.append(["Value of the fleet", "=1250*1.5"])
    sheet.append(["Balance date", 46112])
    sheet.append(["Net debt", -310])
    sheet["B1"].number_format, sheet["B2"].number_format = "0.00%", "#,##0.0"
    sheet["B3"].number_format, sheet["B4"].number_format = "yyyy-mm-dd", "#,##0;(#,##0)"
    sheet["B4"].comment = Comment("Leases are left out, see note 12", "x")
    return book


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    """A folder with a workbook whose stored values are missing, and memos of four kinds."""
    docx = pytest.importorskip("docx")
    pytest.importorskip("pypdf")
    folder = tmp_path / "answer"
    folder.mkdir()
    ferry().save(folder / "ferry.xlsx")
    (folder / "memo.md").write_text(
        "Fleet capex of **1,250** thousand in 2026, then “steady” growth – at 2.5% a year.\n", encoding="utf-8"
    )
    (folder / "note.txt").write_bytes(
        "毛利率提高至３５.5％，资本开支为12.5亿元。管理层预计“稳健增长”。".encode("gb18030")
    )
    document = docx.Document()
    document.add_paragraph("Ticket prices follow the consumer price index; the northern berth opens in 2028.")
    cells = document.add_table(rows=1, cols=2).rows[0].cells
    cells[0].text, cells[1].text = "Terminal growth", "2.0 %"
    document.save(str(folder / "annex.docx"))
    (folder / "deck.pdf").write_bytes(pdf(["Passengers rise to 4,120,000 by 2031 as the north-", "ern berth opens."]))
    return folder


REAL = [
    "Fleet capex of 1,250 thousand in 2026",
    "Fleet capex of 1250 thousand",
    "capex of 1’250 thousand",
    'then "steady" growth',
    "growth - at 2.5 % a year",
    "毛利率提高至35.5%",
    "资本开支为１２．５亿元",
    "管理层预计「稳健增长」",
    "Ticket prices follow the consumer price index",
    "the northern berth opens in 2028.",
    "Terminal growth 2.0%",
    "Passengers rise to 4120000 by 2031",
    "as the northern berth opens",
    "Passengers rise to 4 120 000",
    "WACC 9.73%",
    "Value of the fleet 1,875.0",
    "=1250*1.5",
    "31.03.2026",
    "Net debt (310)",
    "Leases are left out",
]
ALTERED = [
    "Fleet capex of 1,260 thousand in 2026",
    "Fleet capex of 1,250 thousand in 2027",
    'then "stable" growth',
    "毛利率提高至36.5%",
    "资本开支为12.5万元",
    "Ticket prices follow the producer price index",
    "Passengers rise to 4,120,000 by 2032",
    "WACC 9.37%",
    "Value of the fleet 1,250.0",
    "Net debt 310",
]
INVENTED = [
    "an independent valuer confirms the fleet",
    "management guides to a margin of 18%",
    "公司预计出口翻倍",
    "per the annual report, page 41",
    "the regulator has agreed",
    "WACC 8.11%",
    "churn falls",
    "Leases are left out of the flows",
    "2026-04-30",
    "=1250*1.6",
]


def graded(answer: Path, *verdicts: dict[str, object], switch: str = "open"):
    rubric, file = answer.parent / "rubric.yaml", answer.parent / "verdicts.json"
    rubric.write_text(TASK + f"unverified_quote: {switch}\n", encoding="utf-8")
    file.write_text(json.dumps({"verdicts": list(verdicts)}), encoding="utf-8")
    return grade(answer, rubric, file).score_card


def test_twenty_real_quotes_are_verified_and_twenty_others_refused(answer):
    quotes = [{"text": text} for text in (*REAL, *ALTERED, *INVENTED)]
    card = graded(answer, {"item": "J01", "verdict": "pass", "quotes": quotes})
    line = next(line for line in card.lines if line.item == "J01")
    found = {quote.text: quote.found for quote in line.quotes}
    assert len(REAL) == 20
    assert len(ALTERED) == len(INVENTED) == 10
    assert [text for text in REAL if found[text] not in ("exact", "normalised")] == []
    assert [text for text in (*ALTERED, *INVENTED) if found[text] != "not_found"] == []


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("A1: WACC | B1: 9.73%", True),
        ("A2: Value of the fleet | B2: 1875.0", True),
        ("B4: (310)", True),
        ("A1: WACC | B1: 9.37%", False),
        ("A2: WACC", False),
        ("B2: (310)", False),
        ("Q1: Terminal growth", False),
        ("A1: WACC | B2: 1,875.0", False),
    ],
)
def test_a_row_may_be_copied_from_the_packet_with_its_addresses(text, there, answer):
    card = graded(answer, {"item": "J01", "verdict": "pass", "quotes": [{"text": text}]})
    line = next(line for line in card.lines if line.item == "J01")
    assert (line.quotes[0].found != "not_found") == there


def test_every_quote_of_the_reference_is_verified_and_no_change_of_one_digit_is():
    folder = Path(__file__).parents[1] / "fixtures" / "sic-epitaxy-dcf" / "reference"
    paper = study(folder / "model.xlsx", memos=[folder / "memo.md"])
    handed_in = workbook_passages(paper.book, paper.recalc) + memo_passages(paper.memos)
    verdicts = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))["verdicts"]
    real = [quote["text"] for verdict in verdicts for quote in verdict.get("quotes", ())]
    real += [line for line in paper.memos[0].texts[0].splitlines() if len(line) > 40 and re.search(r"\d", line)]
    real += [row for row in handed_in.rows if re.search(r": [0-9]", row)][::4]
    altered = [
        text[: digit.start()] + str((int(digit[0]) + 1) % 10) + text[digit.end() :]
        for text in real
        for digit in re.finditer(r"[0-9]", text)
    ]
    found = [verify([Verdict(item="J", quotes=[Quote(text=text) for text in texts])], handed_in)[0].quotes
             for texts in (real, altered)]  # fmt: skip
    assert len(real) > 100
    assert [quote.text for quote in found[0] if quote.found == "not_found"] == []
    assert len(altered) > 1000
    assert [quote.text for quote in found[1] if quote.found != "not_found"] == []


@pytest.mark.parametrize(
    ("switch", "status", "low", "high"),
    [("open", "provisional", 0, 40), ("fail", "final", 0, 0), ("accept", "final", 40, 40)],
)
def test_the_rubric_says_what_becomes_of_a_quote_that_is_not_there(switch, status, low, high, answer):
    others = [{"item": "J02", "grade": 0}, {"item": "D01", "triggered": False}, {"item": "F02", "triggered": False}]
    decided = {"item": "J01", "verdict": "pass", "quotes": [{"text": INVENTED[0]}]}
    card = graded(answer, decided, *others, switch=switch)
    assert (card.status, card.low, card.high) == (status, low, high)
    line = next(line for line in card.lines if line.item == "J01")
    assert "'an independent valuer confirms the fleet' was not found in what was handed in" in line.reason


def test_a_fail_for_something_absent_needs_no_quote(answer):
    card = graded(answer, {"item": "J01", "verdict": "fail", "absent": True})
    assert "J01" not in card.open_items
    assert "J01" in graded(answer, {"item": "J01", "verdict": "fail"}).open_items


def test_lost_points_are_totalled_over_one_answer_and_over_several(answer):
    one = graded(answer, {"item": "J01", "verdict": "fail", "absent": True}, {"item": "J02", "grade": 3})
    lost = lost_points([one], "dimension")
    assert {name: row.lost for name, row in lost.items()} == {
        "assumptions": 40,
        "clarity": 7.5,
        "integrity": 30,  # the check has no headline result to look at
        "(none)": 0,
    }
    assert lost["(none)"].at_stake == 5  # the deduction is open
    both = lost_points([one, one], "stage")
    assert {name: row.lost for name, row in both.items()} == {"assumption": 80, "verification": 60, "(none)": 15}


@pytest.fixture(scope="module")
def ferry_task(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    ferry().save(folder / "ferry.xlsx")
    text = TASK.replace("fatal:\n", "fatal:\n  - {check: fatal.growth-not-below-wacc}\n")
    (folder / "rubric.yaml").write_text(text, encoding="utf-8")
    return folder


SENTENCES: dict[str, str] = {}
OF_THE_FILE = {"not JSON", "cut off", "empty", "a number", "no verdicts", "verdicts is a mapping", "a newer schema",
               "an unknown key in the head", "another rubric", "a judge that is no text", "a doubled key", "NaN",
               "an entry that is no object", "no item", "a number of 5,000 digits", "half a character"}  # fmt: skip
"""Faults that are not of one item."""


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_verdict_file_ends_grading_with_one_sentence_and_no_score(fault, ferry_task, capsys):
    text, line, words = BAD[fault]
    file = ferry_task / "verdicts.json"
    file.write_text(text, encoding="utf-8")
    told = ["--rubric", str(ferry_task / "rubric.yaml"), "--verdicts", str(file), "--out", str(ferry_task / "out")]
    assert cli.main(["grade", str(ferry_task / "ferry.xlsx"), *told]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"xlcheck: {file}:{line}: ")
    assert err.count("\n") == 1
    assert words in err
    assert fault in OF_THE_FILE or re.search(r"\b(?:J01|J02|J20|P01|D01|F02)\b", err)
    assert not (ferry_task / "out").exists()
    sentence = err.partition(f":{line}: ")[2]
    assert sentence not in SENTENCES.values()
    SENTENCES[fault] = sentence


def test_there_are_at_least_thirty_of_them():
    assert len(BAD) >= 30
