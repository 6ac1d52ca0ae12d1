"""Three segments valued alike at rates of their own, then one bridge."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## SOTP
B2 Kestrel Group – sum-of-the-parts DCF
B3 USD mm, FYE December
E5:I5 2026E | 2027E | 2028E | 2029E | 2030E

B7 Water
B8 Segment NOPAT
E8:I8 84 | 88 | 92 | 95 | 98
B9 Net reinvestment (share of NOPAT)
D9 30%
E9:I9 =-E8*$D$9
B10 Segment FCF
E10:I10 =E8+E9
B11 WACC
D11 7.2%
B12 Terminal growth
D12 2%
B13 Discount factor
E13:I13 =1/(1+$D$11)^(COLUMNS($E13:E13))
B14 PV of FCF
E14:I14 =E10*E13
B15 Terminal value
D15 =I10*(1+D12)/(D11-D12)
B16 Segment enterprise value
D16 =SUM(E14:I14)+D15*I13

B19 Industrial filters
B20 Segment NOPAT
E20:I20 46 | 50 | 53 | 56 | 58
B21 Net reinvestment (share of NOPAT)
D21 25%
E21:I21 =-E20*$D$21
B22 Segment FCF
E22:I22 =E20+E21
B23 WACC
D23 9%
B24 Terminal growth
D24 2.5%
B25 Discount factor
E25:I25 =1/(1+$D$23)^(COLUMNS($E25:E25))
B26 PV of FCF
E26:I26 =E22*E25
B27 Terminal value
D27 =I22*(1+D24)/(D23-D24)
B28 Segment enterprise value
D28 =SUM(E26:I26)+D27*I25

B31 Software
B32 Segment NOPAT
E32:I32 12 | 18 | 25 | 31 | 36
B33 Net reinvestment (share of NOPAT)
D33 20%
E33:I33 =-E32*$D$33
B34 Segment FCF
E34:I34 =E32+E33
B35 WACC
D35 10.5%
B36 Terminal growth
D36 3%
B37 Discount factor
E37:I37 =1/(1+$D$35)^(COLUMNS($E37:E37))
B38 PV of FCF
E38:I38 =E34*E37
B39 Terminal value
D39 =I34*(1+D36)/(D35-D36)
B40 Segment enterprise value
D40 =SUM(E38:I38)+D39*I37

B43 Sum of segment enterprise values
D43 =D16+D28+D40
B44 Corporate costs (capitalised)
D44 -95
B45 Group enterprise value
D45 =D43+D44
B46 Net debt
D46 -410
B47 Minority interest (Industrial filters, 15% at segment EV)
G47 15%
F47 Share of minorities
D47 =-G47*D28
B48 Equity value
D48 =SUM(D45:D47)
B49 Diluted shares (mm)
D49 64.5
B50 Value per share (USD)
D50 =D48/D49
B51 Current share price
D51 31.2
B52 Upside / (downside)
D52 =D50/D51-1 as %
"""

LAYOUT = Layout(
    "sum_of_the_parts",
    TEXT,
    roles={
        "enterprise_value": "SOTP!D45",
        "net_debt": "SOTP!D46",
        "minority_interest": "SOTP!D47",
        "equity_value": "SOTP!D48",
        "shares": "SOTP!D49",
        "value_per_share": "SOTP!D50",
        "current_price": "SOTP!D51",
        "upside": "SOTP!D52",
    },
    series={},
    also={
        "enterprise_value": ("SOTP!D43",),
    },
)
