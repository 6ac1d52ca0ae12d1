"""Ratios derived from the valuation, held against the ranges that a rubric sets."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checking import Finding, NotApplicable, Outcome, Outcomes, Params, Unverifiable, check
from xlcheck.checks import valuation
from xlcheck.checks.conversions import bridge_step, in_flows, unit_step
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


def judge_range(name: str, value: float | None, where: CellRef | None, params: Params, unit: str) -> Iterator[Outcome]:
    """Yield what a range says of a derived value; not applicable without a range, open without a value."""
    low, high = params.get("low"), params.get("high")
    if not isinstance(low, Decimal) and not isinstance(high, Decimal):
        yield NotApplicable(reason=f"the rubric sets no range for the {name}")
        return
    if value is None:
        yield NotApplicable(reason=f"the {name} cannot be derived from the bound roles")
        return
    under = isinstance(low, Decimal) and value < float(low)
    over = isinstance(high, Decimal) and value > float(high)
    if under or over:
        bound = low if under else high
        side = "below" if under else "above"
        shown, limit = (f"{one:.1%}" if unit == "rate" else f"{one:.3g}" for one in (value, float(str(bound))))
        message = f"the {name} is {shown}, {side} {limit}"
        yield Finding(message=message, cell=where, found=value, expected=float(str(bound)), unit=unit)


def last(line: LocatedSeries | None) -> float | None:
    """Return the value of the last forecast year."""
    return line.values[-1] if line is not None and line.values else None


def first(line: LocatedSeries | None) -> float | None:
    """Return the value of the first forecast year."""
    return line.values[0] if line is not None and line.values else None


def ebitda_values(
    ebitda: LocatedSeries | None, ebit: LocatedSeries | None, depreciation: LocatedSeries | None
) -> tuple[float | None, ...]:
    """Return EBITDA by year: the bound line, else EBIT plus depreciation."""
    if ebitda is not None:
        return ebitda.values
    if ebit is None or depreciation is None or len(ebit.values) != len(depreciation.values):
        return ()
    pairs = zip(ebit.values, depreciation.values, strict=True)
    return tuple(None if one is None or other is None else one + abs(other) for one, other in pairs)


def _cell(located: Located | None) -> CellRef | None:
    return located.cell if located is not None else None


@check("metric.terminal-value-share", severity="warn")
def terminal_value_share(
    enterprise_value: Located,
    pv_terminal_value: Located | None,
    params: Params,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The share of the terminal value in enterprise value lies within the range that the rubric sets.

    What it holds:
        low ≤ PV(terminal value)/EV ≤ high.
    Why it matters:
        Where nearly all value lies beyond the forecast, the forecast argues little and the terminal value everything.
    Accepted conventions:
        A terminal value inside a longer formula: the share is then what the present values of the flows leave.
    Example:
        Flows that turn positive in year three leave 95 % to the terminal value.
    How to fix:
        Lengthen the forecast until growth and margins are steady, or lower the terminal growth.
    Units and tolerance:
        A share of one; the bounds belong to the range.
    Source:
        Koller et al., Valuation, ch. 14; the range is the rubric's.
    """
    present, total = pv_terminal_value.value if pv_terminal_value else None, in_flows(enterprise_value, recalc)
    where = _cell(pv_terminal_value) or enterprise_value.cell
    if present is None and total:
        present = _rest(total, roles, recalc, graph)
    value = present / total if present is not None and total else None
    if value is not None and abs(value) < 1e-9:
        yield NotApplicable(reason="the valuation has no terminal value")
        return
    yield from judge_range("terminal value's share of enterprise value", value, where, params, "rate")


def _rest(total: float, roles: Roles, recalc: Recalc, graph: Graph) -> float | None:
    """Return what the present values of the flows leave of the enterprise value."""
    flows, rate = valuation.flows_of(roles), valuation.rate_of(roles)
    read = valuation.exponents(roles, recalc, graph)
    if flows is None or rate is None or rate.amount is None or read is None or not read.known:
        return None
    reads_terminal = roles.get("terminal_growth") or roles.get("exit_multiple") or roles.get("terminal_value")
    if reads_terminal is None:
        return None
    pairs = zip(flows.values, read.known, strict=True)
    return total - sum((flow or 0.0) * dcf.discount_factor(rate.amount, years) for flow, years in pairs)


@check("metric.implied-ev-ebitda", severity="warn")
def implied_ev_ebitda(
    enterprise_value: Located,
    ebitda: LocatedSeries | None,
    ebit: LocatedSeries | None,
    depreciation: LocatedSeries | None,
    recalc: Recalc,
    params: Params,
) -> Outcomes:
    """Enterprise value over the EBITDA of the first forecast year lies within the range that the rubric sets.

    What it holds:
        low ≤ EV/EBITDA ≤ high.
    Why it matters:
        A DCF that implies 40 times EBITDA for a machine maker needs an argument that no formula gives.
    Accepted conventions:
        EBITDA from its own row, or EBIT plus depreciation.
    Example:
        EV 2,090 over EBITDA 66 is 31.7×.
    How to fix:
        Compare with the multiples of peers and look for the assumption that drives the gap.
    Units and tolerance:
        A multiple; the bounds belong to the range.
    Source:
        Koller et al., Valuation, ch. 18; the range is the rubric's.
    """
    measures = ebitda_values(ebitda, ebit, depreciation)
    base = measures[0] if measures else None
    total = in_flows(enterprise_value, recalc)
    value = total / base if total is not None and base else None
    yield from judge_range("implied EV/EBITDA", value, enterprise_value.cell, params, "multiple")


@check("metric.implied-ev-sales", severity="warn")
def implied_ev_sales(enterprise_value: Located, revenue: LocatedSeries, recalc: Recalc, params: Params) -> Outcomes:
    """Enterprise value over the revenue of the first forecast year lies within the range that the rubric sets.

    What it holds:
        low ≤ EV/revenue ≤ high.
    Why it matters:
        It can be compared across companies even where earnings are negative.
    Accepted conventions:
        None needed.
    Example:
        EV 2,000 over revenue of 1,000 is 2.0×.
    How to fix:
        Compare with peers of like margin and growth.
    Units and tolerance:
        A multiple; the bounds belong to the range.
    Source:
        Damodaran, Investment Valuation, ch. 20; the range is the rubric's.
    """
    base = first(revenue)
    total = in_flows(enterprise_value, recalc)
    value = total / base if total is not None and base else None
    yield from judge_range("implied EV/revenue", value, enterprise_value.cell, params, "multiple")


@check("metric.implied-growth", severity="warn")
def implied_growth(
    exit_multiple: Located, terminal_value: Located, wacc: Located, params: Params, roles: Roles, graph: Graph
) -> Outcomes:
    """The growth that the exit multiple implies lies within the range that the rubric sets.

    What it holds:
        low ≤ (TV·r - F)/(TV + F) ≤ high, with F the last flow.
    Why it matters:
        A multiple hides a growth rate; 6 % for ever is no more sensible for being called 14 times EBITDA.
    Accepted conventions:
        Only for a terminal value that applies a multiple.
    Example:
        TV 51,750, F 3,695, r 13.6 %: implied growth 6.0 %.
    How to fix:
        Lower the exit multiple, or argue the growth.
    Units and tolerance:
        A decimal rate; the bounds belong to the range.
    Source:
        Rosenbaum and Pearl, Investment Banking, ch. 3; the range is the rubric's.
    """
    flows = valuation.flows_of(roles)
    flow = last(flows)
    by_multiple = (
        terminal_value.cell is not None and valuation.method_of(terminal_value.cell, roles, graph) == "multiple"
    )
    if not by_multiple:
        yield NotApplicable(reason="the terminal value does not apply an exit multiple")
        return
    known = terminal_value.value is not None and flow is not None and wacc.amount is not None
    value = dcf.implied_growth(terminal_value.value or 0.0, flow or 0.0, wacc.amount or 0.0) if known else None
    yield from judge_range("growth implied by the exit multiple", value, exit_multiple.cell, params, "rate")


@check("metric.fcf-yield", severity="warn")
def fcf_yield(enterprise_value: Located, fcff: LocatedSeries, recalc: Recalc, params: Params) -> Outcomes:
    """The first flow over enterprise value lies within the range that the rubric sets.

    What it holds:
        low ≤ FCFF/EV ≤ high.
    Why it matters:
        It says how long the buyer waits for his money.
    Accepted conventions:
        The flow of the first whole forecast year.
    Example:
        98 over 2,090 is 4.7 %.
    How to fix:
        Look for the growth that a low yield presupposes.
    Units and tolerance:
        A decimal rate; the bounds belong to the range.
    Source:
        Damodaran, Investment Valuation; the range is the rubric's.
    """
    flow, total = first(fcff), in_flows(enterprise_value, recalc)
    value = flow / total if flow is not None and total else None
    yield from judge_range("free cash flow yield", value, fcff.cells[0], params, "rate")


@check("metric.roic", severity="warn")
def roic(
    nopat: LocatedSeries,
    capex: LocatedSeries,
    depreciation: LocatedSeries,
    change_in_nwc: LocatedSeries | None,
    params: Params,
) -> Outcomes:
    """The return on the capital that the forecast adds lies within the range that the rubric sets.

    What it holds:
        low ≤ (NOPAT_n - NOPAT_1)/Σ net investment of years 1 to n-1 ≤ high.
    Why it matters:
        Growth that needs no capital creates value from nothing.
    Accepted conventions:
        Capex and change in working capital with either sign.
    Example:
        NOPAT rises by 40 on net investment of 160: 25 %.
    How to fix:
        Raise capital expenditure with growth, or lower the margins.
    Units and tolerance:
        A decimal rate; the bounds belong to the range.
    Source:
        Koller et al., Valuation, ch. 2; the range is the rubric's.
    """
    spent = net_investment(capex, depreciation, change_in_nwc)
    start, end = first(nopat), last(nopat)
    total = sum(spent[:-1]) if len(spent) > 1 else 0.0
    value = (end - start) / total if start is not None and end is not None and total > 0 else None
    yield from judge_range("return on the capital added", value, nopat.cells[-1], params, "rate")


def net_investment(
    capex: LocatedSeries, depreciation: LocatedSeries, change_in_nwc: LocatedSeries | None
) -> tuple[float, ...]:
    """Return capex less depreciation plus the increase in working capital by year, () if a value is missing.

    An increase of working capital is positive here; its row's sign is taken from `LocatedSeries.sign`.
    """
    lines = [capex.values, depreciation.values]
    if None in capex.values or None in depreciation.values or len(lines[0]) != len(lines[1]):
        return ()
    changes: tuple[float | None, ...] = (0.0,) * len(capex.values)
    if change_in_nwc is not None and len(change_in_nwc.values) == len(capex.values):
        sign = change_in_nwc.sign or 1
        changes = tuple((value or 0.0) * sign for value in change_in_nwc.values)
    rows = zip(capex.values, depreciation.values, changes, strict=True)
    return tuple(abs(spent or 0.0) - abs(worn or 0.0) + (change or 0.0) for spent, worn, change in rows)


@check("metric.reinvestment-rate", severity="warn")
def reinvestment_rate(
    nopat: LocatedSeries,
    capex: LocatedSeries,
    depreciation: LocatedSeries,
    change_in_nwc: LocatedSeries | None,
    params: Params,
) -> Outcomes:
    """The share of NOPAT reinvested in the last year lies within the range that the rubric sets.

    What it holds:
        low ≤ (capex - D&A + ΔNWC)/NOPAT ≤ high in the last forecast year.
    Why it matters:
        The last year is repeated for ever; its reinvestment must carry the terminal growth.
    Accepted conventions:
        Capex and change in working capital with either sign.
    Example:
        12 net investment on NOPAT of 190 is 6.3 %.
    How to fix:
        Set terminal reinvestment to g/RONIC.
    Units and tolerance:
        A share of NOPAT; the bounds belong to the range.
    Source:
        Koller et al., Valuation, ch. 14; the range is the rubric's.
    """
    spent, base = net_investment(capex, depreciation, change_in_nwc), last(nopat)
    value = spent[-1] / base if spent and base else None
    yield from judge_range("reinvestment rate of the last year", value, nopat.cells[-1], params, "rate")


@check("metric.ebit-margin", severity="warn")
def ebit_margin(ebit: LocatedSeries, revenue: LocatedSeries, params: Params) -> Outcomes:
    """The EBIT margin of the last forecast year lies within the range that the rubric sets.

    What it holds:
        low ≤ EBIT/revenue ≤ high.
    Why it matters:
        The margin of the last year is capitalised for ever.
    Accepted conventions:
        None needed.
    Example:
        An industry at 9 % forecast at 27 %.
    How to fix:
        Argue the margin from cost, price and volume, or lower it.
    Units and tolerance:
        A share of revenue; the bounds belong to the range.
    Source:
        The rubric.
    """
    income, sales = last(ebit), last(revenue)
    value = income / sales if income is not None and sales else None
    yield from judge_range("EBIT margin of the last year", value, ebit.cells[-1], params, "rate")


@check("metric.implied-pe", severity="warn")
def implied_pe(
    equity_value: Located,
    enterprise_value: Located | None,
    nopat: LocatedSeries,
    interest: LocatedSeries | None,
    tax_rate: Located | None,
    recalc: Recalc,
    params: Params,
) -> Outcomes:
    """Equity value over the first year's earnings lies within the range that the rubric sets.

    What it holds:
        low ≤ equity/(NOPAT - interest·(1 - t)) ≤ high.
    Why it matters:
        It sets the result beside the multiple that investors quote.
    Accepted conventions:
        NOPAT alone where no interest is forecast.
    Example:
        1,906 over 143 is 13.3×.
    How to fix:
        Compare with peers and look for the assumption that drives the gap.
    Units and tolerance:
        A multiple; the bounds belong to the range.
    Source:
        Damodaran, Investment Valuation, ch. 18; the range is the rubric's.
    """
    earned, paid = first(nopat), first(interest)
    tax = tax_rate.amount if tax_rate is not None and tax_rate.amount is not None else 0.0
    base = None if earned is None else earned - abs(paid or 0.0) * (1 - tax)
    step = unit_step(enterprise_value, recalc) * bridge_step(enterprise_value, equity_value, recalc)
    base = None if base is None else base * step
    value = equity_value.value / base if equity_value.value is not None and base and base > 0 else None
    yield from judge_range("implied P/E", value, equity_value.cell, params, "multiple")


@check("metric.upside", severity="warn")
def upside_range(value_per_share: Located, current_price: Located, params: Params) -> Outcomes:
    """The upside lies within the range that the rubric sets.

    What it holds:
        low ≤ value/price - 1 ≤ high.
    Why it matters:
        A price that is wrong by half is rarer than a model that is.
    Accepted conventions:
        Value and price in one currency (see fatal.currency-mix).
    Example:
        A value of 637 beside a price of 70.
    How to fix:
        Ask what the market would have to believe, by a reverse DCF.
    Units and tolerance:
        A decimal rate; the bounds belong to the range.
    Source:
        The rubric.
    """
    worth, price = value_per_share.value, current_price.value
    value = worth / price - 1 if worth is not None and price else None
    if value_per_share.currency and current_price.currency and value_per_share.currency != current_price.currency:
        yield Unverifiable(reason="value and price are declared in different currencies")
        return
    yield from judge_range("upside", value, value_per_share.cell, params, "rate")
