"""Two reports side by side: which items and checks came out differently and why, and which values moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import count as count_up
from itertools import zip_longest

from xlcheck.cells import CellRef, Frozen
from xlcheck.checking import CheckResult, Workpaper
from xlcheck.effects import headline_output
from xlcheck.errors import UsageError
from xlcheck.influence import numeric_inputs
from xlcheck.report.document import Report
from xlcheck.report.labels import label_of
from xlcheck.report.words import columns, count, plain, points, quantity
from xlcheck.scoring.card import Line

MOST_INPUTS = 40
"""Typed inputs that the terminal lists."""


class Side(Frozen):
    """What one report says of an item or check."""

    points: Decimal | None
    """Points at the low end; None for a check without a score, or a fatal rule."""
    status: str
    reason: str | None
    """First finding with its cell, or the reason."""


class ItemDifference(Frozen):
    """One item, deduction, fatal rule or check that came out differently; a side is None where it is not there."""

    item: str
    title: str
    first: Side | None
    second: Side | None


class ValueDifference(Frozen):
    """One bound role whose value moved."""

    role: str
    unit: str
    first: float | None
    second: float | None


class SeriesDifference(Frozen):
    """One bound line of the forecast with values that moved; a side is empty where it is not bound."""

    role: str
    unit: str
    first: tuple[float | None, ...]
    second: tuple[float | None, ...]

    @property
    def moved(self) -> int:
        """How many periods differ."""
        return sum(not _same(one, two) for one, two in zip_longest(self.first, self.second))


class InputDifference(Frozen):
    """One typed number behind the headline that is another one in the second workbook; None where it is not there."""

    cell: CellRef
    """In the first workbook, else in the second."""
    label: str
    first: float | None
    second: float | None


class Comparison(Frozen):
    """What differs between two reports by the same rubric."""

    names: tuple[str, str]
    scores: tuple[str, str] | None
    """Low end, or ``low to high``; None where neither report has a score."""
    items: tuple[ItemDifference, ...]
    values: tuple[ValueDifference, ...]
    """Roles whose recomputed values differ by more than a millionth."""
    series: tuple[SeriesDifference, ...] = ()
    """Lines of the forecast that differ in some period."""
    inputs: tuple[InputDifference, ...] | None = None
    """Typed inputs that differ; None unless two workbooks were compared."""


def compare_papers(first: Report, second: Report, papers: tuple[Workpaper, Workpaper]) -> Comparison:
    """Compare two audited workbooks: as `compare` does, and input by input."""
    return compare(first, second).model_copy(update={"inputs": tuple(_inputs(*papers))})


def compare(first: Report, second: Report) -> Comparison:
    """Compare two reports; UsageError if one has a score and the other none, or if the rubrics differ."""
    if first.rubric_sha256 != second.rubric_sha256:
        raise UsageError(f"the reports are by different rubrics: {first.rubric_id} and {second.rubric_id}, or versions")
    if (first.score_card is None) != (second.score_card is None):
        raise UsageError("one report is graded and the other audited; compare two of a kind")
    scores = None
    if first.score_card is not None and second.score_card is not None:
        scores = (_score(first), _score(second))
    return Comparison(
        names=(first.workbook or "no workbook", second.workbook or "no workbook"),
        scores=scores,
        items=tuple(_items(_sides(first), _sides(second))),
        values=tuple(_values(first, second)),
        series=tuple(_series(first, second)),
    )


def _score(report: Report) -> str:
    card = report.score_card
    if card is None or card.low is None or card.high is None:
        return "none"
    return points(card.low) if card.low == card.high else f"{points(card.low)} to {points(card.high)}"


def _sides(report: Report) -> dict[str, tuple[str, Side]]:
    """Return key to (title, side) of every line of the card, or of every check of an audit."""
    if report.score_card is not None:
        return {f"{line.kind} {line.item}": (line.title, _line(line)) for line in report.score_card.lines}
    return {result.check_id: (result.check_id, _result(result)) for result in report.results}


def _line(line: Line) -> Side:
    earned = line.weight * line.credit_low if line.kind in ("program", "judge") else None
    status = "open" if line.open else "full" if line.credit_low == 1 else "partial" if line.credit_low else "none"
    if line.kind in ("deduction", "fatal") and not line.open:
        status = "not triggered" if line.credit_low == 1 else "triggered"
    said = f"{line.cell}: {line.message}" if line.cell and line.message else line.message or line.reason
    return Side(points=earned, status=status, reason=said)


def _result(result: CheckResult) -> Side:
    said = f"{result.findings[0].cell}: {result.findings[0].message}" if result.findings else result.reason
    return Side(points=None, status=result.status, reason=said)


def _items(first: Mapping[str, tuple[str, Side]], second: Mapping[str, tuple[str, Side]]) -> Iterator[ItemDifference]:
    for key in dict.fromkeys((*first, *second)):
        one, two = first.get(key), second.get(key)
        if one is None or two is None or (one[1].points, one[1].status) != (two[1].points, two[1].status):
            title = (one or two or ("", None))[0]
            yield ItemDifference(
                item=key.rpartition(" ")[2],
                title=title,
                first=one[1] if one else None,
                second=two[1] if two else None,
            )


def _values(first: Report, second: Report) -> Iterator[ValueDifference]:
    units = {role: located.unit for role, located in (*first.roles.items(), *second.roles.items())}
    for role, unit in units.items():
        one, two = first.roles.get(role), second.roles.get(role)
        before, after = one.value if one else None, two.value if two else None
        if not _same(before, after):
            yield ValueDifference(role=role, unit=unit, first=before, second=after)


def _series(first: Report, second: Report) -> Iterator[SeriesDifference]:
    units = {role: line.unit for role, line in (*first.series.items(), *second.series.items())}
    for role, unit in units.items():
        one, two = first.series.get(role), second.series.get(role)
        moved = SeriesDifference(
            role=role, unit=unit, first=one.values if one else (), second=two.values if two else ()
        )
        if moved.moved:
            yield moved


def _same(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return abs(one - two) <= 1e-6 * max(abs(one), abs(two))


def _inputs(first: Workpaper, second: Workpaper) -> Iterator[InputDifference]:
    """Yield the typed numbers that differ; cells are paired by sheet, label and column, so that rows may have moved."""
    one, two = _named_inputs(first), _named_inputs(second)
    for key in dict.fromkeys((*one, *two)):
        before, after = one.get(key), two.get(key)
        held = before or after
        assert held is not None
        values = before[1] if before else None, after[1] if after else None
        if not _same(*values):
            yield InputDifference(cell=held[0], label=plain(key[1], 200), first=values[0], second=values[1])


def _named_inputs(paper: Workpaper) -> dict[tuple[str, str, int, int], tuple[CellRef, float]]:
    """Return the typed numbers behind the headline by sheet, label, column, and count of those so far."""
    output = headline_output(paper.roles)
    found: dict[tuple[str, str, int, int], tuple[CellRef, float]] = {}
    for ref in numeric_inputs(paper.recalc, [output[1]] if output else []):
        label, value = label_of(paper, ref), paper.recalc.number(ref)
        at = next(at for at in count_up() if (ref.sheet, label, ref.column, at) not in found)
        if value is not None:
            found[ref.sheet, label, ref.column, at] = ref, value
    return found


def comparison_text(found: Comparison) -> str:
    """Return the comparison for a terminal."""
    one, two = (plain(name) for name in found.names)
    lines = [f"{one} (first) and {two} (second)\n"]
    if found.scores is not None:
        lines.append(f"Score: {found.scores[0]} and {found.scores[1]}\n")
    lines.append(f"\n{count(len(found.items), 'item')} came out differently\n")
    for item in found.items:
        lines.append(f"  {item.item}{'' if item.title == item.item else '  ' + plain(item.title, 200)}\n")
        lines += [
            f"    {name + ':':8}{_said(side)}\n" for name, side in (("first", item.first), ("second", item.second))
        ]
    if found.values:
        lines.append("\nValues that moved\n")
        lines.append(columns(_moved(value) for value in found.values))
    if found.series:
        lines.append("\nLines of the forecast that moved\n")
        lines.append(columns(_moved_line(line) for line in found.series))
    if found.inputs is not None:
        lines.append(f"\n{count(len(found.inputs), 'typed input')} behind the headline differ\n")
        lines.append(columns(_moved_input(one) for one in found.inputs[:MOST_INPUTS]))
        more = len(found.inputs) - MOST_INPUTS
        lines += [f"  … and {more} more with --json\n"] if more > 0 else []
    return "".join(lines)


def _said(side: Side | None) -> str:
    if side is None:
        return "not there"
    shown = side.status if side.points is None else f"{side.status}, {count_points(side.points)}"
    return f"{shown}; {plain(side.reason, 300)}" if side.reason else shown


def count_points(value: Decimal) -> str:
    """Return ``1 point`` or ``2.5 points``."""
    return f"{points(value)} point{'' if value == 1 else 's'}"


def _moved(value: ValueDifference) -> list[str]:
    return [value.role, quantity(value.first, value.unit), "→", quantity(value.second, value.unit)]


def _moved_line(line: SeriesDifference) -> list[str]:
    if not line.first or not line.second:
        return [line.role, "only in the " + ("first" if line.first else "second")]
    pairs = ((one, two) for one, two in zip_longest(line.first, line.second) if not _same(one, two))
    one, two = next(pairs)
    where = f"{line.moved} of {max(len(line.first), len(line.second))} periods"
    return [line.role, f"{where}, first {quantity(one, line.unit)} → {quantity(two, line.unit)}"]


def _moved_input(one: InputDifference) -> list[str]:
    return [plain(str(one.cell)), plain(one.label, 60), quantity(one.first), "→", quantity(one.second)]
