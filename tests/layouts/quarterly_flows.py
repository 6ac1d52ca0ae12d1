"""Twelve quarters discounted by the quarter, a terminal value on the flows of the last four."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## DCF
B1 Marlowe Robotics Inc – Quarterly DCF
B2 USD in millions, except per share data
B5 Annual discount rate (WACC)
E5 10.5%
B6 Long-term growth
E6 3%
B7 Tax rate
E7 24%
B8 D&A % revenue
E8 4%
B9 Capex % revenue
E9 5%
B10 NWC % of annualised revenue
E10 8%
B11 Cash
E11 64.2
B12 Debt
E12 38
B13 Diluted shares (mm)
E13 22.4
B14 Share price
E14 19.5
E17:Q17 4Q25A | 1Q26E | 2Q26E | 3Q26E | 4Q26E | 1Q27E | 2Q27E | 3Q27E | 4Q27E | 1Q28E | 2Q28E | 3Q28E | 4Q28E
B18 Revenue
E18 61.2
F18:Q18 =E18*(1+F19)
B19 QoQ growth
F19:Q19 2.4% | 2.4% | 2.2% | 2.2% | 2% | 2% | 1.8% | 1.8% | 1.5% | 1.5% | 1.2% | 1%
B20 EBIT margin
F20:Q20 14% | 14.2% | 14.4% | 14.6% | 15% | 15.2% | 15.4% | 15.6% | 15.8% | 16% | 16% | 16%
B21 EBIT
F21:Q21 =F18*F20
B22 Taxes on EBIT
F22:Q22 =-F21*$E$7
B23 NOPAT
F23:Q23 =F21+F22
B24 D&A
F24:Q24 =F18*$E$8
B25 Capex
F25:Q25 =-F18*$E$9
B26 Net working capital
E26:Q26 =E18*4*$E$10
B27 (Increase) / decrease in NWC
F27:Q27 =E26-F26
B28 Unlevered FCF
F28:Q28 =F23+F24+F25+F27
B29 Quarter #
F29:Q29 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12
B30 Discount period (years)
F30:Q30 =F29/4
B31 Discount factor
F31:Q31 =1/(1+$E$5)^F30
B32 PV of UFCF
F32:Q32 =F28*F31
B34 Sum of PV of UFCF
E34 =SUM(F32:Q32)
B35 Last four quarters UFCF
E35 =SUM(N28:Q28)
B36 Terminal value
E36 =E35*(1+E6)/(E5-E6)
B37 PV of terminal value
E37 =E36*Q31
B38 Enterprise value
E38 =E34+E37
B39 Plus: cash
E39 =E11
B40 Less: debt
E40 =-E12
B41 Equity value
E41 =SUM(E38:E40)
B42 Value per share (USD)
E42 =E41/E13
B43 Upside
E43 =E42/E14-1 as %
"""

LAYOUT = Layout(
    "quarterly_flows",
    TEXT,
    roles={
        "wacc": "DCF!E5",
        "terminal_growth": "DCF!E6",
        "tax_rate": "DCF!E7",
        "sum_pv_fcff": "DCF!E34",
        "terminal_value": "DCF!E36",
        "pv_terminal_value": "DCF!E37",
        "enterprise_value": "DCF!E38",
        "cash": "DCF!E11",
        "debt": "DCF!E12",
        "equity_value": "DCF!E41",
        "shares": "DCF!E13",
        "value_per_share": "DCF!E42",
        "current_price": "DCF!E14",
        "upside": "DCF!E43",
    },
    series={
        "period": "DCF!F17:Q17",
        "revenue": "DCF!F18:Q18",
        "revenue_growth": "DCF!F19:Q19",
        "ebit_margin": "DCF!F20:Q20",
        "ebit": "DCF!F21:Q21",
        "taxes": "DCF!F22:Q22",
        "nopat": "DCF!F23:Q23",
        "depreciation": "DCF!F24:Q24",
        "capex": "DCF!F25:Q25",
        "nwc": "DCF!F26:Q26",
        "change_in_nwc": "DCF!F27:Q27",
        "fcff": "DCF!F28:Q28",
        "discount_period": "DCF!F30:Q30",
        "discount_factor": "DCF!F31:Q31",
        "pv_fcff": "DCF!F32:Q32",
    },
    also={
        "cash": ("DCF!E39",),
        "debt": ("DCF!E40",),
    },
)
