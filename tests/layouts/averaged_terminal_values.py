"""A stub year, cases picked by OFFSET, and two terminal values averaged by a weight."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Control
C2 Halyard Instruments AG
C3 (€ in millions, except per share)
C5 Valuation date
F5 2025-09-30
C6 Fiscal year end
F6 2025-12-31
C7 Stub fraction
F7 =YEARFRAC(F5,F6,3)
C8 Operating case (1 = Base, 2 = Upside, 3 = Downside)
F8 1
C9 Weighted average cost of capital
F9 8.75%
C10 Perpetuity growth
F10 2%
C11 Exit EV / EBITDA
F11 9.5
C12 Weight on perpetuity method
F12 50%
C13 Marginal tax rate
F13 29%
C14 Spot share price
F14 23.1
C15 Fully diluted shares (m)
F15 58.3
I5 4.2%
H5 Depreciation, % of sales
I6 4.8%
H6 Capex, % of sales
I7 14%
H7 Working capital, % of the change in sales
C17 Revenue growth
F17:K17 =OFFSET(F17,$F$8,0) as %
E18 Base
F18:K18 4% | 5% | 5% | 4.5% | 4% | 3.5%
E19 Upside
F19:K19 5% | 7% | 7% | 6% | 5% | 4%
E20 Downside
F20:K20 2% | 2% | 2.5% | 2.5% | 2.5% | 2%
C22 EBITDA margin
F22:K22 =OFFSET(F22,$F$8,0) as %
E23 Base
F23:K23 18% | 18.3% | 18.6% | 18.8% | 19% | 19%
E24 Upside
F24:K24 18.5% | 19% | 19.5% | 20% | 20.5% | 20.5%
E25 Downside
F25:K25 17% | 17% | 17.2% | 17.4% | 17.5% | 17.5%
## DCF
C2 Discounted cash flow
C3 (€ in millions)
F4:K4 FY25E | FY26E | FY27E | FY28E | FY29E | FY30E
E4 FY24A
C5 Net sales
E5 912
F5:K5 =E5*(1+Control!F17)
C6 EBITDA
F6:K6 =F5*Control!F22
C7 Depreciation and amortisation
F7:K7 =-F5*Control!$I$5
C8 EBIT
F8:K8 =F6+F7
C9 Taxes
F9:K9 =-F8*Control!$F$13
C10 NOPAT
F10:K10 =F8+F9
C11 Plus: D&A
F11:K11 =-F7
C12 Less: capex
F12:K12 =-F5*Control!$I$6
C13 Less: increase in NWC
F13:K13 =-(F5-E5)*Control!$I$7
C14 Unlevered free cash flow
F14:K14 =SUM(F10:F13)
C15 Share of year included
F15 =Control!F7
G15:K15 1
C16 UFCF to discount
F16:K16 =F14*F15
C17 Discount period
F17 =F15/2
G17:K17 =$F$15+COLUMNS($G17:G17)-0.5
C18 Discount factor
F18:K18 =1/(1+Control!$F$9)^F17
C19 Present value
F19:K19 =F16*F18
C22 Sum of PV
F22 =SUM(F19:K19)
C23 Terminal value – perpetuity growth
F23 =K14*(1+Control!F10)/(Control!F9-Control!F10)
C24 PV – perpetuity growth
F24 =F23*K18
C25 Terminal value – exit multiple
F25 =K6*Control!F11
C26 PV – exit multiple
F26 =F25/(1+Control!F9)^(K17+0.5)
C27 PV of terminal value (weighted)
F27 =Control!F12*F24+(1-Control!F12)*F26
C28 Enterprise value
F28 =F22+F27
C29 Less: financial debt
F29 -284
C30 Less: lease liabilities
F30 -36
C31 Less: pension provisions
F31 -58
C32 Plus: cash
F32 121
C33 Equity value
F33 =SUM(F28:F32)
C34 Fully diluted shares (m)
F34 =Control!F15
C35 Equity value per share
F35 =F33/F34
C36 Premium / (discount) to spot
F36 =F35/Control!F14-1 as %
"""

LAYOUT = Layout(
    "averaged_terminal_values",
    TEXT,
    roles={
        "valuation_date": "Control!F5",
        "wacc": "Control!F9",
        "terminal_growth": "Control!F10",
        "exit_multiple": "Control!F11",
        "tax_rate": "Control!F13",
        "current_price": "Control!F14",
        "shares": "Control!F15",
        "sum_pv_fcff": "DCF!F22",
        "pv_terminal_value": "DCF!F27",
        "enterprise_value": "DCF!F28",
        "debt": "DCF!F29",
        "lease_liabilities": "DCF!F30",
        "pension_deficit": "DCF!F31",
        "cash": "DCF!F32",
        "equity_value": "DCF!F33",
        "value_per_share": "DCF!F35",
        "upside": "DCF!F36",
    },
    series={
        "period": "DCF!F4:K4",
        "revenue": "DCF!F5:K5",
        "ebitda": "DCF!F6:K6",
        "ebit": "DCF!F8:K8",
        "taxes": "DCF!F9:K9",
        "nopat": "DCF!F10:K10",
        "depreciation": "DCF!F11:K11",
        "capex": "DCF!F12:K12",
        "change_in_nwc": "DCF!F13:K13",
        "fcff": "DCF!F14:K14",
        "discount_period": "DCF!F17:K17",
        "discount_factor": "DCF!F18:K18",
        "pv_fcff": "DCF!F19:K19",
    },
    also={
        "fcff": ("DCF!F16:K16",),
    },
)
