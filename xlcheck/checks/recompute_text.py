"""Texts where numbers or formulas were meant, and formulas that are none."""

from __future__ import annotations

import re

from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Outcomes, check
from xlcheck.checks.headline import headline_chain
from xlcheck.checks.sheet import FIRST_YEAR, LAST_YEAR, LONGEST_LABEL
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Call, Name, Node, Range, Ref, Unary, parse, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book, Cell

MOST_FINDINGS = 20
_QUOTED = re.compile(r'"(?:[^"]|"")*"|\'(?:[^\']|\'\')*\'')
_NO_OPERATOR = re.compile(r"[×÷·–—≈≤≥≠→√∑]|\)\s*[\w\"]|[0-9]\s+[A-Za-z]{2,}\s+[A-Za-z]")


@check("recompute.formulas-parse")
def formulas_parse(book: Book, recalc: Recalc) -> Outcomes:
    """Every formula of the file is a formula.

    What it holds:
        Brackets and quotation marks of each formula are balanced, and only Excel's operators stand between its terms.
    Why it matters:
        Excel repairs such a file on opening and removes the cells; what they were meant to say is lost.
    Accepted conventions:
        Functions this program does not know, references to other files and line breaks inside formulas are fine.
    Example:
        A note written as a formula: ``= 4.30% + 0.91 × 5.50% = 9.31%``.
    How to fix:
        Write the note as text, or the formula with ``*`` for the multiplication sign.
    Units and tolerance:
        None.
    Source:
        ECMA-376 Part 1, 18.17 (formula grammar).
    """
    for cell in book.formula_cells():
        formula, ref = cell.formula or "", cell.ref
        why = _defect(formula)
        node = trees(recalc)[ref] if why else None
        if isinstance(node, Name) and node.name.strip() == formula.removeprefix("=").strip():
            yield Finding(
                message=f"{ref} holds text written as a formula: {why}", cell=ref, found=formula, expected="a formula"
            )


def _defect(formula: str) -> str | None:
    """Return what makes a text no formula, where it does not parse either."""
    code = _QUOTED.sub("0", formula.removeprefix("="))
    if code.count("(") != code.count(")"):
        return "its brackets are not balanced"
    if '"' in code:
        return "its quotation marks are not balanced"
    odd = _NO_OPERATOR.search(code)
    return f"{odd[0]!r} is no operator of Excel" if odd else None


@check("recompute.no-formula-as-text")
def no_formula_as_text(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """No formula stands in a cell as text.

    What it holds:
        Where numbers are expected (in a line of formulas, or read by one), no cell holds the text of a formula.
    Why it matters:
        The cell shows the formula, computes nothing, and sums skip it.
    Accepted conventions:
        Explanations such as "= FCF × (1 + g)" beside a number are text.
    Example:
        ``DCF!E9`` holds the text ``=E7*Inputs!$B$6`` between formulas in D9 and F9.
    How to fix:
        Set the cell to a number format and enter the formula again.
    Units and tolerance:
        None.
    Source:
        Excel documentation (cells formatted as text).
    """
    bound = {located.cell for located in roles.scalars.values()}
    for sheet in book.sheets:
        for cell in sheet.cells.values():
            if cell.formula is not None or not isinstance(cell.stored, str):
                continue
            if not _is_formula_text(cell.stored, cell.ref, book):
                continue
            if cell.ref in bound or _between_formulas(book, cell.ref) or _read_as_number(recalc, graph, cell.ref):
                yield Finding(
                    message=f"{cell.ref} holds the text of a formula, not the formula",
                    cell=cell.ref,
                    found=cell.stored,
                    expected="the formula itself",
                )


def _is_formula_text(text: str, ref: CellRef, book: Book) -> bool:
    stripped = text.strip()
    if not stripped.startswith("=") or len(stripped) < 3 or _NO_OPERATOR.search(_QUOTED.sub("0", stripped)):
        return False
    node = parse(stripped, ref.sheet, book, ref)
    return not isinstance(node, Name) and any(isinstance(one, Ref | Range) for one in walk(node))


def _between_formulas(book: Book, ref: CellRef) -> bool:
    """Say whether the cells on both sides (along the row or the column) hold formulas."""
    for before, after in (((0, -1), (0, 1)), ((-1, 0), (1, 0))):
        sides = [ref.offset(*before), ref.offset(*after)]
        cells = [book.get(side) for side in sides if side.row > 0 and side.column > 0]
        if len(cells) == 2 and all(cell is not None and cell.formula is not None for cell in cells):
            return True
    return False


@check("recompute.no-text-numbers")
def no_text_numbers(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """No number that formulas read is stored as text.

    What it holds:
        Cells that arithmetic or sums read, or that feed the headline through links, hold numbers, not their text.
    Why it matters:
        SUM skips text while ``+`` converts it: the same input counts in one place and is lost in another.
    Accepted conventions:
        Years and codes used as headings, keys of lookups, and texts that are only shown or joined.
    Example:
        Cash is the text "150": ``=SUM(B17:B20)`` leaves it out and equity is 150 too low.
    How to fix:
        Convert the cell to a number (Data → Text to columns, or enter it again).
    Units and tolerance:
        The unit of the cell.
    Source:
        Excel documentation (numbers stored as text).
    """
    chain = headline_chain(graph, roles)
    for sheet in book.sheets:
        for cell in sheet.cells.values():
            value = _number_in_text(cell)
            if value is None or (chain and cell.ref not in chain):
                continue
            if _read_as_number(recalc, graph, cell.ref):
                yield Finding(
                    message=f"{cell.ref} holds the text {cell.stored!r}, which sums leave out",
                    cell=cell.ref,
                    found=str(cell.stored),
                    expected=value,
                )
                for total in _sums_over(recalc, graph, cell.ref):
                    yield Finding(
                        message=f"{total} sums over the text of {cell.ref} and leaves it out",
                        cell=total,
                        found=recalc.number(total),
                        expected=f"{value:g} counted",
                    )


def _sums_over(recalc: Recalc, graph: Graph, ref: CellRef) -> list[CellRef]:
    """Return the formulas that sum a range through a cell, or through a plain link to it."""
    formulas = trees(recalc)
    links = [other for other in graph.dependents(ref) if isinstance(formulas.get(other), Ref)]
    return [
        total
        for cell in (ref, *links)
        for total in graph.dependents(cell)
        if total in formulas and any(_skips(one, cell) for one in walk(formulas[total]))
    ][:3]


def _skips(node: Node, ref: CellRef) -> bool:
    return isinstance(node, Call) and node.function == "SUM" and any(_holds(one, ref) for one in node.arguments)


_NUMBER = re.compile(r"\(?[-+−]?\s*[$€£¥]?\s*\d[\d,. ]*\s*[%x×倍]?\)?")


def _number_in_text(cell: Cell) -> float | None:
    """Return the number that a text constant spells, None for anything else; years are headings."""
    if cell.formula is not None or not isinstance(cell.stored, str):
        return None
    text = cell.stored.strip().replace("\u00a0", " ")
    if len(text) > LONGEST_LABEL or not _NUMBER.fullmatch(text):
        return None
    plain = re.sub(r"[,$€£¥ x×倍]", "", text).replace("−", "-")
    scale = 0.01 if plain.endswith(("%", "%)")) else 1.0
    if plain.startswith("(") and plain.endswith(")"):
        plain, scale = plain[1:-1], -scale
    try:
        value = float(plain.rstrip("%)"))
    except ValueError:
        return None
    return None if FIRST_YEAR <= value <= LAST_YEAR and value == int(value) else value * scale


def _read_as_number(recalc: Recalc, graph: Graph, ref: CellRef, depth: int = 0) -> bool:
    """Say whether a formula calculates with the cell, directly or through links."""
    formulas = trees(recalc)
    for other in graph.dependents(ref):
        node = formulas.get(other)
        if node is None:
            continue
        if _calculates(node, ref):
            return True
        if isinstance(node, Ref) and depth < 5 and _read_as_number(recalc, graph, other, depth + 1):
            return True
    return False


_SUMS = frozenset({"SUM", "AVERAGE", "NPV", "XNPV", "IRR", "SUMPRODUCT", "MAX", "MIN", "MEDIAN", "PRODUCT", "ROUND"})


def _calculates(node: Node, ref: CellRef) -> bool:
    for one in walk(node):
        match one:
            case Binary(operator="+" | "-" | "*" | "/" | "^", left=left, right=right):
                if any(_is_cell(side, ref) for side in (left, right)):
                    return True
            case Unary(operand=operand) if _is_cell(operand, ref):
                return True
            case Call(function=function, arguments=arguments) if function in _SUMS:
                if any(_holds(argument, ref) for argument in arguments):
                    return True
    return False


def _is_cell(node: Node, ref: CellRef) -> bool:
    return isinstance(node, Ref) and node.cell == ref


def _holds(node: Node | None, ref: CellRef) -> bool:
    """Say whether an argument is the cell, or a range through it."""
    match node:
        case Ref(cell=cell):
            return cell == ref
        case Range(range=area):
            place: object = ref
            return place in area
        case _:
            return False
