"""The closed forms of a discounted cash flow valuation, as pure numbers: no cells, no workbook.

Rates are decimals (0.09 is nine per cent) per year; exponents are years from the valuation date; money is in any
one unit. Sources: Damodaran, *Investment Valuation*; Koller et al., *Valuation*; CFA Program Level II.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple


class Timing(NamedTuple):
    """When flows arrive: the convention that a row of discount exponents follows."""

    name: str
    """As reports show it."""
    first: float
    """Exponent of the first flow, in years."""
    stub: float
    """Length of the first period in years, 1 for a whole one."""
    mid: bool
    """True where flows arrive in the middle of their period."""

    def exponents(self, periods: int) -> tuple[float, ...]:
        """Return the exponents of that many flows."""
        ends = [self.stub + index for index in range(periods)]
        lengths = [self.stub] + [1.0] * (periods - 1)
        return tuple(end - length / 2 if self.mid else end for end, length in zip(ends, lengths, strict=True))

    def horizon(self, periods: int) -> float:
        """Return the end of the last period in years from the valuation date: n - 1 + stub."""
        return self.stub + periods - 1


def end_year(stub: float = 1.0) -> Timing:
    """Return end-year discounting: s, 1 + s, 2 + s, … with s the length of the first period (1 without a stub)."""
    name = "end-year discounting" if stub == 1 else f"end-year discounting after a stub of {stub:.4g} years"
    return Timing(name, stub, stub, mid=False)


def mid_year(stub: float = 1.0) -> Timing:
    """Return mid-year discounting: s/2, s + 1/2, s + 3/2, … with s the length of the first period."""
    name = "mid-year discounting" if stub == 1 else f"mid-year discounting after a stub of {stub:.4g} years"
    return Timing(name, stub / 2, stub, mid=True)


def discount_factor(rate: float, exponent: float) -> float:
    """Return (1 + rate)^-exponent; ValueError for a rate of -100 % or less."""
    if rate <= -1:
        raise ValueError(f"a discount rate of {rate} leaves no discount factor; it must lie above -1")
    return float((1 + rate) ** -exponent)


def cumulative_factors(rates: Sequence[float], first: float = 1.0) -> tuple[float, ...]:
    """Return end-of-period factors under varying rates: the product of 1/(1 + r_k) up to each period.

    `first` is the length of the first period in years.
    """
    factors, running = [], 1.0
    for index, rate in enumerate(rates):
        running *= discount_factor(rate, first if index == 0 else 1.0)
        factors.append(running)
    return tuple(factors)


def exponent_of(factor: float, rate: float) -> float | None:
    """Return the years that a discount factor stands for at a rate; None where no exponent gives it."""
    if factor <= 0 or rate <= -1 or rate == 0:
        return None
    return -math.log(factor) / math.log1p(rate)


def timings(exponents: Sequence[float], tolerance: float = 0.012) -> Iterator[Timing]:
    """Yield the accepted conventions that a row of exponents follows, the plainest first.

    The tolerance in years covers day counts (leap years, 365.25). Half a year and then whole ones is both mid-year
    discounting and an end-year row after a half-year stub: both are yielded.
    """
    if not exponents:
        return
    first, second = exponents[0], exponents[1] if len(exponents) > 1 else None
    candidates = [end_year(), mid_year()]
    if 0 <= first <= 1:
        candidates.append(end_year(first))
    if second is not None and 0 < second - 0.5 <= 1:
        candidates.append(mid_year(second - 0.5))
    elif second is None and 0 < first <= 0.5:
        candidates.append(mid_year(2 * first))
    seen: list[Timing] = []
    for timing in candidates:
        wanted = timing.exponents(len(exponents))
        fits = all(abs(have - want) <= tolerance for have, want in zip(exponents, wanted, strict=True))
        if fits and not any(abs(timing.stub - other.stub) < tolerance and timing.mid == other.mid for other in seen):
            seen.append(timing)
            yield timing


def evenly_spaced(exponents: Sequence[float], tolerance: float = 0.012) -> bool:
    """Say whether each exponent lies one year after the one before."""
    return all(abs(later - earlier - 1) <= tolerance for earlier, later in pairwise(exponents))


def unrounded(exponent: float | None, rate: float, present: float, rounding: float) -> float | None:
    """Return the half or whole year that an exponent stands for where the rounding of the present value explains it.

    A present value off by d is worth d/(PV·ln(1 + r)) years.
    """
    if exponent is None or not present or not rounding or rate <= 0:
        return exponent
    near = round(2 * exponent) / 2
    return near if abs(exponent - near) <= rounding / present / math.log1p(rate) else exponent


def whole_first(exponents: Sequence[float | None], rate: float) -> tuple[float | None, ...]:
    """Return exponents read from weights with the first freed of the part of its year that is counted.

    A flow of which only the stub of length s counts weighs s·(1 + r)^-s, or s·(1 + r)^-(s/2) at mid-year; the flow
    after it lies at 1 + s, or s + 1/2. Any other row is returned as it stands.
    """
    first, second = (*exponents, None, None)[:2]
    if first is None or second is None or rate <= -1:
        return tuple(exponents)
    for stub, own in ((second - 1, second - 1), (second - 0.5, (second - 0.5) / 2)):
        part = (1 + rate) ** (own - first)
        if 0 < stub < 0.995 and abs(part - stub) <= 0.012:
            return (own, *exponents[1:])
    return tuple(exponents)


def gordon(next_flow: float, rate: float, growth: float) -> float:
    """Return the value, one period before it, of a flow that grows for ever: F / (r - g); ValueError if g >= r."""
    if growth >= rate:
        raise ValueError(f"growth {growth} is not below the rate {rate}: the perpetuity has no finite value")
    return next_flow / (rate - growth)


def value_driver(next_nopat: float, rate: float, growth: float, ronic: float) -> float:
    """Return NOPAT·(1 - g/RONIC)/(r - g) (Koller et al.); ValueError if g >= r or RONIC is 0."""
    if ronic == 0:
        raise ValueError("a return on new capital of 0 leaves no reinvestment rate")
    return gordon(next_nopat * (1 - growth / ronic), rate, growth)


def h_model(flow: float, rate: float, long_growth: float, first_growth: float, half_life: float) -> float:
    """Return F·((1 + gL) + H·(gS - gL))/(r - gL), growth fading over 2·H years (Fuller and Hsia 1984)."""
    return gordon(flow * (1 + long_growth + half_life * (first_growth - long_growth)), rate, long_growth)


def implied_growth(terminal_value: float, last_flow: float, rate: float) -> float:
    """Return the growth at which a perpetuity on F_n·(1 + g) is worth the terminal value: (TV·r - F)/(TV + F)."""
    return (terminal_value * rate - last_flow) / (terminal_value + last_flow)


def capm(risk_free: float, beta: float, premium: float, *others: float) -> float:
    """Return the cost of equity rf + beta·premium + further premia (size, country, company)."""
    return risk_free + beta * premium + sum(others)


def hamada(unlevered: float, debt_to_equity: float, tax: float) -> float:
    """Return the relevered beta bU·(1 + (1 - t)·D/E) (Hamada 1972)."""
    return unlevered * (1 + (1 - tax) * debt_to_equity)


def harris_pringle(unlevered: float, debt_to_equity: float, debt_beta: float = 0.0) -> float:
    """Return bU + (bU - bD)·D/E; without a debt beta bU·(1 + D/E) (Harris and Pringle 1985)."""
    return unlevered + (unlevered - debt_beta) * debt_to_equity


def weighted_cost(weights: Sequence[float], costs: Sequence[float]) -> float:
    """Return the weighted average cost of capital; weights and after-tax costs in the same order."""
    return sum(weight * cost for weight, cost in zip(weights, costs, strict=True))


def debt_share(debt_to_equity: float) -> float:
    """Return D/(D + E) of a D/E ratio: 0.25 gives 0.2."""
    return debt_to_equity / (1 + debt_to_equity)


def treasury_stock(basic: float, instruments: float, strike: float, price: float) -> float:
    """Return the diluted count basic + N·max(0, 1 - K/P) (treasury stock method)."""
    return basic + instruments * max(0.0, 1 - strike / price)


def roots(function: Callable[[float], float | None], low: float, high: float, steps: int = 24) -> list[float]:
    """Return where a function crosses zero between two bounds, by scanning for sign changes and then bisecting.

    Values that the function cannot give (None) part the range; crossings through a pole are left out. Each root is
    exact to 1e-10 of the range.
    """
    grid = [low + (high - low) * index / steps for index in range(steps + 1)]
    values = [function(point) for point in grid]
    found: list[float] = []
    for (left, start), (right, end) in pairwise(zip(grid, values, strict=True)):
        if start == 0:
            found.append(left)
        elif start is not None and end is not None and start * end < 0:
            root = _bisect(function, left, right, (start, end), 1e-10 * (high - low))
            if root is not None:
                found.append(root)
    if values[-1] == 0:
        found.append(high)
    return found


def _bisect(
    function: Callable[[float], float | None], left: float, right: float, ends: tuple[float, float], width: float
) -> float | None:
    start, most = ends[0], max(map(abs, ends))
    while right - left > width:
        middle = (left + right) / 2
        value = function(middle)
        if value is None:
            return None
        if value == 0:
            return middle
        left, right, start = (middle, right, value) if value * start > 0 else (left, middle, start)
    value = function((left + right) / 2)
    return (left + right) / 2 if value is not None and abs(value) <= most else None
