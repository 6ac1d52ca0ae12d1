"""Where the balances of the bridge come from: the right line of the balance sheet, at the right date, at face."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.checking import Finding, NotApplicable, Outcomes, check
from xlcheck.checks import claims, valuation
from xlcheck.checks.amounts import money
from xlcheck.checks.namesakes import idle_namesake, unlike
from xlcheck.checks.sheet import first_text, row_label, year_of
from xlcheck.checks.terminal_discounting import mid_year
from xlcheck.formula import Ref, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles

BRIDGE = (*claims.ASSETS, *claims.CLAIMS)
_ALIKE: dict[str, frozenset[str]] = {
    "cash": frozenset({"cash", "investments", "net_debt", "other_claims"}),
    "investments": frozenset({"investments", "cash", "other_claims"}),
    "debt": frozenset({"debt", "lease_liabilities", "net_debt", "other_claims", "pension_deficit"}),
    "lease_liabilities": frozenset({"lease_liabilities", "debt", "other_claims"}),
    "minority_interest": frozenset({"minority_interest", "other_claims"}),
    "preferred_equity": frozenset({"preferred_equity", "other_claims"}),
    "pension_deficit": frozenset({"pension_deficit", "other_claims", "debt"}),
}
"""Bridge role to the roles that its source may be labelled as."""
_TOTALS = re.compile(
    r"^\W*((?:total\W+)?(share|stock)holders?\W*s?\W+(equity|funds)|total\W+equity|total\W+liabilities|total\W+assets"
    r"|total\W+non\W*current\W+assets|total\W+current\W+assets|goodwill|property\W+plant|inventor(y|ies)"
    r"|资产总计|负债合计|所有者权益合计|股东权益合计|商誉|存货)\b",
    re.I,
)
_SURE = 0.75


@dataclass(frozen=True)
class Source:
    """A cell that a bridge item is taken from, with the sign it is taken with."""

    cell: CellRef
    sign: int


def sources(cell: CellRef, recalc: Recalc, graph: Graph) -> list[Source]:
    """Return the cells that a bridge item adds up, each followed through plain links to its end."""
    node = claims.formula_node(cell, recalc)
    found, sign = [], 1
    while node is not None:
        parts = terms(node)
        if len(parts) == 1 and isinstance(parts[0][1], Ref):
            sign, cell = sign * parts[0][0], parts[0][1].cell
            node = claims.formula_node(cell, recalc)
            continue
        found = [Source(graph.pure_link(part.cell), sign * one) for one, part in parts if isinstance(part, Ref)]
        return found or [Source(cell, sign)]
    return [Source(cell, sign)]


@check("bridge.source-matches-label")
def source_matches_label(roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    """Each line of the bridge is taken from the balance of the same name.

    What it holds:
        The cells that a bridge item links to are labelled as that item, or as a part of it: no total, no other item,
        and no asset that repeats a claim of the bridge.
    Why it matters:
        Minority interest linked to total equity costs the shareholders their whole book value.
    Accepted conventions:
        Short-term investments in cash, leases in debt, unlabelled cells, sums of several lines.
    Example:
        "Less: non-controlling interests" ``=-J31`` with J31 "Associates" (31.2) instead of NCI (24.3) one row below.
    How to fix:
        Link the line to the balance of its own name.
    Units and tolerance:
        Labels of the linked cells against the label of the line; certain matches only.
    Source:
        Koller et al., Valuation, ch. 16.
    """
    seen: set[CellRef] = set()
    for role in BRIDGE:
        located = roles.get(role)
        if located is None or located.cell is None or not located.value:
            continue
        for source in sources(located.cell, recalc, graph):
            if source.cell == located.cell:
                continue
            label = row_label(recalc, source.cell)
            if _other_line(role, label):
                yield _mislinked(role, located, source, label, recalc, graph)
                seen.add(located.cell)
    for found in _crossed(roles, recalc, graph):
        if found.cell not in seen:
            yield found
    yield from _beside_a_namesake(seen, roles, recalc, graph)
    if not any(
        source.cell != cell for cell in _bridge_cells(roles, recalc, graph) for source in sources(cell, recalc, graph)
    ):
        yield NotApplicable(reason="no bridge item links to another cell")


def _crossed(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Yield the assets of the bridge that repeat one of its claims, and the claims that repeat an asset."""
    bound = {role: one for role in (*claims.ASSETS, *claims.CLAIMS) if (one := roles.get(role)) and one.cell}
    for role, located in bound.items():
        for other, held in bound.items():
            apart = (role in claims.ASSETS) != (other in claims.ASSETS)
            if not apart or located.cell is None or held.cell is None or located.cell == held.cell:
                continue
            node = claims.formula_node(located.cell, recalc)
            linked = [part.cell for _, part in terms(node) if isinstance(part, Ref)] if node is not None else []
            if len(linked) == 1 and (held.cell == linked[0] or _taken_from(held.cell, located.cell, recalc, graph)):
                message = (
                    f"the {role.replace('_', ' ')} {located.cell} takes {held.cell}, the {other.replace('_', ' ')}"
                )
                yield money(message, located.cell, located.value, None)


def _taken_from(owner: CellRef, taker: CellRef, recalc: Recalc, graph: Graph) -> bool:
    """Say whether two lines link to one balance, which is named like the one and unlike the other."""
    source = graph.pure_link(taker)
    if source == taker or source != graph.pure_link(owner):
        return False
    name = row_label(recalc, source)
    return unlike(row_label(recalc, taker), name) and not unlike(row_label(recalc, owner), name)


def _bridge_cells(roles: Roles, recalc: Recalc, graph: Graph) -> list[CellRef]:
    """Return the bound bridge items and the cells that the equity formula reads, whatever they are called."""
    bound = [located.cell for role in BRIDGE if (located := roles.get(role)) is not None and located.cell]
    equity = claims.equity_cell(roles, recalc, graph)
    read = graph.precedents(equity) if equity is not None else ()
    held = claims.held_operations(roles, recalc)
    return list(dict.fromkeys([*bound, *(cell for cell in read if cell not in held)]))[:60]


def _beside_a_namesake(seen: set[CellRef], roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find lines that link to a balance of another name, while the balance of their own name is read by nothing."""
    for cell in _bridge_cells(roles, recalc, graph):
        found = sources(cell, recalc, graph)
        if cell in seen or len(found) != 1 or found[0].cell == cell:
            continue
        source, label = found[0], row_label(recalc, cell)
        named = row_label(recalc, source.cell)
        idle = idle_namesake(recalc, graph, cell, label, source.cell) if unlike(label, named) else None
        if idle is not None:
            want = recalc.number(idle)
            message = f"{_first(label)!r} {cell} takes {source.cell}, which is labelled {_first(named)!r}, not {idle}"
            yield money(message, cell, recalc.number(cell), None if want is None else source.sign * want)


def _first(label: str) -> str:
    return first_text(label)[:50]


def _other_line(role: str, label: str) -> bool:
    """Say whether a label surely names something else than the bridge role."""
    if not label:
        return False
    scores = claims.label_scores(label)
    own = max((scores.get(name, 0.0) for name in _ALIKE[role]), default=0.0)
    if own >= 0.4:
        return False
    if any(_TOTALS.match(text) for text in label.split(" | ")):
        return True
    rivals = {name: score for name, score in scores.items() if name in BRIDGE and name not in _ALIKE[role]}
    return max(rivals.values(), default=0.0) >= _SURE


def _mislinked(role: str, located: Located, source: Source, label: str, recalc: Recalc, graph: Graph) -> Finding:
    right = _line_named(role, source.cell, recalc)
    have, stated = recalc.number(source.cell), located.value
    want = recalc.number(right) if right is not None else None
    expected = None
    if have is not None and want is not None and stated is not None:
        expected = stated + source.sign * (want - have)
    shown = first_text(label)[:50]
    message = f"{role.replace('_', ' ')} {located.cell} takes {source.cell}, which is labelled {shown!r}"
    return money(message, located.cell, stated, expected)


def _line_named(role: str, near: CellRef, recalc: Recalc) -> CellRef | None:
    """Return the cell in the column of a balance sheet whose row is labelled as the role, if exactly one is."""
    sheet = recalc.book.sheet(near.sheet)
    rows = {row for row, column in sheet.cells if column == near.column} if sheet is not None else set()
    found = [
        cell
        for row in sorted(rows)
        if (cell := CellRef(near.sheet, row, near.column)) != near
        and recalc.number(cell) is not None
        and claims.label_scores(row_label(recalc, cell)).get(role, 0.0) >= _SURE
    ]
    return found[0] if len(found) == 1 else None


@check("bridge.balance-date")
def balance_date(
    wacc: Located | None,
    fcff: LocatedSeries | None,
    pv_fcff: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The balances of the bridge are those of the valuation date, at face.

    What it holds:
        All items come from the same balance sheet date, that date is no forecast year whose flow is counted as well,
        and no balance is discounted.
    Why it matters:
        Cash of the end of year one already holds the flow of year one: it is counted twice.
    Accepted conventions:
        Items without a dated heading; the last quarter before the valuation date; first-year balances after a stub.
    Example:
        Cash linked to the column 31.12.2024, debt and leases to 31.12.2025.
    How to fix:
        Link every item to the balance sheet at the valuation date.
    Units and tolerance:
        Years of the column headings.
    Source:
        Koller et al., Valuation, ch. 16.
    """
    dated: dict[str, tuple[Located, Source, int]] = {}
    for role in (*BRIDGE, "net_debt"):
        located = roles.get(role)
        if located is None or located.cell is None or not located.value:
            continue
        yield from _discounted(role, located, pv_fcff, recalc, graph)
        named = None if role == "net_debt" else _dated_link(located.cell, recalc)
        found = sources(located.cell, recalc, graph) if named is None else [named]
        for place, source in enumerate(found[: 1 if role != "net_debt" else None]):
            year = heading_year(source.cell, recalc)
            known = {other.cell for _, other, _ in dated.values()}
            if year is not None and source.cell != located.cell and source.cell not in known:
                dated[f"{role} {place}"] = (located, source, year)
    if not dated:
        yield NotApplicable(reason="no bridge item links to a dated balance")
        return
    years = Counter(year for _, _, year in dated.values())
    usual, most = years.most_common(1)[0]
    if len(dated) >= 3 and most >= len(dated) - 1 and len(years) > 1:
        for role, (located, source, year) in dated.items():
            if year != usual and source.cell.sheet in {other.cell.sheet for _, other, _ in dated.values()}:
                yield _misdated(role, located, source, year, usual, recalc)
        return
    yield from _forecast_balance(dated, fcff, roles, recalc, graph)


def _dated_link(cell: CellRef, recalc: Recalc) -> Source | None:
    """Return the first cell under a dated heading that an item links to: a balance may be rolled forward behind it."""
    sign = 1
    for _ in range(10):
        node = claims.formula_node(cell, recalc)
        parts = terms(node) if node is not None else ()
        if len(parts) != 1 or not isinstance(parts[0][1], Ref):
            return None
        sign, cell = sign * parts[0][0], parts[0][1].cell
        if heading_year(cell, recalc) is not None:
            return Source(cell, sign)
    return None


def _name(role: str) -> str:
    """Return the role of ``net_debt 2`` in words."""
    return role.rpartition(" ")[0].replace("_", " ")


def heading_year(cell: CellRef, recalc: Recalc) -> int | None:
    """Return the year that heads the column of a cell: the nearest dated cell above with a dated one beside it.

    None for a number that stands alone in its row: the heading belongs to a table above it.
    """
    for row in range(cell.row - 1, 0, -1):
        year = year_in(CellRef(cell.sheet, row, cell.column), recalc)
        if year is None:
            continue
        beside = [cell._replace(column=cell.column + step) for step in (-2, -1, 1, 2) if cell.column + step > 0]
        dated = [other for other in beside if year_in(other._replace(row=row), recalc) is not None]
        if dated:
            return year if any(recalc.number(other) is not None for other in dated) else None
    return None


def year_in(cell: CellRef, recalc: Recalc) -> int | None:
    """Return the year that a heading cell shows, or None."""
    held = recalc.book.get(cell)
    if held is None:
        return None
    return year_of(recalc.value(cell), held.number_format, date1904=recalc.book.calc.date1904)


def _misdated(role: str, located: Located, source: Source, year: int, usual: int, recalc: Recalc) -> Finding:
    """Say what the same line shows in the column of the usual year."""
    expected = None
    for step in range(-6, 7):
        other = source.cell.offset(0, step)
        if other.column > 0 and heading_year(other, recalc) == usual:
            have, want = recalc.number(source.cell), recalc.number(other)
            if have is not None and want is not None and located.value is not None:
                expected = located.value + source.sign * (want - have)
    message = f"{_name(role)} {located.cell} is the balance of {year} ({source.cell}), the others are of {usual}"
    return money(message, located.cell, located.value, expected)


def _forecast_balance(
    dated: dict[str, tuple[Located, Source, int]],
    flows: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Find balances of the first forecast year where that year's flow is counted and discounted for a whole year."""
    read = valuation.exponents(roles, recalc, graph)
    if flows is None or read is None or not read.known:
        return
    first = heading_year(flows.cells[0], recalc)
    period = roles.series.get("period")
    if first is None and period is not None:
        first = year_in(period.cells[0], recalc)
    mid = 0.48 <= read.known[0] <= 0.52 and mid_year(list(read.known), recalc.book)
    whole = mid or 0.98 <= read.known[0] <= 1.02
    if first is None or not whole or "valuation_date" in roles.scalars:
        return
    for role, (located, source, year) in dated.items():
        if year >= first:
            message = (
                f"{_name(role)} {located.cell} is the balance of {year} ({source.cell}); "
                f"the flow of {first} is counted as well"
            )
            before = source.cell.offset(0, first - 1 - year)
            have, want = recalc.number(source.cell), recalc.number(before) if before.column > 0 else None
            same_row = heading_year(before, recalc) == first - 1 if before.column > 0 else False
            known = same_row and have is not None and want is not None and located.value is not None
            expected = (located.value or 0) + source.sign * ((want or 0) - (have or 0)) if known else None
            yield money(message, located.cell, located.value, expected)


def _discounted(
    role: str, located: Located, present: LocatedSeries | None, recalc: Recalc, graph: Graph
) -> Iterator[Finding]:
    """Find a balance that is multiplied or divided by a discount factor."""
    if located.cell is None or present is None:
        return
    factors = {cell for one in present.cells for cell in graph.precedents(one)}
    for cell in graph.precedents(located.cell):
        value = recalc.number(cell)
        if cell in factors and value is not None and 0 < value < 5 and located.value is not None:
            expected = located.value * value if value < 1 else located.value / value
            message = f"{role.replace('_', ' ')} {located.cell} is discounted with {cell}: balances count at face"
            yield money(message, located.cell, located.value, expected)
