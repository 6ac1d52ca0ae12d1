"""Parts of the debt that stand among the inputs and that nothing reads, beside the part that the bridge takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.checking import Finding
from xlcheck.checks.amounts import money
from xlcheck.checks.bridge_sources import sources
from xlcheck.checks.sheet import row_label
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
