"""What drives a line of the flow: the profit that its tax is taken on, the share of sales that it is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks.flow_terms import Item, contribution, items_of, kind_of, kind_of_label, line_label, traced
from xlcheck.checks.sheet import first_text
from xlcheck.checks.trees import trees
from xlcheck.formula import Ref, factors, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles

_ON_OPERATIONS = re.compile(
    r"\bon (?:EBITA?|operating (?:profit|income))\b|\b(?:notional|unlevered) (?:cash )?tax", re.IGNORECASE
)
"""Labels of a tax line that say what the tax is taken on."""
BEFORE_TAX = re.compile(
    r"\b(?:profit|income|earnings|result|loss)\W+(?:\w+\W+)?before\W+(?:income\W+)?tax"
    r"|\bpre-?\s?tax (?:profit|income|earnings)"
    r"|\bPBT\b|\bEBT\b|税前利润|利润总额|経常利益|税引前|avant impôt|antes de impuestos|vor steuern|before taxation",
    re.IGNORECASE,
)
_SHARES = {
    "capex": re.compile(r"cap(?:ital)?[\s-]?ex|资本(?:性)?(?:开)?支出", re.IGNORECASE),
    "depreciation": re.compile(r"deprec|amorti[sz]|\bD\s?&\s?A\b|折旧|摊销", re.IGNORECASE),
    "nwc": re.compile(r"working cap|\bN?WC\b|营运资", re.IGNORECASE),
    "taxes": re.compile(r"\btax|税", re.IGNORECASE),
}
"""Words by which the label of a share (``Capex % of sales``) names the line that it is for."""
_SHIELD = re.compile(r"tax|shield|税|%|[x×*]\s*t\b", re.IGNORECASE)
_INTEREST = re.compile(r"\binterest\b|\bfinanc(?:e|ial|ing) (?:cost|charge|expense)|利息|财务费用", re.IGNORECASE)
_NET_INCOME = re.compile(r"\bnet (?:income|profit|earnings)\b|\bprofit after tax|\bPAT\b|净利润", re.IGNORECASE)
_AFTER_TAX = re.compile(r"after[\s-]?tax|post[\s-]?tax|net of tax|1\s*[-–]\s*t|tax[\s-](?:adj|eff)|税后", re.IGNORECASE)
_INCOME = re.compile(r"interest (?:income|received|earned)|利息收入", re.IGNORECASE)
_NEAR = 20
"""Rows around a share in which the one that the line should read may stand."""


def tax_on_profit_after_interest(recalc: Recalc, cells: Sequence[CellRef]) -> Finding | None:
    """Return the finding of a tax line named after the operating profit that taxes the profit after interest."""
    for cell in cells:
        if not _ON_OPERATIONS.search(first_text(line_label(recalc, cell))):
            continue
        node = trees(recalc).get(traced(recalc, cell)[1])
        for part in walk(node) if node is not None else ():
            if isinstance(part, Ref) and _is_after_interest(recalc, part.cell):
                return Finding(
                    message=f"{cell} says {first_text(line_label(recalc, cell))!r} and taxes the profit after interest "
                    f"({part.cell}, {first_text(line_label(recalc, part.cell))!r})",
                    cell=cell,
                    found=recalc.number(cell),
                    expected="the tax on the EBIT of the same year",
                )
    return None


def _is_after_interest(recalc: Recalc, cell: CellRef) -> bool:
    """Say whether a cell is labelled as a profit before tax and its formula reads an interest line."""
    if not BEFORE_TAX.search(first_text(line_label(recalc, cell))):
        return False
    node = trees(recalc).get(traced(recalc, cell)[1])
    read = [part.cell for part in walk(node) if isinstance(part, Ref)] if node is not None else []
    return any(_INTEREST.search(first_text(line_label(recalc, one))) and recalc.number(one) for one in read)


def depreciation_on_ebitda(recalc: Recalc, flow: CellRef, items: Sequence[Item]) -> Finding | None:
    """Return the finding of a flow from EBITDA, which has depreciation in it, that adds depreciation once more."""
    kinds = {item.kind for item in items}
    if "ebitda" not in kinds or kinds & {"ebit", "nopat", "after_financing", "revenue"}:
        return None
    added = [item for item in items if item.kind == "depreciation" and not _SHIELD.search(item.label)]
    amounts = [contribution(recalc, item) or 0.0 for item in added]
    if sum(amounts) <= 0 or any(amount < 0 for amount in amounts) or any(item.cell is None for item in added):
        return None
    value = recalc.number(flow)
    return Finding(
        message=f"{flow} adds depreciation ({added[0].cell}) to a flow from EBITDA, which holds it already",
        cell=flow,
        found=value,
        expected=None if value is None else value - sum(amounts),
    )


def interest_before_tax(
    recalc: Recalc, roles: Roles, items: Sequence[Item], tax_rate: Located | None
) -> Finding | None:
    """Return the finding of a flow from net income that adds the whole interest back, not interest·(1 - t).

    Inside a subtotal (cash flow from operations) only a line that calls itself after tax is held to it.
    """
    inner = [
        one
        for item in items
        if item.kind in ("after_financing", "nopat") and item.cell is not None
        for one in items_of(recalc, roles, item.cell)
    ]
    tax = tax_rate.amount if tax_rate is not None else None
    if tax == 0:
        return None
    for group, named in ((items, False), (inner, True)):
        if not any(_NET_INCOME.search(item.label) for item in group):
            continue
        if any(_SHIELD.search(item.label) for item in group if not _AFTER_TAX.search(item.label)):
            continue
        for item in group:
            found = _whole_interest(recalc, item, tax) if item.sign > 0 else None
            if found is not None and ((tax and not named) or _AFTER_TAX.search(item.label)):
                return found
    return None


def interest_taken_off(recalc: Recalc, roles: Roles, flow: CellRef, items: Sequence[Item]) -> Finding | None:
    """Return the finding of a flow from net income, or from a cash flow made of it, that takes interest off again."""
    bases = [item for item in items if item.kind == "after_financing" and item.sign > 0 and item.cell is not None]
    inner = [one for item in bases if item.cell is not None for one in items_of(recalc, roles, item.cell)]
    if not any(_NET_INCOME.search(item.label) for item in (*bases, *inner)):
        return None
    for item in items:
        paid = [part.cell for part in walk(item.node) if isinstance(part, Ref)]
        paid = [cell for cell in paid if kind_of(recalc, roles, cell) == "interest"]
        powers = [power for part, power in factors(item.node) if isinstance(part, Ref) and part.cell in paid]
        if item in bases or len(paid) != 1 or powers != [1] or _SHIELD.search(first_text(line_label(recalc, paid[0]))):
            continue
        amount = item.sign * (recalc.number(paid[0]) or 0.0)
        if amount < 0 and not _INCOME.search(line_label(recalc, paid[0])):
            return Finding(
                message=f"{flow} takes the interest {paid[0]} off a flow from net income, which has borne it already",
                cell=flow,
                found=recalc.number(flow),
                expected="interest after tax added back",
            )
    return None


def _whole_interest(recalc: Recalc, item: Item, tax: float | None) -> Finding | None:
    target = traced(recalc, item.cell)[1] if item.cell is not None else None
    if item.cell is None or target is None or (contribution(recalc, item) or 0.0) <= 0:
        return None
    source = first_text(line_label(recalc, target))
    taxed = _SHIELD.search(source) or _AFTER_TAX.search(source) or _INCOME.search(source)
    if kind_of_label(source) != "interest" or taxed:
        return None
    amount = recalc.number(item.cell) or 0.0
    message = f"{item.cell} adds the interest {target} back before tax: net income bore interest·(1 - t)"
    expected = amount * (1 - tax) if tax else "interest after tax"
    return Finding(message=message, cell=item.cell, found=amount, expected=expected)


def foreign_share(recalc: Recalc, graph: Graph, item: Item) -> tuple[CellRef, CellRef] | None:
    """Return the share that a line is made of and the one meant, where the first names another line.

    Only where the share that names the line itself stands near and is read by no formula.
    """
    own = _SHARES.get("nwc" if item.kind == "change_in_nwc" else item.kind or "")
    node = trees(recalc).get(traced(recalc, item.cell)[1]) if item.cell is not None else None
    if own is None or node is None or len(terms(node)) != 1:
        return None
    parts = [factor.cell for factor, power in factors(terms(node)[0][1]) if isinstance(factor, Ref) and power == 1]
    shares = [cell for cell in parts if 0 < abs(recalc.number(cell) or 0.0) < 1]
    if len(parts) != 2 or len(shares) != 1:
        return None
    share, label = shares[0], first_text(line_label(recalc, shares[0]))
    if own.search(label) or not any(words.search(label) for words in _SHARES.values()):
        return None
    for row in range(max(1, share.row - _NEAR), share.row + _NEAR + 1):
        cell = CellRef(share.sheet, row, share.column)
        named = 0 < abs(recalc.number(cell) or 0.0) < 1 and own.search(first_text(line_label(recalc, cell)))
        if named and not graph.dependents(cell):
            return share, cell
    return None


def terminal_term_left_out(recalc: Recalc, graph: Graph, fcff: LocatedSeries) -> Finding | None:
    """Return the finding of a terminal flow without a term of the line: computed in its column and read by nothing."""
    last = fcff.cells[-1]
    cell, node = last.offset(0, 1), trees(recalc).get(last)
    own = trees(recalc).get(cell)
    if node is None or own is None or fcff.cells[0].row != last.row or recalc.number(cell) is None:
        return None
    beside = [part.cell for _, part in terms(node) if isinstance(part, Ref)]
    wanted = [one.offset(0, 1) for one in beside if one.column == last.column and one.sheet == last.sheet]
    read = {part.cell for part in walk(own) if isinstance(part, Ref)}
    missing = [one for one in wanted if one not in read]
    if len(wanted) < 2 or len(missing) != 1 or not {*wanted} - {*missing} <= read or not read <= {*wanted}:
        return None
    idle = trees(recalc).get(missing[0]) is not None and recalc.number(missing[0]) and not graph.dependents(missing[0])
    if not idle or not graph.dependents(cell):
        return None
    return Finding(
        message=f"{cell} leaves out {missing[0]} ({first_text(line_label(recalc, missing[0]))!r}), part of other years",
        cell=cell,
        found=recalc.number(cell),
        expected=f"with {missing[0]}",
    )
