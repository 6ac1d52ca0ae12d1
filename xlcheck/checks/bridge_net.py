"""Net debt: what is owed less the cash."""

from __future__ import annotations

import re

from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, memory, valuation
from xlcheck.checks.amounts import money
from xlcheck.checks.flow_terms import traced
from xlcheck.checks.sheet import row_label
from xlcheck.formula import Range, Ref, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles

_OWED = re.compile(
    r"debt|loan|borrow|\bbonds?\b|\bnotes\b|lease|interest[\s-]bearing|credit facilit|revolver|债|借款|schulden|dette",
    re.IGNORECASE,
)


@check("bridge.net-debt")
def net_debt(
    net_debt: Located, cash: Located | None, debt: Located | None, roles: Roles, recalc: Recalc, graph: Graph
) -> Outcomes:
    """Net debt is debt less cash.

    What it holds:
        Net debt rises with debt and falls with cash, and equals debt less cash where both are bound.
    Why it matters:
        Cash added to debt counts against the shareholders what belongs to them.
    Accepted conventions:
        Net cash with the opposite sign; cash entered negative and added; further items inside net debt (leases,
        minorities); a typed amount.
    Example:
        ``=-B13`` under "Net debt": the cash of 11,144 in B12 is left out.
    How to fix:
        ``=debt-cash``.
    Units and tolerance:
        Money of the sheet; 1e-6.
    Source:
        Koller et al., Valuation, ch. 16.
    """
    added = _cash_added(net_debt, cash, recalc)
    if added is not None:
        yield added
        return
    if net_debt.cell is None or cash is None or debt is None or cash.cell is None or debt.cell is None:
        yield NotApplicable(reason="cash, debt and net debt are not all bound")
        return
    if not cash.value or debt.value is None:
        yield NotApplicable(reason="cash or debt is zero or empty")
        return
    value, sums = net_debt.value, abs(debt.value) - abs(cash.value)
    if value is not None and valuation.close(abs(value), abs(sums)):
        yield Fits(convention="debt less cash")
        return
    node = claims.formula_node(net_debt.cell, recalc)
    above = memory.above(graph, [net_debt.cell])
    if node is None:
        yield Unverifiable(reason=f"{net_debt.cell} is typed and is not debt less cash")
    elif debt.cell in above and cash.cell not in above and graph.pure_link(cash.cell) not in above:
        sign = -1.0 if value is not None and value < 0 else 1.0
        message = f"net debt {net_debt.cell} leaves out the cash of {abs(cash.value):.6g} ({cash.cell})"
        yield money(message, net_debt.cell, value, sign * sums)
    elif value is not None and valuation.close(abs(value), abs(debt.value) + abs(cash.value)):
        message = f"net debt {net_debt.cell} adds the cash ({cash.cell}) to the debt instead of deducting it"
        yield money(message, net_debt.cell, value, sums)
    else:
        yield Fits(convention="net debt with further items")


def _cash_added(net_debt: Located, cash: Located | None, recalc: Recalc) -> Finding | None:
    """Return the finding of a net debt in which the cash, whatever its sign in its own cell, counts like the debt."""
    if net_debt.cell is None or cash is None or cash.cell is None:
        return None
    _, home = traced(recalc, net_debt.cell)
    node = claims.formula_node(home, recalc)
    owed, held, value = 0.0, 0.0, recalc.number(home)
    own = traced(recalc, cash.cell)[1]
    for sign, part in terms(node) if node is not None else ():
        cells = [part.cell] if isinstance(part, Ref) else [*part.range.cells()] if isinstance(part, Range) else []
        for cell in cells:
            amount = sign * (recalc.number(cell) or 0.0)
            if traced(recalc, cell)[1] == own:
                held += amount
            elif amount and _OWED.search(row_label(recalc, cell)):
                owed += amount
            elif amount:
                return None
    natural = recalc.number(own) or 0.0
    if value is None or not held * owed > 0 or not valuation.close(value, owed + held):
        return None
    message = f"net debt {home} counts the cash {cash.cell} ({natural:.6g}) like the debt"
    return money(message, home, value, owed - held)
