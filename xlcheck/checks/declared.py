"""Whether a second answer says that it changed something: in its memo, or on a sheet that lists changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from xlcheck.cells import CellRef, Scalar, as_number
from xlcheck.checks.sheet import row_label
from xlcheck.evidence import folded
from xlcheck.memo import Memo, sentences
from xlcheck.recompute import Recalc

_LISTS_CHANGES = re.compile(r"chang|revis|\blog\b|follow|update|round|version|变更|修订|调整|更新", re.IGNORECASE)
_CHANGED = re.compile(
    r"\bchang|\brevis|\braise[sd]?\b|\braising|\blower(?:ed|s|ing)\b|\bupdated?\b|\bcorrect(?:ed|ion)|\badjust|\breplac|"
    r"\binstead of|\bno longer|\bpreviously|\bfirst round|\bnow\b.*\bwas\b|\bwas\b.*\bnow\b|→|->|"
    r"改为|调整|上调|下调|修订|更新为|由.{0,20}至",
    re.IGNORECASE,
)
"""Words that tell of a change; where they are missing the old value has to stand beside the new one."""
_GENERIC = frozenset(
    ["rate", "value", "total", "amount", "input", "assumption", "the", "and", "for", "per", "base", "case"]
)
"""Words of a label that a memo leaves out."""
_NUMBER = re.compile(r"[-−]?\d[\d,，\s\u00a0]*(?:\.\d+)?(?:\s*[%％])?|[-−]?\.\d+")


def passages(recalc: Recalc, memos: Iterable[Memo]) -> tuple[str, ...]:
    """Return the sentences of the memos and the rows of sheets that list changes."""
    found = [sentence for memo in memos for text in memo.texts for sentence in sentences(text)]
    for sheet in recalc.book.sheets:
        if _LISTS_CHANGES.search(sheet.name):
            rows: dict[int, list[str]] = {}
            for (row, _), cell in sorted(sheet.cells.items()):
                value = recalc.value(cell.ref)
                rows.setdefault(row, []).append(f"{value:g}" if isinstance(value, float | int) else str(value))
            found += [f"changed: {' | '.join(texts)}" for texts in rows.values()]
    return tuple(found)


def is_declared(texts: Iterable[str], recalc: Recalc, cell: CellRef, new: Scalar) -> bool:
    """Say whether a passage names a cell (by label or address) and gives its new value as a change of the old one."""
    names, old = _names(recalc, cell), recalc.number(cell)
    return any(
        _names_it(text, names)
        and _gives(text, new)
        and (_CHANGED.search(text) or (old is not None and _gives(text, old)))
        for text in texts
    )


def _names(recalc: Recalc, cell: CellRef) -> tuple[str, ...]:
    label = row_label(recalc, cell).partition(" | ")[0]
    bare = folded(re.sub(r"[(（].*?[)）]", " ", label)).strip(" :：,;-")
    return tuple(name for name in (folded(str(cell)), bare, bare.partition(",")[0]) if len(name) >= 3)


def _names_it(text: str, names: Iterable[str]) -> bool:
    plain = folded(text).replace("'", "").replace("$", "")
    return any(name.replace("'", "") in plain or _has_words(plain, name) for name in names)


def _has_words(plain: str, name: str) -> bool:
    words = [word for word in re.findall(r"[^\W\d_]{3,}", name) if word not in _GENERIC]
    return bool(words) and all(word in plain for word in words)


def _gives(text: str, new: Scalar) -> bool:
    wanted = as_number(new)
    if wanted is None:
        return str(new).casefold() in text.casefold()
    return any(abs(found - wanted) <= 0.006 * max(abs(wanted), 1e-9) for found in _numbers(text))


def _numbers(text: str) -> Iterator[float]:
    for match in _NUMBER.finditer(text):
        digits = re.sub(r"[\s\u00a0,，%％]", "", match[0]).replace("−", "-")
        if digits in ("", "-"):
            continue
        value = float(digits)
        yield value
        if match[0].rstrip().endswith(("%", "％")):
            yield value / 100
