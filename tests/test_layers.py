"""A file imports only from its own row or from a smaller one; the rows stand in docs/architecture.md too."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "xlcheck"
ROWS = {
    "errors": 0,
    "progress": 0,
    "modeldocs": 0,
    "cells": 0,
    "resources": 0,
    "yamltext": 0,
    "intake": 1,
    "memo": 1,
    "tabular": 1,
    "workbook": 1,
    "reading": 1,
    "formula": 1,
    "keyed": 2,
    "engines": 2,
    "normalise": 3,
    "live": 3,
    "localcheck": 3,
    "recompute": 3,
    "graph": 3,
    "influence": 3,
    "roles": 4,
    "binding": 4,
    "dcf": 4,
    "followup": 4,
    "diff": 4,
    "actuals": 4,
    "evidence": 4,
    "register": 4,
    "citations": 4,
    "checking": 5,
    "checks": 6,
    "rubric_items": 7,
    "rubric_sections": 7,
    "rubric_faults": 7,
    "rubric": 7,
    "verdicts": 7,
    "overrides": 7,
    "quotes": 7,
    "scoring": 8,
    "schemas": 12,
    "reference": 12,
    "report": 9,
    "effects": 9,
    "taskfiles": 8,
    "modes": 9,
    "pipeline": 10,
    "confinement": 1,
    "isolation": 1,
    "storage": 0,
    "batching": 11,
    "serving": 11,
    "calibrate": 11,
    "discrimination": 11,
    "discrimination_page": 11,
    "provenance": 11,
    "judging": 11,
    "authoring": 11,
    "explaining": 11,
    "mutation": 11,
    "mutate": 11,
    "arguments": 12,
    "commands": 12,
    "cli": 12,
    "testing": 12,
    "pytest_plugin": 12,
    "inspect_scorer": 12,
    "__init__": 12,
}
ENGINE_LIBRARIES = {"cellrune", "formualizer", "formulas"}
FILES = sorted(path.relative_to(PACKAGE).with_suffix("").parts for path in PACKAGE.rglob("*.py"))


def imported(parts: tuple[str, ...]) -> set[str]:
    """Return the dotted names that a module imports anywhere, inside functions and type-checking blocks too."""
    tree = ast.parse((PACKAGE / Path(*parts)).with_suffix(".py").read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{'/'.join(parts)}: write imports in full, from xlcheck.…"
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def rows_read(parts: tuple[str, ...]) -> dict[str, int]:
    """Return the part of xlcheck behind each import, with its row (the bare package is row 12)."""
    tops = {name.split(".")[1] for name in imported(parts) if name.startswith("xlcheck.")}
    return {top: ROWS[top] for top in tops if top in ROWS}


@pytest.mark.parametrize("parts", FILES, ids="/".join)
def test_every_module_has_a_row(parts):
    assert parts[0] in ROWS, f"xlcheck/{'/'.join(parts)}.py has no row: add it to ROWS and to docs/architecture.md"


@pytest.mark.parametrize("parts", [parts for parts in FILES if parts[0] in ROWS], ids="/".join)
def test_imports_go_down_the_rows_only(parts):
    mine = ROWS[parts[0]]
    above = {top: row for top, row in rows_read(parts).items() if row > mine}
    assert not above, f"xlcheck/{'/'.join(parts)}.py (row {mine}) imports from {above}"


@pytest.mark.parametrize("parts", FILES, ids="/".join)
def test_only_the_seam_imports_an_engine_library(parts):
    libraries = {name.split(".")[0] for name in imported(parts)} & ENGINE_LIBRARIES
    assert not libraries or parts[0] == "engines", f"{'/'.join(parts)} imports {libraries}"


def test_architecture_page_names_every_row():
    page = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    for parts in FILES:
        name = f"`{parts[0]}/`" if len(parts) > 1 else f"`{parts[0]}.py`"
        row = f"| {ROWS[parts[0]]} |"
        assert any(line.startswith(row) and name in line for line in page.splitlines()), f"{name} is not in {row}"
    for name in re.findall(r"^\| \d+ \| `([^`]+)` \|", page, re.MULTILINE):
        assert (PACKAGE / name).exists(), f"the page has a row for {name}, which is gone"
