"""Numbers written into formulas: which of them are assumptions, and which belong to the arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator

from xlcheck.formula import Binary, Call, External, Name, Node, Number, Range, Ref, Unary, Union

TIME_AND_SCALE = frozenset({0.25, 0.5, 24.0, 30.0, 52.0, 60.0, 90.0, 180.0, 252.0, 360.0, 364.0, 365.0, 365.25, 366.0})
"""Days, weeks and trading days of a year, halves and quarters."""
LARGEST_COUNTER = 12
"""Whole numbers up to a dozen count things: periods, months, items averaged."""
LEAST_PLUG = 10.0
"""Smaller literals that are added are steps of an axis or a period."""
ARITHMETIC = frozenset({"SUM", "AVERAGE", "PRODUCT", "SUMPRODUCT", "ABS", "NPV", "IFERROR", "IFNA", "N"})
"""Functions whose arguments are terms like any other."""


def buried_literals(node: Node) -> Iterator[float]:
    """Yield the literals that stand as a term or factor beside a reference and are no unit, counter or exponent."""
    match node:
        case Unary(operand=operand):
            yield from buried_literals(operand)
        case Binary(operator="^", left=left, right=right):
            base = constant(left)
            if base is not None and has_reference(right) and not _belongs(base):
                yield base
            yield from buried_literals(left)
        case Binary(operator="+" | "-" | "*" | "/" as operator, left=left, right=right):
            yield from _beside(operator, left, right)
            yield from buried_literals(left)
            yield from buried_literals(right)
        case Call(function="IF", arguments=(_, *branches)):
            for branch in branches:
                if branch is not None:
                    yield from buried_literals(branch)
        case Call(function="POWER", arguments=(left, right)) if left is not None and right is not None:
            yield from buried_literals(Binary("^", left, right))
        case Call(function=function, arguments=arguments) if function in ARITHMETIC:
            for argument in arguments:
                if argument is not None:
                    yield from buried_literals(argument)
        case Call(function="ROUND" | "ROUNDUP" | "ROUNDDOWN", arguments=(first, *_)) if first is not None:
            yield from buried_literals(first)
        case _:
            return


def _beside(operator: str, left: Node, right: Node) -> Iterator[float]:
    for side, other in ((left, right), (right, left)):
        value = constant(side)
        if value is None or not has_reference(other) or is_time_share(side) or _belongs(value):
            continue
        if operator in "+-" and abs(value) < LEAST_PLUG:
            continue
        yield value


def _belongs(value: float) -> bool:
    """Say whether a number is part of the arithmetic: a unit of time or scale, a counter, a year."""
    size = abs(value)
    if math.isinf(size):
        return False
    if size in TIME_AND_SCALE or (size == int(size) and size <= LARGEST_COUNTER):
        return True
    if size == int(size) and 1950 <= size <= 2150:
        return True
    exponent = math.log10(size) if size else 0.0
    return abs(exponent - round(exponent)) < 1e-12


def constant(node: Node) -> float | None:
    """Return the value of a subtree made of literals only, or None."""
    match node:
        case Number(value=value):
            return value
        case Unary(operator=operator, operand=operand):
            inner = constant(operand)
            return None if inner is None else -inner if operator == "-" else inner
        case Binary(operator=operator, left=left, right=right):
            one, two = constant(left), constant(right)
            return None if one is None or two is None else _apply(operator, one, two)
        case _:
            return None


def _apply(operator: str, one: float, two: float) -> float | None:
    try:
        match operator:
            case "+":
                return one + two
            case "-":
                return one - two
            case "*":
                return one * two
            case "/":
                return one / two
            case "^":
                return float(one**two)
    except (ArithmeticError, TypeError):
        return None
    return None


def is_time_share(node: Node) -> bool:
    """Say whether a literal subtree is a part of a year: 5/12, 167/365."""
    return isinstance(node, Binary) and node.operator == "/" and constant(node.right) in {12.0, 4.0, 2.0, 360.0, 365.0}


def is_plug(value: float) -> bool:
    """Say whether an added literal is an amount rather than a step, a year or a unit."""
    return abs(value) >= LEAST_PLUG and not _belongs(value)


LEAST_AMOUNT = 1000.0
"""A literal of this size that a single cell converts is an amount typed into a formula, not an assumption."""


def is_converted_input(node: Node) -> bool:
    """Say whether a formula is a typed amount brought to another unit or currency: ``=847600000/L3``."""
    match node:
        case Unary(operand=operand):
            return is_converted_input(operand)
        case Binary(operator="*" | "/", left=left, right=Ref()):
            value = constant(left)
        case Binary(operator="*", left=Ref(), right=right):
            value = constant(right)
        case _:
            return False
    return value is not None and abs(value) >= LEAST_AMOUNT


def has_reference(node: Node | None) -> bool:
    """Say whether a subtree reads a cell, range or name."""
    match node:
        case Ref() | Range() | Name() | External() | Union():
            return True
        case Unary(operand=operand):
            return has_reference(operand)
        case Binary(left=left, right=right):
            return has_reference(left) or has_reference(right)
        case Call(arguments=arguments):
            return any(has_reference(argument) for argument in arguments)
        case _:
            return False
