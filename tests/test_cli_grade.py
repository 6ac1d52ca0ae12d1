"""Grading from the command line: special submissions, gates, files written, and the same bytes twice."""

import json
from pathlib import Path

import pytest
from openpyxl import Workbook
from planted import clean_model, plant

from xlcheck import cli

TASK = """
schema_version: 1
id: kilns
title: DCF of an invented maker of kiln bricks
mode: financial_model
program:
  - {id: P01, check: recompute.no-error-values, weight: 10}
  - {id: P02, check: bridge.equity-identity, weight: 20}
judge:
  - {id: J01, dimension: sources, weight: 70, pass_if: Each assumption has a dated source}
"""


@pytest.fixture
def run(capsys):
    def runner(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return runner


@pytest.fixture
def task(tmp_path):
    """A folder with rubric and verdicts; the answer lies beside it."""
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "rubric.yaml").write_text(TASK, encoding="utf-8")
    (folder / "pass.json").write_text('{"verdicts": [{"item": "J01", "verdict": "pass"}]}', encoding="utf-8")
    (folder / "fail.json").write_text('{"verdicts": [{"item": "J01", "verdict": "fail"}]}', encoding="utf-8")
    return folder


@pytest.fixture
def grade(run, task, tmp_path):
    """Grade a submission by the task; the report goes to tmp_path/out."""

    def runner(submission, *more, verdicts="pass.json"):
        said = ["--verdicts", task / verdicts] if verdicts else []
        out = tmp_path / "out"
        code, text, err = run("grade", submission, "--rubric", task / "rubric.yaml", "--out", out, *said, *more)
        report = out / "report.json"
        return code, text, err, json.loads(report.read_text(encoding="utf-8")) if report.exists() else None

    return runner


@pytest.fixture
def answer(tmp_path):
    folder = tmp_path / "answer"
    folder.mkdir()
    clean_model().save(folder / "kilns.xlsx")
    (folder / "memo.md").write_text("Kilns last for forty years.", encoding="utf-8")
    return folder


def test_all_points(grade, answer):
    code, text, err, report = grade(answer)
    assert (code, err) == (0, "")
    assert "Score 100 of 100 (final)" in text
    card = report["score_card"]
    assert (card["low"], card["high"], card["program"], card["judged"]) == ("100", "100", "30", "70")
    assert report["workbook"] == "kilns.xlsx"
    assert Path(text.split("Report: ")[1].strip()).name == "report.html"


def test_a_fault_costs_its_item_and_names_its_cell(grade, answer):
    model, cell = plant("debt_added")
    model.save(answer / "kilns.xlsx")
    code, text, _, report = grade(answer)
    assert code == 0
    assert report["score_card"]["low"] == "80"
    assert "P02  -20" in text
    assert cell in text


def test_without_verdicts_the_score_is_an_interval(grade, answer):
    code, _, _, report = grade(answer, verdicts=None)
    assert (code, report["score_card"]["status"]) == (0, "provisional")
    assert (report["score_card"]["low"], report["score_card"]["high"]) == ("30", "100")
    assert grade(answer, "--strict", verdicts=None)[0] == 4


@pytest.mark.parametrize(("least", "code"), [("30", 0), ("30.01", 1), ("100", 1)])
def test_gate(grade, answer, least, code):
    assert grade(answer, "--min-score", least, verdicts="fail.json")[0] == code


def test_same_inputs_same_bytes(run, task, answer, tmp_path):
    outs = [tmp_path / "one", tmp_path / "two"]
    for out in outs:
        run("grade", answer, "--rubric", task / "rubric.yaml", "--verdicts", task / "pass.json", "--out", out)
    for name in ("report.json", "report.html"):
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()


def test_json_on_standard_output_is_the_report_file(grade, answer, tmp_path):
    text = grade(answer, "--json")[1]
    assert text == (tmp_path / "out" / "report.json").read_text(encoding="utf-8")


def test_the_submission_is_not_touched(grade, answer):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in answer.iterdir()}
    grade(answer)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in answer.iterdir()} == before


# -- special submissions ---------------------------------------------------------------------------------------------


def test_path_that_does_not_exist_is_an_error_of_the_call(grade, tmp_path):
    code, _, err, report = grade(tmp_path / "nowhere")
    assert (code, report) == (2, None)
    assert "no such file or folder" in err


def test_empty_folder_scores_nothing(grade, tmp_path):
    (tmp_path / "empty").mkdir()
    code, text, _, report = grade(tmp_path / "empty")
    assert code == 0
    assert (report["score_card"]["low"], report["score_card"]["status"]) == ("0", "final")
    assert "no workbook" in report["score_card"]["reason"]
    assert "Score 0 of 100 (final)" in text


def test_folder_with_a_memo_only_scores_nothing(grade, answer):
    (answer / "kilns.xlsx").unlink()
    assert grade(answer)[3]["score_card"]["high"] == "0"


def test_workbook_without_any_content_scores_nothing(grade, tmp_path):
    Workbook().save(tmp_path / "blank.xlsx")
    code, _, _, report = grade(tmp_path / "blank.xlsx")
    assert (code, report["score_card"]["high"], report["score_card"]["status"]) == (0, "0", "final")
    assert "blank.xlsx has no cell content" in report["score_card"]["reason"]


def test_several_workbooks_are_ungradable_and_named(grade, answer):
    clean_model().save(answer / "older.xlsx")
    code, text, _, report = grade(answer)
    assert (code, report["score_card"]["status"], report["score_card"]["low"]) == (3, "ungradable", None)
    assert "kilns.xlsx, older.xlsx" in report["score_card"]["reason"]
    assert "No score: ungradable" in text


def test_pattern_of_the_rubric_chooses_among_several(grade, task, answer):
    clean_model().save(answer / "older.xlsx")
    (task / "rubric.yaml").write_text(TASK + "submission: kiln*\n", encoding="utf-8")
    assert grade(answer)[3]["score_card"]["low"] == "100"


def test_file_that_cannot_be_opened_is_ungradable(grade, tmp_path):
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 and nothing more")
    code, _, _, report = grade(tmp_path / "broken.xlsx")
    assert (code, report["score_card"]["status"], report["workbook"]) == (3, "ungradable", None)
    assert report["score_card"]["reason"].startswith("broken.xlsx: ")


# -- what the grader got wrong ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [('{"verdicts": [{"item": "J99", "verdict": "pass"}]}', "J99"), ("{", "verdicts.json")],
)
def test_bad_verdicts_exit_2_without_a_report(grade, task, answer, verdicts, says):
    (task / "verdicts.json").write_text(verdicts, encoding="utf-8")
    code, _, err, report = grade(answer, verdicts="verdicts.json")
    assert (code, report) == (2, None)
    assert says in err


def test_out_folder_with_another_report_json_is_kept(grade, answer, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.json").write_text("{}", encoding="utf-8")
    code, _, err, report = grade(answer)
    assert (code, report) == (2, {})
    assert "choose another folder with --out" in err


# -- the bundled task ------------------------------------------------------------------------------------------------


def test_demo_ends_by_naming_the_report(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text, err = run("demo")
    assert (code, err) == (0, "")
    scores = [line for line in text.splitlines() if line.startswith("Score ")]
    assert len(scores) == 2
    assert float(scores[0].split()[1]) >= 95
    assert float(scores[1].split()[1]) <= 85
    named = Path(text.splitlines()[-1].split(": ")[-1])
    assert named.name == "report.html"
    assert named.is_file()


def test_calibrate_holds_every_band(run):
    code, text, err = run("calibrate", "sic-epitaxy-dcf")
    assert (code, err) == (0, "")
    assert "BROKEN" not in text
    assert "reference" in text


def test_a_workbook_about_something_else_has_no_full_marks_under_a_rubric_that_skips_what_is_absent(tmp_path, capsys):
    from raw_package import parts_of, write

    write(tmp_path / "notes.xlsx", parts_of('<row r="1"><c r="A1"><v>1</v></c></row>'))
    code = cli.main(
        ["grade", str(tmp_path / "notes.xlsx"), "--rubric", "generic-dcf", "--out", str(tmp_path), "--json"]
    )
    card = json.loads(capsys.readouterr().out)["score_card"]
    assert (code, card["status"], card["score"]) == (3, "ungradable", None)
    assert "no cell of a valuation was found" in card["reason"]
