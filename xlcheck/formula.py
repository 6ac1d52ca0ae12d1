"""A formula as a small tree: what a grader reads in it (references, terms with signs, literals).

It is a reader, not an evaluator: values always come from an engine. Nothing here raises on odd input: what cannot
be parsed is a `Name` node holding the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xlcheck.cells import CellRef, RangeRef
from xlcheck.reading.nodes import (
    Array,
    Binary,
    Call,
    External,
    Name,
    Node,
    Number,
    Range,
    Ref,
    Text,
    Unary,
    Union,
)
from xlcheck.reading.parser import Parser, Unparsable, plain
from xlcheck.reading.scope import (
    defined_name,
    is_dynamic,
    link_number,
    name_area,
    named_rectangles,
    rectangles,
    sheet_of,
    spanned,
    structured,
)
from xlcheck.reading.tokens import Area, Token, reading_words, tokens
from xlcheck.workbook import Book

__all__ = [
    "Array",
    "Binary",
    "Call",
    "External",
    "Name",
    "Node",
    "Number",
    "Range",
    "Ref",
    "Text",
    "Unary",
    "Union",
    "factors",
    "is_dynamic_formula",
    "is_link",
    "literals",
    "parse",
    "plain",
    "r1c1",
    "references",
    "terms",
    "walk",
]


MOST_SHEETS = 100
"""Sheets of a 3-D reference that are told apart in a tree; one over more is a word like any unknown name."""


def parse(text: str, sheet: str, book: Book | None = None, at: CellRef | None = None) -> Node:
    """Parse a formula (with or without its ``=``) that stands on a sheet; never raises.

    With a book, names, tables and 3-D references become rectangles and whole columns are cut to the used area; `at`,
    the formula's own cell, is needed for ``[#This Row]`` and relative names. A book remembers the trees of its cells.
    """
    if book is None or at is None:
        return _parsed(text, sheet, book, at)
    key = text, sheet, at
    node = book.parsed.get(key)
    if node is None:
        node = book.parsed[key] = _parsed(text, sheet, book, at)
    return cast(Node, node)


def _parsed(text: str, sheet: str, book: Book | None, at: CellRef | None) -> Node:
    try:
        return Parser(text, lambda word: _reference(word, sheet, book, at)).parse()
    except (Unparsable, RecursionError):
        return Name(text.removeprefix("="))


def _reference(word: Token, sheet: str, book: Book | None, at: CellRef | None) -> Node:
    area = word.area
    prefix = word.text.rpartition("!")[0] if area is None and word.kind == "name" else (area.sheet if area else "")
    if "[" in prefix:
        return External(link_number(prefix), _external_range(area), word.text)
    if area is None and book is not None and word.kind == "name":
        name = defined_name(word.text, sheet, book)
        area = name_area(name, at) if name else None
        sheet = name.sheet or sheet if name else sheet
    if area is not None:
        return _area_node(area, sheet, book) or Name(word.text)
    if word.kind == "table" and book is not None:
        found = structured(word.text, book, at)
        if found is not None:
            return Ref(CellRef(*found[:3])) if found.size == 1 else Range(found)
    return Name(word.text)


def _area_node(area: Area, sheet: str, book: Book | None) -> Node | None:
    name = sheet_of(area.sheet)
    if book is not None and ":" in name and len(spanned(name, book)) > MOST_SHEETS:
        return None
    found = rectangles(area, sheet, book)
    if not found:
        return None
    if len(found) > 1:
        return Union(tuple(Range(one) for one in found))
    if area.single:
        return Ref(CellRef(*found[0][:3]), area.absolute[0], area.absolute[1])
    return Range(found[0])


def _external_range(area: Area | None) -> RangeRef | None:
    if area is None:
        return None
    sheet = sheet_of(area.sheet).rpartition("]")[2]
    found = rectangles(area._replace(sheet=""), sheet, None)
    return found[0] if found else None


def references(text: str, sheet: str, book: Book | None = None, at: CellRef | None = None) -> tuple[RangeRef, ...]:
    """Return the rectangles a formula reads, in order of appearance (repeated ones once each time).

    Names and tables are followed where a book is given; linked workbooks are left out. Where a reference is computed
    (OFFSET, INDIRECT, ``A1:INDEX(…)``) the rectangles are those written, see `is_dynamic_formula`.
    """
    words = reading_words(text)
    if words is None:
        return tuple(_read(parse(text, sheet, book, at), sheet, book, at))
    found: list[RangeRef] = []
    for word in words:
        found += _word_rectangles(word, sheet, book, at)
    return tuple(found)


def _word_rectangles(word: Token, sheet: str, book: Book | None, at: CellRef | None) -> tuple[RangeRef, ...]:
    if word.area is not None:
        return rectangles(word.area, sheet, book)
    if book is None:
        return ()
    if word.kind == "name":
        return tuple(rectangle for rectangle, _ in named_rectangles(word.text, sheet, book, at))
    if word.kind == "table":
        found = structured(word.text, book, at)
        return (found,) if found else ()
    return ()


def _read(node: Node, sheet: str, book: Book | None, at: CellRef | None) -> Iterator[RangeRef]:
    for one in walk(node):
        rectangle = plain(one)
        if rectangle is not None:
            yield rectangle
        elif isinstance(one, Name) and book is not None:
            for word in tokens(one.name):
                yield from _word_rectangles(word, sheet, book, at)


def is_dynamic_formula(text: str, sheet: str, book: Book | None = None) -> bool:
    """Say whether a formula computes which cells it reads, so that its written references are not all."""
    folded = text.upper()
    if "OFFSET" in folded or "INDIRECT" in folded or ":INDEX(" in folded or "):" in folded or ":CHOOSE(" in folded:
        words = list(tokens(text))
        if any(word.kind == "function" and is_dynamic(word.text) for word in words):
            return True
        if any(one.operator == ":" for one in walk(parse(text, sheet, book)) if isinstance(one, Binary)):
            return True
    return book is not None and bool(book.names) and _names_dynamic(text, sheet, book)


def _names_dynamic(text: str, sheet: str, book: Book) -> bool:
    for word in tokens(text):
        if word.kind == "name":
            name = defined_name(word.text, sheet, book)
            if name and any(one.kind == "function" and is_dynamic(one.text) for one in tokens(name.formula)):
                return True
    return False


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it, in order of appearance."""
    stack: list[Node] = [node]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(reversed(_below(one)))


def _below(node: Node) -> list[Node]:
    if isinstance(node, Binary):
        return [node.left, node.right]
    if isinstance(node, Unary):
        return [node.operand]
    if isinstance(node, Call):
        return [argument for argument in node.arguments if argument is not None]
    if isinstance(node, Union):
        return list(node.parts)
    if isinstance(node, Array):
        return [item for row in node.rows for item in row]
    return []


def literals(node: Node) -> tuple[Number, ...]:
    """Return the numbers written in a formula, in order, each with its position in the text."""
    return tuple(one for one in walk(node) if isinstance(one, Number) and one.position >= 0)


def is_link(node: Node) -> bool:
    """Say whether a formula only repeats another cell: ``=Sheet1!B5``, ``=+B5``."""
    while (isinstance(node, Unary) and node.operator == "+") or (isinstance(node, Call) and node.function == "SINGLE"):
        inner = node.operand if isinstance(node, Unary) else node.arguments[0]
        if inner is None:
            return False
        node = inner
    return isinstance(node, Ref)


def terms(node: Node) -> tuple[tuple[int, Node], ...]:
    """Return the additive terms with their signs: ``B5-(B6-B7)+SUM(C1:C3)`` is +B5 -B6 +B7 +C1:C3.

    Parentheses and signs are distributed and the arguments of SUM are terms; a sign inside a product is pulled out
    (``B5*-B6`` is the term ``B5*B6`` with -1). Factors are not multiplied out.
    """
    found: list[tuple[int, Node]] = []
    stack: list[tuple[int, Node]] = [(1, node)]
    while stack:
        sign, one = stack.pop()
        if isinstance(one, Binary) and one.operator in ("+", "-"):
            stack += [(sign if one.operator == "+" else -sign, one.right), (sign, one.left)]
        elif isinstance(one, Unary):
            stack.append((sign if one.operator == "+" else -sign, one.operand))
        elif isinstance(one, Call) and one.function == "SUM":
            stack.extend((sign, argument) for argument in reversed(one.arguments) if argument is not None)
        elif isinstance(one, Union):
            stack.extend((sign, part) for part in reversed(one.parts))
        else:
            product_sign, product = _unsigned(one)
            if product is not one and _is_sum(product):
                stack.append((sign * product_sign, product))
            else:
                found.append((sign * product_sign, product))
    return tuple(found)


def _is_sum(node: Node) -> bool:
    if isinstance(node, Call):
        return node.function == "SUM"
    return isinstance(node, Unary | Union) or (isinstance(node, Binary) and node.operator in ("+", "-"))


def _unsigned(node: Node) -> tuple[int, Node]:
    """Pull the signs out of a product or quotient; a factor of one is dropped."""
    chain: list[tuple[str, Node]] = []
    sign, first = 1, node
    while isinstance(first, Binary) and first.operator in ("*", "/"):
        chain.append((first.operator, first.right))
        first = first.left
    if not chain:
        return 1, node
    sign, product = _stripped(first)
    for operator, right in reversed(chain):
        right_sign, factor = _stripped(right)
        sign *= right_sign
        if isinstance(factor, Number) and factor.value == 1:
            continue
        if operator == "*" and isinstance(product, Number) and product.value == 1:
            product = factor
        else:
            product = Binary(operator, product, factor)
    return sign, product


def _stripped(node: Node) -> tuple[int, Node]:
    sign = 1
    while isinstance(node, Unary):
        sign = sign if node.operator == "+" else -sign
        node = node.operand
    return sign, node


def factors(node: Node) -> tuple[tuple[Node, int], ...]:
    """Return the multiplicative terms with exponent 1 or -1: ``A1*B1/(C1*D1)`` is A1 B1 over C1 D1.

    A minus sign is the factor `Number(-1)`; ``x^-n`` is ``x^n`` with -1; the arguments of PRODUCT are factors.
    """
    found: list[tuple[Node, int]] = []
    stack: list[tuple[Node, int]] = [(node, 1)]
    while stack:
        one, exponent = stack.pop()
        if isinstance(one, Binary) and one.operator in ("*", "/"):
            stack += [(one.right, exponent if one.operator == "*" else -exponent), (one.left, exponent)]
        elif isinstance(one, Unary):
            if one.operator == "-":
                found.append((Number(-1.0), 1))
            stack.append((one.operand, exponent))
        elif isinstance(one, Binary) and one.operator == "^" and _stripped(one.right)[0] < 0:
            power = _stripped(one.right)[1]
            base = one.left if power == Number(1.0) else Binary("^", one.left, power)
            stack.append((base, -exponent))
        elif isinstance(one, Call) and one.function == "PRODUCT":
            stack.extend((argument, exponent) for argument in reversed(one.arguments) if argument is not None)
        else:
            found.append((one, exponent))
    return tuple(found)


def r1c1(text: str, ref: CellRef) -> str:
    """Return a normal form that is equal for formulas filled along a row or column.

    Relative references are written relative to the cell (``R[0]C[-1]``), its own sheet's name and blanks are
    dropped, function and column names are upper case.
    """
    parts = []
    for word in tokens(text):
        if word.area is not None:
            parts.append(_r1c1_area(word.area, ref))
        elif word.kind in ("function", "name", "error"):
            parts.append(word.text.upper().replace(" ", ""))
        elif word.kind != "space":
            parts.append(word.text)
    return "".join(parts)


def _r1c1_area(area: Area, ref: CellRef) -> str:
    fixed = area.absolute
    prefix = area.sheet
    if prefix and sheet_of(prefix).casefold() == ref.sheet.casefold():
        prefix = ""
    first = _r1c1_axis("R", area.first_row, ref.row, fixed[0]) + _r1c1_axis(
        "C", area.first_column, ref.column, fixed[1]
    )
    if area.single:
        return prefix.casefold() + first
    last = _r1c1_axis("R", area.last_row, ref.row, fixed[2]) + _r1c1_axis("C", area.last_column, ref.column, fixed[3])
    return f"{prefix.casefold()}{first}:{last}"


def _r1c1_axis(letter: str, number: int, own: int, fixed: bool) -> str:
    if number == 0:
        return ""
    return f"{letter}{number}" if fixed else f"{letter}[{number - own}]"
