"""A person's word in place of a check or a judge: which item, what it comes to, who says so, why and when.

A YAML file::

    overrides:
      - {item: P17, result: pass, who: A. Reviewer, when: 2026-03-31, why: the associate is shown inside the flows}
      - {item: J02, result: 3, who: A. Reviewer, when: 2026-03-31, why: the register gives the page}
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, model_validator

from xlcheck.cells import Frozen
from xlcheck.errors import OverrideError
from xlcheck.rubric import Rubric
from xlcheck.yamltext import MisfitError, closest, read_document, validate

Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class Override(Frozen):
    """One result changed by a person."""

    item: str
    """Id of a program or judge item, a deduction or a fatal error."""
    result: Annotated[str, Field(json_schema_extra={"type": ["string", "number"]})]
    """``pass`` or ``fail``; for a check also a credit from 0 to 1, on the 0-4 scale a grade; ``triggered`` or
    ``not triggered`` for a deduction or a fatal error."""
    who: Words
    why: Words
    when: date


class OverrideFile(Frozen):
    """The file."""

    schema_version: Annotated[int, Field(ge=1, le=1)] = 1
    rubric: str | None = None
    """Id of the rubric; refused where it is another one."""
    overrides: tuple[Override, ...]

    @model_validator(mode="after")
    def _fits(self, info: ValidationInfo) -> OverrideFile:
        rubric: Rubric = (info.context or {})["rubric"]
        if self.rubric not in (None, rubric.id):
            raise MisfitError(("rubric",), f"the overrides are for {self.rubric!r}, not for {rubric.id!r}")
        known = accepted(rubric)
        seen: set[str] = set()
        for index, override in enumerate(self.overrides):
            place = ("overrides", index)
            if override.item not in known:
                raise MisfitError(
                    (*place, "item"), f"{override.item!r} is no item of the rubric{closest(override.item, known)}"
                )
            if override.item in seen:
                raise MisfitError((*place, "item"), f"{override.item} is changed twice; keep one")
            seen.add(override.item)
            if credit_of(override, known[override.item]) is None:
                raise MisfitError(
                    (*place, "result"), f"found {override.result!r}; {override.item} takes {known[override.item]}"
                )
        return self


_CHECK = "pass, fail or a credit from 0 to 1"
_JUDGED = "pass or fail"
_GRADED = "a whole grade from 0 to 4"
_TRIGGER = "triggered or not triggered"
_WORDS = {
    _CHECK: {"pass": 1, "fail": 0},
    _JUDGED: {"pass": 1, "fail": 0},
    _GRADED: {},
    _TRIGGER: {"triggered": 0, "not triggered": 1},
}


def accepted(rubric: Rubric) -> dict[str, str]:
    """Return what every id of a rubric may be changed to, in words."""
    kinds = {item.id: _CHECK for item in rubric.program}
    kinds |= {item.id: _GRADED if item.scale == "0-4" else _JUDGED for item in rubric.judge}
    return kinds | dict.fromkeys((*(d.id for d in rubric.deductions), *(r.key for r in rubric.fatal)), _TRIGGER)


def credit_of(override: Override, kind: str) -> Fraction | None:
    """Return the credit, 0 to 1 (0 means triggered), that an override gives; None where the result does not fit."""
    words: Mapping[str, int] = _WORDS[kind]
    if override.result in words:
        return Fraction(words[override.result])
    try:
        number = Decimal(override.result)
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    if kind == _CHECK and 0 <= number <= 1:
        return Fraction(number)
    return Fraction(number) / 4 if kind == _GRADED and number in (0, 1, 2, 3, 4) else None


def load_overrides(path: str | Path, rubric: Rubric) -> tuple[Override, ...]:
    """Read a file of overrides and hold it against the rubric; OverrideError names file, line and key."""
    document = read_document(Path(path), OverrideError)
    return validate(document, OverrideFile, OverrideError, {"rubric": rubric}).overrides
