"""Plain-text listings for the terminal: bound roles, recomputed cells, the catalogue of checks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal

from xlcheck.cells import CellRef
from xlcheck.checking import Check
from xlcheck.recompute import CellVerdict, Recalc
from xlcheck.report.words import amount, columns, count, plain, quantity
from xlcheck.roles import Located, LocatedSeries, Roles
from xlcheck.rubric import Rubric, fingerprint

SHOWN = 40
"""Stale or unsolved cells that a listing shows before it only counts them."""


def roles_text(roles: Roles) -> str:
    """Return the bound roles as a table: role, cell, value, confidence, how it was found."""
    lines = [f"Headline valuation: {_headline(roles)}\n"]
    if roles.scalars:
        rows = [["role", "cell", "value", "sure", "found by"], *map(_scalar_row, roles.scalars.values())]
        lines.append("\nRoles\n" + columns(rows))
    if roles.series:
        rows = [["role", "cells", "", "sure", "found by"], *map(_series_row, roles.series.values())]
        lines.append("\nSeries\n" + columns(rows))
    if roles.ambiguous:
        lines.append("\nNot told apart, so not bound\n" + columns(_rival_rows(roles.ambiguous)))
    return "".join(lines)


def _headline(roles: Roles) -> str:
    if roles.headline_ambiguous:
        return "ambiguous, several live valuations stand side by side"
    return plain(roles.headline) if roles.headline else "none found"


def _scalar_row(located: Located) -> list[str]:
    where = str(located.cell) if located.cell else plain(located.expression or "")
    return [located.role, plain(where), amount(located), f"{located.confidence:.2f}", located.how]


def _series_row(line: LocatedSeries) -> list[str]:
    first, last = line.cells[0], line.cells[-1]
    where = str(first) if first == last else f"{first}:{last.address}"
    return [line.role, plain(where), count(len(line.cells), "cell"), f"{line.confidence:.2f}", line.how]


def _rival_rows(ambiguous: Mapping[str, tuple[Located, ...]]) -> Iterator[list[str]]:
    for role, rivals in ambiguous.items():
        yield [role, plain(" or ".join(str(rival.cell or rival.expression) for rival in rivals))]


def recalc_text(recalc: Recalc) -> str:
    """Return the count of each verdict, then stale and unsolved cells with both values."""
    counts = Counter(verdict.status for verdict in recalc.verdicts.values())
    text = (
        f"{count(len(recalc.verdicts), 'formula cell')}: {counts['same']:,} same, {counts['stale']:,} stale, "
        f"{counts['unsolved']:,} not recomputed, {counts['no_stored_value']:,} without a stored value\n"
    )
    for status, title in (("stale", "Stale: stored value, value that follows"), ("unsolved", "Not recomputed")):
        found = [(ref, verdict) for ref, verdict in recalc.verdicts.items() if verdict.status == status]
        if found:
            text += f"\n{title}\n" + columns(_verdict_row(ref, verdict) for ref, verdict in found[:SHOWN])
        if len(found) > SHOWN:
            text += f"  … and {len(found) - SHOWN:,} more; --json lists all\n"
    return text


def _verdict_row(ref: CellRef, verdict: CellVerdict) -> list[str]:
    if verdict.unsolved is not None and verdict.status == "unsolved":
        return [plain(str(ref)), verdict.unsolved.kind.replace("_", " "), plain(verdict.unsolved.detail)]
    expected = verdict.recomputed if verdict.expected is None else verdict.expected
    return [plain(str(ref)), quantity(verdict.stored), quantity(expected)]


def checks_text(checks: Mapping[str, Check]) -> str:
    """Return every check with its severity and the first line of its page."""
    rows = ([check.id, check.severity, check.doc.partition("\n")[0]] for _, check in sorted(checks.items()))
    return columns(rows, indent="")


def binding_text(roles: Roles) -> str:
    """Return a binding file of the bound roles, for a grader to correct; derived roles stand as comments."""
    lines = ["# role: cell or range. Correct it, and pass it back with --binding; it goes above what is inferred.\n"]
    for located in roles.scalars.values():
        if located.cell is None:
            lines.append(f"# {located.role}: derived, {plain(located.expression or '')}\n")
        else:
            lines.append(f"{located.role}: {quoted(str(located.cell))}\n")
    for line in roles.series.values():
        first, last = line.cells[0], line.cells[-1]
        lines.append(f"{line.role}: {quoted(str(first) if first == last else f'{first}:{last.address}')}\n")
    for role, rivals in roles.ambiguous.items():
        where = " or ".join(quoted(str(rival.cell)) for rival in rivals if rival.cell)
        lines.append(f"# {role}: {where}\n")
    return "".join(lines)


def quoted(text: str) -> str:
    """Return a text as a YAML scalar in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def rubric_json(rubric: Rubric) -> dict[str, object]:
    """Return what ``rubric check --json`` prints."""
    return {
        "id": rubric.id,
        "title": rubric.title,
        "mode": rubric.mode,
        "program_items": len(rubric.program),
        "program_points": str(sum((item.weight for item in rubric.program), Decimal(0))),
        "judge_items": len(rubric.judge),
        "judge_points": str(sum((item.weight for item in rubric.judge), Decimal(0))),
        "deductions": len(rubric.deductions),
        "fatal": [rule.key for rule in rubric.fatal],
        "sha256": fingerprint(rubric),
    }


def rubric_text(rubric: Rubric) -> str:
    """Return the same as one readable paragraph."""
    facts = rubric_json(rubric)
    return (
        f"{rubric.id}: valid. {rubric.title}\n"
        f"  {count(len(rubric.program), 'check item')} with {facts['program_points']} points, "
        f"{count(len(rubric.judge), 'judge item')} with {facts['judge_points']}, "
        f"{count(len(rubric.deductions), 'deduction')}, {count(len(rubric.fatal), 'fatal rule')} "
        f"(cap {rubric.cap_on_fatal})\n"
    )
