"""The operations behind the flows: revenue, margins, taxes, reinvestment."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.formula import Binary, Ref, factors, is_link, terms, walk
from xlcheck.roles.labelled import INPUT, named_step
from xlcheck.roles.rows import Rows, in_line
from xlcheck.roles.shape import power_of, unwrapped

OPERATIONS = (
    "revenue", "revenue_growth", "ebitda", "ebit", "ebit_margin", "taxes", "nopat", "depreciation", "capex",
    "change_in_nwc", "nwc", "interest", "stock_compensation", "total_assets", "total_liabilities_and_equity",
)  # fmt: skip


_LIABILITIES = re.compile(r"\s*total\s+liabilit(?:y|ies)\b", re.IGNORECASE)
_EQUITY = re.compile(r"\b(?:equity|share) capital\b|\breserves?\b|shareholders?\W*\s*(?:funds?|equity)", re.IGNORECASE)


@dataclass(frozen=True)
class Operations:
    """Finds the operating series of one valuation."""

    rows: Rows

    def find(self, flows: tuple[CellRef, ...]) -> None:
        """Bind what the flows are made of, by the flow's own formula first, then by labels."""
        self._from_flow(flows)
        sheets = [
            flows[0].sheet,
            *dict.fromkeys(cell.sheet for line in self.rows.found.values() for cell in line.cells[:1]),
        ]
        others = [sheet.name for sheet in self.rows.shapes.naming.layout.sheets]
        for role in OPERATIONS:
            if role == "revenue_growth":
                self._growth(sheets)
            if role in self.rows.found:
                continue
            for name in dict.fromkeys([*sheets, *others]):
                sheet = self.rows.shapes.naming.layout.by_name[name]
                cells = self.rows.by_label(sheet, role, flows)
                if cells is not None:
                    self.rows.put(role, cells, graph=False)
                    break
        self._unnamed_taxes()
        self._liabilities_with_equity()

    def _liabilities_with_equity(self) -> None:
        """Bind a row called total liabilities that sums equity as well, as Indian balance sheets name it."""
        assets, shapes = self.rows.found.get("total_assets"), self.rows.shapes
        if "total_liabilities_and_equity" in self.rows.found or assets is None:
            return
        first, last = assets.cells[0], assets.cells[-1]
        for row in shapes.naming.layout.by_name[first.sheet].rows if first.row == last.row else ():
            tree = shapes.tree(last._replace(row=row))
            if tree is None or not _LIABILITIES.match(shapes.naming.label(last._replace(row=row))):
                continue
            if any(_EQUITY.search(shapes.naming.label(cell)) for cell in shapes.cells(walk(tree))):
                cells = [cell._replace(row=row) for cell in assets.cells]
                self.rows.put("total_liabilities_and_equity", cells, graph=False)
                self.rows.found["total_liabilities_and_equity"].label = 0.9
                return

    def _unnamed_taxes(self) -> None:
        """Bind the one row that EBIT less taxes reads beside EBIT, and that is built on EBIT, whatever its label."""
        nopat, ebit = self.rows.found.get("nopat"), self.rows.found.get("ebit")
        if "taxes" in self.rows.found or nopat is None or ebit is None or len(nopat.cells) != len(ebit.cells):
            return
        taken = {cell for line in self.rows.found.values() for cell in line.cells}
        found: list[tuple[CellRef, int]] = []
        for after, before in zip(nopat.cells, ebit.cells, strict=True):
            read = [(cell, sign) for cell, sign in self._terms_of(self._origin(after)) if cell != before]
            tree = self.rows.shapes.tree(read[0][0]) if len(read) == 1 else None
            built = {part.cell for part in walk(tree) if isinstance(part, Ref)} if tree is not None else set()
            if before not in built or read[0][0] in taken:
                return
            found.append(read[0])
        if in_line([cell for cell, _ in found]):
            self.rows.put("taxes", [cell for cell, _ in found], graph=True)
            if "taxes" in self.rows.found:
                self.rows.found["taxes"].sign = 1 if found[0][1] < 0 else -1

    def _from_flow(self, flows: tuple[CellRef, ...]) -> None:
        """Bind the terms of the flow's own formula by their labels, and what these are made of."""
        lists = [self._terms_of(self._origin(flow)) for flow in flows]
        homes = {flows[0].sheet, self._origin(flows[0]).sheet}
        seen = 0
        queue = list(zip(*lists, strict=False)) if lists and all(lists) else []
        while queue and seen < 40:
            seen += 1
            cells = tuple(cell for cell, _ in queue[0])
            sign = queue[0][0][1]
            queue = queue[1:]
            role = self._operation_role(cells)
            if role is not None and role not in self.rows.found and cells[0].sheet in homes:
                self.rows.put(role, self.rows.aligned(self._within_sheet(cells), flows), graph=True)
                if role in self.rows.found and role in ("capex", "change_in_nwc", "taxes"):
                    self.rows.found[role].sign = 1 if sign < 0 else -1
            if role in (None, "nopat", "ebit", "ebitda", "fcff"):
                deeper = [self._terms_of(self._origin(cell)) for cell in cells]
                if all(deeper) and len({len(one) for one in deeper}) == 1:
                    queue += list(zip(*deeper, strict=False))

    def _origin(self, cell: CellRef) -> CellRef:
        return self.rows.shapes.root(cell)

    def _within_sheet(self, cells: tuple[CellRef, ...]) -> tuple[CellRef, ...]:
        """Follow plain links as long as they stay on the sheet."""
        followed = []
        for start in cells:
            cell = start
            for _ in range(10):
                node = self.rows.shapes.tree(cell)
                target = unwrapped(node) if node is not None and is_link(node) else None
                if not isinstance(target, Ref) or target.cell.sheet != cell.sheet or self._renamed(cell, target.cell):
                    break
                cell = target.cell
            followed.append(cell)
        return tuple(followed)

    def _renamed(self, cell: CellRef, target: CellRef) -> bool:
        """Say whether a link surely carries another name than what it repeats: NOPAT that only repeats EBIT."""
        naming = self.rows.shapes.naming
        own, other = named_step(naming, cell), named_step(naming, target)
        return own is not None and other is not None and own != other and naming.score(target, own) < INPUT

    def _terms_of(self, cell: CellRef) -> list[tuple[CellRef, int]]:
        node = self.rows.shapes.tree(cell)
        if node is None:
            return []
        found: list[tuple[CellRef, int]] = []
        for sign, part in terms(node):
            for one in self.rows.shapes.cells([part]):
                found.append((one, sign))
            if isinstance(part, Binary):
                for factor, _ in factors(part):
                    if isinstance(factor, Ref):
                        found.append((factor.cell, sign))
        return found

    def _operation_role(self, cells: tuple[CellRef, ...]) -> str | None:
        named = self.rows.shapes.naming.at(cells[0])
        usable = [
            named[role]
            for role in (*OPERATIONS, "fcff")
            if role in named and role not in ("revenue_growth", "total_assets")
        ]
        best = max(usable, key=lambda one: one.score, default=None)
        return best.role if best is not None and best.score >= 0.5 else None

    def _growth_row(self, revenue: tuple[CellRef, ...]) -> list[CellRef] | None:
        """Find the row on the revenue's own sheet whose formulas divide this year's revenue by last year's."""
        sheet = self.rows.shapes.naming.layout.by_name[revenue[0].sheet]
        across = revenue[0].row == revenue[-1].row
        for line in sheet.rows if across else sheet.columns:
            cells = [sheet.ref(line, cell.column) if across else sheet.ref(cell.row, line) for cell in revenue]
            node = self.rows.shapes.tree(cells[-1])
            if node is None or cells[-1] in revenue or len(terms(node)) > 2:
                continue
            read = [part.cell for part in walk(node) if isinstance(part, Ref)]
            if set(read) == {revenue[-1], revenue[-2]} and any(
                isinstance(part, Binary) and part.operator == "/" for part in walk(node)
            ):
                return [cell for cell in cells if (cell.row, cell.column) in sheet.numbers]
        return None

    def _growth(self, sheets: list[str]) -> None:
        """Bind the growth row by ``this year / last year - 1`` or ``last year × (1 + x)``, whatever its label."""
        revenue = self.rows.found.get("revenue")
        if revenue is None:
            return
        shown = self._growth_row(revenue.cells)
        if shown is not None:
            self.rows.put("revenue_growth", shown, graph=True)
            return
        rates = []
        for cell in revenue.cells:
            node = self.rows.shapes.tree(self.rows.shapes.root(cell))
            powers = [power_of(factor) for factor, _ in factors(node)] if node is not None else []
            found = [power[0] for power in powers if power is not None and power[1] is None and power[0]]
            rates += found[:1]
        if len(set(rates)) >= max(2, len(revenue.cells) - 1) and in_line(rates) and rates[0].sheet in sheets:
            self.rows.put("revenue_growth", rates, graph=True)
