"""Writing an expression inside a formula as text, for roles that have no cell of their own."""

from __future__ import annotations

from xlcheck.formula import Array, Binary, Call, Name, Node, Number, Range, Ref, Text, Unary, Union

_TIGHT = {"^": 4, "*": 3, "/": 3, "+": 2, "-": 2, "&": 1}


def written(node: Node | None) -> str | None:
    """Return an expression over cells such as ``SUM(DCF!B27:F27)+DCF!B28``; None for no expression."""
    return None if node is None else _write(node, 0)


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
