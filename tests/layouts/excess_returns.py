"""A bank: book equity plus the present value of excess returns at the cost of equity."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## Equity valuation
A1 Banco Norfeste Ltd – excess return and dividend discount
A2 USD millions except per share
A4:B4 Risk-free rate | 4.1%
A5:B5 Beta | 1.15
A6:B6 Equity risk premium | 5%
A7 Cost of equity
B7 =B4+B5*B6 as %
A8:B8 Long-term growth | 3%
A9:B9 Opening book equity | 2450
A10:B10 Shares outstanding (m) | 145
A11:B11 Share price | 21.4
D9:E9 Payout ratio | 55%
D10:E10 Return on equity after 2030 | 10.5%
C14:G14 2026E | 2027E | 2028E | 2029E | 2030E
A15 Opening book value
C15 =B9
D15:G15 =C19
A16 Return on equity
C16:G16 13% | 13% | 12.8% | 12.5% | 12.2%
A17 Net income
C17:G17 =C15*C16
A18 Dividends
C18:G18 =C17*$E$9
A19 Closing book value
C19:G19 =C15+C17-C18
A20 Equity charge
C20:G20 =C15*$B$7
A21 Excess return
C21:G21 =C17-C20
A22 Year
C22:G22 1 | 2 | 3 | 4 | 5
A23 Discount factor at cost of equity
C23:G23 =1/(1+$B$7)^C22
A24 PV of excess return
C24:G24 =C21*C23
A26 Book equity today
B26 =B9
A27 Sum of PV of excess returns
B27 =SUM(C24:G24)
A28 Terminal value of excess returns
B28 =G21*(1+B8)/(B7-B8)
A29 PV of terminal value
B29 =B28*G23
A30 Equity value
B30 =B26+B27+B29
A31 Value per share
B31 =B30/B10
A32 Upside
B32 =B31/B11-1 as %
A34 Cross-check: dividend discount
A35 PV of dividends
B35 =SUMPRODUCT(C18:G18,C23:G23)
A36 Terminal value of dividends
B36 =G19*E10*(1-B8/E10)/(B7-B8)
A37 Equity value (DDM)
B37 =B35+B36*G23
A38 Value per share (DDM)
B38 =B37/B10
"""

LAYOUT = Layout(
    "excess_returns",
    TEXT,
    roles={
        "risk_free_rate": "Equity valuation!B4",
        "beta": "Equity valuation!B5",
        "equity_risk_premium": "Equity valuation!B6",
        "cost_of_equity": "Equity valuation!B7",
        "terminal_growth": "Equity valuation!B8",
        "equity_value": "Equity valuation!B30",
        "shares": "Equity valuation!B10",
        "value_per_share": "Equity valuation!B31",
        "current_price": "Equity valuation!B11",
        "upside": "Equity valuation!B32",
    },
    series={},
)
