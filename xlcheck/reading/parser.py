"""From words to a tree: precedence climbing with Excel's precedences.

From loose to tight: comparison, ``&``, ``+ -``, ``* /``, ``^``, unary minus, ``%``, intersection, ``:``.
Unary minus binds tighter than ``^`` (``=-2^2`` is 4) and ``^`` leans left (``=2^3^2`` is 64).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from xlcheck.cells import RangeRef
from xlcheck.reading.nodes import Array, Binary, Call, Node, Number, Range, Ref, Text, Unary, Union
from xlcheck.reading.scope import is_operand_end, is_operand_start
from xlcheck.reading.tokens import Token, tokens

_BINDING = {"=": 1, "<>": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 5}
_UNARY = 6
_INTERSECTION, _COLON = 8, 9
_MAX_DEPTH = 250
_PREFIX = re.compile(r"(?:_XLFN\.|_XLWS\.|_XLUDF\.)+")
_END = Token("end", "")


class Unparsable(Exception):  # noqa: N818 - never leaves this package
    """The text is no formula that can be read."""


class Parser:
    """Parses the words of one formula; `reference` turns a reference, name or table word into a node."""

    def __init__(self, formula: str, reference: Callable[[Token], Node]) -> None:
        self._reference = reference
        self._words, self._positions = _kept(formula)
        self._words.append(_END)
        self._next = 0
        self._depth = 0

    def parse(self) -> Node:
        """Return the tree; Unparsable if the text is no formula or is nested too deep."""
        node = self._expression(0)
        if self._peek() is not _END:
            raise Unparsable
        return node

    def _peek(self) -> Token:
        return self._words[self._next]

    def _take(self) -> Token:
        word = self._words[self._next]
        if word is not _END:
            self._next += 1
        return word

    def _expect(self, text: str) -> None:
        if self._take().text != text:
            raise Unparsable

    def _expression(self, minimum: int) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unparsable
        left = self._operand(minimum)
        while (binding := self._binding(self._peek())) > minimum:
            operator = self._take().text.strip(" \t\r\n\u00a0") or " "
            left = _joined(operator, left, self._expression(binding))
        self._depth -= 1
        return left

    def _binding(self, word: Token) -> int:
        if word.kind == "space":
            return _INTERSECTION
        if word.kind != "operator":
            return 0
        return _COLON if word.text == ":" else _BINDING.get(word.text, 0)

    def _operand(self, minimum: int) -> Node:
        """Read signs, one primary and what is written behind it; signs bind looser than reference operators."""
        signs = []
        while self._peek().kind == "operator" and self._peek().text in ("-", "+", "@"):
            signs.append(self._take().text)
        node = self._postfixed(self._primary())
        if signs and minimum < _UNARY:
            while (binding := self._binding(self._peek())) > _UNARY:
                operator = self._take().text.strip(" \t\r\n\u00a0") or " "
                node = _joined(operator, node, self._expression(binding))
        for sign in reversed(signs):
            node = Call("SINGLE", (node,)) if sign == "@" else Unary(sign, node)
        return self._postfixed(node)

    def _postfixed(self, node: Node) -> Node:
        while self._peek().kind == "operator" and self._peek().text in ("%", "#"):
            if self._take().text == "#":
                node = Call("ANCHORARRAY", (node,))
            elif isinstance(node, Number):
                node = Number(node.value / 100, node.position)
            else:
                node = Binary("/", node, Number(100.0))
        return node

    def _primary(self) -> Node:
        position = self._positions[self._next] if self._next < len(self._positions) else -1
        word = self._take()
        if word.kind == "number":
            return Number(_finite(word.text), position)
        if word.kind in ("text", "error"):
            if word.text.count('"') % 2:
                raise Unparsable
            return Text(word.text)
        if word.kind in ("ref", "table"):
            return self._reference(word)
        if word.kind == "name":
            return Text(word.text.upper()) if word.text.upper() in ("TRUE", "FALSE") else self._reference(word)
        if word.kind == "function":
            return self._called(word.text.rstrip("( "))
        if word.text == "(":
            return self._group()
        if word.text == "{":
            return self._array()
        raise Unparsable

    def _group(self) -> Node:
        parts = [self._expression(0)]
        while self._peek().kind == "separator":
            self._take()
            parts.append(self._expression(0))
        self._expect(")")
        return parts[0] if len(parts) == 1 else Union(tuple(parts))

    def _called(self, name: str) -> Node:
        node = Call(_PREFIX.sub("", name.rpartition("!")[2].upper()), self._arguments())
        while self._peek().text == "(" and self._peek().kind == "open":
            self._take()
            node = Call("APPLY", (node, *self._arguments()))
        return node

    def _arguments(self) -> tuple[Node | None, ...]:
        arguments: list[Node | None] = []
        if self._peek().text == ")":
            self._take()
            return ()
        while True:
            empty = self._peek().kind == "separator" or self._peek().text == ")"
            arguments.append(None if empty else self._expression(0))
            word = self._take()
            if word.text == ")":
                return tuple(arguments)
            if word.kind != "separator":
                raise Unparsable

    def _array(self) -> Node:
        rows: list[tuple[Node, ...]] = []
        row: list[Node] = []
        while True:
            row.append(self._expression(0))
            word = self._take()
            if word.text == ",":
                continue
            rows.append(tuple(row))
            row = []
            if word.text == "}":
                return Array(tuple(rows))
            if word.text != ";":
                raise Unparsable


def _kept(formula: str) -> tuple[list[Token], list[int]]:
    """Return the words with their positions; blanks are dropped unless they are the intersection operator."""
    words: list[Token] = []
    positions: list[int] = []
    blank: tuple[Token, int] | None = None
    place = 0
    for index, word in enumerate(tokens(formula)):
        start, place = place, place + len(word.text)
        if index == 0 and word.text == "=":
            continue
        if word.kind == "space":
            blank = word, start
            continue
        if blank and words and is_operand_end(words[-1]) and is_operand_start(word):
            words.append(blank[0])
            positions.append(blank[1])
        blank = None
        words.append(word)
        positions.append(start)
    return words, positions


def _finite(text: str) -> float:
    number = float(text)
    if number == float("inf"):
        raise Unparsable
    return number


def _joined(operator: str, left: Node, right: Node) -> Node:
    """Join two operands; two plain references with ``:`` or a blank become one rectangle."""
    if operator in (":", " "):
        one, other = plain(left), plain(right)
        if one and other and one.sheet == other.sheet:
            rectangle = _span(one, other) if operator == ":" else _overlap(one, other)
            if rectangle is not None:
                return Range(rectangle)
    return Binary(operator, left, right)


def plain(node: Node | None) -> RangeRef | None:
    """Return the rectangle of a plain reference, else None."""
    if isinstance(node, Range):
        return node.range
    if isinstance(node, Ref):
        sheet, row, column = node.cell
        return RangeRef(sheet, row, column, row, column)
    return None


def _span(one: RangeRef, other: RangeRef) -> RangeRef:
    return RangeRef(
        one.sheet,
        min(one.first_row, other.first_row),
        min(one.first_column, other.first_column),
        max(one.last_row, other.last_row),
        max(one.last_column, other.last_column),
    )


def _overlap(one: RangeRef, other: RangeRef) -> RangeRef | None:
    first_row, first_column = max(one.first_row, other.first_row), max(one.first_column, other.first_column)
    last_row, last_column = min(one.last_row, other.last_row), min(one.last_column, other.last_column)
    if first_row > last_row or first_column > last_column:
        return None
    return RangeRef(one.sheet, first_row, first_column, last_row, last_column)
