"""The second round of a task: what the submitter is told in it, and what that should move in the workbook."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field, model_validator

from xlcheck.cells import Frozen
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.yamltext import MisfitError, closest

_ROLES = (*SCALAR_ROLES, *SERIES_ROLES)


class Move(Frozen):
    """By how much a role's values move against the first round, the same in every period named."""

    role: str
    """A role such as ``capex`` or ``terminal_growth``."""
    factor: Annotated[Decimal, Field(gt=0)] | None = None
    """The new value is the old one times this: 1.2 for +20 %."""
    value: Decimal | None = None
    """The new value itself, in base units: a decimal rate, currency units."""
    from_year: Annotated[int, Field(ge=1900, le=2200)] | None = None
    """First calendar year that moves; None for the first forecast year. For a line over the forecast only."""
    to_year: Annotated[int, Field(ge=1900, le=2200)] | None = None
    """Last calendar year that moves; None for the last forecast year."""

    @model_validator(mode="after")
    def _consistent(self) -> Move:
        if self.role not in _ROLES:
            raise MisfitError(
                ("role",), f"{self.role!r} is no role{closest(self.role, _ROLES)}; `xlcheck roles` lists them"
            )
        if (self.factor is None) == (self.value is None):
            raise MisfitError((), "say either 'factor' (1.2 for +20 %) or 'value'")
        if self.role in SCALAR_ROLES and (self.from_year or self.to_year):
            raise MisfitError(("role",), f"{self.role} is one cell; years belong to a line over the forecast")
        if self.from_year and self.to_year and self.from_year > self.to_year:
            raise MisfitError(("to_year",), f"{self.to_year} lies before from_year {self.from_year}")
        return self


class Information(Frozen):
    """Something new that the submitter is told between the rounds."""

    text: Annotated[str, Field(min_length=1)]
    """What he is told, in words."""
    moves: Move
    """What it must move."""


class Challenge(Frozen):
    """An objection to the first answer."""

    id: str
    sound: bool
    """True where it must be accepted, with the number moved; false where it must be rejected, with evidence."""
    text: Annotated[str, Field(min_length=1)]
    """The objection, as the submitter reads it."""
    moves: Move | None = None
    """What accepting it moves: must move for a sound challenge, must not for a false one."""


class SecondRound(Frozen):
    """What a second round tells and asks, as checks see it."""

    information: tuple[Information, ...] = ()
    challenges: tuple[Challenge, ...] = ()

    def wanted(self) -> tuple[tuple[str, Move], ...]:
        """Return every move that must be made, with the words that ask for it."""
        told = [(item.text, item.moves) for item in self.information]
        return (*told, *((item.text, item.moves) for item in self.challenges if item.sound and item.moves))

    def refused(self) -> tuple[tuple[str, Move], ...]:
        """Return every move that a false challenge asks for."""
        return tuple((item.text, item.moves) for item in self.challenges if not item.sound and item.moves)
