"""Which of the workbook's valuations is the headline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from xlcheck.cells import CellRef
from xlcheck.formula import Ref, is_link, walk
from xlcheck.roles.candidates import SERIES, Candidate
from xlcheck.roles.chain import Walk
from xlcheck.roles.picks import Chain
from xlcheck.roles.shapes import Shapes
from xlcheck.roles.text import fold

MOST = 40
"""Candidates that are walked at most."""
SEARCHED = 30_000
"""Formulas of a workbook up to which a valuation without labels is searched for; no valuation has more."""
MARGIN = 0.3
"""Two valuations closer than this in standing cannot be told apart."""
BELOW = 12
"""How many rows under the equity value its value per share may stand."""
CUT_SHORT = 2.3
"""What the value per share would have added to the standing, had it been a formula."""
DISCOUNTING = 1.4
"""What discounted flows behind the enterprise value would have added to the standing, had it been a formula."""
_SIDE = re.compile(
    r"scenario|sensitiv|football|comps|compar|peer|relative|multiple|cases|precedent|summary|cover|dashboard|output|check|"
    r"template|情景|敏感|可比|相对|摘要|シナリオ|感応"
)
_SECOND = re.compile(r"multiple|exit|only|upside case|downside|bear|bull|optimis|pessimis|weighted|乘数|倍数|悲观|乐观")
_ASIDE = re.compile(r"cross[\s-]?check|sanity|reverse|market[\s-]implied|priced in|交叉|反向|隐含")
"""Headings and sheets of a block that stands beside the valuation."""
_AT_ANSWER = re.compile(r"\bat (?:the |that )?(?:market[\s-]?|price[\s-]?)?(?:implied|solved)\b")
"""A value at what the price implies is the price, not the answer."""
_CASE = re.compile(
    r"\b(?:mgmt|management|stress|pess|opt|bull|bear|upside|downside|worst|best|high|low)(?:imistic|ic)?\b|"
    r"悲观|乐观|悲観|楽観"
)
"""Sheets of a case that is not the base."""
_TERMINAL = {"terminal_value", "pv_terminal_value"}
_DISCOUNTING = ("wacc", "terminal_growth", "terminal_value", "pv_terminal_value", "sum_pv_fcff")
_CHECK = re.compile(r"check|校验|检查|勾稽|検証")
"""Sheets of a model's own checks: a difference of two values per share stands there, never the value itself."""
_MAIN_ROLES = ("equity_value", "enterprise_value", "sum_pv_fcff", "pv_terminal_value", "terminal_value", "shares")


@dataclass(frozen=True)
class Standing:
    """A valuation and how much speaks for it as the headline."""

    chain: Chain
    role: str
    score: float
    live: bool


def find_valuations(
    shapes: Shapes, candidates: Mapping[str, tuple[Candidate, ...]], readers: Mapping[CellRef, tuple[CellRef, ...]]
) -> list[Standing]:
    """Return the workbook's valuations, the one with the highest standing first."""
    found: dict[CellRef, Standing] = {}
    for role in ("value_per_share", "equity_value", "enterprise_value"):
        tops: dict[CellRef, float] = {}
        for candidate in candidates.get(role, ()):
            root = shapes.root(candidate.num.ref)
            tops[root] = max(tops.get(root, 0.0), candidate.score)
        for root, score in sorted(tops.items(), key=lambda item: -item[1])[:MOST]:
            standing = _standing(shapes, root, role, score, readers)
            if standing is not None and root not in found:
                found[root] = standing
    if not any(standing.chain.sums is not None for standing in found.values()):
        found.update(_unlabelled(shapes, found))
    if not any(_discounts(standing.chain) for standing in found.values()) and not _speaks_of_dcf(candidates):
        return []
    raised = [_on_typed_value(shapes, _cut_short(shapes, one, readers), found) for one in found.values()]
    ordered = sorted(raised, key=lambda one: -one.score)
    return _without_parts(ordered)


def _on_typed_value(shapes: Shapes, standing: Standing, found: Mapping[CellRef, Standing]) -> Standing:
    """Raise a value per share on a typed enterprise value, where its sheet discounts flows to one: it was cut off."""
    value = standing.chain.cell("enterprise_value")
    if standing.role != "value_per_share" or not standing.live or value is None or _discounts(standing.chain):
        return standing
    own = [one for one in found.values() if one.chain.top.sheet == standing.chain.top.sheet and _discounts(one.chain)]
    cut = shapes.tree(shapes.root(value)) is None and bool(own)
    return replace(standing, score=standing.score + DISCOUNTING) if cut else standing


def _cut_short(shapes: Shapes, standing: Standing, readers: Mapping[CellRef, tuple[CellRef, ...]]) -> Standing:
    """Raise a live equity value whose own value per share, labelled below it, is typed or left empty.

    Such a valuation must not lose its place to a copy of it that is whole, or the typed headline would pass unseen.
    """
    top = standing.chain.top
    sheet = shapes.naming.layout.by_name.get(top.sheet)
    if standing.role != "equity_value" or not standing.live or sheet is None or _SIDE.search(fold(top.sheet)):
        return standing
    for (row, column), text in sheet.texts.items():
        below = top.row < row <= top.row + BELOW and column < top.column
        if not below or shapes.naming.lexicon.match(text).get("value_per_share", 0.0) < 0.9:
            continue
        cell = sheet.ref(row, top.column)
        if shapes.tree(cell) is None and not any(shapes.at(one) for one in readers.get(top, ())):
            return replace(standing, score=standing.score + CUT_SHORT)
    return standing


def _discounts(chain: Chain) -> bool:
    perpetuity = "gordon" in chain.methods and bool(chain.rates)
    return chain.sums is not None or "pv_terminal_value" in chain.picks or perpetuity


def _speaks_of_dcf(candidates: Mapping[str, tuple[Candidate, ...]]) -> bool:
    """Say whether labels name the parts of a DCF: an EV alone may stand in an LBO or a comps table."""

    def well(one: Candidate) -> bool:
        return one.score + (SERIES if one.series else 0.0) >= 0.85  # a sensitivity grid may stand right of the steps

    return sum(any(map(well, candidates.get(role, ()))) for role in _DISCOUNTING) >= 3


def _unlabelled(shapes: Shapes, found: Mapping[CellRef, Standing]) -> dict[CellRef, Standing]:
    """Find a valuation by the build of its formulas alone: a last step that no other step of a valuation reads."""
    kinds = {}
    formulas = list(shapes.book.formula_cells())
    for cell in formulas if len(formulas) <= SEARCHED else ():
        shape = shapes.at(cell.ref)
        if shape is not None and shape.kind in ("ev", "equity", "per_share") and shapes.root(cell.ref) == cell.ref:
            kinds[cell.ref] = shape.kind
    read = set()
    for ref in kinds:
        tree = shapes.tree(ref)
        for part in walk(tree) if tree is not None else ():
            read |= {shapes.root(cell) for cell in shapes.cells([part])}
    aside = {ref for ref in kinds if _in_a_grid(ref, kinds) or _CHECK.search(fold(ref.sheet))}
    tops = [ref for ref in kinds if ref not in read and ref not in found and ref not in aside]
    standings = {}
    for top in tops[:MOST]:
        role = {"ev": "enterprise_value", "equity": "equity_value", "per_share": "value_per_share"}[kinds[top]]
        chain = Walk(shapes, Chain(top)).from_top(role, named=False)
        if chain.sums is not None and chain.rates and _TERMINAL & set(chain.picks):
            standings[top] = Standing(chain, role, 1.0 + 0.4 * len(chain.picks), live=True)
    return standings


def _in_a_grid(ref: CellRef, kinds: Mapping[CellRef, str]) -> bool:
    """Say whether cells of the same kind stand beside and below or above: a sensitivity table, no valuation."""

    def alike(rows: int, columns: int) -> bool:
        return kinds.get(ref.offset(rows, columns)) == kinds[ref]

    return (alike(0, 1) or alike(0, -1)) and (alike(1, 0) or alike(-1, 0))


def _without_parts(ordered: list[Standing]) -> list[Standing]:
    """Leave out valuations whose top is only a step of a fuller one."""
    used: set[CellRef] = set()
    steps = {step for standing in ordered for step in standing.chain.steps}
    kept = []
    for standing in sorted(ordered, key=lambda one: (one.role != "value_per_share", one.role != "equity_value")):
        if standing.chain.top in (steps if standing.role == "value_per_share" else used | steps):
            continue
        used |= {pick.cell for pick in standing.chain.picks.values() if pick.cell is not None}
        kept.append(standing)
    return sorted(kept, key=lambda one: -one.score)


def tied(first: Standing, second: Standing, shapes: Shapes) -> bool:
    """Say whether two valuations stand equally as the headline: both live, on flows of their own, values differing."""
    if first.score - second.score >= MARGIN or first.role != second.role or not (first.live and second.live):
        return False
    values = [shapes.naming.layout.value(one.chain.top) for one in (first, second)]
    if None in values or values[0] == values[1]:
        return False
    sums = [shapes.of(one.chain.sums) if one.chain.sums is not None else None for one in (first, second)]
    flows = [shape.flows if shape else () for shape in sums]
    return bool(flows[0]) and bool(flows[1]) and not set(flows[0]) & set(flows[1])


def _standing(
    shapes: Shapes, top: CellRef, role: str, label: float, readers: Mapping[CellRef, tuple[CellRef, ...]]
) -> Standing | None:
    if _CHECK.search(fold(top.sheet)):
        return None
    shape = shapes.at(top)
    live = shapes.tree(top) is not None
    wanted = {"value_per_share": "per_share", "equity_value": "equity", "enterprise_value": "ev"}[role]
    built = shape is not None and shape.kind in (wanted, "ev" if role == "equity_value" else wanted)
    built = built or (role == "enterprise_value" and shape is not None and shape.kind == "tv" and bool(shape.growth))
    if (not built and label < 0.7) or (live and shape is None and label < 0.9):
        return None
    chain = Walk(shapes, Chain(top)).from_top(role)
    whole = sum(1 for one in _MAIN_ROLES if one in chain.picks or one in chain.rivals)
    operating = _discounts(chain)
    score = label + (2.0 if built else 0.0) + 0.4 * whole + (1.0 if operating else 0.0)
    score += {"value_per_share": 1.5, "equity_value": 0.6, "enterprise_value": 0.0}[role]
    score -= 0.0 if live else 2.5
    score -= 0.4 if shapes.naming.layout.value(top) is None else 0.0
    score += _used(shapes, top, readers)
    score -= 0.3 * sum(1 for one in _MAIN_ROLES[:5] if _repeats(shapes, chain, one))
    name = fold(top.sheet)
    score -= 1.0 if _SIDE.search(name) else 0.0
    score -= 0.6 if _CASE.search(name) else 0.0
    own = fold(shapes.naming.label(top))
    aside = _ASIDE.search(_heading(shapes, top)) or _ASIDE.search(name) or _AT_ANSWER.search(own)
    score -= 0.6 if _SECOND.search(own) or aside else 0.0
    score -= 0.3 if chain.methods == {"multiple"} else 0.0
    score -= 0.8 if _to_equity(shapes, chain) else 0.0
    return Standing(chain, role, score, live)


def _heading(shapes: Shapes, top: CellRef) -> str:
    sheet = shapes.naming.layout.by_name.get(top.sheet)
    return fold(next(sheet.headings(top.row, top.column), "")) if sheet is not None else ""


def _repeats(shapes: Shapes, chain: Chain, role: str) -> bool:
    """Say whether a part only repeats another cell, as in a summary table."""
    cell = chain.cell(role)
    return cell is not None and shapes.root(cell) != cell


def _to_equity(shapes: Shapes, chain: Chain) -> bool:
    """Say whether the flows are discounted at the cost of equity."""
    score = shapes.naming.score
    return any(
        score(shapes.root(rate), "cost_of_equity") > score(shapes.root(rate), "wacc")
        for rate, where in chain.rates
        if where == "discount"
    )


def _used(shapes: Shapes, top: CellRef, readers: Mapping[CellRef, tuple[CellRef, ...]]) -> float:
    """Count what shows that a value is the answer: compared with a price, repeated on other sheets."""
    compared = links = 0
    for reader in readers.get(top, ()):
        tree = shapes.tree(reader)
        if tree is None:
            continue
        if is_link(tree):
            links += 1
            compared += any(_compares(shapes, other, reader) for other in readers.get(reader, ()))
        elif _compares(shapes, reader, top):
            compared += 1
    return (0.8 if compared else 0.0) + (0.3 + 0.05 * min(links, 6) if links else 0.0)


def _compares(shapes: Shapes, reader: CellRef, value: CellRef) -> bool:
    tree = shapes.tree(reader)
    cells = [part.cell for part in walk(tree) if isinstance(part, Ref)] if tree is not None else []
    priced = any(cell != value and shapes.naming.score(cell, "current_price") >= 0.6 for cell in cells)
    return priced and len(set(cells)) <= 3
