"""Rupees in crore, shares in crore, net debt negative, a balance sheet of the last three Marches."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## DCF
A1 Vayuksh Pharma Ltd – DCF Valuation
A2 All figures in Rs. Cr unless stated otherwise; FY ends 31 March
A4:J4 Particulars | Assumption | FY26A | FY27E | FY28E | FY29E | FY30E | FY31E | FY32E | FY33E
A5 Revenue from operations
C5 3180
D5:J5 =C5*(1+D6)
A6 YoY growth
D6:J6 12% | 11.5% | 10.5% | 9.5% | 8.5% | 7.5% | 6.5%
A7 EBITDA margin
C7 =C8/C5 as %
D7:J7 23.5% | 23.8% | 24% | 24.2% | 24.3% | 24.3% | 24.3%
A8 EBITDA
C8 738
D8:J8 =D5*D7
A9:C9 Depreciation & Amortisation | 4.2% | 131
D9:J9 =D5*$B9
A10 EBIT
C10:J10 =C8-C9
A11 Tax on EBIT
B11 =WACC!B8
D11:J11 =D10*$B11
A12 EBIT (1-t)
D12:J12 =D10-D11
A13 (+) Depreciation
D13:J13 =D9
A14:B14 (-) Capex | 6.2%
D14:J14 =D5*$B14
A15 Net working capital
B15 ='Balance Sheet'!D12+'Balance Sheet'!D13-'Balance Sheet'!D9
C15 =B15
D15:J15 =D5*$B$16
A16 NWC % of revenue
B16 =B15/C5 as %
A17 (+/-) Change in working capital
D17:J17 =C15-D15
A18 FCFF
D18:J18 =D12+D13-D14+D17
A19 Year
D19:J19 1 | 2 | 3 | 4 | 5 | 6 | 7
A20 PV factor
D20:J20 =1/(1+$C$23)^D19
A21 PV of FCFF
D21:J21 =D18*D20
A23 WACC
C23 =WACC!B14 as %
E23 Value per share (Rs.): WACC vs terminal growth
A24 Terminal growth rate
C24 5%
F24 =$C$24-0.01 as %
G24 =$C$24-0.005 as %
H24 =$C$24 as %
I24 =$C$24+0.005 as %
J24 =$C$24+0.01 as %
A25 Sum of PV of FCFF
C25 =SUM(D21:J21)
E25 =$C$23-0.01 as %
F25:J25 =(NPV($E25,$D$18:$J$18)+$J$18*(1+F$24)/($E25-F$24)/(1+$E25)^$J$19-$C$29-$C$30)/$C$34
A26 Terminal value
C26 =J18*(1+C24)/(C23-C24)
E26 =$C$23-0.005 as %
F26:J26 =(NPV($E26,$D$18:$J$18)+$J$18*(1+F$24)/($E26-F$24)/(1+$E26)^$J$19-$C$29-$C$30)/$C$34
A27 PV of terminal value
C27 =C26/(1+C23)^J19
E27 =$C$23 as %
F27:J27 =(NPV($E27,$D$18:$J$18)+$J$18*(1+F$24)/($E27-F$24)/(1+$E27)^$J$19-$C$29-$C$30)/$C$34
A28 Enterprise Value
C28 =C25+C27
E28 =$C$23+0.005 as %
F28:J28 =(NPV($E28,$D$18:$J$18)+$J$18*(1+F$24)/($E28-F$24)/(1+$E28)^$J$19-$C$29-$C$30)/$C$34
A29 Net Debt / (Net Cash)
C29 ='Balance Sheet'!D7+'Balance Sheet'!D8-'Balance Sheet'!D14-'Balance Sheet'!D15
E29 =$C$23+0.01 as %
F29:J29 =(NPV($E29,$D$18:$J$18)+$J$18*(1+F$24)/($E29-F$24)/(1+$E29)^$J$19-$C$29-$C$30)/$C$34
A30 Minority interest
C30 ='Balance Sheet'!D6
A31 Equity Value
C31 =C28-C29-C30
A34 No. of shares (Cr)
C34 21.25
A35 Intrinsic value per share (Rs.)
C35 =C31/C34
A37 CMP (Rs.)
C37 402
A38 Upside / (Downside) %
C38 =C35/C37-1 as %
A39 Face value (Rs.)
C39 ='Balance Sheet'!D4/C34
## Balance Sheet
A1 Vayuksh Pharma Ltd – Consolidated Balance Sheet (Rs. Cr)
A3:D3 Particulars | Mar-24 | Mar-25 | Mar-26
A4:D4 Equity Share Capital | 42.5 | 42.5 | 42.5
A5:D5 Reserves | 2110 | 2456 | 2873
A6:D6 Non Controlling Interest | 28 | 33 | 37
A7:D7 Long Term Borrowings | 210 | 165 | 120
A8:D8 Short Term Borrowings | 95 | 88 | 74
A9:D9 Trade Payables | 388 | 441 | 489
A10 Total Liabilities
B10:D10 =SUM(B4:B9)
A11:D11 Fixed Assets (net) | 1204 | 1290 | 1373
A12:D12 Inventories | 512 | 573 | 628
A13:D13 Trade Receivables | 604 | 682 | 744
A14:D14 Current Investments | 306 | 398 | 520
A15:D15 Cash & Bank | 247.5 | 282.5 | 370.5
A16 Total Assets
B16:D16 =SUM(B11:B15)
## WACC
A1 Cost of Capital
A3:B3 10Y G-Sec yield (Rf) | 6.8%
A4:B4 Beta (2Y weekly vs Nifty) | 0.74
A5:B5 Expected market return (Rm) | 13.5%
A6 Cost of equity (Ke)
B6 =B3+B4*(B5-B3) as %
A7:B7 Cost of borrowing | 8.7%
A8:B8 Tax rate | 25.2%
A9 Post tax cost of debt (Kd)
B9 =B7*(1-B8) as %
A10 Market capitalisation (Rs. Cr)
B10 =DCF!C37*DCF!C34
A11 Gross debt (Rs. Cr)
B11 ='Balance Sheet'!D7+'Balance Sheet'!D8
A12 Equity weight (We)
B12 =B10/(B10+B11) as %
A13 Debt weight (Wd)
B13 =B11/(B10+B11) as %
A14 WACC
B14 =B12*B6+B13*B9 as %
"""

LAYOUT = Layout(
    "rupees_net_cash",
    TEXT,
    roles={
        "wacc": "DCF!C23",
        "cost_of_equity": "WACC!B6",
        "risk_free_rate": "WACC!B3",
        "beta": "WACC!B4",
        "pre_tax_cost_of_debt": "WACC!B7",
        "after_tax_cost_of_debt": "WACC!B9",
        "tax_rate": "WACC!B8",
        "market_cap": "WACC!B10",
        "weight_equity": "WACC!B12",
        "weight_debt": "WACC!B13",
        "terminal_growth": "DCF!C24",
        "sum_pv_fcff": "DCF!C25",
        "terminal_value": "DCF!C26",
        "pv_terminal_value": "DCF!C27",
        "enterprise_value": "DCF!C28",
        "net_debt": "DCF!C29",
        "minority_interest": "DCF!C30",
        "equity_value": "DCF!C31",
        "shares": "DCF!C34",
        "value_per_share": "DCF!C35",
        "current_price": "DCF!C37",
        "upside": "DCF!C38",
    },
    series={
        "period": "DCF!D4:J4",
        "revenue": "DCF!D5:J5",
        "revenue_growth": "DCF!D6:J6",
        "ebitda": "DCF!D8:J8",
        "ebit": "DCF!D10:J10",
        "taxes": "DCF!D11:J11",
        "nopat": "DCF!D12:J12",
        "depreciation": "DCF!D13:J13",
        "capex": "DCF!D14:J14",
        "nwc": "DCF!D15:J15",
        "change_in_nwc": "DCF!D17:J17",
        "fcff": "DCF!D18:J18",
        "discount_period": "DCF!D19:J19",
        "discount_factor": "DCF!D20:J20",
        "pv_fcff": "DCF!D21:J21",
        "total_assets": "Balance Sheet!B16:D16",
        "total_liabilities_and_equity": "Balance Sheet!B10:D10",
    },
    also={"minority_interest": ("Balance Sheet!D6",), "depreciation": ("DCF!D9:J9",)},
)
