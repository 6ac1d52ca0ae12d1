"""Whether the scenario switch picks the case that it names, for every driver."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from xlcheck.cells import CellRef, is_number
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, check
from xlcheck.checks.cases import Choice, case_in
from xlcheck.checks.flow_terms import linked
from xlcheck.checks.headline import output_cells
from xlcheck.checks.live import run
from xlcheck.checks.sheet import column_label, row_label
from xlcheck.checks.switches import selections
from xlcheck.checks.trees import trees
from xlcheck.formula import Call, Node, Number, Range, Ref, is_link
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book

_SWITCH = re.compile(
    r"(?:scenario|case)s?[\s-]*(?:switch|selector|selected|toggle)|(?:switch|selector|active|selected)\W+(?:scenario|case)"
    r"|情景(?:开关|选择)|シナリオ(?:切替|選択)|szenario(?:auswahl|schalter)",
    re.IGNORECASE,
)


@check("scenario.switch-works")
def switch_works(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """The scenario switch reaches the headline, and every driver picks the case that it names.

    What it holds:
        Setting the switch to another case moves the headline; all formulas that pick by it list the cases in one order;
        and no driver among them is linked to one case for good, the other cases read by nothing.
    Why it matters:
        A driver that stays on its base, or picks bear for bull, is invisible while the base case runs.
    Accepted conventions:
        Drivers common to all cases; switches of other things (units, methods); cases that differ in few drivers.
    Example:
        Eleven drivers ``=CHOOSE(switch,bear,base,bull)`` and one ``=base``.
    How to fix:
        Fill the CHOOSE formula of the neighbouring driver, with its cases in the same order.
    Units and tolerance:
        None.
    Source:
        FAST Standard (scenario selectors); ICAEW Financial Modelling Code.
    """
    found = [choice for choice in selections(recalc) if any(isinstance(option, Ref) for option in choice.options)]
    dead = None if found else _dead_switch(book, recalc, graph, roles)
    if dead is not None:
        yield Finding(
            message=f"{dead} is labelled as the scenario switch and no formula reads it",
            cell=dead,
            found="no effect",
            expected="another value per case",
        )
        return
    if not found:
        yield NotApplicable(reason="the workbook has no scenario switch")
        return
    for switch in dict.fromkeys(choice.switch for choice in found):
        own = [choice for choice in found if choice.switch == switch]
        if len(own) >= 2:
            yield from _out_of_order(book, recalc, own)
            yield from _fixed_on_one_case(book, recalc, graph, own)
            yield from _typed_position(book, recalc, own)
        yield from _moves_nothing(recalc, graph, roles, own)


def _dead_switch(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> CellRef | None:
    """Return a typed position that is labelled as the scenario switch and that no formula depends on."""
    if not output_cells(roles):
        return None
    for cell in book.cells():
        position = cell.formula is None and is_number(cell.stored) and cell.stored in (1, 2, 3, 4, 5)
        if position and _SWITCH.search(row_label(recalc, cell.ref)) and not _is_named(cell.ref, graph):
            return cell.ref
    return None


def _arrangement(choice: Choice) -> tuple[str, str, tuple[int, ...]] | None:
    """Return sheet, direction and order of the options of a choice, None where they do not stand in line."""
    cells = [option.cell for option in choice.options if isinstance(option, Ref)]
    if len(cells) < len(choice.options) or len({cell.sheet for cell in cells}) > 1:
        return None
    if len({cell.row for cell in cells}) == 1:
        line, places = "row", [cell.column for cell in cells]
    elif len({cell.column for cell in cells}) == 1:
        line, places = "column", [cell.row for cell in cells]
    else:
        return None
    ranks = {place: rank for rank, place in enumerate(sorted(places))}
    return (cells[0].sheet, line, tuple(ranks[place] for place in places)) if len(ranks) == len(places) else None


def _names(recalc: Recalc, choice: Choice) -> tuple[str, str, tuple[int, ...]] | None:
    """Return the order of a choice by the cases that the labels of its options name, None where they name none."""
    cells = [option.cell for option in choice.options if isinstance(option, Ref)]
    beside = len({cell.row for cell in cells}) == 1
    named = [case_in(column_label(recalc, cell) if beside else row_label(recalc, cell)) for cell in cells]
    known = [_RANKS[case] for case in named if case is not None]
    whole = len(known) == len(choice.options) == len(set(known))
    return ("", "named", tuple(known)) if whole else None


_RANKS = {"low": 0, "base": 1, "high": 2}


def _usual(orders: Sequence[tuple[int, ...]], kind: str) -> tuple[int, ...] | None:
    """Return the order that most lines have; of two lines with named cases, the one that rises or falls."""
    usual, count = Counter(orders).most_common(1)[0]
    if count >= 2 and count * 2 > len(orders):
        return usual
    steady = [order for order in orders if list(order) in (sorted(order), sorted(order, reverse=True))]
    return steady[0] if kind == "named" and len(orders) == 2 and len(steady) == 1 else None


def _out_of_order(book: Book, recalc: Recalc, own: Sequence[Choice]) -> Iterator[Finding]:
    """Yield the first cell of each line whose choices list the cases in another order than the others do."""
    arranged = [
        (choice, kind) for choice in own if (kind := _names(recalc, choice) or _arrangement(choice)) is not None
    ]
    for group in {kind[:2] for _, kind in arranged}:
        members = [(choice, kind[2]) for choice, kind in arranged if kind[:2] == group]
        lines = {(choice.cell.sheet, choice.cell.row): order for choice, order in members}
        plain = {order for choice, order in members if choice.plain}
        usual = _usual(list(lines.values()), group[1]) or (plain.pop() if len(plain) == 1 else None)
        for (sheet, row), order in lines.items():
            if usual is not None and order != usual:
                first = min(
                    choice.cell for choice, _ in members if (choice.cell.sheet, choice.cell.row) == (sheet, row)
                )
                held = book.get(first)
                yield Finding(
                    message=f"{first} lists the cases in another order than the other drivers: it picks a wrong case",
                    cell=first,
                    found=held.formula if held else None,
                    expected="the order of the other drivers",
                )


def _fixed_on_one_case(book: Book, recalc: Recalc, graph: Graph, own: Sequence[Choice]) -> Iterator[Finding]:
    """Yield lines beside the picking drivers that link straight to one of the cases."""
    offsets: dict[tuple[str, tuple[int, ...]], set[int]] = {}
    for choice in own:
        rows = [option.cell.row - choice.cell.row for option in choice.options if isinstance(option, Ref)]
        same = all(isinstance(one, Ref) and one.cell.column == choice.cell.column for one in choice.options)
        if same and len(rows) == len(choice.options):
            offsets.setdefault((choice.cell.sheet, tuple(rows)), set()).add(choice.cell.row)
    formulas = trees(recalc)
    for (sheet, steps), lines in offsets.items():
        if len(lines) < 2:
            continue
        for row in range(min(lines) - 2, max(lines) + 3):
            held_there = [ref for ref in formulas if ref.sheet == sheet and ref.row == row]
            cells = [ref for ref in held_there if is_link(formulas[ref])]
            fixed = sorted(ref for ref in cells if _to_a_case(recalc, graph, ref, steps))
            if row not in lines and len(fixed) >= 2:
                held = book.get(fixed[0])
                yield Finding(
                    message=f"{fixed[0]} is linked to one case for good; the drivers beside it pick by the switch",
                    cell=fixed[0],
                    found=held.formula if held else None,
                    expected="a choice by the switch, as in the lines beside it",
                )


_PICKING = re.compile(r"^=?\s*(?:INDEX|CHOOSE)\s*\(", re.IGNORECASE)


def _typed_position(book: Book, recalc: Recalc, own: Sequence[Choice]) -> Iterator[Finding]:
    """Yield drivers that pick by a typed position where at least two beside them pick by the switch."""
    size = max(len(choice.options) for choice in own)
    for ref, node in trees(recalc).matching(_PICKING):
        if not isinstance(node, Call) or node.function not in ("INDEX", "CHOOSE"):
            continue
        index = node.function == "INDEX"
        options: list[Node | None] = list(node.arguments[:1] if index else node.arguments[1:])
        position = node.arguments[1 if index else 0] if len(node.arguments) > 1 else None
        first = options[0]
        count = first.range.size if index and isinstance(first, Range) else len(options)
        if not isinstance(position, Number) or count != size or (index and len(node.arguments) > 2):
            continue
        near = [
            one.cell
            for one in own
            if one.cell.sheet == ref.sheet and (one.cell.row == ref.row or one.cell.column == ref.column)
        ]
        if len([cell for cell in near if abs(cell.row - ref.row) + abs(cell.column - ref.column) <= 10]) >= 2:
            held = book.get(ref)
            yield Finding(
                message=f"{ref} picks the case {position.value:g} for good; the drivers beside it pick by the switch",
                cell=ref,
                found=held.formula if held else None,
                expected=f"a choice by {own[0].switch}",
            )


def _to_a_case(recalc: Recalc, graph: Graph, ref: CellRef, rows: Sequence[int]) -> bool:
    """Say whether a link leads to a case of its own line: of its label, or with the other cases read by nothing."""
    node = trees(recalc)[ref]
    target = node.cell if isinstance(node, Ref) else linked(recalc, ref)
    if target.sheet != ref.sheet or target.column != ref.column or target.row - ref.row not in rows:
        return False
    others = [ref.offset(row, 0) for row in rows if row != target.row - ref.row and ref.row + row > 0]
    idle = all(recalc.number(other) is not None and not _is_named(other, graph) for other in others)
    return (idle and bool(others)) or row_label(recalc, ref).casefold() == row_label(recalc, target).casefold()


def _is_named(cell: CellRef, graph: Graph) -> bool:
    """Say whether a formula reads a cell by itself: a lookup over its whole column does not pick it."""
    single = ((reader, area) for reader in graph.dependents(cell) for area in graph.reads.get(reader, ()))
    return any(area.size == 1 and CellRef(*area[:3]) == cell for _, area in single)


def _moves_nothing(recalc: Recalc, graph: Graph, roles: Roles, own: Sequence[Choice]) -> Iterator[Finding | Fits]:
    """Yield a finding where no position of a switch that the headline should follow moves it."""
    switch, outputs = own[0].switch, list(output_cells(roles).values())
    held = recalc.book.get(switch)
    if not outputs or held is None or held.formula is not None or not is_number(held.stored):
        return
    positions = [float(place) for place in range(1, len(own[0].options) + 1)]
    found = {tuple(run(recalc, {switch: place}, outputs).values()) for place in positions}
    reached = any(choice.cell in graph.ancestors(outputs) for choice in own)
    differ = any(_options_differ(recalc, choice) for choice in own)
    if len(found) == 1 and differ and None not in next(iter(found)):
        where = "is read by drivers that the headline does not reach" if not reached else "moves no headline output"
        yield Finding(
            message=f"the switch {switch} {where}", cell=switch, found="no effect", expected="another value per case"
        )
    elif len(found) > 1:
        yield Fits(convention=f"{switch} moves the headline over {len(positions)} cases")


def _options_differ(recalc: Recalc, choice: Choice) -> bool:
    values = [recalc.number(one.cell) for one in choice.options if isinstance(one, Ref)]
    return len(set(values)) > 1
