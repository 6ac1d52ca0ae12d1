"""Rewrite the references of a formula in its text, leaving everything else as it was written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["cell", "area", "columns", "rows", "name", "table", "spill"]

_A1 = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_END = r"(?![\w.(!\[])"
_FORMULA = re.compile(
    rf"""
    (?P<string>"(?:[^"]|"")*")
  | (?P<error>\#(?:N/A|GETTING_DATA|[A-Z/0]+[!?]))
  | (?P<sheet>'(?:[^']|'')+'! | (?:\[[^\[\]]+\])?[\w.]+(?::[\w.]+)?! | \[[^\[\]]+\]!)?
    (?:
      (?P<spill>{_A1}\#)
    | (?P<area>{_A1}:{_A1}{_END})
    | (?P<cell>{_A1}{_END})
    | (?P<columns>\$?[A-Za-z]{{1,3}}:\$?[A-Za-z]{{1,3}}{_END})
    | (?P<rows>\$?[0-9]{{1,7}}:\$?[0-9]{{1,7}}{_END})
    | (?P<table>(?:[^\W\d][\w.\\?]*)?\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*\])*\])
    | (?P<function>[^\W\d][\w.]*\()
    | (?P<name>[^\W\d][\w.\\?]*)
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_KEPT = frozenset({"string", "error", "function", "number"})
_LOCAL = ("_xlpm.", "_xlnm.")


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference as it stands in a formula."""

    kind: Kind
    sheet: str | None
    """Sheet name or span without quotes and ``!``, external links as ``[1]Sheet``; None if not written."""
    body: str
    """What follows the sheet: ``$A$1:B2``, a name, or ``Table[column]``."""

    def __str__(self) -> str:
        return self.body if self.sheet is None else f"{quote(self.sheet)}{self.body}"


def rewrite_references(formula: str, rewrite: Callable[[Reference], str | None]) -> str:
    """Return the formula with each reference replaced by what `rewrite` returns (None leaves it)."""

    def replace(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind in _KEPT and match["sheet"] is None:
            return match[0]
        body = match[0] if match["sheet"] is None else match[0][len(match["sheet"]) :]
        if kind == "name" and (body.upper() in ("TRUE", "FALSE") or body.startswith(_LOCAL)):
            return match[0]
        written = match["sheet"]
        sheet = None if written is None else unquote(written)
        found = rewrite(Reference(kind, sheet, body))  # type: ignore[arg-type]
        return match[0] if found is None else found

    return _FORMULA.sub(replace, formula)


def unquote(written: str) -> str:
    """Return the sheet of a written prefix: ``'It''s'!`` gives ``It's``."""
    name = written[:-1]
    return name[1:-1].replace("''", "'") if name.startswith("'") else name


_PLAIN = re.compile(r"[^\W\d][\w.]*\Z")
_ADDRESS = re.compile(r"[A-Za-z]{1,3}[0-9]{1,7}\Z|[Rr][0-9]*[Cc][0-9]*\Z|[Rr]\Z|[Cc]\Z")


def quote(sheet: str) -> str:
    """Return the prefix that names a sheet, with its ``!`` and with quotes where they are needed."""
    if _PLAIN.match(sheet) and not _ADDRESS.match(sheet):
        return f"{sheet}!"
    return "'" + sheet.replace("'", "''") + "'!"
