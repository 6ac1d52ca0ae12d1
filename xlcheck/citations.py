"""What an answer cites, in its register and its memo, held against the evidence pack and the cutoff."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from xlcheck.cells import CellRef
from xlcheck.evidence import Evidence, Source, sources_named, unknown_ids
from xlcheck.memo import Memo
from xlcheck.recompute import Recalc
from xlcheck.register import Entry, Register, day_in, find_registers

Fault = Literal["unknown", "unread", "late", "undated"]
_OWN = re.compile(
    r"^\W*(?:(?:analyst|author|own|our|the team|personal|professional|internal)(?:['’]s)?\s+)?"
    r"(?:judg|assum|estimat|calculat|computed|deriv|convention|view|expectation|round|target|model default)|"
    r"^\W*(?:the |per |from |given (?:in|by) (?:the )?)*(?:task|brief|assignment|case|rubric|prompt)\b|"
    r"^='?[^!]+'?!|^\W*[\w ]+!\$?[A-Z]{1,3}\$?\d|"
    r"^\W*(?:分析师|作者|自行|自己|本文|模型)?(?:判断|假设|估计|估算|测算|计算|推算)|^\W*(?:题目|任务)",
    re.IGNORECASE,
)
"""Words of a source that is the author's own reasoning or the task itself."""
_UNUSED = re.compile(
    r"\bnot (?:been )?(?:used|considered|relied|read|opened|taken)|\bwithout using|disregard|ignor|exclud|left out|"
    r"(?:after|later than|beyond|past) the (?:cut-?off|date)|post-cut-?off|未使用|未采用|不予|剔除|截止日之后|晚于",
    re.IGNORECASE,
)
"""Words of a sentence that names a source in order to say that it was not used."""


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
            yield from _of_entry(entry, register, evidence)
    for memo in memos:
        yield from _of_memo(memo, evidence)


def _of_entry(entry: Entry, register: Register, evidence: Evidence) -> Iterator[Citation]:
    named = sources_named(entry.source, evidence.sources or ())
    for source in named:
        yield from _of_source(source, f"{entry.source_cell} ({entry.name})", entry.source_cell, evidence)
    if named or not entry.source:
        return
    if evidence.sources is not None and evidence.closed and not is_own(entry.source):
        message = f"{entry.source_cell} ({entry.name}) names a source that is not in the evidence pack"
        yield Citation("unknown", message, entry.source_cell, entry.source)
    if is_own(entry.source) or evidence.cutoff is None:
        return
    stated = entry.day if "day" in register.columns else None
    day = stated or day_in(entry.source)
    where = entry.day_cell if stated is not None and entry.day_cell is not None else entry.source_cell
    if evidence.is_late(day):
        message = f"{where} ({entry.name}) is dated {day}, after the cutoff {evidence.cutoff}"
        yield Citation("late", message, where, str(day))
    elif day is None and not is_standing(entry.source):
        message = f"{entry.source_cell} ({entry.name}) has no date, so nobody can say that it was known by the cutoff"
        yield Citation("undated", message, where if entry.day_cell is None else entry.day_cell, entry.source)


def is_standing(text: str) -> bool:
    """Say whether a source is law or arithmetic that holds at any date."""
    return (
        re.search(r"\b(?:statut|tax law|tax code|law|act|regulation)\b|税法|法定|法律", text, re.IGNORECASE) is not None
    )


def _of_source(source: Source, where: str, cell: CellRef | None, evidence: Evidence) -> Iterator[Citation]:
    if evidence.is_late(source.published):
        message = f"{where} cites {source.id}, published on {source.published}, after the cutoff {evidence.cutoff}"
        yield Citation("late", message, cell, source.id)
    elif source.published is None and evidence.cutoff is not None:
        yield Citation("undated", f"{where} cites {source.id}, whose date is not known", cell, source.id)
    elif evidence.read is not None and source.id.casefold() not in evidence.read:
        yield Citation("unread", f"{where} cites {source.id}, which was never opened", cell, source.id)


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[\"'])|[。！？；]|\n+")


def _of_memo(memo: Memo, evidence: Evidence) -> Iterator[Citation]:
    seen: set[str] = set()
    for sentence in (part for text in memo.texts for part in _SENTENCE.split(text)):
        for source in sources_named(sentence, evidence.sources or ()):
            if source.id in seen or _UNUSED.search(sentence):
                continue
            seen.add(source.id)
            yield from _of_source(source, memo.name, None, evidence)
        for name in unknown_ids(sentence, evidence.sources or ()):
            if name not in seen:
                seen.add(name)
                message = f"{memo.name} cites [{name}], which is not in the evidence pack"
                yield Citation("unknown", message, None, name)


def leak_in(recalc: Recalc | None, memos: Iterable[Memo], evidence: Evidence | None) -> str | None:
    """Return which evidence later than the cutoff an answer uses, in one sentence, or None."""
    if evidence is None or evidence.cutoff is None:
        return None
    registers = find_registers(recalc) if recalc is not None else ()
    late = [found for found in citations(registers, memos, evidence) if found.fault == "late"]
    if not late:
        return None
    return late[0].message + (f", and {len(late) - 1} more" if len(late) > 1 else "")
