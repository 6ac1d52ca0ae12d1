"""What a formula is by its build: a discount factor, a present value, a terminal value, a sum of them.

Nothing here reads labels, except to tell an exit multiple from other products.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from xlcheck.cells import CellRef
from xlcheck.formula import Binary, Call, Node, Number, Range, Ref, Union, factors, is_link, terms, walk
from xlcheck.keyed import parse_keyed
from xlcheck.roles.blends import mean_of, mixed, on_a_sum
from xlcheck.roles.labelled import in_points, named_shape
from xlcheck.roles.naming import Naming
from xlcheck.roles.shape import TYPED, Kind, Shape, combined, compounded, linked, power_of, powers, rate_of, unwrapped
from xlcheck.workbook import Book


@dataclass
class Shapes:
    """Answers, with a memory, what the formula of a cell is."""

    book: Book
    naming: Naming
    _memory: dict[CellRef, Shape | None] = field(default_factory=dict)
    _trees: dict[CellRef, Node | None] = field(default_factory=dict)
    _open: set[CellRef] = field(default_factory=set)

    def tree(self, ref: CellRef) -> Node | None:
        """Return the formula of a cell as a tree without its rounding, or None for a constant."""
        if ref not in self._trees:
            cell = self.book.get(ref)
            formula = cell.formula if cell else None
            if formula is None and ref in self.spilled:
                self._trees[ref] = self.tree(self.spilled[ref])
            else:
                node = None if formula is None else parse_keyed(formula, ref.sheet, self.book, ref)
                self._trees[ref] = None if node is None else unwrapped(node)
        return self._trees[ref]

    @cached_property
    def spilled(self) -> Mapping[CellRef, CellRef]:
        """Cell that an array formula fills → the cell that holds the formula."""
        return {
            ref: cell.ref
            for cell in self.book.cells()
            if cell.array is not None and cell.formula is not None
            for ref in cell.array.cells()
            if ref != cell.ref
        }

    def single(self, node: Node) -> Node:
        """Return the first cell of a range inside an array formula, or of a spilled array (``G24#``)."""
        node = unwrapped(node)
        if isinstance(node, Call) and node.function == "ANCHORARRAY" and node.arguments[0] is not None:
            return self.single(node.arguments[0])
        if isinstance(node, Range) and 1 in (
            node.range.last_row - node.range.first_row + 1,
            node.range.last_column - node.range.first_column + 1,
        ):
            return Ref(CellRef(*node.range[:3]))
        return node

    def root(self, ref: CellRef) -> CellRef:
        """Follow plain links (``=Sheet!A1``) to their end."""
        for _ in range(30):
            node = self.tree(ref)
            if node is None or not is_link(node):
                return ref
            ref = linked(node)
        return ref

    def at(self, ref: CellRef) -> Shape | None:
        """Return what the formula of a cell is, or None."""
        ref = self.root(ref)
        if ref not in self._memory and ref not in self._open:
            self._work_out(ref)
        return self._memory.get(ref)

    def _work_out(self, ref: CellRef) -> None:
        """Work out a cell after all that it reads, without recursion (chains of formulas can be very long)."""
        stack = [ref]
        while stack:
            cell = stack[-1]
            node = self.tree(cell)
            if cell in self._memory or node is None:
                if cell not in self._memory:
                    self._memory[cell] = self._typed(cell)
                stack.pop()
                continue
            waiting = [] if cell in self._open else self._read_by(node)
            self._open.add(cell)
            waiting = [one for one in waiting if one not in self._memory and one not in self._open]
            if waiting:
                stack += waiting
                continue
            self._memory[cell] = self._known(cell, node, self.of(node, cell))
            self._open.discard(cell)
            stack.pop()

    def _known(self, cell: CellRef, node: Node, shape: Shape | None) -> Shape | None:
        """Return what a formula is: by its build, else by its label."""
        if shape is not None and shape.kind != "pv":
            return shape
        inside = (
            [found for one in self.cells(walk(node)) if (found := self.at(one)) is not None] if shape is None else []
        )
        found = named_shape(self.naming, cell, node, shape, inside)
        if found is not None and found.kind == "sum_pv" and found is not shape:
            inner = [part for part in walk(node) if isinstance(part, Call) and part.function in ("NPV", "XNPV")]
            whole = self.of(inner[0]) if inner else None
            flows = whole.flows if whole is not None else tuple(self.cells(walk(node)))
            return replace(found, flows=flows)
        return found

    def _typed(self, cell: CellRef) -> Shape | None:
        """Return what the label of a typed number says it is: a hardcoded step of the valuation."""
        number = self.naming.layout.num(cell)
        if number is None or number.value is None or number.percent or number.date:
            return None
        for role, kind in TYPED.items():
            if self.naming.score(cell, role) >= 0.8:
                return Shape(kind)
        return None

    def _read_by(self, node: Node) -> list[CellRef]:
        return [self.root(cell) for part in walk(node) for cell in self.cells([part])]

    def of(self, node: Node, home: CellRef | None = None) -> Shape | None:
        """Return what an expression is, or None."""
        node = unwrapped(node)
        if isinstance(node, Ref):
            return self.at(node.cell)
        if isinstance(node, Call):
            return self._call(node, home)
        parts = terms(node)
        if len(parts) > 1:
            return self._sum(parts)
        return self._product(node, home)

    def _call(self, node: Call, home: CellRef | None) -> Shape | None:
        arguments = [argument for argument in node.arguments if argument is not None]
        if node.function in ("NPV", "XNPV") and len(arguments) >= 2:
            flows = tuple(self.cells(arguments[1:2] if node.function == "XNPV" else arguments[1:]))
            with_tv = any(self._kind(flow) == "tv" or self._holds_tv(flow) for flow in flows[-2:])
            return Shape(
                "ev" if with_tv else "sum_pv", rate_of(arguments[0]), flows=flows, inline=True, with_tv=with_tv
            )
        if node.function == "PV" and len(arguments) >= 3:
            amount = terms(arguments[-1])[0][1]
            flow = amount.cell if isinstance(amount, Ref) else None
            kind: Kind = "pv_tv" if flow and self._kind(flow) == "tv" else "pv"
            return Shape(kind, rate_of(arguments[0]), flow=flow)
        if node.function == "SUMPRODUCT":
            return self._sumproduct(arguments)
        if node.function in ("SUM",):
            return self._sum(terms(node))
        if node.function == "POWER":
            return self._product(node, home) if power_of(node) is not None else None
        if node.function in ("AVERAGE", "CHOOSE", "IF", "MEDIAN", "SWITCH", "INDEX"):
            return self._choice(node.function, arguments)
        return None

    def _choice(self, function: str, arguments: list[Node]) -> Shape | None:
        """Return what a choice or an average is: the kind of its values, if they are of one kind."""
        options: list[Node] = []
        for argument in arguments if function in ("AVERAGE", "MEDIAN") else arguments[1:]:
            options += [Ref(cell) for cell in self.cells([argument])] or [argument]
        found = [shape for shape in (self.of(option) for option in options) if shape is not None]
        kinds = {shape.kind for shape in found}
        if not found or len(kinds) > 1:
            return None
        return replace(found[0], blended=len(found) > 1 and function in ("AVERAGE", "MEDIAN"))

    def _sumproduct(self, arguments: list[Node]) -> Shape | None:
        ranges = [argument for argument in arguments if isinstance(argument, Range | Ref)]
        if len(arguments) == len(ranges) == 2:
            left, right = (tuple(self.cells([argument])) for argument in ranges)
            for flows, weights in ((left, right), (right, left)):
                shape = self.at(weights[0]) if weights else None
                if shape and shape.kind == "factor":
                    return Shape("sum_pv", shape.rate, flows=flows, inline=True)
            kinds = {self._kind(cell) for cell in left} | {self._kind(cell) for cell in right}
            if "ev" in kinds or "per_share" in kinds or "equity" in kinds:
                kind = next(k for k in ("per_share", "equity", "ev") if k in kinds)
                return Shape(kind, blended=True)
            return None
        discount = [power for argument in arguments for power in powers(argument) if power[2] < 0]
        flows = next((tuple(self.cells([argument])) for argument in arguments if isinstance(argument, Range)), ())
        if not flows and len(arguments) == 1:
            inner = [node for node, _ in factors(arguments[0]) if isinstance(node, Range)]
            flows = tuple(self.cells(inner[:1]))
        return Shape("sum_pv", discount[0][0], flows=flows, inline=True) if discount and flows else None

    def _kind(self, cell: CellRef) -> Kind | None:
        return shape.kind if (shape := self.at(cell)) else None

    def _holds_tv(self, cell: CellRef) -> bool:
        node = self.tree(self.root(cell))
        return node is not None and any(
            isinstance(part, Ref) and self._kind(part.cell) == "tv" for _, part in terms(node)
        )

    def _product(self, node: Node, home: CellRef | None) -> Shape | None:
        rate: CellRef | None = None
        over: list[Node] = []
        growth_power = discounted = False
        gordon: tuple[CellRef | None, CellRef | None] | None = None
        under: list[Node] = []
        lasting: Shape | None = None
        for written, exponent in factors(node):
            factor = self.single(written)
            power = power_of(factor)
            shape = self.at(factor.cell) if isinstance(factor, Ref) else None
            if power is not None and exponent < 0:
                rate, discounted = power[0], True
            elif power is not None and power[1] is not None:
                rate, growth_power = rate or power[0], True
            elif shape and isinstance(factor, Ref) and self._discounts(shape.kind, exponent, factor.cell):
                rate, discounted, lasting = shape.rate, True, shape if shape.perpetual else lasting
                if exponent > 0:
                    over.append(factor)
            elif exponent < 0 and (spread := self._spread(factor)) is not None:
                gordon = spread
            else:
                (over if exponent > 0 else under).append(factor)
        if gordon is not None:
            return self._gordon(gordon, over, discounted)
        if growth_power:
            return compounded(rate, over + under, [self.of(one) for one in over], discounted=discounted)
        if discounted:
            found = self._discounted(rate, over)
            capital = any(rate is not None and rate_of(one) in (rate, self.root(rate)) for one in under)
            return found.endless(lasting.growth if lasting else None) if found and (lasting or capital) else found
        return self._plain(over, under, home)

    def _discounts(self, kind: Kind, exponent: int, cell: CellRef) -> bool:
        """Say whether a factor brings back a value; the wrong way round too where its label says what it is for."""
        if kind not in ("factor", "divisor"):
            return False
        straight = (kind == "factor") == (exponent > 0)
        return straight or self.naming.score(cell, "discount_factor") >= 0.7

    def _discounted(self, rate: CellRef | None, over: list[Node]) -> Shape | None:
        money = [one for one in over if not isinstance(one, Number) and not self._is_factor(one)]
        if not money:
            return Shape("factor", rate)
        for one in money:
            shape = self.of(one)
            if shape and shape.kind in ("tv", "ev") and len(money) == 1:
                return Shape("pv_tv", rate, shape.growth, flow=one.cell if isinstance(one, Ref) else None)
            if shape and shape.kind == "pv_tv" and len(money) == 1:
                return Shape("pv_tv", rate, flow=one.cell if isinstance(one, Ref) else None)
        flow = next((one.cell for one in money if isinstance(one, Ref)), None)
        with_tv = any(
            isinstance(part, Ref) and self._kind(part.cell) == "tv" for one in money for _, part in terms(one)
        )
        if flow is None:
            flow = next((part.cell for one in money for _, part in terms(one) if isinstance(part, Ref)), None)
        return Shape("pv", rate, flow=flow, with_tv=with_tv)

    def _is_factor(self, one: Node) -> bool:
        return isinstance(one, Ref) and (self._kind(one.cell) in ("factor", "divisor") or self.naming.opens(one.cell))

    def _capitalisation(self, node: Node) -> Node:
        """Return ``r - g`` for a cell that holds it (a capitalisation rate), else the node."""
        tree = self.tree(self.root(node.cell)) if isinstance(node, Ref) else None
        if not (isinstance(tree, Binary) and tree.operator == "-"):
            return node
        wanted = (("wacc", "discount_rate", "cost_of_equity"), ("terminal_growth",))
        sides = zip((rate_of(tree.left), rate_of(tree.right)), wanted, strict=True)
        named = [
            side is not None and max(self.naming.score(cell, *roles) for cell in (side, self.root(side))) >= 0.4
            for side, roles in sides
        ]
        return tree if all(named) else node

    def _spread(self, node: Node) -> tuple[CellRef | None, CellRef | None] | None:
        """Return (rate, growth) of ``r - g``, both cells, each of a size a rate has."""
        node = self._capitalisation(unwrapped(node))
        if not (isinstance(node, Binary) and node.operator == "-"):
            return None
        rate, growth = rate_of(node.left), rate_of(node.right)
        if rate and growth and self._named_growth(rate) and not self._named_growth(growth):
            rate, growth = growth, rate
        if rate is None or (growth is None and not isinstance(node.right, Number)):
            return None
        points = in_points(self.naming, rate, growth)
        for cell in (rate, growth):
            value = self.naming.layout.value(cell) if cell else None
            named = cell is not None and self.naming.score(cell, "wacc", "terminal_growth")
            if value is not None and not -0.5 < value < 1 and not named and not points:
                return None
        return rate, growth

    def _named_growth(self, cell: CellRef) -> bool:
        return self.naming.score(cell, "terminal_growth") >= 0.7

    def _gordon(
        self, spread: tuple[CellRef | None, CellRef | None], over: list[Node], discounted: bool
    ) -> Shape | None:
        flow = None
        for one in over:
            cells = [part.cell for part in walk(one) if isinstance(part, Ref) and part.cell not in spread]
            flow = flow or (cells[0] if cells else None)
            if isinstance(one, Ref) and self._kind(one.cell) == "factor":
                discounted = True
        if discounted and all(isinstance(one, Number) or self._is_factor(one) for one in over):
            return Shape("factor", *spread, perpetual=True)
        return Shape("pv_tv" if discounted else "tv", spread[0], spread[1], flow=flow)

    def _plain(self, over: list[Node], under: list[Node], home: CellRef | None) -> Shape | None:
        cells = [one for one in over if isinstance(one, Ref)]
        if not under and len(cells) == 2 and len([one for one in over if not isinstance(one, Number)]) == 2:
            for multiple, base in (cells, cells[::-1]):
                if self._is_multiple(multiple.cell, base.cell, home):
                    return Shape("tv", multiple=multiple.cell, flow=base.cell)
        if not under and len(cells) == 1 and len(over) == 2 and on_a_sum(cells[0], over, self.naming):
            return Shape("tv", multiple=cells[0].cell)
        if len(over) == 1 and not under:
            if isinstance(over[0], Range):
                return self._sum(((1, over[0]),))
            return self.of(over[0], home) if isinstance(over[0], Ref | Call) else None
        found = [(one, self.of(one)) for one in over if not isinstance(one, Number | Range)]
        kinds = [shape.kind for _, shape in found if shape]
        if under and kinds and kinds[0] in ("equity", "ev", "sum_pv") and self._per_share(under, home):
            return Shape("per_share", found[0][1].rate if found[0][1] else None)
        single = len(found) + len(under) == 2 and not any(map(power_of, over))  # with (1 + r) it is a price in a year
        if "per_share" in kinds and single and (not under or self._is_value_per_share(home)):
            return Shape("per_share")
        if not [one for one in under if not isinstance(one, Number)] and len(found) == 1 and kinds:
            return found[0][1]
        return None

    def _is_multiple(self, multiple: CellRef, base: CellRef, home: CellRef | None) -> bool:
        named = self.naming.score(multiple, "exit_multiple") >= 0.35 or self.naming.score(base, "ebitda") >= 0.6
        value = self.naming.layout.value(multiple)
        if not named or (value is not None and not 1 < abs(value) < 200):
            return False
        return self.naming.score(multiple, "exit_multiple") >= 0.7 or (
            home is not None and self.naming.score(home, "terminal_value", "enterprise_value") >= 0.4
        )

    def _per_share(self, under: list[Node], home: CellRef | None) -> bool:
        cells = [one.cell for one in under if isinstance(one, Ref)]
        if len([one for one in under if not isinstance(one, Number)]) > 1:
            return False
        if any(self.naming.score(cell, "shares", "diluted_shares", "basic_shares") >= 0.45 for cell in cells):
            return True
        return self._is_value_per_share(home)

    def _is_value_per_share(self, home: CellRef | None) -> bool:
        return home is not None and self.naming.score(home, "value_per_share") >= 0.5

    def _sum(self, parts: Iterable[tuple[int, Node]]) -> Shape | None:
        kinds: list[tuple[Shape, Node]] = []
        other, parts = 0, list(parts)
        blend = mean_of([self.at(one.cell) for one in mixed(parts, self.naming.layout)])
        if blend is not None:
            return blend
        for _, part in parts:
            options: list[Node] = [Ref(cell) for cell in self.cells([part])]
            if not options and not isinstance(part, Range | Union):
                options = [part]
            for option in options:
                shape = self.of(option)
                if shape is not None and shape.kind not in ("factor", "divisor"):
                    kinds.append((shape, option))
                elif not isinstance(option, Number) or abs(option.value) > 1:
                    other += 1
        priced = any(self._is_price(cell) for _, part in parts for cell in self.cells([part]))
        if priced and any(shape.kind == "per_share" for shape, _ in kinds):
            return None  # value less price: what a goal seek brings to zero
        return combined(kinds, other)

    def _is_price(self, cell: CellRef) -> bool:
        return self.of(Ref(cell)) is None and self.naming.score(cell, "current_price") >= 0.7

    def cells(self, nodes: Iterable[Node]) -> list[CellRef]:
        """Return the non-blank cells of the references among the nodes."""
        found: list[CellRef] = []
        for node in nodes:
            if isinstance(node, Ref):
                found.append(node.cell)
            elif isinstance(node, Union):
                found += self.cells(node.parts)
            elif isinstance(node, Call) and node.function == "ANCHORARRAY" and isinstance(node.arguments[0], Ref):
                anchor = self.book.get(node.arguments[0].cell)
                if anchor is not None and anchor.array is not None:
                    found += list(anchor.array.cells())
            elif isinstance(node, Range) and node.range.size <= 2000:
                sheet = self.naming.layout.by_name.get(node.range.sheet)
                if sheet is not None:
                    found += [ref for ref in node.range.cells() if (ref.row, ref.column) in sheet.numbers]
        return found
