"""Helps for authors of rubrics: what is weak in one, what it says in plain words, and a skeleton to begin with."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Literal

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.rubric import JudgeItem, Rubric, second_round
from xlcheck.scoring.card import exact

HEAVY = Decimal(20)
"""Points above which one item decides too much alone."""
HALF = Decimal(50)
"""Points above which one dimension outweighs all others together."""
ALIKE = 0.6
"""Share of common words above which two conditions overlap."""


class Advice(Frozen):
    """One weakness of a rubric."""

    code: str
    """Stable name of the weakness, such as ``vague-words``."""
    item: str | None
    """Id of the item; None for the rubric as a whole."""
    message: str


def lint(rubric: Rubric) -> tuple[Advice, ...]:
    """Return the weaknesses of a valid rubric, by kind; an empty tuple for a clean one."""
    found = [advice for rule in _RULES for advice in rule(rubric)]
    if rubric.followup is not None:
        second = second_round(rubric)
        found += [advice for rule in _ITEM_RULES for advice in rule(second)]
    return tuple(found)


_JOINED = re.compile(
    r";\s|；|\bas well as\b|\band also\b|\bin addition\b|\bfurthermore\b|\bmoreover\b|此外|并且|同时"
    r"|\([a-d1-4]\).*\([b-e2-5]\)|\band\b.*\band\b.*\band\b",
    re.IGNORECASE | re.DOTALL,
)
_VAGUE = re.compile(
    r"\b(?:good|appropriate(?:ly)?|reasonabl[ey]|adequate(?:ly)?|sufficient(?:ly)?|clear(?:ly)?|proper(?:ly)?"
    r"|suitabl[ey]|convincing(?:ly)?|comprehensive(?:ly)?|thorough(?:ly)?|robust|high[- ]quality|well[- ]written"
    r"|professional(?:ly)?|meaningful(?:ly)?|plausibl[ey])\b"
    r"|合理|适当|充分|清晰|良好|较好|恰当|专业|到位|深入|详细|高质量|有说服力|令人信服",
    re.IGNORECASE,
)
_CHECKABLE: tuple[tuple[str, str], ...] = (
    (r"growth.{0,40}(below|less than|lower than).{0,30}(wacc|discount rate)", "fatal.growth-not-below-wacc"),
    (r"增长率.{0,20}(低于|小于)", "fatal.growth-not-below-wacc"),
    (r"balance sheet.{0,30}balances|资产负债表.{0,10}(平衡|配平)", "statements.balance-sheet"),
    (r"hard-?coded|硬编码", "recompute.no-hardcoded-forecast"),
    (r"weights? (sum|add up) to (one|1|100)|权重.{0,6}(之和|合计)", "wacc.weights-sum-to-one"),
    (r"(wacc|discount rate).{0,30}(between|within|in the range).{0,12}\d", "wacc.range"),
    (r"terminal growth.{0,30}(between|within|in the range).{0,12}\d", "terminal.growth-range"),
    (r"#REF|#DIV|error values?\b|错误值", "recompute.no-error-values"),
    (r"equity value.{0,30}(divided by|/|÷).{0,20}shares|股权价值.{0,10}除以", "bridge.per-share"),
    (r"sensitivity (table|grid).{0,60}(recomput|reproduc|agrees with the model)", "sensitivity.grid-recomputed"),
    (r"敏感性.{0,20}(重算|与模型一致)", "sensitivity.grid-recomputed"),
    (r"terminal value.{0,40}discounted (only )?(once|twice)|终值.{0,20}重复折现", "terminal.discounted-once"),
    (r"probabilities (sum|add up) to", "scenario.probabilities-sum-to-one"),
    (r"circular reference|循环引用", "recompute.circularity"),
    (r"(折现率|WACC).{0,8}(介于|在|处于).{0,4}\d", "wacc.range"),
    (r"永续增长率.{0,8}(介于|在|处于).{0,4}\d", "terminal.growth-range"),
    (r"概率.{0,6}(之和|合计)", "scenario.probabilities-sum-to-one"),
    (r"value per share (equals|is) the (market )?price|每股价值等于.{0,4}股价", "reverse.solves-to-price"),
    (r"(even|equal|uniform) steps|步长(一致|相等|均匀)", "sensitivity.even-steps"),
    (r"(minority|non-controlling) interests? (is|are) deducted|扣除少数股东权益", "bridge.equity-identity"),
)  # fmt: skip
_PLACEHOLDER = re.compile(r"\bTODO\b|^…$|\bTBD\b")


def _bundled(rubric: Rubric) -> Iterator[Advice]:
    for item in rubric.judge:
        if _JOINED.search(item.pass_if):
            yield Advice(
                code="several-conditions",
                item=item.id,
                message=f"{item.id} joins several conditions in pass_if; give each its own item and weight",
            )


def _vague(rubric: Rubric) -> Iterator[Advice]:
    for item in rubric.judge:
        words = sorted({word.lower() for word in _VAGUE.findall(f"{item.pass_if} {item.fail_if or ''}")})
        if words:
            yield Advice(
                code="vague-words",
                item=item.id,
                message=f"{item.id} leaves {', '.join(map(repr, words))} to taste; say what is to be seen instead",
            )


def _checkable(rubric: Rubric) -> Iterator[Advice]:
    for item in rubric.judge:
        for pattern, check in _CHECKABLE:
            if re.search(pattern, item.pass_if, re.IGNORECASE):
                yield Advice(
                    code="a-check-decides-this",
                    item=item.id,
                    message=f"{item.id} asks a judge for what the check {check} decides; make it a program item",
                )
                break


def _overlapping(rubric: Rubric) -> Iterator[Advice]:
    written = [item for item in rubric.judge if not _PLACEHOLDER.search(item.pass_if)]
    for one, two in combinations(written, 2):
        if _likeness(one.pass_if, two.pass_if) >= ALIKE:
            yield Advice(
                code="overlapping-items",
                item=two.id,
                message=f"{one.id} and {two.id} ask for nearly the same, so one weakness costs twice",
            )
    for first, second in combinations(rubric.program, 2):
        if first.check == second.check and first.params == second.params:
            yield Advice(
                code="overlapping-items",
                item=second.id,
                message=f"{first.id} and {second.id} run the same check {first.check} with the same parameters",
            )


def _likeness(one: str, two: str) -> float:
    first, second = _words(one), _words(two)
    return len(first & second) / max(1, len(first | second))


def _words(text: str) -> set[str]:
    """Return the words of a text, and pairs of neighbours of a Chinese one."""
    words = {*re.findall(r"[a-z0-9]{3,}", text.lower()), *re.findall(r"(?=([\u4e00-\u9fff]{2}))", text)}
    return words - {"the", "and", "for", "that", "memo", "备忘", "忘录"}


def _unfailable(rubric: Rubric) -> Iterator[Advice]:
    for item in rubric.judge:
        if item.fail_if is None:
            yield Advice(
                code="no-fail-condition",
                item=item.id,
                message=f"{item.id} has no fail_if; judges disagree most where failing is not described",
            )


def _placeholders(rubric: Rubric) -> Iterator[Advice]:
    for item in rubric.judge:
        if any(_PLACEHOLDER.search(text) for text in (item.pass_if, item.fail_if or "")):
            yield Advice(code="placeholder", item=item.id, message=f"{item.id} still holds the text of the skeleton")


def _weights(rubric: Rubric) -> Iterator[Advice]:
    if len(rubric.items) < 2:
        return
    for item in rubric.items:
        if item.weight > HEAVY:
            yield Advice(
                code="heavy-item",
                item=item.id,
                message=f"{item.id} weighs {item.weight} of 100 and decides too much alone; split it",
            )
    by_dimension = {item.dimension: [one.weight for one in rubric.judge if one.dimension == item.dimension]
                    for item in rubric.judge}  # fmt: skip
    for dimension, weights in by_dimension.items():
        if len(by_dimension) > 2 and sum(weights) > HALF:
            yield Advice(
                code="heavy-dimension",
                item=None,
                message=f"the items of {dimension!r} weigh {_points(weights)} of 100, more than all others together",
            )


_IN_WORKBOOK = re.compile(
    r"\b(?:register|workbook|spreadsheet|sheet|tab|cells?)\b|工作簿|工作表|假设表|底稿", re.IGNORECASE
)


def numbers_only_ceiling(rubric: Rubric) -> Decimal:
    """Return the most points an answer with every number right and no argument can reach.

    Every program point, and each judge item that passes without a quote or with one from the workbook alone.
    """
    unargued = [item.weight for item in rubric.judge if _passes_without_memo(item)]
    return _points([item.weight for item in rubric.program] + unargued)


def _passes_without_memo(item: JudgeItem) -> bool:
    return item.quote == "optional" or _IN_WORKBOOK.search(item.pass_if) is not None


def _points(weights: Iterable[Decimal]) -> Decimal:
    return exact(sum(map(Fraction, weights), Fraction(0)))


def _ceiling(rubric: Rubric) -> Iterator[Advice]:
    ceiling = numbers_only_ceiling(rubric)
    if rubric.mode == "financial_model" and rubric.judge and ceiling >= 50:
        unargued = ", ".join(item.id for item in rubric.judge if _passes_without_memo(item)) or "none"
        yield Advice(
            code="numbers-only-ceiling",
            item=None,
            message=f"an answer without any argument can reach {ceiling} points and must stay below 50; "
            f"judge items that need no quote from a memo: {unargued}",
        )


def _unreachable(rubric: Rubric) -> Iterator[Advice]:
    if rubric.fatal and rubric.cap_on_fatal > 40:
        yield Advice(
            code="unreachable-band",
            item=None,
            message=f"cap_on_fatal is {rubric.cap_on_fatal}, so an answer with a fatal error can score above 40",
        )
    if rubric.mode == "financial_model" and rubric.judge and not rubric.fatal:
        yield Advice(code="no-fatal-errors", item=None, message="no fatal error is listed, so nothing caps a score")


def _groups(rubric: Rubric) -> Iterator[Advice]:
    for group in dict.fromkeys(item.group for item in rubric.program if item.group is not None):
        members = [item for item in rubric.program if item.group == group]
        if all(item.when_absent == "skip" for item in members):
            yield Advice(
                code="group-can-be-emptied",
                item=members[0].id,
                message=f"every item of the group {group!r} may be skipped; a workbook without all of them "
                "cannot be scored",
            )


def _ranges(rubric: Rubric) -> Iterator[Advice]:
    for item in rubric.program:
        ranged = item.check.endswith("range") or item.check.startswith("metric.")
        if ranged and item.check != "metric.implied-values" and not {"low", "high"} & set(item.params):
            yield Advice(
                code="range-without-bounds",
                item=item.id,
                message=f"{item.id} runs {item.check} without low or high, so nothing can be out of range",
            )


_Rule = Callable[[Rubric], Iterator[Advice]]
_ITEM_RULES: tuple[_Rule, ...] = (_bundled, _vague, _checkable, _overlapping, _unfailable, _placeholders)
_RULES: tuple[_Rule, ...] = (_weights, _ceiling, _unreachable, _groups, _ranges, *_ITEM_RULES)


TaskKind = Literal["dcf", "reverse-dcf", "checks-only", "judgement"]
_DCF = (
    "recompute.cached-values-match", "recompute.no-error-values", "recompute.outputs-are-live", "wacc.identity",
    "wacc.is-the-rate-used", "discount.factor-identity", "discount.pv-sum", "terminal.gordon-identity",
    "terminal.discounted-once", "bridge.enterprise-value", "bridge.equity-identity", "bridge.signs",
    "bridge.per-share",
)  # fmt: skip
PRESETS: dict[TaskKind, tuple[str, ...]] = {
    "dcf": _DCF,
    "reverse-dcf": (
        "reverse.price-anchor", "reverse.solves-to-price", "reverse.implied-value", "flow.fcff-identity",
        "bridge.no-double-count", *(check for check in _DCF if check != "wacc.identity"),
    ),
    "checks-only": _DCF,
    "judgement": (),
}  # fmt: skip
"""Task kind to the checks that a new rubric begins with."""
_FATAL = ("fatal.growth-not-below-wacc", "fatal.not-recomputable", "fatal.share-count", "fatal.double-discounting")
_DIMENSIONS = ("sources", "forecast logic", "steady state", "scenarios", "conclusion")


def skeleton(
    rubric_id: str, title: str, kind: TaskKind, known_checks: Collection[str], facts: Mapping[str, str] | None = None
) -> str:
    """Return the YAML text of a valid rubric to begin with, of checks that exist.

    `facts` may hold ``currency`` (money in millions), ``cutoff`` (ISO date) and ``price`` (per share at the cutoff).
    Raises UsageError for an unknown kind, where none of its checks
    exist, and for a price without a cutoff.
    """
    if kind not in PRESETS:
        raise UsageError(f"{kind!r} is no kind of task; write {', '.join(PRESETS)}")
    checks = [check for check in PRESETS[kind] if check in known_checks]
    if PRESETS[kind] and not checks:
        raise UsageError(f"none of the checks for a task of the kind {kind} is known")
    mode = "research_judgement" if kind == "judgement" else "financial_model"
    share = {"checks-only": 100, "judgement": 0}.get(kind, 30)
    lines = ["schema_version: 1", f"id: {rubric_id}", f"title: {_quoted(title)}", f"mode: {mode}"]
    lines += _facts(facts or {})
    if checks:
        lines.append("program:")
        for number, (check, weight) in enumerate(zip(checks, _shares(share, len(checks)), strict=True), 1):
            lines.append(f"  - {{id: P{number:02}, check: {check}, weight: {weight}, group: {check.split('.')[0]}}}")
    if share < 100:
        lines.append("judge:")
        for number, (dimension, weight) in enumerate(
            zip(_DIMENSIONS, _shares(100 - share, len(_DIMENSIONS)), strict=True), 1
        ):
            lines += [
                f"  - id: J{number:02}",
                f"    dimension: {dimension}",
                f"    weight: {weight}",
                "    pass_if: TODO what the answer must show, so that two people would agree",
                "    fail_if: TODO what failing looks like",
                "    quote: required",
            ]
    if mode == "financial_model":
        fatal = [check for check in _FATAL if check in known_checks]
        lines += ["fatal:", *(f"  - {{check: {check}}}" for check in fatal)] if fatal else []
    return "\n".join(lines) + "\n"


def _facts(facts: Mapping[str, str]) -> Iterator[str]:
    if "currency" in facts:
        yield f"basis: {{currency: {facts['currency']}, unit: 1000000}}"
    if "cutoff" in facts:
        yield f"cutoff: {facts['cutoff']}"
    if "price" in facts:
        if "cutoff" not in facts:
            raise UsageError("a price needs the cutoff as its day; give both")
        yield f"price: {{value: {facts['price']}, as_of: {facts['cutoff']}}}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _shares(points: int, count: int) -> list[Decimal]:
    """Split points into parts of a tenth or more that sum exactly."""
    each = (Decimal(points) / count).quantize(Decimal("0.1"))
    return [*([each] * (count - 1)), points - each * (count - 1)]
