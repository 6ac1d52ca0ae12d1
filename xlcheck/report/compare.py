"""Two reports side by side: which items and checks came out differently and why, and which values moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from xlcheck.cells import Frozen
from xlcheck.checking import CheckResult
from xlcheck.errors import UsageError
from xlcheck.report.document import Report
from xlcheck.report.words import columns, count, plain, points, quantity
from xlcheck.scoring.card import Line


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


class Comparison(Frozen):
    """What differs between two reports by the same rubric."""

    names: tuple[str, str]
    scores: tuple[str, str] | None
    """Low end, or ``low to high``; None where neither report has a score."""
    items: tuple[ItemDifference, ...]
    values: tuple[ValueDifference, ...]
    """Roles whose recomputed values differ by more than a millionth."""


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
        same = before == after
        if before is not None and after is not None:
            same = abs(before - after) <= 1e-6 * max(abs(before), abs(after))
        if not same:
            yield ValueDifference(role=role, unit=unit, first=before, second=after)


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
