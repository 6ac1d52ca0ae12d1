"""The names of the roles, their unit, and the groups they belong to."""

from __future__ import annotations

from xlcheck.roles import Unit

SCALAR_ROLES: dict[str, Unit] = {
    # rates
    "wacc": "rate", "cost_of_equity": "rate", "risk_free_rate": "rate", "beta": "number",
    "equity_risk_premium": "rate", "market_return": "rate", "country_risk_premium": "rate", "size_premium": "rate",
    "pre_tax_cost_of_debt": "rate", "after_tax_cost_of_debt": "rate", "tax_rate": "rate",
    "weight_equity": "rate", "weight_debt": "rate", "market_cap": "money", "unlevered_beta": "number",
    "debt_to_equity": "rate", "terminal_wacc": "rate", "terminal_growth": "rate", "exit_multiple": "multiple",
    "ronic": "rate",
    # operations
    "valuation_date": "date", "base_year": "number",
    # value
    "sum_pv_fcff": "money", "terminal_value": "money", "pv_terminal_value": "money", "enterprise_value": "money",
    "equity_value": "money", "value_per_share": "per_share", "current_price": "per_share", "upside": "rate",
    # bridge
    "cash": "money", "debt": "money", "net_debt": "money", "lease_liabilities": "money",
    "minority_interest": "money", "preferred_equity": "money", "investments": "money",
    "pension_deficit": "money", "other_claims": "money", "shares": "count", "basic_shares": "count",
    "diluted_shares": "count",
    # reverse DCF
    "implied_value": "number",
}  # fmt: skip
"""Scalar role to unit."""

SERIES_ROLES: dict[str, Unit] = {
    "discount_rate": "rate", "period": "number", "revenue": "money", "revenue_growth": "rate", "ebitda": "money",
    "ebit": "money", "ebit_margin": "rate", "taxes": "money", "nopat": "money", "depreciation": "money",
    "capex": "money", "change_in_nwc": "money", "nwc": "money", "interest": "money",
    "stock_compensation": "money", "total_assets": "money", "total_liabilities_and_equity": "money",
    "fcff": "money", "fcfe": "money", "discount_period": "years", "discount_factor": "number", "pv_fcff": "money",
}  # fmt: skip
"""Series role to unit."""
