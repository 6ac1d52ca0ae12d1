"""The checks, one family a file; importing this package declares them all."""

import xlcheck.checks.basis
import xlcheck.checks.basis_periods
import xlcheck.checks.bridge
import xlcheck.checks.bridge_counts
import xlcheck.checks.bridge_shares
import xlcheck.checks.bridge_sources
import xlcheck.checks.discount
import xlcheck.checks.discount_stub
import xlcheck.checks.fatal
import xlcheck.checks.fatal_units
import xlcheck.checks.flow
import xlcheck.checks.flow_lines
import xlcheck.checks.flow_working_capital
import xlcheck.checks.independent
import xlcheck.checks.metric
import xlcheck.checks.recompute
import xlcheck.checks.recompute_checks
import xlcheck.checks.recompute_hardcodes
import xlcheck.checks.recompute_loops
import xlcheck.checks.recompute_masks
import xlcheck.checks.recompute_ranges
import xlcheck.checks.recompute_rows
import xlcheck.checks.recompute_text
import xlcheck.checks.recompute_workbook
import xlcheck.checks.response
import xlcheck.checks.scenario
import xlcheck.checks.sensitivity
import xlcheck.checks.sensitivity_shape
import xlcheck.checks.statements
import xlcheck.checks.terminal
import xlcheck.checks.terminal_discounting
import xlcheck.checks.terminal_growth
import xlcheck.checks.wacc
import xlcheck.checks.wacc_debt
import xlcheck.checks.wacc_equity  # noqa: F401
