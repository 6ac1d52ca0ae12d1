"""Working capital in the flow: a change, not a level, and with the sign of cash."""

from __future__ import annotations

import re

from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, check
from xlcheck.checks.differences import Difference, differences
from xlcheck.checks.flow_terms import Item, items_of, kind_of_label, line_label, traced
from xlcheck.checks.sheet import first_text
from xlcheck.checks.trees import trees
from xlcheck.formula import Node, Ref, terms, walk
from xlcheck.recompute import Recalc
from xlcheck.roles import LocatedSeries, Roles

_CHANGE = re.compile(
    r"change|increase|decrease|invest|release|movement|delta|Δ|∆|\bchg\b|\binc\b|\bdel|Veränderung|Zunahme|Abnahme"
    r"|变动|变化|增加|减少|追加|增減|増減|増加",
    re.IGNORECASE,
)
_LEVEL_WORDS = re.compile(r"working\s*capital|\bNWC\b|营运资[本金]|運転資[本金]|umlaufvermögen", re.IGNORECASE)


_NEGATIVE = re.compile(
    r"negative (net )?working capital|deferred (revenue|income)|unearned|customer (deposit|advance|prepayment)"
    r"|customers? (pre-?)?pays?\b|paid (in advance|up-?front)|float\b"
    r"|负营运资[本金]|预收|合同负债",
    re.IGNORECASE,
)
"""Labels of a business that its customers finance: growth brings cash in."""
_OWED = re.compile(
    r"\bpayables?\b|\bcreditors?\b|\baccru(?:ed|als?)\b|\bcurrent liabilit|应付|預收|预收|買掛|verbindlichkeiten",
    re.IGNORECASE,
)
"""Labels of the balances that are deducted in working capital."""
_HELD = re.compile(
    r"receivable|inventor|\bstocks?\b|\bdebtors\b|\bless\b|\bnet\b|working capital|应收|存货|売掛|棚卸"
    r"|forderung|vorräte",
    re.IGNORECASE,
)
"""Labels of balances that more than what is owed stands in."""
_TIED_UP = re.compile(r"receivable|inventor|debtors?\b|stocks?\b|应收|存货|売掛|棚卸", re.IGNORECASE)
_RELEASED = re.compile(r"\breleas|\bfreed\b|释放|freigesetzt|libér", re.IGNORECASE)
"""Labels of cash that growth of sales sets free; of the balance itself they are no excuse."""


def working_capital_items(recalc: Recalc, roles: Roles, flow: CellRef) -> list[Item]:
    """Return the terms of a flow that stand for working capital."""
    items = items_of(recalc, roles, flow)
    return [
        item
        for item in items
        if item.cell is not None and (item.kind in ("change_in_nwc", "nwc") or _LEVEL_WORDS.search(item.label))
    ]


@check("flow.nwc-is-a-change")
def nwc_is_a_change(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Outcomes:
    """The flow bears the change in working capital, not its level.

    What it holds:
        The working capital term of each forecast flow is a difference between two periods (or a share of one), and not
        the balance of the period.
    Why it matters:
        A level of 15,000 in place of a change of 2,600 turns the flow round, every year anew.
    Accepted conventions:
        A change typed as an input, as a share of revenue or of its growth, taken from a cash flow statement, or built
        from changes in receivables, inventories and payables; models without working capital.
    Example:
        The flow subtracts row "NWC" (4,040) while the row below it, "Change in NWC", holds 271.
    How to fix:
        Point the term at the change.
    Units and tolerance:
        The unit of the flow.
    Source:
        Damodaran, Investment Valuation, ch. 10; Koller et al., Valuation, ch. 11.
    """
    items = working_capital_items(recalc, roles, fcff.cells[0])
    if not items:
        yield NotApplicable(reason="the flow has no working capital term")
        return
    for item in items:
        assert item.cell is not None
        level = _level(recalc, item.cell)
        if level is not None:
            yield Finding(
                message=f"{item.cell} brings the level of working capital ({level}) into the flow, not its change",
                cell=item.cell,
                found=recalc.number(item.cell),
                expected=_change_beside(recalc, level),
            )
            if item.kind == "nwc":
                yield Finding(
                    message=f"{fcff.cells[0]} adds up a working capital level ({item.cell})",
                    cell=fcff.cells[0],
                    found=recalc.number(fcff.cells[0]),
                    expected="the change of the year",
                )


def _level(recalc: Recalc, cell: CellRef) -> CellRef | None:
    """Return the cell of the level that a term stands for, where the evidence is plain."""
    _, target = traced(recalc, cell)
    label = line_label(recalc, target)
    if not _names_level(label) or (_is_change(label) and target == cell):
        return None
    node = trees(recalc).get(target)
    if node is not None and any(differences(node)):
        return None
    contradicts = target != cell and _is_change(line_label(recalc, cell))
    if contradicts or _differenced(recalc, target) or _history_is_a_balance(recalc, target):
        return target
    return None


def _names_level(label: str) -> bool:
    first = first_text(label)
    return kind_of_label(label) == "nwc" or (bool(_LEVEL_WORDS.search(first)) and not _is_change(first))


def _is_change(label: str) -> bool:
    return bool(_CHANGE.search(first_text(label)))


def _differenced(recalc: Recalc, target: CellRef) -> bool:
    """Say whether another line of the workbook holds the change of this one."""
    formulas = trees(recalc)
    for ref in formulas:
        near = ref.sheet == target.sheet and abs(ref.row - target.row) <= 40
        if near and any(target in (found.later, found.earlier) for found in differences(formulas[ref])):
            return True
    return False


def _history_is_a_balance(recalc: Recalc, target: CellRef) -> bool:
    """Say whether earlier cells of the line subtract two balances of one period (assets less liabilities)."""
    formulas = trees(recalc)
    for step in range(1, 12):
        if target.column - step < 1:
            return False
        node = formulas.get(target.offset(0, -step))
        if node is None:
            continue
        cells = [(sign, one.cell) for sign, one in terms(node) if isinstance(one, Ref)]
        if len(cells) >= 2 and len(cells) == len(terms(node)):
            same_period = len({(ref.sheet, ref.column) for _, ref in cells}) == 1
            if same_period and {sign for sign, _ in cells} == {1, -1}:
                return True
    return False


def _change_beside(recalc: Recalc, level: CellRef) -> float | None:
    now, before = recalc.number(level), recalc.number(level.offset(0, -1)) if level.column > 1 else None
    return None if now is None or before is None else now - before


@check("flow.nwc-sign", consequence_of=("flow.nwc-is-a-change",))
def nwc_sign(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Outcomes:
    """Growth of working capital lowers the flow.

    What it holds:
        Where the working capital term is a difference between two periods, a higher balance at the end of the period
        lowers the flow of that period.
    Why it matters:
        Added instead of subtracted, the more a company ties up in stocks and receivables the more it is worth.
    Accepted conventions:
        The change shown in cash-flow sign and added, or as an increase and subtracted; releases when revenue falls;
        negative working capital; rows named either way.
    Example:
        ``=K19-J19`` (an increase of 343) added to the flow.
    How to fix:
        Subtract the increase, or turn the difference round.
    Units and tolerance:
        The unit of the flow; decided on the formulas.
    Source:
        Damodaran, Investment Valuation, ch. 10.
    """
    added = added_increase(recalc, roles, fcff)
    padded = _owed_added(recalc, roles, fcff)
    if added is not None or padded is not None:
        yield from (one for one in (added, padded) if one is not None)
    elif not any(effects for _, effects in _effects(recalc, roles, fcff)):
        items = working_capital_items(recalc, roles, fcff.cells[0])
        why = "the working capital term is no difference of two periods" if items else "the flow has none"
        yield NotApplicable(reason=why)
    else:
        yield Fits(convention="an increase in working capital lowers the flow")


def _owed_added(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Finding | None:
    """Return the finding of a balance of working capital that adds what is owed to suppliers to what is tied up."""
    for item in working_capital_items(recalc, roles, fcff.cells[0]):
        assert item.cell is not None
        node = trees(recalc).get(traced(recalc, item.cell)[1])
        for change in differences(node) if node is not None else ():
            own = trees(recalc).get(change.later)
            parts = [(sign, one.cell) for sign, one in terms(own) if isinstance(one, Ref)] if own is not None else []
            owed = [(sign, cell) for sign, cell in parts if _OWED.search(first_text(line_label(recalc, cell)))]
            held = [cell for sign, cell in parts if sign > 0 and _TIED_UP.search(first_text(line_label(recalc, cell)))]
            amounts = [sign * (recalc.number(cell) or 0.0) for sign, cell in owed]
            if held and amounts and min(amounts) > 0 and all((recalc.number(cell) or 0.0) > 0 for cell in held):
                value, name = recalc.number(change.later), first_text(line_label(recalc, owed[0][1]))
                return Finding(
                    message=f"{change.later} adds {owed[0][1]} ({name!r}) to the assets",
                    cell=change.later,
                    found=value,
                    expected=None if value is None else value - 2 * sum(amounts),
                )
    return None


def added_increase(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Finding | None:
    """Return the finding that growth of working capital raises the flow, or None."""
    wrong = next((item for item, effects in _effects(recalc, roles, fcff) if effects == {1}), None)
    return None if wrong is None else _sign_finding(recalc, roles, fcff, wrong)


def _effects(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> list[tuple[Item, set[int]]]:
    """Return the working capital terms of the last and first flow with what growth of the balance does to the flow."""
    found = []
    for flow in (fcff.cells[-1], fcff.cells[0]):
        for item in working_capital_items(recalc, roles, flow):
            assert item.cell is not None
            sign, source = traced(recalc, item.cell)
            node = trees(recalc).get(source)
            changes = tuple(differences(node)) if node is not None else ()
            words = f"{item.label} {line_label(recalc, source)} {_driver(recalc, node)}"
            of_balance = any(_names_level(line_label(recalc, one.later)) for one in changes)
            if _NEGATIVE.search(words) or (_RELEASED.search(words) and not of_balance):
                continue
            found.append((item, {_growth_of(recalc, one) * sign * item.sign for one in changes}))
    return found


def _driver(recalc: Recalc, node: Node | None) -> str:
    """Return the labels of the typed numbers that a line is worked out with (a share of sales)."""
    cells = [one.cell for one in walk(node) if isinstance(one, Ref)] if node is not None else []
    typed = [cell for cell in cells if (held := recalc.book.get(cell)) is not None and held.formula is None]
    return " ".join(line_label(recalc, cell) for cell in typed)


def _growth_of(recalc: Recalc, change: Difference) -> int:
    """Return the sign of the working capital that the later balance brings: what is owed to suppliers lowers it."""
    label = first_text(line_label(recalc, change.later))
    return -change.sign if _OWED.search(label) and not _HELD.search(label) else change.sign


def _sign_finding(recalc: Recalc, roles: Roles, fcff: LocatedSeries, item: Item) -> Finding:
    """Accuse the working capital line in the first forecast year."""
    first = working_capital_items(recalc, roles, fcff.cells[0])
    cell = first[0].cell if first else item.cell
    value = recalc.number(cell) if cell else None
    return Finding(
        message=f"{cell} raises the flow when working capital grows: the increase is added",
        cell=cell,
        found=value,
        expected=None if value is None else -value,
    )
