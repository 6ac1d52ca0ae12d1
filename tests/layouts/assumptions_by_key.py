"""A list of keys and values that every formula looks up, as a program writes it."""

from __future__ import annotations

from layouts import Layout

TEXT = """
## assumptions
A1:E1 key | value | unit | source | date
A2:E2 wacc | 9.4% | % | Analyst build | 2026-02-01
A3:E3 terminal_growth | 2.5% | % | Analyst | 2026-02-01
A4:E4 tax_rate | 24% | % | Annual report 2025 | 2026-01-20
A5:E5 revenue_base | 880 | USD m | Annual report 2025 | 2026-01-20
A6:E6 ebit_margin | 16% | % | Analyst | 2026-02-01
A7:E7 da_pct | 4% | % | Analyst | 2026-02-01
A8:E8 capex_pct | 5% | % | Analyst | 2026-02-01
A9:E9 nwc_pct | 12% | % | Analyst | 2026-02-01
A10:E10 cash | 120 | USD m | Annual report 2025 | 2026-01-20
A11:E11 debt | 260 | USD m | Annual report 2025 | 2026-01-20
A12:E12 minority_interest | 18 | USD m | Annual report 2025 | 2026-01-20
A13:E13 shares_outstanding | 95 | m | Annual report 2025 | 2026-01-20
A14:E14 share_price | 12.6 | USD | Nasdaq | 2026-01-30
## model
A1:G1 line | 2025A | 2026E | 2027E | 2028E | 2029E | 2030E
A2 revenue_growth
C2:G2 8% | 7% | 6% | 5% | 4%
A3 revenue
B3 =INDEX(assumptions!$B:$B,MATCH("revenue_base",assumptions!$A:$A,0))
C3:G3 =B3*(1+C2)
A4 ebit
C4:G4 =C3*INDEX(assumptions!$B:$B,MATCH("ebit_margin",assumptions!$A:$A,0))
A5 taxes
C5:G5 =-C4*INDEX(assumptions!$B:$B,MATCH("tax_rate",assumptions!$A:$A,0))
A6 nopat
C6:G6 =C4+C5
A7 depreciation
C7:G7 =C3*INDEX(assumptions!$B:$B,MATCH("da_pct",assumptions!$A:$A,0))
A8 capex
C8:G8 =-C3*INDEX(assumptions!$B:$B,MATCH("capex_pct",assumptions!$A:$A,0))
A9 nwc
B9:G9 =B3*INDEX(assumptions!$B:$B,MATCH("nwc_pct",assumptions!$A:$A,0))
A10 change_in_nwc
C10:G10 =B9-C9
A11 fcff
C11:G11 =C6+C7+C8+C10
A12 discount_period
C12:G12 1 | 2 | 3 | 4 | 5
A13 discount_factor
C13:G13 =1/(1+INDEX(assumptions!$B:$B,MATCH("wacc",assumptions!$A:$A,0)))^C12
A14 pv_fcff
C14:G14 =C11*C13
## valuation
A1:B1 item | value
A2 wacc
B2 =INDEX(assumptions!$B:$B,MATCH("wacc",assumptions!$A:$A,0)) as %
A3 terminal_growth
B3 =INDEX(assumptions!$B:$B,MATCH("terminal_growth",assumptions!$A:$A,0)) as %
A4 sum_pv_fcff
B4 =SUM(model!C14:G14)
A5 terminal_value
B5 =model!G11*(1+B3)/(B2-B3)
A6 pv_terminal_value
B6 =B5*model!G13
A7 enterprise_value
B7 =B4+B6
A8 cash
B8 =INDEX(assumptions!$B:$B,MATCH("cash",assumptions!$A:$A,0))
A9 debt
B9 =INDEX(assumptions!$B:$B,MATCH("debt",assumptions!$A:$A,0))
A10 minority_interest
B10 =INDEX(assumptions!$B:$B,MATCH("minority_interest",assumptions!$A:$A,0))
A11 equity_value
B11 =B7+B8-B9-B10
A12 shares_outstanding
B12 =INDEX(assumptions!$B:$B,MATCH("shares_outstanding",assumptions!$A:$A,0))
A13 value_per_share
B13 =B11/B12
A14 share_price
B14 =INDEX(assumptions!$B:$B,MATCH("share_price",assumptions!$A:$A,0))
A15 upside
B15 =B13/B14-1 as %
"""

LAYOUT = Layout(
    "assumptions_by_key",
    TEXT,
    roles={
        "wacc": "valuation!B2",
        "terminal_growth": "valuation!B3",
        "sum_pv_fcff": "valuation!B4",
        "terminal_value": "valuation!B5",
        "pv_terminal_value": "valuation!B6",
        "enterprise_value": "valuation!B7",
        "cash": "valuation!B8",
        "debt": "valuation!B9",
        "minority_interest": "valuation!B10",
        "equity_value": "valuation!B11",
        "shares": "valuation!B12",
        "value_per_share": "valuation!B13",
        "current_price": "valuation!B14",
        "upside": "valuation!B15",
        "tax_rate": "assumptions!B4",
    },
    series={
        "period": "model!C1:G1",
        "revenue": "model!C3:G3",
        "revenue_growth": "model!C2:G2",
        "ebit": "model!C4:G4",
        "taxes": "model!C5:G5",
        "nopat": "model!C6:G6",
        "depreciation": "model!C7:G7",
        "capex": "model!C8:G8",
        "nwc": "model!C9:G9",
        "change_in_nwc": "model!C10:G10",
        "fcff": "model!C11:G11",
        "discount_period": "model!C12:G12",
        "discount_factor": "model!C13:G13",
        "pv_fcff": "model!C14:G14",
    },
    also={
        "wacc": ("assumptions!B2",),
        "terminal_growth": ("assumptions!B3",),
        "cash": ("assumptions!B10",),
        "debt": ("assumptions!B11",),
        "minority_interest": ("assumptions!B12",),
        "shares": ("assumptions!B13",),
        "current_price": ("assumptions!B14",),
    },
)
