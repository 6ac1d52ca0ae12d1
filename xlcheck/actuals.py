"""What came true after a forecast: a file that the grader holds and that no submitter and no judge sees.

``actuals.yaml``::

    schema_version: 1
    actuals:
      - {role: revenue, year: 2026, value: 3120000000, published: 2027-03-19, source: Annual report 2026}

Values are in base units (currency units, decimal rates), signs as in the forecast's own line.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.roles.vocabulary import SERIES_ROLES
from xlcheck.yamltext import MisfitError, closest, read_document, validate


class Actual(Frozen):
    """One figure that became known after the cutoff."""

    role: str
    """A line over the forecast, such as ``revenue``."""
    year: Annotated[int, Field(ge=1900, le=2200)]
    """Calendar year as the forecast heads it."""
    value: float
    """In base units."""
    published: date
    """The day it became known; later than the cutoff, else it was no forecast."""
    source: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def _of_a_line(self) -> Actual:
        if self.role not in SERIES_ROLES:
            raise MisfitError(
                ("role",), f"{self.role!r} is no line over the forecast{closest(self.role, SERIES_ROLES)}"
            )
        return self


class ActualsFile(Frozen):
    """The content of ``actuals.yaml``."""

    schema_version: int
    """1 for this version."""
    actuals: Annotated[tuple[Actual, ...], Field(min_length=1)]


def load_actuals(path: Path, cutoff: date | None) -> tuple[Actual, ...]:
    """Read a file of actuals; UsageError for one that is not valid, or holds what was known by the cutoff."""
    document = read_document(path, UsageError)
    found = validate(document, ActualsFile, UsageError)
    if found.schema_version != 1:
        raise UsageError(f"{path}: schema_version is {found.schema_version}; this version of xlcheck reads 1")
    for index, actual in enumerate(found.actuals):
        if cutoff is not None and actual.published <= cutoff:
            line = document.line(("actuals", index, "published"))
            raise UsageError(
                f"{path}:{line}: actuals[{index}].published: {actual.published} is not later than the cutoff {cutoff}; "
                "a figure that was known is no test of a forecast"
            )
    return found.actuals
