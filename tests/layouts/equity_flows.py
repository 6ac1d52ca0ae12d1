"""Flows to equity at the cost of equity, with the WACC as a memo nobody reads."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## FCFE Valuation
B2 Adria Tollway Concessions d.d. – Free cash flow to equity
B3 EUR million; year ending 31 December; valuation at 31 December 2025
B4 Year
D4:J4 2025 | 2026 | 2027 | 2028 | 2029 | 2030 | 2031
D5:J5 Actual | Forecast | Forecast | Forecast | Forecast | Forecast | Forecast
B6 Toll revenue
D6 212.0
E6:J6 =D6*(1+E7)
B7 Revenue growth
E7:J7 4.5% | 4% | 3.7% | 3.3% | 2.8% | 2.4%
B8 EBITDA margin
E8:J8 64% | 64.2% | 64.5% | 64.5% | 64.5% | 64.5%
B9 EBITDA
E9:J9 =E6*E8
B10 D&A (% of revenue)
E10:J10 19% | 18.8% | 18.6% | 18.5% | 18.4% | 18.3%
B11 Depreciation and amortisation
E11:J11 =E6*E10
B12 EBIT
E12:J12 =E9-E11
B13 Interest expense
E13:J13 =D26*'Capital Cost'!$D$8
B14 Profit before tax
E14:J14 =E12-E13
B15 Income tax
E15:J15 =E14*'Capital Cost'!$D$9
B16 Net income
E16:J16 =E14-E15
B17 Add: depreciation and amortisation
E17:J17 =E11
B18 Capital expenditure (% of revenue)
E18:J18 22% | 21.5% | 21% | 20.5% | 20% | 19.5%
B19 Less: capital expenditure
E19:J19 =E6*E18
B20:D20 Working capital | -4% | -8.5
E20:J20 =E6*$C$20
B21 Less: increase in working capital
E21:J21 =E20-D20
B22 Add: net borrowing
E22:J22 =E26-D26
B23 Free cash flow to equity (FCFE)
E23:J23 =E16+E17-E19-E21+E22
B25 Net debt / EBITDA target
E25:J25 2.6 | 2.6 | 2.6 | 2.6 | 2.6 | 2.6
B26 Gross debt (year end)
D26 348.0
E26:J26 =E25*E9
B28 Period (t)
E28:J28 1 | 2 | 3 | 4 | 5 | 6
B29 Discount factor at cost of equity
E29:J29 =1/(1+'Capital Cost'!$D$7)^E28
B30 PV of FCFE
E30:J30 =E23*E29
B32 Cost of equity
D32 ='Capital Cost'!D7 as %
B33 Long-term growth
D33 1.8%
B34 Sum of PV of FCFE
D34 =SUM(E30:J30)
B35 Terminal value of equity
D35 =J23*(1+D33)/(D32-D33)
B36 PV of terminal value
D36 =D35*J29
B37 Operating equity value
D37 =D34+D36
B38 Excess cash
D38 21.4
B39 Equity value
D39 =D37+D38
B40 Shares outstanding (m)
D40 40.0
B41 Equity value per share (EUR)
D41 =D39/D40
B42 Share price (EUR)
D42 27.2
B43 Upside
D43 =D41/D42-1 as %
## Capital Cost
B2 Cost of capital – Adria Tollway Concessions d.d.
B4 Risk free (10y Bund + country)
D4 3.4%
B5 Levered beta
D5 0.92
B6 Equity risk premium
D6 5.5%
B7 Cost of equity
D7 =D4+D5*D6 as %
B8 Pre-tax cost of debt
D8 4.9%
B9 Corporate tax rate
D9 18%
B10 Debt / (Debt + Equity)
D10 45%
B11 Memo: WACC (not used, flows are to equity)
D11 =(1-D10)*D7+D10*D8*(1-D9) as %
"""

LAYOUT = Layout(
    "equity_flows",
    TEXT,
    roles={
        "cost_of_equity": "Capital Cost!D7",
        "risk_free_rate": "Capital Cost!D4",
        "beta": "Capital Cost!D5",
        "equity_risk_premium": "Capital Cost!D6",
        "pre_tax_cost_of_debt": "Capital Cost!D8",
        "tax_rate": "Capital Cost!D9",
        "terminal_growth": "FCFE Valuation!D33",
        "sum_pv_fcff": "FCFE Valuation!D34",
        "terminal_value": "FCFE Valuation!D35",
        "pv_terminal_value": "FCFE Valuation!D36",
        "cash": "FCFE Valuation!D38",
        "equity_value": "FCFE Valuation!D39",
        "shares": "FCFE Valuation!D40",
        "value_per_share": "FCFE Valuation!D41",
        "current_price": "FCFE Valuation!D42",
        "upside": "FCFE Valuation!D43",
        "weight_debt": "Capital Cost!D10",
        "wacc": "Capital Cost!D11",
    },
    series={
        "period": "FCFE Valuation!E4:J4",
        "revenue": "FCFE Valuation!E6:J6",
        "revenue_growth": "FCFE Valuation!E7:J7",
        "ebitda": "FCFE Valuation!E9:J9",
        "ebit": "FCFE Valuation!E12:J12",
        "interest": "FCFE Valuation!E13:J13",
        "taxes": "FCFE Valuation!E15:J15",
        "depreciation": "FCFE Valuation!E17:J17",
        "capex": "FCFE Valuation!E19:J19",
        "nwc": "FCFE Valuation!E20:J20",
        "change_in_nwc": "FCFE Valuation!E21:J21",
        "fcfe": "FCFE Valuation!E23:J23",
        "discount_period": "FCFE Valuation!E28:J28",
        "discount_factor": "FCFE Valuation!E29:J29",
    },
    also={
        "wacc": ("Capital Cost!D7",),
        "equity_value": ("FCFE Valuation!D37",),
        "depreciation": ("FCFE Valuation!E11:J11",),
    },
)
