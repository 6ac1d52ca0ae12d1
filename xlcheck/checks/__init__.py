"""The checks, one family a file; importing this package declares them all."""

import xlcheck.checks.bridge
import xlcheck.checks.bridge_shares
import xlcheck.checks.discount
import xlcheck.checks.recompute
import xlcheck.checks.recompute_hardcodes
import xlcheck.checks.recompute_masks
import xlcheck.checks.recompute_ranges
import xlcheck.checks.recompute_rows
import xlcheck.checks.recompute_text
import xlcheck.checks.recompute_workbook
import xlcheck.checks.terminal
import xlcheck.checks.wacc  # noqa: F401
