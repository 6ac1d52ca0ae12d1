"""The lines of the clean model, and what each accepted convention changes in them."""

from __future__ import annotations

from dataclasses import dataclass

BALANCE_CHECK = "=ROUND({total_assets}-{total_liabilities_and_equity},6)"
RATE, MONEY, SHARE, PLAIN, TIMES = "0.00%", "#,##0.0", "0.00", "0", '0.0"x"'
BASE_YEAR = 2025


@dataclass
class Line:
    """One labelled line: a scalar on a sheet, or a series over the timeline."""

    key: str
    sheet: str
    label: str
    content: object
    """A number, a template, or for a series (actuals, forecast), each a list or one template."""
    form: str = MONEY
    unit: str = ""


def plain_lines(flow: str, scenarios: bool, statements: bool) -> dict[str, Line]:
    found = [*_inputs(), *_forecast(), *_valuation()]
    if scenarios:
        found += _scenarios(found)
    if statements or flow == "fcfe":
        found += _interest()
    if statements:
        found += _balance_sheet()
    return {line.key: line for line in found}


def _inputs() -> list[Line]:
    sheet = "Inputs"
    return [
        Line("base_year", sheet, "Base year (last actual year)", BASE_YEAR, PLAIN),
        Line("terminal_growth", sheet, "Terminal growth rate", 0.025, RATE),
        Line("tax_rate", sheet, "Tax rate", 0.25, RATE),
        Line("ebitda_margin", sheet, "EBITDA margin", 0.25, RATE, "of revenue"),
        Line("depreciation_share", sheet, "D&A", 0.06, RATE, "of revenue"),
        Line("capex_share", sheet, "Capex", 0.072, RATE, "of revenue"),
        Line("nwc_share", sheet, "Net working capital", 0.18, RATE, "of revenue"),
        Line("risk_free_rate", sheet, "Risk-free rate", 0.04, RATE),
        Line("unlevered_beta", sheet, "Unlevered beta", 1.02, SHARE),
        Line("equity_risk_premium", sheet, "Equity risk premium", 0.055, RATE),
        Line("pre_tax_cost_of_debt", sheet, "Pre-tax cost of debt", 0.058, RATE),
        Line("current_price", sheet, "Current share price", 36.4, SHARE, "USD"),
        Line("shares", sheet, "Diluted shares outstanding", 48.0, MONEY, "million"),
        Line("market_cap", sheet, "Market capitalisation", "={current_price}*{shares}"),
        Line("gross_debt", sheet, "Gross debt", 310.0),
        Line("debt_to_equity", sheet, "Debt / equity (market)", "={gross_debt}/{market_cap}", RATE),
        Line("beta", sheet, "Relevered beta", "={unlevered_beta}*(1+(1-{tax_rate})*{debt_to_equity})", "0.000"),
        Line("cost_of_equity", sheet, "Cost of equity", "={risk_free_rate}+{beta}*{equity_risk_premium}", RATE),
        Line("after_tax_cost_of_debt", sheet, "After-tax cost of debt", "={pre_tax_cost_of_debt}*(1-{tax_rate})", RATE),
        Line("weight_equity", sheet, "Weight of equity", "={market_cap}/({market_cap}+{gross_debt})", RATE),
        Line("weight_debt", sheet, "Weight of debt", "={gross_debt}/({market_cap}+{gross_debt})", RATE),
        Line(
            "wacc",
            sheet,
            "WACC",
            "={weight_equity}*{cost_of_equity}+{weight_debt}*{after_tax_cost_of_debt}",
            RATE,
        ),
    ]


def _forecast() -> list[Line]:
    sheet = "Forecast"
    growth = [0.10, 0.08, 0.06, 0.045, 0.03]
    return [
        Line("period", sheet, "Year", [[2024, 2025], "={period@prev}+1"], PLAIN),
        Line("revenue_growth", sheet, "Revenue growth", [["", "={revenue}/{revenue@prev}-1"], growth], RATE),
        Line("revenue", sheet, "Revenue", [[905.0, 1000.0], "={revenue@prev}*(1+{revenue_growth})"]),
        Line("ebitda", sheet, "EBITDA", [[221.0, 247.0], "={revenue}*{ebitda_margin}"]),
        Line("depreciation", sheet, "Depreciation and amortisation", [[55.0, 60.0], "={revenue}*{depreciation_share}"]),
        Line("ebit", sheet, "EBIT", "={ebitda}-{depreciation}"),
        Line("taxes", sheet, "Taxes on EBIT", ["", "={ebit}*{tax_rate}"]),
        Line("nopat", sheet, "NOPAT", ["", "={ebit}-{taxes}"]),
        Line("capex", sheet, "Capital expenditure", [[66.0, 71.0], "={revenue}*{capex_share}"]),
        Line("nwc", sheet, "Net working capital", [[162.0, 180.0], "={revenue}*{nwc_share}"]),
        Line("change_in_nwc", sheet, "Increase in net working capital", ["", "={nwc}-{nwc@prev}"]),
        Line(
            "fcff",
            sheet,
            "Free cash flow to the firm (FCFF)",
            ["", "={nopat}+{depreciation}-{capex}-{change_in_nwc}"],
        ),
        Line("discount_period", sheet, "Discount period (years)", ["", "={period}-{base_year}"], "0.0"),
        Line("discount_factor", sheet, "Discount factor", ["", "=1/(1+{wacc})^{discount_period}"], "0.0000"),
        Line("pv_fcff", sheet, "PV of FCFF", ["", "={fcff}*{discount_factor}"]),
    ]


def _valuation() -> list[Line]:
    sheet = "Valuation"
    return [
        Line("sum_pv_fcff", sheet, "Sum of PV of FCFF", "=SUM({pv_fcff[:]})"),
        Line(
            "terminal_value",
            sheet,
            "Terminal value (Gordon growth)",
            "={fcff[-1]}*(1+{terminal_growth})/({wacc}-{terminal_growth})",
        ),
        Line("pv_terminal_value", sheet, "PV of terminal value", "={terminal_value}*{discount_factor[-1]}"),
        Line("enterprise_value", sheet, "Enterprise value", "={sum_pv_fcff}+{pv_terminal_value}"),
        Line(
            "terminal_value_share",
            sheet,
            "Terminal value, share of EV",
            "={pv_terminal_value}/{enterprise_value}",
            RATE,
        ),
        Line("cash", sheet, "Cash and cash equivalents", 140.0),
        Line("debt", sheet, "Debt", "={gross_debt}"),
        Line("minority_interest", sheet, "Minority interest", 35.0),
        Line("investments", sheet, "Investments in associates", 22.0),
        Line(
            "equity_value",
            sheet,
            "Equity value",
            "={enterprise_value}+{cash}-{debt}-{minority_interest}+{investments}",
        ),
        Line("value_per_share", sheet, "Value per share", "={equity_value}/{shares}", SHARE, "USD"),
        Line("price_used", sheet, "Current share price", "={current_price}", SHARE, "USD"),
        Line("upside", sheet, "Upside", "={value_per_share}/{price_used}-1", RATE),
    ]


def use_exit_multiple(lines: dict[str, Line], timing: str) -> None:
    lines["terminal_growth"] = Line("exit_multiple", "Inputs", "Exit multiple (EV/EBITDA)", 8.5, TIMES)
    tv = lines["terminal_value"]
    tv.label, tv.content = "Terminal value (exit multiple)", "={ebitda[-1]}*{exit_multiple}"
    if timing == "mid":
        lines["pv_terminal_value"].content = "={terminal_value}/(1+{wacc})^({period[-1]}-{base_year})"


def use_net_cash(lines: dict[str, Line]) -> None:
    lines["gross_debt"].content = 60.0
    lines["cash"].content = 240.0
    lines["debt"].content = "={gross_debt}"
    lines["equity_value"].content = "={enterprise_value}-{net_debt}-{minority_interest}+{investments}"
    rebuilt = dict(lines)
    lines.clear()
    for key, line in rebuilt.items():
        lines[key] = line
        if key == "debt":
            lines["net_debt"] = Line("net_debt", "Valuation", "Net debt (negative: net cash)", "={debt}-{cash}")


def use_options(lines: dict[str, Line]) -> None:
    """Dilute by options in the money, at the market price."""
    sheet = "Inputs"
    rebuilt = dict(lines)
    lines.clear()
    for key, line in rebuilt.items():
        if key == "shares":
            lines["basic_shares"] = Line("basic_shares", sheet, "Basic shares outstanding", 46.0, MONEY, "million")
            lines["options"] = Line("options", sheet, "Options outstanding", 4.0, MONEY, "million")
            lines["strike"] = Line("strike", sheet, "Exercise price of the options", 22.0, SHARE, "USD")
            line.content = "={basic_shares}+{options}*MAX(0,1-{strike}/{current_price})"
        lines[key] = line


def _interest() -> list[Line]:
    sheet = "Forecast"
    return [
        Line("interest", sheet, "Interest expense", ["", "={gross_debt}*{pre_tax_cost_of_debt}"]),
    ]


def use_equity_flows(lines: dict[str, Line]) -> None:
    sheet = "Forecast"
    for key in ("cash", "debt", "minority_interest", "investments", "terminal_value_share"):
        del lines[key]
    del lines["enterprise_value"], lines["wacc"], lines["weight_equity"], lines["weight_debt"]
    del lines["after_tax_cost_of_debt"], lines["fcff"], lines["pv_fcff"]
    lines["terminal_growth"].content = 0.025
    lines["net_borrowing"] = Line("net_borrowing", sheet, "Net borrowing", ["", [12.0, 10.0, 9.0, 9.0, 8.0]])
    flow = "={nopat}+{depreciation}-{capex}-{change_in_nwc}-{interest}*(1-{tax_rate})+{net_borrowing}"
    lines["fcfe"] = Line("fcfe", sheet, "Free cash flow to equity (FCFE)", ["", flow])
    for key in ("discount_period", "discount_factor"):
        lines[key] = lines.pop(key)
    lines["discount_factor"].content = ["", "=1/(1+{cost_of_equity})^{discount_period}"]
    lines["pv_fcfe"] = Line("pv_fcfe", sheet, "PV of FCFE", ["", "={fcfe}*{discount_factor}"])
    lines["sum_pv_fcff"].label, lines["sum_pv_fcff"].content = "Sum of PV of FCFE", "=SUM({pv_fcfe[:]})"
    tv = "={fcfe[-1]}*(1+{terminal_growth})/({cost_of_equity}-{terminal_growth})"
    lines["terminal_value"].content = tv
    lines["equity_value"].content = "={sum_pv_fcff}+{pv_terminal_value}"


def _scenarios(lines: list[Line]) -> list[Line]:
    by_key = {line.key: line for line in lines}
    by_key["ebitda_margin"].content = "=CHOOSE({scenario_switch},{margin_base},{margin_up},{margin_down})"
    revenue = by_key["revenue"].content
    assert isinstance(revenue, list)
    revenue[1] = "={revenue@prev}*(1+{revenue_growth}+{growth_shift})"
    sheet = "Scenarios"
    return [
        Line("scenario_switch", sheet, "Scenario switch (1 base, 2 upside, 3 downside)", 1, PLAIN),
        Line("margin_base", sheet, "EBITDA margin, base case", 0.25, RATE),
        Line("margin_up", sheet, "EBITDA margin, upside case", 0.27, RATE),
        Line("margin_down", sheet, "EBITDA margin, downside case", 0.22, RATE),
        Line("growth_base", sheet, "Growth shift, base case", 0.0, RATE),
        Line("growth_up", sheet, "Growth shift, upside case", 0.01, RATE),
        Line("growth_down", sheet, "Growth shift, downside case", -0.015, RATE),
        Line(
            "growth_shift",
            sheet,
            "Growth shift, chosen case",
            "=CHOOSE({scenario_switch},{growth_base},{growth_up},{growth_down})",
            RATE,
        ),
    ]


def _balance_sheet() -> list[Line]:
    sheet = "Balance sheet"
    after_tax = "{interest}*(1-{tax_rate})"
    return [
        Line("bs_cash", sheet, "Cash", [["", 140.0], "={bs_cash@prev}+{fcff}-" + after_tax]),
        Line("bs_nwc", sheet, "Net working capital", [["", "={nwc}"], "={nwc}"]),
        Line("bs_fixed", sheet, "Fixed assets", [["", 520.0], "={bs_fixed@prev}+{capex}-{depreciation}"]),
        Line(
            "total_assets",
            sheet,
            "Total assets",
            [["", "={bs_cash}+{bs_nwc}+{bs_fixed}"], "={bs_cash}+{bs_nwc}+{bs_fixed}"],
        ),
        Line("bs_debt", sheet, "Debt", [["", "={gross_debt}"], "={gross_debt}"]),
        Line("bs_equity", sheet, "Shareholders' equity", [["", 530.0], "={bs_equity@prev}+{nopat}-" + after_tax]),
        Line(
            "total_liabilities_and_equity",
            sheet,
            "Total liabilities and equity",
            [["", "={bs_debt}+{bs_equity}"], "={bs_debt}+{bs_equity}"],
        ),
        Line(
            "balance_check",
            sheet,
            "Balance check (must be zero)",
            [["", BALANCE_CHECK], BALANCE_CHECK],
        ),
    ]
