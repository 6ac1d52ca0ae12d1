"""Fatal errors of units and currencies: a factor of a thousand, a conversion upside down."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, live, memory, valuation
from xlcheck.checks.bridge_shares import count_power, in_units, with_label_unit, with_source_unit
from xlcheck.checks.exchange_rates import Quote, first_code, quotes
from xlcheck.checks.minor_units import lacks_hundred
from xlcheck.checks.scaled_links import odd_links
from xlcheck.checks.sheet import column_label, row_label, text_at
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Unit
from xlcheck.roles.rates import is_upside


@check("fatal.unit-mix", severity="fatal")
def unit_mix(
    equity_value: Located | None,
    shares: Located | None,
    value_per_share: Located | None,
    current_price: Located | None,
    market_cap: Located | None,
    revenue: LocatedSeries | None,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """One quantity stands in one unit: no factor of a thousand slips in between two places.

    What it holds:
        Links from a sheet in another unit all use the same factor; price × shares is the stated market value; the value
        per share carries the factor that the units of equity and shares call for.
    Why it matters:
        A balance read in 万元 with /10000 instead of /100 is a hundredth of itself, and nothing looks broken.
    Accepted conventions:
        Any scale with its factor in the formula; shares in units against money in millions; undeclared units.
    Example:
        ``=Data!D18/10000`` in a row whose other years read ``Data!C18/100``.
    How to fix:
        Use the same factor for every link between the two sheets.
    Units and tolerance:
        Powers of ten; 1e-6.
    Source:
        FAST Standard 3.01 (units).
    """
    yield from odd_links(recalc)
    yield from _market_value(shares, current_price, market_cap, recalc)
    if equity_value is None or shares is None or value_per_share is None:
        return
    off = _off_its_units(value_per_share, equity_value, shares, recalc, graph)
    off = off or lacks_hundred(value_per_share, current_price, equity_value, shares, recalc)
    if off is not None:
        yield off
        return
    yield from _beside_the_price(value_per_share, current_price, equity_value, shares, revenue, recalc)


def _off_its_units(
    value_per_share: Located, equity_value: Located, shares: Located, recalc: Recalc, graph: Graph
) -> Finding | None:
    """Find a value per share with another power of ten than the declared units of equity and shares call for."""
    counted = with_label_unit(shares, recalc, graph)
    if in_units(counted):
        equity_value = with_source_unit(equity_value, recalc, graph)
    value, equity, count = value_per_share.value, equity_value.value, shares.value
    if not value or not equity or not count or equity_value.factor == 1 or value * count / equity <= 0:
        return None
    power = math.log10(value * count / equity)
    found, wanted = round(power), count_power(equity_value, counted)
    if abs(power - found) > 1e-6 or wanted is None or abs(found - wanted) < 3:
        return None
    message = f"{value_per_share.cell} is off by 10^{abs(found - wanted)}: equity and shares stand in other units"
    expected = equity / count * 10.0**wanted
    return Finding(message=message, cell=value_per_share.cell, found=value, expected=expected, unit="per share")


def _beside_the_price(
    value: Located,
    price: Located | None,
    equity: Located,
    shares: Located,
    revenue: LocatedSeries | None,
    recalc: Recalc,
) -> Iterator[Finding]:
    """Find a value per share that is about a thousandth (thousandfold, millionth …) of the price by its units alone.

    By its units: the equity value is of the size of revenue, the market value at the same share count is not.
    """
    if price is None or revenue is None or not price.value or not value.value or not equity.value or not shares.value:
        return
    first = next((amount for amount in revenue.values if amount), None)
    apart, scale = value.value / price.value, value.value * shares.value / equity.value
    if first is None or apart <= 0 or scale <= 0 or equity.value * first <= 0 or quotes(recalc):
        return
    if (label_code(price, recalc) or price.currency) != (label_code(value, recalc) or value.currency):
        return
    power, shown = round(math.log10(apart)), math.log10(scale)
    if abs(power) not in _slips(equity, shares) or abs(math.log10(apart) - power) > 0.5:
        return
    if abs(shown - round(shown)) > 1e-6:
        return
    worth = equity.value / (first * revenue.factor / equity.factor)
    if 0.02 < worth < 50 and not 0.01 < worth / apart < 100:
        where = value if round(shown) == power else shares
        message = f"{value.cell} is {apart:.3g} of the price {price.cell}: {where.cell} is off by 10^{abs(power)}"
        right = value.value / 10.0**power if where is value else shares.value * 10.0**power
        yield Finding(message=message, cell=where.cell, found=where.value, expected=right, unit="per share")


def _slips(equity: Located, shares: Located) -> set[int]:
    """Return the powers of ten between the units in use: thousands, and 万 and 亿 or lakh and crore where declared."""
    declared = {equity.factor, shares.factor}
    return {3, 6, 9} | ({4, 8} if declared & {1e4, 1e8} else set()) | ({5, 7} if declared & {1e5, 1e7} else set())


def _market_value(
    shares: Located | None, price: Located | None, market: Located | None, recalc: Recalc
) -> Iterator[Finding]:
    """Find a typed market value that is price × shares times a power of a thousand."""
    if shares is None or price is None or market is None or shares.cell is None or market.cell is None:
        return
    held = recalc.book.get(market.cell)
    if held is None or held.formula is not None or not shares.value or not price.value or not market.value:
        return
    ratio = price.value * shares.value / market.value
    power = math.log10(ratio) if ratio > 0 else 0.0
    declared = math.log10(shares.factor / market.factor) if shares.factor != 1 and market.factor != 1 else 0.0
    off = round(power + declared)
    slips = {3, 6, 9} | _indian_slips(shares, market)
    if abs(off) in slips and abs(power + declared - off) < 0.02 and (shares.factor != 1 or market.factor == 1):
        message = f"price × shares ({shares.cell}) is 10^{off} times the market value {market.cell}"
        expected = shares.value / 10.0**off
        yield Finding(message=message, cell=shares.cell, found=shares.value, expected=expected, unit="count")


def _indian_slips(shares: Located, market: Located) -> set[int]:
    """Return the powers of ten between lakh, crore and million where one of the first two is declared."""
    return {1, 2, 5, 7} if {shares.factor, market.factor} & {1e5, 1e7} else set()


def currency_of(located: Located | None, recalc: Recalc) -> str | None:
    """Return the declared currency of a role, else the code in its label or the unit beside it."""
    if located is None or located.cell is None:
        return None
    text = f"{row_label(recalc, located.cell)} {text_at(recalc, located.cell.offset(0, 1))}"
    return first_code(text) or located.currency


@check("fatal.currency-mix", severity="fatal")
def currency_mix(
    value_per_share: Located | None,
    current_price: Located | None,
    upside: Located | None,
    enterprise_value: Located | None,
    equity_value: Located | None,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Value and price are compared in one currency, converted once and the right way round.

    What it holds:
        An exchange rate stated as X per Y multiplies amounts in Y; flows in one currency and a price in another are
        converted exactly once before they are compared.
    Why it matters:
        Dividing by 1.09 HKD per CNY instead of multiplying understates the value by a sixth.
    Accepted conventions:
        A price in another currency with a stated rate; a price converted back; rates whose direction is not stated
        (open); ADS ratios.
    Example:
        ``=C30/C31`` with C31 = 1.0905 HKD per RMB turns RMB 9.28 into 8.51 instead of 10.12.
    How to fix:
        Multiply by a rate quoted as target currency per source currency.
    Units and tolerance:
        Elasticity of the result to the rate: +1 where multiplied, -1 where divided; 1e-4.
    Source:
        CFA Level I, currency exchange rates.
    """
    if value_per_share is None or value_per_share.cell is None:
        yield NotApplicable(reason="no value per share that could be computed stands beside a price")
        return
    if upside is None and current_price is None:
        upside, current_price = _comparison(value_per_share.cell, recalc, graph)
    if current_price is None:
        yield NotApplicable(reason="no price is compared with the value per share")
        return
    outputs = [held for held in (value_per_share, upside) if held is not None and held.cell is not None]
    above = memory.above(graph, [held.cell for held in outputs if held.cell is not None])
    used = [quote for quote in quotes(recalc) if quote.cell in above and quote.quoted != quote.base]
    sources = {graph.pure_link(quote.cell): quote for quote in used}
    if not used:
        yield from _unconverted(value_per_share, current_price, upside, equity_value or enterprise_value, recalc, graph)
        return
    if (missed := _past_the_rate(upside, current_price, used, recalc, graph)) is not None:
        yield missed
        return
    target = currency_of(current_price, recalc)
    for cell, quote in sources.items():
        if target not in (quote.quoted, quote.base):
            yield Unverifiable(reason=f"the currency of the price is not known beside {quote.quoted} per {quote.base}")
            continue
        wanted = 1.0 if target == quote.quoted else -1.0
        yield from _turned(cell, quote, wanted, outputs, recalc, graph)


def _past_the_rate(
    upside: Located | None, price: Located, used: list[Quote], recalc: Recalc, graph: Graph
) -> Finding | None:
    """Find an upside that sets the price against a value declared in another currency, no exchange rate between."""
    target = label_code(price, recalc)
    if price.cell is None or target is None:
        return None
    rates = {quote.cell for quote in used}
    for reader in [upside.cell] if upside is not None and upside.cell else graph.dependents(price.cell):
        tree = claims.formula_node(reader, recalc)
        for cell in graph.precedents(reader) if tree is not None else ():
            code = label_code(_named("value_per_share", cell, 0.0), recalc) if cell != price.cell else None
            if code not in (None, target) and tree is not None and is_upside(tree, price.cell, cell):
                if memory.above(graph, [reader]) & rates:
                    continue
                message = f"{reader} compares {cell}, declared in {code}, with a price in {target} unconverted"
                return Finding(message=message, cell=reader, found=recalc.number(reader), expected=None, unit="rate")
    return None


def _comparison(value: CellRef, recalc: Recalc, graph: Graph) -> tuple[Located | None, Located | None]:
    """Return an unbound upside and price: a formula that reads the value, an exchange rate and a price by its label."""
    rates = {graph.pure_link(quote.cell) for quote in quotes(recalc)}
    for cell in graph.dependents(value):
        read = [one for one in graph.precedents(cell) if one != value]
        prices = [one for one in read if graph.pure_link(one) not in rates and _PRICE.search(row_label(recalc, one))]
        shown = recalc.number(cell)
        if (
            len(read) >= 2
            and len(prices) == 1
            and shown is not None
            and any(graph.pure_link(one) in rates for one in read)
        ):
            return _named("upside", cell, shown), _named("current_price", prices[0], recalc.number(prices[0]))
    return None, None


_PRICE = re.compile(r"\bprice\b|股[价價価]|[现現市][价價]|收[盘盤][价價]|終値|kurs\b", re.I)


def _named(role: str, cell: CellRef, value: float | None) -> Located:
    """Return a cell in the role given."""
    unit: Unit = "rate" if role == "upside" else "per_share"
    return Located(role=role, cell=cell, value=value, unit=unit, confidence=1.0, how="label+graph")


def _turned(
    cell: CellRef, quote: Quote, wanted: float, outputs: list[Located], recalc: Recalc, graph: Graph
) -> Outcomes:
    """Judge each output by its elasticity to the rate; the upside by that of value over price."""
    for output in outputs:
        if output.cell is None or output.value is None:
            continue
        ratio = output.value + 1 if output.role == "upside" else output.value
        slope = live.derivative(recalc, output.cell, cell)
        rate = recalc.number(cell)
        if slope is None or not ratio or rate is None:
            continue
        elasticity = slope * rate / ratio
        if abs(elasticity) < 1e-4 or abs(elasticity - wanted) < 1e-3:
            continue
        if abs(elasticity + wanted) < 1e-3:
            how = "divided by" if wanted > 0 else "multiplied by"
        elif abs(elasticity - 2 * wanted) < 1e-3:
            how = "converted twice with"
        else:
            yield Unverifiable(reason=f"{output.cell} moves with the power {elasticity:.3g} of the rate {cell}")
            return
        where = _reader(cell, output.cell, graph)
        factor = rate ** (wanted - round(elasticity))
        expected = ratio * factor - 1 if output.role == "upside" else ratio * factor
        message = f"{output.cell} is {how} the rate {cell} of {quote.quoted} per {quote.base}: upside down or twice"
        found = recalc.number(where)
        moved = expected if where == output.cell else None if found is None else found * factor
        yield Finding(message=message, cell=where, found=found, expected=moved, unit="per share")
        return
    yield Fits(convention=f"converted with {quote.quoted} per {quote.base}")


def _reader(cell: CellRef, output: CellRef, graph: Graph) -> CellRef:
    """Return the formula that applies the rate on the way to the output."""
    above = memory.above(graph, [output])
    same = valuation.links(graph, cell)
    found = [reader for one in same for reader in graph.dependents(one) if reader in above and reader not in same]
    return output if output in found or not found else sorted(found)[0]


def _unconverted(
    value: Located,
    price: Located,
    upside: Located | None,
    basis: Located | None,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Judge a comparison without any conversion: certain only where both sides declare a currency themselves."""
    own = {label_code(held, recalc) for held in (value, basis) if held is not None} - {None}
    other = label_code(price, recalc)
    if (found := _never_converted(value, other, basis, recalc, graph)) is not None:
        yield found
        return
    if other is None or not own or other in own:
        yield NotApplicable(reason="one currency, or none declared")
        return
    reads = upside is not None and upside.cell is not None and value.cell in memory.above(graph, [upside.cell])
    if not reads or upside is None or upside.cell is None:
        yield NotApplicable(reason="value and price are not compared")
        return
    sides = {graph.pure_link(held.cell) for held in (value, price) if held.cell is not None}
    if any(graph.pure_link(cell) not in sides for cell in graph.precedents(upside.cell)):
        yield Unverifiable(reason=f"{upside.cell} reads a further number, which may be an exchange rate")
        return
    message = f"{upside.cell} compares a value in {'/'.join(sorted(map(str, own)))} with a price in {other} unconverted"
    yield Finding(message=message, cell=upside.cell, found=upside.value, expected=None, unit="rate")


def _never_converted(
    value: Located, target: str | None, basis: Located | None, recalc: Recalc, graph: Graph
) -> Finding | None:
    """Find a value per share declared in the price's currency whose equity, in another, is only divided by shares."""
    if value.cell is None or target is None or label_code(value, recalc) != target:
        return None
    source = label_code(basis, recalc) if basis is not None and basis.cell is not None else None
    read = [cell for cell in graph.precedents(value.cell) if recalc.number(cell) is not None]
    if source in (None, target) or basis is None or basis.cell not in read or len(read) > 2:
        return None
    message = f"{value.cell} is declared in {target} but divides {basis.cell}, in {source}, unconverted"
    return Finding(message=message, cell=value.cell, found=value.value, expected=None, unit="per share")


def label_code(located: Located, recalc: Recalc) -> str | None:
    """Return the currency that a cell's own label or unit names."""
    if located.cell is None:
        return None
    text = f"{row_label(recalc, located.cell)} {text_at(recalc, located.cell.offset(0, 1))}"
    return first_code(text) or first_code(column_label(recalc, located.cell)[:12])
