"""The assumption register: it lists the model's inputs, at their values and in their units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from xlcheck.cells import CellRef, as_number, is_number
from xlcheck.checking import Finding, NotApplicable, Outcomes, Params, Unverifiable, check
from xlcheck.checks.headline import headline_chain
from xlcheck.checks.memory import remembered
from xlcheck.checks.sheet import row_label
from xlcheck.evidence import folded
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.register import Entry, Register, find_registers
from xlcheck.roles import Located, Roles
from xlcheck.roles.basis import currency_in, scale_in

STATED = (
    "risk_free_rate", "beta", "unlevered_beta", "equity_risk_premium", "country_risk_premium", "size_premium",
    "pre_tax_cost_of_debt", "tax_rate", "wacc", "cost_of_equity", "terminal_growth", "exit_multiple", "ronic", "cash",
    "debt", "lease_liabilities", "minority_interest", "preferred_equity", "investments", "pension_deficit", "shares",
    "basic_shares", "current_price",
)  # fmt: skip
"""Roles that a model takes from outside wherever they are typed."""
NONE = "the workbook has no assumption register"


def registers_of(recalc: Recalc) -> tuple[Register, ...]:
    """Return the assumption registers of a workbook."""
    return remembered(recalc, "registers", lambda: find_registers(recalc))


@check("register.complete")
def complete(recalc: Recalc, graph: Graph, roles: Roles, params: Params) -> Outcomes:
    """Every stated input of the valuation is in the assumption register.

    What it holds:
        Each typed rate, balance, share count and price that the value per share rests on stands in the register: its
        cell is there, an entry links to it, or an entry has its value.
    Why it matters:
        An input that is not in the register has no source, and nobody reviews it.
    Accepted conventions:
        Registers on several sheets; inputs that stand in the register themselves; inputs that are computed; lines of
        statements and drivers by year, of which a register may list some. A register of less than half of the inputs
        (or of ``least``) does not claim to be complete: it is not judged.
    Example:
        The pre-tax cost of debt is typed on the WACC sheet and nowhere in the register.
    How to fix:
        Add a row with value, unit, source and date.
    Units and tolerance:
        Values count as the same within one thousandth.
    Source:
        FAST Standard 1.02; CFA Institute, Standard V(A): a reasonable basis for each assumption.
    """
    registers = registers_of(recalc)
    if not registers:
        yield NotApplicable(reason=NONE)
        return
    entries = [entry for register in registers for entry in register.entries]
    held = {cell for entry in entries for cell in (entry.value_cell, graph.pure_link(entry.value_cell))}
    held |= {cell for entry in entries for cell in graph.precedents(entry.value_cell)}
    values = [number for entry in entries if (number := as_number(entry.value)) is not None]
    behind = headline_chain(graph, roles)
    stated = [
        (located, source)
        for located in map(roles.get, STATED)
        if (source := _typed_source(located, recalc, graph)) in behind
        and not _has_company(recalc, source)
        and recalc.number(source)
    ]
    missing = [
        (located, source)
        for located, source in stated
        if source not in held and not any(_close(recalc.number(source) or 0.0, number) for number in values)
    ]
    least = params.get("least")
    if len(missing) > (1 - (float(least) if isinstance(least, Decimal) else 0.5)) * len(stated):
        yield Unverifiable(reason=f"the register has {len(stated) - len(missing)} of {len(stated)} stated inputs")
        return
    for located, source in missing:
        assert located is not None
        message = f"{located.role} is typed at {source} ({row_label(recalc, source)}) and is in no row of the register"
        yield Finding(message=message, cell=source, found=recalc.number(source), expected=None, unit=located.unit)


def _typed_source(located: Located | None, recalc: Recalc, graph: Graph) -> CellRef | None:
    """Return the typed cell that a role's cell is or links to, None where it is computed."""
    if located is None or located.cell is None:
        return None
    source = graph.pure_link(located.cell)
    cell = recalc.book.get(source)
    return source if cell is not None and cell.formula is None and is_number(cell.stored) else None


def _has_company(recalc: Recalc, cell: CellRef) -> bool:
    """Say whether other numbers stand in the row: a line of a statement, no assumption of its own."""
    sheet = recalc.book.sheet(cell.sheet)
    assert sheet is not None
    row = (CellRef(cell.sheet, cell.row, column) for column in range(1, sheet.max_column + 1) if column != cell.column)
    return any(is_number(recalc.value(other)) for other in row)


def _close(value: float, other: float) -> bool:
    return any(abs(value - other * scale) <= 1e-3 * abs(value) for scale in (1.0, 0.01, 100.0))


@check("register.values-match-model")
def values_match_model(recalc: Recalc, graph: Graph) -> Outcomes:
    """Each value of the assumption register is the one that the model uses.

    What it holds:
        Where exactly the words of an entry label an input elsewhere in the workbook, the entry has that input's value.
    Why it matters:
        A register that was right for an earlier version documents a model that no longer exists.
    Accepted conventions:
        Links to the input; a register that the model reads itself; percent points and fractions; fewer decimals;
        entries whose words label no input, or several that differ.
    Example:
        The register says "Terminal growth 2.0 %", the assumptions sheet 2.5 %.
    How to fix:
        Link the register's value to the input.
    Units and tolerance:
        The entry's unit; half a unit of its last decimal, and one thousandth.
    Source:
        FAST Standard 1.02.
    """
    registers = registers_of(recalc)
    if not registers:
        yield NotApplicable(reason=NONE)
        return
    labelled = remembered(recalc, "labelled inputs", lambda: _labelled_inputs(recalc))
    own = {entry.value_cell for register in registers for entry in register.entries}
    for entry in (entry for register in registers for entry in register.entries):
        stated = as_number(entry.value)
        inputs = [cell for cell in labelled.get(_words(entry.name), ()) if cell not in own]
        if stated is None or not inputs or graph.dependents(entry.value_cell):
            continue
        if graph.pure_link(entry.value_cell) in inputs:
            continue
        values = {recalc.number(cell) for cell in inputs}
        if not any(value is None or _as_shown(stated, value) for value in values) and len(values) == 1:
            (value,) = values
            message = f"the register has {stated:g} for {entry.name!r}, the model {value:g} at {inputs[0]}"
            yield Finding(message=message, cell=entry.value_cell, found=stated, expected=value, unit=entry.unit)


def _labelled_inputs(recalc: Recalc) -> dict[str, list[CellRef]]:
    """Return the typed numbers of the workbook by the words of their label; a row with several numbers is none."""
    rows: dict[tuple[str, int], list[CellRef]] = {}
    for cell in recalc.book.cells():
        if is_number(recalc.value(cell.ref)):
            rows.setdefault((cell.ref.sheet, cell.ref.row), []).append(cell.ref)
    found: dict[str, list[CellRef]] = {}
    for cells in rows.values():
        held = recalc.book.get(cells[0])
        if len(cells) == 1 and held is not None and held.formula is None:
            found.setdefault(_words(row_label(recalc, cells[0]).partition(" | ")[0]), []).append(cells[0])
    return found


def _words(label: str) -> str:
    return re.sub(r"[^\w&/]+", " ", folded(label)).strip()


def _as_shown(stated: float, value: float) -> bool:
    """Say whether a stated number is a value at the decimals it is stated with (one digit alone is no rounding)."""
    text = f"{abs(stated):.10g}"
    digits = len(text.partition(".")[2])
    rounded = digits > 0 and len(text.replace(".", "").lstrip("0")) >= 2
    slack = 0.5 * 10.0**-digits if rounded else 0.0
    return any(
        abs(stated - value * scale) <= max(slack * 1.001, 1e-3 * abs(value * scale)) for scale in (1.0, 100.0, 0.01)
    )


@check("register.units")
def units(recalc: Recalc, graph: Graph) -> Outcomes:
    """The units of the assumption register are stated and fit the values.

    What it holds:
        Amounts and share counts have a unit where the register has a column for it; a value formatted as a percentage
        is no amount of money; an entry that links to an input states the same scale and currency as the input's row.
    Why it matters:
        1,250 without a unit is a million, a thousand or a count of wafers.
    Accepted conventions:
        No unit for pure numbers (betas, multiples, ratios), dates and texts; units inside the assumption's name.
    Example:
        The register says "CNY bn" for a value that its input states in "CNY m".
    How to fix:
        Write the unit of the input, with currency and scale.
    Units and tolerance:
        Scales of ten, thousand, 万, million, 亿, billion; ISO currencies.
    Source:
        FAST Standard 3.01: units in a column of their own.
    """
    registers = registers_of(recalc)
    with_units = [register for register in registers if "unit" in register.columns]
    if not with_units:
        yield NotApplicable(reason=NONE if not registers else "the register has no column for units")
        return
    for entry in (entry for register in with_units for entry in register.entries):
        yield from _unit_faults(entry, recalc, graph)


def _unit_faults(entry: Entry, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    number, where = as_number(entry.value), entry.unit_cell or entry.name_cell
    held = recalc.book.get(entry.value_cell)
    if (
        number is None
        or held is None
        or re.search(r"[dy]", re.sub(r'"[^"]*"|\[[^\]]*\]', "", held.number_format), re.I)
    ):
        return
    scale, currency = scale_in(entry.unit), currency_in(entry.unit)
    percent = "%" in held.number_format
    if percent and scale is not None and abs(number) <= 1:
        message = f"{entry.name!r} is shown as a percentage, and its unit is {entry.unit!r}"
        yield Finding(message=message, cell=where, found=entry.unit, expected="%")
    elif not entry.unit and not percent and abs(number) >= 1_000 and scale_in(entry.name) is None:
        message = f"{entry.name!r} has the value {number:,.6g} and no unit"
        yield Finding(message=message, cell=where, found="", expected="a unit with its scale")
    source = graph.pure_link(entry.value_cell)
    if source == entry.value_cell:
        return
    label = row_label(recalc, source).split(" | ")
    beside = next((text for text in label[1:] if scale_in(text) or currency_in(text)), "")
    differs = scale is not None and scale_in(beside) not in (None, scale)
    if differs or (currency is not None and currency_in(beside) not in (None, currency)):
        message = f"{entry.name!r} is stated in {entry.unit!r}; its input {source} is in {beside!r}"
        yield Finding(message=message, cell=where, found=entry.unit, expected=beside)
