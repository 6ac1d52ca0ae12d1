"""Whether the lines of the flow are what their labels say, keep their definition and hold no financing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from xlcheck.cells import DEFAULT_TOLERANCE, CellRef, is_number
from xlcheck.checking import Finding, NotApplicable, Outcomes, check
from xlcheck.checks.flow_drivers import BEFORE_TAX, foreign_share
from xlcheck.checks.flow_terms import (
    Item,
    contribution,
    items_of,
    kind_of,
    kind_of_label,
    line_label,
    linked,
    traced,
)
from xlcheck.checks.flow_working_capital import added_increase
from xlcheck.checks.namesakes import idle_anywhere, idle_namesake, namesakes, unlike
from xlcheck.checks.sheet import first_text, timeline_of
from xlcheck.checks.trees import trees
from xlcheck.formula import Range, Ref, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import LocatedSeries, Roles
from xlcheck.workbook import Book, Sheet

OUTFLOWS = ("capex", "taxes", "depreciation")
LEAST_YEARS = 3
LARGEST_RATIO = 2.0
"""Smaller numbers in a line of amounts are its growth or margin."""


@check("flow.ebit-definition")
def ebit_definition(book: Book, recalc: Recalc, roles: Roles) -> Outcomes:
    """EBITDA, depreciation and EBIT keep their definition into the forecast.

    What it holds:
        Where a sheet shows EBITDA, depreciation and EBIT, EBITDA less depreciation is EBIT in each forecast year, as in
        the years before.
    Why it matters:
        A forecast EBIT that forgets depreciation and a flow that adds it back count it twice.
    Accepted conventions:
        Depreciation entered positive or negative; further items between the two lines, as long as they are there in the
        history as well; sheets on which the three lines never tied.
    Example:
        History ``EBIT =EBITDA+depreciation``, forecast ``=gross profit+operating expenses``.
    How to fix:
        Fill the historical formula into the forecast.
    Units and tolerance:
        The unit of the sheet; 1e-6 of EBITDA.
    Source:
        FAST Standard 3.03 (one formula per line); Koller et al., Valuation, ch. 11.
    """
    known = False
    for lines in _triples(book, recalc, roles):
        held = {place: _ties(recalc, *cells) for place, cells in lines.items()}
        known = known or any(held.values())
        good = [place for place, ties in held.items() if ties]
        bad = [place for place, ties in held.items() if ties is False and good and place > min(good)]
        trailing = len(good) >= 2 and bad and max(good) < min(bad)
        if trailing:
            ebitda, depreciation, ebit = lines[bad[0]]
            value, taken = recalc.number(ebitda), recalc.number(depreciation)
            assert value is not None
            assert taken is not None
            yield Finding(
                message=f"{ebit} is no longer EBITDA less depreciation, as the years before it are",
                cell=ebit,
                found=recalc.number(ebit),
                expected=value - abs(taken),
            )
    if not known:
        yield NotApplicable(reason="no sheet shows EBITDA, depreciation and EBIT together")


Triple = tuple[CellRef, CellRef, CellRef]


def _triples(book: Book, recalc: Recalc, roles: Roles) -> Iterator[Mapping[int, Triple]]:
    """Yield, per sheet, the cells of EBITDA, depreciation and EBIT by column (one line of each kind only)."""
    for sheet in book.sheets:
        found: dict[str, list[int]] = defaultdict(list)
        for row, text in _first_texts(sheet).items():
            kind = kind_of_label(text)
            if kind in ("ebitda", "depreciation", "ebit"):
                found[kind].append(row)
        if len(found["ebitda"]) == 1 == len(found["ebit"]) and found["depreciation"]:
            row = min(found["depreciation"], key=lambda line: abs(line - found["ebit"][0]))
            yield _by_column(recalc, sheet.name, (found["ebitda"][0], row, found["ebit"][0]), sheet.max_column)


def _first_texts(sheet: Sheet) -> Mapping[int, str]:
    """Return row to its first typed text."""
    found: dict[int, str] = {}
    for key in sorted(sheet.cells):
        text = sheet.cells[key].stored
        if isinstance(text, str):
            found.setdefault(key[0], text)
    return found


def _by_column(recalc: Recalc, sheet: str, rows: tuple[int, int, int], columns: int) -> Mapping[int, Triple]:
    found = {}
    timeline = timeline_of(recalc, sheet)
    for column in range(1, columns + 1):
        cells = tuple(CellRef(sheet, row, column) for row in rows)
        dated = timeline.year(cells[0]) is not None or not timeline.across
        if dated and all(recalc.number(cell) is not None for cell in cells):
            found[column] = (cells[0], cells[1], cells[2])
    return found


def _ties(recalc: Recalc, ebitda: CellRef, depreciation: CellRef, ebit: CellRef) -> bool | None:
    """Say whether the three lines tie; None where they hold nothing."""
    one, two, three = (recalc.number(cell) for cell in (ebitda, depreciation, ebit))
    if one is None or two is None or three is None or abs(one) <= LARGEST_RATIO or two == 0:
        return None
    return DEFAULT_TOLERANCE.allows(three, one - abs(two), one)


@check("flow.sign-convention", consequence_of=("flow.fcff-identity", "flow.nwc-sign"))
def sign_convention(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Outcomes:
    """Each line of the flow keeps one sign convention over the forecast.

    What it holds:
        Capital expenditure, taxes and depreciation are entered with the same sign in every forecast year (taxes on a
        loss apart), and an increase in working capital takes cash.
    Why it matters:
        One year entered the other way moves the flow by twice the amount.
    Accepted conventions:
        Outflows positive and subtracted, or negative and added; tax credits in years of losses; years of zero.
    Example:
        Capex -51, -53, 55, -57 added to the flow.
    How to fix:
        Enter the odd year with the sign of its neighbours.
    Units and tolerance:
        The unit of the flow.
    Source:
        FAST Standard (sign convention stated and kept).
    """
    lines = _lines(recalc, roles, fcff)
    added = added_increase(recalc, roles, fcff)
    if added is not None:
        yield added
    if not lines and added is None:
        yield NotApplicable(reason="the flow has no capital expenditure, tax or depreciation term")
        return
    for kind, cells in lines.items():
        values = [recalc.number(cell) for cell in cells]
        signs = [value > 0 for value in values if value]
        if len(signs) <= LEAST_YEARS or signs.count(True) not in (1, len(signs) - 1):
            continue
        odd = signs.count(True) == 1
        cell, value = next(
            (cell, value) for cell, value in zip(cells, values, strict=True) if value and (value > 0) == odd
        )
        if kind != "taxes" or not _loss(recalc, roles, fcff, cells.index(cell)):
            yield Finding(
                message=f"{cell} is entered with the opposite sign of the other years of {line_label(recalc, cell)}",
                cell=cell,
                found=value,
                expected=-value,
            )


def _lines(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Mapping[str, tuple[CellRef, ...]]:
    """Return the outflow lines of the flow, with one cell per forecast year."""
    per_year = [items_of(recalc, roles, cell) for cell in fcff.cells]
    found: dict[str, tuple[CellRef, ...]] = {}
    for kind in OUTFLOWS:
        cells = [[item.cell for item in items if item.kind == kind and item.cell] for items in per_year]
        if all(len(group) == 1 for group in cells):
            found[kind] = tuple(group[0] for group in cells)
    return found


def _loss(recalc: Recalc, roles: Roles, fcff: LocatedSeries, index: int) -> bool:
    """Say whether EBIT of a forecast year is negative, or not known."""
    ebit = roles.series.get("ebit")
    if ebit is None or index >= len(ebit.cells):
        return True
    return (recalc.number(ebit.cells[index]) or 0.0) < 0


@check("flow.row-is-what-it-says")
def row_is_what_it_says(recalc: Recalc, graph: Graph, roles: Roles, fcff: LocatedSeries) -> Outcomes:
    """The lines of the flow link to what their labels name.

    What it holds:
        A capital expenditure, depreciation, tax or working capital line that links to another sheet or block arrives at
        a line of the same kind, not at a balance, a total or another flow, and not beside a line of its own name.
    Why it matters:
        The sum still adds up: only the source shows that capex is the stock of fixed assets.
    Accepted conventions:
        Shorter, longer or translated labels; a source whose label names nothing; net and gross variants; investment
        set equal to depreciation.
    Example:
        "Capex" ``=BalanceSheet!F20``, labelled "Total fixed assets".
    How to fix:
        Link the line to its own source.
    Units and tolerance:
        None: labels and links are compared.
    Source:
        FAST Standard (labels); Panko, spreadsheet error taxonomy (wrong references).
    """
    known = False
    items = items_of(recalc, roles, fcff.cells[0])
    inner = [one for item in items if item.kind == "nopat" and item.cell for one in items_of(recalc, roles, item.cell)]
    for item in (*items, *inner):
        if item.cell is None:
            continue
        known = known or item.kind in ("capex", "depreciation", "taxes", "change_in_nwc", "ebit", "ebitda")
        label, target = line_label(recalc, item.cell), traced(recalc, item.cell)[1]
        source = line_label(recalc, target)
        expected = _meant(recalc, graph, item.cell, target, label, source) if target != item.cell else None
        if expected is not None:
            yield Finding(
                message=f"{item.cell} says {first_text(label)!r} and links to {target}, {first_text(source)!r}",
                cell=item.cell,
                found=str(target),
                expected=expected,
            )
        shares = foreign_share(recalc, graph, item)
        if shares is not None:
            yield Finding(
                message=f"{item.cell} says {first_text(label)!r} and is made of {shares[0]}, "
                f"{first_text(line_label(recalc, shares[0]))!r}; {shares[1]} moves nothing",
                cell=item.cell,
                found=str(shares[0]),
                expected=str(shares[1]),
            )
    if not known:
        yield NotApplicable(reason="the flow has no line whose source could be traced")


def _meant(recalc: Recalc, graph: Graph, cell: CellRef, target: CellRef, label: str, source: str) -> str | None:
    """Return what a line should link to, where its source is surely another line; None where it may be right."""
    own, named = kind_of_label(label), kind_of_label(source)
    if own is not None and named is not None and _conflict(own, named):
        if linked(recalc, cell) == target or own != "capex" or named != "depreciation":
            return f"a line of {own.replace('_', ' ')}"
        # investment set equal to depreciation is a convention, unless an assumption of it stands there unused
        meant = next(namesakes(recalc, cell, label, target), None) or idle_anywhere(recalc, graph, cell)
        return str(meant) if meant is not None else None
    if own in ("ebit", "ebitda", "nopat") and BEFORE_TAX.search(first_text(source)):
        meant = next(namesakes(recalc, cell, label, target), None)
        return str(meant) if meant is not None else None
    idle = idle_namesake(recalc, graph, cell, label, target) if unlike(label, source) else None
    return str(idle) if idle is not None else None


def _conflict(own: str, named: str) -> bool:
    """Say whether two kinds exclude each other (a level behind a change is judged elsewhere)."""
    if own == named or {own, named} <= {"change_in_nwc", "nwc"} or {own, named} <= {"ebit", "ebitda", "nopat"}:
        return False
    if named in ("balance", "total_assets"):
        return True
    return own in OUTFLOWS and named in (*OUTFLOWS, "revenue", "nwc", "change_in_nwc")


@check("flow.no-financing-flows")
def no_financing_flows(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Outcomes:
    """The flow to the firm holds no interest, borrowings or dividends.

    What it holds:
        No term of the free cash flow to the firm, opened through its subtotals, is a payment to or from lenders or
        shareholders.
    Why it matters:
        Financing is in the discount rate and in net debt; in the flow as well it counts twice.
    Accepted conventions:
        Interest after tax added back to net income, operating leases, interest income left in a bank's flow, and flows
        to equity, which are another method.
    Example:
        The working capital line sums rows 16 to 21 of the cash flow statement; row 20 is "Change in short-term
        borrowings".
    How to fix:
        Take the row out of the sum.
    Units and tolerance:
        The unit of the flow.
    Source:
        Koller et al., Valuation, ch. 11; Damodaran, Investment Valuation, ch. 10.
    """
    items = items_of(recalc, roles, fcff.cells[0])
    if not items:
        yield NotApplicable(reason="the flow is typed: it has no terms to look into")
        return
    from_equity = any(item.kind == "after_financing" for item in items)
    for item in items:
        inside = _financing(recalc, roles, item, from_equity=from_equity)
        if inside is not None:
            own = item.cell is not None and inside in (item.cell, linked(recalc, item.cell))
            cell = linked(recalc, fcff.cells[0]) if own or item.cell is None else item.cell
            shown = fcff.cells[0] if own else cell  # a flow may be a link to where it is added up
            for place in dict.fromkeys((cell, shown)):
                yield Finding(
                    message=f"{place} brings {first_text(line_label(recalc, inside))!r} "
                    f"({inside}) into the firm's flow",
                    cell=place,
                    found=recalc.number(inside),
                    expected=0.0,
                )


def _financing(recalc: Recalc, roles: Roles, item: Item, *, from_equity: bool) -> CellRef | None:
    """Return the cell of a financing payment behind a term, if there is one."""
    if item.cell is None or item.kind in ("nopat", "ebit", "ebitda", "revenue", "after_financing", "taxes"):
        return None
    for ref in _opened(recalc, item.cell):
        kind = kind_of(recalc, roles, ref)
        if kind == "borrowing" and not from_equity:
            return ref
        shield = "shield" in line_label(recalc, ref).casefold()
        if kind == "interest" and not shield and not from_equity and (contribution(recalc, item) or 0.0) < 0:
            return ref
    return None


def _opened(recalc: Recalc, cell: CellRef) -> Sequence[CellRef]:
    """Return a cell and the cells its formula adds up, one step down."""
    target = linked(recalc, cell)
    node = trees(recalc).get(target)
    found = [cell, target]
    for _, term in terms(node) if node is not None else ():
        if isinstance(term, Ref):
            found.append(term.cell)
        elif isinstance(term, Range) and term.range.size <= 40:
            found += [ref for ref in term.range.cells() if is_number(recalc.value(ref))]
    return found


@check("flow.stock-compensation", severity="warn")
def stock_compensation(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Outcomes:
    """Stock-based compensation is not added back as if it were free.

    What it holds:
        The flow to the firm does not add stock-based compensation back without another charge for it.
    Why it matters:
        It is paid to employees in shares: added back, it has to come out of the share count instead.
    Accepted conventions:
        Added back where future dilution is in the share count; left in as an expense.
    Example:
        ``=NOPAT+D&A+SBC-capex-ΔNWC`` divided by today's basic shares.
    How to fix:
        Leave it as an expense, or forecast the dilution.
    Units and tolerance:
        The unit of the flow.
    Source:
        Damodaran, Investment Valuation, ch. 16; Koller et al., Valuation, ch. 32.
    """
    for item in items_of(recalc, roles, fcff.cells[0]):
        if item.kind == "stock_compensation" and (contribution(recalc, item) or 0.0) > 0:
            yield Finding(
                message=f"{item.cell} adds stock-based compensation back to the flow",
                cell=item.cell,
                found=contribution(recalc, item),
                expected=0.0,
            )
