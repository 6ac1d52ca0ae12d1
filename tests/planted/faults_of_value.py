"""Planted faults from the discount factors to the value per share, and the fatal ones."""

from __future__ import annotations

from .faults import FAULTS, fault
from .model import Model

__all__ = ["FAULTS"]

# discount


@fault("discount.factor-identity")
def factor_one_period_late_in_one_year(model: Model) -> str:
    return model.set("discount_factor", "=1/(1+{wacc})^({discount_period}+1)", period=2)


@fault("discount.factor-identity")
def factor_is_simple_interest(model: Model) -> str:
    return model.set("discount_factor", "=1/(1+{wacc}*{discount_period})")


@fault("discount.pv-sum")
def present_values_miss_the_last_year(model: Model) -> str:
    first, last = model.cell("pv_fcff", 0), model.cell("pv_fcff", -2).split("!")[1]
    return model.set("sum_pv_fcff", f"=SUM({first}:{last})")


@fault("discount.pv-sum")
def undiscounted_flows_summed(model: Model) -> str:
    return model.set("sum_pv_fcff", "=SUM({fcff[:]})")


@fault("discount.timing")
def present_value_function_one_period_late(model: Model) -> str:
    return model.set("sum_pv_fcff", "=NPV({wacc},{fcff[:]})/(1+{wacc})")


# terminal


@fault("terminal.gordon-identity")
def denominator_adds_growth(model: Model) -> str:
    return model.set("terminal_value", "={fcff[-1]}*(1+{terminal_growth})/({wacc}+{terminal_growth})")


@fault("terminal.gordon-identity")
def terminal_value_on_the_wrong_year(model: Model) -> str:
    return model.set("terminal_value", "={fcff[0]}*(1+{terminal_growth})/({wacc}-{terminal_growth})")


@fault("terminal.exit-multiple-identity", terminal="multiple")
def multiple_applied_to_ebit(model: Model) -> str:
    return model.set("terminal_value", "={ebit[-1]}*{exit_multiple}")


@fault("terminal.multiple-basis", terminal="multiple")
def multiple_applied_to_the_first_year(model: Model) -> str:
    return model.set("terminal_value", "={ebitda[0]}*{exit_multiple}")


@fault("terminal.discounted-once")
def terminal_value_one_period_too_many(model: Model) -> str:
    return model.set("pv_terminal_value", "={terminal_value}/(1+{wacc})^({discount_period[-1]}+1)")


@fault("terminal.discounted-once")
def terminal_value_discounted_twice(model: Model) -> str:
    return model.set("pv_terminal_value", "={terminal_value}*{discount_factor[-1]}*{discount_factor[-1]}")


@fault("terminal.growth-range")
def terminal_growth_too_high(model: Model) -> str:
    return model.set("terminal_growth", 0.065)


@fault("terminal.growth-below-risk-free")
def terminal_growth_above_risk_free(model: Model) -> str:
    return model.set("terminal_growth", 0.045)


@fault("terminal.steady-state")
def terminal_year_starved_of_capex(model: Model) -> str:
    return model.set("capex", "={revenue}*0.01", period=-1)


# bridge


@fault("bridge.enterprise-value")
def enterprise_value_without_the_terminal_value(model: Model) -> str:
    return model.set("enterprise_value", "={sum_pv_fcff}+{terminal_value}")


@fault("bridge.equity-identity")
def minority_interest_forgotten(model: Model) -> str:
    return model.set("equity_value", "={enterprise_value}+{cash}-{debt}+{investments}")


@fault("bridge.signs")
def debt_added(model: Model) -> str:
    return model.set("equity_value", "={enterprise_value}+{cash}+{debt}-{minority_interest}+{investments}")


@fault("bridge.signs")
def minority_interest_added(model: Model) -> str:
    return model.set("equity_value", "={enterprise_value}+{cash}-{debt}+{minority_interest}+{investments}")


@fault("bridge.net-debt", net_cash=True)
def net_debt_adds_cash(model: Model) -> str:
    return model.set("net_debt", "={debt}+{cash}")


@fault("bridge.source-matches-label")
def minority_interest_links_to_cash(model: Model) -> str:
    return model.set("minority_interest", "={cash}")


@fault("bridge.per-share")
def enterprise_value_per_share(model: Model) -> str:
    return model.set("value_per_share", "={enterprise_value}/{shares}")


@fault("bridge.upside")
def upside_the_wrong_way_round(model: Model) -> str:
    return model.set("upside", "={price_used}/{value_per_share}-1")


@fault("bridge.completeness", statements=True)
def debt_of_the_balance_sheet_forgotten(model: Model) -> str:
    return model.set("equity_value", "={enterprise_value}+{cash}-{minority_interest}+{investments}")


@fault("bridge.no-double-count", net_cash=True)
def cash_counted_beside_net_debt(model: Model) -> str:
    return model.set("equity_value", "={enterprise_value}-{net_debt}+{cash}-{minority_interest}+{investments}")


@fault("bridge.diluted-shares", options=True)
def options_out_of_the_money_reduce_the_count(model: Model) -> str:
    model.set("strike", 52.0)
    return model.set("shares", "={basic_shares}+{options}*(1-{strike}/{current_price})")


# statements


@fault("statements.cash-ties", statements=True)
def balance_sheet_cash_ignores_the_flow(model: Model) -> str:
    return model.set("bs_cash", "={bs_cash@prev}*1.05", period=1)


@fault("statements.balance-sheet", statements=True)
def balance_sheet_out_of_balance(model: Model) -> str:
    model.set("bs_equity", "={bs_equity@prev}+{nopat}", period=2)
    return model.cell("total_assets", 2)


# metric


@fault("metric.terminal-value-share")
def nearly_everything_is_terminal_value(model: Model) -> str:
    model.set("terminal_growth", 0.0815)
    return model.cell("pv_terminal_value")


@fault("metric.implied-ev-ebitda")
def enterprise_value_out_of_proportion(model: Model) -> str:
    model.set("terminal_growth", 0.0815)
    return model.cell("enterprise_value")


# sensitivity


@fault("sensitivity.grid-recomputed")
def one_grid_cell_overtyped(model: Model) -> str:
    sheet, address = model.cell("grid_centre").split("!")
    return model.put(f"{sheet}!{address[0]}{int(address[1:]) + 1}", 51.3)


@fault("sensitivity.even-steps")
def grid_axis_with_an_uneven_step(model: Model) -> str:
    sheet, address = model.cell("grid_corner").split("!")
    return model.put(f"{sheet}!C{address[1:]}", "={terminal_growth}-0.008")


@fault("sensitivity.centre-is-base")
def grid_prices_another_growth_at_its_centre(model: Model) -> str:
    where = model.cell("grid_centre")
    sheet, address = where.split("!")
    old = model.workbook[sheet][address].value
    return model.put(where, f"{old}*1.1")


@fault("sensitivity.no-invalid-cells")
def grid_prices_growth_above_the_rate(model: Model) -> str:
    sheet, address = model.cell("grid_corner").split("!")
    row = int(address[1:])
    model.put(f"{sheet}!F{row}", "={terminal_growth}+0.075")
    return f"{sheet}!F{row + 1}"


# scenario


@fault("scenario.probabilities-sum-to-one", scenarios=True)
def probabilities_of_more_than_one(model: Model) -> str:
    return model.set("chance_down", 0.4)


@fault("scenario.weighted-value", scenarios=True)
def weighted_value_leaves_the_downside_out(model: Model) -> str:
    return model.set("weighted_value", "={chance_base}*{case_value_base}+{chance_up}*{case_value_up}")


@fault("scenario.ordering", scenarios=True)
def upside_worth_less_than_base(model: Model) -> str:
    return model.set("case_value_up", 38.4)


@fault("scenario.base-is-the-model", scenarios=True)
def base_case_of_an_older_run(model: Model) -> str:
    return model.set("case_value_base", 44.9)


@fault("scenario.switch-works", scenarios=True)
def switch_moves_nothing(model: Model) -> str:
    model.set("growth_shift", "={growth_base}")
    model.set("ebitda_margin", "={margin_base}")
    return model.cell("scenario_switch")


# response


@fault("response.wacc-up-value-down")
def value_does_not_read_the_rate(model: Model) -> str:
    model.set("discount_factor", "=1/(1+0.095)^{discount_period}")
    model.set("terminal_value", "={fcff[-1]}*(1+{terminal_growth})/(0.095-{terminal_growth})")
    return model.cell("wacc")


@fault("response.no-dead-assumptions")
def capex_share_feeds_nothing(model: Model) -> str:
    model.set("capex", "={revenue}*0.072")
    return model.cell("capex_share")


@fault("response.debt-up-equity-down")
def debt_typed_into_the_bridge(model: Model) -> str:
    return model.set("equity_value", "={enterprise_value}+{cash}-310-{minority_interest}+{investments}")


@fault("response.shares-double-value-halves")
def share_count_typed_into_the_formula(model: Model) -> str:
    return model.set("value_per_share", "={equity_value}/48")


@fault("response.growth-up-value-up")
def terminal_growth_typed_into_the_formula(model: Model) -> str:
    return model.set("terminal_value", "={fcff[-1]}*(1+0.025)/({wacc}-0.025)")


# independent


@fault("independent.value-per-share")
def terminal_value_not_discounted_at_all(model: Model) -> str:
    model.set("pv_terminal_value", "={terminal_value}")
    return model.cell("value_per_share")


# fatal


@fault("fatal.growth-not-below-wacc")
def growth_above_the_rate(model: Model) -> str:
    return model.set("terminal_growth", 0.12)


@fault("fatal.growth-not-below-wacc", flow="fcfe")
def growth_above_the_cost_of_equity(model: Model) -> str:
    return model.set("terminal_growth", 0.13)


@fault("fatal.not-recomputable")
def every_headline_value_typed(model: Model) -> str:
    for key, value in (("enterprise_value", 2090.0), ("equity_value", 1907.0), ("sum_pv_fcff", 620.0)):
        model.set(key, value)
    model.set("pv_terminal_value", 1470.0)
    return model.set("value_per_share", 39.73)


@fault("fatal.share-count")
def no_shares(model: Model) -> str:
    model.set("market_cap", 1747.2)
    return model.set("shares", 0)


@fault("fatal.share-count")
def negative_shares(model: Model) -> str:
    model.set("market_cap", 1747.2)
    return model.set("shares", -48.0)


@fault("fatal.double-discounting")
def terminal_value_on_a_discounted_flow(model: Model) -> str:
    return model.set("terminal_value", "={pv_fcff[-1]}*(1+{terminal_growth})/({wacc}-{terminal_growth})")


@fault("fatal.terminal-not-discounted")
def undiscounted_terminal_value_in_enterprise_value(model: Model) -> str:
    model.set("enterprise_value", "={sum_pv_fcff}+{terminal_value}")
    return model.cell("enterprise_value")


@fault("fatal.unit-mix")
def shares_in_thousands_against_millions(model: Model) -> str:
    model.set("market_cap", 1747.2)
    sheet, address = model.cell("shares").split("!")
    model.put(f"{sheet}!C{address[1:]}", "million")
    return model.set("shares", 48000.0)


@fault("fatal.flow-rate-mismatch", flow="fcfe")
def equity_flow_at_the_wacc(model: Model) -> str:
    model.put("Inputs!A40", "WACC")
    model.scalars["wacc"] = "Inputs!B40"
    model.put("Inputs!B40", "={cost_of_equity}*0.85+{pre_tax_cost_of_debt}*(1-{tax_rate})*0.15")
    model.set("terminal_value", "={fcfe[-1]}*(1+{terminal_growth})/(Inputs!B40-{terminal_growth})")
    return model.set("discount_factor", "=1/(1+Inputs!$B$40)^{discount_period}")


@fault("fatal.currency-mix")
def price_in_another_currency_without_conversion(model: Model) -> str:
    for key in ("current_price", "price_used"):
        sheet, address = model.cell(key).split("!")
        model.put(f"{sheet}!C{address[1:]}", "HKD")
    return model.cell("upside")
