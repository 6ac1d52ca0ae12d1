"""The answer of a reverse DCF that is worked beside the model: read by its words and by what hangs on it.

A goal seek, a bisection or a closed form on a sheet of its own is no input of the headline value. Its label says that
the price implies it, and either a value that reads it is held against the price, or it follows from price and rate.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from xlcheck.cells import CellRef
from xlcheck.graph import Graph
from xlcheck.roles.layout import Layout
from xlcheck.roles.naming import Naming
from xlcheck.roles.picks import Pick

LONGEST = 90
"""Letters of a label; a longer text is a note."""
_IMPLIED = re.compile(
    r"\bimpl(?:ied|ies)\b|\bpric(?:ed|es|ing) in\b|\bsolved?\b|\bbreak-?\s?even\b|\brequired\b|\bneeded\b|\bjustif\w+|"
    r"\bgoal[\s-]?seek\b|\bsupports? the\b|\bimplizit\w*|\bimplicit[eao]?\b|"
    r"[隐隱]含|反推|反解|倒推|インプライド|織り込",
    re.IGNORECASE,
)
_FROM_PRICE = re.compile(
    r"\b(?:market|price)\b|\bsolved?\b|\bgoal[\s-]?seek\b|\bpric(?:ed|es|ing) in\b|市场|市場|股价|反推|反解|倒推|織",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    r"\bgrowth\b|\bcagr\b|\bg\*?(?![\w'])|\bmargin|\byears?\b|\bperiod\b|\bhorizon\b|\bcap\b|\bmultiple\b|\bro(?:n?ic|ce)\b|"
    r"\breturn\b|\brate\b|\bwacc\b|\birr\b|\breinvestment\b|\bwachstum\w*|\bmarge\b|\bcroissance\b|\bcrecimiento\b|"
    r"增长|增長|成長|增速|利润率|利潤率|年数|年限|时长|期限|年）|年\)|倍数|回报率|折现率|成長率|利益率",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\bless\b|\bversus\b|\bvs\.?(?!\w)|\bminus\b|\bgap\b|\bdifference\b|\bdelta\b|\bspread\b|\btie\b|\bcheck\b|"
    r"\bvalue at\b|\bat (?:the )?(?:market[\s-]?|price[\s-]?)?(?:implied|solved)\b|\bper share\b|"
    r"\bpremium\b|\bmarket return\b|\breturn on the market\b|\berp\b|溢价|溢價|"
    r"差|校[验驗]|核[对對]|[验驗][证證]|每股",
    re.IGNORECASE,
)


def names_an_answer(text: str) -> bool:
    """Say whether a label names what a price implies: "market-implied revenue CAGR", "股价隐含增长率"."""
    if len(text) > LONGEST or _OTHER.search(text):
        return False
    return bool(_IMPLIED.search(text) and _QUANTITY.search(text))


def answers(
    naming: Naming, graph: Graph, top: CellRef, price: CellRef | None, rates: Collection[CellRef]
) -> list[Pick]:
    """Return the answers worked beside the model, the one whose label names the price first.

    ``rates`` are the cells of the discount rate: what the price is solved against depends on one of them.
    """
    if price is None or not rates:
        return []
    ahead = graph.ancestors([top])
    after_price, after_rate = graph.descendants([price]), graph.descendants(rates)
    found = []
    for cell, text in _labelled(naming.layout):
        root, asked = _home(graph, cell), bool(_FROM_PRICE.search(text))
        if root == price:
            continue
        if root in ahead or graph.pure_link(root) in ahead:
            num = naming.layout.num(root)
            if asked and root in ahead and num is not None and not num.formula:
                evidence = [f"{cell} is labelled {text!r}", "the value hangs on it"]
                found.append(Pick("implied_value", root, label=0.8, graph=True, evidence=evidence))
            continue
        below = graph.descendants([root])
        if (root in after_price and root in after_rate) or (
            any(one in after_rate and (one in after_price or _beside_price(naming, graph, one, below)) for one in below)
            or (asked and _values_a_share(naming, root, below & after_rate))
        ):
            strength = 0.9 if asked else 0.8
            evidence = [f"{cell} is labelled {text!r}", "what hangs on it is held against the price"]
            found.append(Pick("implied_value", root, label=strength, graph=True, evidence=evidence))
    distinct: dict[CellRef | None, Pick] = {}
    for pick in found:
        distinct.setdefault(pick.cell, pick)
    return sorted(distinct.values(), key=lambda pick: -pick.label)


def _labelled(layout: Layout) -> Iterator[tuple[CellRef, str]]:
    for sheet in layout.sheets:
        for (row, column), text in sheet.texts.items():
            if not names_an_answer(text):
                continue
            for place in sheet.rows.get(row, ()):
                if place > column and (row, place) in sheet.numbers:
                    yield sheet.ref(row, place), text
                    break


def _home(graph: Graph, cell: CellRef) -> CellRef:
    """Follow links to other sheets; a link within a sheet is where the answer of a search stands."""
    root = graph.pure_link(cell)
    while root.sheet != cell.sheet:
        step = next(iter(graph.precedents(cell)))
        cell, root = step, graph.pure_link(step)
    return cell


def _beside_price(naming: Naming, graph: Graph, cell: CellRef, below: Collection[CellRef]) -> bool:
    """Say whether a formula compares what hangs on the answer with a number labelled as the price."""
    reads = graph.precedents(cell)
    return any(one not in below and naming.score(one, "current_price") >= 0.6 for one in reads) and any(
        one in below for one in reads
    )


def _values_a_share(naming: Naming, answer: CellRef, below: Collection[CellRef]) -> bool:
    """Say whether a value per share on the answer's own sheet hangs on it."""
    return any(one.sheet == answer.sheet and naming.score(one, "value_per_share") >= 0.5 for one in below)
