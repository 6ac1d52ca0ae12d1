"""Calibration and discrimination for people: tables for the terminal, one self-contained page with pictures."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from xlcheck.calibrate import Calibration
from xlcheck.discrimination import Discrimination, ItemUse, PlantedFault
from xlcheck.errors import UsageError
from xlcheck.report.html import GENERATOR, environment
from xlcheck.report.pictures import rect, svg, text
from xlcheck.report.words import columns, plain, points

_LINE, _BAR = 20, 11
_LABELS, _BARS, _SAID = 330, 260, 80
"""Widths of a picture's columns."""
_MOST = 10.0
"""Points that fill a bar."""
_SHOWN = {"costs": "costs points", "open": "left open", "free": "costs nothing", "harmless": "changes nothing"}


def calibration_text(calibration: Calibration) -> str:
    """Return the answers with their bands as a table, then what moved the broken ones."""
    rows = [["answer", "score", "must be", ""]]
    for row in calibration.rows:
        ends = [points(end) for end in (row.low, row.high) if end is not None]
        shown = " to ".join(dict.fromkeys(ends)) or row.status
        rows.append([row.name, shown, row.band, "holds" if row.holds else "BROKEN"])
    said = columns(rows, indent="")
    for row in calibration.rows:
        if not row.holds:
            said += f"\n{row.name}: {row.reason}\n" + "".join(f"  {mover}\n" for mover in row.moved)
    return said


def discrimination_text(found: Discrimination) -> str:
    """Return what each fault costs, and the items that tell no answers apart, as tables."""
    head = (
        f"{found.killed} of {found.decided} faults planted in {found.reference!r} cost points "
        f"({points(found.kill_rate)} %)\n"
    )
    rows = [["fault", "cell", "points", "", "items"]]
    rows += [[fault.operator, str(fault.cell), *_cost(fault), _items_of(fault)] for fault in found.faults]
    said = head + "\n" + columns(rows, indent="")
    idle = [item for item in found.items if item.idle]
    if idle:
        named = [[item.item, points(item.weight), item.idle or "", plain(item.title)] for item in idle]
        said += "\nItems that told nothing apart, over all answers and mutants:\n" + columns(named)
    known = [item for item in found.items if item.correlation is not None]
    if known:
        said += f"\nItem and rest of the total, correlation over {found.graded} graded answers, lowest first:\n"
        known.sort(key=lambda item: item.correlation or 0.0)
        said += columns([[item.item, f"{item.correlation:+.2f}", plain(item.title)] for item in known])
    return said


def _cost(fault: PlantedFault) -> tuple[str, str]:
    lost = f"−{points(fault.drop)}" if fault.drop else "0"
    return lost, _SHOWN[fault.cost] + (f", {points(fault.at_stake)} open" if fault.at_stake else "")


def _items_of(fault: PlantedFault) -> str:
    if fault.cost in ("costs", "harmless"):
        return ", ".join(fault.items)
    if not fault.asked:
        return f"nothing in the rubric runs {' or '.join(fault.expected)}"
    return f"{', '.join(fault.asked)} did not notice"


def fault_picture(found: Discrimination) -> str:
    """Draw a bar of points lost for every fault that does harm, free ones first; ten points or more fill it."""
    parts = []
    faults = [fault for fault in found.faults if fault.cost != "harmless"]
    for at, fault in enumerate(faults):
        lost, undecided = (min(float(points), _MOST) / _MOST for points in (fault.drop, fault.drop + fault.at_stake))
        said = _cost(fault)[0]
        parts += _row(at, fault.operator.replace("-", " "), lost, undecided - lost, said, bad=not fault.drop)
    return svg(_LABELS + _BARS + _SAID, max(1, _LINE * len(faults)), parts)


def item_picture(items: tuple[ItemUse, ...]) -> str:
    """Draw for every item how many answers it passed, left open and failed, as one bar of the same width."""
    parts = []
    for at, item in enumerate(items):
        whole = item.passed + item.failed + item.undecided or 1
        said = item.idle or f"{item.passed} of {whole}"
        label = f"{item.item}  {plain(item.title)}"[:44]
        parts += _row(at, label, item.passed / whole, item.undecided / whole, said, bad=bool(item.idle))
    return svg(_LABELS + _BARS + _SAID, max(1, _LINE * len(items)), parts)


def _row(at: int, label: str, filled: float, undecided: float, said: str, *, bad: bool) -> list[str]:
    """Return a label, a bar filled by two shares of its width, and what is said right of it."""
    y = at * _LINE
    return [
        text(0, y + 13, label),
        rect(_LABELS, y + 4, _BARS, "track", _BAR),
        rect(_LABELS, y + 4, _BARS * filled, "earned", _BAR),
        rect(_LABELS + _BARS * filled, y + 4, _BARS * undecided, "undecided", _BAR),
        text(_LABELS + _BARS + _SAID, y + 13, said, "end", "label fail" if bad else "label"),
    ]


def page(calibration: Calibration, found: Discrimination | None) -> str:
    """Return the self-contained page: bands, the cost of every fault, and what each item told apart."""
    style = files("xlcheck.report").joinpath("templates/report.css").read_text(encoding="utf-8")
    templates = environment()
    templates.filters |= {"points": points, "plain": plain}
    by_cost = groupby(found.faults, key=lambda fault: fault.cost) if found else ()
    return templates.get_template("calibration.html.j2").render(
        calibration=calibration,
        found=found,
        faults={_SHOWN[cost]: list(group) for cost, group in by_cost},
        items_of=_items_of,
        fault_picture=fault_picture(found) if found else "",
        item_picture=item_picture(found.items) if found else "",
        generator=GENERATOR,
        style=style,
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
    )


def write_page(folder: Path, calibration: Calibration, found: Discrimination | None) -> Path:
    """Write ``calibration.html`` into a folder; UsageError where a file there is not ours, or it cannot be written."""
    path = folder / "calibration.html"
    try:
        if path.exists() and GENERATOR not in path.read_text(encoding="utf-8", errors="replace")[:2000]:
            raise UsageError(f"{path} exists and is no page of xlcheck; choose another folder with --out")
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(page(calibration, found), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{folder}: the page cannot be written there: {error.strerror or error}") from None
    return path
