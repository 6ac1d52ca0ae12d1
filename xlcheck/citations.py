"""What an answer cites, in its register and its memo, held against the evidence pack and the cutoff."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from xlcheck.cells import CellRef
from xlcheck.evidence import Evidence, Source, folded, sources_named, unknown_ids
from xlcheck.memo import Memo, sentences
from xlcheck.recompute import Recalc
from xlcheck.register import Entry, Register, days_in, find_registers

Fault = Literal["unknown", "unread", "late", "undated"]
_OWN = re.compile(
    r"^\W*(?:(?:analyst|author|own|our|the team|personal|professional|internal)(?:['’]s)?\s+)?"
    r"(?:judg|assum|calculat|computed|deriv|convention\b|rounded)|^\W*(?:own|our|internal|author['’]s)\s|"
    r"^\W*(?:analyst|author)(?:['’]s)?\s+(?:estimate|view)|^\W*estimate[sd]?\W*(?:$|[:;,(])|"
    r"^\W*(?:the |per |from |given (?:in|by) (?:the )?)*(?:task|brief|assignment|case|rubric|prompt)\b|"
    r"^='?[^!]+'?!|^\W*[\w ]+!\$?[A-Z]{1,3}\$?\d|"
    r"^\W*(?:分析师|作者|自行|自己|本文|模型)?(?:判断|假设|估计|估算|测算|计算|推算)|^\W*(?:题目|任务)",
    re.IGNORECASE,
)
"""Words of a source that is the author's own reasoning or the task itself."""
_MENTION = "\u00a7"
"""Stands for a source in a sentence."""
_UNUSED = re.compile(
    rf"{_MENTION}[^.]{{0,80}}?\b(?:is|are|was|were|has|have|be|been|it|them|this|we)\b[^.]{{0,30}}?"
    r"\b(?:not (?:been )?(?:used|use|considered|read|opened|taken|relied|rely)|excluded?|disregard(?:ed)?|ignored?|"
    r"left out|left aside|set aside|leave (?:it|them|this) (?:out|aside))\b|"
    r"\b(?:(?:not|never|without) (?:been )?(?:use|using|used|rely(?:ing)? on|relied on|consider(?:ed|ing)?|"
    rf"read(?:ing)?|opened|taken)|exclude[sd]?|excluding|disregard(?:s|ed|ing)?|ignor(?:e|es|ed|ing)|leaves? out|"
    r"left out)\b"
    rf"\W*(?:[\w'-]+\W+){{0,4}}{_MENTION}|"
    rf"{_MENTION}[^.]{{0,80}}?\bplays? no (?:part|role)\b|"
    rf"{_MENTION}.{{0,30}}?(?:未使用|未采用|不采用|没有使用|不予|剔除)|(?:未使用|未采用|不采用|没有使用|剔除).{{0,12}}?{_MENTION}",
    re.IGNORECASE,
)
"""A sentence that names a source in order to say that it was not used."""


@dataclass(frozen=True, slots=True)
class Citation:
    """Something that an answer cites and should not have, or not like that."""

    fault: Fault
    message: str
    cell: CellRef | None
    """Where it stands in the register; None for a memo."""
    found: str
    """What is cited."""


def is_own(text: str) -> bool:
    """Say whether a source is the author's own judgement or arithmetic, or the task itself."""
    return _OWN.search(text) is not None


def citations(registers: Iterable[Register], memos: Iterable[Memo], evidence: Evidence) -> Iterator[Citation]:
    """Yield every citation at fault: register rows first, then memos."""
    for register in registers:
        for entry in register.entries:
            yield from _of_entry(entry, evidence)
    for memo in memos:
        yield from _of_memo(memo, evidence)


def _of_entry(entry: Entry, evidence: Evidence) -> Iterator[Citation]:
    named = sources_named(entry.source, evidence.sources or ())
    for source in named:
        yield from _of_source(source, f"{entry.source_cell} ({entry.name})", entry.source_cell, evidence)
    if named or not entry.source:
        return
    if evidence.sources is not None and evidence.closed and not is_own(entry.source):
        message = f"{entry.source_cell} ({entry.name}) names a source that is not in the evidence pack"
        yield Citation("unknown", message, entry.source_cell, entry.source)
    if not is_own(entry.source) and evidence.cutoff is not None:
        yield from _of_dates(entry, evidence)


def _of_dates(entry: Entry, evidence: Evidence) -> Iterator[Citation]:
    """Yield what is wrong with the date of a source that no pack knows: its column, else its own words."""
    if entry.day is not None and entry.day_cell is not None:
        if evidence.is_late(entry.day):
            message = f"{entry.day_cell} ({entry.name}) is dated {entry.day}, after the cutoff {evidence.cutoff}"
            yield Citation("late", message, entry.day_cell, str(entry.day))
        return
    words = sorted(days_in(entry.source))
    if words and words[0][1] and evidence.is_late(words[0][0]) and not _is_horizon(words[0][0], evidence):
        message = f"{entry.source_cell} ({entry.name}) is of {words[0][0]}, after the cutoff {evidence.cutoff}"
        yield Citation("late", message, entry.source_cell, str(words[0][0]))
    elif not words and not _STANDING.search(entry.source):
        message = f"{entry.source_cell} ({entry.name}) has no date, so nobody can say that it was known by the cutoff"
        yield Citation("undated", message, entry.day_cell or entry.source_cell, entry.source)


_STANDING = re.compile(r"\b(?:statut\w*|tax law|tax code|law|act|regulation)\b|税法|法定|法律", re.IGNORECASE)
"""Words of a source that holds at any date."""


def _is_horizon(day: date, evidence: Evidence) -> bool:
    """Say whether a day lies so far ahead that it is what a source speaks of, not when it was published."""
    return evidence.cutoff is not None and (day - evidence.cutoff).days > 366


def _of_source(source: Source, where: str, cell: CellRef | None, evidence: Evidence) -> Iterator[Citation]:
    if evidence.is_late(source.published):
        message = f"{where} cites {source.id}, published on {source.published}, after the cutoff {evidence.cutoff}"
        yield Citation("late", message, cell, source.id)
    elif source.published is None and evidence.cutoff is not None:
        yield Citation("undated", f"{where} cites {source.id}, whose date is not known", cell, source.id)
    elif evidence.read is not None and source.id.casefold() not in evidence.read:
        yield Citation("unread", f"{where} cites {source.id}, which was never opened", cell, source.id)


def _of_memo(memo: Memo, evidence: Evidence) -> Iterator[Citation]:
    seen: set[str] = set()
    for sentence in (part for text in memo.texts for part in sentences(text)):
        for source in sources_named(sentence, evidence.sources or ()):
            if source.id not in seen and not _says_unused(sentence, source):
                seen.add(source.id)
                yield from _of_source(source, memo.name, None, evidence)
        for name in unknown_ids(sentence, evidence.sources or ()):
            if name not in seen:
                seen.add(name)
                message = f"{memo.name} cites [{name}], which is not in the evidence pack"
                yield Citation("unknown", message, None, name)


def _says_unused(sentence: str, source: Source) -> bool:
    plain = folded(sentence)
    for name in sorted((source.id, *source.names), key=len, reverse=True):
        plain = plain.replace(folded(name), _MENTION)
    return _UNUSED.search(plain) is not None


def leak_in(recalc: Recalc | None, memos: Iterable[Memo], evidence: Evidence | None) -> str | None:
    """Return which evidence later than the cutoff an answer uses, in one sentence, or None."""
    if evidence is None or evidence.cutoff is None:
        return None
    registers = find_registers(recalc) if recalc is not None else ()
    late = [found for found in citations(registers, memos, evidence) if found.fault == "late"]
    if not late:
        return None
    return late[0].message + (f", and {len(late) - 1} more" if len(late) > 1 else "")
