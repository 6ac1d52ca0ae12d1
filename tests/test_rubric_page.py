"""The page on rubrics names every key, and its examples are valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from xlcheck.calibrate import Answer, CalibrationFile
from xlcheck.errors import UsageError
from xlcheck.followup import Challenge, Information, Move
from xlcheck.rubric import (
    Basis,
    Deduction,
    EvidenceRule,
    FatalRule,
    FollowUp,
    ForecastTask,
    JudgeItem,
    Price,
    ProgramItem,
    Rubric,
    parse_rubric,
)
from xlcheck.verdicts import Quote, Verdict, parse_verdicts
from xlcheck.yamltext import parse_document, validate

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "rubrics.md").read_text(encoding="utf-8")
EXAMPLES = {kind: re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("yaml", "json")}
MODELS = [
    Rubric, Basis, Price, ProgramItem, JudgeItem, Deduction, FatalRule, ForecastTask, Verdict, Quote, Answer,
    CalibrationFile, EvidenceRule,
]  # fmt: skip


def missing_keys(model: type[BaseModel], page: str) -> list[str]:
    return [
        name
        for name in model.model_fields
        if not re.search(rf"`{name}`|\b{name}: |\"{name}\": |^ *{name}:$", page, re.MULTILINE)
        and (model, name) not in ((Quote, "found"), (JudgeItem, "challenge"))
    ]


@pytest.mark.parametrize("model", MODELS)
def test_every_key_is_named_on_the_page(model: type[BaseModel]) -> None:
    assert missing_keys(model, PAGE) == []


@pytest.mark.parametrize("model", [FollowUp, Information, Challenge, Move])
def test_every_key_of_the_second_round_is_named_on_its_page(model: type[BaseModel]) -> None:
    page = (DOCS / "followup.md").read_text(encoding="utf-8")
    assert missing_keys(model, page) == []
    assert "challenge: " in page
    rubric = parse_rubric(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0], "followup.yaml")
    assert rubric.followup is not None


def test_the_example_rubric_and_its_verdicts_are_valid() -> None:
    rubric = parse_rubric(EXAMPLES["yaml"][0], "example.yaml")
    verdicts = parse_verdicts(EXAMPLES["json"][0], rubric)
    assert [verdict.item for verdict in verdicts] == ["J01", "D01", "F01"]


def test_the_example_calibration_is_valid() -> None:
    document = parse_document(EXAMPLES["yaml"][1], "calibration.yaml", UsageError)
    assert len(validate(document, CalibrationFile, UsageError).answers) == 5
