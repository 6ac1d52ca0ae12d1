"""Grading without a model, through the command: judgement, quantile forecasts, outcomes over questions; leaks."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck import cli, grade
from xlcheck.errors import UsageError
from xlcheck.rubric import load_rubric, parse_rubric
from xlcheck.scoring.forecast import wis
from xlcheck.tabular import read_table

FIXTURES = Path(__file__).parents[1] / "fixtures"
TRAM, FERRY, HARBOUR = (
    FIXTURES / name for name in ("tram-ridership-forecast", "ferry-berth-judgement", "harbour-questions")
)


@pytest.fixture
def run(tmp_path, capsys):
    """Grade with the command; return the exit code, the score card and what went to standard error."""

    def graded(submission: Path, rubric: str | Path, *options: str):
        out = ["--out", str(tmp_path / "out"), "--json", *options]
        code = cli.main(["grade", str(submission), "--rubric", str(rubric), *out])
        printed = capsys.readouterr()
        return code, json.loads(printed.out).get("score_card"), printed.err

    return graded


# -- quantile forecasts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "points"), [("naive.csv", 0), ("modelled.csv", 100)])
def test_baseline_and_reference_mark_the_ends(answer, points, run):
    code, card, _ = run(TRAM / answer, "tram-ridership-forecast")
    assert (code, card["status"]) == (0, "final")
    assert Decimal(card["score"]) == pytest.approx(points, abs=1e-4)


@pytest.mark.parametrize("answer", ["weekly.csv", "weekly.parquet"])
def test_a_forecast_is_scored_by_its_wis(answer):
    """The figure of the library scoringrules, from the file as another program reads it."""
    import pandas as pd
    import scoringrules as sr

    rows = pd.read_csv(TRAM / "weekly.csv").merge(pd.read_csv(TRAM / "outcomes.csv"), on="day", suffixes=("", "_seen"))
    mean = 2 * float(sr.quantile_score(rows["value_seen"], rows["value"], rows["level"]).mean())
    report = grade(TRAM / answer, "tram-ridership-forecast")
    assert float(report.forecast.wis) == pytest.approx(mean, abs=1e-6)
    assert report.forecast.days == 56
    task = load_rubric("tram-ridership-forecast").forecast
    expected = 100 * (float(task.baseline_wis) - mean) / (float(task.baseline_wis - task.reference_wis))
    assert float(report.score_card.score) == pytest.approx(expected, abs=1e-4)


def test_the_rubrics_wis_figures_are_those_of_scoringrules(monkeypatch):
    monkeypatch.syspath_prepend(FIXTURES / "build")
    import tram_forecast as build

    task = load_rubric("tram-ridership-forecast").forecast
    assert float(task.baseline_wis) == pytest.approx(build.mean_wis(list(build.rows(build.naive))), abs=1.1e-6)
    assert float(task.reference_wis) == pytest.approx(build.mean_wis(list(build.rows(build.modelled))), abs=1.1e-6)


@given(st.lists(st.integers(-1000, 1000), min_size=5, max_size=5).map(sorted), st.integers(-1500, 1500))
def test_wis_agrees_with_the_interval_scores_of_scoringrules(values, observed):
    """Built from its interval scores: its own weighted sum (0.10) takes the median itself for the distance to it."""
    import scoringrules as sr

    levels = ("0.05", "0.25", "0.5", "0.75", "0.95")
    ours = wis({Decimal(level): Decimal(value) for level, value in zip(levels, values, strict=True)}, observed)
    low, lower, median, upper, high = map(float, values)
    ninety, fifty = (sr.interval_score(float(observed), *ends) for ends in ((low, high, 0.1), (lower, upper, 0.5)))
    theirs = (0.5 * abs(observed - median) + 0.05 * float(ninety) + 0.25 * float(fifty)) / 2.5
    assert float(ours) == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def test_amounts_that_were_not_known_yet_make_the_run_invalid(run):
    code, card, _ = run(TRAM / "peeking.csv", "tram-ridership-forecast")
    assert (code, card["status"], card["score"], card["low"]) == (3, "invalid", None, None)
    assert "the forecast for 2026-03-02 rests on amounts of 2026-03-01, later than 2026-02-28" in card["reason"]


BAD_FORECASTS = {
    "a value is missing": ("2026-03-02,1,0.5,84.4,", "2026-03-02,1,0.5,,", "value is ''; a finite number"),
    "NaN": ("2026-03-02,1,0.5,84.4,", "2026-03-02,1,0.5,nan,", "value is 'nan'"),
    "quantiles cross": ("2026-03-02,1,0.5,84.4,", "2026-03-02,1,0.5,184.4,", "cross"),
    "a level is missing": ("2026-03-02,1,0.5,84.4,", "2026-03-02,1,0.55,84.4,", "asked for 0.05, 0.25, 0.5"),
    "a level stands twice": ("2026-03-02,1,0.5,84.4,", "2026-03-02,1,0.25,84.4,", "0.25 for 2026-03-02 stands there"),
    "no date": ("2026-03-02,1,0.5,", "2.3.2026,1,0.5,", "day is '2.3.2026'"),
    "no time stamp": (",2026-02-28,2026-03-01T06:00:00", ",,2026-03-01T06:00:00", "data_until is ''"),
    "made too late": ("2026-03-01T06:00:00", "2026-03-02T06:00:00", "which is not 1 days ahead of 2026-03-02"),
    "made from the future": (",2026-02-28,2026-03-01T06", ",2026-02-28,2026-02-27T06", "one of the two stamps"),
    "another horizon": ("2026-03-02,1,0.5,", "2026-03-02,one,0.5,", "horizon is 'one'"),
    "a column is missing": ("day,horizon,level", "day,horizon,quantile", "the column 'level' is missing"),
    "a row is short": ("2026-03-02,1,0.5,84.4,2026-02-28,2026-03-01T06:00:00", "2026-03-02,1,0.5", "fewer cells"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD_FORECASTS)
def test_a_faulty_forecast_is_ungradable_and_says_where(fault, tmp_path, run):
    old, new, words = BAD_FORECASTS[fault]
    good = (TRAM / "weekly.csv").read_text(encoding="utf-8")
    row = next(line for line in good.splitlines() if line.startswith("2026-03-02,1,0.5,"))
    good = good.replace(row, "2026-03-02,1,0.5,84.4,2026-02-28,2026-03-01T06:00:00")
    assert old in good
    (tmp_path / "f.csv").write_text(good.replace(old, new, 1), encoding="utf-8")
    code, card, _ = run(tmp_path / "f.csv", "tram-ridership-forecast")
    assert (code, card["status"], card["score"]) == (3, "ungradable", None)
    assert words in card["reason"]
    assert card["reason"].startswith("f.csv")


def test_a_missing_day_is_named(tmp_path, run):
    lines = (TRAM / "weekly.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "f.csv").write_text("\n".join(line for line in lines if not line.startswith("2026-03-09,5")))
    code, card, _ = run(tmp_path / "f.csv", "tram-ridership-forecast")
    assert (code, card["status"]) == (3, "ungradable")
    assert "the forecast for 2026-03-09, 5 days ahead, is missing" in card["reason"]


def test_a_folder_with_one_table_is_a_submission(tmp_path, run):
    (tmp_path / "answer").mkdir()
    (tmp_path / "answer" / "f.csv").write_bytes((TRAM / "weekly.csv").read_bytes())
    assert run(tmp_path / "answer", "tram-ridership-forecast")[1]["status"] == "final"
    (tmp_path / "answer" / "g.csv").write_bytes((TRAM / "weekly.csv").read_bytes())
    assert "found f.csv, g.csv" in run(tmp_path / "answer", "tram-ridership-forecast")[1]["reason"]


def test_the_lag_is_the_rubrics(tmp_path, run):
    text = (FIXTURES.parent / "rubrics" / "tram-ridership-forecast.yaml").read_text(encoding="utf-8")
    (tmp_path / "r.yaml").write_text(text.replace("lag_days: 2", "lag_days: 1"), encoding="utf-8")
    (tmp_path / "outcomes.csv").write_bytes((TRAM / "outcomes.csv").read_bytes())
    assert run(TRAM / "peeking.csv", tmp_path / "r.yaml")[1]["status"] == "final"


def test_outcomes_that_the_grader_lacks_are_his_error(tmp_path):
    text = (FIXTURES.parent / "rubrics" / "tram-ridership-forecast.yaml").read_text(encoding="utf-8")
    (tmp_path / "r.yaml").write_text(text.replace("outcomes: outcomes.csv", "outcomes: others.csv"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"names others\.csv, which is not in"):
        grade(TRAM / "weekly.csv", tmp_path / "r.yaml")


def test_a_damaged_parquet_file_is_ungradable(tmp_path, run):
    (tmp_path / "f.parquet").write_bytes(b"PAR1 and nothing more")
    code, card, _ = run(tmp_path / "f.parquet", "tram-ridership-forecast")
    assert (code, card["status"]) == (3, "ungradable")
    assert "no sound Parquet file" in card["reason"]


def test_parquet_and_csv_hold_the_same_table():
    columns = ("day", "horizon", "level", "value", "data_until")
    first, second = (read_table(TRAM / name, columns, UsageError) for name in ("weekly.csv", "weekly.parquet"))
    as_numbers = [
        [
            (row.cells["day"], row.cells["horizon"], float(row.cells["level"]), float(row.cells["value"]))
            for row in table
        ]
        for table in (first, second)
    ]
    assert as_numbers[0] == as_numbers[1]


# -- judgement -------------------------------------------------------------------------------------------------------


def ferry(answer: str) -> list[str]:
    return ["--verdicts", str(FERRY / answer / "verdicts.json")]


def test_a_judgement_is_scored_from_a_folder_or_a_lone_memo(run):
    for submission in (FERRY / "reference", FERRY / "reference" / "memo.md"):
        code, card, _ = run(submission, "ferry-berth-judgement", *ferry("reference"))
        assert (code, card["status"], card["score"]) == (0, "final", "100")


def test_a_source_later_than_the_cutoff_makes_the_run_invalid_not_zero(run):
    code, card, _ = run(FERRY / "late", "ferry-berth-judgement", *ferry("late"))
    assert (code, card["status"], card["score"], card["headline"]) == (3, "invalid", None, None)
    assert card["reason"] == "memo.md cites F04, published on 2026-04-22, after the cutoff 2026-03-31"


def test_a_leak_costs_what_the_rubric_says(tmp_path, run):
    """The late answer is judged 100 otherwise: as a deduction of 30 points it has 70, as an item of a judge 100."""
    text = (FIXTURES.parent / "rubrics" / "ferry-berth-judgement.yaml").read_text(encoding="utf-8")
    deducted = text.replace("on_leak: invalid", "on_leak: deduct").replace(
        "deductions:\n", "deductions:\n  - {id: X00, points: 30, when: Later evidence was used., leak: true}\n"
    )
    for name, body in (("deduct", deducted), ("item", text.replace("on_leak: invalid", "on_leak: item"))):
        (tmp_path / f"{name}.yaml").write_text(body.replace("pack: pack.yaml", "closed: true"), encoding="utf-8")
    options = [*ferry("late"), "--evidence", str(FERRY / "pack.yaml")]
    verdicts = json.loads((FERRY / "late" / "verdicts.json").read_text(encoding="utf-8"))
    (tmp_path / "v.json").write_text(json.dumps(verdicts | {"rubric": "ferry-berth-judgement"}), encoding="utf-8")
    assert run(FERRY / "late", tmp_path / "deduct.yaml", *options)[1]["score"] == "70"
    assert run(FERRY / "late", tmp_path / "item.yaml", *options)[1]["score"] == "100"


def test_an_audit_that_saw_the_live_web_voids_the_run(run):
    code, card, _ = run(FERRY / "reference", "ferry-berth-judgement", *ferry("reference"), "--live-web-used")
    assert (code, card["status"], card["score"]) == (3, "invalid", None)
    assert card["reason"] == "an audit says that the live web was used"


def test_an_empty_answer_scores_nothing(tmp_path, run):
    (tmp_path / "answer").mkdir()
    code, card, _ = run(tmp_path / "answer", "ferry-berth-judgement", *ferry("reference"))
    assert (code, card["status"], card["score"]) == (0, "final", "0")


def test_options_of_a_model_are_refused_in_other_modes(run, capsys):
    code, card, err = run(FERRY / "reference", "ferry-berth-judgement", "--followup", str(FERRY / "late"))
    assert (code, card) == (2, None)
    assert "has the mode research_judgement, which takes no followup" in err


def test_a_log_needs_a_pack(tmp_path):
    (tmp_path / "reads.txt").write_text("F01\n", encoding="utf-8")
    with pytest.raises(UsageError, match="there is no evidence pack"):
        grade(TRAM / "weekly.csv", "tram-ridership-forecast", reads=tmp_path / "reads.txt")


# -- outcome ---------------------------------------------------------------------------------------------------------


def test_questions_weigh_the_same_whatever_their_number_of_items(run):
    """4 of 4, then 0 of 12, then 4 of 8: (1 + 0 + ½) / 3, where the mean over items would be 8/24."""
    report = grade(HARBOUR / "scores.csv", "harbour-questions")
    assert (report.outcome.outcome, report.score_card.score) == (Decimal("0.5"), 50)
    assert report.outcome.by_question == {"berths": 1, "tariff": 0, "volume": Decimal("0.5")}
    assert (report.outcome.pre, report.outcome.post) == (Decimal("0.25"), Decimal("0.5"))


def test_verdicts_and_a_table_of_the_same_scores_agree(run):
    table = run(HARBOUR / "scores.csv", "harbour-questions")
    judged = run(HARBOUR / "answers", "harbour-questions", "--verdicts", str(HARBOUR / "answers" / "verdicts.json"))
    assert (judged[0], judged[1]["score"]) == (table[0], table[1]["score"]) == (0, "50")


def test_a_quote_that_is_not_there_leaves_no_outcome(tmp_path, run):
    text = (FIXTURES.parent / "rubrics" / "harbour-questions.yaml").read_text(encoding="utf-8")
    (tmp_path / "r.yaml").write_text(text.replace("id: berths.answer,", "id: berths.answer, quote: required,"))
    verdicts = json.loads((HARBOUR / "answers" / "verdicts.json").read_text(encoding="utf-8"))
    options = ("--verdicts", str(tmp_path / "v.json"))
    (tmp_path / "v.json").write_text(json.dumps(verdicts), encoding="utf-8")
    card = run(HARBOUR / "answers", tmp_path / "r.yaml", *options)[1]
    assert card["score"] == "50"
    assert [(quote["text"], quote["found"]) for quote in card["lines"][0]["quotes"]] == [
        ("no, with a probability of 10 %", "exact")
    ]
    verdicts["verdicts"][0]["quotes"] = [{"text": "no, with a probability of 11 %"}]
    (tmp_path / "v.json").write_text(json.dumps(verdicts), encoding="utf-8")
    code, _, err = run(HARBOUR / "answers", tmp_path / "r.yaml", *options)
    assert code == 2
    assert "item berths.answer: the quote 'no, with a probability of 11 %' was not found" in err


def test_one_leaking_run_makes_the_whole_outcome_invalid(run):
    code, card, _ = run(HARBOUR / "leaking.csv", "harbour-questions")
    assert (code, card["status"], card["score"]) == (3, "invalid", None)
    assert card["reason"] == "evidence later than the cutoff was used in tariff"


BAD_SCORES = {
    "an item is missing": ("tariff,tariff.cause,0,false\n", "", "the score of item tariff.cause is missing"),
    "a score is no grade": ("volume.level,2,", "volume.level,2.5,", "scores.csv:6: the score of volume.level is '2.5'"),
    "a score is too high": ("volume.level,2,", "volume.level,5,", "found 5; write a whole number from 0 to 4"),
    "an item stands twice": ("volume.method,2", "volume.level,2", "the item volume.level of volume stands there twice"),
    "a question is unknown": ("berths,berths", "piers,berths", "'piers' is no question of the set"),
    "a leak is a guess": ("berths.answer,4,false", "berths.answer,4,perhaps", "leaked is 'perhaps'"),
}


@pytest.mark.parametrize("fault", BAD_SCORES)
def test_a_faulty_table_of_scores_is_an_error_of_the_call(fault, tmp_path, run):
    old, new, words = BAD_SCORES[fault]
    good = (HARBOUR / "scores.csv").read_text(encoding="utf-8")
    assert old in good
    (tmp_path / "scores.csv").write_text(good.replace(old, new, 1), encoding="utf-8")
    code, card, err = run(tmp_path / "scores.csv", "harbour-questions")
    assert (code, card) == (2, None)
    assert words in err


def test_an_item_without_a_verdict_is_an_error_that_names_it(tmp_path, run):
    verdicts = json.loads((HARBOUR / "answers" / "verdicts.json").read_text(encoding="utf-8"))
    verdicts["verdicts"] = [one for one in verdicts["verdicts"] if one["item"] != "tariff.level"]
    (tmp_path / "v.json").write_text(json.dumps(verdicts), encoding="utf-8")
    code, _, err = run(HARBOUR / "answers", "harbour-questions", "--verdicts", str(tmp_path / "v.json"))
    assert code == 2
    assert "question tariff: the score of item tariff.level is missing" in err


# -- a leak in a model -----------------------------------------------------------------------------------------------

MODEL = """\
schema_version: 1
id: t
title: T
mode: financial_model
cutoff: 2026-03-27
on_leak: {on_leak}
program:
  - {{id: P1, check: register.dated-before-cutoff, weight: 20}}
  - {{id: P2, check: bridge.equity-identity, weight: 80}}
"""


@pytest.mark.parametrize(
    ("on_leak", "status", "score"), [("invalid", "invalid", None), ("item", "final", 80), ("fatal", "final", 40)]
)
def test_a_register_later_than_the_cutoff_is_a_leak(on_leak, status, score, tmp_path):
    """The reference register has sources of up to 24 March and judgements of 28 March; one row is moved to April."""
    import openpyxl

    book = openpyxl.load_workbook(FIXTURES / "sic-epitaxy-dcf" / "reference" / "model.xlsx")
    row = next(cell.row for cell in book["Register"]["B"] if cell.value == "Current share price")
    book["Register"].cell(row, 6).value = date(2026, 4, 2)
    book.save(tmp_path / "model.xlsx")
    (tmp_path / "r.yaml").write_text(MODEL.format(on_leak=on_leak), encoding="utf-8")
    card = grade(tmp_path / "model.xlsx", tmp_path / "r.yaml").score_card
    assert (card.status, card.score) == (status, score)
    if on_leak == "fatal":
        assert card.fatal == ("leak",)
    assert f"Register!F{row}" in (card.reason or "".join(line.message or "" for line in card.lines))


def test_a_fatal_leak_belongs_to_a_model():
    text = "schema_version: 1\nid: t\ntitle: T\nmode: research_judgement\non_leak: fatal\njudge:\n"
    with pytest.raises(UsageError, match="'fatal' belongs to the mode financial_model"):
        parse_rubric(text + '  - {id: J1, dimension: d, weight: 100, pass_if: "x"}\n')


def test_an_audit_by_a_rubric_with_a_cutoff_looks_at_dates():
    from xlcheck import audit

    model = FIXTURES / "sic-epitaxy-dcf" / "reference" / "model.xlsx"
    for rubric, status in (("sic-epitaxy-dcf", "pass"), ("generic-dcf", "not_applicable")):
        found = {result.check_id: result.status for result in audit(model, rubric).results}
        assert found["register.dated-before-cutoff"] == status
        assert found["followup.flows-through"] == found["actuals.within"] == "not_applicable"


def test_the_live_web_voids_an_empty_answer_too(tmp_path, run):
    (tmp_path / "answer").mkdir()
    code, card, _ = run(tmp_path / "answer", "sic-epitaxy-dcf", "--live-web-used")
    assert (code, card["status"], card["score"]) == (3, "invalid", None)


@pytest.mark.parametrize("folder", [TRAM, FERRY, HARBOUR], ids=lambda folder: folder.name)
def test_the_answers_of_known_quality_score_in_their_bands(folder):
    from xlcheck.calibrate import calibrate

    assert [(row.name, row.reason) for row in calibrate(folder).rows if not row.holds] == []


def test_a_packet_of_an_outcome_asks_its_questions(capsys):
    assert cli.main(["packet", str(HARBOUR / "answers"), "--rubric", "harbour-questions"]) == 0
    assert "Will the harbour open its second berth before October 2026?" in capsys.readouterr().out
