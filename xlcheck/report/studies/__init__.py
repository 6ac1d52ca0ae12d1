"""What the live model answers for the pictures of the page; worked out only when the page is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from xlcheck.checking import Workpaper
from xlcheck.effects import headline_output
from xlcheck.report.document import Report
from xlcheck.report.studies.bridge import Bridge, live_bridge
from xlcheck.report.studies.heat import HeatMap, heat_map
from xlcheck.report.studies.movers import Mover, movers

_T = TypeVar("_T")

__all__ = ["Bridge", "HeatMap", "Mover", "Studies", "studies"]


class Studies(NamedTuple):
    """Answers of the live model; each is None or empty where the workbook gives none."""

    output: str | None
    """Role of the headline output that they speak of."""
    base: float | None
    """Its value as submitted, in its own unit."""
    heat: HeatMap | None
    movers: tuple[Mover, ...]
    """What moves the output most, the strongest first."""
    bridge: Bridge | None


def studies(paper: Workpaper, report: Report) -> Studies:
    """Ask the live model what the pictures show: fewer than 150 runs, whatever the size of the workbook."""
    found = headline_output(paper.roles)
    base = None if found is None else paper.recalc.number(found[1])
    if found is None or base is None:
        return Studies(None, None, None, (), None)
    role, cell = found
    heat = _spared(lambda: heat_map(paper, role, cell))
    moving = _spared(lambda: movers(paper, cell))
    return Studies(role, base, heat, moving or (), _spared(lambda: live_bridge(paper, report)))


def _spared(ask: Callable[[], _T]) -> _T | None:
    """Return the answer, None where the engine breaks over it: a picture less, but the page is written."""
    try:
        return ask()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # noqa: BLE001 - engines written in Rust raise PanicException, no Exception
        return None
