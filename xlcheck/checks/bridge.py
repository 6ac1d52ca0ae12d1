"""From the enterprise value to the equity value: signs and identity of the bridge."""

from __future__ import annotations

import re
from collections.abc import Collection

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, live, memory, twins, valuation
from xlcheck.checks.amounts import money, sum_of
from xlcheck.checks.bridge_direction import net_turned
from xlcheck.checks.bridge_labels import against_labels
from xlcheck.checks.bridge_units import odd_units
from xlcheck.checks.conversions import bridge_step, source_of
from xlcheck.checks.exchange_rates import quotes
from xlcheck.checks.flow_terms import items_of
from xlcheck.checks.sheet import first_text, row_label
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles
from xlcheck.roles.text import fold, stated_sign


@check("bridge.signs")
def signs(equity_value: Located, roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    """Cash and investments raise the equity value; debt and the other claims lower it.

    What it holds:
        In the live model, each bound bridge item moves the equity in its own direction, whatever its own sign, and net
        debt in the same direction in every valuation of the workbook.
    Why it matters:
        A flipped sign counts twice: a net debt of 250 added instead of deducted is an error of 500.
    Accepted conventions:
        Claims entered as negatives and added; net debt deducted, or negative for net cash; negative minorities.
    Example:
        ``=E55-K25-I7`` deducts the cash in I7.
    How to fix:
        Add cash and investments, deduct debt, leases, minorities, preferred equity and pension deficits.
    Units and tolerance:
        Money of the sheet; direction only.
    Source:
        Koller et al., Valuation, ch. 16; Damodaran, Investment Valuation, ch. 16.
    """
    if equity_value.cell is None or equity_value.value is None:
        yield NotApplicable(reason="the equity value lives only inside another formula")
        return
    yield from twins.net_debt_turned(roles, recalc, graph)
    yield from twins.bridge_item_turned(roles, recalc, graph)
    acting = claims.items(roles, recalc, graph)
    if not acting:
        turned = list(net_turned(roles, recalc, graph))
        yield from turned or _net_only(roles, recalc, graph)
        yield from against_labels(roles, recalc, graph)
        return
    yield from net_turned(roles, recalc, graph)
    owed = [item for item in acting if item.role in claims.CLAIMS]
    entered = any(item.natural < 0 and item.slope > 0 for item in owed)
    deducted = any(item.natural > 0 and item.slope < 0 for item in owed)
    for item in acting:
        double = item.role in claims.CLAIMS and item.natural < 0 and item.amount > 0
        mixed = entered or (deducted and not _NET.search(row_label(recalc, item.cell)))
        if item.wrong or _owned_as_owed(item, recalc) or (double and mixed and item.role not in claims.MAY_BE_NEGATIVE):
            yield _turned(item, equity_value)
    yield from against_labels(roles, recalc, graph)


def _owned_as_owed(item: claims.Item, recalc: Recalc) -> bool:
    """Say whether an asset that its label adds is typed as a negative amount."""
    negative = item.role in claims.ASSETS and item.natural < 0 and item.amount < 0
    return negative and stated_sign(first_text(row_label(recalc, item.cell))) == 1


_NET = re.compile(r"\bnett?o?\b|净|純|\bposition\b", re.I)
"""A net amount may be negative: what is owned then exceeds what is owed."""
_DEBT = re.compile(
    r"debt|borrowing|债|負債|负债|schuld|verbindlichkeit|dette|endettement|deuda|divida|debito|долг|차입금|no vay"
)
_CASH = re.compile(
    r"cash|fund|surplus|现金|現金|キャッシュ|liquid|guthaben|tresorerie|caja|efectivo|caixa|cassa|finanzposition|posizione"
    r"|денежн|현금|[/／]|\(\s*(?:net\s+)?debt"
)
"""Words and forms (``Net funds/(debt)``) under which a positive amount may be owned, not owed."""


def _net_only(roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    net = roles.get("net_debt")
    equity = roles["equity_value"].cell
    if net is None or net.cell is None or not net.value or equity is None:
        yield NotApplicable(reason="no bridge item is bound")
        return
    acting = claims.acting_cell(net.cell, equity, claims.held_operations(roles, recalc), recalc, graph)
    if acting is None:
        yield NotApplicable(reason="the net debt does not move the equity value")
    elif acting[1] > 0 and net.value > 0 and _called_debt(row_label(recalc, net.cell)):
        message = f"net debt of {net.value:.6g} ({net.cell}) raises the equity value: it must be deducted"
        stated = roles["equity_value"].value or 0.0
        yield money(message, equity, stated, stated - 2 * acting[1] * net.value)
    elif acting[1] < 0 and net.value > 0 and _called_cash(row_label(recalc, acting[0])):
        message = f"net cash of {net.value:.6g} ({net.cell}) lowers the equity value: it must be added"
        stated = roles["equity_value"].value or 0.0
        yield money(message, equity, stated, stated - 2 * acting[1] * net.value)
    else:
        yield Fits(convention="net debt deducted" if acting[1] * net.value < 0 else "net cash added")


def _called_debt(label: str) -> bool:
    """Say whether the label calls the amount debt and not cash: a positive amount is then owed."""
    words = fold(label)
    return bool(_DEBT.search(words)) and not _CASH.search(words)


def _called_cash(label: str) -> bool:
    """Say whether the label calls the amount net cash and nothing else: a positive amount is then owned."""
    words = fold(first_text(label))
    return bool(re.search(r"\bnet cash\b|净现金|ネットキャッシュ", words)) and not re.search(
        r"[/／]|debt|债|負債", words
    )


def _turned(item: claims.Item, equity: Located) -> Finding:
    name = item.role.replace("_", " ")
    if item.role in claims.ASSETS:
        how = "lowers the equity value: it must be added"
    else:
        how = "raises the equity value: it must be deducted"
    if item.wholesale:
        message = f"{item.cell} ({name}, {item.value:.6g}) {how}"
        return money(message, item.cell, item.value, -item.value)
    message = f"{name} of {abs(item.value):.6g} ({item.cell}) {how}"
    stated = equity.value or 0.0
    return money(message, equity.cell, stated, stated - 2 * item.amount)


@check("bridge.equity-identity", consequence_of=("bridge.signs", "bridge.net-debt"))
def equity_identity(
    equity_value: Located | None,
    enterprise_value: Located | None,
    value_per_share: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Equity value is enterprise value less debt and other claims plus cash and other assets.

    What it holds:
        Equity moves one for one with enterprise value, and every item shown between the two is in it with its sign.
    Why it matters:
        Enterprise value divided by shares ignores what is owed before shareholders are paid.
    Accepted conventions:
        Net debt in one cell; claims entered as negatives; cash in working capital; a typed amount inside the formula;
        flows to equity that need no bridge.
    Example:
        ``=SUM(B8:F8,B10)/613.3``: the present values over the shares, although debt of 21,206 stands in the WACC.
    How to fix:
        Deduct net debt and other claims at the valuation date from the enterprise value.
    Units and tolerance:
        Money of the sheet; 1e-6 of the largest term.
    Source:
        Koller et al., Valuation, ch. 16; CFA Level II, free cash flow valuation.
    """
    if "fcff" not in roles.series and "fcfe" in roles.series:
        yield from _owed_twice(equity_value, roles, recalc, graph)
        return
    if equity_value is None or equity_value.value is None:
        yield from _without_equity(value_per_share, roles, recalc, graph)
        return
    beside = _own_column(equity_value.cell, recalc, graph)
    if beside:
        message = f"{equity_value.cell} adds up another column: {beside[0]} and the lines below it are read by nothing"
        yield money(message, equity_value.cell, equity_value.value, None)
        return
    if enterprise_value is None or enterprise_value.value is None or equity_value.cell is None:
        yield NotApplicable(reason="no enterprise value is bound beside the equity value")
        return
    equity_value = _in_its_own_currency(equity_value, recalc, graph)
    wrong = [item for item in claims.items(roles, recalc, graph) if item.wrong]
    dropped = [one for one in claims.forgotten(roles, graph) if not _on_purpose(*one, roles, recalc, graph)]
    stated, where = equity_value.value or 0.0, equity_value.cell
    if wrong:
        expected = stated - sum(2 * item.amount for item in wrong)
        names = ", ".join(item.role.replace("_", " ") for item in wrong)
        yield money(f"{where} takes {names} with the wrong sign", where, stated, expected)
    elif dropped and not _adds_up(stated, enterprise_value.value, roles, {role for role, _ in dropped}):
        for role, located in dropped:
            value = located.value or 0.0
            amount = -value if role == "net_debt" else abs(value) * (1 if role in claims.ASSETS else -1)
            message = f"{where} leaves out {role.replace('_', ' ')} of {abs(amount):.6g} ({located.cell})"
            yield money(message, where, stated, stated + amount)
    else:
        yield from _one_for_one(equity_value, enterprise_value, roles, recalc, graph)


_ASIDE = re.compile(
    r"\bnot (?:deducted|subtracted|included|added|counted)\b|\bmemo\b|\bfor information\b|\bnachrichtlich\b"
    r"|nicht (?:abgezogen|enthalten)|不扣|不计入|仅供参考",
    re.IGNORECASE,
)
_RENT = re.compile(
    r"\brents?\b|\brental\b|\b(?:operating )?lease (?:expense|cost|payment|charge)s?\b|租金|miete", re.IGNORECASE
)


def _on_purpose(role: str, item: Located, roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    """Say whether a claim stands outside the bridge by its own label, or is a lease whose rent the flows bear."""
    if item.cell is not None and _ASIDE.search(row_label(recalc, item.cell)):
        return True
    flows = valuation.flows_of(roles)
    if role != "lease_liabilities" or flows is None:
        return False
    return any(_RENT.search(row_label(recalc, cell)) for cell in memory.above(graph, [flows.cells[-1]]))


def _in_its_own_currency(equity: Located, recalc: Recalc, graph: Graph) -> Located:
    """Return the equity value before it is taken to the currency of the shares or to another unit."""
    rates = {cell for quote in quotes(recalc) for cell in valuation.links(graph, graph.pure_link(quote.cell))}
    source = source_of(equity.cell, recalc.book, rates) if equity.cell is not None else None
    value = recalc.number(source) if source is not None else None
    return equity if source == equity.cell else equity.model_copy(update={"cell": source, "value": value})


def _own_column(equity: CellRef | None, recalc: Recalc, graph: Graph) -> list[CellRef]:
    """Return the idle lines of an equity value's own column, where its formula reads the same lines of another one."""
    read = graph.precedents(equity) if equity is not None else ()
    if equity is None or len(read) < 3 or len({(cell.sheet, cell.column) for cell in read}) > 1:
        return []
    own = [CellRef(cell.sheet, cell.row, equity.column) for cell in read]
    idle = all(recalc.number(cell) is not None and not graph.dependents(cell) for cell in own)
    return own if idle and read[0].sheet == equity.sheet and read[0].column != equity.column else []


def _owed_twice(equity: Located | None, roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    """Judge the bridge of a value of flows after interest and borrowing: debt has been served in them already."""
    terms = items_of(recalc, roles, roles.series["fcfe"].cells[0])
    served = any(term.kind in ("interest", "borrowing", "after_financing") for term in terms)
    owed = [item for item in claims.items(roles, recalc, graph) if item.role == "debt" and item.amount < 0]
    debt = [item for item in owed if valuation.close(item.slope, round(item.slope), 1e-3)]  # not through the rate
    if equity is None or equity.value is None or not served or not debt:
        yield NotApplicable(reason="flows to equity need no bridge")
        return
    amount = sum(item.amount for item in debt)
    message = f"{equity.cell} deducts debt of {abs(amount):.6g} ({debt[0].cell}) from a value of flows to equity"
    yield money(message, equity.cell, equity.value, equity.value - amount)


def _adds_up(stated: float, value: float, roles: Roles, dropped: Collection[str] = ()) -> bool:
    """Say whether the bound items add up to the stated equity, each with its usual sign.

    An item that equity does not read must be in the sum; net debt stands for cash, debt and leases only.
    """
    amounts = {
        role: abs(located.value) * (1 if role in claims.ASSETS else -1)
        for role in (*claims.ASSETS, *claims.CLAIMS)
        if (located := roles.get(role)) is not None and located.value is not None
    }
    options = [value + sum(amounts.values())]
    net = roles.get("net_debt")
    if net is not None and net.value is not None and "net_debt" not in dropped:
        beside = sum(amounts[role] for role in dropped if role in amounts and role not in _IN_NET_DEBT)
        options += [value - net.value + beside, value + net.value + beside]
    return any(Tolerance().allows(stated, option, abs(value)) for option in options)


_IN_NET_DEBT = ("cash", "debt", "lease_liabilities")


def _one_for_one(equity: Located, enterprise: Located, roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    if equity.cell is None or enterprise.cell is None or equity.value is None or enterprise.value is None:
        return
    if equity.cell == enterprise.cell:
        yield NotApplicable(reason="enterprise and equity value are one cell")
        return
    step = bridge_step(enterprise, equity, recalc)
    slope = live.derivative(recalc, equity.cell, enterprise.cell)
    if slope is None or abs(slope) < 1e-9:
        if not _adds_up(equity.value, enterprise.value, roles):
            yield Unverifiable(reason=f"{equity.cell} does not read {enterprise.cell}")
        return
    yield from odd_units(equity, enterprise, roles, recalc, graph)
    if not valuation.close(slope, step, 1e-4) and not _adds_up(equity.value, enterprise.value, roles):
        yield Unverifiable(reason=f"{equity.cell} moves by {slope:.4g} for one unit of enterprise value")
        return
    debt = roles.get("debt")
    if valuation.close(equity.value, enterprise.value) and debt is not None and debt.value:
        message = f"{equity.cell} equals the enterprise value although there is debt of {abs(debt.value):.6g}"
        yield money(message, equity.cell, equity.value, None)
        return
    yield Fits(convention="enterprise value less claims plus assets")


_DEBT_WORDS = re.compile(r"\b(debt|borrowings?|loans?)\b|借款|负债|債|债务|schulden", re.I)


def _without_equity(value_per_share: Located | None, roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    """Judge a value per share without an equity value: enterprise value over shares, or a bridge inside one formula."""
    shares, total = roles.get("shares"), sum_of(roles.get("sum_pv_fcff"), roles.series.get("pv_fcff"))
    present = roles.get("pv_terminal_value")
    if value_per_share is None or value_per_share.cell is None or shares is None or not shares.value:
        yield NotApplicable(reason="no equity value and no value per share is bound")
        return
    if total is None or present is None or present.value is None or value_per_share.value is None:
        yield NotApplicable(reason="the bridge stands inside the formula of the value per share")
        return
    claimed = value_per_share.value * shares.value
    if not valuation.close(claimed, total + present.value):
        yield NotApplicable(reason="the bridge stands inside the formula of the value per share")
        return
    debt = _debt_in_the_rate(roles, recalc, graph)
    if debt is None:
        yield Unverifiable(reason="enterprise value is divided by the shares; no debt is known to be left out")
        return
    cell, amount = debt
    message = (
        f"{value_per_share.cell} divides the enterprise value by the shares; debt of {amount:.6g} ({cell}) is owed"
    )
    expected = (claimed - amount) / shares.value
    yield Finding(
        message=message,
        cell=value_per_share.cell,
        found=value_per_share.value,
        expected=expected,
        unit="per share",
    )


def _debt_in_the_rate(roles: Roles, recalc: Recalc, graph: Graph) -> tuple[CellRef, float] | None:
    debt = roles.get("debt")
    if debt is not None and debt.value and debt.cell is not None:
        return debt.cell, abs(debt.value)
    wacc = roles.get("wacc")
    if wacc is None or wacc.cell is None:
        return None
    for cell in graph.precedents(graph.pure_link(wacc.cell)):
        amount = recalc.number(cell)
        label = row_label(recalc, cell)
        if amount is not None and amount > 10 and _DEBT_WORDS.search(label) and "cost" not in label.casefold():
            return cell, amount
    return None
