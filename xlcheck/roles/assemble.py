"""From the walked valuation and the labelled candidates to one pick per scalar role."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from xlcheck.cells import CellRef
from xlcheck.formula import Binary, Node, Ref, factors, terms, walk
from xlcheck.graph import Graph
from xlcheck.roles.candidates import Candidate
from xlcheck.roles.chain import OUTPUTS
from xlcheck.roles.claims import CLAIMS
from xlcheck.roles.identities import satisfies
from xlcheck.roles.implied import answers
from xlcheck.roles.picks import Chain, Pick
from xlcheck.roles.rates import beta_and_premium, capital_parts, compares, is_upside
from xlcheck.roles.shapes import Shapes

THRESHOLD = 0.6
"""A label alone must name a role at least this well."""
MARGIN = 0.07
"""Two cells with different values whose standing is closer cannot be told apart."""
_PRICE = re.compile(r"\b(?:price|quote|close|kurs|cours)\b|股价|股價|收盘|收盤|株価", re.IGNORECASE)
CAPITAL = (
    "cost_of_equity", "after_tax_cost_of_debt", "pre_tax_cost_of_debt", "weight_equity", "weight_debt",
    "debt_to_equity", "risk_free_rate", "beta", "unlevered_beta", "equity_risk_premium", "market_return",
    "country_risk_premium", "size_premium", "market_cap", "tax_rate",
)  # fmt: skip


@dataclass
class Assembly:
    """Completes the picks of one valuation."""

    shapes: Shapes
    graph: Graph
    chain: Chain
    candidates: Mapping[str, tuple[Candidate, ...]]
    flows: tuple[CellRef, ...] = ()
    ambiguous: dict[str, tuple[Pick, ...]] = field(default_factory=dict)
    _taken: set[CellRef] = field(default_factory=set)

    def complete(self) -> dict[str, Pick]:
        """Return role → pick for the scalar roles; what cannot be told apart goes to `ambiguous`."""
        picks = self.chain.picks
        for role, rivals in self.chain.rivals.items():
            if role not in picks:
                self.ambiguous[role] = tuple(rivals)
        self._rate()
        self._outputs()
        self._price()
        self._capital()
        self._counts()
        self._rest()
        return picks

    def _rate(self) -> None:
        naming, root = self.shapes.naming, self.shapes.root
        discount = list(dict.fromkeys(cell for cell, where in self.chain.rates if where == "discount"))
        terminal = list(dict.fromkeys(cell for cell, where in self.chain.rates if where == "terminal"))
        varies = len({root(cell) for cell in discount}) >= 3
        pool = (terminal or []) if varies else [*discount, *terminal]

        def named(cell: CellRef, role: str) -> float:
            return max(naming.score(cell, role), naming.score(root(cell), role))

        if discount and terminal and self._phases(discount[0], terminal[0]):
            self._add("wacc", discount[0], named(discount[0], "wacc"))
            self._add("terminal_wacc", terminal[0], named(terminal[0], "terminal_wacc"))
            return
        if self.chain.rivals.keys() & {"terminal_value", "terminal_growth"} and self._differ(terminal or discount):
            legs = [Pick("wacc", cell, label=named(cell, "wacc"), graph=True) for cell in terminal or discount]
            self.ambiguous["wacc"] = tuple(legs)  # parts of the business at rates of their own
            return
        labelled = [one for one in self.candidates.get("wacc", ()) if one.score >= 0.85 and not one.series]
        if pool:
            best = max(pool, key=lambda cell: named(cell, "wacc"))
            wacc, equity = named(best, "wacc"), named(best, "cost_of_equity")
            others = {root(one.num.ref) for one in labelled}
            if wacc < 0.5 and others and root(best) not in others:
                self._choose("wacc", self._near(self.graph.ancestors([self.chain.top])))
            elif equity >= 0.6 and equity > wacc:
                self._add("cost_of_equity", best, equity)
            else:
                self._add("wacc", best, wacc)
            return
        scope = self.graph.ancestors([self.chain.top])
        self._choose("wacc", self._near(scope))

    def _differ(self, rates: list[CellRef]) -> bool:
        """Say whether rates are typed apart and differ in value."""
        values = {root: self.shapes.naming.layout.value(root) for root in map(self.shapes.root, rates)}
        return len(set(values.values())) > 1

    def _phases(self, first: CellRef, last: CellRef) -> bool:
        """Say whether the first year and the terminal value have rates of their own, both a cost of capital by label.

        Two that are equal are one; a cost of equity in the place of one of them is a slip, no second phase.
        """
        naming, root = self.shapes.naming, self.shapes.root
        values = naming.layout.value(root(first)), naming.layout.value(root(last))
        capital, equity = (
            [max(naming.score(cell, *roles) for cell in (one, root(one))) for one in (first, last)]
            for roles in (("wacc", "terminal_wacc"), ("cost_of_equity",))
        )
        return not _same(*values) and all(
            one >= 0.5 and one > other for one, other in zip(capital, equity, strict=True)
        )

    def _add(self, role: str, cell: CellRef, label: float) -> None:
        if self.shapes.naming.layout.num(cell) is None:
            self.chain.blank.add(role)
            return
        evidence = [f"{cell} is the rate inside the formulas of {self.chain.top}"]
        self.chain.put(Pick(role, cell, label=label, graph=True, evidence=evidence))

    def _near(self, scope: Iterable[CellRef], bonus: float = 0.2) -> Callable[[Candidate], float]:
        cells = frozenset(scope)
        sheet = self.chain.top.sheet
        names = {pick.cell.sheet for pick in self.chain.picks.values() if pick.cell is not None} | {sheet}

        def near(candidate: Candidate) -> float:
            inside = candidate.num.ref in cells or self.shapes.root(candidate.num.ref) in cells
            return (bonus if inside else 0.0) + (0.05 if candidate.num.ref.sheet in names else 0.0)

        return near

    def _choose(
        self, role: str, near: Callable[[Candidate], float], threshold: float = THRESHOLD, *, inside: bool = False
    ) -> None:
        """Bind the candidate of highest standing, unless another with a different value stands as high."""
        if role in self.chain.picks or role in self.ambiguous or role in self.chain.blank:
            return
        groups: dict[CellRef, tuple[float, Candidate]] = {}
        for candidate in self.candidates.get(role, ()):
            bonus = near(candidate)
            if inside and bonus < 0.15:
                continue
            standing = candidate.score + bonus
            root = self.shapes.root(candidate.num.ref)
            if candidate.score >= threshold - 0.15 and (root not in groups or groups[root][0] < standing):
                groups[root] = (standing, candidate)
        ordered = sorted(groups.values(), key=lambda item: -item[0])
        if not ordered or ordered[0][0] < threshold:
            return
        best = ordered[0]
        rivals = [
            item
            for item in ordered[1:]
            if best[0] - item[0] < MARGIN and not _same(item[1].num.value, best[1].num.value)
        ]
        picks = [self._labelled(role, item[1], near(item[1])) for item in (best, *rivals)]
        if rivals:
            self.ambiguous[role] = tuple(picks)
        else:
            self.chain.put(picks[0])

    def _labelled(self, role: str, candidate: Candidate, bonus: float) -> Pick:
        evidence = [f"{candidate.label} reads {candidate.text!r}"]
        return Pick(role, candidate.num.ref, label=candidate.score, graph=bonus >= 0.15, evidence=evidence)

    def _outputs(self) -> None:
        """Bind outputs that no formula led to by label, among the cells that the top depends on."""
        scope = self.graph.ancestors([self.chain.top])
        for role in OUTPUTS[1:]:
            if self.chain.sums is None and "pv_terminal_value" not in self.chain.picks:
                self._choose(role, self._consistent(role, self._near(scope)), 0.8)
        self._sum_of_pvs()
        for role in ("terminal_growth", "exit_multiple"):
            self._choose(role, self._near(scope), 0.75)
        self._choose("shares", self._near(scope), 0.85, inside=True)
        if "shares" not in self.chain.picks and "value_per_share" in self.chain.picks:
            self._typed_count(self._near(scope))

    def _typed_count(self, near: Callable[[Candidate], float]) -> None:
        """Where the value per share is typed, no formula names the count: its label must, the diluted one first."""
        for role in ("diluted_shares", "shares"):
            self._choose(role, near, 0.85)
            if role in self.chain.picks:
                pick = self.chain.picks[role]
                self.chain.put(Pick("shares", pick.cell, label=pick.label, evidence=pick.evidence))
                return

    def _consistent(self, role: str, near: Callable[[Candidate], float]) -> Callable[[Candidate], float]:
        """Add to the standing of a candidate whose number satisfies an identity with other candidates."""
        values = {
            name: [one.num.value for one in self.candidates.get(name, ()) if one.num.value and one.score >= 0.6]
            for name in ("shares", "diluted_shares", "enterprise_value", "sum_pv_fcff", "pv_terminal_value")
        }
        top = self.shapes.naming.layout.value(self.chain.top)
        per_share = top if self.chain.cell("value_per_share") == self.chain.top else None

        def standing(candidate: Candidate) -> float:
            value = candidate.num.value
            holds = value is not None and satisfies(role, value, per_share, values)
            return near(candidate) + (0.3 if holds else 0.0)

        return standing

    def _sum_of_pvs(self) -> None:
        """Where the EV sums the present values itself, a cell beside it may show the same sum."""
        pick = self.chain.picks.get("sum_pv_fcff")
        if pick is None or pick.cell is not None or pick.node is None:
            return
        wanted = self.shapes.of(pick.node)
        for candidate in self.candidates.get("sum_pv_fcff", ()):
            shape = self.shapes.at(candidate.num.ref)
            if wanted and shape and shape.kind == "sum_pv" and wanted.flows and shape.flows == wanted.flows:
                self.chain.picks["sum_pv_fcff"] = self._labelled("sum_pv_fcff", candidate, 0.2)
                return

    def _price(self) -> None:
        """Bind the price: what the value is compared with."""
        root = self.shapes.root
        top = root(self.chain.cell("value_per_share") or self.chain.top)
        home = self.chain.top.sheet
        for candidate in sorted(self.candidates.get("upside", ()), key=lambda one: one.num.ref.sheet != home):
            tree = self.shapes.tree(root(candidate.num.ref))
            cells = [part.cell for part in walk(tree) if isinstance(part, Ref)] if tree is not None else []
            others = [cell for cell in dict.fromkeys(cells) if root(cell) != top]
            if len(others) < len(set(cells)) and len(others) == 1 and tree is not None and compares(tree, others[0]):
                if "upside" not in self.chain.picks:
                    self.chain.put(self._labelled("upside", candidate, 0.2))
                if self.shapes.naming.score(others[0], "current_price") >= 0.35 or self._calls_a_price(others[0]):
                    self._put_graph("current_price", others[0])
        for reader in self.graph.dependents(top):
            tree = self.shapes.tree(reader)
            read = {part.cell for part in walk(tree) if isinstance(part, Ref)} - {top} if tree is not None else set()
            named = self.shapes.naming.score(next(iter(read)), "current_price") if len(read) == 1 else 0.0
            if named >= 0.7 or (named >= 0.35 and tree is not None and compares(tree, next(iter(read)))):
                self._put_graph("current_price", next(iter(read)))
            beside = named >= 0.35 and tree is not None and reader.sheet == top.sheet
            if beside and tree is not None and is_upside(tree, next(iter(read)), top):
                self._put_graph("upside", reader)
        self._choose("current_price", lambda candidate: 0.05 if candidate.num.ref.sheet == top.sheet else 0.0, 0.7)
        self._typed_upside()

    def _calls_a_price(self, cell: CellRef) -> bool:
        """Say whether a typed number calls itself a price in words of its own; an upside compares the value with it."""
        root, naming = self.shapes.root(cell), self.shapes.naming
        return self.shapes.tree(root) is None and bool(_PRICE.search(naming.label(root)))

    def _typed_upside(self) -> None:
        """Bind an upside that is typed, and so hangs on nothing, right below the value per share and the price."""
        above = [cell for role in ("value_per_share", "current_price") if (cell := self.chain.cell(role)) is not None]
        if "upside" in self.chain.picks or len(above) < 2:
            return
        for candidate in self.candidates.get("upside", ()):
            at = candidate.num.ref
            below = [cell for cell in above if cell[::2] == at[::2] and 0 < at.row - cell.row <= len(above)]
            if len(below) == len(above) and self.shapes.tree(at) is None:
                self.chain.put(self._labelled("upside", candidate, 0.2))

    def _put_graph(self, role: str, cell: CellRef) -> None:
        label = self.shapes.naming.score(cell, role)
        self.chain.put(
            Pick(role, cell, label=label, graph=True, evidence=[f"{cell} is read by the formulas of {self.chain.top}"])
        )

    def _capital(self) -> None:
        """Bind the parts of the cost of capital, among the cells that the rate depends on."""
        rate = self.chain.cell("wacc") or self.chain.cell("cost_of_equity")
        scope = self.graph.ancestors([self.shapes.root(rate)]) if rate else frozenset()
        near = self._near(scope, 0.25)
        self._choose("cost_of_equity", near)
        self._capm()
        tree = self.shapes.tree(self.shapes.root(rate)) if rate else None
        for role, cell in capital_parts(tree, self.shapes.naming) if tree is not None else ():
            self._put_graph(role, cell)
        for role in CAPITAL:
            self._choose(role, near, 0.7)

    def _capm(self) -> None:
        """``rf + beta × premium``: the product names beta and the premium."""
        cell = self.chain.cell("cost_of_equity")
        tree = self.shapes.tree(self.shapes.root(cell)) if cell else None
        if tree is None:
            return
        score = self.shapes.naming.score
        for _, part in terms(tree):
            pair = [factor for factor, exponent in factors(part) if exponent > 0] if isinstance(part, Binary) else []
            if isinstance(part, Ref) and score(part.cell, "risk_free_rate") >= 0.5:
                self._put_graph("risk_free_rate", part.cell)
            for beta, premium in (pair, pair[::-1]) if len(pair) == 2 else ():
                if not isinstance(beta, Ref) or score(beta.cell, "beta") < 0.5:
                    continue
                self._put_graph("beta", beta.cell)
                self._premium(premium)
            known = beta_and_premium((pair[0], pair[1]), self.shapes.naming.layout) if len(pair) == 2 else None
            if known is not None and "beta" not in self.chain.picks and not self._named_otherwise(known):
                self._put_graph("beta", known[0])
                self._put_graph("equity_risk_premium", known[1])

    def _named_otherwise(self, pair: tuple[CellRef, CellRef]) -> bool:
        """Say whether labels give one of two cells surely to another role than beta and the premium."""
        for cell, role in zip(pair, ("beta", "equity_risk_premium"), strict=True):
            best = max(self.shapes.naming.at(cell).values(), key=lambda one: one.score, default=None)
            if best is not None and best.score >= THRESHOLD and best.role != role:
                return True
        return False

    def _premium(self, node: Node) -> None:
        if isinstance(node, Ref):
            if self.shapes.naming.score(node.cell, "equity_risk_premium") >= 0.4:
                self._put_graph("equity_risk_premium", node.cell)
            return
        market = node.left if isinstance(node, Binary) and node.operator == "-" else None
        if isinstance(market, Ref) and self.shapes.naming.score(market.cell, "market_return") >= 0.4:
            self._put_graph("market_return", market.cell)

    def _counts(self) -> None:
        shares = self.chain.cell("shares")
        if shares is None:
            return
        root = self.shapes.root(shares)
        score = self.shapes.naming.score
        diluted = max(score(shares, "diluted_shares"), score(root, "diluted_shares"))
        if diluted >= 0.6:
            self._put_graph("diluted_shares", shares)
            scope = self.graph.ancestors([root]) - {root}
            self._choose("basic_shares", self._near(scope, 0.3), 0.7, inside=True)
        elif max(score(shares, "basic_shares"), score(root, "basic_shares")) >= 0.85:
            self._put_graph("basic_shares", shares)

    def _rest(self) -> None:
        everything = self.graph.ancestors([self.chain.top])
        net = self.chain.cell("net_debt")
        claims = self.graph.ancestors([net]) if net else frozenset()
        equity = self.chain.cell("equity_value")
        cut = equity is not None and self.shapes.tree(self.shapes.root(equity)) is None
        for role in CLAIMS:
            if role in self.chain.picks:
                continue
            if net is not None and role in ("cash", "debt"):
                self._choose(role, self._near(claims), 0.9)
            elif net is None or role not in ("cash", "debt"):
                self._choose(role, self._near(everything), 0.95 if cut else 0.9, inside=not cut)
        for role in ("valuation_date", "ronic", "base_year"):
            self._choose(role, self._near(everything), 0.75)
        self._choose("implied_value", self._near(everything), 0.75, inside=True)
        self._choose("implied_value", self._read_off, 0.75, inside=True)
        if "implied_value" not in self.chain.picks:
            price = self.chain.cell("current_price")
            rates = {self.shapes.root(cell) for cell, _ in self.chain.rates}
            found = answers(self.shapes.naming, self.graph, self.chain.top, price and self.shapes.root(price), rates)
            for pick in found[:1]:
                self.ambiguous.pop("implied_value", None)
                self.chain.put(pick)

    def _read_off(self, candidate: Candidate) -> float:
        """Tell an answer that a formula reads off a table by the price: it depends on the price and is no input."""
        price, cell = self.chain.cell("current_price"), candidate.num.ref
        return 0.2 if price is not None and cell != price and price in self.graph.ancestors([cell]) else 0.0


def _same(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    return abs(abs(left) - abs(right)) <= 1e-9 * max(abs(left), abs(right))
