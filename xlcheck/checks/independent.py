"""The value derived once more outside the workbook."""

from __future__ import annotations

from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import rebuild, valuation
from xlcheck.checks.rounding import rounding_of
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles

_ROOTS = (
    "fatal.terminal-not-discounted",
    "fatal.double-discounting",
    "fatal.growth-not-below-wacc",
    "fatal.unit-mix",
    "fatal.currency-mix",
    "terminal.discounted-once",
    "terminal.gordon-identity",
    "terminal.exit-multiple-identity",
    "discount.pv-sum",
    "discount.factor-identity",
    "discount.timing",
    "discount.stub-fraction",
    "fatal.flow-rate-mismatch",
    "wacc.is-the-rate-used",
    "bridge.signs",
    "bridge.equity-identity",
    "bridge.enterprise-value",
    "bridge.per-share",
)


@check("independent.value-per-share", consequence_of=_ROOTS)
def value_per_share(
    value_per_share: Located | None,
    equity_value: Located | None,
    enterprise_value: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The stated value follows from its flows, rate, convention and bridge, derived once more outside the workbook.

    What it holds:
        Σ F·(1 + r)^-t + TV·(1 + r)^-n, plus the bridge, over the shares, is the stated value per share (else equity
        value, else enterprise value) under one of the accepted conventions, which is named.
    Why it matters:
        It needs none of the workbook's own sums: an error in any of them shows, and its size with it.
    Accepted conventions:
        End-year, mid-year, stub; NPV and XNPV; Gordon, normalised flow, value driver, exit multiple, an average of
        methods; a scale factor or an exchange rate in the value per share.
    Example:
        The stated 34.84 equals the re-derived 23.82 if the terminal value is not discounted.
    How to fix:
        Repair the step that the explanation names.
    Units and tolerance:
        Currency per share; 1e-6, plus the rounding of ROUND formulas.
    Source:
        SR 11-7, independent replication; CFA Level II, free cash flow valuation.
    """
    target = next((one for one in (value_per_share, equity_value, enterprise_value) if _stated(one)), None)
    if target is None or target.value is None:
        yield NotApplicable(reason="no headline value is bound to a cell")
        return
    found = rebuild.parts(roles, recalc, graph)
    if isinstance(found, str):
        yield Unverifiable(reason=found)
        return
    derived = {
        "value_per_share": found.value_per_share,
        "equity_value": found.equity_value,
        "enterprise_value": found.enterprise_value,
    }[target.role]()
    names = ("value_per_share", "equity_value", "enterprise_value", "sum_pv_fcff", "pv_terminal_value")
    rounding = rounding_of(recalc, *(held.cell for role in names if (held := roles.get(role)) is not None))
    near = 2e-6 + (rounding / abs(target.value) if target.value else 0.0)
    if valuation.close(derived, target.value, near):
        yield Fits(convention=found.words)
        return
    why = rebuild.explain(found, target.value, near) if target.role == "value_per_share" else None
    if why is None:
        yield Unverifiable(
            reason=f"the re-derived value is {derived:.6g}, stated is {target.value:.6g}; no short explanation fits"
        )
        return
    message = (
        f"{target.cell} states {target.value:.6g}; re-derived it is {derived:.6g}: the stated value follows if {why}"
    )
    yield Finding(message=message, cell=target.cell, found=target.value, expected=derived, unit=_unit(target))


def _stated(located: Located | None) -> bool:
    return located is not None and located.cell is not None and located.value is not None


def _unit(target: Located) -> str:
    return "per share" if target.role == "value_per_share" else "money"
