"""Series roles: the rows (columns) of cells over the forecast periods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.formula import Call, Node, Range, Ref, factors, is_link, terms, walk
from xlcheck.roles.operations import Operations
from xlcheck.roles.picks import Line
from xlcheck.roles.rows import Rows, in_line
from xlcheck.roles.shape import Shape, power_of


@dataclass
class Tracks:
    """Finds the series of one valuation."""

    rows: Rows
    read: frozenset[CellRef] = frozenset()
    """Every cell that the valuation depends on."""
    discounted: tuple[CellRef, ...] = ()
    """The flows as the discounting reads them."""

    def lines(self) -> Mapping[str, Line]:
        """Return role → line: the discounting first, then the operations behind the flows."""
        flows = self._discounting()
        if not flows:
            flows = self._flows_by_label()
        if flows:
            Operations(self.rows).find(flows)
            self._period(self.discounted or flows)
        for line in self.rows.found.values():
            self.rows.extend(line)
        return self.rows.found

    def _discounting(self) -> tuple[CellRef, ...]:
        if self.rows.chain.sums is None:
            return ()
        shape = self._sums_shape(self.rows.chain.sums)
        summed = self._summed()
        if shape is None:
            return ()
        if shape.inline:
            flows = self._without_terminal(shape.flows)
            self._factor_of_product(self.rows.chain.sums)
        else:
            pvs = [cell for cell in summed if self.rows.kind(cell) == "pv"]
            if len(pvs) < 2:
                pvs = self._discounted_elsewhere(summed)
            if len(pvs) < 2:
                return ()
            pvs = self.rows.whole(pvs, self.read)
            self.rows.put("pv_fcff", pvs, graph=True)
            flows = self._flows_of(pvs)
        self.discounted = flows
        flows = self._full_years(self._own_row(flows))
        flows = flows[1:] if len(flows) > 2 and self._opens_with_nothing(flows) else flows
        if self._named_fcfe(flows):
            self.rows.put("fcfe", flows, graph=True)
        else:
            self.rows.put("fcff", flows, graph=True)
        return flows

    def _discounted_elsewhere(self, flows: list[CellRef]) -> list[CellRef]:
        """Return the present values, each beside its flow, where a sum of them adds the flows undiscounted."""
        if len(flows) < 3 or not in_line(flows) or len(set(flows)) < 3:
            return []
        across = flows[0].row == flows[-1].row
        sheet = self.rows.shapes.naming.layout.by_name[flows[0].sheet]
        lines = sheet.columns if across else sheet.rows
        found = []
        for flow in flows:
            place = flow.column if across else flow.row
            beside = [sheet.ref(other, place) if across else sheet.ref(place, other) for other in lines.get(place, ())]
            shapes = [(cell, self.rows.shapes.at(cell)) for cell in beside]
            found += [cell for cell, shape in shapes if shape and shape.kind == "pv" and shape.flow == flow][:1]
        return found if len(found) == len(flows) and in_line(found) else []

    def _sums_shape(self, sums: Node) -> Shape | None:
        """Return what the sum is; its own cell may know better than its formula, by its label."""
        home = self.rows.chain.sums_home
        if home is not None and self.rows.shapes.tree(home) is sums:
            return self.rows.shapes.at(home)
        return self.rows.shapes.of(sums)

    def _named_fcfe(self, flows: tuple[CellRef, ...]) -> bool:
        if not flows:
            return False
        score = self.rows.shapes.naming.score
        return score(flows[0], "fcfe") > score(flows[0], "fcff")

    def _summed(self) -> list[CellRef]:
        assert self.rows.chain.sums is not None
        cells: list[CellRef] = []
        for _, part in terms(self.rows.chain.sums):
            for one in self.rows.shapes.cells([part]):
                cells.append(one)
        return cells

    def _without_terminal(self, flows: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        kept = [flow for flow in flows if self.rows.kind(flow) != "tv"]
        return tuple(kept)

    def _opens_with_nothing(self, flows: tuple[CellRef, ...]) -> bool:
        """Say whether the first flow is a typed zero at the valuation date, which XNPV wants before the forecast."""
        shapes = self.rows.shapes
        return shapes.naming.layout.value(flows[0]) == 0 and shapes.tree(flows[0]) is None is not shapes.tree(flows[1])

    def _flows_of(self, pvs: list[CellRef]) -> tuple[CellRef, ...]:
        flows, factor_cells, times, rates = [], [], [], []
        for pv in pvs:
            node = self.rows.shapes.tree(self.rows.shapes.root(pv))
            shape = self.rows.shapes.at(pv)
            if node is None or shape is None:
                continue
            for written, _ in factors(node):
                factor = self._moved(self.rows.shapes.single(written), pv)
                power = power_of(factor)
                if power is not None:
                    times += self._time_cells(power[1])
                    rates += [power[0]] if power[0] else []
                elif isinstance(factor, Ref) and self.rows.kind(factor.cell) in ("factor", "divisor"):
                    factor_cells.append(factor.cell)
            flow = self._moved(Ref(shape.flow), pv) if shape.flow else None
            if isinstance(flow, Ref):
                flows.append(flow.cell)
        if len(factor_cells) == len(pvs):
            factor_cells = list(self.rows.aligned(tuple(factor_cells), tuple(pvs)))
        self._discount_rows(factor_cells, times, rates)
        return tuple(dict.fromkeys(self.rows.aligned(tuple(flows), tuple(pvs))))

    def _moved(self, node: Node, cell: CellRef) -> Node:
        """In a spilled array every cell reads its own place of the row that the formula names."""
        anchor = self.rows.shapes.spilled.get(self.rows.shapes.root(cell))
        if anchor is None or not isinstance(node, Ref):
            return node
        rows, columns = cell.row - anchor.row, cell.column - anchor.column
        return Ref(node.cell.offset(rows, columns))

    def _discount_rows(self, factor_cells: list[CellRef], times: list[CellRef], rates: list[CellRef]) -> None:
        for cell in factor_cells:
            node = self.rows.shapes.tree(self.rows.shapes.root(cell))
            for factor, _ in factors(node) if node is not None else ():
                power = power_of(factor)
                if power is not None:
                    times += self._time_cells(power[1])
                    rates += [power[0]] if power[0] else []
        if (factor_cells and all(self.rows.kind(cell) == "factor" for cell in factor_cells)) or (
            factor_cells and self.rows.shapes.naming.score(factor_cells[0], "discount_factor") >= 0.5
        ):
            self.rows.put("discount_factor", factor_cells, graph=True)
        if times and len(set(times)) >= max(2, len(times) // 2) and in_line(times):
            self.rows.put("discount_period", dict.fromkeys(times), graph=True)
        if len(set(rates)) >= 3 and in_line(rates):
            self.rows.put("discount_rate", dict.fromkeys(rates), graph=True)

    def _time_cells(self, node: Node | None) -> list[CellRef]:
        if node is None:
            return []
        cells = [part.cell for part in walk(node) if isinstance(part, Ref)]
        return cells[:1]

    def _factor_of_product(self, node: Node) -> None:
        for part in walk(node):
            if isinstance(part, Range):
                cells = self.rows.shapes.cells([part])
                if len(cells) > 1 and self.rows.kind(cells[0]) == "factor":
                    self.rows.put("discount_factor", cells, graph=True)
                    self._discount_rows(list(cells), [], [])

    def _own_row(self, flows: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        """Where the last flow carries the terminal value, the flows themselves stand in the row it reads."""
        if len(flows) < 3:
            return flows
        added = self._without_added(flows)
        if added:
            return added
        last = self.rows.shapes.tree(flows[-1])
        first = self.rows.shapes.tree(flows[0])
        if first is None or last is None or not is_link(first) or is_link(last):
            return flows
        origins = [self.rows.shapes.root(flow) for flow in flows[:-1]]
        parts = [part.cell for _, part in terms(last) if isinstance(part, Ref)]
        end = next((part for part in parts if part.row == origins[0].row and part.sheet == origins[0].sheet), None)
        return (*origins, end) if end is not None else flows

    def _without_added(self, flows: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        """Return the row that totals of flow and terminal value read; the value may stand in the last one only."""
        lists = [self._summands(flow) for flow in flows]
        ends = [part for part in lists[-1] if self.rows.kind(part) != "tv"]
        if len(ends) != 1 or len(lists[-1]) < 2 or not in_line([*flows]):
            return ()
        across = flows[0].row == flows[-1].row

        def line(cell: CellRef) -> tuple[str, int]:
            return cell.sheet, cell.row if across else cell.column

        own = [[one for one in parts if line(one) == line(ends[0])] for parts in lists]
        return tuple(found[0] for found in own) if all(len(found) == 1 for found in own) else ()

    def _summands(self, cell: CellRef) -> list[CellRef]:
        node = self.rows.shapes.tree(cell)
        return [part.cell for _, part in terms(node) if isinstance(part, Ref)] if node is not None else []

    def _full_years(self, flows: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        """Return the full years' flows of flows that are cut to the part of a year after the valuation date."""
        found, shares = [], []
        for flow in flows:
            node = self.rows.shapes.tree(flow)
            parts = (
                [part.cell for part, exponent in factors(node) if isinstance(part, Ref) and exponent > 0]
                if node
                else []
            )
            named = [part for part in parts if self.rows.shapes.naming.score(part, "fcff", "fcfe") >= 0.6]
            if node is None or len(parts) != 2 or len(named) != 1 or len(terms(node)) != 1:
                return flows
            found.append(named[0])
            shares += [self.rows.shapes.naming.layout.value(part) or 0.0 for part in parts if part != named[0]]
        cut = max(shares, default=2.0) < 1.001 and sum(share > 0.999 for share in shares) * 2 >= len(flows)
        return tuple(found) if cut and len(set(found)) == len(flows) else flows  # no price index, no exchange rate

    def _flows_by_label(self) -> tuple[CellRef, ...]:
        """Find the flows by their labels, where no formula sums their present values."""
        summed = [cell.sheet for cell in self._summed()[:1]] if self.rows.chain.sums is not None else []
        for name in dict.fromkeys([self.rows.chain.top.sheet, *self._sheets_of_picks(), *summed]):
            sheet = self.rows.shapes.naming.layout.by_name[name]
            pvs = self.rows.by_label(sheet, "pv_fcff", None)
            if pvs is not None and all(self.rows.kind(cell) == "pv" for cell in pvs):
                self.rows.put("pv_fcff", pvs, graph=True)
                flows = self._full_years(self._flows_of(list(pvs)))
                self.rows.put("fcff", flows, graph=True)
                return flows
            flows = self.rows.by_label(sheet, "fcff", None) or ()
            if flows:
                self.rows.put("fcff", flows, graph=False)
                for role, line in (
                    ("pv_fcff", pvs),
                    ("discount_factor", self.rows.by_label(sheet, "discount_factor", None)),
                ):
                    self.rows.put(role, line or (), graph=False)
                return flows
        return ()

    def _sheets_of_picks(self) -> list[str]:
        return [pick.cell.sheet for pick in self.rows.chain.picks.values() if pick.cell is not None]

    def _period(self, flows: tuple[CellRef, ...]) -> None:
        candidates = [flows, *(line.cells for role, line in self.rows.found.items() if role == "pv_fcff")]
        for cells in candidates:
            best = self._heading(cells)
            if best is not None:
                self.rows.put("period", best, graph=False)
                if "period" in self.rows.found:
                    self.rows.found["period"].label = 1.0
                    self.rows.found["period"].evidence = [f"{best[0]} heads the column of {cells[0]}"]
                return

    def _heading(self, cells: tuple[CellRef, ...]) -> list[CellRef] | None:
        across = len({cell.row for cell in cells}) == 1
        lines = []
        for timeline in self.rows.timelines.get(cells[0].sheet, ()):
            if timeline.across != across:
                continue
            line = cells[0].row if across else cells[0].column
            ticks = [timeline.tick(cell.column if across else cell.row) for cell in cells]
            if sum(1 for tick in ticks if tick) < 0.6 * len(cells) or timeline.line >= line:
                continue
            labels = [tick.label for tick in ticks if tick]
            used = set(labels[:2]) & self._dates
            serial = (num := self.rows.shapes.naming.layout.num(labels[0])) is not None and num.date
            lines.append((bool(used), timeline.dated, not serial, timeline.line, labels))
        return max(lines, key=lambda one: one[:4])[4] if lines else None

    @property
    def _dates(self) -> set[CellRef]:
        """The dates that XNPV reads."""
        tree = self.rows.chain.sums
        if not isinstance(tree, Call) or tree.function != "XNPV":
            return set()
        return set(self.rows.shapes.cells([one for one in tree.arguments[2:] if one is not None]))
