"""Agreement of judges, spread of runs and lost points, in numbers worked out by hand and against a library."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
import sample_reports as sample
from hypothesis import assume, given
from hypothesis import strategies as st

from xlcheck import cli
from xlcheck.scoring.agreement import agreement, family_of, krippendorff_alpha
from xlcheck.scoring.card import Line
from xlcheck.verdicts import Verdict

TASK = """
schema_version: 1
id: kilns
title: DCF of an invented maker of kiln bricks
mode: financial_model
program:
  - {id: P01, check: recompute.no-error-values, weight: 30}
judge:
  - {id: J01, dimension: sources, weight: 20, pass_if: a}
  - {id: J02, dimension: sources, weight: 20, pass_if: b}
  - {id: J03, dimension: logic, weight: 15, pass_if: c}
  - {id: J04, dimension: logic, weight: 15, pass_if: d, scale: 0-4}
"""


@pytest.fixture
def run(tmp_path, capsys):
    (tmp_path / "rubric.yaml").write_text(TASK, encoding="utf-8")

    def runner(verb: str, *arguments: object):
        rubric = ["--rubric", str(tmp_path / "rubric.yaml")] if verb == "agree" else []
        code = cli.main([verb, *map(str, arguments), *rubric])
        out, err = capsys.readouterr()
        return code, out, err

    return runner


def judge(folder: Path, name: str, *decisions: object, run: str = "1") -> Path:
    """Write a verdict file on J01 to J04; None leaves an item out."""
    keys = ("verdict", "verdict", "verdict", "grade")
    verdicts = [
        {"item": f"J0{number}", key: decision}
        for number, (key, decision) in enumerate(zip(keys, decisions, strict=True), 1)
        if decision is not None
    ]
    path = folder / f"{name.replace('/', '-')}-{run}.json"
    path.write_text(json.dumps({"judge": name, "run": run, "verdicts": verdicts}), encoding="utf-8")
    return path


def test_two_judges(run, tmp_path):
    """Three of four alike: p_o = 3/4; p_e = (2·3 + 1·0 + 1·1)/16 = 7/16; κ = (12 − 7)/(16 − 7) = 5/9."""
    files = [judge(tmp_path, "ann", "pass", "pass", "fail", 3), judge(tmp_path, "bo", "pass", "pass", "pass", 3)]
    code, out, err = run("agree", *files)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "2 judges: ann/1, bo/1"
    assert "Cohen's kappa: 0.556" in out
    assert "1 item of 4 in dispute" in out
    assert "J03  open (tie)  0 % of pairs agree  ann/1 fail, bo/1 pass" in out
    assert "Warning" not in out
    data = json.loads(run("agree", *files, "--json")[1])
    assert Decimal(data["kappa"]) == Decimal("0.555556")
    assert [item["majority"] for item in data["items"]] == ["pass", "pass", None, 3]


def test_three_judges_and_a_missing_verdict(run, tmp_path):
    files = [
        judge(tmp_path, "ann", "pass", "pass", "fail", None),
        judge(tmp_path, "bo", "pass", "fail", "fail", 2),
        judge(tmp_path, "cy", "pass", "pass", "pass", 4),
    ]
    _, out, _ = run("agree", *files)
    assert "kappa" not in out
    assert "J02  majority pass  33.33 % of pairs agree" in out
    assert "J04  open (tie)     0 % of pairs agree      bo/1 2, cy/1 4" in out


def test_judges_of_one_family_and_runs_of_one_judge_are_warned_of(run, tmp_path):
    files = [
        judge(tmp_path, "openai/gpt-5", "pass", "pass", "pass", 4),
        judge(tmp_path, "gpt-4o-mini", "pass", "pass", "pass", 4),
        judge(tmp_path, "ann", "pass", "pass", "pass", 3),
        judge(tmp_path, "ann", "pass", "pass", "pass", 3, run="2"),
    ]
    _, out, _ = run("agree", *files)
    assert "Warning: gpt-4o-mini/1, openai/gpt-5/1 are of one family (OpenAI)" in out
    assert "Warning: ann/1, ann/2 are of one family (ann)" in out
    _, out, _ = run("agree", *files[:2], "--family", "gpt-4o-mini=mine")
    assert "Warning" not in out


@pytest.mark.parametrize(
    ("judge_name", "family"),
    [
        ("claude-sonnet-4", "Anthropic"),
        ("Qwen/Qwen3-32B", "Alibaba"),
        ("o3-mini", "OpenAI"),
        ("analyst-a", "analyst-a"),
        ("ollie", "ollie"),
        ("command-r", "Cohere"),
    ],
)
def test_the_family_of_a_judge_is_the_maker_of_the_model(judge_name, family):
    assert family_of(judge_name) == family


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{a}"], "agreement needs two judges; found ann/1"),
        (["{a}", "{a}"], "is decided by the judge ann, run 1 in"),
        (["{a}", "{b}", "--family", "bo"], "write it as JUDGE=NAME"),
        (["{a}", "{b}", "--second-round"], "no second round"),
        (["{a}", "absent.json"], "cannot be read"),
    ],
)
def test_unusable_arguments_get_one_sentence(arguments, words, run, tmp_path):
    files = {
        "a": judge(tmp_path, "ann", "pass", "pass", "fail", 3),
        "b": judge(tmp_path, "bo", "pass", "pass", "fail", 3),
    }
    code, out, err = run("agree", *(argument.format(**files) for argument in arguments))
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


UNITS = st.lists(st.lists(st.none() | st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=12)


@given(units=UNITS, level=st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_agrees_with_the_library(units, level):
    """`krippendorff` takes a row a judge, with NaN for a missing verdict."""
    krippendorff = pytest.importorskip("krippendorff")
    given_units = [[value for value in unit if value is not None] for unit in units]
    paired = [value for unit in given_units if len(unit) > 1 for value in unit]
    assume(len(set(paired)) > 1)
    rows = [[float("nan") if unit[row] is None else float(unit[row]) for unit in units] for row in range(3)]
    ours = krippendorff_alpha(given_units, level)
    assert float(ours) == pytest.approx(krippendorff.alpha(rows, level_of_measurement=level), abs=1e-9)


def test_alpha_of_krippendorffs_own_example():
    """Krippendorff (2011), example with nominal data, two observers, ten units: α = 0.095 (binary)."""
    first, second = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
    alpha = krippendorff_alpha(list(zip(first, second, strict=True)))
    assert round(float(alpha), 3) == 0.095
    assert alpha == 1 - Fraction(19 * 8, 2 * 14 * 6)  # 1 − (n − 1)·o01 / (n0·n1), n = 20, o01 = 4 pairs


def test_agreement_keeps_two_slashes_of_a_name():
    verdicts = [Verdict(item="J", verdict="pass", judge=name) for name in ("a/b/gpt-4", "c/claude")]
    assert agreement(verdicts).same_family == {}


# --- runs and lost points -----------------------------------------------------------------------------------------


def reports(folder: Path, *scores: int) -> list[Path]:
    """Write reports that differ in their score and in the credit of J02."""
    files = []
    for number, points in enumerate(scores):
        report = sample.capped()
        card = report.score_card

        def credit(line: Line, points: int = points) -> Line:
            won = Decimal(points > 50)
            return line if line.item != "J02" else line.model_copy(update={"credit_low": won, "credit_high": won})

        changes = {"low": Decimal(points), "high": Decimal(points), "score": Decimal(points), "status": "final"}
        changed = card.model_copy(update={**changes, "lines": tuple(map(credit, card.lines))})
        path = folder / f"run-{number}" / "report.json"
        path.parent.mkdir(parents=True)
        path.write_text(report.model_copy(update={"score_card": changed}).to_json(), encoding="utf-8")
        files.append(path)
    return files


def test_five_runs(run, tmp_path):
    """SCORING §5: 22, 23, 34, 100, 100. J02 is passed in two of five: 6 of 10 pairs of runs differ."""
    files = reports(tmp_path / "runs", 22, 23, 34, 100, 100)
    code, out, _ = run("runs", *files)
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:4] == ["5 runs with a score", "mean 55.8", "median 34", "range 22 to 100"]
    assert lines[4] == "standard deviation 40.62"  # √(6600.8 / 4)
    assert lines[-1] == "J02 60 % of pairs of runs differ"
    assert run("runs", tmp_path / "runs")[1] == out  # a folder is searched
    data = json.loads(run("runs", *files, "--json")[1])
    assert (data["mean"], data["median"], data["n"]) == ("55.8", "34", 5)


def test_a_folder_may_be_that_of_a_batch_and_second_rounds_are_no_runs(run, tmp_path):
    first, second = reports(tmp_path / "batch", 40, 60)
    (tmp_path / "batch" / "reports").mkdir()
    second.rename(tmp_path / "batch" / "reports" / "k7.json")
    (first.parent / "followup").mkdir()
    (first.parent / "followup" / "report.json").write_bytes(first.read_bytes())
    data = json.loads(run("runs", tmp_path / "batch", "--json")[1])
    assert (data["n"], data["mean"]) == (2, "50")


def test_runs_of_different_rubrics_and_audits_are_refused(run, tmp_path):
    first, second = reports(tmp_path / "runs", 22, 23)
    other = json.loads(second.read_text(encoding="utf-8"))
    second.write_text(json.dumps({**other, "rubric_sha256": "0" * 64}), encoding="utf-8")
    code, _, err = run("runs", first, second)
    assert code == 2
    assert "is graded by another rubric" in err
    second.write_text(json.dumps({**other, "score_card": None}), encoding="utf-8")
    assert "is an audit, which has no score" in run("runs", first, second)[2]
    (tmp_path / "empty").mkdir()
    assert "holds no report.json" in run("lost", tmp_path / "empty")[2]


def test_lost_points_over_a_folder_of_answers(run, tmp_path):
    reports(tmp_path / "answers", 22, 23)
    card = sample.capped().score_card
    lost = sum(line.lost for line in card.lines if line.dimension == "bridge")
    code, out, _ = run("lost", tmp_path / "answers")
    assert code == 0
    assert out.startswith("Points lost over 2 answers\n\nBy stage\n")
    assert [line.split() for line in out.splitlines() if line.startswith("  bridge")] == [["bridge", str(2 * lost)]]
    data = json.loads(run("lost", tmp_path / "answers", "--json")[1])
    assert data["answers"] == 2
    assert Decimal(data["dimension"]["bridge"]["lost"]) == 2 * lost
