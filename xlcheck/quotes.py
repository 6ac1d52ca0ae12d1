"""Are a judge's quotes really in what was handed in: exactly, in other typography, or not at all.

Typography is space, full and half width, quotation marks, dashes, thousands separators, decimal comma and the
number format of a cell. One digit, sign or word that differs is *not found*.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext

from xlcheck.cells import CellError, CellRef, Scalar, is_number
from xlcheck.engines import Unsolved
from xlcheck.memo import Memo
from xlcheck.recompute import Recalc
from xlcheck.verdicts import Found, Quote, Verdict
from xlcheck.workbook import Book, Sheet

_GAP = "\n\u241e\n"
"""Stands between passages; no quote can reach across it."""


@dataclass(frozen=True)
class Passages:
    """Everything that was handed in, as text to look quotes up in."""

    texts: tuple[str, ...] = ()
    """Memo pages, formulas, comments, rows as displayed, …"""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Cell address (``Sheet name!A1``) to recomputed number."""
    unread: tuple[str, ...] = ()
    """Why a file that was handed in could not be read, one sentence each."""
    rows: tuple[str, ...] = ()
    """Rows of sheets with addresses, as judges read them (`row_text`)."""

    def __add__(self, other: Passages) -> Passages:
        return Passages(
            self.texts + other.texts,
            {**self.numbers, **other.numbers},
            self.unread + other.unread,
            self.rows + other.rows,
        )


def verify(verdicts: Iterable[Verdict], passages: Passages) -> tuple[Verdict, ...]:
    """Return the verdicts with every quote marked exact, normalised or not_found.

    A quote that is nowhere stays unmarked (not looked up) while a file that was handed in could not be read.
    """
    raw = _GAP.join(passages.texts)
    plain = normalised(raw)

    def look_up(quote: Quote) -> Quote:
        found: Found | None = _found(quote, raw, plain, passages.numbers)
        if found == "not_found" and _is_row(quote.text, passages.rows):
            found = "normalised"
        if found == "not_found" and passages.unread:
            found = None
        return quote.model_copy(update={"found": found})

    return tuple(
        verdict.model_copy(update={"quotes": tuple(look_up(quote) for quote in verdict.quotes)}) for verdict in verdicts
    )


def _found(quote: Quote, raw: str, plain: str, numbers: Mapping[str, float]) -> Found:
    if _stands_in(quote.text.strip(), raw):
        return "exact"
    words = normalised(quote.text)
    words = words if _stands_in(words, plain) else words.strip(" .,;:\"'")
    if words and (_stands_in(words, plain) or _is_number_of_cell(words, quote.where, numbers)):
        return "normalised"
    return "not_found"


_LABEL = re.compile(r"\s*([A-Z]{1,3}[1-9][0-9]{0,6}:) ?\S")


def _is_row(text: str, rows: Iterable[str]) -> bool:
    """Say whether a quote is (part of) one row with its addresses, copied from a packet."""
    label = _LABEL.match(text)
    words = normalised(text)
    return label is not None and any(_stands_in(words, normalised(row)) for row in rows if label[1] in row)


def _stands_in(words: str, text: str) -> bool:
    start = text.find(words) if words else -1
    while start >= 0:
        if _is_whole(text, start, start + len(words)):
            return True
        start = text.find(words, start + 1)
    return False


_NUMBER_GOES_ON = re.compile(r"[.,]?[0-9]")
_NUMBER_BEFORE = re.compile(r"[0-9][.,]?\Z|(?<![0-9A-Za-z%)\]])[-\u2212]\Z")


def _is_whole(text: str, start: int, end: int) -> bool:
    """Say whether the span cuts no number (nor its sign) and no Latin word in two."""
    first, last = text[start], text[end - 1]
    before, after = text[max(0, start - 3) : start], text[end : end + 2]
    if first.isdigit() and _NUMBER_BEFORE.search(before):
        return False
    if last.isdigit() and _NUMBER_GOES_ON.match(after):
        return False
    return not (_latin(first) and _latin(before[-1:])) and not (_latin(last) and _latin(after[:1]))


def _latin(letter: str) -> bool:
    return letter.isalpha() and ord(letter) < 0x2E80


_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`\u2039\u203a", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63", "-"),
        **dict.fromkeys("\u3001", ","),
        **dict.fromkeys("\u3002", "."),
        **dict.fromkeys("|\t", " "),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None),
    }
)
_CJK = "\u2e80-\u9fff\uf900-\ufaff"
_GERMAN = re.compile(r"(?<![0-9.,])([0-9]{1,3}(?:\.[0-9]{3})+),(?=[0-9]{1,2}(?![0-9]))")
_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\*\*|__"), ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r"(?<=[0-9])(?:,|'|(?<![0-9]{4}) )(?=[0-9]{3}(?![0-9]))"), ""),
    (re.compile(r"(?<=[0-9]),(?=[0-9]{1,2}(?![0-9]))"), "."),
    (re.compile(rf"(?<=[{_CJK}]) | (?=[{_CJK}%])"), ""),
    (re.compile(r" ?([,.;:!?\"'()\[\]]) ?(?![0-9])"), r"\1"),
)


def normalised(text: str) -> str:
    """Return the text with typography levelled: width, quotes, dashes, spaces, separators in numbers."""
    text = unicodedata.normalize("NFKC", text.translate(_MARKS)).translate(_MARKS)
    text = _GERMAN.sub(lambda match: match[1].replace(".", "") + ".", text)
    for pattern, replacement in _STEPS:
        text = pattern.sub(replacement, text)
    return text.strip()


_PURE_NUMBER = re.compile(r"[^0-9A-Za-z.()-]{0,3}(\()?(-)?([0-9]+(?:\.[0-9]+)?)(\))?(%)?(x)?\Z")


def _is_number_of_cell(words: str, where: str, numbers: Mapping[str, float]) -> bool:
    """Say whether a quote that is one number equals the cell it names, at the decimals the quote has."""
    match = _PURE_NUMBER.match(words)
    cell = _cell_in(where)
    if match is None or cell is None or cell not in numbers:
        return False
    opening, minus, digits, closing, percent, _ = match.groups()
    if bool(opening) != bool(closing) or len(digits) > 30 or abs(numbers[cell]) >= 1e25:
        return False
    with localcontext(prec=80):
        value = Decimal(repr(numbers[cell])) * (100 if percent else 1)
        quoted = -Decimal(digits) if minus or opening else Decimal(digits)
        step = Decimal(1).scaleb(-len(digits.partition(".")[2]))
        return quoted in {value.quantize(step, ROUND_HALF_UP), value.quantize(step, ROUND_HALF_EVEN)}


def _cell_in(where: str) -> str | None:
    name = where.rpartition("#")[2] if ".xls" in where.lower() and "#" in where else where
    try:
        return str(CellRef.parse(name.strip()))
    except ValueError:
        return None


def workbook_passages(book: Book, recalc: Recalc) -> Passages:
    """Return a workbook as text: rows as displayed, plain values, formulas, comments."""
    texts: list[str] = []
    labelled: list[str] = []
    numbers: dict[str, float] = {}
    for sheet in book.sheets:
        rows = _rows(sheet, recalc, book.calc.date1904)
        labelled += map(row_text, rows)
        texts += [sheet.name, *sheet.comments.values(), *(shown for row in rows for _, shown in row)]
        texts += [" ".join(shown for _, shown in row) for row in rows if len(row) > 1]
        for cell in sheet.cells.values():
            value = recalc.value(cell.ref)
            texts += date_forms(value, cell.number_format, date1904=book.calc.date1904)
            if is_number(value):
                numbers[str(cell.ref)] = float(value)  # type: ignore[arg-type]
                texts.append(f"{value:.15g}")
            if cell.formula is not None:
                texts.append(cell.formula)
    return Passages(tuple(texts), numbers, rows=tuple(labelled))


def _rows(sheet: Sheet, recalc: Recalc, date1904: bool) -> list[list[tuple[CellRef, str]]]:
    """Return what each row displays, from left to right."""
    rows: dict[int, list[tuple[CellRef, str]]] = {}
    for cell in sheet.cells.values():
        shown = displayed(recalc.value(cell.ref), cell.number_format, date1904=date1904)
        if shown:
            rows.setdefault(cell.ref.row, []).append((cell.ref, shown))
    return [sorted(row) for row in rows.values()]


def row_text(cells: Iterable[tuple[CellRef, str]]) -> str:
    """Return a row as judges read it: ``A5: Revenue | C5: 1,250``."""
    return " | ".join(f"{ref.address}: {shown}" for ref, shown in cells)


_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
"""Text, an escaped sign, a currency, a colour or condition, a gap or a fill in a number format."""
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.([#0?]+))?(,*)")
_EPOCH = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}
_DATE_FORMS = (
    "%Y-%m-%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d %b %Y",
    "%d-%b-%y",
    "%b-%y",
    "%Y/%m/%d",
    "%Y年%m月%d日",
)


def displayed(value: Scalar | Unsolved, number_format: str, *, date1904: bool = False) -> str:
    """Return a value about as Excel shows it: decimals, thousands, percent, text of its format; dates as 2026-03-31."""
    if value is None or isinstance(value, Unsolved):
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str | CellError):
        return str(value)
    day = _date(value, number_format, date1904)
    return _number(value, number_format) if day is None else f"{day:%Y-%m-%d}"


def date_forms(value: Scalar | Unsolved, number_format: str, *, date1904: bool = False) -> tuple[str, ...]:
    """Return a date in the forms that people write; nothing for a cell that shows no date."""
    day = _date(value, number_format, date1904) if isinstance(value, float) else None
    return () if day is None else tuple(day.strftime(form) for form in _DATE_FORMS)


def is_date_format(number_format: str) -> bool:
    """Say whether a number format shows a date or a time."""
    bare = _LITERAL.sub("", number_format.partition(";")[0]).replace("General", "")
    return re.search(r"[ymdhsYMDHS年月日]", bare) is not None


def _date(value: float, number_format: str, date1904: bool) -> datetime | None:
    is_date = is_date_format(number_format) and 0 <= value < 2_950_000
    return _EPOCH[date1904] + timedelta(days=value) if is_date else None


def _number(value: float, number_format: str) -> str:
    sections = number_format.split(";")
    own = value < 0 and len(sections) > 1
    section = sections[1] if own else sections[0]
    masked = _LITERAL.sub(lambda literal: "\0" * len(literal[0]), section)
    match = _DIGITS.search(masked)
    percent = "%" in masked
    number = Decimal(repr(abs(value))) * (100 if percent else 1) / Decimal(1000) ** len(match[2] if match else "")
    if match is None or "General" in masked or "/" in masked or "E" in masked or number >= Decimal("1e15"):
        return f"{value:.11g}"
    rounded = number.quantize(Decimal(1).scaleb(-min(len(match[1] or ""), 12)), ROUND_HALF_UP)
    sign = "-" if value < 0 and not own and rounded else ""
    before, after = (_LITERAL.sub(_said, part) for part in (section[: match.start()], section[match.end() :]))
    return f"{sign}{before}{rounded:{',' if ',' in match[0] else ''}f}{after}".strip()


def _said(literal: re.Match[str]) -> str:
    return literal[1] or literal[2] or literal[3] or ""


def memo_passages(memos: Iterable[Memo]) -> Passages:
    """Return the text of memos; those that could not be read are named in `unread`."""
    memos = tuple(memos)
    texts = tuple(text for memo in memos for text in memo.texts)
    return Passages(texts, {}, tuple(memo.unread for memo in memos if memo.unread is not None))
