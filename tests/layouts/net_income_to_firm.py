"""A flow to the firm from net income with interest after tax added back; two methods that link one share count."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Model
A1 Sandbar Cement Corporation, PHP m
B3:G3 2025A | 2026E | 2027E | 2028E | 2029E | 2030E
A4 Net income
B4 1500
C4:G4 =B4*(1+C5)
A5 Growth
C5:G5 8% | 7% | 6% | 5% | 5%
A6 Interest expense
C6:G6 300 | 290 | 280 | 270 | 260
A7 Interest after tax
C7:G7 =C6*(1-$B$36)
A8 Depreciation
C8:G8 620 | 650 | 680 | 700 | 720
A9 Capital expenditure
C9:G9 760 | 790 | 820 | 840 | 860
A10 Accounts receivable
B10:G10 410 | 440 | 470 | 500 | 525 | 550
A11 Inventories
B11:G11 380 | 400 | 425 | 450 | 470 | 490
A12 Accounts payable
B12:G12 300 | 320 | 340 | 360 | 375 | 390
A13 (Increase) / decrease in working capital
C13:G13 =(B10+B11-B12)-(C10+C11-C12)
A14 Cash flow before interest
C14:G14 =C4+C7+C8+C13
A15 Free cash flow to the firm
C15:G15 =C14-C9
A16 Year
C16:G16 1 | 2 | 3 | 4 | 5
A17 Present value
C17:G17 =C15/(1+$B$34)^C16
A31:B31 Cost of equity | 12.5%
A32:B32 Cost of debt, pre-tax | 7%
A33:B33 Weight of debt | 25%
A34 WACC
B34 =(1-B33)*B31+B33*B32*(1-B36)
A35:B35 Terminal growth rate | 4%
A36:B36 Tax rate | 25%
A37:B37 Shares outstanding (m) | 900
A38:B38 Exit EV/EBITDA | 8
A39 EBITDA 2030E
B39 =G4/(1-B36)+G6+G8
B41 Perpetuity
C41 Exit multiple
A42 Sum of present values
B42:C42 =SUM($C$17:$G$17)
A43 Terminal value
B43 =G15*(1+B35)/(B34-B35)
C43 =B39*B38
A44 PV of terminal value
B44:C44 =B43/(1+$B$34)^5
A45 Enterprise value
B45:C45 =B42+B44
A46 NIBD
B46:C46 =$B$60
A47 Equity value
B47:C47 =B45-B46
A48 Shares (m)
B48:C48 =$B$37
A49 Value per share
B49:C49 =B47/B48
A51 Blended value per share
B51 =50%*B49+50%*C49
A52:B52 Share price | 14
A53 Value vs price
B53 =B51/B52-1 as %
A54 Target price in twelve months
B54 =B51*(1+B31)
A57:B57 Loans | 3100
A58:B58 Lease liabilities | 250
A59:B59 Cash and equivalents | -900
A60 Net interest-bearing debt
B60 =SUM(B57:B59)
"""

LAYOUT = Layout(
    "net_income_to_firm",
    TEXT,
    roles={
        "wacc": "Model!B34",
        "cost_of_equity": "Model!B31",
        "weight_debt": "Model!B33",
        "terminal_growth": "Model!B35",
        "tax_rate": "Model!B36",
        "net_debt": "Model!B60",
        "shares": "Model!B37",
        "value_per_share": "Model!B51",
        "current_price": "Model!B52",
        "upside": "Model!B53",
    },
    series={"fcff": "Model!C15:G15", "pv_fcff": "Model!C17:G17", "interest": "Model!C6:G6"},
)
