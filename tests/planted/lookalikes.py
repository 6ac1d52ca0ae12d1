"""Right models that look like faults: no check may accuse any of them."""

from __future__ import annotations

from collections.abc import Callable

from .lines import RATE
from .model import WACC, Model, clean_model, grid_value

LOOK_ALIKES: dict[str, Callable[[], Model]] = {}


def look_alike(function: Callable[[], Model]) -> Callable[[], Model]:
    LOOK_ALIKES[function.__name__] = function
    return function


@look_alike
def plain() -> Model:
    return clean_model()


@look_alike
def mid_year() -> Model:
    return clean_model(timing="mid")


@look_alike
def mid_year_with_terminal_value_brought_back_n() -> Model:
    model = clean_model(timing="mid", grid=False)
    model.set("pv_terminal_value", "={terminal_value}/(1+{wacc})^({period[-1]}-{base_year})")
    return model


@look_alike
def exit_multiple() -> Model:
    return clean_model(terminal="multiple")


@look_alike
def exit_multiple_mid_year() -> Model:
    return clean_model(terminal="multiple", timing="mid")


@look_alike
def chinese() -> Model:
    return clean_model(language="zh")


@look_alike
def chinese_mid_year() -> Model:
    return clean_model(language="zh", timing="mid")


@look_alike
def net_cash() -> Model:
    return clean_model(net_cash=True)


@look_alike
def equity_flows_at_cost_of_equity() -> Model:
    return clean_model(flow="fcfe")


@look_alike
def years_down() -> Model:
    return clean_model(down=True)


@look_alike
def three_scenarios() -> Model:
    return clean_model(scenarios=True)


@look_alike
def diluted_by_options() -> Model:
    return clean_model(options=True)


@look_alike
def options_out_of_the_money() -> Model:
    model = clean_model(options=True)
    model.set("strike", 52.0)
    return model


@look_alike
def with_statements() -> Model:
    return clean_model(statements=True)


@look_alike
def working_capital_released() -> Model:
    """Negative increase in working capital: the share of revenue falls."""
    model = clean_model()
    model.put("Inputs!A40", "Net working capital, fall of the share per year")
    model.put("Inputs!B40", 0.02)
    model.workbook["Inputs"]["B40"].number_format = RATE
    model.set("nwc", "={revenue}*({nwc_share}-Inputs!$B$40*({period}-{base_year}))")
    return model


@look_alike
def outflows_entered_negative() -> Model:
    model = clean_model()
    model.set("capex", "=-{revenue}*{capex_share}")
    model.outflow_sign = -1
    model.set("change_in_nwc", "={nwc@prev}-{nwc}")
    model.set("fcff", "={nopat}+{depreciation}+{capex}+{change_in_nwc}")
    for key, label in (
        ("change_in_nwc", "(Increase) / decrease in net working capital"),
        ("capex", "Capital expenditure (outflow)"),
    ):
        sheet, address = model.series[key][0].split("!")
        model.put(f"{sheet}!A{address[1:]}", label)
    for cell, value in zip(model.series["capex"][:2], (-66.0, -71.0), strict=True):
        model.put(cell, value)
    return model


@look_alike
def shares_in_units_with_the_factor_in_the_formula() -> Model:
    model = clean_model(grid=False)
    model.set("shares", 48_000_000)
    model.factors["shares"] = 1.0
    sheet, address = model.cell("shares").split("!")
    model.put(f"{sheet}!C{address[1:]}", "shares")
    model.set("market_cap", "={current_price}*{shares}/1000000")
    model.set("value_per_share", "={equity_value}*1000000/{shares}")
    return model


@look_alike
def shares_in_thousands_with_the_factor_in_the_formula() -> Model:
    model = clean_model(grid=False)
    model.set("shares", 48_000)
    model.factors["shares"] = 1000.0
    sheet, address = model.cell("shares").split("!")
    model.put(f"{sheet}!C{address[1:]}", "thousand")
    model.set("market_cap", "={current_price}*{shares}/1000")
    model.set("value_per_share", "={equity_value}/{shares}*1000")
    return model


@look_alike
def negative_minority_interest() -> Model:
    model = clean_model()
    model.set("minority_interest", -9.0)
    return model


@look_alike
def shrinking_perpetuity() -> Model:
    model = clean_model()
    model.set("terminal_growth", -0.01)
    return model


@look_alike
def present_value_by_function() -> Model:
    model = clean_model()
    model.set("sum_pv_fcff", "=NPV({wacc},{fcff[:]})")
    return model


@look_alike
def factor_is_a_divisor() -> Model:
    model = clean_model()
    model.set("discount_factor", "=(1+{wacc})^{discount_period}")
    model.set("pv_fcff", "={fcff}/{discount_factor}")
    model.set("pv_terminal_value", "={terminal_value}/{discount_factor[-1]}")
    return model


@look_alike
def value_driver_terminal_value() -> Model:
    model = clean_model(grid=False)
    model.put("Inputs!A40", "Return on new invested capital (RONIC)")
    model.put("Inputs!B40", 0.18)
    model.workbook["Inputs"]["B40"].number_format = RATE
    flow = "={nopat[-1]}*(1+{terminal_growth})*(1-{terminal_growth}/Inputs!B40)/({wacc}-{terminal_growth})"
    model.set("terminal_value", flow)
    return model


@look_alike
def debt_entered_negative_and_added() -> Model:
    model = clean_model(grid=False)
    model.set("debt", "=-{gross_debt}")
    model.set("equity_value", "={enterprise_value}+{cash}+{debt}-{minority_interest}+{investments}")
    return model


@look_alike
def typed_wacc_without_a_build() -> Model:
    """The rate is an input of its own: nothing to rebuild it from."""
    model = clean_model()
    model.set("wacc", 0.0905)
    for key in (*WACC_BUILD, "market_cap", "debt_to_equity"):
        sheet, address = model.cell(key).split("!")
        for column in "ABC":
            model.workbook[sheet][f"{column}{address[1:]}"].value = None
        del model.scalars[key]
    return model


WACC_BUILD = (
    "risk_free_rate",
    "unlevered_beta",
    "equity_risk_premium",
    "pre_tax_cost_of_debt",
    "beta",
    "cost_of_equity",
    "after_tax_cost_of_debt",
    "weight_equity",
    "weight_debt",
)


@look_alike
def rates_in_percent_points() -> Model:
    model = clean_model(grid=False)
    model.set("wacc", "=({weight_equity}*{cost_of_equity}+{weight_debt}*{after_tax_cost_of_debt})*100")
    sheet, address = model.cell("wacc").split("!")
    model.workbook[sheet][address].number_format = "0.00"
    model.factors["wacc"] = 0.01
    model.put(f"{sheet}!C{address[1:]}", "%")
    model.set("discount_factor", "=1/(1+{wacc}/100)^{discount_period}")
    model.set("terminal_value", "={fcff[-1]}*(1+{terminal_growth})/({wacc}/100-{terminal_growth})")
    return model


@look_alike
def price_in_another_currency_with_a_stated_rate() -> Model:
    model = clean_model(grid=False)
    model.put("Inputs!A40", "Exchange rate, HKD per USD")
    model.put("Inputs!B40", 7.8)
    for key in ("current_price", "price_used"):
        sheet, address = model.cell(key).split("!")
        model.put(f"{sheet}!C{address[1:]}", "HKD")
    model.set("current_price", 283.92)
    model.set("market_cap", "={current_price}/$B$40*{shares}")
    model.set("upside", "={value_per_share}*Inputs!$B$40/{price_used}-1")
    return model


@look_alike
def upside_as_price_over_value() -> Model:
    model = clean_model()
    sheet, address = model.cell("upside").split("!")
    model.put(f"{sheet}!A{address[1:]}", "Price / value")
    model.set("upside", "={price_used}/{value_per_share}")
    del model.scalars["upside"]
    return model


@look_alike
def rounded_chain() -> Model:
    """ROUND in the factor row and in the value per share."""
    model = clean_model(grid=False)
    model.set("discount_factor", "=ROUND(1/(1+{wacc})^{discount_period},4)")
    model.set("value_per_share", "=ROUND({equity_value}/{shares},2)")
    return model


@look_alike
def typed_grid_of_an_exact_run() -> Model:
    """A sensitivity table pasted as values at its displayed decimals."""
    model = clean_model()
    sheet, address = model.cell("grid_corner").split("!")
    top = int(address[1:])
    for i, up in enumerate((-0.01, -0.005, 0.0, 0.005, 0.01)):
        for j, more in enumerate((-0.01, -0.005, 0.0, 0.005, 0.01)):
            cell = model.workbook[sheet].cell(top + 1 + i, 2 + j)
            cell.value = round(grid_value(WACC + up, 0.025 + more), 2)
    return model


@look_alike
def cash_flow_by_reinvestment_rate() -> Model:
    """FCFF as NOPAT times one less the reinvestment rate."""
    model = clean_model()
    model.put("Inputs!A40", "Reinvestment rate")
    model.put("Inputs!B40", 0.18)
    model.workbook["Inputs"]["B40"].number_format = RATE
    model.set("fcff", "={nopat}*(1-Inputs!$B$40)")
    for key in ("capex", "nwc", "change_in_nwc"):
        _clear(model, key)
    return model


def _clear(model: Model, key: str) -> None:
    sheet, first = model.series[key][0].split("!")
    row = int(first[1:])
    for column in "ABCDEFGH":
        model.workbook[sheet][f"{column}{row}"].value = None
    del model.series[key]
