"""Writing an expression inside a formula as text, for roles that have no cell of their own."""

from __future__ import annotations

from xlcheck.cells import RangeRef
from xlcheck.formula import Array, Binary, Call, Name, Node, Number, Range, Ref, Text, Unary, Union

_TIGHT = {"^": 4, "*": 3, "/": 3, "+": 2, "-": 2, "&": 1}


def written(node: Node | None) -> str | None:
    """Return an expression over cells such as ``SUM(DCF!B27:F27)+DCF!B28``; None for no expression."""
    return None if node is None else _write(node, 0)


def added(nodes: list[Node]) -> Node:
    """Return the sum of expressions, as ``SUM`` of a range where they are the cells of one row or column."""
    cells = [node.cell for node in nodes if isinstance(node, Ref)]
    if len(cells) == len(nodes):
        first, last = cells[0], cells[-1]
        span = RangeRef(first.sheet, first.row, first.column, last.row, last.column)
        if list(span.cells()) == cells:
            return Call("SUM", (Range(span),))
    total = nodes[0]
    for node in nodes[1:]:
        total = Binary("+", total, node)
    return total


def _write(node: Node, outer: int) -> str:
    if isinstance(node, Number):
        return f"{node.value:g}"
    if isinstance(node, Ref):
        return str(node.cell)
    if isinstance(node, Range):
        return str(node.range)
    if isinstance(node, Unary):
        return node.operator + _write(node.operand, 5)
    if isinstance(node, Binary):
        own = _TIGHT.get(node.operator, 0)
        text = _write(node.left, own) + node.operator + _write(node.right, own + (node.operator in "-/"))
        return f"({text})" if own < outer else text
    if isinstance(node, Call):
        return f"{node.function}({','.join('' if one is None else _write(one, 0) for one in node.arguments)})"
    if isinstance(node, Union):
        return ",".join(_write(part, 0) for part in node.parts)
    if isinstance(node, Array):
        return "{" + ";".join(",".join(_write(item, 0) for item in row) for row in node.rows) + "}"
    if isinstance(node, Name):
        return node.name
    return node.value if isinstance(node, Text) else node.text
