"""The scorer for Inspect AI, in evals with a mock model and the local sandbox."""

import json
import math
from decimal import Decimal
from itertools import chain, repeat
from pathlib import Path

import pytest
import sample_reports as sample
from planted import clean_model

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai import Task  # noqa: E402 - only where it is installed
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.solver import Generate, TaskState, generate, solver, use_tools  # noqa: E402
from inspect_ai.tool import bash  # noqa: E402
from inspect_ai.util import sandbox  # noqa: E402

from xlcheck.errors import UsageError  # noqa: E402
from xlcheck.inspect_scorer import score_of, xlcheck_scorer  # noqa: E402
from xlcheck.scoring.model import ungradable_card  # noqa: E402

pytestmark = [  # of Inspect itself: what it is built on, and streams that it leaves open
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CHECKS_ONLY = """\
schema_version: 1
id: kiln-model
title: The model of a kiln maker
mode: financial_model
program_share: [1, 1]
program:
  - {id: P01, check: bridge.signs, weight: 60}
  - {id: P02, check: bridge.per-share, weight: 40}
"""
WITH_JUDGE = """\
schema_version: 1
id: kiln-memo
title: Model and memo of a kiln maker
mode: financial_model
program:
  - {id: P01, check: bridge.signs, weight: 30}
judge:
  - {id: J01, dimension: thesis, weight: 70, pass_if: "output is argued"}
"""


@pytest.fixture
def rubric(tmp_path):
    """Return a function from the text of a rubric to the path of its file."""

    def write(text):
        path = tmp_path / "rubric.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="module")
def workbooks(tmp_path_factory):
    """A sound model, and one that adds its debt."""
    folder = tmp_path_factory.mktemp("kilns")
    sound = clean_model()
    flawed = clean_model()
    flawed.set("equity_value", "={enterprise_value}+{cash}+{debt}-{minority_interest}+{investments}")
    return {"sound": sound.save(folder / "sound.xlsx"), "flawed": flawed.save(folder / "flawed.xlsx")}


@solver
def hand_in(files):
    """Put files into the sandbox, as an agent would; `files` is sample id to (name there, path here)."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        for name, path in files[state.sample_id]:
            await sandbox().write_file(name, Path(path).read_bytes())
        return state

    return solve


def mock_model(*first):
    """A model that gives these outputs, then says it is done; with their usage stated it needs no tokeniser."""
    done = ModelOutput.from_content("mockllm/model", "Done.")
    outputs = (output.model_copy(update={"usage": ModelUsage()}) for output in chain(first, repeat(done)))
    return get_model("mockllm/model", custom_outputs=outputs)


def evaluate(task, model, tmp_path):
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path / "logs"), display="none", log_format="json")
    assert log.status == "success", log.error
    return log, {entry.id: entry.scores["xlcheck_scorer"] for entry in log.samples}


def run(files, scorer, tmp_path):
    """Run an eval with a sample per id of `files` and return its log, and sample id to score."""
    task = Task(
        dataset=[Sample(id=name, input="Value the kiln maker.", target="") for name in files],
        solver=[hand_in(files), generate()],
        scorer=scorer,
        sandbox="local",
    )
    return evaluate(task, mock_model(), tmp_path)


@pytest.mark.slow
def test_workbooks_of_the_sandbox_are_graded(workbooks, rubric, tmp_path):
    files = {
        "good": [("model.xlsx", str(workbooks["sound"]))],
        "bad": [("model.xlsx", str(workbooks["flawed"]))],
        "none": [],
        "broken": [("model.xlsx", __file__)],
    }
    log, scores = run(files, xlcheck_scorer(rubric(CHECKS_ONLY)), tmp_path)
    assert scores["good"].value == 1.0
    assert scores["bad"].value == 0.4
    assert "bridge.signs" in scores["bad"].explanation
    (lost,) = scores["bad"].metadata["lost"]
    assert (lost["item"], lost["lost"]) == ("P01", "60")
    assert (scores["none"].value, scores["none"].reason) == (0.0, "no_response")
    assert "sandbox: the folder holds no workbook" in scores["none"].explanation
    assert math.isnan(scores["broken"].value)
    assert scores["broken"].reason == "invalid_response_format"
    (result,) = log.results.scores
    assert (result.scored_samples, result.unscored_samples) == (3, 1)
    assert result.metrics["mean"].value == pytest.approx((1 + 0.4 + 0) / 3)


@pytest.mark.slow
def test_what_a_judge_has_not_decided_stays_unscored(workbooks, rubric, tmp_path):
    verdicts = tmp_path / "verdicts"
    verdicts.mkdir()
    (verdicts / "judged.json").write_text(
        json.dumps({"verdicts": [{"item": "J01", "verdict": "fail", "absent": True}]}), encoding="utf-8"
    )
    content = [("work/model.xlsx", str(workbooks["sound"])), ("memo.md", __file__)]
    scorer = xlcheck_scorer(
        rubric(WITH_JUDGE), workbook="work/model.xlsx", memos=["memo.md", "absent.md"], verdicts=str(verdicts)
    )
    _, scores = run({"judged": content, "open": content}, scorer, tmp_path)
    assert scores["judged"].value == 0.3
    assert math.isnan(scores["open"].value)
    assert scores["open"].reason == "provisional"
    assert (scores["open"].metadata["low"], scores["open"].metadata["high"]) == ("30", "100")
    assert scores["open"].metadata["open_items"] == ["J01"]


@pytest.mark.slow
def test_an_agent_that_writes_its_workbook_with_a_tool_is_graded(workbooks, rubric, tmp_path):
    """The mock model calls bash to copy a workbook to where the task wants it."""
    copy = ModelOutput.for_tool_call("mockllm/model", "bash", {"command": f"cp {workbooks['sound']} answer.xlsx"})
    task = Task(
        dataset=[Sample(id="agent", input="Value the kiln maker.", target="")],
        solver=[use_tools(bash()), generate()],
        scorer=xlcheck_scorer(rubric(CHECKS_ONLY), workbook="answer.xlsx"),
        sandbox="local",
    )
    _, scores = evaluate(task, mock_model(copy), tmp_path)
    assert scores["agent"].value == 1.0


def test_a_rubric_that_is_none_is_refused_before_any_sample():
    with pytest.raises(UsageError, match="no such rubric"):
        xlcheck_scorer("nowhere.yaml")


def test_a_rubric_with_an_unknown_check_is_refused_before_any_sample(rubric):
    with pytest.raises(UsageError, match=r"bridge\.sings"):
        xlcheck_scorer(rubric(CHECKS_ONLY.replace("bridge.signs", "bridge.sings")))


@pytest.mark.parametrize(("make", "value"), [(sample.good, 0.7), (sample.capped, 0.4)])
def test_a_final_score_is_a_share_of_the_points(make, value):
    assert score_of(make()).value == value


def test_a_score_says_what_cost_points():
    score = score_of(sample.capped(), "kilns.xlsx")
    assert score.answer == "kilns.xlsx"
    assert "Score 40 of 100" in score.explanation
    assert score.metadata["fatal"] == ["fatal.share-count"]
    assert [line["item"] for line in score.metadata["lost"]] == ["P01", "fatal.share-count"]
    assert Decimal(score.metadata["uncapped"]) == 88


@pytest.mark.parametrize("status", ["provisional", "ungradable"])
def test_what_has_no_single_score_is_unscored(status):
    card = ungradable_card(sample.RUBRIC, "encrypted") if status == "ungradable" else None
    report = sample.provisional() if card is None else sample.good().model_copy(update={"score_card": card})
    score = score_of(report)
    assert math.isnan(score.value)
    assert score.metadata["status"] == status


def test_a_rubric_may_say_which_end_counts():
    report = sample.provisional()
    card = report.score_card.model_copy(update={"score": report.score_card.low})
    assert score_of(report.model_copy(update={"score_card": card})).value == 0.52
