"""Parts of a score changed by a person: the original stays on the line, the rest of the arithmetic is the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from xlcheck.errors import OverrideError
from xlcheck.overrides import Override, accepted, credit_of
from xlcheck.rubric import Rubric
from xlcheck.scoring.card import Overruled, exact
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
    if old.line.kind == "fatal":  # also the second line of an item whose check is fatal: part credit is no fatal error
        credit = Fraction(0 if credit == 0 else 1)
    line = old.line
    was = Overruled(override=override, was_low=line.credit_low, was_high=line.credit_high, was_reason=line.reason)
    told = f"{override.who}, {override.when}"
    reason = f"changed by hand from {_result(old)} to {override.result} ({told}): {override.why}"
    return part(line.model_copy(update={"overruled": was, "reason": reason}), old.weight, credit, credit)


def _result(old: Part) -> str:
    if old.low != old.high:
        return "open"
    words = ("triggered", "not triggered") if old.line.kind in ("deduction", "fatal") else ("fail", "pass")
    return dict(zip((Fraction(0), Fraction(1)), words, strict=True)).get(old.low) or f"a credit of {exact(old.low)}"
