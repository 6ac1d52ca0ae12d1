"""Rates that fall to a stable one, a chance of failure weighed in, options deducted."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Input sheet
A1 Valuation of Orrery Batteries (in millions of US$)
A3:B3 Revenues (last year) | 920
A4:B4 Operating income (last year) | 24
A5:B5 Risk-free rate | 4.25%
A6:B6 Growth rate, years 1-5 | 20%
A7:B7 Target operating margin | 12%
A8:B8 Year of convergence | 5
A9:B9 Sales to capital | 1.6
A10:B10 Tax rate | 24%
A11:B11 Initial cost of capital | 10.8%
A12:B12 Stable cost of capital | 8.5%
A13:B13 Return on capital in perpetuity | 10%
A14:B14 Probability of failure | 8%
A15:B15 Distress proceeds as % of fair value | 50%
A16:B16 Debt | 340
A17:B17 Cash | 265
A18:B18 Minority interests | 0
A19:B19 Number of shares | 118
A20:B20 Value of options outstanding | 42
A21:B21 Current stock price | 9.4
## Valuation output
B1:M1 Base year | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | Terminal year
A2 Revenue growth rate
C2:G2 ='Input sheet'!$B$6 as %
H2:L2 =G2-($G$2-'Input sheet'!$B$5)/5 as %
M2 ='Input sheet'!B5 as %
A3 Revenues
B3 ='Input sheet'!B3
C3:M3 =B3*(1+C2)
A4 EBIT margin
B4 =B5/B3 as %
C4:G4 ='Input sheet'!$B$7-('Input sheet'!$B$7-$B$4)/'Input sheet'!$B$8*('Input sheet'!$B$8-C1) as %
H4:M4 ='Input sheet'!$B$7 as %
A5 EBIT
B5 ='Input sheet'!B4
C5:M5 =C3*C4
A6 Tax rate
C6:M6 ='Input sheet'!$B$10 as %
A7 EBIT(1-t)
C7:M7 =C5*(1-C6)
A8 - Reinvestment
C8:L8 =(C3-B3)/'Input sheet'!$B$9
M8 =M2/'Input sheet'!B13*M7
A9 FCFF
C9:M9 =C7-C8
A11 Cost of capital
C11:G11 ='Input sheet'!$B$11 as %
H11:L11 =G11-($G$11-'Input sheet'!$B$12)/5 as %
M11 ='Input sheet'!B12 as %
A12 Cumulated discount factor
C12 =1/(1+C11)
D12:L12 =C12/(1+D11)
A13 PV (FCFF)
C13:L13 =C9*C12
A15 Terminal cash flow
B15 =M9
A16 Terminal cost of capital
B16 =M11 as %
A17 Terminal value
B17 =B15/(B16-M2)
A18 PV (Terminal value)
B18 =B17*L12
A19 PV (CF over next 10 years)
B19 =SUM(C13:L13)
A20 Sum of PV
B20 =B18+B19
A21 Probability of failure
B21 ='Input sheet'!B14 as %
A22 Proceeds if firm fails
B22 =B20*'Input sheet'!B15
A23 Value of operating assets
B23 =B20*(1-B21)+B22*B21
A24 - Debt
B24 ='Input sheet'!B16
A25 - Minority interests
B25 ='Input sheet'!B18
A26 + Cash
B26 ='Input sheet'!B17
A27 Value of equity
B27 =B23-B24-B25+B26
A28 - Value of options
B28 ='Input sheet'!B20
A29 Value of equity in common stock
B29 =B27-B28
A30 Number of shares
B30 ='Input sheet'!B19
A31 Estimated value / share
B31 =B29/B30
A32 Price
B32 ='Input sheet'!B21
A33 Price as % of value
B33 =B32/B31 as %
"""

LAYOUT = Layout(
    "chance_of_failure",
    TEXT,
    roles={
        "risk_free_rate": "Input sheet!B5",
        "tax_rate": "Input sheet!B10",
        "wacc": "Input sheet!B11",
        "terminal_wacc": "Input sheet!B12",
        "ronic": "Input sheet!B13",
        "debt": "Input sheet!B16",
        "cash": "Input sheet!B17",
        "minority_interest": "Input sheet!B18",
        "shares": "Input sheet!B19",
        "current_price": "Input sheet!B21",
        "terminal_growth": "Valuation output!M2",
        "terminal_value": "Valuation output!B17",
        "pv_terminal_value": "Valuation output!B18",
        "sum_pv_fcff": "Valuation output!B19",
        "enterprise_value": "Valuation output!B23",
        "equity_value": "Valuation output!B29",
        "value_per_share": "Valuation output!B31",
    },
    series={
        "revenue": "Valuation output!C3:L3",
        "revenue_growth": "Valuation output!C2:L2",
        "ebit_margin": "Valuation output!C4:L4",
        "ebit": "Valuation output!C5:L5",
        "nopat": "Valuation output!C7:L7",
        "fcff": "Valuation output!C9:L9",
        "discount_rate": "Valuation output!C11:L11",
        "discount_factor": "Valuation output!C12:L12",
        "pv_fcff": "Valuation output!C13:L13",
    },
    also={
        "debt": ("Valuation output!B24",),
        "cash": ("Valuation output!B26",),
        "enterprise_value": ("Valuation output!B20",),
        "equity_value": ("Valuation output!B27",),
        "terminal_wacc": (
            "Valuation output!M11",
            "Valuation output!B16",
        ),
        "terminal_growth": ("Input sheet!B5",),
        "wacc": ("Valuation output!C11",),
    },
)
