"""Identities between the roles of one valuation, checked on the recomputed numbers.

An identity that holds raises the confidence of the cells that take part; one that does not changes nothing: the
workbook that breaks an identity must still be bound, so that checks can say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlcheck.cells import CellRef
from xlcheck.roles.claims import CLAIMS
from xlcheck.roles.layout import Layout
from xlcheck.roles.picks import Line, Pick

TOLERANCE = 1e-6
ROUNDED = 2e-3
"""A value per share is often shown rounded."""


def mark(picks: Mapping[str, Pick], lines: Mapping[str, Line], layout: Layout) -> None:
    """Mark the picks and lines that satisfy an identity, and write it into their evidence."""

    def value(role: str) -> float | None:
        cell = picks[role].cell if role in picks else None
        return layout.value(cell) if cell else None

    ev, sum_pv, pv_tv = value("enterprise_value"), value("sum_pv_fcff"), value("pv_terminal_value")
    if ev is not None and sum_pv is not None and pv_tv is not None and _near(ev, sum_pv + pv_tv):
        _hold(picks, ("enterprise_value", "sum_pv_fcff", "pv_terminal_value"), "EV = sum of PVs + PV of terminal value")
    equity, shares, per_share = value("equity_value"), value("shares"), value("value_per_share")
    if equity and shares and per_share and _power(equity / shares / per_share):
        _hold(picks, ("equity_value", "shares", "value_per_share"), "value per share = equity / shares")
    if equity is not None and ev is not None:
        claims = {role: value(role) for role in CLAIMS if role in picks and picks[role].graph}
        if "net_debt" in claims:
            claims = {role: claim for role, claim in claims.items() if role not in ("cash", "debt")}
        total = sum(picks[role].sign * claim for role, claim in claims.items() if claim is not None)
        if claims and _near(equity, ev + total):
            _hold(picks, ("enterprise_value", "equity_value", *claims), "equity = EV + assets - claims")
    _products(lines, layout)


def _products(lines: Mapping[str, Line], layout: Layout) -> None:
    """``PV = flow × factor`` along the periods (the row may hold the divisor)."""
    flows, factors, pvs = (lines.get(role) for role in ("fcff", "discount_factor", "pv_fcff"))
    if flows is None or factors is None or pvs is None:
        return
    if len({len(line.cells) for line in (flows, factors, pvs)}) != 1:
        return
    triples = list(
        zip(_values(flows.cells, layout), _values(factors.cells, layout), _values(pvs.cells, layout), strict=True)
    )
    if any(None in triple for triple in triples):
        return
    times = all(_near(pv or 0.0, (flow or 0.0) * (factor or 0.0)) for flow, factor, pv in triples)
    over = all(factor and _near(pv or 0.0, (flow or 0.0) / factor) for flow, factor, pv in triples)
    if times or over:
        for line in (flows, factors, pvs):
            line.identity = True
            line.evidence.append("PV = flow × discount factor" if times else "PV = flow / divisor")


def satisfies(role: str, value: float, per_share: float | None, others: Mapping[str, Sequence[float | None]]) -> bool:
    """Say whether a number would satisfy an identity of its role with some of the other candidates' numbers."""

    def known(*roles: str) -> list[float]:
        return [number for one in roles for number in others.get(one, ()) if number]

    if role == "equity_value":
        return bool(per_share) and any(
            _power(value / count / (per_share or 1.0)) for count in known("shares", "diluted_shares")
        )
    evs, sums, terminals = known("enterprise_value"), known("sum_pv_fcff"), known("pv_terminal_value")
    if role == "enterprise_value":
        return any(_near(value, one + other) for one in sums for other in terminals)
    if role == "sum_pv_fcff":
        return any(_near(ev, value + other) for ev in evs for other in terminals)
    if role == "pv_terminal_value":
        return any(_near(ev, value + other) for ev in evs for other in sums)
    return False


def _values(cells: tuple[CellRef, ...], layout: Layout) -> list[float | None]:
    return [layout.value(cell) for cell in cells]


def _hold(picks: Mapping[str, Pick], roles: tuple[str, ...], identity: str) -> None:
    for role in roles:
        picks[role].identity = True
        picks[role].evidence.append(f"{identity} holds")


def _near(left: float, right: float) -> bool:
    return abs(left - right) <= TOLERANCE * max(abs(left), abs(right), 1e-12)


def _power(ratio: float) -> bool:
    """Say whether a ratio is a power of ten."""
    return any(abs(ratio / 10.0**power - 1) < ROUNDED for power in range(-9, 10))
