"""One planted fault per check: each takes a clean model, breaks one thing, and says which cell must be accused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .model import Model, clean_model


@dataclass(frozen=True)
class Fault:
    """A fault that one check must find, the root finding at `cell`."""

    check_id: str
    name: str
    plant: Callable[[Model], str]
    """Breaks the model and returns the address to accuse."""
    variant: dict[str, object]
    """Arguments of `clean_model` for the workbook it is planted in."""


FAULTS: list[Fault] = []


def fault(check_id: str, **variant: object) -> Callable[[Callable[[Model], str]], Callable[[Model], str]]:
    def declare(function: Callable[[Model], str]) -> Callable[[Model], str]:
        FAULTS.append(Fault(check_id, function.__name__, function, variant))
        return function

    return declare


def plant(name: str, **variant: object) -> tuple[Model, str]:
    """Return the model with the fault of that name in it and the address to accuse; variants override its own."""
    chosen = next(item for item in FAULTS if item.name == name)
    model = clean_model(**{**chosen.variant, **variant})  # type: ignore[arg-type]
    return model, chosen.plant(model)


# recompute


@fault("recompute.no-error-values")
def division_by_an_empty_cell(model: Model) -> str:
    model.put("Inputs!B40", None)
    return model.set("terminal_value", "={fcff[-1]}*(1+{terminal_growth})/Inputs!B40")


@fault("recompute.outputs-are-live")
def value_per_share_typed(model: Model) -> str:
    return model.set("value_per_share", 33.1)


@fault("recompute.outputs-are-live")
def enterprise_value_typed(model: Model) -> str:
    return model.set("enterprise_value", 2090.0)


@fault("recompute.no-blank-outputs")
def value_per_share_blank(model: Model) -> str:
    return model.set("value_per_share", None)


@fault("recompute.no-hardcoded-forecast")
def revenue_plugged_in_one_year(model: Model) -> str:
    return model.set("revenue", 1300.0, period=2)


@fault("recompute.no-hardcoded-forecast")
def literal_inside_a_formula(model: Model) -> str:
    return model.set("ebitda", "={revenue}*{ebitda_margin}+37", period=3)


@fault("recompute.row-consistency")
def one_year_reads_the_wrong_row(model: Model) -> str:
    return model.set("taxes", "={ebitda}*{tax_rate}", period=2)


@fault("recompute.range-coverage")
def sum_stops_one_year_short(model: Model) -> str:
    first, last = model.cell("pv_fcff", 0), model.cell("pv_fcff", -2).split("!")[1]
    return model.set("sum_pv_fcff", f"=SUM({first}:{last})")


@fault("recompute.no-text-numbers")
def growth_entered_as_text(model: Model) -> str:
    return model.set("revenue_growth", "6.0%", period=2)


@fault("recompute.no-formula-as-text")
def formula_stored_as_text(model: Model) -> str:
    where = model.set("nopat", "={ebit}-{taxes}", period=1)
    sheet, address = where.split("!")
    model.workbook[sheet][address].data_type = "s"
    return where


@fault("recompute.no-masked-errors")
def broken_reference_behind_iferror(model: Model) -> str:
    return model.set("minority_interest", "=IFERROR(#REF!*1,0)")


@fault("recompute.check-cells", statements=True)
def failing_check_cell_ignored(model: Model) -> str:
    model.set("bs_fixed", "={bs_fixed@prev}+{capex}", period=1)
    return model.cell("balance_check", 1)


@fault("recompute.circularity")
def market_value_of_equity_is_the_result(model: Model) -> str:
    return model.set("market_cap", "={value_per_share}*{shares}")


@fault("recompute.no-volatile-drivers")
def base_year_moves_with_the_clock(model: Model) -> str:
    return model.set("base_year", "=YEAR(TODAY())-1")


@fault("recompute.no-hidden-drivers")
def tax_rate_on_a_hidden_sheet(model: Model) -> str:
    sheet = model.workbook.create_sheet("Park")
    sheet.sheet_state = "hidden"
    sheet["A1"], sheet["B1"] = "Tax surcharge", 0.03
    model.set("taxes", "={ebit}*({tax_rate}+Park!$B$1)")
    return "Park!B1"


# basis


@fault("basis.percent-scale")
def terminal_growth_in_points_read_as_a_rate(model: Model) -> str:
    return model.set("terminal_growth", 2.5)


@fault("basis.period-alignment")
def growth_of_the_year_before(model: Model) -> str:
    return model.set("revenue", "={revenue@prev}*(1+{revenue_growth@prev})", period=3)


# wacc


@fault("wacc.identity")
def wacc_without_the_debt_leg_weight(model: Model) -> str:
    return model.set("wacc", "={weight_equity}*{cost_of_equity}+{weight_equity}*{after_tax_cost_of_debt}")


@fault("wacc.capm")
def capm_without_the_risk_free_rate(model: Model) -> str:
    return model.set("cost_of_equity", "={beta}*{equity_risk_premium}")


@fault("wacc.weights-sum-to-one")
def weights_sum_to_more(model: Model) -> str:
    return model.set("weight_debt", 0.25)


@fault("wacc.debt-weight")
def debt_to_equity_used_as_weight(model: Model) -> str:
    model.set("weight_equity", "=1-{weight_debt}")
    return model.set("weight_debt", "={debt_to_equity}")


@fault("wacc.after-tax-debt")
def no_tax_shield(model: Model) -> str:
    return model.set("after_tax_cost_of_debt", "={pre_tax_cost_of_debt}")


@fault("wacc.debt-cheaper-than-equity")
def debt_dearer_than_equity(model: Model) -> str:
    return model.set("pre_tax_cost_of_debt", 0.19)


@fault("wacc.relevered-beta")
def relevering_turned_round(model: Model) -> str:
    return model.set("beta", "={unlevered_beta}/(1+(1-{tax_rate})*{debt_to_equity})")


@fault("wacc.relevered-beta")
def capm_reads_the_unlevered_beta(model: Model) -> str:
    return model.set("cost_of_equity", "={risk_free_rate}+{unlevered_beta}*{equity_risk_premium}")


@fault("wacc.tax-consistent")
def another_tax_rate_in_the_debt_leg(model: Model) -> str:
    return model.set("after_tax_cost_of_debt", "={pre_tax_cost_of_debt}*(1-0.35)")


@fault("wacc.range")
def wacc_far_out_of_range(model: Model) -> str:
    model.set("risk_free_rate", 0.14)
    return model.cell("wacc")


@fault("wacc.is-the-rate-used")
def factors_use_a_typed_rate(model: Model) -> str:
    return model.set("discount_factor", "=1/(1+0.085)^{discount_period}")


# flow


@fault("flow.nopat")
def nopat_before_tax(model: Model) -> str:
    return model.set("nopat", "={ebit}")


@fault("flow.fcff-identity")
def capex_added(model: Model) -> str:
    return model.set("fcff", "={nopat}+{depreciation}+{capex}-{change_in_nwc}")


@fault("flow.fcff-identity")
def depreciation_left_out(model: Model) -> str:
    return model.set("fcff", "={nopat}-{capex}-{change_in_nwc}")


@fault("flow.ebit-definition")
def ebit_is_ebitda(model: Model) -> str:
    return model.set("ebit", "={ebitda}")


@fault("flow.tax-on-ebit")
def tax_on_ebitda(model: Model) -> str:
    return model.set("taxes", "={ebitda}*{tax_rate}")


@fault("flow.nwc-is-a-change")
def working_capital_level_subtracted(model: Model) -> str:
    return model.set("change_in_nwc", "={nwc}")


@fault("flow.nwc-sign")
def working_capital_change_turned_round(model: Model) -> str:
    return model.set("change_in_nwc", "={nwc@prev}-{nwc}")


@fault("flow.no-financing-flows", statements=True)
def interest_inside_the_firm_flow(model: Model) -> str:
    return model.set("fcff", "={nopat}+{depreciation}-{capex}-{change_in_nwc}-{interest}")


@fault("flow.sign-convention")
def capex_entered_negative_in_one_year(model: Model) -> str:
    return model.set("capex", "=-{revenue}*{capex_share}", period=2)


@fault("flow.row-is-what-it-says")
def capex_links_to_working_capital(model: Model) -> str:
    return model.set("capex", "={nwc}")
