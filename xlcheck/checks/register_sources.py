"""The sources of an answer: named, known to the task's evidence pack, opened, and public by the cutoff."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.checking import Finding, NotApplicable, Outcomes, check
from xlcheck.checks.memory import remembered
from xlcheck.checks.register import NONE, registers_of
from xlcheck.citations import Fault, citations
from xlcheck.evidence import Evidence
from xlcheck.graph import Graph
from xlcheck.memo import Memo
from xlcheck.recompute import Recalc
from xlcheck.register import Entry

_EMPTY = re.compile(
    r"(?:n\.?/?a\.?|none|nil|tbd|tbc|todo|unknown|xx+|\?+|-+|\.+|source|various(?: sources)?|internet|google|web|"
    r"online|待补|待定|未知|无|网上|网络|互联网)",
    re.IGNORECASE,
)
"""Words that stand where a source should and name none."""
_COMPUTED = re.compile(r"[-+*/(]")


@check("register.sourced")
def sourced(recalc: Recalc, graph: Graph, memos: tuple[Memo, ...], evidence: Evidence | None) -> Outcomes:
    """Each assumption names where it comes from, and what it names exists.

    What it holds:
        No entry of the register has an empty source or words that name none. Where the task has an evidence pack, the
        sources of register and memo are in it, and were opened where a log of readings is kept.
    Why it matters:
        A source that nobody can open, or that the author never opened, supports nothing.
    Accepted conventions:
        The author's own judgement, said to be that; values computed from other entries; the task itself; sources from
        outside the pack where the rubric allows them.
    Example:
        "Equity risk premium 6.2 %, source: internet"; a citation [S14] where the pack ends at S09.
    How to fix:
        Name the document and the page, or say that it is your judgement and why.
    Units and tolerance:
        None.
    Source:
        CFA Institute, Standards of Professional Conduct V(A) and V(C).
    """
    registers = registers_of(recalc)
    has_pack = evidence is not None and evidence.sources is not None
    if not registers and not (has_pack and memos):
        yield NotApplicable(reason=NONE)
        return
    for entry in (entry for register in registers for entry in register.entries):
        if not _is_computed(entry, recalc, graph) and (not entry.source or _EMPTY.fullmatch(entry.source.strip())):
            said = f"the words {entry.source!r} as its source" if entry.source else "no source"
            message = f"{entry.name!r} has {said}"
            yield Finding(message=message, cell=entry.source_cell, found=entry.source, expected="a document")
    yield from _cited(recalc, memos, evidence, ("unknown", "unread"))


def _is_computed(entry: Entry, recalc: Recalc, graph: Graph) -> bool:
    held = recalc.book.get(entry.value_cell)
    formula = None if held is None else held.formula
    return (
        formula is not None
        and graph.pure_link(entry.value_cell) == entry.value_cell
        and bool(_COMPUTED.search(formula))
    )


def _cited(
    recalc: Recalc, memos: tuple[Memo, ...], evidence: Evidence | None, faults: tuple[Fault, ...]
) -> Iterator[Finding]:
    known = evidence or Evidence()
    found = remembered(
        recalc, ("citations", id(evidence)), lambda: tuple(citations(registers_of(recalc), memos, known))
    )
    for one in found:
        if one.fault in faults:
            yield Finding(message=one.message, cell=one.cell, found=one.found, expected=None)


@check("register.dated-before-cutoff")
def dated_before_cutoff(recalc: Recalc, memos: tuple[Memo, ...], evidence: Evidence | None) -> Outcomes:
    """Nothing that the answer rests on was published after the cutoff.

    What it holds:
        Every source that register or memo cite has a date, and it is not later than the rubric's cutoff: by the
        evidence pack where it is listed there, else by the date in its row, else by a date in its own words.
    Why it matters:
        An answer that knows what came later is no forecast.
    Accepted conventions:
        Judgement and arithmetic, which have no date of publication; law; a month or a year, taken at its first day;
        periods and horizons that a source's words speak of; sources that the memo names in order to say that they were
        not used.
    Example:
        A share price of 12 May in an answer as of 31 March.
    How to fix:
        Use what was public by the cutoff, and give its date.
    Units and tolerance:
        Whole days.
    Source:
        The rubric's cutoff.
    """
    registers = registers_of(recalc)
    if evidence is None or evidence.cutoff is None:
        yield NotApplicable(reason="the rubric sets no cutoff")
        return
    if not registers and not (evidence.sources is not None and memos):
        yield NotApplicable(reason=NONE)
        return
    yield from _cited(recalc, memos, evidence, ("late", "undated"))
