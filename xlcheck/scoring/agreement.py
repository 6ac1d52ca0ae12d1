"""How far several judges agree: per item, Cohen's κ for two, Krippendorff's α for more (Krippendorff 2011).

Both are computed here in rationals: κ = (p_o − p_e)/(1 − p_e); α = 1 − D_o/D_e over the coincidences of values within
items, with missing verdicts allowed. They are a few sums, need no extra, and give the same digits everywhere; tests
hold them against the library `krippendorff`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations
from typing import Literal

from pydantic import Field

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.scoring.card import exact
from xlcheck.verdicts import Verdict

Level = Literal["nominal", "ordinal", "interval"]
Value = str | int


class ItemAgreement(Frozen):
    """What the judges said of one item."""

    item: str
    values: dict[str, Value]
    """Judge to decision."""
    agreement: Decimal | None
    """Share of judge pairs that agree; None with fewer than two verdicts."""
    majority: Value | None
    """What more than half of the judges say; None for a tie, which leaves the item open."""


class Agreement(Frozen):
    """How far judges agree over all items."""

    judges: tuple[str, ...]
    items: tuple[ItemAgreement, ...]
    kappa: Decimal | None
    """Cohen's κ of exactly two judges over the items both decided; None if undefined."""
    alpha: Decimal | None
    """Krippendorff's α (nominal) over all judges; None if undefined."""
    same_family: dict[str, tuple[str, ...]] = Field(default={})
    """Family of models or people to its judges, where it has more than one: their agreement is weak evidence."""


_FAMILIES = {
    "OpenAI": r"gpt|chatgpt|o[134](?:-|$)|davinci",
    "Anthropic": r"claude",
    "Google": r"gemini|gemma|palm",
    "Meta": r"llama|codellama",
    "Alibaba": r"qwen|qwq|tongyi",
    "DeepSeek": r"deepseek",
    "Mistral": r"mistral|mixtral|ministral|magistral|codestral",
    "xAI": r"grok",
    "Zhipu": r"glm|chatglm",
    "Moonshot": r"kimi|moonshot",
    "Baidu": r"ernie",
    "ByteDance": r"doubao|seed",
    "Tencent": r"hunyuan",
    "MiniMax": r"minimax|abab",
    "Microsoft": r"phi(?:-|$)",
    "Cohere": r"command",
}
"""Maker of models to how their names begin, after the name of a provider (``provider/model``)."""


def family_of(judge: str) -> str:
    """Return the maker of the model that a judge is by its name; any other judge is a family of its own."""
    model = judge.rpartition("/")[2].lower()
    return next((family for family, names in _FAMILIES.items() if re.match(names, model)), judge)


def agreement(verdicts: Iterable[Verdict], families: Mapping[str, str] | None = None) -> Agreement:
    """Compare judges (judge and run name one); UsageError where a judge is not named or only one is there.

    `families` tells the family of judges whose name does not (`family_of`).
    """
    table: dict[str, dict[str, Value]] = {}
    kin: dict[str, str] = {}
    for verdict in verdicts:
        judge = "/".join(part for part in (verdict.judge, verdict.run) if part)
        if not judge:
            raise UsageError(f"the verdict on {verdict.item} names no judge; agreement is between named judges")
        table.setdefault(verdict.item, {})[judge] = decision_of(verdict)
        kin[judge] = (families or {}).get(verdict.judge) or family_of(verdict.judge)
    judges = tuple(sorted(kin))
    if len(judges) < 2:
        raise UsageError(f"agreement needs two judges; found {', '.join(judges) or 'none'}")
    related = {family: tuple(judge for judge in judges if kin[judge] == family) for family in sorted(set(kin.values()))}
    pairs = [(values[judges[0]], values[judges[1]]) for values in table.values() if len(values) == len(judges) == 2]
    return Agreement(
        judges=judges,
        items=tuple(_item(item, values) for item, values in table.items()),
        kappa=_shown(cohen_kappa(pairs)) if pairs else None,
        alpha=_shown(krippendorff_alpha([list(values.values()) for values in table.values()])),
        same_family={family: members for family, members in related.items() if len(members) > 1},
    )


def decision_of(verdict: Verdict) -> Value:
    """Return the decision itself: ``pass``, ``fail``, a grade, ``triggered`` or ``not triggered``."""
    if verdict.grade is not None:
        return verdict.grade
    if verdict.triggered is not None:
        return "triggered" if verdict.triggered else "not triggered"
    return verdict.verdict or ""


def _item(item: str, values: Mapping[str, Value]) -> ItemAgreement:
    pairs = list(combinations(values.values(), 2))
    same = Fraction(sum(first == second for first, second in pairs), len(pairs)) if pairs else None
    return ItemAgreement(
        item=item, values=dict(values), agreement=_shown(same), majority=majority(list(values.values()))
    )


def majority(values: Sequence[Value]) -> Value | None:
    """Return what more than half say, or None: a tie stays open, never a coin."""
    for value, count in Counter(values).most_common(1):
        return value if 2 * count > len(values) else None
    return None


def cohen_kappa(pairs: Sequence[tuple[Value, Value]]) -> Fraction | None:
    """Return Cohen's κ of two judges' decisions on the same items; None where both always say the same one thing."""
    if not pairs:
        raise UsageError("Cohen's kappa needs at least one item that both judges decided")
    size = len(pairs)
    observed = Fraction(sum(first == second for first, second in pairs), size)
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    expected = sum((Fraction(firsts[value] * seconds[value], size * size) for value in firsts), Fraction(0))
    return None if expected == 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(units: Sequence[Sequence[Value]], level: Level = "nominal") -> Fraction | None:
    """Return Krippendorff's α; each unit lists the values it was given, missing ones left out.

    None where it is undefined: no unit with two values, or only one value in all.
    """
    coincidences: Counter[tuple[Value, Value]] = Counter()
    weights: dict[tuple[Value, Value], Fraction] = {}
    for unit in units:
        if len(unit) > 1:
            coincidences = Counter(permutations(unit, 2))
            for pair, count in coincidences.items():
                weights[pair] = weights.get(pair, Fraction(0)) + Fraction(count, len(unit) - 1)
    totals: dict[Value, Fraction] = {}
    for (value, _), weight in weights.items():
        totals[value] = totals.get(value, Fraction(0)) + weight
    whole = sum(totals.values(), Fraction(0))
    if len(totals) < 2:
        return None
    observed = sum((weight * _distance(pair, totals, level) for pair, weight in weights.items()), Fraction(0))
    expected = sum(
        (totals[one] * totals[two] * _distance((one, two), totals, level) for one, two in permutations(totals, 2)),
        Fraction(0),
    )
    return 1 - (whole - 1) * observed / expected


def _distance(pair: tuple[Value, Value], totals: Mapping[Value, Fraction], level: Level) -> Fraction:
    one, two = pair
    if level == "nominal":
        return Fraction(one != two)
    if isinstance(one, str) or isinstance(two, str):
        raise UsageError(f"the {level} Krippendorff's alpha needs grades; found {pair!r}")
    if level == "interval":
        return Fraction((one - two) ** 2)
    low, high = sorted((one, two))
    between = sum(
        (n for value, n in totals.items() if not isinstance(value, str) and low <= value <= high), Fraction(0)
    )
    return (between - (totals[one] + totals[two]) / 2) ** 2


def _shown(value: Fraction | None) -> Decimal | None:
    return None if value is None else _signed(value)


def _signed(value: Fraction) -> Decimal:
    return exact(value) if value >= 0 else -exact(-value)
