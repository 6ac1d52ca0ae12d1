"""Whether the forecast statements tie."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from xlcheck.cells import CellRef, is_number
from xlcheck.checking import Finding, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks.lines import lone_breaks
from xlcheck.checks.sheet import row_label, text_at, timeline_of
from xlcheck.recompute import Recalc
from xlcheck.roles import LocatedSeries, Roles
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.workbook import Book, Sheet

TOLERANCE = 2e-5
"""Share of total assets: inputs typed from printed accounts leave rounding differences of a unit."""
_CLOSING_CASH = re.compile(
    r"(?:closing|ending|end(?:ing)? of (?:the )?(?:year|period)|year[- ]end)[\w\s]*cash|cash[\w\s,&]*(?:at|,)[\w\s]*"
    r"(?:end|closing)|期末现金|期末現金",
    re.IGNORECASE,
)


@check("statements.balance-sheet")
def balance_sheet(
    book: Book,
    recalc: Recalc,
    roles: Roles,
    total_assets: LocatedSeries | None,
    total_liabilities_and_equity: LocatedSeries | None,
) -> Outcomes:
    """Assets equal liabilities and equity in each forecast year.

    What it holds:
        The two totals of a projected balance sheet are equal in every year that is computed.
    Why it matters:
        A gap says that a flow reaches one statement and not the other: the cash flow is wrong by it.
    Accepted conventions:
        Rounding of typed accounts; years of which both totals are typed; workbooks without a balance sheet.
    Example:
        Assets 1,004, liabilities and equity 1,000.
    How to fix:
        Trace which line of the cash flow statement has no counterpart.
    Units and tolerance:
        The unit of the sheet; 2e-5 of total assets.
    Source:
        IAS 1; FAST Standard 3.04 (balance check).
    """
    pairs = dict(_bound_pairs(total_assets, total_liabilities_and_equity)) or dict(_labelled_pairs(book, recalc))
    known = False
    for assets, claims in pairs.items():
        one, two = recalc.number(assets), recalc.number(claims)
        if one is None or two is None or (one == 0 and two == 0) or not _is_computed(book, assets, claims):
            continue
        known = True
        if abs(one - two) > TOLERANCE * max(abs(one), abs(two)):
            for cell, found, expected in ((assets, one, two), (claims, two, one)):
                yield Finding(
                    message=f"assets ({assets}) and liabilities with equity ({claims}) differ by {one - two:,.6g}",
                    cell=cell,
                    found=found,
                    expected=expected,
                )
            return
    if not known:
        yield NotApplicable(reason="no projected balance sheet was found")


def _bound_pairs(assets: LocatedSeries | None, claims: LocatedSeries | None) -> Iterator[tuple[CellRef, CellRef]]:
    if assets is not None and claims is not None and len(assets.cells) == len(claims.cells):
        yield from zip(assets.cells, claims.cells, strict=True)


def _labelled_pairs(book: Book, recalc: Recalc) -> Iterator[tuple[CellRef, CellRef]]:
    """Yield the two totals of each dated column, on sheets with one line of each name."""
    for sheet in book.sheets:
        rows: dict[str, list[int]] = {"total_assets": [], "total_liabilities_and_equity": []}
        for row, label in _labels(recalc, sheet).items():
            scores = load_lexicon().match(label)
            for role, found in rows.items():
                if scores.get(role, 0.0) >= 0.9:
                    found.append(row)
        if all(len(found) == 1 for found in rows.values()):
            first, second = (found[0] for found in rows.values())
            for column in timeline_of(recalc, sheet.name).columns():
                yield CellRef(sheet.name, first, column), CellRef(sheet.name, second, column)


def _labels(recalc: Recalc, sheet: Sheet) -> Mapping[int, str]:
    """Return row to its first text."""
    found: dict[int, str] = {}
    for row, column in sorted(sheet.cells):
        text = text_at(recalc, CellRef(sheet.name, row, column))
        if text and row not in found:
            found[row] = text
    return found


def _is_computed(book: Book, *cells: CellRef) -> bool:
    return any((held := book.get(ref)) is not None and held.formula is not None for ref in cells)


@check("statements.cash-ties", consequence_of=("statements.balance-sheet",))
def cash_ties(book: Book, recalc: Recalc) -> Outcomes:
    """The closing cash of the cash flow statement is the cash of the balance sheet.

    What it holds:
        In each computed year the closing balance of the cash flow statement equals the cash line of the balance sheet.
    Why it matters:
        Cash that does not tie was plugged in one of the two statements.
    Accepted conventions:
        Cash with or without short-term investments (then no year ties); typed years; overdrafts shown apart. Without a
        cash flow statement the balance sheet's cash is rolled forward by one formula.
    Example:
        Closing cash 2027 is 412, the balance sheet says 430.
    How to fix:
        Link the balance sheet's cash to the closing balance.
    Units and tolerance:
        The unit of the sheet; 2e-5 of the larger amount.
    Source:
        IAS 7; FAST Standard 3.04.
    """
    cash = _only_line(recalc, book, _is_cash_line, only_balance=True)
    closing = dict(_dated(recalc, _only_line(recalc, book, _CLOSING_CASH.search)))
    held = dict(_dated(recalc, cash))
    years = sorted(closing.keys() & held.keys())
    if not years:
        yield from _rolled_forward(book, recalc, cash)
        return
    ties = [year for year in years if _equal(recalc, closing[year], held[year])]
    odd = [year for year in years if year not in ties and _is_computed(book, held[year])]
    if odd and len(ties) < 2:
        yield Unverifiable(reason=f"{closing[odd[0]]} and {held[odd[0]]} tie in no year: two definitions of cash")
    elif odd:
        one, two = closing[odd[0]], held[odd[0]]
        yield Finding(
            message=f"closing cash {odd[0]} ({one}) is not the cash of the balance sheet ({two})",
            cell=two,
            found=recalc.number(two),
            expected=recalc.number(one),
        )


def _rolled_forward(book: Book, recalc: Recalc, cash: tuple[str, int] | None) -> Iterator[Finding | NotApplicable]:
    """Yield the year in which balance sheet cash stops being the year before plus the flow, without a statement."""
    sheet = book.sheet(cash[0]) if cash else None
    breaks = lone_breaks(recalc, sheet, across=True) if sheet else []
    found = [one for one in breaks if cash and one.cells[0].row == cash[1]]
    for one in found:
        yield Finding(
            message=f"{one.cells[0]} is not rolled forward like the cash of the other years ({one.model})",
            cell=one.cells[0],
            found=recalc.number(one.cells[0]),
            expected=f"the formula of {one.model}, filled",
        )
    if not found:
        yield NotApplicable(reason="no closing cash beside a balance sheet was found")


def _is_cash_line(label: str) -> bool:
    return load_lexicon().match(label).get("cash", 0.0) >= 0.8 and not _CLOSING_CASH.search(label)


def _only_line(
    recalc: Recalc, book: Book, fits: Callable[[str], object], *, only_balance: bool = False
) -> tuple[str, int] | None:
    """Return sheet and row of the only line whose label fits, on sheets of a balance sheet or anywhere."""
    lines = []
    for sheet in book.sheets:
        labels = _labels(recalc, sheet)
        balance = any(load_lexicon().match(label).get("total_assets", 0.0) >= 0.9 for label in labels.values())
        if balance or not only_balance:
            lines += [(sheet.name, row) for row, label in labels.items() if fits(label)]
    return lines[0] if len(lines) == 1 else None


def _dated(recalc: Recalc, line: tuple[str, int] | None) -> Iterator[tuple[int, CellRef]]:
    """Yield year and cell of a line, where its columns are dated."""
    if line is None:
        return
    name, row = line
    timeline = timeline_of(recalc, name)
    for column in timeline.columns():
        ref = CellRef(name, row, column)
        year = timeline.year(ref)
        if year is not None and is_number(recalc.value(ref)) and row_label(recalc, ref):
            yield year, ref


def _equal(recalc: Recalc, one: CellRef, two: CellRef) -> bool:
    a, b = recalc.number(one), recalc.number(two)
    return a is not None and b is not None and abs(a - b) <= TOLERANCE * max(abs(a), abs(b))
