"""Parts of the debt that stand among the inputs and that nothing reads, beside the part that the bridge takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import claims
from xlcheck.checks.amounts import money
from xlcheck.checks.bridge_sources import sources
from xlcheck.checks.sheet import first_text, row_label
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles

_PART = re.compile(
    r"\b(?:short|long)[\s-]?term (?:debt|borrowings?|loans?|bank|notes?|bonds?)"
    r"|\bcurrent portion\b.*(?:debt|borrowings?|loans?)"
    r"|\bbonds? (?:payable|issued|outstanding)\b|\bterm loans?\b|\bnotes payable\b"
    r"|短期借款|长期借款|应付债券|一年内到期|短期借入金|長期借入金|社債",
    re.IGNORECASE,
)
NEAR = 4
"""Rows between the part that is read and the one that is not."""


_ITEM = re.compile(
    r"debt|loan|revolver|borrowing|\bnotes?\b|bonds?\b|lease|pension|provision|minorit|non-?controlling|preferred|associate"
    r"|investment|\bcash\b|securities|warrant|convertible|earn-?out|deferred consideration|decommission|litigation"
    r"|借款|债|租赁|少数股东|优先股|货币资金|投资",
    re.IGNORECASE,
)
"""Labels of lines between enterprise and equity value that are items of the bridge."""
_ASIDE = re.compile(
    r"of which|thereof|multiple|/|ratio|%|per share|memo|capacity|total|implied|check|net (?:debt|cash)|davon|其中",
    re.IGNORECASE,
)
"""Labels of lines that only repeat or explain an item."""


def unread_line(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Yield the equity value that reads the lines of the bridge all around an amount which nothing reads."""
    whole, equity = roles.get("enterprise_value"), roles.get("equity_value")
    if whole is None or equity is None or whole.cell is None or equity.cell is None or not whole.value:
        return
    top, bottom = whole.cell, equity.cell
    if (top.sheet, top.column) != (bottom.sheet, bottom.column) or bottom.row - top.row < 3:
        return
    read = {cell.row for cell in graph.precedents(bottom) if (cell.sheet, cell.column) == (top.sheet, top.column)}
    bound = {located.cell for located in roles.scalars.values()}
    for row in range(top.row + 1, bottom.row):
        cell = top._replace(row=row)
        value, held = recalc.number(cell), recalc.book.get(cell)
        around = top.row in read and any(other > row for other in read)
        if held is None or value is None or cell in bound or row in read or not around or graph.dependents(cell):
            continue
        inside = any((one.sheet, one.column) == (top.sheet, top.column) for one in graph.precedents(cell))
        label = row_label(recalc, cell)
        if inside or "%" in held.number_format or abs(value) < 1e-3 * abs(whole.value) or not label:
            continue
        first = first_text(label)
        if _ITEM.search(first) and not _ASIDE.search(first):
            message = f"{bottom} passes over {cell} ({value:,.6g}, {label[:40]!r}), which nothing reads"
            yield Finding(message=message, cell=bottom, found=equity.value, expected=f"with {cell}")


def idle_debt(roles: Roles, total: float, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Yield the debt of the bridge where it takes one part of the debt only and another stands idle beside that."""
    debt, equity = roles.get("debt"), roles.get("equity_value")
    if debt is None or debt.cell is None or _PART.search(row_label(recalc, debt.cell)):
        return
    read = {source.cell for source in sources(debt.cell, recalc, graph)}
    for cell in sorted(read):
        if not _PART.search(row_label(recalc, cell)) or cell == debt.cell:
            continue
        for step in (*range(-NEAR, 0), *range(1, NEAR + 1)):
            other = cell.offset(step, 0) if cell.row + step > 0 else cell
            value, held = recalc.number(other), recalc.book.get(other)
            idle = other not in read and held is not None and held.formula is None and not graph.dependents(other)
            if idle and value is not None and value > 1e-3 * abs(total) and _PART.search(row_label(recalc, other)):
                message = f"the debt {debt.cell} takes {cell} only: {other} ({value:.6g}) is read by nothing"
                stated = debt.value or 0.0
                yield money(message, debt.cell, stated, stated + (value if stated >= 0 else -value))
                if equity is not None and equity.cell is not None and equity.value is not None:
                    yield money(f"{equity.cell} does not bear {other}", equity.cell, equity.value, equity.value - value)
                return


PLAIN = 0.6
"""How well a label must name a part of net debt beside its other parts."""
_CLAIMED = ("cash", "debt", "investments", "lease_liabilities")


def idle_between(roles: Roles, total: float, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Yield the net debt whose formula reads the amounts above and below one of its kind that nothing reads."""
    net = roles.get("net_debt")
    if net is None or net.cell is None or net.value is None:
        return
    read = graph.precedents(net.cell)
    if len(read) < 2 or len({(cell.sheet, cell.column) for cell in read}) > 1 or read[0].sheet != net.cell.sheet:
        return
    rows = sorted(cell.row for cell in read)
    for row in range(rows[0] + 1, rows[-1]):
        other = CellRef(read[0].sheet, row, read[0].column)
        value, held = recalc.number(other), recalc.book.get(other)
        idle = other not in read and held is not None and held.formula is None and not graph.dependents(other)
        if not idle or value is None or abs(value) <= 1e-3 * abs(total):
            continue
        scores = claims.label_scores(row_label(recalc, other))
        kind = max(_CLAIMED, key=lambda role: scores.get(role, 0.0))
        if scores.get(kind, 0.0) >= PLAIN:
            message = f"{net.cell} leaves out {other} ({row_label(recalc, other)}, {value:.6g}), which nothing reads"
            amount = -abs(value) if kind in claims.ASSETS else abs(value)
            yield money(message, net.cell, net.value, net.value + amount)
            return
