"""How the live model weighs its flows and its terminal value: read by moving them, not from labels.

`output` is the cell in which the valuation adds up (enterprise value, else equity value, else value per share).
A flow's weight is d output / d flow with the other flows and the terminal value held: its discount factor, whether
it stands in a factor row, an NPV, an XNPV or one long formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from xlcheck import dcf
from xlcheck.cells import CellRef, RangeRef, Scalar
from xlcheck.checks import live, memory
from xlcheck.checks.conversions import source_of
from xlcheck.checks.rounding import rounding_of
from xlcheck.checks.sheet import Timeline
from xlcheck.formula import r1c1
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles

SAME = 1e-6
"""Relative distance within which a derivative or a value counts as the same."""


def close(found: float, expected: float, relative: float = SAME) -> bool:
    """Say whether two numbers agree relative to the larger one."""
    return abs(found - expected) <= relative * max(abs(found), abs(expected), 1e-12)


def as_range(cells: Sequence[CellRef]) -> RangeRef:
    """Return the rectangle around cells of one sheet."""
    rows, columns = [cell.row for cell in cells], [cell.column for cell in cells]
    return RangeRef(cells[0].sheet, min(rows), min(columns), max(rows), max(columns))


def flows_of(roles: Roles) -> LocatedSeries | None:
    """Return the series that is discounted: flows to the firm, else flows to equity.

    A terminal value in the row is no flow, nor is a zero ahead of the first one: XNPV needs it at the valuation date.
    """
    flows, terminal = roles.series.get("fcff") or roles.series.get("fcfe"), roles.get("terminal_value")
    if flows is None:
        return None
    start = 1 if zero_ahead(flows) else 0
    last = terminal.cell if terminal is not None else None
    kept = [index for index, cell in enumerate(flows.cells) if cell != last and index >= start]
    if len(kept) == len(flows.cells):
        return flows
    values = tuple(flows.values[index] for index in kept)
    return flows.model_copy(update={"cells": tuple(flows.cells[index] for index in kept), "values": values})


def zero_ahead(flows: LocatedSeries) -> bool:
    """Say whether a row of flows starts with a zero before at least three flows that are none."""
    return len(flows.values) > 3 and flows.values[0] == 0 and all(flows.values[1:])


def aligned(row: LocatedSeries | None, flows: LocatedSeries) -> LocatedSeries | None:
    """Return a row cut to the periods of the flows, by column (or row) on one sheet; None where it lacks some."""
    if row is None or len(row.cells) == len(flows.cells):
        return row
    if row.cells[0].sheet != flows.cells[0].sheet or len(flows.cells) < 2:
        return None
    across = flows.cells[0].row == flows.cells[1].row
    places = [cell.column if across else cell.row for cell in row.cells]
    wanted = [cell.column if across else cell.row for cell in flows.cells]
    if not set(wanted) <= set(places):
        return None
    kept = [places.index(place) for place in wanted]
    values = tuple(row.values[index] for index in kept)
    return row.model_copy(update={"cells": tuple(row.cells[index] for index in kept), "values": values})


def rate_of(roles: Roles) -> Located | None:
    """Return the rate that the flows belong to: WACC, or the cost of equity where only equity flows are bound."""
    if "fcff" not in roles.series and "fcfe" in roles.series:
        return roles.get("cost_of_equity") or roles.get("wacc")
    return roles.get("wacc")


def terminal_rate_of(roles: Roles) -> Located | None:
    """Return the rate inside the terminal value: the terminal WACC where there is one."""
    return roles.get("terminal_wacc") or rate_of(roles)


def output_of(roles: Roles, graph: Graph, flows: LocatedSeries) -> CellRef | None:
    """Return the first of EV, equity value, value per share that is a cell and depends on the flows.

    Of an enterprise value that is only taken to another unit (``=C5*10000``) it is the cell in the flows' own unit.
    """
    for role in ("enterprise_value", "equity_value", "value_per_share"):
        located = roles.get(role)
        if located is not None and located.cell is not None and reaches(graph, flows.cells, located.cell):
            return source_of(located.cell, graph.book) if role == "enterprise_value" else located.cell
    return None


def reaches(graph: Graph, sources: Sequence[CellRef], target: CellRef) -> bool:
    """Say whether the target depends on any of the sources."""
    above = memory.above(graph, [target])
    return any(source in above for source in sources)


def links(graph: Graph, cell: CellRef) -> frozenset[CellRef]:
    """Return the cell and every plain link that repeats it."""
    return memory.remembered(graph, ("links", cell), lambda: _links(graph, cell))


def _links(graph: Graph, cell: CellRef) -> frozenset[CellRef]:
    found, fresh, source = {cell}, [cell], graph.pure_link(cell)
    while fresh:
        for reader in graph.dependents(fresh.pop()):
            if reader not in found and graph.pure_link(reader) == source:
                found.add(reader)
                fresh.append(reader)
    return frozenset(found)


def readers(graph: Graph, located: Located | None) -> frozenset[CellRef]:
    """Return the formula cells that read a role's cell, its source or a plain link to it, links themselves left out."""
    if located is None or located.cell is None:
        return frozenset()
    same = links(graph, graph.pure_link(located.cell))
    return frozenset(reader for cell in same for reader in graph.dependents(cell)) - same


def terminal_cells(roles: Roles, graph: Graph, output: CellRef, flows: LocatedSeries) -> tuple[CellRef, ...]:
    """Return the cells that hold a terminal value feeding the output, latest in the chain.

    The bound role comes first; else the formulas that read the terminal growth or the exit multiple and feed the
    output but no flow; else the bound present value of the terminal value.
    """
    above = memory.above(graph, [output])
    bound = roles.get("terminal_value")
    if bound is not None and bound.cell in above and bound.cell is not None and bound.cell != output:
        return (bound.cell,)
    present = roles.get("pv_terminal_value")
    lasting = perpetual_factors(roles, graph)
    if (
        present is not None
        and present.cell is not None
        and any(one in memory.above(graph, [present.cell]) for one in lasting)
    ):
        return (present.cell,)
    below_flows = memory.above(graph, flows.cells)
    reading = readers(graph, roles.get("terminal_growth")) | readers(graph, roles.get("exit_multiple"))
    found = [cell for cell in reading if cell in above and cell not in below_flows and cell != output]
    last = [cell for cell in found if not any(cell in memory.above(graph, [other]) for other in found if other != cell)]
    if last and len(last) <= 3:  # more readers than methods: growth is used in a row of years
        return tuple(sorted(last))
    if present is not None and present.cell is not None and present.cell in above:
        return (present.cell,)
    return ()


def perpetual_factors(roles: Roles, graph: Graph) -> frozenset[CellRef]:
    """Return the cells of the factor row that read the terminal growth: factors for all years to come."""
    factors = roles.series.get("discount_factor")
    if factors is None or len(factors.cells) < 2:
        return frozenset()
    first, second = factors.cells[:2]
    reading = readers(graph, roles.get("terminal_growth")) - set(factors.cells)
    if first.row == second.row:
        return frozenset(cell for cell in reading if (cell.sheet, cell.row) == (first.sheet, first.row))
    return frozenset(cell for cell in reading if (cell.sheet, cell.column) == (first.sheet, first.column))


@dataclass(frozen=True)
class Weights:
    """What one unit of each flow and of each terminal value adds to the output."""

    output: CellRef
    flows: tuple[float | None, ...]
    terminals: tuple[tuple[CellRef, float | None], ...]

    @property
    def last_is_clean(self) -> bool:
        """False where the terminal value stands in no cell of its own, so that the last weight holds it too."""
        return bool(self.terminals)


def weights(roles: Roles, recalc: Recalc, graph: Graph) -> Weights | None:
    """Measure the weights on the live model; None where there is no output or no flow to move."""
    return memory.for_roles(recalc, roles, "weights", lambda: _weights(roles, recalc, graph))


def _weights(roles: Roles, recalc: Recalc, graph: Graph) -> Weights | None:
    flows = flows_of(roles)
    output = output_of(roles, graph, flows) if flows else None
    if flows is None or output is None:
        return None
    terminals = terminal_cells(roles, graph, output, flows)
    held = live.values_of(recalc, (*flows.cells, *terminals))
    numbers = [abs(value) for value in flows.values if value]
    if not numbers:
        return None
    step = median(numbers)
    scale = money_per_output(roles, output)
    if scale is None:
        return None

    def weight(cell: CellRef) -> float | None:
        slope = _slope(recalc, output, cell, held, step)
        return None if slope is None else slope * scale

    return Weights(output, tuple(map(weight, flows.cells)), tuple((cell, weight(cell)) for cell in terminals))


def money_per_output(roles: Roles, output: CellRef) -> float | None:
    """Return what one unit of the output is in money of the flows: the share count for a value per share."""
    value, equity, shares = roles.get("value_per_share"), roles.get("equity_value"), roles.get("shares")
    if value is None or value.cell != output:
        return 1.0
    if equity is not None and equity.value and value.value:
        return equity.value / value.value
    if shares is None and "fcfe" in roles.series and not {"enterprise_value", "equity_value"} & set(roles.scalars):
        return 1.0  # dividends a share
    return shares.value if shares is not None else None


def _slope(recalc: Recalc, output: CellRef, cell: CellRef, held: dict[CellRef, Scalar], step: float) -> float | None:
    """Return the change of the output for one unit of the cell (weights are linear, so the step is large)."""
    base, value = recalc.number(output), recalc.number(cell)
    if base is None or value is None:
        return None
    moved = live.run(recalc, {**held, cell: value + step}, [output])[output]
    return None if moved is None else (moved - base) / step


@dataclass(frozen=True)
class Exponents:
    """Years that each flow is discounted by, and where they were read."""

    values: tuple[float | None, ...]
    cells: tuple[CellRef, ...]
    """The cells to name in a finding: the factor row, else the present values, else the flows."""
    source: str

    @property
    def known(self) -> tuple[float, ...]:
        """The exponents with gaps filled a year after the flow before; () where the first is not known."""
        filled: list[float] = []
        for value in self.values:
            if value is None and not filled:
                return ()
            filled.append(filled[-1] + 1 if value is None else value)
        return tuple(filled) if sum(value is not None for value in self.values) * 2 > len(self.values) else ()


def exponents(roles: Roles, recalc: Recalc, graph: Graph) -> Exponents | None:
    """Read the exponents at the bound rate from the factor row, else from PV over flow, else from the live model."""
    flows, rate = flows_of(roles), rate_of(roles)
    if flows is None or rate is None or not rate.amount or rate.amount <= -1:
        return None
    factors = factors_of(roles, recalc, graph)
    if factors is None:
        return None
    values, cells, source = factors
    found = tuple(None if value is None else dcf.exponent_of(value, rate.amount) for value in values)
    if source == "present values over flows":
        sizes = [(abs(recalc.number(cell) or 0.0), rounding_of(recalc, cell)) for cell in cells]
        found = tuple(dcf.unrounded(one, rate.amount, *size) for one, size in zip(found, sizes, strict=True))
    return Exponents(dcf.whole_first(found, rate.amount) if source == "the live model" else found, cells, source)


def factors_of(
    roles: Roles, recalc: Recalc, graph: Graph
) -> tuple[tuple[float | None, ...], tuple[CellRef, ...], str] | None:
    """Return the discount factors of the flows, the cells they stand in, and how they were read."""
    flows = flows_of(roles)
    if flows is None:
        return None
    row, present = (aligned(roles.series.get(role), flows) for role in ("discount_factor", "pv_fcff"))
    if row is not None and len(row.cells) == len(flows.cells):
        return tuple(_as_factor(value) for value in row.values), row.cells, "factor row"
    if present is not None and len(present.cells) == len(flows.cells):
        ratios = tuple(_ratio(pv, flow) for pv, flow in zip(present.values, flows.values, strict=True))
        if all(ratio is not None and 0 < ratio < 3 for ratio in ratios):
            return ratios, present.cells, "present values over flows"
    weighed = weights(roles, recalc, graph)
    if weighed is None:
        return None
    read = tuple(weight if weight is not None and weight > 1e-9 else None for weight in weighed.flows)
    return read if weighed.last_is_clean else (*read[:-1], None), flows.cells, "the live model"


def entry_years(roles: Roles, recalc: Recalc, graph: Graph) -> int:
    """Return how many flows stand ahead of the forecast: at the valuation date by their own factor, and in no sum."""
    weighed, factors = weights(roles, recalc, graph), factors_of(roles, recalc, graph)
    if weighed is None or factors is None or len(weighed.flows) != len(factors[0]) or factors[2] == "the live model":
        return 0
    weight, factor = weighed.flows[0], factors[0][0]
    return 1 if weight is not None and abs(weight) < 1e-9 and factor is not None and factor > 0.995 else 0


def _as_factor(value: float | None) -> float | None:
    """Return a factor; a row may hold the divisor (1 + r)^t instead."""
    if value is None or value <= 0:
        return None
    return 1 / value if value > 1 else value


def _ratio(present: float | None, flow: float | None) -> float | None:
    return None if present is None or not flow else present / flow


def left_behind(roles: Roles, terminals: Sequence[CellRef], recalc: Recalc, graph: Graph) -> tuple[CellRef, ...]:
    """Return flows of the same line after the last bound one that the terminal value grows but no sum reads.

    A row whose last year is in no present value looks shorter than it is: its cells go on with the same formula. A
    normalised year is none of these: the terminal value takes it as it is, without growing it once more.
    """
    flows, rate, growth = flows_of(roles), terminal_rate_of(roles), roles.get("terminal_growth")
    if flows is None or len(flows.cells) < 3 or len(terminals) != 1 or rate is None or growth is None:
        return ()
    before, final = flows.cells[-2:]
    step = (final.row - before.row, final.column - before.column)
    found: list[CellRef] = []
    cell = final.offset(*step)
    while len(found) < 3 and cell.row > 0 and cell.column > 0 and _alike(cell, final, recalc):
        if not _next_year(found[-1] if found else final, cell, recalc):
            break
        found.append(cell)
        cell = cell.offset(*step)
    value, spread = recalc.number(terminals[0]), (rate.amount or 0.0) - (growth.amount or 0.0)
    last = recalc.number(found[-1]) if found else None
    if value is None or last is None or spread <= 0:
        return ()
    if not close(value, last * (1 + (growth.amount or 0.0)) / spread, 1e-4):
        return ()
    return tuple(found) if found[-1] in memory.above(graph, terminals) else ()


def _next_year(before: CellRef, cell: CellRef, recalc: Recalc) -> bool:
    """Say whether the headings date a cell one year after another; a normalised column carries no year."""
    sheet = recalc.book.sheet(cell.sheet)
    if sheet is None:
        return False
    timeline = memory.remembered(recalc, ("timeline", sheet.name), lambda: Timeline(sheet, recalc))
    first, second = timeline.year(before), timeline.year(cell)
    return first is not None and second == first + 1


def _alike(cell: CellRef, model: CellRef, recalc: Recalc) -> bool:
    one, other = recalc.book.get(cell), recalc.book.get(model)
    if one is None or other is None or recalc.number(cell) is None:
        return False
    if one.formula is None or other.formula is None:
        return one.formula is None and other.formula is None
    return r1c1(one.formula, cell) == r1c1(other.formula, model)


def method_of(cell: CellRef, roles: Roles, graph: Graph) -> str:
    """Return ``multiple``, ``gordon``, ``both`` or ``unknown`` for a terminal value cell, by what it depends on."""
    above = memory.above(graph, [cell])
    multiple, growth = (
        any(reader in above for reader in readers(graph, roles.get(role)))
        for role in ("exit_multiple", "terminal_growth")
    )
    if multiple and growth:
        direct = graph.precedents(cell)
        reads = [role for role in ("exit_multiple", "terminal_growth") if _reads(graph, direct, roles.get(role))]
        return {"exit_multiple": "multiple", "terminal_growth": "gordon"}[reads[0]] if len(reads) == 1 else "both"
    return "multiple" if multiple else "gordon" if growth else "unknown"


def _reads(graph: Graph, direct: Sequence[CellRef], located: Located | None) -> bool:
    if located is None or located.cell is None:
        return False
    source = graph.pure_link(located.cell)
    return any(graph.pure_link(cell) == source for cell in direct)


def path_cells(graph: Graph, start: CellRef, output: CellRef) -> list[CellRef]:
    """Return the cells between start and output that depend on the one and feed the other, nearest first."""
    above = memory.above(graph, [output])
    found: list[CellRef] = []
    fresh, seen = [start], {start}
    while fresh:
        following = []
        for cell in fresh:
            for reader in graph.dependents(cell):
                if reader in above and reader not in seen:
                    seen.add(reader)
                    found.append(reader)
                    if reader != output:
                        following.append(reader)
        fresh = following
    return found
