"""Whether rates, units and periods are on one basis."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import memory
from xlcheck.checks.claims import label_scores
from xlcheck.checks.flow_terms import line_label
from xlcheck.checks.headline import OUTPUTS
from xlcheck.checks.sheet import row_label
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Call, Node, Number, Ref, Unary, factors, is_link, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles

RATES = (
    "wacc",
    "cost_of_equity",
    "risk_free_rate",
    "equity_risk_premium",
    "country_risk_premium",
    "size_premium",
    "market_return",
    "pre_tax_cost_of_debt",
    "after_tax_cost_of_debt",
    "tax_rate",
    "terminal_wacc",
    "terminal_growth",
    "weight_equity",
    "weight_debt",
)
LARGEST_RATE = 1.5
"""A larger rate or weight is written in percent points."""
LARGEST_TAX = 100.0
"""A larger number beside a rate in percent points is an amount."""
LEAST_LINES = 3
"""Rows and columns that make a grid."""
NAMED = 0.7
"""How well a label must name a typed input as a rate."""
_HUNDREDTHS = (0.01, 100.0)
_ONE_PLUS_LITERAL = re.compile(r"1\s*\+\s*\d")


@check("basis.percent-scale")
def percent_scale(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Rates in percent points are divided by 100 wherever they are used.

    What it holds:
        A rate written as 8.8 (percent points) is scaled by every formula that calculates with it; no year's tax is a
        multiple of its EBIT.
    Why it matters:
        1/(1 + 8.8) discounts at 880 %: a flow of 100 is worth 10.20 instead of 91.91.
    Accepted conventions:
        Fractions formatted as percent; percent points kept throughout a block of the same scale (a WACC build in
        points) and divided once where the valuation reads it.
    Example:
        ``Inputs!B4`` holds 8.8 and the discount factor is ``=1/(1+Inputs!$B$4)^C2``.
    How to fix:
        Enter 8.8 % (0.088), or divide by 100 where it is used.
    Units and tolerance:
        Rates as fractions.
    Source:
        FAST Standard (units stated and consistent).
    """
    points = 0
    for name in RATES:
        located = roles.scalars.get(name)
        if located is None or located.cell is None or located.value is None or abs(located.value) < LARGEST_RATE:
            continue
        points += 1
        use = _unscaled_use(recalc, graph, located.cell)
        if use is not None:
            cell, value = _typed_in_points(recalc, graph, located.cell) or (located.cell, located.value)
            message = f"{cell} ({name if cell == located.cell else 'behind the ' + name}) holds {value:g}"
            yield _in_points(f"{message} and {use} uses {located.cell} as a fraction", cell, value)
    tax = roles.scalars.get("tax_rate")
    for use in _untaxed_uses(recalc, graph, tax)[:1] if tax is not None else ():
        product = recalc.number(use)
        yield Finding(
            message=f"{use} multiplies an amount by {tax.cell if tax else ''} in percent points and divides by no 100",
            cell=use,
            found=product,
            expected=None if product is None else product / 100,
        )
    beyond = _beyond_the_profit(recalc, graph, roles) if tax is None or tax.value is None or tax.value < 1 else None
    if beyond is not None:
        cell, value = beyond
        yield _in_points(f"{cell} holds {value:g} and taxes every year's EBIT with it as a fraction", cell, value)
    literal = list(_literal_rates(recalc))
    for ref, rate in literal[:10]:
        message = f"{ref} discounts at 1 + {rate:g}, that is {rate:.0%}: percent points used as a fraction"
        yield _in_points(message, ref, rate)
    if literal:
        return
    if not any(name in roles.scalars for name in RATES):
        yield NotApplicable(reason="no rate was found")
    elif points:
        yield Fits(convention="percent points, divided by 100 where they are used")


def _in_points(message: str, cell: CellRef, value: float) -> Finding:
    return Finding(message=message, cell=cell, found=value, expected=value / 100, unit="rate")


def _typed_in_points(recalc: Recalc, graph: Graph, rate: CellRef) -> tuple[CellRef, float] | None:
    """Return the only typed input behind a computed rate that its label names as a rate and its size as points."""
    found = []
    for cell in memory.above(graph, [rate]) - {rate}:
        held, value = recalc.book.get(cell), recalc.number(cell)
        if held is None or held.formula is not None or value is None or not LARGEST_RATE <= value < LARGEST_TAX:
            continue
        scores = label_scores(row_label(recalc, cell))
        if max((scores.get(name, 0.0) for name in RATES), default=0.0) >= NAMED:
            found.append((cell, value))
    return found[0] if len(found) == 1 else None


def _beyond_the_profit(recalc: Recalc, graph: Graph, roles: Roles) -> tuple[CellRef, float] | None:
    """Return the number by which the taxes of every year are a multiple of EBIT: a tax rate in percent points."""
    taxes, ebit = roles.series.get("taxes"), roles.series.get("ebit")
    if taxes is None or ebit is None or len(taxes.cells) != len(ebit.cells) or len(taxes.cells) < 3:
        return None
    shares = [abs(tax / profit) for tax, profit in zip(taxes.values, ebit.values, strict=True) if tax and profit]
    if len(shares) < len(taxes.cells) or min(shares) < LARGEST_RATE:
        return None
    for cell in graph.precedents(taxes.cells[0]):
        value = recalc.number(cell)
        if value is not None and abs(value - shares[0]) <= 1e-6 * shares[0]:
            return graph.pure_link(cell), value
    return None


def _untaxed_uses(recalc: Recalc, graph: Graph, tax: Located) -> list[CellRef]:
    """Return the formulas that multiply an amount by a tax rate in percent points and scale it nowhere.

    A product of two rates may stay in points; an amount times a rate of 25 is larger than the amount.
    """
    if tax.cell is None or tax.value is None or tax.value < LARGEST_RATE:
        return []
    cells = {
        tax.cell,
        *(cell for cell in graph.dependents(tax.cell) if graph.pure_link(cell) == graph.pure_link(tax.cell)),
    }
    found = []
    for use in dict.fromkeys(use for cell in sorted(cells) for use in graph.dependents(cell)):
        node = trees(recalc).get(use)
        if node is None or _scales(node) or any(_scales(trees(recalc).get(reader)) for reader in graph.dependents(use)):
            continue
        for _, term in terms(node):
            refs = [one.cell for one, power in factors(term) if power == 1 and isinstance(one, Ref)]
            amounts = [recalc.number(ref) or 0.0 for ref in refs if ref not in cells]
            if len(amounts) < len(refs) and any(abs(amount) > LARGEST_TAX for amount in amounts):
                found.append(use)
                break
    return found


def _scales(node: Node | None) -> bool:
    """Say whether a formula divides by a hundred anywhere."""
    return node is not None and any(isinstance(one, Number) and one.value in _HUNDREDTHS for one in walk(node))


def _literal_rates(recalc: Recalc) -> Iterator[tuple[CellRef, float]]:
    """Yield formulas that raise 1 + a literal of two or more to the power of years: no rate is 200 %."""
    for ref, node in trees(recalc).matching(_ONE_PLUS_LITERAL):
        for one in walk(node):
            match one:
                case Binary(operator="^", left=Binary(operator="+", left=Number(value=1.0), right=Number(value=rate))):
                    if 2 <= rate <= 60:
                        yield ref, rate
                        break


def grids_in_points(recalc: Recalc) -> list[RangeRef]:
    """Return the blocks of at least three rows and columns whose formulas all discount at literal percent points."""
    rows: dict[tuple[str, int], list[int]] = {}
    for ref, _ in _literal_rates(recalc):
        rows.setdefault((ref.sheet, ref.row), []).append(ref.column)
    found: list[RangeRef] = []
    for (sheet, row), columns in sorted(rows.items()):
        if max(columns) - min(columns) + 1 != len(columns) or len(columns) < LEAST_LINES:
            continue
        last = found[-1] if found else None
        if last is not None and last[:1] == (sheet,) and last.last_row == row - 1 and last[2] == min(columns):
            found[-1] = RangeRef(sheet, last.first_row, last.first_column, row, last.last_column)
        else:
            found.append(RangeRef(sheet, row, min(columns), row, max(columns)))
    return [area for area in found if area.last_row - area.first_row + 1 >= LEAST_LINES]


def _unscaled_use(recalc: Recalc, graph: Graph, cell: CellRef, depth: int = 0) -> CellRef | None:
    """Return a formula that adds a rate to one (or raises to it) without scaling it, directly or through links."""
    for other in graph.dependents(cell):
        node = trees(recalc).get(other)
        if node is None:
            continue
        if _is_one_plus(node, cell):
            return other
        if is_link(node) and depth < 6:
            found = _unscaled_use(recalc, graph, other, depth + 1)
            if found is not None:
                return found
    return None


def _is_one_plus(node: Node | None, cell: CellRef) -> bool:
    """Say whether a formula holds ``1 + rate`` or ``1 - rate`` on the bare cell, or hands it to a present value."""
    match node:
        case Binary(operator="*" | "/", left=left, right=Number(value=value)) if value in _HUNDREDTHS:
            return not _is_cell(left, cell) and _is_one_plus(left, cell)
        case Binary(operator="+" | "-", left=left, right=right):
            pairs = ((left, right), (right, left))
            if any(isinstance(one, Number) and one.value == 1 and _is_cell(other, cell) for one, other in pairs):
                return True
            return _is_one_plus(left, cell) or _is_one_plus(right, cell)
        case Binary(left=left, right=right):
            return _is_one_plus(left, cell) or _is_one_plus(right, cell)
        case Unary(operand=operand):
            return _is_one_plus(operand, cell)
        case Call(function="NPV" | "PV" | "XNPV", arguments=(rate, *_)) if rate is not None and _is_cell(rate, cell):
            return True
        case Call(arguments=arguments):
            return any(_is_one_plus(argument, cell) for argument in arguments)
        case _:
            return False


def _is_cell(node: Node, cell: CellRef) -> bool:
    return isinstance(node, Ref) and node.cell == cell


@check("basis.units-declared", severity="warn")
def units_declared(recalc: Recalc, roles: Roles) -> Outcomes:
    """The workbook says in which currency and unit its amounts are.

    What it holds:
        The headline amounts carry a declared currency or unit: beside the cell, in its heading, in its number format or
        in the title of its sheet.
    Why it matters:
        Without a unit nobody can tell millions from thousands, or set value per share against a price.
    Accepted conventions:
        One declaration for the whole sheet or workbook; a unit column; a currency in the number format.
    Example:
        "USD million" in the title of the sheet.
    How to fix:
        State currency and unit in the title of each sheet, and in the label where a line differs.
    Units and tolerance:
        None.
    Source:
        FAST Standard 3.02 (units on every line).
    """
    amounts = [roles.scalars[name] for name in OUTPUTS if name in roles.scalars]
    if not amounts:
        yield NotApplicable(reason="no headline output of a valuation was found")
    elif not any(_is_declared(recalc, located) for located in amounts):
        yield Unverifiable(reason="no currency or unit is declared for the headline amounts")


_UNIT_WORDS = (
    "million", "thousand", "billion", " mn", " m)", "crore", "lakh", "mio", "000", "百万", "元", "亿", "千", "円",
    "usd", "eur", "gbp", "cny", "rmb", "hkd", "jpy", "inr", "$", "€", "£", "¥", "₹", "rs.", "rupees",
)  # fmt: skip


def _is_declared(recalc: Recalc, located: Located) -> bool:
    if located.currency is not None or located.factor != 1.0:
        return True
    if located.cell is None:
        return False
    held = recalc.book.get(located.cell)
    label = line_label(recalc, located.cell).casefold()
    texts = [label, held.number_format.casefold() if held else "", *_titles(recalc, located.cell.sheet)]
    return any(word in text for text in texts for word in _UNIT_WORDS)


def _titles(recalc: Recalc, sheet: str) -> Iterator[str]:
    """Yield the texts of the first rows of a sheet, where titles stand."""
    found = recalc.book.sheet(sheet)
    for (row, _), cell in found.cells.items() if found else ():
        if row <= 8 and isinstance(cell.stored, str):
            yield cell.stored.casefold()
