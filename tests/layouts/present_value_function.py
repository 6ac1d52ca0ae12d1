"""One sheet: NPV() over a row whose last flow includes the terminal value, no factors."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Sheet1
A1 FIN 4210 – Final Project: Brightwater Snack Co (BWSN) DCF
A2 ($ in thousands, except per share)
A4 INPUTS
D4 Sales growth
F4 5%
A5:B5 Risk free | 4.3%
D5 COGS % of sales
F5 62%
A6:B6 Beta | 0.85
D6 SG&A % of sales
F6 21%
A7:B7 Market risk premium | 5.5%
D7 Depreciation % sales
F7 3.5%
A8 Cost of equity
B8 =B5+B6*B7 as %
D8 CapEx % sales
F8 4.2%
A9:B9 Cost of debt (pre tax) | 6.2%
D9 NWC % sales
F9 11%
A10:B10 Tax rate | 25%
A11 Market cap
B11 =B17*B18
A12:B12 Total debt | 84200
A13 % Equity
B13 =B11/(B11+B12) as %
A14 % Debt
B14 =B12/(B11+B12) as %
A15 WACC
B15 =B13*B8+B14*B9*(1-B10) as %
A16:B16 LT growth | 2.5%
A17:B17 Shares outstanding (000s) | 21500
A18:B18 Stock price | 17.4
A19:B19 Cash | 12650
B22 2025
C22:G22 =B22+1
A23:B23 Sales | 305000
C23:G23 =B23*(1+$F$4)
A24 COGS
B24:G24 =-B23*$F$5
A25 SG&A
B25:G25 =-B23*$F$6
A26 Depreciation
B26:G26 =-B23*$F$7
A27 EBIT
B27:G27 =SUM(B23:B26)
A28 Less taxes
B28:G28 =-B27*$B$10
A29 NOPAT
B29:G29 =B27+B28
A30 Add back depreciation
B30:G30 =-B26
A31 CapEx
B31:G31 =-B23*$F$8
A32 NWC
B32:G32 =B23*$F$9
A33:B33 Change in NWC | -1500
C33:G33 =-(C32-B32)
A34 Free cash flow
B34:G34 =B29+B30+B31+B33
A35 Terminal value
G35 =G34*(1+B16)/(B15-B16)
A36 Total cash flow
C36:G36 =C34+C35
A38 Enterprise value
B38 =NPV(B15,C36:G36)
A39 Less: Net debt
B39 =B12-B19
A40 Equity value
B40 =B38-B39
A41 Value per share
B41 =B40/B17
A42 Upside
B42 =B41/B18-1 as %
A43 Recommendation
B43 =IF(B42>0,"Buy","Sell")
"""

LAYOUT = Layout(
    "present_value_function",
    TEXT,
    roles={
        "wacc": "Sheet1!B15",
        "cost_of_equity": "Sheet1!B8",
        "risk_free_rate": "Sheet1!B5",
        "beta": "Sheet1!B6",
        "equity_risk_premium": "Sheet1!B7",
        "pre_tax_cost_of_debt": "Sheet1!B9",
        "tax_rate": "Sheet1!B10",
        "weight_equity": "Sheet1!B13",
        "weight_debt": "Sheet1!B14",
        "market_cap": "Sheet1!B11",
        "terminal_growth": "Sheet1!B16",
        "terminal_value": "Sheet1!G35",
        "enterprise_value": "Sheet1!B38",
        "net_debt": "Sheet1!B39",
        "debt": "Sheet1!B12",
        "cash": "Sheet1!B19",
        "equity_value": "Sheet1!B40",
        "shares": "Sheet1!B17",
        "value_per_share": "Sheet1!B41",
        "current_price": "Sheet1!B18",
        "upside": "Sheet1!B42",
    },
    series={
        "period": "Sheet1!C22:G22",
        "revenue": "Sheet1!C23:G23",
        "ebit": "Sheet1!C27:G27",
        "taxes": "Sheet1!C28:G28",
        "nopat": "Sheet1!C29:G29",
        "depreciation": "Sheet1!C30:G30",
        "capex": "Sheet1!C31:G31",
        "nwc": "Sheet1!C32:G32",
        "change_in_nwc": "Sheet1!C33:G33",
        "fcff": "Sheet1!C34:G34",
    },
    also={"depreciation": ("Sheet1!C26:G26",)},
)
