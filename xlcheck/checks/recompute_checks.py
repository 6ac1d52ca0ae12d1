"""The model's own check cells: do they hold, and do they test anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.cells import CellRef, is_number
from xlcheck.checking import Finding, NotApplicable, Outcomes, check
from xlcheck.checks.sheet import column_label, row_label, text_at
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Call, Node, Number, Range, Ref, Text, Unary, terms
from xlcheck.recompute import Recalc
from xlcheck.workbook import Book, Cell, Sheet

MOST_FINDINGS = 20
_CHECK = re.compile(
    r"\bchecks?\b|\bcheck[- ]?sum\b|\bcontrol total\b|\bkontrolle\b|\bprüfung\b|检查|检核|校验|核对|勾稽|验证|"
    r"檢查|檢核|校驗|核對|鉤稽|"
    r"驗證|チェック|検証|検算|照合",
    re.IGNORECASE,
)
_NOT_A_TEST = re.compile(r"cross[- ]check|sanity|sense check|checklist|交叉|合理性", re.IGNORECASE)
_BAD = re.compile(
    r"(?:error|false|fail(?:ed|s)?|not ok|ng|review|unbalanced|out of balance|fehler|falsch|"
    r"错误|錯誤|有误|有誤|不平衡?|不通过|不通過|"
    r"未通过|未通過|不一致|不相?符|不合格|失败|失敗|异常|異常|エラー|要確認|要修正|[❌✗✘])[!.！。]*",
    re.IGNORECASE,
)
_BAD_BEGINNING = re.compile(
    r"[❌✗✘]|(?:错误|錯誤|不平|不通过|不通過|未通过|未通過|不一致|不合格|エラー)\W", re.IGNORECASE
)
"""A verdict with its reason behind it."""
_GOOD = re.compile(
    r"(?:ok(?:ay)?|true|pass(?:ed)?|yes|balanced|(?:已|✓|√|✅)?\s*通过|通過|正确|正確|一致|相符|无误|無誤|合格|平衡?|問題なし|✓|√|✔|✅)[!.！。]*",
    re.IGNORECASE,
)
_GAP = re.compile(r"\bdiff(?:erence)?\b|\bgap\b|差异|差異|差额|差額|差值|偏差|誤差", re.IGNORECASE)
_TIES = re.compile(
    r"\bties?\b|balanc|reconcil|\bsums?\b|\btotals?\b|\bchecks?\b|=|应为|平衡|勾稽|核对|校验|检查|加总|合计|总和|一致|重算|复算|对账|"
    r"资产负债|負債|應為|鉤稽|核對|校驗|檢查|加總|合計|總和|重算|對帳|照合|検算|チェック",
    re.IGNORECASE,
)
"""What two amounts that must agree are called; a difference of two years or cases is none."""
_OTHER_MEASURE = re.compile(
    r"price|market|multiple|peer|consensus|previous|prior|市价|市價|现价|現價|股价|股價|市场|市場|可比|倍数|倍數|上期|上次|前回",
    re.IGNORECASE,
)
"""A difference to something that need not agree."""
_ROUNDINGS = frozenset({"ROUND", "ROUNDDOWN", "ROUNDUP", "MROUND", "INT", "TRUNC"})
NEGLIGIBLE = 1e-6
"""Share of the largest compared amount below which a difference is arithmetic noise."""


@check("recompute.check-cells")
def check_cells(book: Book, recalc: Recalc) -> Outcomes:
    """The checks that the model itself carries hold, and are computed.

    What it holds:
        A cell labelled as a check does not report an error or a difference, is not typed, and does not round the
        difference away.
    Why it matters:
        A check that fails was seen and ignored; one that is typed or rounded cannot fail.
    Accepted conventions:
        Differences within the rounding of the compared figures; flags of either kind (1 for right, 0 for right) are
        not interpreted; cross-checks by another method may differ.
    Example:
        ``=ROUND(B1-B2,-1)`` labelled "Check" shows 0 while assets and liabilities differ by 4.
    How to fix:
        Remove the rounding, find the difference, and let the check compare within a small tolerance.
    Units and tolerance:
        The unit of the compared amounts; half a unit of a figure's last digit, else 1e-6 of the largest amount.
    Source:
        FAST Standard 3.04 (checks); ICAEW Financial Modelling Code.
    """
    seen = 0
    for sheet in book.sheets:
        rows, columns = _named_checks(recalc, sheet)
        whole = _is_sheet_of_checks(sheet)
        for cell in sheet.cells.values():
            if not whole and cell.ref.row not in rows and cell.ref.column not in columns:
                continue
            if cell.formula is None and not (_says_good(cell) and _beside_numbers(recalc, sheet, cell)):
                continue
            if not _is_check(recalc, cell.ref) and not (whole and _is_on_its_sheet(recalc, sheet, cell)):
                continue
            seen += 1
            yield from _judge(recalc, cell)
    if not seen:
        yield NotApplicable(reason="the workbook carries no check cells")


def _named_checks(recalc: Recalc, sheet: Sheet) -> tuple[set[int], set[int]]:
    """Return the rows and columns in which a text speaks of a check."""
    named = [cell.ref for cell in sheet.cells.values() if _CHECK.search(text_at(recalc, cell.ref))]
    return {ref.row for ref in named}, {ref.column for ref in named}


def _is_sheet_of_checks(sheet: Sheet) -> bool:
    return bool(_CHECK.search(sheet.name)) and not _NOT_A_TEST.search(sheet.name)


def _is_on_its_sheet(recalc: Recalc, sheet: Sheet, cell: Cell) -> bool:
    """Say whether a cell of a sheet of checks is one: a verdict, or a gap that no verdict of its row weighs."""
    label = row_label(recalc, cell.ref)
    if not label or _NOT_A_TEST.search(label):
        return False
    if _is_verdict(recalc.value(cell.ref)):
        return True
    if _OTHER_MEASURE.search(label) or not _GAP.search(f"{label} {column_label(recalc, cell.ref)}"):
        return False
    if not _TIES.search(label):
        return False
    return not any(row == cell.ref.row and _is_verdict(recalc.value(one.ref)) for (row, _), one in sheet.cells.items())


def _is_verdict(value: object) -> bool:
    return isinstance(value, bool) or (
        isinstance(value, str) and (_is_bad(value) or bool(_GOOD.fullmatch(value.strip())))
    )


def _is_bad(text: str) -> bool:
    return bool(_BAD.fullmatch(text.strip()) or _BAD_BEGINNING.match(text.strip()))


def _says_good(cell: Cell) -> bool:
    return isinstance(cell.stored, str) and bool(_GOOD.fullmatch(cell.stored.strip()))


def _beside_numbers(recalc: Recalc, sheet: Sheet, cell: Cell) -> bool:
    """Say whether numbers stand in the row of a text: a row of texts is a heading."""
    return any(row == cell.ref.row and is_number(recalc.value(other.ref)) for (row, _), other in sheet.cells.items())


def _is_check(recalc: Recalc, ref: CellRef) -> bool:
    label = row_label(recalc, ref) or column_label(recalc, ref)
    return bool(_CHECK.search(label)) and not _NOT_A_TEST.search(label) and len(label) < 60


def _judge(recalc: Recalc, cell: Cell) -> Iterator[Finding]:
    value = recalc.value(cell.ref)
    node = trees(recalc).get(cell.ref)
    if node is None:
        yield Finding(
            message=f"{cell.ref} says {cell.stored!r}, but it is typed: the check can never fail",
            cell=cell.ref,
            found=str(cell.stored),
            expected="a formula that compares",
        )
    elif (isinstance(value, str) and _is_bad(value)) or (value is False and _says_equal(node)):
        yield Finding(
            message=f"{cell.ref}, a check of the model itself, reports {value!r}",
            cell=cell.ref,
            found=str(value),
            expected="OK",
        )
    else:
        yield from _difference(recalc, cell, node)


def _says_equal(node: Node) -> bool:
    """Say whether a test is one of equality: ``B1=B2``, ``ABS(B1-B2)<0.01``; ``B1=3`` asks for a case."""
    match node:
        case Binary(operator="=", left=left, right=right):
            return not isinstance(left, Number | Text) and not isinstance(right, Number | Text)
        case Binary(operator="<" | "<=", left=Call(function="ABS")):
            return True
        case Call(function="AND", arguments=parts):
            return all(part is not None and _says_equal(part) for part in parts)
        case _:
            return False


def _difference(recalc: Recalc, cell: Cell, node: Node) -> Iterator[Finding]:
    ref = cell.ref
    rounded, inner = _unrounded(node)
    if not (isinstance(inner, Binary) and inner.operator == "-"):
        return
    shown = recalc.number(ref)
    amounts = _amounts(recalc, inner) or (_worked_out(recalc, inner, shown) if not rounded else None)
    if amounts is None or shown is None:
        return
    gap, scale = sum(amounts), max(map(abs, amounts), default=0.0)
    shown_digits = _displayed_unit(cell.number_format, scale)
    noise = max(NEGLIGIBLE * scale, 0.5 * shown_digits, 0.5 * rounded if rounded <= 1 else 0.0)
    if abs(gap) <= noise or scale <= 1.5:
        return
    hidden = shown == 0
    yield Finding(
        message=f"{ref} rounds a difference of {gap:,.6g} away"
        if hidden
        else f"{ref} shows a difference of {gap:,.6g}",
        cell=ref,
        found=gap,
        expected=0.0,
    )


def _displayed_unit(number_format: str, scale: float) -> float:
    """Return the last digit that a format shows; a hundred-thousandth of the amounts where it names none."""
    shown = re.search(r"0(?:\.(0+))?(?![\d.])", number_format.split(";", maxsplit=1)[0])
    if shown is None or "%" in number_format:
        return 1e-5 * scale
    return float(10.0 ** -len(shown[1] or ""))


def _unrounded(node: Node) -> tuple[float, Node]:
    """Return the unit a difference is rounded to (0 where it is not) and the difference itself."""
    match node:
        case Call(function="ABS", arguments=(inner,)) if inner is not None:
            return _unrounded(inner)
        case Call(function=function, arguments=(inner, *digits)) if function in _ROUNDINGS and inner is not None:
            places = _literal(digits[0]) if digits else 0.0
            return (1.0 if places is None else 10.0**-places), _unrounded(inner)[1]
        case _:
            return 0.0, node


def _literal(node: Node | None) -> float | None:
    match node:
        case Number(value=value):
            return value
        case Unary(operator="-", operand=Number(value=value)):
            return -value
        case _:
            return None


def _worked_out(recalc: Recalc, node: Binary, shown: float | None) -> list[float] | None:
    """Return the two sides of a difference of which one is an expression; None where they agree to a thousandth.

    A check on a value that was solved for closes only as far as the printed decimals of the answer.
    """
    plain = [recalc.number(side.cell) for side in (node.left, node.right) if isinstance(side, Ref)]
    known = plain[0] if len(plain) == 1 and len(terms(node)) == 2 else None
    if shown is None or not known or abs(shown) <= 1e-3 * abs(known):
        return None
    return [known + shown, -known]


def _amounts(recalc: Recalc, node: Node) -> list[float] | None:
    """Return the signed amounts that a difference is made of; None where one is no plain reference."""
    found: list[float] = []
    for sign, term in terms(node):
        match term:
            case Ref(cell=cell):
                value = recalc.value(cell)
                if value is not None and not is_number(value):
                    return None
                found.append(sign * float(value or 0.0))  # type: ignore[arg-type]
            case Range(range=area):
                numbers = [recalc.number(cell) for cell in area.cells()]
                found.append(sign * sum(number for number in numbers if number is not None))
            case Number(value=value):
                found.append(sign * value)
            case _:
                return None
    return found
