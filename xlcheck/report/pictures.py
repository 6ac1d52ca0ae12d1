"""Pictures of the report as inline SVG, drawn from numbers alone; every text in them is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import product
from typing import NamedTuple

from xlcheck.report.words import number, width
from xlcheck.roles import Located

_CLAIMS = ("lease_liabilities", "minority_interest", "preferred_equity", "pension_deficit", "other_claims")
_BAR = 22
_LINE = 34
_UNEXPLAINED = 0.0005
"""Share of the enterprise value below which a difference is left out of the bridge."""


class Step(NamedTuple):
    """One bar of a waterfall, in currency units."""

    name: str
    amount: float
    total: bool = False
    """True for a bar that stands on the ground: the start and the end."""


def bars(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Draw (heading, earned, open, all) in points as one bar each."""
    height = _LINE * len(rows) + 6
    longest = max(row[3] for row in rows)
    label = min(300, 16 + 9 * max(width(row[0]) for row in rows))
    scale = (580 - label) / longest
    parts = []
    for at, (heading, earned, undecided, whole) in enumerate(rows):
        y = at * _LINE + 6
        parts.append(_text(label - 12, y + 16, heading, "end"))
        parts.append(_rect(label, y, whole * scale, "track"))
        parts.append(_rect(label, y, earned * scale, "earned"))
        parts.append(_rect(label + earned * scale, y, undecided * scale, "undecided"))
        shown = f"{earned:.4g} of {whole:.4g}" if not undecided else f"{earned:.4g} to {earned + undecided:.4g}"
        parts.append(_text(label + whole * scale + 8, y + 16, shown, "start", "figure"))
    return _svg(720, height, parts)


def bridge_steps(roles: Mapping[str, Located]) -> list[Step]:
    """Return the way from enterprise to equity value by the bound roles; empty where an end is not bound.

    Signs differ between workbooks; those are taken under which the steps explain the equity value best.
    """
    ends = [_amount(roles, "enterprise_value"), _amount(roles, "equity_value")]
    if ends[0] is None or ends[1] is None or ends[0] == 0:
        return []
    start, end = ends[0], ends[1]
    fixed = [_step(roles, role, -1) for role in _CLAIMS] + [_step(roles, "investments", 1)]
    best = min(_ways(roles, [step for step in fixed if step]), key=lambda way: abs(start + _sum(way) - end))
    rest = end - start - _sum(best)
    other = [Step("not explained", rest)] if abs(rest) > _UNEXPLAINED * abs(start) else []
    return [Step("enterprise value", start, True), *best, *other, Step("equity value", end, True)]


def _ways(roles: Mapping[str, Located], fixed: list[Step]) -> list[list[Step]]:
    net = [[step] for sign in (-1, 1) if (step := _step(roles, "net_debt", sign, keep=True))]
    gross = [step for step in (_step(roles, "debt", -1), _step(roles, "cash", 1)) if step]
    return [[*first, *last] for first, last in product([*net, gross, []], [fixed, []])]


def _step(roles: Mapping[str, Located], role: str, sign: int, *, keep: bool = False) -> Step | None:
    amount = _amount(roles, role)
    if not amount:
        return None
    return Step(role.replace("_", " "), sign * (amount if keep else abs(amount)))


def _amount(roles: Mapping[str, Located], role: str) -> float | None:
    located = roles.get(role)
    return located.amount if located is not None else None


def _sum(steps: Sequence[Step]) -> float:
    return sum(step.amount for step in steps)


def bridge(steps: Sequence[Step]) -> str:
    """Draw a waterfall: grounded totals, and steps between them up or down."""
    spans = _spans(steps)
    low, high = min(min(span) for span in spans), max(max(span) for span in spans)
    unit, suffix = _unit(max(abs(low), abs(high)))
    left, room = 180, 400
    scale = room / ((high - low) or 1)
    ground, foot = f"{left - low * scale:.1f}", _LINE * len(steps) + 6
    parts = [f'<line class="axis" x1="{ground}" x2="{ground}" y1="0" y2="{foot}"/>']
    for at, (step, (start, end)) in enumerate(zip(steps, spans, strict=True)):
        y = at * _LINE + 6
        kind = "total" if step.total else "up" if step.amount >= 0 else "down"
        x = left + (min(start, end) - low) * scale
        parts.append(_text(left - 12, y + 16, step.name, "end"))
        parts.append(_rect(x, y, max(1.5, abs(end - start) * scale), kind))
        shown = number(float(f"{step.amount / unit:.5g}"))
        sign = "" if step.total or step.amount < 0 else "+"
        beside = left + (max(start, end) - low) * scale + 8
        parts.append(_text(beside, y + 16, f"{sign}{shown}{suffix}", "start", "figure"))
    return _svg(720, foot, parts)


def _spans(steps: Sequence[Step]) -> list[tuple[float, float]]:
    spans, level = [], 0.0
    for step in steps:
        start = 0.0 if step.total else level
        level = start + step.amount
        spans.append((start, level))
    return spans


def _unit(largest: float) -> tuple[float, str]:
    for size, suffix in ((1e9, " bn"), (1e6, " m"), (1e3, " k")):
        if largest >= 10 * size:
            return size, suffix
    return 1.0, ""


def _rect(x: float, y: float, wide: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{max(0.0, wide):.1f}" height="{_BAR}" rx="2"/>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "label") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(wide: int, high: int, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {wide} {high}" role="img" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
