"""Parts of a score changed by a person: the original stays on the line, the rest of the arithmetic is the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from xlcheck.errors import OverrideError
from xlcheck.overrides import Override, accepted, credit_of
from xlcheck.rubric import Rubric
from xlcheck.scoring.card import Overruled
from xlcheck.scoring.parts import Part, part


def overruled(rubric: Rubric, parts: Iterable[Part], overrides: Sequence[Override]) -> list[Part]:
    """Return the parts with those changed that a person decided otherwise."""
    given = {override.item: override for override in overrides}
    kinds = accepted(rubric)
    return [
        _changed(one, given[one.line.item], kinds[one.line.item]) if one.line.item in given else one for one in parts
    ]


def _changed(old: Part, override: Override, kind: str) -> Part:
    credit = credit_of(override, kind)
    if credit is None:
        raise OverrideError(f"{override.item}: found {override.result!r}; it takes {kind}")
    if (
        old.line.kind == "fatal"
    ):  # a failed check of severity fatal is also a line of this kind; part credit is no fatal
        credit = Fraction(0 if credit == 0 else 1)
    was = Overruled(
        override=override, was_low=old.line.credit_low, was_high=old.line.credit_high, was_reason=old.line.reason
    )
    reason = f"changed by hand to {override.result} ({override.who}, {override.when}): {override.why}"
    return part(old.line.model_copy(update={"overruled": was, "reason": reason}), old.weight, credit, credit)
