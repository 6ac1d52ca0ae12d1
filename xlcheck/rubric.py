"""The rubric file: what is checked, what a judge decides, and what each is worth.

Scalars are read as text and weights into exact decimals, so 27.9 + 72.1 is 100. Every fault of a file is one
`RubricError` that names file, line and key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, model_validator

from xlcheck.cells import Frozen
from xlcheck.checking import Request
from xlcheck.errors import RubricError
from xlcheck.resources import bundled, bundled_names
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.rubric_items import (
    Basis,
    Deduction,
    FatalRule,
    ForecastTask,
    Id,
    JudgeItem,
    Place,
    Price,
    ProgramItem,
    Score,
    Share,
    Text,
)
from xlcheck.yamltext import Document, Location, MisfitError, closest, parse_document, read_document, validate

__all__ = [
    "Basis",
    "Deduction",
    "FatalRule",
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
]

Mode = Literal["financial_model", "research_judgement", "quantile_forecast"]


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
    on_leak: Literal["invalid", "deduct", "item"] = "invalid"
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
    forecast: ForecastTask | None = None
    """For `quantile_forecast`, and only there."""

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
        for location, sentence in _inconsistencies(self, (info.context or {}).get("known_checks")):
            raise MisfitError(location, sentence)
        return self

    @property
    def items(self) -> tuple[ProgramItem | JudgeItem, ...]:
        """Program items, then judge items."""
        return (*self.program, *self.judge)


def _inconsistencies(rubric: Rubric, known_checks: Collection[str] | None) -> Iterator[tuple[Location, str]]:
    if rubric.schema_version != 1:
        yield ("schema_version",), f"found {rubric.schema_version}; this version of xlcheck reads 1"
    yield from _repeated_ids(rubric)
    if known_checks is not None:
        yield from _unknown_checks(rubric, known_checks)
    for role in rubric.binding:
        if role not in SCALAR_ROLES and role not in SERIES_ROLES:
            known = (*SCALAR_ROLES, *SERIES_ROLES)
            yield ("binding", role), f"{role!r} is no role{closest(role, known)}; `xlcheck roles` lists them"
    yield from _bounds_faults(rubric)
    yield from _emptied_groups(rubric)
    yield from _mode_faults(rubric)
    if rubric.mode != "quantile_forecast":
        yield from _weight_faults(rubric)
    if rubric.on_leak == "deduct" and not any(deduction.leak for deduction in rubric.deductions):
        yield ("on_leak",), "'deduct' needs a deduction with 'leak: true' that says how many points"


def _repeated_ids(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    seen: dict[str, str] = {}
    lists = {
        "program": [item.id for item in rubric.program],
        "judge": [item.id for item in rubric.judge],
        "deductions": [deduction.id for deduction in rubric.deductions],
        "fatal": [rule.key for rule in rubric.fatal],
    }
    for name, keys in lists.items():
        for index, key in enumerate(keys):
            if key in seen:
                yield (name, index, "id"), f"the id {key!r} is already used by {seen[key]}; each id stands once"
            seen[key] = f"{name}[{index}]"


def _unknown_checks(rubric: Rubric, known: Collection[str]) -> Iterator[tuple[Location, str]]:
    named = [(("program", i, "check"), item.check) for i, item in enumerate(rubric.program)]
    named += [(("fatal", i, "check"), rule.check) for i, rule in enumerate(rubric.fatal) if rule.check]
    for location, check_id in named:
        if check_id not in known:
            yield location, f"{check_id!r} is no check{closest(check_id, known)}; `xlcheck checks` lists them"


def _bounds_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    told = [(("program", i), item.params) for i, item in enumerate(rubric.program)]
    told += [(("fatal", i), rule.params) for i, rule in enumerate(rubric.fatal)]
    for location, params in told:
        bounds = {name: params[name] for name in ("low", "high") if name in params}
        for name, bound in bounds.items():
            if not isinstance(bound, Decimal):
                yield (*location, "params", name), f"found {bound!r}; write a number, rates as decimals such as 0.085"
                return
        if len(bounds) == 2 and bounds["low"] > bounds["high"]:  # type: ignore[operator]
            yield (*location, "params", "low"), f"low {bounds['low']} lies above high {bounds['high']}"


def _emptied_groups(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    sizes = Counter(item.group for item in rubric.program)
    for index, item in enumerate(rubric.program):
        if item.when_absent == "skip" and (item.group is None or sizes[item.group] == 1):
            having = "has no group" if item.group is None else f"is alone in the group {item.group!r}"
            yield (
                ("program", index, "when_absent"),
                f"{item.id} {having}, so nothing could take over its weight; "
                "write 'fail', or give it a group with another item",
            )


def _mode_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    if rubric.mode == "quantile_forecast":
        yield from _forecast_faults(rubric)
        return
    if rubric.forecast is not None:
        yield ("forecast",), f"belongs to the mode quantile_forecast, and the mode is {rubric.mode}"
    if rubric.mode == "research_judgement" and rubric.program:
        yield ("program",), "the mode research_judgement has judge items only"
    if rubric.mode == "research_judgement" and rubric.fatal:
        yield ("fatal",), "the mode research_judgement knows deductions, no fatal errors"
    if not rubric.items:
        yield (), "the rubric has no items; list some under 'program' or 'judge'"


def _forecast_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    task = rubric.forecast
    if task is None:
        yield ("mode",), "quantile_forecast needs the key 'forecast' with baseline_wis, reference_wis and quantiles"
        return
    if rubric.items:
        yield ("program" if rubric.program else "judge",), "a quantile forecast is scored by its WIS alone"
    if task.reference_wis >= task.baseline_wis:
        yield (
            ("forecast", "reference_wis"),
            f"the reference ({task.reference_wis}) must lie below the baseline ({task.baseline_wis})",
        )
    levels = task.quantiles
    if list(levels) != sorted(set(levels)) or [1 - level for level in reversed(levels)] != list(levels):
        yield ("forecast", "quantiles"), "levels must rise and lie symmetrically about 0.5, such as [0.1, 0.5, 0.9]"
    elif Decimal("0.5") not in levels:
        yield ("forecast", "quantiles"), "the median 0.5 is missing"


def _weight_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    program = sum((Fraction(item.weight) for item in rubric.program), Fraction(0))
    judged = sum((Fraction(item.weight) for item in rubric.judge), Fraction(0))
    first = "program" if rubric.program else "judge"
    if program + judged != 100:
        yield (
            (first,),
            f"the weights sum to {_decimal(program + judged)} (program {_decimal(program)}, judge {_decimal(judged)}); "
            "they must sum to 100 exactly",
        )
    low, high = rubric.program_share
    if low > high:
        yield ("program_share",), f"[{low}, {high}] is no band; the lower share comes first"
    if not low * 100 <= program <= high * 100:
        yield (
            ("program_share",),
            f"the program items weigh {_decimal(program)} of 100, outside the band {low} to {high}; "
            "change the weights or state another program_share",
        )


def _decimal(value: Fraction) -> Decimal:
    return (Decimal(value.numerator) / Decimal(value.denominator)).normalize() if value else Decimal(0)


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
    """Return the SHA-256 of what a rubric says, whatever its comments, key order or line ends."""
    return hashlib.sha256(rubric.model_dump_json().encode()).hexdigest()


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
        task["price"] = rubric.price.value
    if rubric.basis is not None:
        task |= {"currency": rubric.basis.currency, "unit": rubric.basis.unit}
    return task | dict(params)


def rubric_schema() -> str:
    """Return the JSON Schema of rubric files as the text of ``rubrics/schema.json``."""
    return json.dumps(Rubric.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(rubric_schema())
