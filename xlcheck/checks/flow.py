"""Whether the free cash flow is operating profit after tax, plus depreciation, less investment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlcheck.cells import DEFAULT_TOLERANCE, CellRef, RangeRef, is_number
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks.flow_drivers import (
    depreciation_on_ebitda,
    interest_before_tax,
    interest_taken_off,
    tax_on_profit_after_interest,
    terminal_term_left_out,
)
from xlcheck.checks.flow_left_out import left_out
from xlcheck.checks.flow_tax import depreciation_missing, turned_tax
from xlcheck.checks.flow_terms import (
    BASES,
    Item,
    contribution,
    items_of,
    kind_of,
    kind_of_label,
    line_label,
    linked,
    traced,
)
from xlcheck.checks.trees import trees
from xlcheck.formula import Node, Range, Ref, literals, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@check("flow.nopat", consequence_of=("flow.tax-on-ebit",))
def nopat(recalc: Recalc, roles: Roles, fcff: LocatedSeries, tax_rate: Located | None) -> Outcomes:
    """NOPAT is EBIT less taxes on EBIT.

    What it holds:
        In each forecast year the line the flow starts from is EBIT reduced by tax: EBIT·(1 - t), or EBIT less a tax
        line, and the rate it reads is a tax rate.
    Why it matters:
        A flow before tax overstates the value by the tax rate, in every year and in the terminal value.
    Accepted conventions:
        Taxes entered positive and subtracted or negative and added, cash taxes, loss carry-forwards, a rate per year,
        no tax on a loss; models that start from EBITDA, cash flow from operations or net income have no NOPAT line.
    Example:
        NOPAT ``=EBIT`` (142.6) where EBIT·(1 - 25 %) is 106.9.
    How to fix:
        Multiply EBIT by one minus the tax rate.
    Units and tolerance:
        The unit of the flow; 1e-6 of EBIT.
    Source:
        Koller et al., Valuation, ch. 11; Damodaran, Investment Valuation, ch. 10.
    """
    line = _line_of(recalc, roles, fcff, "nopat")
    if not line:
        yield NotApplicable(reason="the flow has no line of operating profit after tax")
        return
    for index, bound in enumerate(line):
        cell = _called_nopat(recalc, fcff.cells[index], bound) if index < len(fcff.cells) else bound
        untaxed = _untaxed(recalc, roles, cell)
        if untaxed is not None:
            value, rate = recalc.number(cell), tax_rate.amount if tax_rate else None
            yield Finding(
                message=f"{cell} is EBIT ({untaxed}) without any tax taken off",
                cell=cell,
                found=value,
                expected=None if rate is None or value is None else value * (1 - rate),
            )
            return
        turned = turned_tax(recalc, roles, cell, index, tax_rate)
        if turned is not None:
            yield turned
            return
        foreign = _foreign_rate(recalc, roles, cell)
        if foreign is not None:
            where = _tax_cell(recalc, roles, cell) or cell
            yield Finding(
                message=f"{where} taxes EBIT with {foreign} ({line_label(recalc, foreign)}), which is no tax rate",
                cell=where,
                found=str(foreign),
                expected="the tax rate",
            )
            return


def _line_of(recalc: Recalc, roles: Roles, fcff: LocatedSeries, kind: str) -> tuple[CellRef, ...]:
    """Return the cells of a kind that the flow is made of, one per year, as bound or as the flow's own terms."""
    bound = roles.series.get(kind)
    if bound is not None:
        return bound.cells
    found = []
    for cell in fcff.cells:
        items = [item for item in items_of(recalc, roles, cell) if item.kind == kind and item.cell is not None]
        if len(items) == 1 and items[0].cell is not None:
            found.append(items[0].cell)
    return tuple(found)


def _untaxed(recalc: Recalc, roles: Roles, cell: CellRef) -> CellRef | None:
    """Return the EBIT cell where NOPAT is nothing but EBIT, of a year with a profit."""
    target = linked(recalc, cell)
    value = recalc.number(cell)
    named = target != cell and kind_of_label(line_label(recalc, target)) == "ebit"
    if value is None or value <= 0 or not (named or kind_of(recalc, roles, target) == "ebit"):
        return None
    return target


def _called_nopat(recalc: Recalc, flow: CellRef, bound: CellRef) -> CellRef:
    """Return the link to a bound NOPAT that the flow reads and that is called so, where the bound cell is not."""
    node = trees(recalc).get(flow)
    for part in walk(node) if node is not None else ():
        repeats = isinstance(part, Ref) and part.cell != bound and linked(recalc, part.cell) == bound
        if isinstance(part, Ref) and repeats and kind_of_label(line_label(recalc, part.cell)) == "nopat":
            return part.cell
    return bound


def _foreign_rate(recalc: Recalc, roles: Roles, cell: CellRef) -> CellRef | None:
    """Return the rate that the tax of a year is computed with, where its label names something that is no tax."""
    node = trees(recalc).get(linked(recalc, _tax_cell(recalc, roles, cell) or cell))
    if node is None:
        return None
    for ref in _read_singly(node):
        number = recalc.number(ref)
        share = number is not None and 0 < abs(number) < 1
        if share and _names_another_share(line_label(recalc, ref)):
            return ref
    return None


def _tax_cell(recalc: Recalc, roles: Roles, cell: CellRef) -> CellRef | None:
    """Return the tax line of the year of a NOPAT cell, where it has one of its own."""
    items = items_of(recalc, roles, cell)
    return next((item.cell for item in items if item.kind == "taxes" and item.cell is not None), None)


def _read_singly(node: Node) -> Iterator[CellRef]:
    """Yield the cells that a formula reads one by one, a range of one cell included."""
    for one in walk(node):
        if isinstance(one, Ref):
            yield one.cell
        elif isinstance(one, Range) and one.range.size == 1:
            yield from one.range.cells()


def _names_another_share(label: str) -> bool:
    text = label.casefold()
    tax = any(word in text for word in ("tax", "税", "steuer"))
    other = any(word in text for word in ("d&a", "depreciation", "capex", "折旧", "working capital", "abschreibung"))
    return other and not tax


@check("flow.tax-on-ebit")
def tax_on_ebit(
    recalc: Recalc, roles: Roles, fcff: LocatedSeries, tax_rate: Located | None, taxes: LocatedSeries | None
) -> Outcomes:
    """The flow bears tax, and the tax is computed on EBIT.

    What it holds:
        A flow that starts from EBIT or EBITDA takes off taxes, and each year's tax is a rate times that year's EBIT; a
        line that calls itself tax on EBIT does not tax the profit after interest.
    Why it matters:
        Tax on EBITDA ignores the depreciation shield; no tax at all inflates every flow.
    Accepted conventions:
        Taxes linked from the income statement, adjusted for interest, or scheduled with losses carried forward; a
        company that pays none, with a rate of zero that is shown.
    Example:
        ``=EBIT+working capital-capex`` with a tax rate of 30 % that only the WACC uses.
    How to fix:
        Take EBIT·t off the flow.
    Units and tolerance:
        The unit of the flow.
    Source:
        Koller et al., Valuation, ch. 11; Damodaran, Investment Valuation, ch. 10.
    """
    first = fcff.cells[0]
    items = items_of(recalc, roles, first)
    kinds = {item.kind for item in items}
    if not items or not kinds & BASES:
        yield NotApplicable(reason="the flow does not start from an operating profit")
        return
    base = next((item for item in items if item.kind in ("ebit", "ebitda")), None)
    if base is not None and "taxes" not in kinds and not kinds & {"nopat", "after_financing", "revenue"}:
        unnamed = [item for item in items if item.kind is None]
        profit = base.cell is not None and (recalc.number(base.cell) or 0.0) > 0
        if not unnamed and profit and not _taxed_by_formula(recalc, base, items, tax_rate):
            flow = linked(recalc, first)
            yield Finding(
                message=f"{flow} starts from an untaxed profit ({base.cell}) and takes no tax off",
                cell=flow,
                found=recalc.number(first),
                expected=_after_tax(recalc, base, first, tax_rate),
            )
            return
    cells = taxes.cells if taxes else _tax_cells(recalc, roles, items)
    levered = tax_on_profit_after_interest(recalc, (*cells[:1], *_tax_cells(recalc, roles, items)))
    if levered is not None:
        yield levered
    yield from _tax_base(recalc, roles, cells)


def _taxed_by_formula(recalc: Recalc, base: Item, items: Sequence[Item], tax_rate: Located | None) -> bool:
    """Say whether a term beside the profit is a share of it, or reads the tax rate, whatever it is called."""
    assert base.cell is not None
    profits = {base.cell, linked(recalc, base.cell)}
    for item in items:
        node = trees(recalc).get(traced(recalc, item.cell)[1]) if item.cell else item.node
        if item is base or node is None:
            continue
        read = {linked(recalc, ref) for ref in _read_singly(node)} | set(_read_singly(node))
        rates = any(0 < abs(recalc.number(ref) or 0.0) < 1 for ref in read)
        if (read & profits and (rates or literals(node))) or (tax_rate is not None and tax_rate.cell in read):
            return True
    return False


def _after_tax(recalc: Recalc, base: Item, first: CellRef, tax_rate: Located | None) -> float | None:
    flow = recalc.number(first)
    profit = recalc.number(base.cell) if base.cell else None
    rate = tax_rate.amount if tax_rate else None
    return None if flow is None or profit is None or rate is None else flow - profit * rate


def _tax_cells(recalc: Recalc, roles: Roles, items: Sequence[Item]) -> tuple[CellRef, ...]:
    found = [item.cell for item in items if item.kind == "taxes" and item.cell is not None]
    for item in items:
        if item.kind == "nopat" and item.cell is not None:
            inner = items_of(recalc, roles, item.cell)
            found += [one.cell for one in inner if one.kind == "taxes" and one.cell is not None]
    return tuple(found)


def _tax_base(recalc: Recalc, roles: Roles, cells: Sequence[CellRef]) -> Iterator[Finding]:
    """Yield the first tax cell that is a rate times something that is no profit after depreciation."""
    for cell in cells:
        node = trees(recalc).get(linked(recalc, cell))
        amounts = [one.cell for one in walk(node) if isinstance(one, Ref)] if node is not None else []
        kinds = {kind: ref for ref in amounts if (kind := kind_of(recalc, roles, ref)) in ("ebit", "ebitda", "revenue")}
        wrong = "ebitda" if "ebitda" in kinds else "revenue"
        if "ebit" not in kinds and wrong in kinds and len(amounts) <= 2:
            yield Finding(
                message=f"{cell} taxes {wrong.upper() if wrong == 'ebitda' else wrong} ({kinds[wrong]}), not EBIT",
                cell=cell,
                found=str(kinds[wrong]),
                expected="the EBIT of the same year",
            )
            return


@check("flow.fcff-identity", consequence_of=("flow.nwc-is-a-change", "flow.nwc-sign", "flow.tax-on-ebit"))
def fcff_identity(
    recalc: Recalc,
    graph: Graph,
    roles: Roles,
    fcff: LocatedSeries,
    depreciation: LocatedSeries | None,
    tax_rate: Located | None,
) -> Outcomes:
    """The free cash flow is NOPAT plus depreciation, less capital expenditure, less the increase in working capital.

    What it holds:
        The terms of the flow enter with the right direction (depreciation adds, investment takes off), depreciation is
        added back where gross capital expenditure is taken off, and a flow that is typed or linked equals its lines.
    Why it matters:
        Every discounted year and the terminal value stand on this sum.
    Accepted conventions:
        EBIT·(1 - t)·(1 - reinvestment rate), sales-to-capital, EBITDA less tax less capex, a cash flow margin times
        revenue, cash flow from operations less capex, flows built from net income; net capex without depreciation;
        outflows entered negative and added; further items (leases, provisions, stock compensation).
    Example:
        ``=NOPAT+D&A+capex-ΔNWC`` with capex entered positive.
    How to fix:
        Correct the sign, or add the missing term.
    Units and tolerance:
        The unit of the flow; 1e-6 of the largest term.
    Source:
        Damodaran, Investment Valuation, ch. 10; CFA Program Level II, free cash flow valuation.
    """
    first = fcff.cells[0]
    items = items_of(recalc, roles, first)
    if not items:
        yield from _typed_flow(recalc, roles, fcff)
        return
    kinds = {item.kind for item in items}
    if not kinds & (BASES | {"after_financing", "fcff"}):
        yield Unverifiable(reason=f"the terms of {first} are not all understood")
        return
    wrong = list(_wrong_direction(recalc, roles, fcff))
    twice = depreciation_on_ebitda(recalc, linked(recalc, first), items)
    untaxed = interest_before_tax(recalc, roles, items, tax_rate)
    off = interest_taken_off(recalc, roles, linked(recalc, first), items)
    short = terminal_term_left_out(recalc, graph, fcff)
    wrong += [one for one in (twice, untaxed, off, short) if one is not None]
    yield from wrong
    if not wrong and depreciation_missing(recalc, kinds, items, depreciation):
        amount = recalc.number(depreciation.cells[0]) if depreciation else None
        flow = recalc.number(first)
        yield Finding(
            message=f"{first} takes gross capital expenditure off NOPAT and does not add depreciation back",
            cell=first,
            found=flow,
            expected=None if flow is None or amount is None else flow + abs(amount),
        )
    elif not wrong:
        yield left_out(recalc, graph, roles, fcff, items) or Fits(convention=_form(kinds))


def _wrong_direction(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Iterator[Finding]:
    """Yield a finding where capex or tax raises, or depreciation lowers, the flow in every year it moves it."""
    per_year = [items_of(recalc, roles, cell) for cell in fcff.cells]
    for kind, right in (("capex", -1), ("depreciation", 1), ("taxes", -1)):
        moved = [
            (cell, item, amount)
            for cell, items in zip(fcff.cells, per_year, strict=True)
            for item in items
            if item.kind == kind and (amount := contribution(recalc, item))
            if kind != "taxes" or _earns(recalc, items)
        ]
        if moved and all(amount * right < 0 for _, _, amount in moved):
            cell, item, amount = moved[0]
            flow = recalc.number(cell)
            if all(one.sign > 0 for one in per_year[0]):
                yield _turned_line(recalc, kind, [one for _, one, _ in moved])
            yield Finding(
                message=f"{cell} {'adds' if amount > 0 else 'takes off'} {kind} ({item.cell}: {abs(amount):,.6g})",
                cell=cell,
                found=flow,
                expected=None if flow is None else flow - 2 * amount,
            )


def _earns(recalc: Recalc, items: Sequence[Item]) -> bool:
    """Say whether the profit of a year is one: a loss may bring tax back."""
    profits = [contribution(recalc, item) or 0.0 for item in items if item.kind in ("ebit", "ebitda")]
    return bool(profits) and all(profit > 0 for profit in profits)


def _turned_line(recalc: Recalc, kind: str, line: Sequence[Item]) -> Finding:
    """Accuse the line itself where the flow adds all its lines: then each line sets its own sign."""
    cells = [item.cell for item in line if item.cell is not None]
    value = recalc.number(cells[0])
    one_line = len({(ref.sheet, ref.row) for ref in cells}) == 1 or len({(ref.sheet, ref.column) for ref in cells}) == 1
    area = RangeRef(cells[0].sheet, cells[0].row, cells[0].column, cells[-1].row, cells[-1].column)
    return Finding(
        message=f"{cells[0]} brings {kind} into the flow with the wrong sign",
        cell=area if one_line else cells[0],
        found=value,
        expected=None if value is None else -value,
    )


def _form(kinds: set[str | None]) -> str:
    if "after_financing" in kinds:
        return "cash flow from operations or net income, adjusted"
    if "nopat" in kinds and "capex" not in kinds:
        return "operating profit after tax less a reinvestment share"
    if kinds == {"revenue"}:
        return "a cash flow margin times revenue"
    return (
        "EBITDA less tax and investment" if "ebitda" in kinds else "NOPAT + D&A - capex - increase in working capital"
    )


def _typed_flow(recalc: Recalc, roles: Roles, fcff: LocatedSeries) -> Iterator[Finding | NotApplicable | Fits]:
    """Compare a typed flow with the lines beside it, where all of them are bound."""
    names = ("nopat", "depreciation", "capex", "change_in_nwc")
    lines = [roles.series[name] for name in names if name in roles.series]
    if len(lines) < len(names) or any(len(line.cells) != len(fcff.cells) for line in lines):
        yield NotApplicable(reason=f"{fcff.cells[0]} is typed: there is no derivation to compare")
        return
    signs = (1, 1, lines[2].sign, lines[3].sign)
    if None in signs:
        yield NotApplicable(reason=f"{fcff.cells[0]} is typed and the signs of its lines are not known")
        return
    for index, cell in enumerate(fcff.cells):
        values = [recalc.number(line.cells[index]) for line in lines]
        flow = recalc.number(cell)
        if flow is None or not all(is_number(value) for value in values):
            continue
        n, d, c, w = (float(value or 0.0) for value in values)
        expected = n + abs(d) - (signs[2] or 1) * c - (signs[3] or 1) * w
        if not DEFAULT_TOLERANCE.allows(flow, expected, max(map(abs, (n, d, c, w)))):
            yield Finding(message=f"{cell} differs from its lines", cell=cell, found=flow, expected=expected)
