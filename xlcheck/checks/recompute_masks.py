"""Errors hidden by a catch, and lookups that guess."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlcheck.cells import CellError, RangeRef, as_number, is_number
from xlcheck.checking import Finding, Fits, Outcomes, check
from xlcheck.checks.headline import headline_chain
from xlcheck.checks.trees import trees
from xlcheck.formula import Call, Node, Number, Range, Ref, Text, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.workbook import Book

MOST_FINDINGS = 20
_GUARDS = re.compile(r"IFERROR|IFNA|ISERR|ISNA|ISREF", re.IGNORECASE)
_LOOKUPS = re.compile(r"LOOKUP|MATCH", re.IGNORECASE)
BROKEN = ("#REF!", "#NAME?")
"""Errors that no data can cause: the formula itself is broken."""
_CATCHES = frozenset({"IFERROR", "IFNA"})
_TESTS = frozenset({"ISERROR", "ISERR", "ISNA", "ISREF"})


@check("recompute.no-masked-errors")
def no_masked_errors(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """No broken reference is hidden behind IFERROR.

    What it holds:
        What IFERROR, IFNA or ISERROR guard is not itself broken: it holds no ``#REF!`` and reads no cell that is
        ``#REF!`` or ``#NAME?``.
    Why it matters:
        A lost link turns into a silent zero, and the amount is missing without a trace.
    Accepted conventions:
        A guard around a division that may meet zero, or around a key that may be missing, with a visible substitute.
    Example:
        ``=IFERROR(#REF!,0)`` in the cash line of the bridge: 150 of cash are gone.
    How to fix:
        Restore the reference and remove the guard.
    Units and tolerance:
        None.
    Source:
        FAST Standard (no error suppression); ICAEW Financial Modelling Code.
    """
    chain = headline_chain(graph, roles)
    found = [(ref, why) for ref, node in trees(recalc).matching(_GUARDS) if (why := _masked(recalc, node))]
    decisive = [(ref, why) for ref, why in found if ref in chain or not chain]
    for ref, why in decisive[:MOST_FINDINGS]:
        cell = book.get(ref)
        yield Finding(
            message=f"{ref} hides a broken reference: {why}",
            cell=ref,
            found=cell.formula if cell else None,
            expected="a working reference without a guard",
        )
    if found and not decisive:
        yield Fits(convention=f"broken references are hidden only where no headline output reads them: {found[0][0]}")


def _masked(recalc: Recalc, node: Node) -> str | None:
    for one in walk(node):
        if isinstance(one, Call) and (one.function in _CATCHES or one.function in _TESTS) and one.arguments:
            guarded = one.arguments[0]
            why = _broken(recalc, guarded) if guarded is not None else None
            if why:
                return why
    return None


def _broken(recalc: Recalc, node: Node) -> str | None:
    for one in walk(node):
        match one:
            case Text(value=text) if text.upper() in BROKEN:
                return f"{text} stands inside the guard"
            case Ref(cell=cell):
                value = recalc.value(cell)
                if isinstance(value, CellError) and value.error in BROKEN:
                    return f"{cell} is {value}"
    return None


@check("recompute.lookup-mode")
def lookup_mode(book: Book, recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Approximate lookups search sorted keys.

    What it holds:
        VLOOKUP, HLOOKUP, LOOKUP and MATCH in approximate mode search keys that rise (or fall, for match type -1).
    Why it matters:
        On unsorted keys Excel's binary search returns a neighbour's value, without an error.
    Accepted conventions:
        Exact mode; the idioms that look for the last entry with a key larger than any.
    Example:
        ``=VLOOKUP("Bull",A5:C7,3)`` over Bear, Bull, Base returns whatever the search meets.
    How to fix:
        Add FALSE (or 0) as the last argument.
    Units and tolerance:
        None.
    Source:
        Excel documentation of VLOOKUP and MATCH.
    """
    chain = headline_chain(graph, roles)
    found = 0
    for ref, node in trees(recalc).matching(_LOOKUPS):
        if chain and ref not in chain:
            continue
        for call in walk(node):
            keys = _approximate_keys(call) if isinstance(call, Call) else None
            if keys is None or _looks_for_the_last(recalc, call) or _is_sorted(recalc, *keys):
                continue
            found += 1
            if found <= MOST_FINDINGS:
                cell = book.get(ref)
                yield Finding(
                    message=f"{ref} looks up approximately in {keys[0]}, whose keys are not sorted",
                    cell=ref,
                    found=cell.formula if cell else None,
                    expected="an exact lookup",
                )


def _approximate_keys(call: Node) -> tuple[RangeRef, bool] | None:
    """Return the keys of an approximate lookup and whether they must fall; None for an exact one."""
    match call:
        case Call(function="VLOOKUP" | "HLOOKUP" as function, arguments=(_, Range(range=area), _, *mode)):
            if mode and _is_false(mode[0]):
                return None
            if mode and not _is_true(mode[0]):
                return None
            return (_first_column(area) if function == "VLOOKUP" else _first_row(area)), False
        case Call(function="MATCH", arguments=(_, Range(range=area), *mode)):
            if not mode or _is_true(mode[0]):
                return area, False
            falling = isinstance(mode[0], Number) and mode[0].value < 0
            return (area, True) if falling else None
        case Call(function="LOOKUP", arguments=(_, Range(range=area), *_)):
            return area, False
    return None


def _is_false(node: Node | None) -> bool:
    return node is None or (isinstance(node, Number) and node.value == 0) or _is_word(node, "FALSE")


def _is_true(node: Node | None) -> bool:
    return (isinstance(node, Number) and node.value > 0) or _is_word(node, "TRUE")


def _is_word(node: Node | None, word: str) -> bool:
    return (isinstance(node, Text) and node.value.upper() == word) or (
        isinstance(node, Call) and node.function == word and not node.arguments
    )


def _first_column(area: RangeRef) -> RangeRef:
    return area._replace(last_column=area.first_column)


def _first_row(area: RangeRef) -> RangeRef:
    return area._replace(last_row=area.first_row)


def _looks_for_the_last(recalc: Recalc, call: Node) -> bool:
    key = call.arguments[0] if isinstance(call, Call) and call.arguments else None
    value: object = key.value if isinstance(key, Number) else None
    if isinstance(key, Text):
        return key.value.strip('"').casefold() in {"zzz", "zzzz", "zzzzz", "ω", "座", "々"}
    if isinstance(key, Ref):
        value = recalc.value(key.cell)
    return is_number(value) and abs(as_number(value) or 0.0) >= 1e9


def _is_sorted(recalc: Recalc, keys: RangeRef, falling: bool) -> bool:
    if keys.size > 20_000 or (keys.last_row > keys.first_row and keys.last_column > keys.first_column):
        return True
    values = [recalc.value(ref) for ref in keys.cells()]
    numbers = [float(value) for value in values if is_number(value)]  # type: ignore[arg-type]
    texts = [value.casefold() for value in values if isinstance(value, str) and value]
    return _rises(numbers, falling) and (bool(numbers) or _rises(texts, falling))


def _rises(values: Sequence[float] | Sequence[str], falling: bool) -> bool:
    return list(values) == sorted(values, reverse=falling)
