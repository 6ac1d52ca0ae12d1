"""Links between sheets in different units: all of them carry the same power of ten."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.formula import Node, Number, Ref, factors, parse, terms
from xlcheck.recompute import Recalc


@dataclass(frozen=True)
class _Link:
    cell: CellRef
    power: int


def odd_links(recalc: Recalc) -> Iterator[Finding]:
    """Find links between two sheets that carry another power of ten than all their neighbours in the row."""
    groups: dict[tuple[str, str], list[_Link]] = defaultdict(list)
    for held in recalc.book.formula_cells():
        text = held.formula or ""
        if "!" in text and len(text) < 300 and _SCALED.search(text):
            node = parse(text, held.ref.sheet, recalc.book, held.ref)
            scaled = _scaled_link(node, held.ref.sheet)
            if scaled is not None:
                groups[held.ref.sheet, scaled[0]].append(_Link(held.ref, scaled[1]))
    for links in groups.values():
        yield from _off_the_rule(links, recalc)


_SCALED = re.compile(r"[/*]\s*10+(?![\d.])")


def _scaled_link(node: Node, sheet: str) -> tuple[str, int] | None:
    """Return the sheet that a formula reads, and the power of ten it multiplies by, if it is a scaled link."""
    power, sources = 0, set()
    for part, exponent in factors(node):
        if isinstance(part, Number):
            size = math.log10(abs(part.value)) if part.value else 0.5
            if abs(size - round(size)) > 1e-9:
                return None
            power += exponent * round(size)
            continue
        refs = [term for _, term in terms(part)]
        if exponent != 1 or not all(isinstance(ref, Ref) for ref in refs):
            return None
        sources |= {ref.cell.sheet for ref in refs if isinstance(ref, Ref)}
    if len(sources) != 1 or sheet in sources or power == 0:
        return None
    return sources.pop(), power


def _off_the_rule(links: list[_Link], recalc: Recalc) -> Iterator[Finding]:
    counts = Counter(link.power for link in links)
    rule, most = counts.most_common(1)[0]
    if len(counts) == 1 or most < 5 or most < 0.85 * len(links):
        return
    for link in links:
        mates = [other for other in links if other.cell.row == link.cell.row and other.cell != link.cell]
        if link.power != rule and mates and all(other.power == rule for other in mates):
            value = recalc.number(link.cell)
            expected = None if value is None else value * 10.0 ** (rule - link.power)
            message = f"{link.cell} links with a factor of 10^{link.power}, the other years of the row with 10^{rule}"
            yield Finding(message=message, cell=link.cell, found=value, expected=expected, unit="money")
