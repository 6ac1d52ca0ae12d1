"""The page on rubrics names every key, and its examples are valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from xlcheck.calibrate import Answer, CalibrationFile
from xlcheck.errors import UsageError
from xlcheck.rubric import (
    Basis,
    Deduction,
    FatalRule,
    ForecastTask,
    JudgeItem,
    Price,
    ProgramItem,
    Rubric,
    parse_rubric,
)
from xlcheck.verdicts import Quote, Verdict, parse_verdicts
from xlcheck.yamltext import parse_document, validate

PAGE = (Path(__file__).parents[1] / "docs" / "rubrics.md").read_text(encoding="utf-8")
EXAMPLES = {kind: re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("yaml", "json")}
MODELS = [
    Rubric, Basis, Price, ProgramItem, JudgeItem, Deduction, FatalRule, ForecastTask, Verdict, Quote, Answer,
    CalibrationFile,
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_every_key_is_named_on_the_page(model: type[BaseModel]) -> None:
    missing = [
        name
        for name in model.model_fields
        if not re.search(rf"`{name}`|\b{name}: |\"{name}\": |^{name}:$", PAGE, re.MULTILINE)
        and (model, name) != (Quote, "found")
    ]
    assert missing == []


def test_the_example_rubric_and_its_verdicts_are_valid() -> None:
    rubric = parse_rubric(EXAMPLES["yaml"][0], "example.yaml")
    verdicts = parse_verdicts(EXAMPLES["json"][0], rubric)
    assert [verdict.item for verdict in verdicts] == ["J01", "D01", "F01"]


def test_the_example_calibration_is_valid() -> None:
    document = parse_document(EXAMPLES["yaml"][1], "calibration.yaml", UsageError)
    assert len(validate(document, CalibrationFile, UsageError).answers) == 5
