"""From the equity value to the value per share, and its comparison with the price."""

from __future__ import annotations

import math
import re

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, magnitude, memory, twins
from xlcheck.checks.blend_weights import blends_off_one
from xlcheck.checks.conversions import off_before
from xlcheck.checks.minor_units import accepted_powers
from xlcheck.checks.rounding import rounding_of
from xlcheck.checks.sheet import row_label, text_at
from xlcheck.engines import Unsolved
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles


@check("bridge.per-share", consequence_of=("fatal.unit-mix", "fatal.share-count", "fatal.currency-mix"))
def per_share(
    value_per_share: Located,
    equity_value: Located | None,
    shares: Located,
    current_price: Located | None,
    market_cap: Located | None,
    upside: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Value per share is equity value over the share count, in one unit, per the share that the price is for.

    What it holds:
        value per share × shares = equity value × a power of ten that the declared units explain, or × a stated
        exchange rate or ADS ratio. The power of ten puts the value nearer to the price, not as far from it; further
        valuations over as many shares carry the same one; the share count is of the size of the years beside it.
    Why it matters:
        Equity in millions over shares in thousands is wrong by a thousand.
    Accepted conventions:
        A scale factor inside the formula; a currency conversion with its rate in a cell; shares per ADS.
    Example:
        1,906 million over 80,000 thousand shares shown as 0.0238 instead of 23.82.
    How to fix:
        Bring equity and shares to the same unit, and multiply by the deposit ratio before comparing with an ADS price.
    Units and tolerance:
        Currency per share; 1e-6, plus the rounding of a ROUND formula.
    Source:
        CFA Level II, free cash flow valuation.
    """
    yield from filter(None, [magnitude.odd_year(shares, recalc, graph), *blends_off_one(roles, recalc, graph)])
    counted = with_label_unit(shares, recalc, graph)
    price = magnitude.market_price(value_per_share, current_price, market_cap, counted)
    if equity_value is None:
        yield from _without_equity(value_per_share, price, roles, recalc)
        return
    value, equity, count = value_per_share.value, equity_value.value, shares.value
    if value is None or not equity or not count:
        yield NotApplicable(reason="equity value or shares are zero or empty")
        return
    yield from twins.odd_scale(roles, recalc, graph)
    ratio = value * count / equity
    near = max(1e-6, rounding_of(recalc, value_per_share.cell) / abs(value) if value else 0.0)
    power = _power_of_ten(ratio, near)
    if power is None:
        yield from _unscaled(ratio, near, value_per_share, equity_value, shares, roles, recalc, graph)
        return
    owned = with_source_unit(equity_value, recalc, graph) if power == 0 and in_units(counted) else equity_value
    declared = count_power(owned, counted)
    if declared is not None and power - declared not in accepted_powers(value_per_share, recalc):
        yield _other_units(value_per_share, equity / count, declared, power)
        return
    said = owned.factor != 1 and labelled_factor(shares, recalc, graph) is not None
    off = None if said else magnitude.off_the_price(value_per_share, price, power, recalc)
    off = off or magnitude.impossible_count(value_per_share, owned, counted, power, recalc)
    if off is not None:
        yield off
    else:
        yield from _deposit_ratio(value_per_share, current_price, upside, recalc, graph)
        yield Fits(convention="equity over shares" if power == 0 else f"equity over shares, factor 1e{power}")


def _other_units(value: Located, whole: float, declared: int, power: int) -> Finding:
    message = f"{value.cell} is off by 10^{abs(declared - power)}: equity and shares stand in other units"
    return Finding(
        message=message, cell=value.cell, found=value.value, expected=whole * 10.0**declared, unit="per share"
    )


def _without_equity(value: Located, price: float | None, roles: Roles, recalc: Recalc) -> Outcomes:
    """Judge a value per share whose equity value lives inside its formula, or could not be recomputed."""
    off = magnitude.off_the_price(value, price, 0, recalc)
    if off is not None:
        yield off
    equity = roles.get("equity_value")
    if equity is None or equity.cell is None:
        yield NotApplicable(reason="no equity value stands in a cell of its own")
    elif isinstance(unsolved := recalc.value(equity.cell), Unsolved):
        yield Unverifiable(reason=f"{equity.cell} (equity_value) could not be recomputed: {unsolved.detail}")
    else:
        yield Unverifiable(reason=f"{equity.cell} (equity_value) holds no number")


def _power_of_ten(ratio: float, near: float) -> int | None:
    if ratio <= 0:
        return None
    power = round(math.log10(ratio))
    return power if abs(ratio / 10.0**power - 1) <= near and abs(power) <= 10 else None


_COUNT_UNITS = (
    (re.compile(r"\bthousands?\b|\b000s?\b|'000|千股", re.I), 1e3),
    (re.compile(r"\bmillions?\b|\bmn\b|\bmm\b|\bmio\b|百万股", re.I), 1e6),
    (re.compile(r"\bbillions?\b|\bbn\b", re.I), 1e9),
    (re.compile(r"万股"), 1e4),
    (re.compile(r"亿股"), 1e8),
)


def with_label_unit(shares: Located, recalc: Recalc, graph: Graph) -> Located:
    """Return the share count with the unit that its own label, or that of the cell it links to, declares."""
    if shares.cell is None:
        return shares
    declared = labelled_factor(shares, recalc, graph)
    if declared is not None:
        return shares.model_copy(update={"factor": declared})
    plain = shares.model_copy(update={"factor": 1.0})
    return plain if in_units(plain) else shares


def labelled_factor(shares: Located, recalc: Recalc, graph: Graph) -> float | None:
    """Return the unit that the label of a share count, or of the cell it links to, declares: 1e6 for millions."""
    for cell in (shares.cell, graph.pure_link(shares.cell)) if shares.cell is not None else ():
        label = f"{row_label(recalc, cell)} {text_at(recalc, cell.offset(0, 1))}"
        declared = {factor for words, factor in _COUNT_UNITS if words.search(label)}
        if len(declared) == 1:
            return declared.pop()
    return None


_SHEET_UNIT = re.compile(r"\b(?:amounts?|figures?|usd|eur|inr|rs\.?|\$)\W+(?:are\W+)?in\W+(thousand|million)s?\b", re.I)
_SCALE = re.compile(r"[*/]\s*\(?\s*(10{3,}|10\^\d+|1e\d+)", re.I)


def with_source_unit(equity: Located, recalc: Recalc, graph: Graph) -> Located:
    """Return the equity value with the unit that all statement sheets behind it declare, if its own declares none.

    Nothing is inferred where a formula on the way scales by a power of ten.
    """
    if equity.cell is None or equity.factor != 1:
        return equity
    behind = memory.above(graph, [equity.cell])
    formulas = ((recalc.book.get(cell), cell) for cell in behind)
    if any(held is not None and held.formula and _SCALE.search(held.formula) for held, _ in formulas):
        return equity
    sheets = {cell.sheet for cell in behind}
    texts = (held for held in recalc.book.cells() if isinstance(held.stored, str) and held.ref.sheet in sheets)
    found = {
        match[1].casefold()
        for held in texts
        if len(str(held.stored)) < 120 and (match := _SHEET_UNIT.search(str(held.stored)))
    }
    if len(found) != 1:
        return equity
    return equity.model_copy(update={"factor": 1e3 if found == {"thousand"} else 1e6})


def in_units(shares: Located) -> bool:
    """Say whether a share count is surely a plain number of shares: a large multiple of a thousand."""
    return shares.factor == 1 and shares.value is not None and shares.value >= 1e7 and shares.value % 1000 == 0


def count_power(equity: Located, shares: Located) -> int | None:
    """Return the power of ten by which equity/shares must be multiplied; None where the units do not tell it.

    A count is in units for certain where, in the money's unit, it would exceed a trillion shares, or where it is a
    large multiple of a thousand.
    """
    if equity.factor == 1 or shares.value is None:
        return None
    if shares.factor != 1:
        return round(math.log10(equity.factor / shares.factor))
    units = shares.value * equity.factor >= 1e12 or in_units(shares)
    return round(math.log10(equity.factor)) if units else None


def _unscaled(
    ratio: float,
    near: float,
    value: Located,
    equity: Located,
    shares: Located,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    enterprise = roles.get("enterprise_value")
    whole = enterprise.value if enterprise is not None else None
    if whole and value.value is not None and shares.value:
        claimed = value.value * shares.value / whole
        if _power_of_ten(claimed, near) is not None:
            expected = (equity.value or 0.0) / shares.value
            message = f"{value.cell} divides the enterprise value, not the equity value, by the shares"
            yield Finding(message=message, cell=value.cell, found=value.value, expected=expected, unit="per share")
            return
    for cell in _conversion_cells(value, graph):
        rate = recalc.number(cell) or 0.0
        if rate <= 0 or all(_power_of_ten(option, near) is None for option in (ratio / rate, ratio * rate)):
            continue
        if _CONVERSION.search(f"{row_label(recalc, cell)} {text_at(recalc, cell.offset(0, 1))}"):
            declared = count_power(equity, with_label_unit(shares, recalc, graph))
            off = off_before(value, equity, shares, cell, declared, recalc)
            if off is not None:
                yield off
                return
            yield Fits(convention=f"equity over shares, converted with {cell}")
        elif row_label(recalc, cell):
            yield Unverifiable(reason=f"{value.cell} is scaled by {rate:g} in {cell}, which is no exchange rate")
        else:
            plain = equity.value / shares.value if equity.value is not None and shares.value else None
            message = f"{value.cell} is equity over shares times an unlabelled {rate:g} in {cell}"
            yield Finding(message=message, cell=value.cell, found=value.value, expected=plain, unit="per share")
        return
    pair = _two_rates(ratio, near, value, recalc, graph)
    if pair is not None:
        yield Fits(convention=f"equity over shares, converted with {pair[0]} and {pair[1]}")
        return
    yield Unverifiable(reason=f"value per share × shares is {ratio:.6g} times the equity value")


def _two_rates(
    ratio: float, near: float, value: Located, recalc: Recalc, graph: Graph
) -> tuple[CellRef, CellRef] | None:
    """Return two labelled conversions, as an exchange rate and shares per ADS, that together make up a ratio."""
    cells = _conversion_cells(value, graph)
    cells += [cell for one in cells for cell in graph.precedents(one)]
    rates = {
        cell: rate
        for cell in dict.fromkeys(cells)
        if claims.formula_node(graph.pure_link(cell), recalc) is None
        and (rate := recalc.number(cell) or 0.0) > 0
        and _CONVERSION.search(row_label(recalc, cell))
    }
    for one, first in rates.items():
        for other, second in rates.items():
            options = (ratio / first / second, ratio / first * second, ratio * first / second, ratio * first * second)
            if one < other and any(_power_of_ten(option, near) == 0 for option in options):
                return one, other
    return None


_CONVERSION = re.compile(
    r"\b(fx|cny|rmb|hkd|usd|eur|gbp|jpy|inr|ad[sr]s?)\b|exchange|currency|汇率|人民币|港元|美元|kurs|wechsel", re.I
)


def _conversion_cells(value: Located, graph: Graph) -> list[CellRef]:
    """Return the cells besides equity and shares that the value per share reads, two steps up."""
    if value.cell is None:
        return []
    near = list(graph.precedents(value.cell))
    return [*near, *(cell for one in near for cell in graph.precedents(one))][:40]


_DEPOSIT = re.compile(r"\bAD[SR]s?\b|depositary|存托", re.I)


def _deposit_ratio(
    value: Located, price: Located | None, upside: Located | None, recalc: Recalc, graph: Graph
) -> Outcomes:
    """Find a price per ADS set against a value per ordinary share although the ratio is stated."""
    if upside is None or upside.cell is None or value.cell is None or _DEPOSIT.search(row_label(recalc, value.cell)):
        return
    quoted = [price.cell] if price is not None and price.cell is not None else list(graph.precedents(upside.cell))
    quoted = [cell for cell in quoted if _DEPOSIT.search(row_label(recalc, cell)) and recalc.number(cell)]
    if not quoted:
        return
    above = memory.above(graph, [upside.cell])
    worth = recalc.number(quoted[0]) or 0.0
    sheet = recalc.book.sheet(quoted[0].sheet)
    for held in sheet.cells.values() if sheet else ():
        ratio = recalc.number(held.ref)
        if ratio is None or ratio <= 1 or held.ref in above or not _DEPOSIT.search(row_label(recalc, held.ref)):
            continue
        if "per" in row_label(recalc, held.ref).casefold() and held.ref not in quoted and value.value:
            found, expected = recalc.number(upside.cell), value.value * ratio / worth - 1
            message = f"{upside.cell} sets the value of one share against the price of an ADS of {ratio:g} shares"
            yield Finding(message=message, cell=upside.cell, found=found, expected=expected, unit="rate")


_TYPED_ROUNDING = 0.0051
"""Half a percent point: how roughly an upside that is typed may be rounded."""
_UPSIDE = re.compile(
    r"upside|potential|expected return|上涨|上行|空间|升值|kurspotenzial|aufwärts"
    r"|\bto (?:the )?(?:current|market|spot|share price|last)\b",
    re.I,
)
_OF_THE_PRICE = re.compile(
    r"premium|discount|\b(over|under)\W{0,4}valu|margin of safety|\bP/?V\b|折价|溢价|高估|低估|安全边际|割安|割高"
    r"|(price|market|quote|cours|kurs|precio|株価|股价).*(value|intrinsic|fair|DCF|valeur|wert|valor|価値|价值)"
    r"|プレミアム|ディスカウント|décote|surcote|prim[ea]|prämie|descuento|desconto|sconto|premio|prêmio|abschlag|aufschlag"
    r"|bewertet",
    re.I,
)
"""What a quote of price over value may be called."""


@check("bridge.upside", consequence_of=("fatal.currency-mix", "fatal.unit-mix"))
def upside(
    upside: Located,
    value_per_share: Located,
    current_price: Located,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The upside compares the value per share with the price, the right way round for its label.

    What it holds:
        upside = value/price - 1; under other labels price/value, value/price, their differences and discounts.
    Why it matters:
        Price over value turns an undervalued share into an overvalued one.
    Accepted conventions:
        value/price - 1, 1 - price/value, the plain ratios and differences, percent points, a conversion of currency;
        price/value - 1 under a label of a premium or discount.
    Example:
        "Upside" ``=price/value-1`` shows -20 % where the share is worth 25 % more than it costs.
    How to fix:
        ``=value per share/price-1``.
    Units and tolerance:
        A decimal rate; 1e-6, half a percent point where it is typed.
    Source:
        CFA Level I, equity valuation.
    """
    found, value, price = upside.value, value_per_share.value, current_price.value
    if found is None or not value or not price or upside.cell is None:
        yield NotApplicable(reason="value or price is zero or empty")
        return
    found = found * upside.factor
    read = [rate for cell in graph.precedents(upside.cell) if (rate := recalc.number(cell))]
    rates = [1.0, *(rate for rate in read if rate not in (value, price))]
    right = value / price - 1
    fit = _comparison(found, value, price, rates, upside.cell, recalc)
    if fit is not None:
        name, scale = fit
        label = row_label(recalc, upside.cell)
        turned = name == "price/value - 1" and not Tolerance(absolute=1e-6).allows(price / value - 1, right)
        if turned and label and (_UPSIDE.search(label) or not _OF_THE_PRICE.search(label)):
            message = f"{upside.cell} shows price over value less 1; its label calls for value over price"
            yield Finding(message=message, cell=upside.cell, found=found, expected=right * scale, unit="rate")
        else:
            yield Fits(convention=name)
        return
    held = recalc.book.get(upside.cell)
    typed = held is not None and held.formula is None
    if typed and Tolerance(absolute=_TYPED_ROUNDING).allows(found, right):
        yield Fits(convention="value/price - 1, typed and rounded")
        return
    if not typed and value_per_share.cell not in memory.above(graph, [upside.cell]):
        yield Unverifiable(reason=f"{upside.cell} does not read the value per share")
        return
    shown = "is typed as" if typed else "is"
    message = f"{upside.cell} {shown} {found:.4g}; value over price less 1 is {right:.4g}"
    yield Finding(message=message, cell=upside.cell, found=found, expected=right, unit="rate")


def _comparison(
    found: float, value: float, price: float, rates: list[float], cell: CellRef, recalc: Recalc
) -> tuple[str, float] | None:
    """Return how value and price are compared and the scale of the result; one shown with % is no percent point."""
    tolerance = Tolerance(relative=1e-6, absolute=1e-6 + rounding_of(recalc, cell))
    held = recalc.book.get(cell)
    scales = (1.0,) if held is not None and "%" in held.number_format else (1.0, 100.0)
    for scale in scales:
        for rate in (option for one in rates for option in (one, 1 / one)):
            for name, expected in _comparisons(value * rate, price):
                if tolerance.allows(found, expected * scale):
                    return name, scale
    return None


def _comparisons(value: float, price: float) -> list[tuple[str, float]]:
    return [
        ("value/price - 1", value / price - 1),
        ("value/price", value / price),
        ("value - price", value - price),
        ("1 - price/value", 1 - price / value),
        ("1 - value/price", 1 - value / price),
        ("price/value", price / value),
        ("price - value", price - value),
        ("price/value - 1", price / value - 1),
    ]
