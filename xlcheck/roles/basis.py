"""Unit scale and currency: what a label, a unit beside it, a heading, a title or a number format declares."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from xlcheck.cells import CellRef
from xlcheck.roles.layout import Layout, SheetLayout, is_unit
from xlcheck.roles.text import fold

_SCALES = (
    (r"百万|million(?:s|en)?\b|\bmio\b|\bmln\b|\bmm\b|\bmn\b", 1e6),
    (r"十亿|billion(?:s)?\b|\bmrd\b|\bbn\b|\bmilliard(?:s|en)?\b", 1e9),
    (r"亿|億", 1e8),
    (r"crores?\b|\bcr\b", 1e7),
    (r"lakhs?\b|\blacs?\b", 1e5),
    (r"万|萬", 1e4),
    (r"thousand(?:s)?\b|\btsd\b|千|(?<!\d)['’‘]?000s?\b|\bk\b(?=\s*[$€£]|\)|$)", 1e3),
)
_SHORT = re.compile(
    r"(?:usd|eur|gbp|cny|rmb|hkd|jpy|inr|cad|aud|chf|krw|[$€£¥₹])\s*(m|b|k)\b|\b(m)\s*(?=[$€£¥₹]|usd|eur|rmb|hkd)"
)
_HUNDREDS = re.compile(r"(?<![\d.,])(100?)\s*(?:millions?\b|mn\b|mm\b|m(?=\)|$))")
"""``100mn`` is the English of 亿."""
_LETTERS = {"m": 1e6, "b": 1e9, "k": 1e3}
_COUNTED = re.compile(r"(?:[(（]|,\s)\s*(m|mm|mn|mln|k|bn)\.?\s*[)）]?$")
"""A number of shares, ``Shares (m)`` or ``Shares in issue, m``; beside money a lone letter may mean anything."""
_CURRENCIES = (
    (r"hk\$|\bhkd(?![a-z])|(?<![a-z])hkd\b|港元|港币|港幣", "HKD"),
    (r"us\$|\busd\b|美元|u\.s\. dollar|\bus dollars?\b", "USD"),
    (r"a\$|\baud\b", "AUD"),
    (r"c\$|\bcad\b", "CAD"),
    (r"s\$|\bsgd\b", "SGD"),
    (r"nt\$|\btwd\b|新?台币", "TWD"),
    (r"\b(?:rmb|cny)(?![a-z])|(?<![a-z])(?:rmb|cny)\b|人民币|人民幣", "CNY"),
    (r"€|\beur\b|\beuro\b|欧元", "EUR"),
    (r"£|\bgbp\b|英镑", "GBP"),
    (r"\bjpy\b|日元|円", "JPY"),
    (r"₹|\binr\b|\brs\.?\s*\(?(?=cr|lakh)|\brupees?\s*\(?(?=cr|lakh)", "INR"),
    (r"\bpkr\b", "PKR"),
    (r"\bchf\b", "CHF"),
    (r"₩|\bkrw\b", "KRW"),
    (r"\bvnd\b", "VND"),
    (r"\bbrl\b|r\$", "BRL"),
)
_DOLLAR = re.compile(r"\$")
"""A bare dollar sign; it is a US dollar only where no other currency is named."""
_DECLARES = re.compile(
    r"\bin\b|\bfigures?\b|amounts?\b|单位|單位|単位|betrage|\bunless\b|\bunits?\b|\bstatements?\b|\bdollars?\b|^\W*\(.{1,40}\)\W*$"
)
_FORMAT_CURRENCY = re.compile(r"\[\$([^\-\]]*)-?[^\]]*\]|\"([^\"]*)\"|([€£₹$¥])")


@dataclass(frozen=True, slots=True)
class Basis:
    """The scale (1, 1e3, 1e6 …) and currency that apply; None where nothing is declared."""

    scale: float | None
    currency: str | None
    where: CellRef | None = None


@lru_cache(maxsize=20_000)
def scale_in(text: str) -> float | None:
    """Return the unit scale that a text names: ``(in millions)``, ``百万元``, ``EUR m``, ``Rs. Cr``."""
    folded = fold(text)
    hundreds = _HUNDREDS.search(folded)
    if hundreds is not None:
        return float(hundreds[1]) * 1e6
    for pattern, scale in _SCALES:
        if re.search(pattern, folded):
            return scale
    short = _SHORT.search(folded)
    return _LETTERS[short[1] or short[2]] if short else None


@lru_cache(maxsize=20_000)
def currency_in(text: str) -> str | None:
    """Return the ISO code of the currency that a text names, None where it names none or two."""
    folded, found = fold(text), []
    for pattern, code in _CURRENCIES:
        if re.search(pattern, folded):
            found.append(code)
            folded = re.sub(pattern, " ", folded)
    if not found and _DOLLAR.search(folded):
        return "USD"
    return found[0] if len(set(found)) == 1 else None


@dataclass
class Bases:
    """Answers which scale and currency apply to a cell."""

    layout: Layout
    _declared: dict[str, list[tuple[int, int, Basis]]] = field(default_factory=dict)

    def money(self, ref: CellRef) -> Basis:
        """Return the basis of an amount: its own label and unit first, then the headings of its sheet."""
        own = self._beside(ref)
        sheet = self._of_sheet(ref)
        book = self._of_book() if sheet.scale is None and own.scale is None else sheet
        scale = own.scale if own.scale is not None else sheet.scale if sheet.scale is not None else book.scale
        currency = own.currency or sheet.currency or book.currency
        return Basis(scale, currency, own.where or sheet.where or book.where)

    def per_share(self, ref: CellRef) -> Basis:
        """Return the currency of a price: its own label, unit or format, then the sheet's."""
        own = self._beside(ref)
        return Basis(1.0, own.currency or self._of_sheet(ref).currency or self._of_book().currency, own.where)

    def count(self, ref: CellRef) -> float | None:
        """Return the scale of a number of shares, None where its own label declares none."""
        scale, sheet = self._beside(ref).scale, self.layout.by_name.get(ref.sheet)
        if scale is not None or sheet is None:
            return scale
        short = [match for _, text in _row_texts(sheet, ref) if (match := _COUNTED.search(fold(text)))]
        return _LETTERS[short[0][1][0]] if short else None

    def _beside(self, ref: CellRef) -> Basis:
        sheet = self.layout.by_name.get(ref.sheet)
        if sheet is None:
            return Basis(None, None)
        texts = list(_row_texts(sheet, ref))
        above = sheet.text_above(ref.row, ref.column, 1)
        if above is not None:
            texts.append((sheet.ref(above[0], ref.column), above[1]))
        cell = self.layout.book.get(ref)
        form = cell.number_format if cell else ""
        texts_found = [(where, scale_in(text), currency_in(text)) for where, text in texts]
        scale = next((one for _, one, _ in texts_found if one is not None), None)
        currency = next((one for _, _, one in texts_found if one is not None), None)
        where = next((at for at, one, other in texts_found if one is not None or other is not None), None)
        return Basis(scale, currency or _currency_of_format(form), where)

    def _of_sheet(self, ref: CellRef) -> Basis:
        declared = self._declarations(ref.sheet)
        above = [basis for row, _, basis in declared if row <= ref.row]
        pool = [*reversed(above), *(basis for row, _, basis in declared if row > ref.row)]
        scale = next((basis.scale for basis in pool if basis.scale is not None), None)
        currency = next((basis.currency for basis in pool if basis.currency is not None), None)
        return Basis(scale, currency, pool[0].where if pool else None)

    def _declarations(self, name: str) -> list[tuple[int, int, Basis]]:
        if name not in self._declared:
            sheet = self.layout.by_name[name]
            self._declared[name] = sorted(_declared_in(sheet), key=lambda one: one[:2]) or list(_unit_column(sheet))
        return self._declared[name]

    def _of_book(self) -> Basis:
        found = [basis for sheet in self.layout.sheets for _, _, basis in self._declarations(sheet.name)]
        scales = Counter(basis.scale for basis in found if basis.scale is not None)
        currencies = Counter(basis.currency for basis in found if basis.currency is not None)
        return Basis(
            scales.most_common(1)[0][0] if len(scales) == 1 else None,
            currencies.most_common(1)[0][0] if len(currencies) == 1 else None,
            found[0].where if found else None,
        )


def _row_texts(sheet: SheetLayout, ref: CellRef) -> Iterator[tuple[CellRef, str]]:
    """Yield the unit right of a value, then its label and the units between."""
    right = sheet.texts.get((ref.row, ref.column + 1))
    if right is not None and is_unit(right):
        yield sheet.ref(ref.row, ref.column + 1), right
    seen = 0
    for column in reversed(sheet.rows.get(ref.row, ())):
        if column >= ref.column or (ref.row, column) in sheet.numbers:
            continue
        text = sheet.texts[ref.row, column]
        yield sheet.ref(ref.row, column), text
        seen += 0 if is_unit(text) else 1
        if seen >= 2:
            return


def _declared_in(sheet: SheetLayout) -> Iterator[tuple[int, int, Basis]]:
    """Yield the texts of a sheet that declare a unit for what stands below them."""
    for (row, column), text in sheet.texts.items():
        if len(text) > 160 or (len(text) > 60 and row > 12):
            continue
        alone = not any((row, other) in sheet.numbers for other in sheet.rows[row] if other > column)
        folded = fold(text)
        named = _DECLARES.search(folded) is not None or is_unit(text)
        if not alone and not (named and row <= 12):
            continue
        scale, currency = scale_in(text), currency_in(text)
        short = len(text) <= 40
        if scale is not None and (named or currency is not None or (row <= 6 and short)):
            yield row, column, Basis(scale, currency, sheet.ref(row, column))
        elif currency is not None and (named or short) and row <= 12:
            yield row, column, Basis(None, currency, sheet.ref(row, column))


def _unit_column(sheet: SheetLayout) -> Iterator[tuple[int, int, Basis]]:
    """Yield the unit that every unit cell of a sheet names, where they agree."""
    units = [(place, text) for place, text in sheet.texts.items() if is_unit(text)]
    scales = {scale_in(text) for _, text in units} - {None}
    currencies = {currency_in(text) for _, text in units} - {None}
    if len(scales) == 1 and len(currencies) <= 1 and len(units) >= 3:
        first = min(units)[0]
        yield first[0], first[1], Basis(scales.pop(), currencies.pop() if currencies else None, sheet.ref(*first))


def _currency_of_format(form: str) -> str | None:
    for match in _FORMAT_CURRENCY.finditer(form):
        symbol = match[1] or match[2] or match[3] or ""
        if symbol and symbol not in ("¥", "$"):
            found = currency_in(symbol)
            if found is not None:
                return found
    return None


def share_scale(equity: float | None, shares: float | None, per_share: float | None, money: float) -> float | None:
    """Return the scale of the share count that the per-share formula implies, a power of ten, or None.

    per_share = equity × money / (shares × scale); it is only taken where it comes out as a power of ten.
    """
    if not equity or not shares or not per_share or equity / shares * per_share < 0:
        return None
    scale = money * equity / (shares * per_share)
    power = round(math.log10(scale)) if scale > 0 else 0
    near = abs(scale / 10**power - 1) < 0.02
    return float(10**power) if near and 0 <= power <= 9 else None
