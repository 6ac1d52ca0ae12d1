"""How one cell came to its value: formula, stored and recomputed value, what each engine said, and its precedents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xlcheck.cells import CellRef
from xlcheck.errors import UsageError
from xlcheck.graph import Graph
from xlcheck.influence import STEP, influence
from xlcheck.recompute import Recalc
from xlcheck.report.json import opinion_json, opinions_json, scalar_json
from xlcheck.report.words import plain, quantity
from xlcheck.roles.layout import is_unit
from xlcheck.workbook import Book

BREADTH = 25
"""Precedents of one cell, or inputs that move it, that are shown before they are only counted."""


def cell_of(book: Book, text: str) -> CellRef:
    """Return the cell that a person means by ``DCF!C40``, or ``C40`` on the first sheet; UsageError if none."""
    try:
        ref = CellRef.parse(text if "!" in text or not book.sheets else f"{book.sheets[0].name}!{text}")
    except ValueError as error:
        raise UsageError(f"{error}; give a cell such as 'DCF!C40'") from None
    sheet = book.sheet(ref.sheet)
    if sheet is None:
        names = ", ".join(repr(sheet.name) for sheet in book.sheets)
        raise UsageError(f"the workbook has no sheet {ref.sheet!r}; its sheets are {names}")
    return ref._replace(sheet=sheet.name)


def trace_json(recalc: Recalc, graph: Graph, ref: CellRef, depth: int) -> dict[str, Any]:
    """Return one cell and, down to a depth, the cells that it reads."""
    return {**_node(recalc, graph, ref, depth, set()), "opinions": opinions_json(recalc.opinions(ref))}


def influence_json(recalc: Recalc, ref: CellRef) -> list[dict[str, Any]]:
    """Return the typed numbers behind a cell and what each does to it when it alone is moved, the strongest first."""
    found = influence(recalc, ref)
    return [
        {
            "input": str(one.input),
            "value": one.value,
            "moved": one.moved,
            "elasticity": one.elasticity,
            "dead": one.dead,
        }
        for one in found
    ]


def influence_text(effects: list[dict[str, Any]]) -> str:
    """Return the effects as lines for a terminal, the inputs without any in one line at the end."""
    if not effects:
        return "no typed number moves it\n"
    lines = [f"each input moved by {STEP:.0%} alone:"]
    alive = [one for one in effects if not one["dead"]]
    for one in alive[:BREADTH]:
        moved = "no number" if one["moved"] is None else quantity(one["moved"])
        share = "" if one["elasticity"] is None else f"  ({one['elasticity'] * STEP:+.3%})"
        lines.append(f"  {plain(one['input'])}  {quantity(one['value'])}  → {moved}{share}")
    if len(alive) > BREADTH:
        lines.append(f"  … and {len(alive) - BREADTH} more inputs, each with less effect")
    dead = [plain(one["input"]) for one in effects if one["dead"]]
    if dead:
        more = f" and {len(dead) - BREADTH} more" if len(dead) > BREADTH else ""
        lines.append(f"  no effect: {', '.join(dead[:BREADTH])}{more}")
    return "".join(f"{line}\n" for line in lines)


def _node(recalc: Recalc, graph: Graph, ref: CellRef, depth: int, seen: set[CellRef]) -> dict[str, Any]:
    cell = recalc.book.get(ref)
    verdict = recalc.verdicts.get(ref)
    node: dict[str, Any] = {
        "cell": str(ref),
        "label": label_of(recalc.book, ref),
        "formula": cell.formula if cell else None,
        "stored": scalar_json(cell.stored) if cell else None,
        "recomputed": opinion_json(recalc.value(ref)),
        "status": verdict.status if verdict else None,
        "opinions": opinions_json(verdict.opinions) if verdict else {},
    }
    reads = graph.precedents(ref) if cell is not None and cell.formula is not None else ()
    node["precedents_count"] = len(reads)
    if ref in seen:
        node["shown_above"] = True
    elif depth > 0:
        seen.add(ref)
        node["precedents"] = [_node(recalc, graph, read, depth - 1, seen) for read in reads[:BREADTH]]
    return node


def label_of(book: Book, ref: CellRef) -> str | None:
    """Return the nearest text left of a cell in its row that is more than a unit; None where there is none."""
    left = (book.get(ref._replace(column=column)) for column in range(ref.column - 1, 0, -1))
    texts = (cell.stored.strip() for cell in left if cell is not None and isinstance(cell.stored, str))
    return next((text for text in texts if text and not is_unit(text)), None)


def trace_text(node: dict[str, Any]) -> str:
    """Return the trace as an indented tree for a terminal."""
    return "".join(f"{line}\n" for line in _lines(node, 0))


def _lines(node: dict[str, Any], level: int) -> Iterator[str]:
    indent = "  " * level
    again = "  (shown above)" if node.get("shown_above") and node["precedents_count"] else ""
    label = f"  {plain(node['label'], 60).rstrip(': ')}:" if node["label"] else ""
    yield f"{indent}{plain(node['cell'])}{label}  {_value(node)}{again}"
    if node["formula"]:
        yield f"{indent}  {plain(node['formula'], 400)}"
    for name, said in node["opinions"].items():
        yield f"{indent}  {name} says {said['detail'] if isinstance(said, dict) else quantity(said)}"
    shown = node.get("precedents", [])
    for child in shown:
        yield from _lines(child, level + 1)
    if shown and node["precedents_count"] > len(shown):
        yield f"{indent}  … and {node['precedents_count'] - len(shown)} more precedents"


def _value(node: dict[str, Any]) -> str:
    recomputed = node["recomputed"]
    shown = f"not recomputed: {recomputed['detail']}" if isinstance(recomputed, dict) else quantity(recomputed)
    if node["status"] == "stale":
        return f"{shown} recomputed, {quantity(node['stored'])} stored: stale"
    return shown if node["status"] in (None, "same", "no_stored_value") else f"{shown} ({node['status']})"
