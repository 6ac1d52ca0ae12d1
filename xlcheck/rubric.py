"""The rubric file: what is checked, what a judge decides, and what each is worth.

Scalars are read as text and weights into exact decimals, so 27.9 + 72.1 is 100. Every fault of a file is one
`RubricError` that names file, line and key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, model_validator

from xlcheck.cells import Frozen
from xlcheck.checking import Request
from xlcheck.errors import RubricError
from xlcheck.modeldocs import described_schema
from xlcheck.resources import bundled, bundled_names
from xlcheck.rubric_faults import inconsistencies, questions_weighted, second_round
from xlcheck.rubric_items import (
    Basis,
    Deduction,
    FatalRule,
    Id,
    JudgeItem,
    Place,
    Price,
    ProgramItem,
    Score,
    Share,
    Text,
)
from xlcheck.rubric_sections import EvidenceRule, FileName, FollowUp, ForecastTask
from xlcheck.yamltext import Document, MisfitError, closest, parse_document, read_document, validate

__all__ = [
    "Basis",
    "Deduction",
    "EvidenceRule",
    "FatalRule",
    "FollowUp",
    "ForecastTask",
    "JudgeItem",
    "Mode",
    "Price",
    "ProgramItem",
    "Rubric",
    "fingerprint",
    "load_rubric",
    "parse_rubric",
    "requests",
    "rubric_path",
    "rubric_schema",
    "second_round",
]

Mode = Literal["financial_model", "research_judgement", "quantile_forecast", "outcome"]


class Rubric(Frozen):
    """A task's rubric."""

    schema_version: int
    """1 for this version."""
    id: Id
    title: Text
    mode: Mode
    basis: Basis | None = None
    cutoff: date | None = None
    """Evidence published later is a leak."""
    on_leak: Literal["invalid", "deduct", "item", "fatal"] = "invalid"
    """What such a leak does: no total at all, a deduction, the loss of the items that look for it, or the cap."""
    evidence: EvidenceRule | None = None
    """What an answer may rest on."""
    valuation_date: date | None = None
    program_share: tuple[Share, Share] = (Decimal("0.25"), Decimal("0.35"))
    """Lowest and highest share of the points that checks may decide; [1, 1] where there are no judge items."""
    price: Price | None = None
    cap_on_fatal: Score = Decimal(40)
    """The most points an answer with a fatal error can have."""
    binding: dict[str, Place] = Field(default={})
    """Role name to cell or range, where the task prescribes its layout."""
    program: tuple[ProgramItem, ...] = ()
    """Items that checks decide."""
    judge: tuple[JudgeItem, ...] = ()
    """Items that a judge decides."""
    deductions: tuple[Deduction, ...] = ()
    """What takes points off."""
    fatal: tuple[FatalRule, ...] = ()
    """What caps the total."""
    open_scores: Literal["low", "high"] | None = None
    """The end of the interval that stands in for a provisional score; None for neither."""
    ungradable_scores: Score | None = None
    """The total of a submission that cannot be opened; None for no total."""
    submission: str | None = None
    """File-name pattern that picks the workbook from a folder with several, such as ``*model*.xlsx``."""
    count_consequences: bool = False
    """True charges also what fails only because of another finding."""
    unverified_quote: Literal["open", "fail", "accept"] = "open"
    """What becomes of a decision whose required quote was not found."""
    followup: FollowUp | None = None
    """The second round of a financial model."""
    actuals: FileName | None = None
    """File of what came true later (``actuals.yaml``), held by the grader; nobody who answers or judges sees it."""
    forecast: ForecastTask | None = None
    """For `quantile_forecast`, and only there."""
    questions: dict[Id, Text] = Field(default={})
    """Question id to question; for `outcome`, and only there."""

    @model_validator(mode="before")
    @classmethod
    def _weights_of_questions(cls, data: object) -> object:
        return questions_weighted(data) if isinstance(data, dict) and data.get("mode") == "outcome" else data

    @model_validator(mode="before")
    @classmethod
    def _share_of_checks_only(cls, data: object) -> object:
        if isinstance(data, dict) and "program_share" not in data:
            if data.get("mode") != "financial_model":
                return data | {"program_share": ("0", "0")}
            if data.get("program") and not data.get("judge"):
                return data | {"program_share": ("1", "1")}
        return data

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> Rubric:
        for location, sentence in inconsistencies(self, (info.context or {}).get("known_checks")):
            raise MisfitError(location, sentence)
        return self

    @property
    def items(self) -> tuple[ProgramItem | JudgeItem, ...]:
        """Program items, then judge items."""
        return (*self.program, *self.judge)


def load_rubric(source: str | Path, known_checks: Collection[str] | None = None) -> Rubric:
    """Load a bundled rubric by id, or a file by path (anything with a folder or ``.yaml``/``.yml`` is a path).

    With `known_checks` (the ids of `checking.CHECKS`) every check named must be one of them.
    Raises RubricError, one sentence with file, line and key.
    """
    path = rubric_path(source)
    document = read_document(path, RubricError)
    return _from_document(document, known_checks)


def parse_rubric(text: str, source: str = "rubric.yaml", known_checks: Collection[str] | None = None) -> Rubric:
    """Read a rubric from YAML text; raises RubricError as `load_rubric` does."""
    return _from_document(parse_document(text, source, RubricError), known_checks)


def _from_document(document: Document, known_checks: Collection[str] | None) -> Rubric:
    return validate(document, Rubric, RubricError, {"known_checks": known_checks})


def rubric_path(source: str | Path) -> Path:
    """Return the file of a rubric; RubricError naming the bundled ids where there is none."""
    name = str(source)
    if isinstance(source, Path) or re.search(r"[/\\]|\.ya?ml$", name):
        if not Path(source).is_file():
            raise RubricError(f"{name}: there is no such rubric file; give a YAML file or {_bundled_ids()}")
        return Path(source)
    found = bundled("rubrics", f"{name}.yaml")
    if found is not None:
        return found
    raise RubricError(f"no bundled rubric {name!r}{closest(name, bundled_names('rubrics'))}; give {_bundled_ids()}")


def _bundled_ids() -> str:
    return f"a bundled id ({', '.join(bundled_names('rubrics')) or 'none are bundled'})"


def fingerprint(rubric: Rubric) -> str:
    """Return the SHA-256 of what a rubric says, whatever its comments, key order, line ends or stated defaults."""
    return hashlib.sha256(rubric.model_dump_json(exclude_defaults=True).encode()).hexdigest()


def requests(rubric: Rubric) -> tuple[Request, ...]:
    """Return the checks to run for a rubric: program items, then the fatal rules that are checks."""
    wanted = [Request(item.check, _told(item.params, rubric), item.id, item.severity) for item in rubric.program]
    wanted += [
        Request(rule.check, _told(rule.params, rubric), rule.key, "fatal") for rule in rubric.fatal if rule.check
    ]
    return tuple(wanted)


def _told(params: Mapping[str, Decimal | bool | str], rubric: Rubric) -> dict[str, Decimal | str | bool]:
    task: dict[str, Decimal | str | bool] = {}
    if rubric.price is not None:
        task |= {"price": rubric.price.value, "price_tolerance": rubric.price.tolerance}
    if rubric.basis is not None:
        task |= {"currency": rubric.basis.currency, "unit": rubric.basis.unit}
    return task | dict(params)


def rubric_schema() -> str:
    """Return the JSON Schema of rubric files as the text of ``rubrics/schema.json``."""
    return json.dumps(described_schema(Rubric), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(rubric_schema())
