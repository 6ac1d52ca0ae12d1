"""Perpetuity and multiple side by side, mid-year flows, drivers picked by the name of the case, a blend with peers."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Control
A1 Control panel of Larch & Vole plc, GBP m
A3:B3 Case | Base
A4 Number of the case
B4 =MATCH(B3,B6:D6,0)
A6:E6 Driver | Base | Upside | Downside | Live
A7:D7 Growth, first two years | 7% | 9% | 3%
A8:D8 Growth after that | 4% | 5% | 2%
A9:D9 EBITDA margin | 21% | 23% | 18%
E7:E9 =INDEX(B7:D7,$B$4)
A11:B11 Tax rate | 25%
A12:B12 WACC | 9%
A13:B13 Terminal growth | 2.5%
A14:B14 Exit EV/EBITDA | 8
A15:B15 D&A % of sales | 4%
A16:B16 Capex % of sales | 5%
A17:B17 Working capital % of sales | 12%
A18:B18 Weight of the DCF | 60%
A19:B19 Share price (GBP) | 7.5
A20:B20 Peers' value per share (GBP) | 8.2
## Model
A3:G3 Mid-year discounting | 2025 | 2026 | 2027 | 2028 | 2029 | 2030
A4:B4 Sales | 400
C4:D4 =B4*(1+Control!$E$7)
E4:G4 =D4*(1+Control!$E$8)
A5 EBITDA
C5:G5 =C4*Control!$E$9
A6 D&A
C6:G6 =C4*Control!$B$15
A7 EBIT
C7:G7 =C5-C6
A8 Taxes
C8:G8 =C7*Control!$B$11
A9 Capex
C9:G9 =C4*Control!$B$16
A10 Net working capital
B10:G10 =B4*Control!$B$17
A11 Increase in net working capital
C11:G11 =C10-B10
A12 Unlevered free cash flow
C12:G12 =C7-C8+C6-C9-C11
A14:G14 Debt | 90 | 85 | 80 | 75 | 70 | 65
A15:G15 Cash | 30 | 34 | 38 | 42 | 46 | 50
## DCF
B3:F3 2026 | 2027 | 2028 | 2029 | 2030
A4 Unlevered free cash flow
B4:F4 =Model!C12
A5 Mid-year period
B5:F5 =B3-2025-0.5
A6 Discount factor
B6:F6 =1/(1+Control!$B$12)^B5
A7 Present value
B7:F7 =B4*B6
B10:C10 Perpetuity | Multiple
A11 Sum of present values
B11:C11 =SUM($B$7:$F$7)
A12 Terminal value
B12 =F4*(1+Control!B13)/(Control!B12-Control!B13)
C12 =Model!G5*Control!B14
A13 Factor of the terminal value
B13 =F6
C13 =1/(1+Control!B12)^5
A14 PV of terminal value
B14:C14 =B12*B13
A15 Enterprise value
B15:C15 =B11+B14
A16 Less: debt
B16:C16 =-Model!$B$14
A17 Plus: cash
B17:C17 =Model!$B$15
A18 Equity value
B18:C18 =SUM(B15:B17)
A19 Shares in issue, net of treasury (m)
B19:C19 =$B$32
A20 Value per share (GBP)
B20:C20 =B18/B19
A30:B30 Shares issued (m) | 52
A31:B31 Treasury shares (m) | 2
A32 Shares outstanding (m)
B32 =B30-B31
## Summary
A3 Value per share, DCF (GBP)
B3 =DCF!B20
A4 Value per share, peers (GBP)
B4 =Control!B20
A5 Blended value per share (GBP)
B5 =Control!B18*B3+(1-Control!B18)*B4
A6 Share price (GBP)
B6 =Control!B19
A7 Upside
B7 =B5/B6-1 as %
"""

LAYOUT = Layout(
    "two_columns_of_methods",
    TEXT,
    roles={
        "wacc": "Control!B12",
        "terminal_growth": "Control!B13",
        "tax_rate": "Control!B11",
        "exit_multiple": "Control!B14",
        "sum_pv_fcff": "DCF!B11",
        "terminal_value": "DCF!B12",
        "pv_terminal_value": "DCF!B14",
        "enterprise_value": "DCF!B15",
        "equity_value": "DCF!B18",
        "shares": "DCF!B32",
        "value_per_share": "Summary!B5",
        "current_price": "Control!B19",
        "upside": "Summary!B7",
    },
    series={"fcff": "DCF!B4:F4", "discount_factor": "DCF!B6:F6", "pv_fcff": "DCF!B7:F7"},
    also={"value_per_share": ("DCF!B20",), "fcff": ("Model!C12:G12",), "sum_pv_fcff": ("DCF!C11",)},
)
