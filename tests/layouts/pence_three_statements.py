"""Three statements with interest on average balances, pounds in millions, a share price in pence."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Inputs
B2 Thornbury Interiors plc – model inputs (£m unless stated)
B4 Year to 31 December
E4:J4 FY25A | FY26E | FY27E | FY28E | FY29E | FY30E
B5 Revenue growth
F5:J5 4.5% | 4% | 3.5% | 3% | 2.5%
B6 Operating margin
F6:J6 11.8% | 12% | 12.1% | 12.2% | 12.2%
B7 D&A % revenue
F7:J7 3.4% | 3.4% | 3.4% | 3.4% | 3.4%
B8 Capex % revenue
F8:J8 4.2% | 4.1% | 4% | 3.9% | 3.8%
B9 Net working capital % revenue
F9:J9 12% | 12% | 12% | 12% | 12%
B10 Dividend payout ratio
F10:J10 50% | 50% | 50% | 50% | 50%
B13 Tax rate
E13 25%
B14 Interest rate on average debt
E14 6%
B15 Interest rate on average cash
E15 3%
B16 WACC
E16 8.85%
B17 Terminal growth rate
E17 2%
B18 Shares in issue (m)
E18 152.0
B19 Share price (pence)
E19 214.0
B20 Valuation date
E20 2025-12-31
## FS Model
B2 Thornbury Interiors plc – integrated financial statements (£m)
B4 Year to 31 December
E4:J4 FY25A | FY26E | FY27E | FY28E | FY29E | FY30E
B5 Income statement
B6 Revenue
E6 410.0
F6:J6 =E6*(1+Inputs!F5)
B7 Operating profit (EBIT)
E7 47.2
F7:J7 =F6*Inputs!F6
B8 Interest payable
F8:J8 =-AVERAGE(E30,F30)*Inputs!$E$14
B9 Interest receivable
F9:J9 =AVERAGE(E24,F24)*Inputs!$E$15
B10 Profit before tax
F10:J10 =SUM(F7:F9)
B11 Corporation tax
F11:J11 =-F10*Inputs!$E$13
B12 Profit after tax
F12:J12 =F10+F11
B13 Cash flow statement
B14 Depreciation and amortisation
F14:J14 =F6*Inputs!F7
B15 Change in net working capital
F15:J15 =E26-F26
B16 Capital expenditure
F16:J16 =-F6*Inputs!F8
B17 Debt repayment
F17:J17 -5.0 | -5.0 | -5.0 | -5.0 | -5.0
B18 Dividends
F18:J18 =-F12*Inputs!F10
B19 Net change in cash
F19:J19 =F12+SUM(F14:F18)
B23 Balance sheet
B24 Cash and cash equivalents
E24 31.5
F24:J24 =E24+F19
B25 Property, plant and equipment
E25 168.0
F25:J25 =E25-F16-F14
B26 Net working capital
E26 49.2
F26:J26 =F6*Inputs!F9
B27 Goodwill
E27 60.0
F27:J27 =E27
B28 Total net assets before debt
E28:J28 =SUM(E24:E27)
B30 Borrowings
E30 96.0
F30:J30 =E30+F17
B31 Shareholders' equity
E31 212.7
F31:J31 =E31+F12+F18
B32 Total debt and equity
E32:J32 =E30+E31
B33 Balance check
E33:J33 =ROUND(E28-E32,4)
## DCF
B2 Discounted cash flow (£m)
B4 Year to 31 December
F4:J4 FY26E | FY27E | FY28E | FY29E | FY30E
B5 Operating profit (EBIT)
F5:J5 ='FS Model'!F7
B6 Tax on operating profit
F6:J6 =-F5*Inputs!$E$13
B7 NOPAT
F7:J7 =F5+F6
B8 Depreciation and amortisation
F8:J8 ='FS Model'!F14
B9 Change in net working capital
F9:J9 ='FS Model'!F15
B10 Capital expenditure
F10:J10 ='FS Model'!F16
B11 Unlevered free cash flow
F11:J11 =SUM(F7:F10)
B12 Timing (years, mid-year)
F12:J12 0.5 | 1.5 | 2.5 | 3.5 | 4.5
B13 Discount factor
F13:J13 =(1+Inputs!$E$16)^-F12
B14 Present value
F14:J14 =F11*F13
B16 PV of explicit cash flows
E16 =SUM(F14:J14)
B17 Terminal value (Gordon growth)
E17 =J11*(1+Inputs!E17)/(Inputs!E16-Inputs!E17)
B18 PV of terminal value
E18 =E17/(1+Inputs!E16)^5
B19 Enterprise value
E19 =E16+E18
B20 Less: borrowings
E20 =-'FS Model'!E30
B21 Add: cash
E21 ='FS Model'!E24
B22 Equity value
E22 =SUM(E19:E21)
B23 Shares in issue (m)
E23 =Inputs!E18
B24 Value per share (pence)
E24 =E22/E23*100
B25 Share price (pence)
E25 =Inputs!E19
B26 Upside
E26 =E24/E25-1 as %
"""

LAYOUT = Layout(
    "pence_three_statements",
    TEXT,
    roles={
        "wacc": "Inputs!E16",
        "terminal_growth": "Inputs!E17",
        "tax_rate": "Inputs!E13",
        "valuation_date": "Inputs!E20",
        "sum_pv_fcff": "DCF!E16",
        "terminal_value": "DCF!E17",
        "pv_terminal_value": "DCF!E18",
        "enterprise_value": "DCF!E19",
        "debt": "DCF!E20",
        "cash": "DCF!E21",
        "equity_value": "DCF!E22",
        "shares": "DCF!E23",
        "value_per_share": "DCF!E24",
        "current_price": "DCF!E25",
        "upside": "DCF!E26",
    },
    series={
        "period": "DCF!F4:J4",
        "revenue": "FS Model!F6:J6",
        "revenue_growth": "Inputs!F5:J5",
        "ebit_margin": "Inputs!F6:J6",
        "ebit": "DCF!F5:J5",
        "taxes": "DCF!F6:J6",
        "nopat": "DCF!F7:J7",
        "depreciation": "DCF!F8:J8",
        "change_in_nwc": "DCF!F9:J9",
        "capex": "DCF!F10:J10",
        "fcff": "DCF!F11:J11",
        "nwc": "FS Model!F26:J26",
        "interest": "FS Model!F8:J8",
        "discount_period": "DCF!F12:J12",
        "discount_factor": "DCF!F13:J13",
        "pv_fcff": "DCF!F14:J14",
    },
    also={
        "debt": ("FS Model!E30",),
        "cash": ("FS Model!E24",),
        "ebit": ("FS Model!F7:J7",),
        "depreciation": ("FS Model!F14:J14",),
        "change_in_nwc": ("FS Model!F15:J15",),
        "capex": ("FS Model!F16:J16",),
    },
    iterates=True,
)
