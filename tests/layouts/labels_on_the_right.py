"""Numbers first, labels right of them, and formulas that read defined names."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Intrinsic Value
A1 The Patient Compounder – free DCF spreadsheet (v3)
A2 Figures in $ millions. Change the blue cells only.
B4 31.5
C4 Price today
B5 8.6%
C5 Required return
B6 2.5%
C6 Long run growth
B7 21%
C7 Cash tax rate
B8 140
C8 Cash and short-term investments
B9 215
C9 Borrowings
B10 48
C10 Shares (millions, diluted)
B34 3%
C34 Depreciation, % of sales
B35 4.5%
C35 Capital spending, % of sales
B36 9%
C36 Working capital, % of the change in sales
B12:G12 2025 | 2026 | 2027 | 2028 | 2029 | 2030
B13 640
C13:G13 =B13*(1+C14)
H13 Sales
C14:G14 9% | 8% | 7% | 6% | 5%
H14 Sales growth
C15:G15 17% | 17.5% | 18% | 18% | 18%
H15 Operating margin
C16:G16 =C13*C15
H16 Operating income
C17:G17 =C16*(1-TaxRate)
H17 After-tax operating income
C18:G18 =C13*$B$34
H18 Depreciation
C19:G19 =C13*$B$35
H19 Capital spending
C20:G20 =(C13-B13)*$B$36
H20 Investment in working capital
C21:G21 =C17+C18-C19-C20
H21 Free cash flow
C22:G22 =C21/(1+RequiredReturn)^(C12-$B$12)
H22 Discounted free cash flow
B25 =SUM(C22:G22)
C25 Value of the next five years
B26 =G21*(1+LongRunGrowth)/(RequiredReturn-LongRunGrowth)
C26 Value at the horizon
B27 =B26/(1+RequiredReturn)^5
C27 Value at the horizon, in today's money
B28 =B25+B27
C28 Value of the business
B29 =B28+Cash-Debt
C29 Value of the equity
B30 =B29/Shares
C30 Intrinsic value per share
B31 =B30/Price-1 as %
C31 Margin over price
@name RequiredReturn 'Intrinsic Value'!$B$5
@name WACC 'Intrinsic Value'!$B$5
@name LongRunGrowth 'Intrinsic Value'!$B$6
@name TaxRate 'Intrinsic Value'!$B$7
@name Cash 'Intrinsic Value'!$B$8
@name Debt 'Intrinsic Value'!$B$9
@name Shares 'Intrinsic Value'!$B$10
@name Price 'Intrinsic Value'!$B$4
"""

LAYOUT = Layout(
    "labels_on_the_right",
    TEXT,
    roles={
        "current_price": "Intrinsic Value!B4",
        "wacc": "Intrinsic Value!B5",
        "terminal_growth": "Intrinsic Value!B6",
        "tax_rate": "Intrinsic Value!B7",
        "cash": "Intrinsic Value!B8",
        "debt": "Intrinsic Value!B9",
        "shares": "Intrinsic Value!B10",
        "sum_pv_fcff": "Intrinsic Value!B25",
        "terminal_value": "Intrinsic Value!B26",
        "pv_terminal_value": "Intrinsic Value!B27",
        "enterprise_value": "Intrinsic Value!B28",
        "equity_value": "Intrinsic Value!B29",
        "value_per_share": "Intrinsic Value!B30",
        "upside": "Intrinsic Value!B31",
    },
    series={
        "period": "Intrinsic Value!C12:G12",
        "revenue": "Intrinsic Value!C13:G13",
        "revenue_growth": "Intrinsic Value!C14:G14",
        "ebit_margin": "Intrinsic Value!C15:G15",
        "ebit": "Intrinsic Value!C16:G16",
        "nopat": "Intrinsic Value!C17:G17",
        "depreciation": "Intrinsic Value!C18:G18",
        "capex": "Intrinsic Value!C19:G19",
        "change_in_nwc": "Intrinsic Value!C20:G20",
        "fcff": "Intrinsic Value!C21:G21",
        "pv_fcff": "Intrinsic Value!C22:G22",
    },
)
