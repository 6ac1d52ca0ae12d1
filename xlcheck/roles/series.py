"""Series roles: the rows (columns) of cells over the forecast periods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xlcheck.cells import CellRef
from xlcheck.formula import Binary, Call, Node, Range, Ref, factors, is_link, terms, walk
from xlcheck.roles.layout import SheetLayout
from xlcheck.roles.picks import Chain, Line
from xlcheck.roles.shapes import Shapes, power_of, unwrapped
from xlcheck.roles.timeline import Timeline, Timelines
from xlcheck.roles.vocabulary import SERIES_ROLES

OPERATIONS = (
    "revenue", "revenue_growth", "ebitda", "ebit", "ebit_margin", "taxes", "nopat", "depreciation", "capex",
    "change_in_nwc", "nwc", "interest", "stock_compensation", "total_assets", "total_liabilities_and_equity",
)  # fmt: skip
BALANCES = ("total_assets", "total_liabilities_and_equity")
"""Series that may show actual years only."""


@dataclass
class Tracks:
    """Finds the series of one valuation."""

    shapes: Shapes
    chain: Chain
    timelines: Timelines
    found: dict[str, Line] = field(default_factory=dict)
    discounted: tuple[CellRef, ...] = ()
    """The flows as the discounting reads them."""

    def lines(self) -> Mapping[str, Line]:
        """Return role → line: the discounting first, then the operations behind the flows."""
        flows = self._discounting()
        if not flows:
            flows = self._flows_by_label()
        if flows:
            self._operations(flows)
            self._period(self.discounted or flows)
        for line in self.found.values():
            self._extend(line)
        return self.found

    def _extend(self, line: Line) -> None:
        """Add the actual periods before the forecast and the terminal column after it."""
        cells = line.cells
        across = len({cell.row for cell in cells}) == 1
        sheet = self.shapes.naming.layout.by_name[cells[0].sheet]
        own = [cell.column if across else cell.row for cell in cells]
        place = cells[0].row if across else cells[0].column
        fitting = [
            timeline
            for timeline in self.timelines.get(sheet.name, ())
            if timeline.across == across
            and timeline.line <= place
            and sum(1 for position in own if timeline.tick(position)) >= 0.6 * len(own)
        ]
        if not fitting:
            return
        before, after = [], []
        for tick in max(fitting, key=lambda one: (one.dated, one.line)).ticks:
            cell = sheet.ref(place, tick.position) if across else sheet.ref(tick.position, place)
            if line.role != "period" and (cell.row, cell.column) not in sheet.numbers:
                continue
            if tick.position < min(own) and tick.year is not None:
                before.append(cell)
            elif tick.position > max(own) and tick.kind == "terminal":
                after.append(cell)
        line.history = tuple(before)
        line.terminal = after[0] if after else None

    def _put(self, role: str, cells: Iterable[CellRef], graph: bool) -> None:
        cells = tuple(cells)
        if len(cells) < 2 or role in self.found:
            return
        label = max(self.shapes.naming.score(cell, role) for cell in cells[:2])
        reason = f"{cells[0]} is reached by formulas from {self.chain.top}" if graph else (
            f"{cells[0]} is labelled {self.shapes.naming.label(cells[0])!r}"
        )
        line = Line(role, cells, label, graph, [reason])
        self.found[role] = line

    def _discounting(self) -> tuple[CellRef, ...]:
        if self.chain.sums is None:
            return ()
        shape = self.shapes.of(self.chain.sums)
        summed = self._summed()
        if shape is None:
            return ()
        if shape.inline:
            flows = self._without_terminal(shape.flows)
            self._factor_of_product(self.chain.sums)
        else:
            pvs = [cell for cell in summed if self._kind(cell) == "pv"]
            if len(pvs) < 2:
                return ()
            self._put("pv_fcff", pvs, graph=True)
            flows = self._flows_of(pvs)
        self.discounted = flows
        flows = self._full_years(self._own_row(flows))
        if self._named_fcfe(flows):
            self._put("fcfe", flows, graph=True)
        else:
            self._put("fcff", flows, graph=True)
        return flows

    def _named_fcfe(self, flows: tuple[CellRef, ...]) -> bool:
        if not flows:
            return False
        score = self.shapes.naming.score
        return score(flows[0], "fcfe") > score(flows[0], "fcff")

    def _summed(self) -> list[CellRef]:
        assert self.chain.sums is not None
        cells: list[CellRef] = []
        for _, part in terms(self.chain.sums):
            for one in self.shapes.cells([part]):
                cells.append(one)
        return cells

    def _kind(self, cell: CellRef) -> str | None:
        shape = self.shapes.at(cell)
        return shape.kind if shape else None

    def _without_terminal(self, flows: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        kept = [flow for flow in flows if self._kind(flow) != "tv"]
        return tuple(kept)

    def _flows_of(self, pvs: list[CellRef]) -> tuple[CellRef, ...]:
        flows, factor_cells, times, rates = [], [], [], []
        for pv in pvs:
            node = self.shapes.tree(self.shapes.root(pv))
            shape = self.shapes.at(pv)
            if node is None or shape is None:
                continue
            for written, exponent in factors(node):
                factor = self._moved(self.shapes.single(written), pv)
                power = power_of(factor)
                if power is not None:
                    times += self._time_cells(power[1])
                    rates += [power[0]] if power[0] else []
                elif isinstance(factor, Ref) and self._kind(factor.cell) in ("factor", "divisor"):
                    factor_cells.append(factor.cell)
            flow = self._moved(Ref(shape.flow), pv) if shape.flow else None
            if isinstance(flow, Ref):
                flows.append(flow.cell)
        self._discount_rows(factor_cells, times, rates)
        return tuple(dict.fromkeys(flows))

    def _moved(self, node: Node, cell: CellRef) -> Node:
        """In a spilled array every cell reads its own place of the row that the formula names."""
        anchor = self.shapes.spilled.get(self.shapes.root(cell))
        if anchor is None or not isinstance(node, Ref):
            return node
        rows, columns = cell.row - anchor.row, cell.column - anchor.column
        return Ref(node.cell.offset(rows, columns))

    def _discount_rows(self, factor_cells: list[CellRef], times: list[CellRef], rates: list[CellRef]) -> None:
        for cell in factor_cells:
            node = self.shapes.tree(self.shapes.root(cell))
            for factor, _ in factors(node) if node is not None else ():
                power = power_of(factor)
                if power is not None:
                    times += self._time_cells(power[1])
                    rates += [power[0]] if power[0] else []
        if factor_cells and all(self._kind(cell) == "factor" for cell in factor_cells):
            self._put("discount_factor", factor_cells, graph=True)
        elif factor_cells and self.shapes.naming.score(factor_cells[0], "discount_factor") >= 0.5:
            self._put("discount_factor", factor_cells, graph=True)
        if times and len(set(times)) >= max(2, len(times) // 2) and _in_line(times):
            self._put("discount_period", dict.fromkeys(times), graph=True)
        if len(set(rates)) >= 3 and _in_line(rates):
            self._put("discount_rate", dict.fromkeys(rates), graph=True)

    def _time_cells(self, node: Node | None) -> list[CellRef]:
        if node is None:
            return []
        cells = [part.cell for part in walk(node) if isinstance(part, Ref)]
        return cells[:1]

    def _factor_of_product(self, node: Node) -> None:
        for part in walk(node):
            if isinstance(part, Range):
                cells = self.shapes.cells([part])
                if len(cells) > 1 and self._kind(cells[0]) == "factor":
                    self._put("discount_factor", cells, graph=True)
                    self._discount_rows(list(cells), [], [])

    def _own_row(self, flows: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        """Where the last flow carries the terminal value, the flows themselves stand in the row it reads."""
        if len(flows) < 3:
            return flows
        last = self.shapes.tree(flows[-1])
        first = self.shapes.tree(flows[0])
        if first is None or last is None or not is_link(first) or is_link(last):
            return flows
        origins = [self.shapes.root(flow) for flow in flows[:-1]]
        parts = [part.cell for _, part in terms(last) if isinstance(part, Ref)]
        end = next((part for part in parts if part.row == origins[0].row and part.sheet == origins[0].sheet), None)
        return (*origins, end) if end is not None else flows

    def _full_years(self, flows: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        """A flow cut to the part of the first year after the valuation date stands for the full year's flow."""
        found = []
        for flow in flows:
            node = self.shapes.tree(flow)
            parts = [part.cell for part, exponent in factors(node) if isinstance(part, Ref) and exponent > 0] if node else []
            named = [part for part in parts if self.shapes.naming.score(part, "fcff", "fcfe") >= 0.6]
            if node is None or len(parts) != 2 or len(named) != 1 or len(terms(node)) != 1:
                return flows
            found.append(named[0])
        return tuple(found) if len(set(found)) == len(flows) else flows

    def _flows_by_label(self) -> tuple[CellRef, ...]:
        """Find the flows by their labels, where no formula sums their present values."""
        for name in dict.fromkeys([self.chain.top.sheet, *self._sheets_of_picks()]):
            sheet = self.shapes.naming.layout.by_name[name]
            pvs = self._by_label(sheet, "pv_fcff", None)
            if pvs is not None and all(self._kind(cell) == "pv" for cell in pvs):
                self._put("pv_fcff", pvs, graph=True)
                flows = self._full_years(self._flows_of(list(pvs)))
                self._put("fcff", flows, graph=True)
                return flows
            flows = self._by_label(sheet, "fcff", None) or ()
            if flows:
                self._put("fcff", flows, graph=False)
                for role, line in (("pv_fcff", pvs), ("discount_factor", self._by_label(sheet, "discount_factor", None))):
                    self._put(role, line or (), graph=False)
                return flows
        return ()

    def _sheets_of_picks(self) -> list[str]:
        return [pick.cell.sheet for pick in self.chain.picks.values() if pick.cell is not None]

    def _by_label(
        self, sheet: SheetLayout, role: str, like: tuple[CellRef, ...] | None
    ) -> tuple[CellRef, ...] | None:
        best: tuple[float, tuple[CellRef, ...]] | None = None
        for timeline in self.timelines.get(sheet.name, ()):
            if not timeline.dated and like is None:
                continue
            positions = _positions(timeline, like, past=role in BALANCES)
            if len(positions) < 2:
                continue
            for line in sheet.rows if timeline.across else sheet.columns:
                if not _belongs(timeline, line, self.timelines[sheet.name]):
                    continue
                cells = [sheet.ref(line, p) if timeline.across else sheet.ref(p, line) for p in positions]
                numbers = [cell for cell in cells if (cell.row, cell.column) in sheet.numbers]
                if len(numbers) < max(2, 0.7 * len(cells)) or not self._right_unit(role, sheet, numbers):
                    continue
                score = self.shapes.naming.score(numbers[-1], role) - 0.001 * abs(line - timeline.line)
                if score >= 0.55 and (best is None or score > best[0]):
                    best = (score, tuple(numbers))
        return best[1] if best else None

    def _right_unit(self, role: str, sheet: SheetLayout, cells: list[CellRef]) -> bool:
        numbers = [sheet.numbers[cell.row, cell.column] for cell in cells]
        if SERIES_ROLES[role] == "money":
            small = all(number.value is not None and abs(number.value) < 1 for number in numbers)
            return not any(number.percent or number.date for number in numbers) and not (
                small and any(number.value for number in numbers)
            )
        if SERIES_ROLES[role] == "rate":
            return all(number.value is None or abs(number.value) <= (10 if number.percent else 60) for number in numbers)
        return True

    def _operations(self, flows: tuple[CellRef, ...]) -> None:
        self._from_flow(flows)
        sheets = [flows[0].sheet, *dict.fromkeys(cell.sheet for line in self.found.values() for cell in line.cells[:1])]
        others = [sheet.name for sheet in self.shapes.naming.layout.sheets]
        for role in OPERATIONS:
            if role == "revenue_growth":
                self._growth(sheets)
            if role in self.found:
                continue
            for name in dict.fromkeys([*sheets, *others]):
                sheet = self.shapes.naming.layout.by_name[name]
                cells = self._by_label(sheet, role, flows)
                if cells is not None:
                    self._put(role, cells, graph=False)
                    break

    def _from_flow(self, flows: tuple[CellRef, ...]) -> None:
        """Bind the terms of the flow's own formula by their labels, and what these are made of."""
        lists = [self._terms_of(self._origin(flow)) for flow in flows]
        homes = {flows[0].sheet, self._origin(flows[0]).sheet}
        seen = 0
        queue = [column for column in zip(*lists, strict=False)] if lists and all(lists) else []
        while queue and seen < 40:
            seen += 1
            cells = tuple(cell for cell, _ in queue[0])
            sign = queue[0][0][1]
            queue = queue[1:]
            role = self._operation_role(cells)
            if role is not None and role not in self.found and cells[0].sheet in homes:
                self._put(role, self._within_sheet(cells), graph=True)
                if role in self.found and role in ("capex", "change_in_nwc", "taxes"):
                    self.found[role].sign = 1 if sign < 0 else -1
            if role in (None, "nopat", "ebit", "ebitda", "fcff"):
                deeper = [self._terms_of(self._origin(cell)) for cell in cells]
                if all(deeper) and len({len(one) for one in deeper}) == 1:
                    queue += [column for column in zip(*deeper, strict=False)]

    def _origin(self, cell: CellRef) -> CellRef:
        return self.shapes.root(cell)

    def _within_sheet(self, cells: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        """Follow plain links as long as they stay on the sheet."""
        followed = []
        for cell in cells:
            for _ in range(10):
                node = self.shapes.tree(cell)
                target = unwrapped(node) if node is not None and is_link(node) else None
                if not isinstance(target, Ref) or target.cell.sheet != cell.sheet:
                    break
                cell = target.cell
            followed.append(cell)
        return tuple(followed)

    def _terms_of(self, cell: CellRef) -> list[tuple[CellRef, int]]:
        node = self.shapes.tree(cell)
        if node is None:
            return []
        found: list[tuple[CellRef, int]] = []
        for sign, part in terms(node):
            for one in self.shapes.cells([part]):
                found.append((one, sign))
            if isinstance(part, Binary):
                for factor, _ in factors(part):
                    if isinstance(factor, Ref):
                        found.append((factor.cell, sign))
        return found

    def _operation_role(self, cells: tuple[CellRef, ...]) -> str | None:
        named = self.shapes.naming.at(cells[0])
        usable = [
            named[role]
            for role in (*OPERATIONS, "fcff")
            if role in named and role not in ("revenue_growth", "total_assets")
        ]
        best = max(usable, key=lambda one: one.score, default=None)
        return best.role if best is not None and best.score >= 0.5 else None

    def _growth(self, sheets: list[str]) -> None:
        """``this year / last year - 1`` or ``last year × (1 + x)`` names the growth row, whatever its label."""
        revenue = self.found.get("revenue")
        if revenue is None:
            return
        shown = self._growth_row(revenue.cells)
        if shown is not None:
            self._put("revenue_growth", shown, graph=True)
            return
        rates = []
        for cell in revenue.cells:
            node = self.shapes.tree(self.shapes.root(cell))
            powers = [power_of(factor) for factor, _ in factors(node)] if node is not None else []
            found = [power[0] for power in powers if power is not None and power[1] is None and power[0]]
            rates += found[:1]
        if len(set(rates)) == len(revenue.cells) and _in_line(rates) and rates[0].sheet in sheets:
            self._put("revenue_growth", rates, graph=True)

    def _growth_row(self, revenue: tuple[CellRef, ...]) -> list[CellRef] | None:
        """Find the row on the revenue's own sheet whose formulas divide this year's revenue by last year's."""
        sheet = self.shapes.naming.layout.by_name[revenue[0].sheet]
        across = revenue[0].row == revenue[-1].row
        for line in sheet.rows if across else sheet.columns:
            cells = [sheet.ref(line, cell.column) if across else sheet.ref(cell.row, line) for cell in revenue]
            node = self.shapes.tree(cells[-1])
            if node is None or cells[-1] in revenue or len(terms(node)) > 2:
                continue
            read = [part.cell for part in walk(node) if isinstance(part, Ref)]
            if set(read) == {revenue[-1], revenue[-2]} and any(
                isinstance(part, Binary) and part.operator == "/" for part in walk(node)
            ):
                return [cell for cell in cells if (cell.row, cell.column) in sheet.numbers]
        return None

    def _period(self, flows: tuple[CellRef, ...]) -> None:
        candidates = [flows, *(line.cells for role, line in self.found.items() if role == "pv_fcff")]
        for cells in candidates:
            best = self._heading(cells)
            if best is not None:
                self._put("period", best, graph=False)
                if "period" in self.found:
                    self.found["period"].label = 1.0
                    self.found["period"].evidence = [f"{best[0]} heads the column of {cells[0]}"]
                return

    def _heading(self, cells: tuple[CellRef, ...]) -> list[CellRef] | None:
        across = len({cell.row for cell in cells}) == 1
        lines = []
        for timeline in self.timelines.get(cells[0].sheet, ()):
            if timeline.across != across:
                continue
            line = cells[0].row if across else cells[0].column
            ticks = [timeline.tick(cell.column if across else cell.row) for cell in cells]
            if sum(1 for tick in ticks if tick) < 0.6 * len(cells) or timeline.line >= line:
                continue
            labels = [tick.label for tick in ticks if tick]
            used = set(labels[:2]) & self._dates
            serial = (num := self.shapes.naming.layout.num(labels[0])) is not None and num.date
            lines.append((bool(used), timeline.dated, not serial, timeline.line, labels))
        return max(lines, key=lambda one: one[:4])[4] if lines else None

    @property
    def _dates(self) -> set[CellRef]:
        """The dates that XNPV reads."""
        tree = self.chain.sums
        if not isinstance(tree, Call) or tree.function != "XNPV":
            return set()
        return set(self.shapes.cells([one for one in tree.arguments[2:] if one is not None]))


def _in_line(cells: list[CellRef]) -> bool:
    return len({cell.sheet for cell in cells}) == 1 and (
        len({cell.row for cell in cells}) == 1 or len({cell.column for cell in cells}) == 1
    )


def _positions(timeline: Timeline, like: tuple[CellRef, ...] | None, *, past: bool = False) -> list[int]:
    """Return the columns (rows) of the forecast periods, or those of the flows where they share the line."""
    if like is not None:
        across = len({cell.row for cell in like}) == 1
        if across == timeline.across and like[0].sheet == timeline.sheet:
            own = [cell.column if across else cell.row for cell in like]
            if sum(1 for position in own if timeline.tick(position)) >= 0.6 * len(own):
                return own
    for kind in ("forecast", "unknown", "actual"):
        found = [tick.position for tick in timeline.ticks if tick.kind == kind and tick.year is not None]
        if found and (kind != "actual" or past):
            return found
    return []


def _belongs(timeline: Timeline, line: int, timelines: tuple[Timeline, ...]) -> bool:
    """Say whether a row stands under this timeline rather than under a nearer one of the same columns."""
    if line <= timeline.line:
        return False
    first = timeline.ticks[0].position
    return not any(
        other.across == timeline.across
        and timeline.line < other.line <= line
        and other.dated
        and any(tick.position == first for tick in other.ticks)
        for other in timelines
    )
