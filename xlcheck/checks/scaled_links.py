"""Links between different units: they carry the power of ten that the units call for, and all of them the same one."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks.conversions import source_of
from xlcheck.checks.sheet import row_label, text_at
from xlcheck.formula import Node, Number, Range, Ref, factors, parse, terms
from xlcheck.recompute import Recalc
from xlcheck.roles.basis import scale_in
from xlcheck.roles.layout import is_unit


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
    for (sheet, source), links in groups.items():
        yield from _off_the_rule(links, recalc)
        yield from _unscaled(sheet, source, links, recalc)
    yield from _against_their_units(recalc)


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


LARGE = 30
"""How many times an amount in the wrong unit is at least the largest one that it is added to."""


def _unscaled(sheet: str, source: str, links: list[_Link], recalc: Recalc) -> Iterator[Finding]:
    """Find a link without the factor that nearly all links to its sheet carry, added to amounts that do."""
    rule, most = Counter(link.power for link in links).most_common(1)[0]
    if most < 5 or most < 0.85 * len(links) or rule >= 0:
        return
    scaled = {link.cell for link in links if link.power == rule}
    added: dict[CellRef, list[CellRef]] = {}
    plain: set[CellRef] = set()
    for held in recalc.book.formula_cells():
        if held.ref.sheet != sheet or len(held.formula or "") > 300:
            continue
        parts = [one for _, one in terms(parse(held.formula or "", sheet, recalc.book, held.ref))]
        read = [cell for one in parts for cell in _cells(one)]
        if parts and all(isinstance(one, Ref) and one.cell.sheet == source for one in parts):
            plain.add(held.ref)
        added[held.ref] = read
    for read in added.values():
        sizes = {cell: abs(recalc.number(cell) or 0.0) for cell in read}
        rest = max((sizes[cell] for cell in read if cell not in plain), default=0.0)
        for cell in read if scaled & set(read) else ():
            if cell in plain and rest and sizes[cell] > LARGE * rest:
                message = f"{cell} links to {source!r} without the factor of 10^{rule} of the other links to it"
                value = recalc.number(cell) or 0.0
                yield Finding(message=message, cell=cell, found=value, expected=value * 10.0**rule, unit="money")


def _cells(node: Node) -> list[CellRef]:
    if isinstance(node, Range):
        return list(node.range.cells()) if node.range.size <= 60 else []
    return [node.cell] if isinstance(node, Ref) else []


def _against_their_units(recalc: Recalc) -> Iterator[Finding]:
    """Find ``=B14/10`` declared in million shares (百万股) of a cell declared in ten thousands (万股)."""
    for held in recalc.book.formula_cells():
        text = held.formula or ""
        source = source_of(held.ref, recalc.book) if len(text) < 80 and _SCALED.search(text) else held.ref
        own, other = (declared_unit(cell, recalc) for cell in (held.ref, source))
        value, base = recalc.number(held.ref), recalc.number(source)
        if source == held.ref or own is None or other is None or own[0] != other[0] or not value or not base:
            continue
        power, wanted = round(math.log10(abs(value / base))), round(math.log10(other[1] / own[1]))
        if power != wanted:
            right = base * 10.0**wanted
            message = f"{held.ref} carries a factor of 10^{power}; its unit and that of {source} call for 10^{wanted}"
            yield Finding(message=message, cell=held.ref, found=value, expected=right, unit="money")


def declared_unit(cell: CellRef, recalc: Recalc) -> tuple[str, float] | None:
    """Return what a cell counts, shares or money, and its unit: the one beside it or in its label's bracket."""
    label = row_label(recalc, cell)
    beside = [text_at(recalc, cell.offset(0, 1)), *reversed(label.split(" | ")[1:])]
    units = [text for text in beside if text and is_unit(text)] or _BRACKET.findall(label)
    for unit in units[:1]:
        kind = "shares" if _SHARES.search(unit) else "money" if _MONEY.search(unit) else None
        if kind is not None and not _RATIO.search(unit) and not _PER.search(label):
            scale = scale_in(unit)
            if scale is not None or _PLAIN.fullmatch(unit.strip()):
                return kind, scale or 1.0
    return None


_BRACKET = re.compile(r"[(（]([^()（）]*)[)）]")
_SHARES = re.compile(r"股|株|shares", re.IGNORECASE)
_MONEY = re.compile(
    r"[元圆圓円]|[$€£¥₹]|人民[币幣]|港[币幣]|(?<![A-Za-z])(?:RMB|CNY|HKD|USD|EUR|GBP|JPY)", re.IGNORECASE
)
_RATIO = re.compile(r"/|每|per\b", re.IGNORECASE)
_PER = re.compile(r"每股|1株|一株|per share", re.IGNORECASE)
_PLAIN = re.compile(r"[元円股株]|人民[币幣]元|港元|shares", re.IGNORECASE)
