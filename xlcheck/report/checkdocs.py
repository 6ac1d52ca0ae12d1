"""The pages of the checks, made from their docstrings: ``python -m xlcheck.report.checkdocs`` writes docs/checks.md."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from xlcheck.checking import CHECKS, Check

SECTIONS = (
    "What it holds",
    "Why it matters",
    "Accepted conventions",
    "Example",
    "How to fix",
    "Units and tolerance",
    "Source",
)
_HEADING = re.compile(rf"({'|'.join(SECTIONS)})\s*:?\s*(.*)\Z")
_RULE = re.compile(r"[-=~]{3,}\Z")
_INTRODUCTION = """# Checks

Generated from the docstrings by `python -m xlcheck.report.checkdocs`; a test compares.
`xlcheck checks ID` prints the same text.

A check of severity *fatal* caps the score, *scored* counts by its rubric item,
*warn* is reported and costs points only as a rubric item.
Tolerance, where a page says nothing else: 10⁻⁶ of the largest absolute term.
"""


def sections(doc: str) -> dict[str, str]:
    """Split a docstring into its summary (key ``""``) and its fixed sections, each as unindented text."""
    found: dict[str, list[str]] = {"": []}
    current = ""
    for line in doc.splitlines():
        heading = _HEADING.match(line)
        if heading:
            current = heading[1]
            found[current] = [heading[2]] if heading[2] else []
        elif not _RULE.match(line):
            found[current].append(line)
    return {name: _unindent(lines) for name, lines in found.items()}


def summary(check_id: str) -> str:
    """Return the first sentence of a declared check's page, empty for one that is not declared here."""
    return CHECKS[check_id].doc.partition("\n")[0] if check_id in CHECKS else ""


def _unindent(lines: list[str]) -> str:
    later = [line for line in lines if line.strip() and line.startswith(" ")]
    indent = min((len(line) - len(line.lstrip()) for line in later), default=0)
    return "\n".join(line[indent:] if line.startswith(" " * indent) else line for line in lines).strip()


def missing_sections(check: Check) -> list[str]:
    """Return the names of the fixed sections that a docstring lacks or leaves empty."""
    found = sections(check.doc)
    return [name for name in SECTIONS if not found.get(name)]


def check_page(check: Check) -> str:
    """Return the page of one check in Markdown."""
    parts = sections(check.doc)
    lines = [f"### `{check.id}`", "", parts[""], "", f"*Severity:* {check.severity}. *Needs:* {_needs(check, '`')}"]
    if check.consequence_of:
        lines += ["", f"*Follows from:* {_listed(check.consequence_of, '`')}; {_NOT_AGAIN}"]
    for name in SECTIONS:
        if parts.get(name):
            lines += ["", f"**{name}.** {parts[name]}"]
    return "\n".join(lines) + "\n"


def check_text(check: Check) -> str:
    """Return the page of one check for a terminal."""
    parts = sections(check.doc)
    lines = [check.id, parts[""], "", f"Severity: {check.severity}. Needs: {_needs(check, '')}"]
    if check.consequence_of:
        lines.append(f"Follows from: {_listed(check.consequence_of, '')}; {_NOT_AGAIN}")
    for name in SECTIONS:
        if parts.get(name):
            lines += ["", name, textwrap.indent(parts[name].replace("``", ""), "  ")]
    return "\n".join(lines) + "\n"


_NOT_AGAIN = "a failure that only follows is reported and not charged again."


def _needs(check: Check, mark: str) -> str:
    required = [role for role, must in check.needs.items() if must]
    optional = [role for role, must in check.needs.items() if not must]
    needs = _listed(required, mark) or "no particular role"
    return needs + (f"; uses {_listed(optional, mark)} where found." if optional else ".")


def _listed(names: Iterable[str], mark: str) -> str:
    return ", ".join(f"{mark}{name}{mark}" for name in names)


def check_json(check: Check) -> dict[str, Any]:
    """Return one check as ``checks --json`` lists it."""
    parts = sections(check.doc)
    return {
        "id": check.id,
        "severity": check.severity,
        "summary": parts[""],
        "needs": [role for role, must in check.needs.items() if must],
        "uses": [role for role, must in check.needs.items() if not must],
        "consequence_of": list(check.consequence_of),
        "sections": {name: parts[name] for name in SECTIONS if name in parts},
    }


def checks_page(checks: Mapping[str, Check]) -> str:
    """Return docs/checks.md: every check, by family in the order they are declared."""
    return "\n".join([_INTRODUCTION, *_families(checks)])


def _families(checks: Mapping[str, Check]) -> Iterator[str]:
    by_family = sorted(checks.values(), key=lambda check: check.id.partition(".")[0])
    for family, members in groupby(by_family, key=lambda check: check.id.partition(".")[0]):
        yield f"## {family}\n"
        yield from (check_page(check) for check in members)


def main() -> None:
    """Write docs/checks.md of the current directory."""
    from pathlib import Path

    import xlcheck.checks  # noqa: F401 - declares the checks

    Path("docs/checks.md").write_text(checks_page(CHECKS), encoding="utf-8")


if __name__ == "__main__":
    main()
