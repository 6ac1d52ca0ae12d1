"""Walking a valuation from its value per share down: equity, claims, EV, present values, terminal value, rates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.formula import Binary, Call, Node, Range, Ref, factors, terms, walk
from xlcheck.roles.blends import averaged, merge, mixed
from xlcheck.roles.candidates import Candidate
from xlcheck.roles.claims import CLAIMS, adds_further, cells_of, claim_role, is_named_claim, is_named_whole
from xlcheck.roles.expressions import added
from xlcheck.roles.picks import Chain, Pick
from xlcheck.roles.shape import growth_divisor, in_own_unit
from xlcheck.roles.shapes import Shapes
from xlcheck.roles.stages import opened, present_values, stages_of

COUNTS = ("shares", "diluted_shares", "basic_shares")
OUTPUTS = ("value_per_share", "equity_value", "enterprise_value", "sum_pv_fcff", "terminal_value", "pv_terminal_value")
_WHOLE = ("ev", "sum_pv", "equity")


@dataclass
class Walk:
    """Follows the formulas of one valuation."""

    shapes: Shapes
    chain: Chain
    named: bool = True
    """Whether a label says what the top is."""

    def from_top(self, role: str, *, named: bool = True) -> Chain:
        """Walk from the top cell, which plays the role given (it is not bound where no label names it)."""
        top, self.named = self.chain.top, named
        if named:
            self._put(role, top)
        if role == "value_per_share" and self._kind(Ref(top)) not in ("ev", "sum_pv", "tv"):
            self._per_share(top, 0)
        elif role == "equity_value":
            self._equity(Ref(top))
        else:
            self.named = named and role == "enterprise_value"  # dividends a share: present values are the value a share
            self._enterprise(Ref(top))
        return self.chain

    def take_sum(self, cell: CellRef, candidate: Candidate) -> None:
        """Take a labelled sum of present values into the chain."""
        self.chain.put(_labelled("sum_pv_fcff", cell, candidate))
        self._sum_of_pvs(Ref(cell))

    def take_terminal(self, cell: CellRef, candidate: Candidate) -> None:
        """Take a labelled terminal value, discounted or not, into the chain."""
        self.chain.put(_labelled(candidate.role, cell, candidate))
        if candidate.role == "terminal_value":
            self._terminal_value(cell)
        else:
            self._terminal(Ref(cell))

    def take_equity(self, cell: CellRef, candidate: Candidate) -> None:
        """Take a labelled equity value, and the claims that its formula deducts, into the chain."""
        self.chain.put(_labelled("equity_value", cell, candidate))
        list(self._claims(Ref(cell), 1, 0))

    def _put(self, role: str, cell: CellRef | None, node: Node | None = None, sign: int = 1) -> None:
        if role in OUTPUTS:
            cell = self._unnamed(cell)
        if cell is not None and self.shapes.naming.layout.num(cell) is None:
            self.chain.blank.add(role)
            return
        names = COUNTS if role == "shares" else (role,)
        label = self.shapes.naming.score(cell, *names) if cell else 0.0
        path = f"{cell or role} is reached by formulas from {self.chain.top}"
        self.chain.put(Pick(role, cell, node, label, graph=True, sign=sign, evidence=[path]))

    def _unnamed(self, cell: CellRef | None) -> CellRef | None:
        """Follow a link that is written as a defined name: the name hides which cell it repeats."""
        written = self.shapes.book.get(cell) if cell else None
        if cell is None or written is None or written.formula is None or self.shapes.root(cell) == cell:
            return cell
        return cell if re.search(r"[A-Za-z]\$?\d+\s*\)?$", written.formula) else self.shapes.root(cell)

    def _kind(self, node: Node) -> str | None:
        return shape.kind if (shape := self.shapes.of(node)) else None

    def _tree(self, cell: CellRef) -> Node | None:
        return self.shapes.tree(self.shapes.root(cell))

    def _per_share(self, cell: CellRef, depth: int) -> None:
        node = self._tree(cell)
        if node is None or depth > 6:
            return
        parts = terms(node)
        if len(parts) > 1 or (isinstance(node, Call) and node.function != "SUM"):
            self._per_share_sum(node, depth)
            return
        money: list[Node] = []
        counts: list[CellRef] = []
        for factor, exponent in factors(parts[0][1]):
            kind = self._kind(factor)
            if kind == "per_share" and isinstance(factor, Ref):
                self.chain.steps.add(self.shapes.root(factor.cell))
                self._per_share(factor.cell, depth + 1)
                return
            if exponent > 0 and kind in _WHOLE:
                money.append(factor)
            elif isinstance(factor, Ref) and exponent < 0:
                counts.append(factor.cell)
            elif isinstance(factor, Ref) and exponent > 0 and self._is_money(factor.cell):
                money.append(factor)
        if len(counts) > 1:
            counts = [count for count in counts if self.shapes.naming.score(count, *COUNTS) >= 0.45] or counts
        if counts:
            self._put("shares", counts[0])
        if money:
            self._equity(money[0])

    def _is_money(self, cell: CellRef) -> bool:
        return self.shapes.naming.score(cell, "equity_value", "enterprise_value") >= 0.6

    def _per_share_sum(self, node: Node, depth: int) -> None:
        for part in walk(node):
            if isinstance(part, Ref) and self._kind(part) == "per_share":
                self.chain.steps.add(self.shapes.root(part.cell))
                self._per_share(part.cell, depth + 1)
                return

    def _equity(self, node: Node) -> None:
        cell = node.cell if isinstance(node, Ref) else None
        kind = self._kind(node)
        score = self.shapes.naming.score
        if cell is not None and kind in ("ev", "sum_pv"):
            if score(cell, "equity_value") > score(cell, "enterprise_value"):
                self._put("equity_value", cell)
                self._parts_of_enterprise(present_values(self.shapes, cell), cell)
                return
            self._enterprise(node)
            return
        mains = list(self._claims(node, 1, 0))
        if cell is not None and (cell != self.chain.top or "equity_value" in self.chain.picks):
            self._put("equity_value", cell)
        elif mains and self._has_claims():
            self._put("equity_value", None, node)
        if len(mains) == 1:
            self._enterprise(mains[0])
        elif mains:
            self._parts_of_enterprise(mains, None)
            if not adds_further(self.shapes, node):
                self._put("enterprise_value", None, node if not self._has_claims() else None)

    def _scaled(self, tree: Node) -> Ref | None:
        """Return the value that a formula only scales to another unit (``=DCF!D55/100``)."""
        if len(terms(tree)) != 1 or isinstance(tree, Call | Ref):
            return None
        found = [one for one, _ in factors(tree) if isinstance(one, Ref) and self._kind(one) in _WHOLE]
        return found[0] if len(found) == 1 else None

    def _has_claims(self) -> bool:
        return any(role in self.chain.picks for role in CLAIMS)

    def _claims(self, node: Node, sign: int, depth: int) -> Iterator[Node]:
        """Yield the terms that are operating value; bind the others as claims."""
        tree = self._tree(node.cell) if isinstance(node, Ref) else node
        if tree is None or depth > 6:
            return
        found: list[Node] = []
        inner = self._scaled(tree)
        if inner is not None:
            yield from self._claims(inner, sign, depth + 1)
            return
        for part_sign, part in terms(tree):
            options: list[Node] = [Ref(cell) for cell in self.shapes.cells([part])] or [part]
            for option in options:
                kind = self._kind(option)
                if kind == "equity" and is_named_whole(self.shapes, option):
                    found.append(option)
                elif kind == "ev" and is_named_claim(self.shapes, option):
                    self._claim(option, sign * part_sign, depth)
                elif kind == "equity" and (isinstance(option, Ref) or len(terms(option)) > 1):
                    found += list(self._claims(option, sign * part_sign, depth + 1))
                elif (
                    kind in ("ev", "sum_pv", "pv_tv")
                    or (kind == "pv" and claim_role(self.shapes, option) is None)
                    or (isinstance(option, Ref) and self.shapes.naming.score(option.cell, "enterprise_value") >= 0.8)
                ):
                    found.append(in_own_unit(option))
                else:
                    self._claim(option, sign * part_sign, depth)
        yield from found

    def _claim(self, node: Node, sign: int, depth: int) -> None:
        role = claim_role(self.shapes, node)
        cell = node.cell if isinstance(node, Ref) else None
        if role is None:
            return
        if cell is None and len(cells := cells_of(node)) == 1:
            cell = cells[0]
        self._put(role, cell, None if cell else node, sign)
        if role == "net_debt" and cell is not None and depth < 4:
            inner = self._tree(cell)
            if inner is not None and len(terms(inner)) > 1:
                for part_sign, part in terms(inner):
                    options: list[Node] = [Ref(one) for one in self.shapes.cells([part])]
                    for option in options or [part]:
                        self._claim(option, sign * part_sign, depth + 1)

    def _enterprise(self, node: Node) -> None:
        cell = node.cell if isinstance(node, Ref) else None
        shape = self.shapes.of(node)
        score = self.shapes.naming.score
        alone = shape is not None and shape.kind == "sum_pv"
        summed = score(cell, "sum_pv_fcff") if cell else 0.0
        valued = score(cell, "enterprise_value") if cell else 0.0
        if cell is not None and (self.named or valued >= 0.5) and not (alone and summed >= max(0.62, valued)):
            self._put("enterprise_value", cell)
        elif cell is None and not alone:
            self._put("enterprise_value", None, node)
        tree = self._tree(cell) if cell else node
        if tree is None or shape is None:
            return
        if shape.kind == "tv":
            self._gordon(shape.rate, shape.growth)
            return
        inner_value = self._scaled(tree)
        if inner_value is not None:
            self._enterprise(inner_value)
            return
        if alone or shape.inline:
            self._sum_of_pvs(node)
            return
        if isinstance(tree, Call) and tree.function in ("AVERAGE", "CHOOSE", "IF", "MEDIAN", "SWITCH", "INDEX"):
            self._options(tree)
            return
        options = mixed(terms(tree), self.shapes.naming.layout) if shape.blended else []
        if options:
            self._blend([*options])
            return
        mains: list[Node] = []
        for _, part in terms(tree):
            inside: list[Node] = [Ref(one) for one in self.shapes.cells([part])]
            for option in inside if isinstance(part, Range) else [part]:
                if self._kind(option) in ("ev", "sum_pv", "pv_tv", "pv", "tv"):
                    mains.append(option)
        mains = mains or [*self._values_inside(tree)]
        inner = [one for one in mains if self._kind(one) == "ev" and one is not tree]
        if len(inner) == 1:
            self._enterprise(inner[0])
        elif len(inner) > 1:
            self._blend(inner)
        else:
            self._parts_of_enterprise(mains, cell)

    def _values_inside(self, tree: Node) -> Iterator[Node]:
        """Yield the first enterprise value inside a formula that is no plain sum (weighted by a chance of failure)."""
        yield from [one for one in walk(tree) if isinstance(one, Ref) and self._kind(one) == "ev"][:1]

    def _options(self, tree: Call) -> None:
        arguments = [one for one in tree.arguments if one is not None]
        if tree.function not in ("AVERAGE", "MEDIAN"):
            arguments = arguments[1:]
        options: list[Node] = []
        for argument in arguments:
            options += [Ref(cell) for cell in self.shapes.cells([argument])] or [argument]
        self._blend([one for one in options if self._kind(one) in ("ev", "sum_pv")])

    def _blend(self, options: list[Node]) -> None:
        """Several EVs in one: what they share is bound, their own terminal values are rivals."""
        self._split(options, Walk._enterprise)

    def _split(self, options: list[Node], walk_down: Callable[[Walk, Node], None]) -> None:
        branches = []
        for option in options:
            branch = Walk(self.shapes, Chain(self.chain.top))
            walk_down(branch, option)
            branches.append(branch.chain)
        picks = [one.picks["sum_pv_fcff"].cell for one in branches if "sum_pv_fcff" in one.picks]
        merge(self.chain, branches, {cell: shape.flows for cell in picks if cell and (shape := self.shapes.at(cell))})

    def _parts_of_enterprise(self, mains: list[Node], home: CellRef | None) -> None:
        pvs: list[Node] = []
        stages = stages_of(self.shapes, mains)
        for main in mains:
            kind = self._kind(main)
            named_pv = isinstance(main, Ref) and self.shapes.naming.score(main.cell, "pv_terminal_value") >= 0.7
            if kind == "pv_tv" or (kind == "tv" and (named_pv or len(mains) > 1)):
                self._put("pv_terminal_value", main.cell if isinstance(main, Ref) else None, main)
                self._terminal(main)
            elif kind == "sum_pv" and main not in stages:
                self._sum_of_pvs(main)
            elif kind in ("pv", "sum_pv"):
                pvs.append(main)
        if len(pvs) >= 2 and self.chain.sums is None:
            self._put("sum_pv_fcff", None, added(pvs))
            self.chain.sums = added([part for main in pvs for part in opened(self.shapes, main, stages)])
            self.chain.sums_home = home
            self._rates_of_pvs([cell for one in pvs for cell in cells_of(one)])

    def _sum_of_pvs(self, node: Node) -> None:
        cell = node.cell if isinstance(node, Ref) else None
        shape = self.shapes.of(node)
        if shape is None:
            return
        if (cell is None or cell != self.chain.cell("enterprise_value")) and not shape.with_tv:
            self._put("sum_pv_fcff", cell, None if cell else node)
        self.chain.sums = self.chain.sums or (self._tree(cell) if cell else node)
        self.chain.sums_home = self.chain.sums_home or (self.shapes.root(cell) if cell else None)
        if shape.rate and shape.inline:
            self.chain.rates.append((shape.rate, "discount"))
        if not shape.inline:
            self._rates_of_pvs(list(shape.flows))
        if shape.with_tv:
            self._terminal_in_flows(list(shape.flows))

    def _rates_of_pvs(self, cells: list[CellRef]) -> None:
        for cell in cells:
            shape = self.shapes.at(cell)
            if shape and shape.rate:
                self.chain.rates.append((shape.rate, "discount"))
            if shape and shape.with_tv:
                self._terminal_in_flows([cell])

    def _terminal_in_flows(self, cells: list[CellRef]) -> None:
        for cell in reversed(cells[-2:]):
            node = self._tree(cell)
            if self._kind(Ref(cell)) == "tv":
                self._put("terminal_value", self.shapes.root(cell))
                self._terminal_value(self.shapes.root(cell))
                return
            for part in walk(node) if node is not None else ():
                if isinstance(part, Ref) and self._kind(part) == "tv":
                    self._put("terminal_value", part.cell)
                    self._terminal_value(part.cell)
                    return

    def _terminal(self, node: Node) -> None:
        """From a present value of a terminal value (or an undiscounted one in its place) to the terminal value."""
        cell = node.cell if isinstance(node, Ref) else None
        tree = self._tree(cell) if cell else node
        shape = self.shapes.of(node)
        if shape is None:
            return
        options = averaged(tree, self.shapes.naming.layout) if tree is not None and shape.blended else []
        if options and shape.kind == "pv_tv":
            self._split([*options], Walk._terminal)
            return
        if shape.rate and shape.kind == "pv_tv" and shape.growth is None:
            self.chain.rates.append((shape.rate, "discount"))
        if shape.kind == "tv":
            target = self.shapes.root(cell) if cell else None
            if target is not None:
                self._put("terminal_value", target)
                self._terminal_value(target)
            return
        if shape.flow is not None and self._kind(Ref(shape.flow)) in ("tv", "pv_tv", "ev"):
            if self._kind(Ref(shape.flow)) == "pv_tv":
                self._terminal(Ref(shape.flow))
                return
            self._put("terminal_value", shape.flow)
            self._terminal_value(shape.flow)
        elif shape.growth is not None:
            self._gordon(shape.rate, shape.growth)
        elif tree is not None:
            for part in walk(tree):
                if self._kind(part) == "tv" and isinstance(part, Binary | Call):
                    inner = self.shapes.of(part)
                    self._put("terminal_value", None, part)
                    if inner and inner.growth:
                        self._gordon(inner.rate, inner.growth)
                    return

    def _terminal_value(self, cell: CellRef) -> None:
        shape = self.shapes.at(cell)
        tree = self._tree(cell)
        if shape is None or tree is None:
            return
        if shape.growth is not None or shape.rate is not None:
            self._gordon(shape.rate, shape.growth)
        if shape.multiple is not None:
            self.chain.methods.add("multiple")
            self._put("exit_multiple", shape.multiple)
        if isinstance(tree, Call):
            for option in self.shapes.cells([one for one in tree.arguments if one is not None]):
                inner = self.shapes.at(option)
                if inner and inner.kind == "tv":
                    self._terminal_value(self.shapes.root(option))
        for below in filter(None, map(growth_divisor, walk(tree))):
            if self.shapes.naming.score(below, "ronic") >= 0.5:
                self._put("ronic", below)

    def _gordon(self, rate: CellRef | None, growth: CellRef | None) -> None:
        self.chain.methods.add("gordon")
        if rate is not None:
            self.chain.rates.append((rate, "terminal"))
        if growth is not None:
            self._put("terminal_growth", growth)


def _labelled(role: str, cell: CellRef, candidate: Candidate) -> Pick:
    return Pick(role, cell, label=candidate.score, evidence=[f"{candidate.label} reads {candidate.text!r}"])
