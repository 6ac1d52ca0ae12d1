"""What the bridge leaves out or counts twice, and the share count that it is divided by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Params, check
from xlcheck.checks import claims, live, memory, valuation
from xlcheck.checks.amounts import money
from xlcheck.checks.bridge_direction import counted_twice
from xlcheck.checks.bridge_idle import idle_between, idle_debt, unread_line
from xlcheck.checks.bridge_sources import sources
from xlcheck.checks.buyback import added_buyback, own_shares_added, turned_round
from xlcheck.checks.sheet import row_label
from xlcheck.formula import Binary, Node, Number, Ref, factors, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@check("bridge.completeness")
def completeness(
    equity_value: Located,
    enterprise_value: Located,
    net_debt: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
    params: Params,
) -> Outcomes:
    """No claim or asset that the workbook or the rubric knows of is missing from the bridge.

    What it holds:
        Debt that is bound anywhere moves the equity value, and so does cash where debt does; items that the rubric
        lists (``items: "minority_interest, investments"``) are bound and move it.
    Why it matters:
        A forgotten claim goes to the shareholders only on paper.
    Accepted conventions:
        Net debt in one cell; cash in working capital; items of no amount.
    Example:
        Gross debt of 5,500 deducted, cash of 3,993 on the balance sheet not added.
    How to fix:
        Add the missing line to the bridge.
    Units and tolerance:
        Money of the sheet; items above a thousandth of enterprise value.
    Source:
        Koller et al., Valuation, ch. 16.
    """
    equity, total = equity_value.cell, enterprise_value.value
    if equity is None or not total:
        yield NotApplicable(reason="no equity value is bound to a cell")
        return
    listed = params.get("items")
    wanted = {name.strip() for name in listed.split(",")} if isinstance(listed, str) else set()
    for role in sorted(wanted - set(roles.scalars)):
        message = f"the bridge has no line for {role.replace('_', ' ')}"
        yield Finding(message=message, cell=equity, found=None, expected=role.replace("_", " "))
    yield from idle_debt(roles, total, recalc, graph)
    yield from idle_between(roles, total, recalc, graph)
    yield from unread_line(roles, recalc, graph)
    acting = {item.role for item in claims.items(roles, recalc, graph)}
    flows = valuation.flows_of(roles)
    operating = memory.above(graph, flows.cells) if flows is not None else frozenset()
    held = claims.held_operations(roles, recalc)
    net = net_debt is not None and bool(net_debt.value)
    for role in ("debt", "cash", *sorted(wanted)):
        located = roles.get(role)
        if role in acting or located is None or located.cell is None or not located.value or net:
            continue
        parts = [source.cell for source in sources(located.cell, recalc, graph)]
        if parts and all(claims.acting_cell(part, equity, held, recalc, graph) is not None for part in parts):
            continue
        needed = role in wanted or role == "debt" or "debt" in acting
        if needed and abs(located.value) > abs(total) * 1e-3 and located.cell not in operating:
            amount = abs(located.value) * (1 if role in claims.ASSETS else -1)
            message = f"{role.replace('_', ' ')} of {abs(amount):.6g} ({located.cell}) is not in the bridge"
            stated = equity_value.value
            yield money(message, equity, stated, None if stated is None else stated + amount)


_LEASE_FLOW = re.compile(
    r"(lease|rent(al)?)\s+(payment|expense|cost)s?|cash leases?|^rent\b|租金|租赁付款|支付租赁", re.I
)
_ASSOCIATES = re.compile(r"associate|joint venture|affiliate|equity[- ](method|accounted)|联营|合营|长期股权投资", re.I)
_INCOME_OF_INVESTMENTS = re.compile(
    r"(income|gains?|profits?|dividends?)( and (income|gains?|dividends?))? (from|on|of) "
    r"(sales? of )?(the |our |equity |strategic |financial |marketable )*(investments?|securities|stakes|holdings)"
    r"|investment (income|gains?)|投资收益",
    re.I,
)
_INCOME_OF_ASSOCIATES = re.compile(
    rf"(income|profits?|results?|earnings|dividends?) (from|of) (the |our )*({_ASSOCIATES.pattern})"
    rf"|{_INCOME_OF_INVESTMENTS.pattern}",
    re.I,
)


@check("bridge.no-double-count", consequence_of=("bridge.source-matches-label",))
def no_double_count(
    lease_liabilities: Located | None,
    enterprise_value: Located | None,
    fcff: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Nothing is counted twice: in the flows and in the bridge, or in two lines of the bridge.

    What it holds:
        Rent is not deducted from the flows where the lease liability is in debt; income of investments does not enter
        the flows where the bridge adds the investments; no item moves equity by twice its amount; no two items of one
        direction link to the same balance.
    Why it matters:
        A lease liability of 220 beside rent in the flows takes the same obligation from the shareholders twice.
    Accepted conventions:
        Leases in debt with rent added back, or out of debt with rent kept; new leases as capital expenditure.
    Example:
        "Cash lease payments" of -40 in the flow and "Lease liabilities" of -220 in the bridge.
    How to fix:
        Drop one of the two legs.
    Units and tolerance:
        Money of the sheet.
    Source:
        IFRS 16; Koller et al., Valuation, ch. 22.
    """
    items = claims.items(roles, recalc, graph)
    equity = claims.equity_cell(roles, recalc, graph)
    if equity is None:
        yield NotApplicable(reason="no equity value adds to the enterprise value")
        return
    for item in items:
        if valuation.close(abs(item.slope), 2.0, 1e-3):
            message = f"{item.role.replace('_', ' ')} ({item.cell}) moves the equity value by twice its amount"
            stated = recalc.number(equity)
            yield money(message, equity, stated, None if stated is None else stated - item.amount / 2)
    yield from _same_source(items, recalc, graph)
    yield from counted_twice(items, roles, recalc, graph)
    yield from _earned_and_added(items, roles, recalc, graph)
    lease = next((item for item in items if item.role == "lease_liabilities"), None)
    if lease is None:
        return
    paid = _in_flows(_LEASE_FLOW, -1, roles, recalc, graph)
    if paid is not None:
        message = f"lease liabilities ({lease.cell}) are deducted and so are the lease payments in {paid}"
        yield money(message, lease.cell, lease.value, 0.0)
    else:
        yield Fits(convention="leases in debt, no rent in the flows")


def _same_source(items: list[claims.Item], recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    seen: dict[tuple[CellRef, bool], claims.Item] = {}
    for item in items:
        for source in sources(item.cell, recalc, graph):
            key = (source.cell, item.amount > 0)
            other = seen.setdefault(key, item)
            if other is not item and other.cell != item.cell:
                message = f"{item.role.replace('_', ' ')} and {other.role.replace('_', ' ')} both take {source.cell}"
                yield money(message, item.cell, item.value, None)


def _earned_and_added(items: list[claims.Item], roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find income of investments that raises the flows although the bridge adds the investments."""
    held = next((item for item in items if item.role == "investments" and item.amount > 0), None)
    if held is None:
        return
    associates = _ASSOCIATES.search(row_label(recalc, held.cell))
    income = _in_flows(_INCOME_OF_ASSOCIATES if associates else _INCOME_OF_INVESTMENTS, 1, roles, recalc, graph)
    if income is not None:
        named = row_label(recalc, income)
        message = f"investments ({held.cell}) are added in the bridge and {named!r} ({income}) is in the flows"
        yield money(message, income, recalc.number(income), 0.0)


def _in_flows(labelled: re.Pattern[str], direction: int, roles: Roles, recalc: Recalc, graph: Graph) -> CellRef | None:
    """Return a line of that label that moves the flows (or the enterprise value where none are bound) that way."""
    flows = valuation.flows_of(roles)
    total = claims.named(roles, "enterprise_value", recalc)
    outputs = flows.cells[:1] if flows is not None else (total.cell,) if total is not None and total.cell else ()
    for output in outputs:
        near = list(graph.precedents(output))
        for cell in [*near, *(other for one in near for other in graph.precedents(one))]:
            value = recalc.number(cell)
            if value and labelled.search(row_label(recalc, cell)):
                slope = live.derivative(recalc, output, cell)
                if slope is not None and slope * value * direction > 0:
                    return cell
    return None


@dataclass(frozen=True)
class Dilution:
    """One use of the treasury stock method: N·(1 - K/P) in a formula."""

    cell: CellRef
    strike: CellRef
    price: CellRef


@check("bridge.diluted-shares")
def diluted_shares(
    shares: Located | None,
    current_price: Located | None,
    value_per_share: Located | None,
    equity_value: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Dilution follows the treasury stock method at the market price or the model's own value, and converts count once.

    What it holds:
        In N·max(0, 1 - K/P) behind the share count, P is the current price or the value per share; nothing that is
        deducted as debt raises the share count too; options in the money among the inputs are in the count.
    Why it matters:
        At a 52-week high options dilute that are out of the money today.
    Accepted conventions:
        Basic shares without dilutive instruments; RSUs in full; if-converted or as debt; a converged loop on own value.
    Example:
        ``=D76*MAX(0,1-E76/F76)`` with F76 linked to the 52-week high of 28.40 beside a price of 19.60.
    How to fix:
        Link the buy-back price to the current share price.
    Units and tolerance:
        A count; 1e-6.
    Source:
        IAS 33; Koller et al., Valuation, ch. 16.
    """
    shares = shares or claims.named(roles, "diluted_shares", recalc)
    if shares is None or shares.cell is None:
        yield NotApplicable(reason="no share count is bound to a cell")
        return
    found = list(dilutions(shares.cell, recalc, graph))
    known = [held for held in (current_price, value_per_share) if held is not None and held.cell is not None]
    right = {graph.pure_link(held.cell) for held in known if held.cell is not None}
    values = [held.value for held in known if held.value is not None]
    for one in found if known else ():
        price = recalc.number(one.price)
        yield from _unguarded(one, price, recalc)
        if graph.pure_link(one.price) in right or any(price == value for value in values) or price is None:
            continue
        yield from _mispriced(one, price, current_price, recalc)
    yield from _converted_twice(shares.cell, roles, recalc, graph)
    yield from own_shares_added(shares.cell, recalc, graph)
    if current_price is not None and current_price.cell is not None:
        yield from turned_round(shares.cell, current_price.cell, _STRIKE, recalc, graph)
    if not found and current_price is not None and current_price.value and current_price.cell is not None:
        yield from _idle_options(shares, current_price.value, recalc, graph)
        yield from added_buyback(shares.cell, current_price.cell, _STRIKE, recalc, graph)
    if not found:
        yield Fits(convention="no treasury stock method behind the share count")


_STRIKE = re.compile(
    r"strike|exercise price|行权价|行使価格|権利行使|prix d.exercice|ausübungspreis|precio de ejercicio"
    r"|prezzo d.esercizio",
    re.I,
)
_OPTIONS = re.compile(
    r"\boptions?\b|\bwarrants?\b|期权|認股|认股|新株予約権|オプション|optionen|opciones|opzioni", re.I
)
_DILUTED = re.compile(r"dilut|稀释|希薄|verwässert|diluid", re.I)


def _idle_options(shares: Located, price: float, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find options in the money that stand in the inputs and that nothing reads, beside a count without them."""
    if shares.cell is None or not shares.value:
        return
    source = graph.pure_link(shares.cell)
    held = recalc.book.get(source)
    if held is None or held.formula is not None or _DILUTED.search(row_label(recalc, source)):
        return
    named = {(one.ref.sheet, one.ref.row) for one in recalc.book.cells() if _STRIKE.search(str(one.stored))}
    idle = [
        one.ref
        for one in (recalc.book.cells() if named else ())
        if one.formula is None and (recalc.number(one.ref) or 0.0) > 0 and not graph.dependents(one.ref)
    ]
    strikes = [cell for cell in idle if (cell.sheet, cell.row) in named and _STRIKE.search(row_label(recalc, cell))]
    for strike in strikes:
        near = [
            CellRef(strike.sheet, strike.row + step, strike.column) for step in (-1, 1, -2, 2) if strike.row + step > 0
        ]
        counts = [cell for cell in near if cell in idle and _OPTIONS.search(row_label(recalc, cell))]
        counts = [cell for cell in counts if not _STRIKE.search(row_label(recalc, cell))]
        paid, number = recalc.number(strike) or 0.0, recalc.number(counts[0]) or 0.0 if counts else 0.0
        added = number * (1 - paid / price)
        if 1e-3 < added / shares.value < 0.5:
            message = f"{shares.cell} leaves out {number:g} options ({counts[0]}): strike {paid:g}, price {price:g}"
            yield Finding(
                message=message, cell=shares.cell, found=shares.value, expected=shares.value + added, unit="count"
            )
            return


def dilutions(shares: CellRef, recalc: Recalc, graph: Graph) -> Iterator[Dilution]:
    """Yield the formulas behind the share count that hold 1 - K/P with K and P in cells."""
    for cell in sorted(memory.above(graph, [shares])):
        node = claims.formula_node(cell, recalc)
        for part in walk(node) if node is not None else ():
            pair = _one_less_ratio(part)
            if pair is not None and "%" not in _format(pair[1].cell, recalc):
                yield Dilution(cell, pair[0].cell, pair[1].cell)


def _one_less_ratio(node: Node) -> tuple[Ref, Ref] | None:
    """Return (K, P) of ``1-K/P`` or ``(P-K)/P``."""
    if not isinstance(node, Binary):
        return None
    if node.operator == "-" and isinstance(node.left, Number) and node.left.value == 1:
        over = node.right
        if isinstance(over, Binary) and over.operator == "/":
            return (over.left, over.right) if isinstance(over.left, Ref) and isinstance(over.right, Ref) else None
    if node.operator == "/" and isinstance(node.left, Binary) and node.left.operator == "-":
        above = node.left
        if isinstance(above.left, Ref) and isinstance(above.right, Ref) and isinstance(node.right, Ref):
            return (above.right, node.right) if above.left.cell == node.right.cell else None
    return None


def _format(cell: CellRef, recalc: Recalc) -> str:
    held = recalc.book.get(cell)
    return held.number_format if held is not None else ""


def _mispriced(one: Dilution, price: float, current: Located | None, recalc: Recalc) -> Iterator[Finding]:
    strike = recalc.number(one.strike)
    if strike is None or current is None or not current.value or not 0 < price / current.value < 20:
        return
    held = recalc.book.get(one.price)
    linked = held is not None and held.formula is not None
    where = one.price if linked else one.cell
    message = (
        f"{one.cell} buys back at {price:g} ({one.price}), the current price is {current.value:g} ({current.cell})"
    )
    if linked:
        yield Finding(message=message, cell=where, found=price, expected=current.value, unit="per share")
        return
    diluted = recalc.number(one.cell)
    at_price = dcf.treasury_stock(0.0, 1.0, strike, price)
    expected = None if not at_price or diluted is None else diluted / at_price * max(0.0, 1 - strike / current.value)
    yield Finding(message=message, cell=where, found=diluted, expected=expected, unit="count")


def _unguarded(one: Dilution, price: float | None, recalc: Recalc) -> Iterator[Finding]:
    """Find options out of the money that reduce the count because no MAX or IF stands around them."""
    strike, held, shown = recalc.number(one.strike), recalc.book.get(one.cell), recalc.number(one.cell)
    if strike is None or not price or strike <= price or held is None or shown is None:
        return
    if re.search(r"MAX\(|IF\(", held.formula or "", re.I):
        return
    slope = live.derivative(recalc, one.cell, one.strike)
    if slope is None or slope >= 0:
        return
    number = -slope * price
    message = (
        f"{one.cell} lets options at {strike:g} reduce the count while the price is {price:g}: they are not exercised"
    )
    expected = shown - number * (1 - strike / price)
    yield Finding(message=message, cell=one.cell, found=shown, expected=expected, unit="count")


def _converted_twice(shares: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find an amount that is deducted from the equity and raises the share count: a convertible counted both ways."""
    equity = claims.equity_cell(roles, recalc, graph)
    if equity is None:
        return
    counted = memory.above(graph, [shares]) - {shares}
    held = claims.held_operations(roles, recalc)
    for cell in graph.precedents(equity):
        source = graph.pure_link(cell)
        value = recalc.number(source)
        if source not in counted or not value or source in held:
            continue
        raises = live.derivative(recalc, shares, source)
        lowers = live.derivative(recalc, equity, source, held)
        if raises and lowers and raises * value > 0 and lowers * value < 0 and _divided(source, counted, recalc, graph):
            message = f"{source} ({value:.6g}) is deducted as debt and converted into {raises * value:.6g} shares"
            stated = recalc.number(equity)
            yield money(message, equity, stated, None if stated is None else stated - lowers * value)


def _divided(source: CellRef, counted: frozenset[CellRef], recalc: Recalc, graph: Graph) -> bool:
    """Say whether the amount is divided by a conversion price on its way into the count."""
    for reader in graph.dependents(source):
        node = claims.formula_node(reader, recalc)
        for part in walk(node) if node is not None else ():
            if isinstance(part, Binary) and part.operator == "/":
                tops = [one for one, power in factors(part) if power == 1 and isinstance(one, Ref)]
                if any(isinstance(one, Ref) and one.cell == source for one in tops):
                    return True
    return False
