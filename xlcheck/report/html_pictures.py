"""Which pictures the page shows: those that the report, or the live model, has data for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xlcheck.report.document import Report
from xlcheck.report.language import Words
from xlcheck.report.pictures import bars, bridge, bridge_steps, steps_of
from xlcheck.report.pictures_values import Repair, grid, repairs, tornado
from xlcheck.report.studies import Studies
from xlcheck.report.words import plain
from xlcheck.scoring.card import ScoreCard

MOST_REPAIRS = 12


class Picture(NamedTuple):
    """One picture with its caption and what it must be read with."""

    caption: str
    note: str
    svg: str


def pictures(report: Report, studies: Studies | None, say: Words) -> list[list[Picture]]:
    """Return the pictures as rows of at most two, first what a fault does to the value.

    Two that are compared, the model's grid and the submission's own, stand side by side.
    """
    grids = list(_of_grids(studies, say))
    single = [*_of_effects(report, say), *_of_bridge(report, studies, say), *_of_movers(studies, say)]
    if len(grids) == 1:
        single.insert(2, grids.pop())
    later = _by_twos([*single[2:], *_of_points(report, say)])
    return [row for row in (single[:2], grids, *later) if row]


def _by_twos(shown: list[Picture]) -> list[list[Picture]]:
    return [shown[at : at + 2] for at in range(0, len(shown), 2)]


def _of_effects(report: Report, say: Words) -> Iterator[Picture]:
    rows = list(repair_rows(report))
    if rows:
        role = say.role(next(one.effect.role for result in report.results for one in result.findings if one.effect))
        shown = repairs(rows[:MOST_REPAIRS])
        yield Picture(say("picture_effects", role=role), say("picture_effects_note"), shown)


def repair_rows(report: Report) -> Iterator[Repair]:
    """Yield each repair that moves the value, once per cell and repaired value; faults before what follows."""
    seen = set()
    for result in sorted(report.results, key=lambda result: result.caused_by is not None):
        for finding in result.findings if result.status in ("fail", "partial") else ():
            effect = finding.effect
            if effect is None or abs(effect.repaired - effect.stated) <= 1e-9 * abs(effect.stated):
                continue
            key = float(f"{effect.repaired:.9g}")
            if key not in seen:
                seen.add(key)
                where = "" if finding.cell is None else str(finding.cell)
                name = result.check_id if result.item in (None, result.check_id) else f"{result.item} {result.check_id}"
                yield Repair(name, where, effect.stated, effect.repaired)


def _of_bridge(report: Report, studies: Studies | None, say: Words) -> Iterator[Picture]:
    found = studies.bridge if studies is not None else None
    if found is not None and found.items:
        wrong = found.right != found.stated
        note = say("picture_bridge_wrong" if wrong else "picture_bridge_note")
        yield Picture(say("picture_bridge"), note, bridge(steps_of(found, say), say))
        return
    steps = bridge_steps(report.roles, say)
    if steps:
        yield Picture(say("picture_bridge"), "", bridge(steps, say))


def _of_movers(studies: Studies | None, say: Words) -> Iterator[Picture]:
    if studies is not None and studies.output is not None and studies.movers and studies.base:
        shown = tornado(studies.movers, studies.base, say)
        yield Picture(say("picture_movers", role=say.role(studies.output)), say("picture_movers_note"), shown)


def _of_grids(studies: Studies | None, say: Words) -> Iterator[Picture]:
    heat = studies.heat if studies is not None else None
    if heat is None:
        return
    output = plain(heat.output) if "!" in heat.output else say.role(heat.output)
    output = output[0].upper() + output[1:] if say.language == "en" and "!" not in output else output
    yield Picture(say("picture_heat", output=output), say("picture_heat_note"), grid(heat, heat.model))
    if heat.own_area is not None:
        area, wrong = plain(str(heat.own_area)), len(heat.differs)
        number = sum(value is not None for row in heat.own for value in row)
        note = say("picture_own_differs", number=wrong, all=number) if wrong else say("picture_own_same")
        yield Picture(say("picture_own", area=area), note, grid(heat, heat.own, heat.differs))


def _of_points(report: Report, say: Words) -> Iterator[Picture]:
    if report.score_card is None:
        return
    for by, caption in (("dimension", "picture_dimension"), ("stage", "picture_stage")):
        rows = _earned(report.score_card, by, say)
        if len(rows) > 1:
            yield Picture(say(caption), "", bars(rows, say))


def _earned(card: ScoreCard, by: str, say: Words) -> list[tuple[str, float, float, float]]:
    """Return (heading, earned, open, all) in points, in the order of the rubric."""
    totals: dict[str, list[float]] = {}
    for line in card.lines:
        if line.kind in ("program", "judge"):
            row = totals.setdefault(getattr(line, by) or "other", [0.0, 0.0, 0.0])
            row[0] += float(line.weight * line.credit_low)
            row[1] += float(line.at_stake)
            row[2] += float(line.weight)
    named = ((plain(say.word(heading), 36), amounts) for heading, amounts in totals.items())
    return [(heading, got, undecided, whole) for heading, (got, undecided, whole) in named if whole]
