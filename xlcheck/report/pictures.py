"""Pictures of the report as inline SVG, drawn from numbers alone; every text in them is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import product
from typing import NamedTuple

from xlcheck.report.language import Words, words
from xlcheck.report.studies import Bridge
from xlcheck.report.words import number, plain, width
from xlcheck.roles import Located

_CLAIMS = ("lease_liabilities", "minority_interest", "preferred_equity", "pension_deficit", "other_claims")
WIDE = 460
"""Width of a picture: each bar stands under its label, so that it can be read on a telephone too."""
_BAR = 13
_LINE = 40
_UNEXPLAINED = 0.0005
"""Share of the enterprise value below which a difference is left out of the bridge."""


class Step(NamedTuple):
    """One bar of a waterfall, in currency units."""

    name: str
    amount: float
    total: bool = False
    """True for a bar that stands on the ground: the start and the end."""
    right: float | None = None
    """The amount that belongs there, where the workbook takes another one."""


def bars(rows: Sequence[tuple[str, float, float, float]], say: Words | None = None) -> str:
    """Draw (heading, earned, open, all) in points as one bar each."""
    say = say or words()
    scale = WIDE / max(row[3] for row in rows)
    parts = []
    for at, (heading, earned, undecided, whole) in enumerate(rows):
        y = at * _LINE
        got = f"{earned:.4g}" if not undecided else f"{earned:.4g}–{earned + undecided:.4g}"
        parts.append(text(0, y + 15, heading))
        parts.append(text(WIDE, y + 15, say("earned_of", earned=got, all=f"{whole:.4g}"), "end", "strong"))
        parts.append(rect(0, y + 20, whole * scale, "track"))
        parts.append(rect(0, y + 20, earned * scale, "earned"))
        parts.append(rect(earned * scale, y + 20, undecided * scale, "undecided"))
    return svg(WIDE, _LINE * len(rows), parts)


def bridge_steps(roles: Mapping[str, Located], say: Words | None = None) -> list[Step]:
    """Return the way from enterprise to equity value by the bound roles; empty where an end is not bound.

    Signs differ between workbooks. The fullest way is taken unless another one explains the equity value.
    """
    say = say or words()
    ends = [_amount(roles, "enterprise_value"), _amount(roles, "equity_value")]
    if ends[0] is None or ends[1] is None or ends[0] == 0:
        return []
    start, end = ends[0], ends[1]
    fixed = [_step(roles, role, -1, say) for role in _CLAIMS] + [_step(roles, "investments", 1, say)]
    ways = _ways(roles, [step for step in fixed if step], say)
    allowed = _UNEXPLAINED * abs(start)
    exact = [way for way in ways if abs(start + _sum(way) - end) <= allowed]
    fullest = [way for way in ways if len(way) == max(map(len, ways))]
    best = min(exact or fullest, key=lambda way: abs(start + _sum(way) - end))
    rest = end - start - _sum(best)
    other = [Step(say("not_explained"), rest)] if abs(rest) > allowed else []
    first, last = (Step(say.role(name), value, total=True) for name, value in zip(_ENDS, (start, end), strict=True))
    return [first, *best, *other, last]


_ENDS = ("enterprise_value", "equity_value")


def steps_of(found: Bridge, say: Words) -> list[Step]:
    """Return the steps of a bridge told by the live model, with a last bar where signs had to be put right."""
    steps = [Step(say.role("enterprise_value"), found.start, total=True)]
    for item in found.items:
        steps.append(Step(say.role(item.role), item.stated, right=item.right if item.right != item.stated else None))
    steps += [Step(say("not_explained"), found.rest)] if found.rest else []
    steps.append(Step(say.role("equity_value"), found.stated, total=True))
    wrong = found.right != found.stated
    return [*steps, Step(say("right_signs"), found.right, total=True)] if wrong else steps


def _ways(roles: Mapping[str, Located], fixed: list[Step], say: Words) -> list[list[Step]]:
    net = [[step] for sign in (-1, 1) if (step := _step(roles, "net_debt", sign, say, keep=True))]
    gross = [step for step in (_step(roles, "debt", -1, say), _step(roles, "cash", 1, say)) if step]
    return [[*first, *last] for first, last in product([*net, gross, []], [fixed, []])]


def _step(roles: Mapping[str, Located], role: str, sign: int, say: Words, *, keep: bool = False) -> Step | None:
    amount = _amount(roles, role)
    return None if not amount else Step(say.role(role), sign * (amount if keep else abs(amount)))


def _amount(roles: Mapping[str, Located], role: str) -> float | None:
    located = roles.get(role)
    return located.amount if located is not None else None


def _sum(steps: Sequence[Step]) -> float:
    return sum(step.amount for step in steps)


def bridge(steps: Sequence[Step], say: Words | None = None) -> str:
    """Draw a waterfall: grounded totals, and steps between them up or down."""
    say = say or words()
    spans = _spans(steps)
    low, high = _window(spans)
    unit, suffix = _unit(max(abs(low), abs(high)), say)
    room = WIDE - 8
    scale = room / ((high - low) or 1)
    ground = 4 + (max(low, 0.0) - low) * scale
    parts = [line(ground, 18, ground, _LINE * len(steps))]
    for at, (step, span) in enumerate(zip(steps, spans, strict=True)):
        y = at * _LINE
        start, end = (max(low, value) for value in sorted(span))
        kind = "total" if step.total else "up" if step.amount >= 0 else "down"
        x, wide = 4 + (start - low) * scale, max(2.0, (end - start) * scale)
        shown = f"{_signed(step.amount / unit, step.total)}{suffix}"
        if step.right is not None:
            right = say("should_be", amount=_signed(step.right / unit, False) + suffix)
            shown += f" ≠ {right}"
            parts.append(rect(x - 3, y + 17, wide + 6, "wrong", _BAR + 6))
        parts.append(text(4, y + 15, step.name))
        parts.append(text(WIDE, y + 15, shown, "end", "strong"))
        parts.append(rect(x, y + 20, wide, kind))
        if step.total and low > 0:
            parts.append(text(14, y + 31, "≈", "middle", "deep"))
    return svg(WIDE, _LINE * len(steps), parts)


def _signed(amount: float, total: bool) -> str:
    shown = number(float(f"{amount:.5g}"))
    return shown if total or amount < 0 else f"+{shown}"


def _spans(steps: Sequence[Step]) -> list[tuple[float, float]]:
    spans, level = [], 0.0
    for step in steps:
        start = 0.0 if step.total else level
        level = start + step.amount
        spans.append((start, level))
    return spans


def _window(spans: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the shown part of the scale: where all steps are small beside the totals it does not start at zero."""
    ends = [end for _, end in spans]
    low, high = min(min(span) for span in spans), max(max(span) for span in spans)
    if low >= 0 and min(ends) > 0.6 * high:
        return max(0.0, min(ends) - 1.5 * (high - min(ends)) - 0.02 * high), high
    return low, high


def _unit(largest: float, say: Words) -> tuple[float, str]:
    for size, suffix in ((1e9, "suffix_bn"), (1e6, "suffix_m"), (1e3, "suffix_k")):
        if largest >= 10 * size:
            return size, say(suffix)
    return 1.0, ""


def cut(label: str, longest: int) -> str:
    """Return submission text on one line, no wider than that many Latin letters."""
    shown = plain(label, longest)
    while width(shown) > longest:
        shown = shown[:-2] + "…"
    return shown


def rect(x: float, y: float, wide: float, kind: str, high: float = _BAR) -> str:
    """Return a rectangle."""
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(0.0, wide):.1f}" height="{high}" rx="2"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> str:
    """Return a line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def text(x: float, y: float, said: str, anchor: str = "start", kind: str = "label") -> str:
    """Return a text, escaped."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def svg(wide: float, high: float, parts: Sequence[str]) -> str:
    """Return the picture."""
    return f'<svg viewBox="0 0 {wide:g} {high:g}" role="img" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
