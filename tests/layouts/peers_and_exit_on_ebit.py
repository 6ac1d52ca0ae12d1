"""Peers' betas on their own sheet, drivers as shares of sales, an exit multiple on EBIT + D&A beside a perpetuity."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Peers
A1 Listed peers
A3:E3 Company | Levered beta | D/E | Tax rate | Unlevered beta
A4:D4 Alder | 1.1 | 30% | 25%
A5:D5 Birch | 0.95 | 22% | 21%
A6:D6 Cedar | 1.2 | 45% | 28%
A7:D7 Dogwood | 1.05 | 35% | 24%
A8:D8 Elm | 1.15 | 40% | 30%
E4:E8 =B4/(1+(1-D4)*C4)
A10 Median
E10 =MEDIAN(E4:E8)
## WACC
A1 Cost of capital
A3:B3 Risk-free rate | 4%
A4:B4 Return of the market | 9.2%
A5:B5 Tax rate | 25%
A6:B6 Gearing D/(D+E) | 20%
A7 Unlevered beta (median of peers)
B7 =Peers!E10
A8 Relevered beta
B8 =B7*(1+(1-B5)*B6/(1-B6))
A9 Cost of equity
B9 =B3+B8*(B4-B3)
A10:B10 Pre-tax cost of debt | 6%
A11 WACC
B11 =(1-B6)*B9+B6*B10*(1-B5)
## Drivers
A1 Averages of the past | USD m
B3:F3 2023A | 2024A | 2025A |  | Average
A4 Sales
B4:D4 500 | 530 | 560
A5 Capex
B5:D5 30 | 31 | 33
A6 Depreciation
B6:D6 22 | 24 | 25
A7 Net working capital
B7:D7 70 | 73 | 77
A9 Capex % of sales
B9:D9 =B5/B4
F9 =AVERAGE(B9:D9)
A10 Depreciation % of sales
B10:D10 =B6/B4
F10 =AVERAGE(B10:D10)
A11 Working capital % of sales
B11:D11 =B7/B4
F11 =AVERAGE(B11:D11)
A12 EBITDA margin
B12:D12 18% | 18.5% | 19%
F12 =AVERAGE(B12:D12)
## DCF
A1 Free cash flow | USD m
D4:I4 2025 | 2026 | 2027 | 2028 | 2029 | 2030
C5 Sales
D5 =Drivers!D4
E5:I5 =D5*(1+E6)
C6 Growth
E6:I6 6% | 5.5% | 5% | 4% | 3.5%
C7 EBITDA
E7:I7 =E5*Drivers!$F$12
C8 Depreciation
E8:I8 =E5*Drivers!$F$10
C9 EBIT
E9:I9 =E7-E8
C10 Tax on EBITDA
E10:I10 =E7*WACC!$B$5
C11 Depreciation tax shield
E11:I11 =E8*WACC!$B$5
C12 Capital expenditure
E12:I12 =E5*Drivers!$F$9
C13 Net working capital
D13 =Drivers!D7
E13:I13 =E5*Drivers!$F$11
C14 Increase in net working capital
E14:I14 =E13-D13
C15 Free cash flow to the firm
E15:I15 =E7-E10+E11-E12-E14
C16 Discount factor
E16:I16 =1/(1+WACC!$B$11)^(E4-$D$4)
C17 Present value
E17:I17 =E15*E16
A20:B20 Terminal growth | 2.5%
A21:B21 Exit multiple (EV/EBITDA) | 8.5
A22 Sum of present values
B22 =SUM(E17:I17)
A23 TV - perpetuity
B23 =I15*(1+B20)/(WACC!B11-B20)
A24 TV - exit multiple
B24 =(I9+I8)*B21
A25 PV of TV - perpetuity
B25 =B23*I16
A26 PV of TV - exit multiple
B26 =B24*I16
A27 EV - perpetuity
B27 =B22+B25
A28 EV - exit multiple
B28 =B22+B26
A29 EV - average
B29 =AVERAGE(B27:B28)
A30:B30 less: Loans | -180
A31:B31 plus: Cash | 45
A32 Equity value
B32 =SUM(B29:B31)
A33:B33 Diluted shares (m) | 40
A34 Value per share
B34 =B32/B33
A35:B35 Share price | 20
A36 Premium to current
B36 =B34/B35-1 as %
"""

LAYOUT = Layout(
    "peers_and_exit_on_ebit",
    TEXT,
    roles={
        "wacc": "WACC!B11",
        "cost_of_equity": "WACC!B9",
        "beta": "WACC!B8",
        "risk_free_rate": "WACC!B3",
        "market_return": "WACC!B4",
        "weight_debt": "WACC!B6",
        "terminal_growth": "DCF!B20",
        "exit_multiple": "DCF!B21",
        "sum_pv_fcff": "DCF!B22",
        "enterprise_value": "DCF!B29",
        "debt": "DCF!B30",
        "cash": "DCF!B31",
        "equity_value": "DCF!B32",
        "shares": "DCF!B33",
        "value_per_share": "DCF!B34",
        "current_price": "DCF!B35",
        "upside": "DCF!B36",
    },
    series={
        "fcff": "DCF!E15:I15",
        "discount_factor": "DCF!E16:I16",
        "pv_fcff": "DCF!E17:I17",
        "capex": "DCF!E12:I12",
    },
)
