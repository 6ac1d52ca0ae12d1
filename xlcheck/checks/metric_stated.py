"""Implied metrics that the workbook states itself, worked out once more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcome, Outcomes, check
from xlcheck.checks import memory, valuation
from xlcheck.checks.sheet import row_label
from xlcheck.checks.terminal import multiple_cells
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles

_GROWTH = re.compile(r"implied\W+(perpetu\w+|terminal|long\W*term|lt|tv)?\W*(annual\W+)?growth|隐含.{0,4}增长", re.I)
_MULTIPLE = re.compile(
    r"implied\W+.*(exit|terminal|tv)\b.*multipl|implied\W+(exit|terminal)\W+ev|隐含终值.{0,3}/\W*ebitda", re.I
)
_SHARE = re.compile(
    r"(terminal\W+value|\btv\b).*(%|share|percent|proportion)\W*(of)?\W*(ev|enterprise|total)|终值.*占", re.I
)


@check("metric.implied-values")
def implied_values(
    wacc: Located | None, fcff: LocatedSeries | None, roles: Roles, recalc: Recalc, graph: Graph
) -> Outcomes:
    """An implied growth, multiple or share that the workbook states is what its own numbers imply.

    What it holds:
        Stated implied growth = (TV·r - F)/(TV + F) of a terminal value by multiple; stated implied exit multiple =
        TV/EBITDA; stated share of the terminal value = PV(TV)/EV.
    Why it matters:
        These cross-checks are why a reader believes the terminal value; a wrong one reassures for nothing.
    Accepted conventions:
        Half a year more under mid-year discounting; any terminal value of the workbook; other labels are not judged.
    Example:
        ``=(r-x)/(1-x)`` shows 6.9 % where (r - x)/(1 + x) is 6.0 %, x = F/TV.
    How to fix:
        Use (TV·r - F)/(TV + F), and divide the terminal value, not EV, by the terminal year's EBITDA.
    Units and tolerance:
        A decimal rate or a multiple; 1e-4 of the value.
    Source:
        Rosenbaum and Pearl, Investment Banking, ch. 3.
    """
    judged = False
    rows = frozenset[tuple[str, int]]().union(
        *(memory.rows_named(recalc, words) for words in (_GROWTH, _MULTIPLE, _SHARE))
    )
    for held in recalc.book.formula_cells():
        if (held.ref.sheet, held.ref.row) not in rows:
            continue
        label, value = row_label(recalc, held.ref), recalc.number(held.ref)
        if value is None or not label or len(label) > 120:
            continue
        found: list[Outcome] = []
        if _GROWTH.search(label) and abs(value) < 0.5:
            found = list(_growth(held.ref, value, roles, recalc, graph))
        elif _MULTIPLE.search(label) and value > 0.5:
            found = list(_multiple(held.ref, value, roles, recalc, graph))
        elif _SHARE.search(label) and 0 < abs(value) < 100:
            found = list(_share(held.ref, value, roles))
        judged = judged or bool(found)
        yield from found
    if not judged:
        yield NotApplicable(reason="no implied metric is stated that could be worked out")


def _growth(cell: CellRef, value: float, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Outcome]:
    flows, rate, multiple = valuation.flows_of(roles), roles.get("wacc"), roles.get("exit_multiple")
    flow = flows.values[-1] if flows is not None and flows.values else None
    if rate is None or rate.amount is None or flow is None or multiple is None:
        return
    cells = multiple_cells(multiple, roles, recalc, graph)
    for source in cells:
        whole = recalc.number(source)
        if not whole or whole <= 0:
            continue
        half = flow * (1 + rate.amount) ** 0.5
        right = [dcf.implied_growth(whole, flow, rate.amount), dcf.implied_growth(whole, half, rate.amount)]
        if any(valuation.close(value, one, 1e-4) for one in (*right, rate.amount - flow / whole)):
            yield Fits(convention="implied growth of the terminal value by multiple")
            return
        part = flow / whole
        if valuation.close(value, (rate.amount - part) / (1 - part), 1e-4):
            message = f"{cell} divides by 1 - F/TV instead of 1 + F/TV"
            yield Finding(message=message, cell=cell, found=value, expected=right[0], unit="rate")
            return


def _multiple(cell: CellRef, value: float, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Outcome]:
    total, terminal = roles.get("enterprise_value"), roles.get("terminal_value")
    if total is None or terminal is None or not total.value or not terminal.value:
        return
    for source in graph.precedents(cell):
        measure = recalc.number(source)
        if not measure or "ebitda" not in row_label(recalc, source).casefold():
            continue
        if valuation.close(value * measure, terminal.value, 1e-4):
            yield Fits(convention="terminal value over EBITDA")
        elif valuation.close(value * measure, total.value, 1e-4):
            message = f"{cell} divides the whole enterprise value, not the terminal value, by the EBITDA in {source}"
            expected = terminal.value / measure
            yield Finding(message=message, cell=cell, found=value, expected=expected, unit="multiple")
        return


def _share(cell: CellRef, value: float, roles: Roles) -> Iterator[Outcome]:
    total, terminal, present = (roles.get(role) for role in ("enterprise_value", "terminal_value", "pv_terminal_value"))
    if total is None or present is None or not total.value or present.value is None:
        return
    right = present.value / total.value
    if any(valuation.close(value, one, 1e-4) for one in (right, 100 * right)):
        yield Fits(convention="PV of terminal value over EV")
    elif terminal is not None and terminal.value and valuation.close(value, terminal.value / total.value, 1e-4):
        message = f"{cell} divides the undiscounted terminal value by the enterprise value"
        yield Finding(message=message, cell=cell, found=value, expected=right, unit="rate")
