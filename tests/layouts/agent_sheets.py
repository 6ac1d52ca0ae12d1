"""Written by an agent through a library: emoji headings, numbered sheets, a notes column, a live sensitivity table."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## 📊 Summary
A1 📊 Halvorsen Grid Software Inc. – DCF Valuation Summary
A3:C3 Metric | Value | Comment
A4 💰 Intrinsic Value per Share (USD)
B4:B6 ='5. DCF'!C22
A5 📉 Current Share Price (USD)
A6 🚀 Upside / (Downside)
A7 🏢 Enterprise Value (USD mm)
B7 ='5. DCF'!C15
A8 🏦 Equity Value (USD mm)
B8 ='5. DCF'!C20
A9 WACC
B9 ='5. DCF'!C10
A10 Terminal Growth
B10 ='5. DCF'!C11
A11 Recommendation
B11 =IF(B6>0.15,"BUY",IF(B6>-0.1,"HOLD","SELL"))
A12 ✅ Model check: EV = PV(FCF) + PV(TV)
B12 =IF(ABS('5. DCF'!C15-'5. DCF'!C12-'5. DCF'!C14)<0.01,"OK","ERROR")
## 1. Assumptions
A1 ⚙️ Key Assumptions – Halvorsen Grid Software Inc. (USD in millions unless noted)
A3:D3 Parameter | Value | Unit | Source / Notes
A4:B4 Company Name | Halvorsen Grid Software Inc.
A5:D5 Valuation Date | 2025-12-31 | date | Fiscal year end
A6:D6 Tax Rate | 23% | % | Blended statutory
A7:D7 Perpetual Growth Rate (g) | 2.5% | % | In line with long-run inflation
A8:D8 Current Share Price | 36.2 | USD | Close 31-Dec-2025
A9:D9 Basic Shares Outstanding (mm) | 118 | mm | 10-K cover
A10 Dilutive Securities (mm, TSM)
B10 =4.5*MAX(0,1-24/B8)
C10:D10 mm | 4.5mm options at $24 average strike
A11 Diluted Shares Outstanding (mm)
B11 =B9+B10
C11 mm
A12:C12 D&A (% of revenue) | 4.5% | %
A13:C13 CapEx (% of revenue) | 5.6% | %
A14:C14 Net Working Capital (% of revenue) | 8% | %
A17:F17 Revenue growth by year | 2026E | 2027E | 2028E | 2029E | 2030E
A18:F18 Revenue Growth Rate | 12% | 10.5% | 8% | 6% | 4%
A19:F19 EBIT Margin | 20.5% | 21.2% | 22% | 22.5% | 22.5%
A21 Balance sheet extract
A22:C22 USD mm | FY2024A | FY2025A
A23:C23 Cash & Short-term Investments | 388.0 | 431.5
A24:C24 Total Debt (incl. current portion) | 705.0 | 652.0
A25:C25 Operating Lease Liabilities | 61.0 | 58.4
A26:C26 Non-controlling Interest | 11.2 | 12.9
## 2. Income Statement
A1 🧾 2. Income Statement (USD mm)
A3:I3 Item | FY2024A | FY2025A | FY2026E | FY2027E | FY2028E | FY2029E | FY2030E | Notes
A4:C4 Total Revenue | 1240.0 | 1418.6
D4:H4 =C4*(1+'1. Assumptions'!B18)
A5   % growth
C5:H5 =C4/B4-1 as %
A6:C6 Operating Income (EBIT) | 238.1 | 283.7
D6:H6 =D4*'1. Assumptions'!B19
A7   % EBIT margin
B7:H7 =B6/B4 as %
A8:C8 Depreciation & Amortization | 57.0 | 63.8
D8:H8 =D4*'1. Assumptions'!$B$12
I8 Held at 4.5% of revenue
A9 EBITDA
B9:H9 =B6+B8
A10:C10 Interest Expense | 36.2 | 33.9
D10:H10 ='1. Assumptions'!$C$24*'4. WACC'!$B$13
A11 Pre-tax Income
B11:H11 =B6-B10
A12:C12 Income Taxes | 46.4 | 57.5
D12:H12 =D11*'1. Assumptions'!$B$6
A13 Net Income
B13:H13 =B11-B12
## 3. Free Cash Flow
A1 💵 3. Unlevered Free Cash Flow Build (USD mm)
A3:H3 Item |  | FY2025A | FY2026E | FY2027E | FY2028E | FY2029E | FY2030E
A4 EBIT
C4:H4 ='2. Income Statement'!C6
A5 Less: Taxes on EBIT
D5:H5 =-D4*'1. Assumptions'!$B$6
A6 NOPAT
D6:H6 =D4+D5
A7 Plus: D&A
D7:H7 ='2. Income Statement'!D8
A8 Less: CapEx
D8:H8 =-'2. Income Statement'!D4*'1. Assumptions'!$B$13
A9 Net Working Capital
C9:H9 ='2. Income Statement'!C4*'1. Assumptions'!$B$14
A10 Less: Increase in NWC
D10:H10 =-(D9-C9)
A11 Unlevered Free Cash Flow (UFCF)
D11:H11 =D6+D7+D8+D10
## 4. WACC
A1 🧮 4. WACC Calculation
A3:C3 Component | Value | Notes
A4:C4 Risk-Free Rate (Rf) | 4.15% | 10-year UST
A5 Levered Beta (β)
B5 =B20*(1+(1-B12)*B21)
C5 Hamada relevering
A6:B6 Equity Risk Premium (ERP) | 5%
A7 Cost of Equity (Ke)
B7 =B4+B5*B6 as %
C7 CAPM: Rf + β × ERP
A8 Market Value of Equity (E)
B8 ='1. Assumptions'!B8*'1. Assumptions'!B11
C8 USD mm
A9 Market Value of Debt (D)
B9 ='1. Assumptions'!C24+'1. Assumptions'!C25
C9 incl. leases
A10 Weight of Equity (E/V)
B10 =B8/(B8+B9) as %
A11 Weight of Debt (D/V)
B11 =B9/(B8+B9) as %
A12 Tax Rate
B12 ='1. Assumptions'!B6 as %
A13:C13 Pre-tax Cost of Debt (Kd) | 5.7% | BBB spread
A14 After-tax Cost of Debt
B14 =B13*(1-B12) as %
A15 WACC
B15 =B10*B7+B11*B14 as %
C15 👉 used in DCF
A20:B20 Unlevered Beta (peer median) | 1.02
A21 Debt-to-Equity (D/E)
B21 =B9/B8 as %
## 5. DCF
A1 📈 5. DCF Valuation (USD mm)
A3:G3 Item | Notes | FY2026E | FY2027E | FY2028E | FY2029E | FY2030E
A4:B4 Unlevered Free Cash Flow | from sheet 3
C4:G4 ='3. Free Cash Flow'!D11
A5 Discount Period (years)
C5:G5 1 | 2 | 3 | 4 | 5
A6 Discount Factor
C6:G6 =1/(1+'4. WACC'!$B$15)^C5
A7 PV of UFCF
C7:G7 =C4*C6
A9 Valuation Summary
A10 WACC
C10 ='4. WACC'!B15 as %
A11 Terminal Growth Rate
C11 ='1. Assumptions'!B7 as %
A12 Sum of PV of UFCF
C12 =SUM(C7:G7)
A13 Terminal Value (Gordon Growth)
C13 =G4*(1+C11)/(C10-C11)
A14 PV of Terminal Value
C14 =C13*G6
A15 Enterprise Value (EV)
C15 =C12+C14
A16 Plus: Cash & Short-term Investments
C16 ='1. Assumptions'!C23
A17 Less: Total Debt
C17:C19 =-'1. Assumptions'!C24
A18 Less: Operating Lease Liabilities
A19 Less: Non-controlling Interest
A20 Equity Value
C20 =SUM(C15:C19)
A21 Diluted Shares (mm)
C21 ='1. Assumptions'!B11
A22 Intrinsic Value per Share (USD)
C22 =C20/C21
A23 Current Share Price (USD)
C23 ='1. Assumptions'!B8
A24 Upside / (Downside)
C24 =C22/C23-1 as %
A25 TV as % of EV
C25 =C14/C15 as %
## 6. Sensitivity
A1 🎯 6. Sensitivity Analysis: Intrinsic Value per Share (USD)
A3 WACC ↓ / g →
B3 ='5. DCF'!$C$11+(-0.01) as %
C3 ='5. DCF'!$C$11+(-0.005) as %
D3 ='5. DCF'!$C$11+0 as %
E3 ='5. DCF'!$C$11+0.005 as %
F3 ='5. DCF'!$C$11+0.01 as %
A4 ='5. DCF'!$C$10-0.01 as %
B4:F4 =(SUMPRODUCT('5. DCF'!$C$4:$G$4,1/(1+$A4)^'5. DCF'!$C$5:$G$5)+'5. DCF'!$G$4*(1+B$3)/($A4-B$3)/(1+$A4)^'5. DCF'!$G$5+SUM('5. DCF'!$C$16:$C$19))/'5. DCF'!$C$21
A5 ='5. DCF'!$C$10-0.005 as %
B5:F5 =(SUMPRODUCT('5. DCF'!$C$4:$G$4,1/(1+$A5)^'5. DCF'!$C$5:$G$5)+'5. DCF'!$G$4*(1+B$3)/($A5-B$3)/(1+$A5)^'5. DCF'!$G$5+SUM('5. DCF'!$C$16:$C$19))/'5. DCF'!$C$21
A6 ='5. DCF'!$C$10+0 as %
B6:F6 =(SUMPRODUCT('5. DCF'!$C$4:$G$4,1/(1+$A6)^'5. DCF'!$C$5:$G$5)+'5. DCF'!$G$4*(1+B$3)/($A6-B$3)/(1+$A6)^'5. DCF'!$G$5+SUM('5. DCF'!$C$16:$C$19))/'5. DCF'!$C$21
A7 ='5. DCF'!$C$10+0.005 as %
B7:F7 =(SUMPRODUCT('5. DCF'!$C$4:$G$4,1/(1+$A7)^'5. DCF'!$C$5:$G$5)+'5. DCF'!$G$4*(1+B$3)/($A7-B$3)/(1+$A7)^'5. DCF'!$G$5+SUM('5. DCF'!$C$16:$C$19))/'5. DCF'!$C$21
A8 ='5. DCF'!$C$10+0.01 as %
B8:F8 =(SUMPRODUCT('5. DCF'!$C$4:$G$4,1/(1+$A8)^'5. DCF'!$C$5:$G$5)+'5. DCF'!$G$4*(1+B$3)/($A8-B$3)/(1+$A8)^'5. DCF'!$G$5+SUM('5. DCF'!$C$16:$C$19))/'5. DCF'!$C$21
"""  # noqa: E501

LAYOUT = Layout(
    "agent_sheets",
    TEXT,
    roles={
        "wacc": "4. WACC!B15",
        "cost_of_equity": "4. WACC!B7",
        "risk_free_rate": "4. WACC!B4",
        "beta": "4. WACC!B5",
        "equity_risk_premium": "4. WACC!B6",
        "pre_tax_cost_of_debt": "4. WACC!B13",
        "after_tax_cost_of_debt": "4. WACC!B14",
        "tax_rate": "1. Assumptions!B6",
        "weight_equity": "4. WACC!B10",
        "weight_debt": "4. WACC!B11",
        "market_cap": "4. WACC!B8",
        "unlevered_beta": "4. WACC!B20",
        "debt_to_equity": "4. WACC!B21",
        "terminal_growth": "1. Assumptions!B7",
        "valuation_date": "1. Assumptions!B5",
        "sum_pv_fcff": "5. DCF!C12",
        "terminal_value": "5. DCF!C13",
        "pv_terminal_value": "5. DCF!C14",
        "enterprise_value": "5. DCF!C15",
        "equity_value": "5. DCF!C20",
        "value_per_share": "5. DCF!C22",
        "current_price": "1. Assumptions!B8",
        "upside": "5. DCF!C24",
        "cash": "5. DCF!C16",
        "debt": "5. DCF!C17",
        "lease_liabilities": "5. DCF!C18",
        "minority_interest": "5. DCF!C19",
        "shares": "5. DCF!C21",
        "basic_shares": "1. Assumptions!B9",
        "diluted_shares": "1. Assumptions!B11",
    },
    series={
        "revenue": "2. Income Statement!D4:H4",
        "revenue_growth": "2. Income Statement!D5:H5",
        "ebit": "2. Income Statement!D6:H6",
        "ebit_margin": "2. Income Statement!D7:H7",
        "ebitda": "2. Income Statement!D9:H9",
        "interest": "2. Income Statement!D10:H10",
        "taxes": "3. Free Cash Flow!D5:H5",
        "nopat": "3. Free Cash Flow!D6:H6",
        "depreciation": "3. Free Cash Flow!D7:H7",
        "capex": "3. Free Cash Flow!D8:H8",
        "nwc": "3. Free Cash Flow!D9:H9",
        "change_in_nwc": "3. Free Cash Flow!D10:H10",
        "fcff": "3. Free Cash Flow!D11:H11",
        "discount_period": "5. DCF!C5:G5",
        "discount_factor": "5. DCF!C6:G6",
        "pv_fcff": "5. DCF!C7:G7",
        "period": "5. DCF!C3:G3",
    },
    also={
        "cash": ("1. Assumptions!C23",),
        "debt": ("1. Assumptions!C24",),
        "lease_liabilities": ("1. Assumptions!C25",),
        "minority_interest": ("1. Assumptions!C26",),
        "fcff": ("5. DCF!C4:G4",),
        "ebit": ("3. Free Cash Flow!D4:H4",),
        "ebit_margin": ("1. Assumptions!B19:F19",),
        "revenue_growth": ("1. Assumptions!B18:F18",),
    },
)
