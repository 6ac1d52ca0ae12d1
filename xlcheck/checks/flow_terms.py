"""What a free cash flow is made of: its terms with their signs, the lines they come from, and what those are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from xlcheck.cells import CellRef, is_number
from xlcheck.checks.differences import difference
from xlcheck.checks.sheet import column_label, first_text, row_label, timeline_of
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Node, Range, Ref, factors, is_link, terms, walk
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.roles.lexicon import load_lexicon

SURE = 0.65
"""Least score of a label that names a kind of line."""
DEEPEST = 5
FLOW_KINDS = (
    "revenue", "ebitda", "ebit", "taxes", "nopat", "depreciation", "capex", "change_in_nwc", "nwc", "interest",
    "stock_compensation", "total_assets", "fcff", "fcfe",
)  # fmt: skip
BASES = frozenset({"ebit", "nopat", "ebitda", "revenue"})
"""Kinds of lines that a flow before financing starts from."""
_BORROWING = re.compile(
    r"\bborrowings?\b|\bloans?\b|\brepayment|\b(?:debt|notes?|bonds?) (?:issu|rais|repa)"
    r"|\b(?:proceeds|issuance) (?:of|from)[\w ]*debt"
    r"|\bdividends?\b|\bshare buybacks?\b|\brepurchase|借款|偿还债务|发行债券|分红|股利|配当|\bdividenden?\b|\btilgung",
    re.IGNORECASE,
)
_AFTER_FINANCING = re.compile(
    r"\bnet (?:income|profit|earnings)\b|\bprofit (?:after tax|for the (?:year|period))|\bPAT\b|净利润|当期純利益"
    r"|\bjahresüberschuss"
    r"|\bcash (?:flow )?(?:generated |provided )?(?:from|by) operati|\boperating cash ?flow\b|\bCFO\b|经营活动",
    re.IGNORECASE,
)
_BALANCE = re.compile(
    r"\btotal (?:current |non-?current |fixed )?(?:assets|liabilities|equity)\b"
    r"|\b(?:accumulated|acc\.?) (?:depreciation|amorti[sz]ation)"
    r"|\b(?:net |gross )?(?:PP&E|PPE|fixed assets|property,? plant)|累计折旧|总资产|资产总计|固定资产(?:净|原)",
    re.IGNORECASE,
)
_PURCHASE = re.compile(r"purchase|addition|acqui|invest|capex|capital exp|购建|增加|spend|outlay", re.IGNORECASE)


class Item(NamedTuple):
    """One term of a flow in one period."""

    sign: int
    """How it enters the flow: +1 or -1."""
    cell: CellRef | None
    """The cell of the term; None for a product written into the flow itself."""
    node: Node
    kind: str | None
    """Series role, or ``borrowing``, ``after_financing``, ``balance``; None where the label names none."""
    label: str


def line_label(recalc: Recalc, ref: CellRef) -> str:
    """Return the label of the line that a cell belongs to: left of it, or above where time runs down."""
    if recalc.book.sheet(ref.sheet) is not None and timeline_of(recalc, ref.sheet).runs_down(ref):
        return column_label(recalc, ref) or row_label(recalc, ref)
    return row_label(recalc, ref) or column_label(recalc, ref)


@lru_cache(maxsize=20_000)
def kind_of_label(label: str) -> str | None:
    """Return what kind of line a label names."""
    text = first_text(label)
    if _BALANCE.search(text) and not _PURCHASE.search(text):
        return "balance"
    scores = {role: score for role, score in load_lexicon().match(text).items() if role in FLOW_KINDS}
    best = max(scores, key=lambda role: scores[role], default=None)
    if best is not None and scores[best] >= SURE:
        return best
    if _BORROWING.search(text):
        return "borrowing"
    return "after_financing" if _AFTER_FINANCING.search(text) else None


def bound_kinds(roles: Roles) -> Mapping[CellRef, str]:
    """Return cell to series role, for the flow roles that are bound."""
    return {
        cell: name
        for name, located in roles.series.items()
        if name in FLOW_KINDS
        for cell in (*located.cells, *located.history)
    }


def kind_of(recalc: Recalc, roles: Roles, ref: CellRef) -> str | None:
    """Return what kind of line a cell belongs to: as it is bound, else by its label."""
    return bound_kinds(roles).get(ref) or kind_of_label(line_label(recalc, ref))


def items_of(recalc: Recalc, roles: Roles, ref: CellRef, depth: int = 0) -> list[Item]:
    """Return the terms of a flow; terms that are subtotals of no known kind are opened."""
    formulas = trees(recalc)
    target = linked(recalc, ref)
    node = formulas.get(target)
    if node is None or depth > DEEPEST:
        return []
    found: list[Item] = []
    for sign, term in terms(node):
        for cell in _cells(recalc, term):
            own = formulas.get(linked(recalc, cell))
            change = difference(own) if own is not None else None
            kind = kind_of(recalc, roles, cell)
            if kind is None and change is not None and kind_of(recalc, roles, change.later) == "nwc":
                kind = "change_in_nwc"
            opened = kind in (None, "fcff") and change is None and cell != ref
            inner = items_of(recalc, roles, cell, depth + 1) if opened else []
            if len(inner) > 1 and any(item.kind for item in inner):
                found += [item._replace(sign=item.sign * sign) for item in inner]
            else:
                found.append(Item(sign, cell, term, kind, line_label(recalc, cell)))
        if not isinstance(term, Ref | Range):
            found.append(Item(sign, None, term, _product_kind(recalc, roles, term), ""))
    return found


def _cells(recalc: Recalc, term: Node) -> Iterator[CellRef]:
    if isinstance(term, Ref):
        yield term.cell
    elif isinstance(term, Range) and term.range.size <= 60:
        yield from (cell for cell in term.range.cells() if is_number(recalc.value(cell)))


def _product_kind(recalc: Recalc, roles: Roles, term: Node) -> str | None:
    """Return ``nopat`` for EBIT·(1 - t), else the kind of the only amount in a product."""
    kinds = [kind for one in walk(term) if isinstance(one, Ref) and (kind := kind_of(recalc, roles, one.cell))]
    if "ebit" in kinds and any(_is_after_tax(factor) for factor, _ in factors(term)):
        return "nopat"
    if "interest" in kinds and any(_is_after_tax(factor) for factor, _ in factors(term)):
        return "interest"
    return kinds[0] if len(set(kinds)) == 1 else None


def _is_after_tax(node: Node) -> bool:
    """Say whether a factor is one minus something."""
    found = terms(node)
    return isinstance(node, Binary) and len(found) == 2 and {sign for sign, _ in found} == {1, -1}


def linked(recalc: Recalc, ref: CellRef) -> CellRef:
    """Follow plain links to the cell that holds the line's own formula or number."""
    formulas = trees(recalc)
    for _ in range(30):
        node = formulas.get(ref)
        if node is None or not is_link(node):
            return ref
        target = next((one.cell for one in walk(node) if isinstance(one, Ref)), None)
        if target is None or target == ref:
            return ref
        ref = target
    return ref


def traced(recalc: Recalc, ref: CellRef) -> tuple[int, CellRef]:
    """Follow links, negated ones as well, to the cell that holds the line's own content; with the sign on the way."""
    formulas, sign = trees(recalc), 1
    for _ in range(30):
        node = formulas.get(ref)
        parts = terms(node) if node is not None else ()
        if len(parts) != 1 or not isinstance(parts[0][1], Ref) or parts[0][1].cell == ref:
            linked_to = linked(recalc, ref)
            if linked_to == ref:
                return sign, ref
            ref = linked_to
            continue
        sign, ref = sign * parts[0][0], parts[0][1].cell
    return sign, ref


def contribution(recalc: Recalc, item: Item) -> float | None:
    """Return what an item adds to the flow, in the sheet's unit."""
    value = recalc.number(item.cell) if item.cell else None
    return None if value is None else item.sign * value
