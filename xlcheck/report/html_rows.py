"""The rows of the page that tell where the valuation stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlcheck.report.document import Report
from xlcheck.report.html_words import LONGEST
from xlcheck.report.language import Words
from xlcheck.report.words import plain, quantity
from xlcheck.roles import Located, LocatedSeries

_GLANCE = (
    "value_per_share", "current_price", "upside", "enterprise_value", "equity_value", "wacc", "terminal_growth",
    "exit_multiple",
)  # fmt: skip


class Glance(NamedTuple):
    """One key figure at the head of the page."""

    name: str
    value: str
    unit: str
    where: str


class RoleRow(NamedTuple):
    """A bound role or series as the page shows it."""

    role: str
    where: str
    value: str
    confidence: str
    how: str
    evidence: tuple[str, ...]


def glance(report: Report, say: Words) -> list[Glance]:
    """Return the key figures of the valuation, those that are bound."""
    return list(_key_figures(report, say))


def _key_figures(report: Report, say: Words) -> Iterator[Glance]:
    for role in _GLANCE:
        located = report.roles.get(role)
        if located is not None and located.value is not None:
            yield Glance(say.role(role), _value(located), _unit(located, say), _where(located))
    part, whole = report.roles.get("pv_terminal_value"), report.roles.get("enterprise_value")
    if part is not None and whole is not None and part.amount is not None and whole.amount:
        yield Glance(say("terminal_share"), f"{part.amount / whole.amount * 100:.1f} %", "", _where(part))


def _value(located: Located) -> str:
    value = located.value
    if value is None or located.unit == "date":
        return quantity(value, located.unit)
    if located.unit == "rate" and located.factor == 1:
        return f"{value * 100:.2f} %"
    return quantity(float(f"{value:.6g}"), located.unit)


def _unit(located: Located, say: Words) -> str:
    scales = (say(f"scale_{int(located.factor)}"),) if located.factor in _SCALES else ()
    return " ".join(part for part in (plain(located.currency or ""), *scales) if part)


_SCALES = (1e3, 1e4, 1e6, 1e8, 1e9)


def _where(located: Located) -> str:
    return plain(str(located.cell) if located.cell else located.expression or "", LONGEST)


def role_row(located: Located, say: Words, sheets: Sequence[str] = ()) -> RoleRow:
    """Return the row of a bound role."""
    value = quantity(located.value, located.unit if located.factor == 1 else "") if located.value is not None else ""
    return _row(located, _where(located), value, say, sheets)


def series_row(line: LocatedSeries, say: Words, sheets: Sequence[str] = ()) -> RoleRow:
    """Return the row of a bound series, with its first and last value."""
    first, last = line.cells[0], line.cells[-1]
    unit = line.unit if line.factor == 1 else ""
    ends = (
        quantity(value, unit) if value is not None else say("nothing") for value in (line.values[0], line.values[-1])
    )
    where = plain(f"{first}:{last.address}" if first != last else str(first), LONGEST)
    return _row(line, where, " … ".join(ends), say, sheets)


def _row(bound: Located | LocatedSeries, where: str, value: str, say: Words, sheets: Sequence[str]) -> RoleRow:
    how = " + ".join(say.word(plain(word)) for word in bound.how.split("+"))
    evidence = tuple(plain(say.sentence(text, "generic_evidence", sheets), LONGEST) for text in bound.evidence)
    return RoleRow(say.role(bound.role), where, value, f"{bound.confidence:.2f}", how, evidence)
