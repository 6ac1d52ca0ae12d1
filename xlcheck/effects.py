"""What repairing each finding would do to the value per share, by the live model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xlcheck.cells import CellRef, as_number
from xlcheck.checking import CheckResult, Effect, Finding
from xlcheck.engines import Unsolved
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles

OUTPUTS = ("value_per_share", "equity_value", "enterprise_value")
"""The headline output whose change is told: the first of these that is bound to a cell."""
MOST = 100
"""So many repairs are worked out; findings beyond keep no effect."""


def with_effects(results: Iterable[CheckResult], recalc: Recalc, roles: Roles) -> tuple[CheckResult, ...]:
    """Return the results with `Finding.effect` filled in where the repaired value of a cell is a known number.

    Each finding is repaired alone: its cell is set to `expected` and the headline output is recomputed. A finding
    whose unit is not that of its cell (a weight, a change), whose cell does not feed the output, or whose repair
    cannot be recomputed keeps no effect.
    """
    output = headline_output(roles)
    if output is None:
        return tuple(results)
    role, cell = output
    stated = recalc.number(cell)
    if stated is None:
        return tuple(results)
    model = _Model(recalc, cell)
    return tuple(_repaired(result, role, cell, stated, model) for result in results)


@dataclass
class _Model:
    """Answers what-if questions about the output, a bounded number of them."""

    recalc: Recalc
    output: CellRef
    asked: int = 0

    def moved(self, cell: CellRef, value: float) -> float | None:
        """Return the output with a cell replaced; None if it is no number, or the engine breaks."""
        if self.asked >= MOST:
            return None
        self.asked += 1
        try:
            answer = self.recalc.what_if_cells({cell: value}, [self.output])[self.output]
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException:  # noqa: BLE001 - engines written in Rust raise PanicException, no Exception
            return None
        return None if isinstance(answer, Unsolved) else as_number(answer)


def headline_output(roles: Roles) -> tuple[str, CellRef] | None:
    """Return role and cell of the output whose change is told; None where none is bound to a cell."""
    for role in OUTPUTS:
        located = roles.get(role)
        if located is not None and located.cell is not None:
            return role, located.cell
    return None


def _repaired(result: CheckResult, role: str, output: CellRef, stated: float, model: _Model) -> CheckResult:
    if not result.findings or result.status not in ("fail", "partial"):
        return result
    findings = tuple(_with_effect(finding, role, output, stated, model) for finding in result.findings)
    return result.model_copy(update={"findings": findings})


def _with_effect(finding: Finding, role: str, output: CellRef, stated: float, model: _Model) -> Finding:
    expected, found = as_number(finding.expected), as_number(finding.found)
    if finding.effect is not None or expected is None or found is None or not isinstance(finding.cell, CellRef):
        return finding
    shown = model.recalc.number(finding.cell)
    if shown is None or abs(shown - found) > 1e-6 * max(abs(shown), abs(found), 1e-12):
        return finding
    repaired = expected if finding.cell == output else model.moved(finding.cell, expected)
    if repaired is None:
        return finding
    return finding.model_copy(update={"effect": Effect(role=role, stated=stated, repaired=repaired)})
