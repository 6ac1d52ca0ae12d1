"""The second round beside the first, for people: what the outputs came to, and which cells moved them."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.cells import CellRef, Scalar, as_number
from xlcheck.checking import Workpaper
from xlcheck.checks.declared import is_declared, passages
from xlcheck.checks.rounds import Rounds, rounds
from xlcheck.checks.sheet import row_label
from xlcheck.diff import Change, Difference
from xlcheck.report.words import columns, plain, quantity

MOST = 200
"""Changed cells that are listed; the rest shows in the outputs."""


def differences(paper: Workpaper) -> tuple[Difference, ...]:
    """Return the outputs of both rounds, then the cells at which something begins or ends; empty for a first round."""
    if paper.second_round is None or paper.previous is None:
        return ()
    both = rounds(paper.recalc, paper.graph, paper.roles, paper.second_round, paper.previous)
    texts = passages(paper.recalc, paper.memos)
    told = [one for one in both.changes if one.before in both.pins]
    pasted = [one for one in both.changes if one.kind == "overwritten"]
    began = [*told, *pasted, *both.roots, *both.twisted]
    return (*_outputs(both), *(_changed(both, one, texts) for one in dict.fromkeys(began[:MOST])))


def _outputs(both: Rounds) -> Iterator[Difference]:
    for role, (before, after) in both.outputs.items():
        old, new = both.first.recalc.number(before), as_number(both.now(after))
        yield Difference(kind="output", label=role, before=before, after=after, old=old, new=new)


def _changed(both: Rounds, one: Change, texts: tuple[str, ...]) -> Difference:
    new = both.now(one.after)
    return Difference(
        kind=one.kind,
        label=_label(both, one.before),
        before=one.before,
        after=one.after,
        old=_plain(both.first.recalc.number(one.before) if one.kind != "input" else one.old),
        new=_plain(new),
        declared=is_declared(texts, both.first.recalc, one.before, new),
    )


def _label(both: Rounds, cell: CellRef) -> str:
    return row_label(both.first.recalc, cell).partition(" | ")[0]


def _plain(value: Scalar) -> float | str | None:
    number = as_number(value)
    return number if number is not None else None if value is None else str(value)


def differences_text(found: tuple[Difference, ...], most: int = 12) -> str:
    """Return the differences as a table for the terminal."""
    rows = [["", "first round", "second round", ""]]
    for one in found[: most + 3]:
        where = "" if one.kind == "output" else str(one.after)
        name = one.label.replace("_", " ") if one.kind == "output" else one.label
        said = "declared" if one.declared else ""
        rows.append([plain(name or where, 60), quantity(one.old), quantity(one.new), f"{plain(where)}  {said}".strip()])
    more = len(found) - most - 3
    return columns(rows).rstrip() + (f"\n  … and {more} more" if more > 0 else "") + "\n"
