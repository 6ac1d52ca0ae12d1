"""Exchange rates as labels state them, in English, German, Chinese and Japanese words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.checks import memory
from xlcheck.checks.sheet import row_label, text_at
from xlcheck.recompute import Recalc
from xlcheck.roles.text import fold

_WORDS = (
    (re.compile(r"人民币|(?<![a-z])(?:rmb|cnh|cny)(?![a-z])"), " CNY "),
    (re.compile(r"港[元币]|hk\$|(?<![a-z])hkd(?![a-z])"), " HKD "),
    (re.compile(r"美[元金]|us\$|(?<![a-z])usd(?![a-z])"), " USD "),
    (re.compile(r"欧元|(?<![a-z])eur(?![a-z])"), " EUR "),
    (re.compile(r"日[元币]|円|(?<![a-z])jpy(?![a-z])"), " JPY "),
    (re.compile(r"新?台币|nt\$|(?<![a-z])twd(?![a-z])"), " TWD "),
    (re.compile(r"英镑|(?<![a-z])gbp(?![a-z])"), " GBP "),
    (re.compile(r"(?<![a-z])(inr|chf|aud|cad|sgd|krw|sek|nok|dkk)(?![a-z])"), None),
)
_CODE = r"([A-Z]{3})"
_PER = re.compile(_CODE + r"\s*(?:per|for|pro|je)\s*(?:1\s*|one\s+)?" + _CODE)
_EACH = re.compile(r"(?:1|每)\s*1?\s*[元圆]?\s*" + _CODE + r"\s*(?:=|≈|兑换?|等于|折合?|in)\s*[0-9.]*\s*" + _CODE)
_AGAINST = re.compile(_CODE + r"\s*(?:兑换?|对)\s*" + _CODE)
_RELATES = re.compile(r"per|for|pro|je|=|≈|[每兑兌折对對]")
_USUAL = {("HKD", "CNY"): (0.78, 0.97), ("USD", "CNY"): (6.0, 7.5), ("USD", "HKD"): (7.7, 7.9)}
"""What one unit of the first currency has bought of the second for two decades."""


def coded(text: str) -> str:
    """Return a text with each currency that it names as its ISO code, all else in lower case."""
    folded = fold(text)
    for pattern, code in _WORDS:
        folded = pattern.sub(code or (lambda found: f" {found[1].upper()} "), folded)
    return folded


def first_code(text: str) -> str | None:
    """Return the ISO code of the first currency that a text names."""
    found = re.search(_CODE, coded(text))
    return found[1] if found is not None else None


def quoted_pair(text: str, rate: float | None = None) -> tuple[str, str] | None:
    """Return (quoted, base) of a text such as ``HKD per 1 RMB``; None where no direction is stated.

    ``港元兑人民币`` states one only beside a rate that the two currencies have had that way round.
    """
    plain = coded(text)
    per, each = _PER.search(plain), _EACH.search(plain)
    if per is not None:
        return per[1], per[2]
    if each is not None:
        return each[2], each[1]
    against = _AGAINST.search(plain)
    if against is not None and rate is not None and _is_usual(against[1], against[2], rate):
        return against[2], against[1]
    return None


def may_quote(text: str) -> bool:
    """Say whether a text may state an exchange rate: a word that relates two currencies, and two of them."""
    return _RELATES.search(text) is not None and len(set(re.findall(_CODE, coded(text)))) > 1


def _is_usual(base: str, quoted: str, rate: float) -> bool:
    low, high = _USUAL.get((base, quoted), (0.0, 0.0))
    if (quoted, base) in _USUAL:
        low, high = (1 / end for end in reversed(_USUAL[quoted, base]))
    return low < rate < high


@dataclass(frozen=True)
class Quote:
    """An exchange rate as its label states it: so many `quoted` for one `base`."""

    cell: CellRef
    quoted: str
    base: str


def quotes(recalc: Recalc) -> list[Quote]:
    """Return the cells that hold an exchange rate whose direction is stated ("HKD per CNY")."""
    return memory.remembered(recalc, "quotes", lambda: _quotes(recalc))


def _quotes(recalc: Recalc) -> list[Quote]:
    found: list[Quote] = []
    texts = (held.stored for held in recalc.book.cells() if isinstance(held.stored, str))
    if not any(may_quote(text) for text in texts if len(text) < 120):
        return found
    for held in recalc.book.cells():
        rate = recalc.number(held.ref)
        if rate is None or rate <= 0 or rate == 1:
            continue
        text = f"{row_label(recalc, held.ref)} {text_at(recalc, held.ref.offset(0, 1))}"
        pair = quoted_pair(text, rate) if may_quote(text) else None
        if pair is not None:
            found.append(Quote(held.ref, *pair))
    return found
