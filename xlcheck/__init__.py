"""xlcheck: recompute, check and score valuation workbooks."""
