"""The score of a financial model: checks, judge, deductions and the cap of a fatal error (SCORING: main mode).

program = Σ weight · credit over checks, judged = Σ weight · grade over judge items, raw = program + judged − deducted,
total = raw between 0 and 100, and at most `cap_on_fatal` with a fatal error. Rationals throughout. What cannot be
decided makes an interval: `low` takes it at its worst, `high` at its best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from xlcheck.checking import CheckResult
from xlcheck.errors import RubricError
from xlcheck.overrides import Override
from xlcheck.rubric import Deduction, FatalRule, JudgeItem, ProgramItem, Rubric
from xlcheck.scoring.card import CardStatus, LineKind, ScoreCard, Sums, exact, half_up
from xlcheck.scoring.decisions import UNDECIDED, Decision, by_item, decide
from xlcheck.scoring.overruling import overruled
from xlcheck.scoring.parts import Part, blank, part
from xlcheck.verdicts import Verdict

_ZERO, _ONE, _HUNDRED = Fraction(0), Fraction(1), Fraction(100)


def score(
    rubric: Rubric,
    results: Sequence[CheckResult],
    verdicts: Iterable[Verdict] = (),
    *,
    leak: str | None = None,
    overrides: Sequence[Override] = (),
) -> ScoreCard:
    """Merge check results and verdicts into a score card.

    `results` carry the id of their rubric item; the quotes of `verdicts` have been looked up (`quotes.verify`).
    `leak` says which evidence dated after the cutoff was used, `on_leak` of the rubric what that costs; `overrides`
    are a person's word on single items, and one on a skipped item gives its weight back. Raises RubricError where
    every item of a group is skipped, so that nothing is left to take over the weight.
    """
    decided = by_item(verdicts)
    parts = [
        *_program(rubric, results, {override.item for override in overrides}),
        *(_judge(rubric, item, decided.get(item.id, [])) for item in rubric.judge),
        *(_deduction(rubric, item, decided.get(item.id, []), leak) for item in rubric.deductions),
        *_fatals(rubric, results, decided),
        *_fatal_leak(rubric, leak),
    ]
    card = total(rubric, overruled(rubric, parts, overrides))
    if leak is not None and rubric.on_leak == "invalid":
        return without_total(card, "invalid", leak)
    return card


def total(rubric: Rubric, parts: Sequence[Part]) -> ScoreCard:
    """Add the parts up, clamp each end, cap it, and say whether it is final."""
    worst, best = _sums(parts, "low"), _sums(parts, "high")
    fatals = [part for part in parts if part.line.kind == "fatal"]
    cap = Fraction(rubric.cap_on_fatal)
    low = min(worst[-1], cap) if any(part.low == 0 for part in fatals) else worst[-1]
    high = min(best[-1], cap) if any(part.high == 0 for part in fatals) else best[-1]
    open_items = tuple(part.line.item for part in parts if part.line.open)
    status: CardStatus = "provisional" if open_items else "final"
    chosen = low if status == "final" or rubric.open_scores == "low" else high
    names = ("program", "judged", "deducted", "raw", "uncapped")
    return ScoreCard(
        low=exact(low),
        high=exact(high),
        status=status,
        headline=half_up(low) if half_up(low) == half_up(high) else None,
        score=exact(chosen) if status == "final" or rubric.open_scores else None,
        lines=tuple(part.line for part in parts),
        cap=rubric.cap_on_fatal,
        fatal=tuple(dict.fromkeys(part.line.item for part in fatals if part.high == 0)),
        best=Sums(**dict(zip(names, map(exact, best), strict=True))) if open_items else None,
        open_items=tuple(dict.fromkeys(open_items)),
        overruled=tuple(dict.fromkeys(part.line.item for part in parts if part.line.overruled)),
        **dict(zip(names, map(exact, worst), strict=True)),
    )


def _sums(parts: Sequence[Part], end: str) -> tuple[Fraction, Fraction, Fraction, Fraction, Fraction]:
    def add(kind: LineKind) -> Fraction:
        return sum((part.weight * getattr(part, end) for part in parts if part.line.kind == kind), _ZERO)

    deducted = sum((part.weight for part in parts if part.line.kind == "deduction"), _ZERO) - add("deduction")
    program, judged = add("program"), add("judge")
    raw = program + judged - deducted
    return program, judged, deducted, raw, max(_ZERO, min(_HUNDRED, raw))


def _program(rubric: Rubric, results: Sequence[CheckResult], kept: set[str]) -> list[Part]:
    matched = {item.id: _result_of(item.id, item.check, results) for item in rubric.program}
    weights = spread(rubric.program, {key for key, result in matched.items() if _absent(result)} - kept)
    return [_program_part(rubric, item, matched[item.id], weights[item.id], results) for item in rubric.program]


def _absent(result: CheckResult | None) -> bool:
    return result is not None and result.status == "not_applicable"


def _result_of(key: str, check: str | None, results: Sequence[CheckResult]) -> CheckResult | None:
    own = next((result for result in results if result.item == key), None)
    return own or next((result for result in results if result.check_id == check), None)


def spread(items: Sequence[ProgramItem], absent: set[str]) -> dict[str, Fraction]:
    """Return every item's weight after absent items of `when_absent: skip` gave theirs to their group, in proportion.

    Raises RubricError naming a group in which nothing is left.
    """
    skipped = {item.id for item in items if item.id in absent and item.when_absent == "skip"}
    weights = {item.id: _ZERO if item.id in skipped else Fraction(item.weight) for item in items}
    for group in dict.fromkeys(item.group for item in items if item.id in skipped):
        members = [item for item in items if item.group == group]
        left = [item for item in members if item.id not in skipped]
        if not left:
            names = ", ".join(item.id for item in members)
            raise RubricError(
                f"the rubric's group {group!r} has nothing left for this submission: {names} are all skipped as not "
                "applicable; write 'when_absent: fail' for one of them"
            )
        whole = sum((Fraction(item.weight) for item in members), _ZERO)
        kept = sum((Fraction(item.weight) for item in left), _ZERO)
        weights |= {item.id: Fraction(item.weight) * whole / kept for item in left}
    return weights


def _program_part(
    rubric: Rubric, item: ProgramItem, result: CheckResult | None, weight: Fraction, results: Sequence[CheckResult]
) -> Part:
    skipped = item.when_absent == "skip" and _absent(result)
    low, high, reason = _credit(rubric, result, results)
    if skipped:
        low, high, reason = _ONE, _ONE, f"skipped, its weight went to the group {item.group}: {reason}"
    line = blank(
        item.id,
        "program",
        item.title or item.check,
        check=item.check,
        stage=item.stage,
        dimension=item.dimension,
        reason=reason,
        **_evidence(result),
    )
    return part(line, weight, low, high)


def _evidence(result: CheckResult | None) -> dict[str, object]:
    if result is None or not result.findings:
        return {}
    first = result.findings[0]
    cell = str(first.cell) if first.cell is not None else None
    return {"cell": cell, "found": first.found, "expected": first.expected, "message": first.message}


def _credit(
    rubric: Rubric, result: CheckResult | None, results: Sequence[CheckResult]
) -> tuple[Fraction, Fraction, str | None]:
    if result is None:
        return _ZERO, _ONE, "the check was not run"
    if result.status == "unverifiable" or (result.status == "partial" and result.credit is None):
        return _ZERO, _ONE, result.reason or "it could not be verified"
    if result.status == "not_applicable":
        return _ZERO, _ZERO, result.reason or "the workbook has nothing that it could hold for"
    if result.status == "pass":
        return _ONE, _ONE, result.reason
    if not rubric.count_consequences and _charged_elsewhere(result, results):
        return _ONE, _ONE, f"credited: it only follows from {result.caused_by}"
    credit = Fraction(result.credit or 0) if result.status == "partial" else _ZERO
    return credit, credit, result.reason


def _charged_elsewhere(result: CheckResult, results: Sequence[CheckResult]) -> bool:
    """Say whether the chain of causes ends at a failure of its own (a ring of causes would charge nobody)."""
    failed = {other.check_id: other for other in results if other.status in ("fail", "partial")}
    seen = {result.check_id}
    current: CheckResult | None = result
    while current is not None and current.caused_by is not None:
        if current.caused_by in seen:
            return False
        seen.add(current.caused_by)
        current = failed.get(current.caused_by)
    return current is not None and current is not result


def _judge(rubric: Rubric, item: JudgeItem, verdicts: Sequence[Verdict]) -> Part:
    decision = decide(verdicts, item.quote == "required", rubric.unverified_quote)
    line = blank(
        item.id,
        "judge",
        item.title or item.pass_if,
        stage=item.stage,
        dimension=item.dimension,
        **said(decision),
    )
    return part(line, Fraction(item.weight), decision.low, decision.high)


def said(decision: Decision | None) -> dict[str, object]:
    """Return what a line tells of a decision: why it is open, the judge's reason and quotes."""
    if decision is None:
        return {}
    verdict = decision.verdict
    said: dict[str, object] = {"reason": decision.reason}
    return said if verdict is None else said | {"message": verdict.reason or None, "quotes": verdict.quotes}


def _deduction(rubric: Rubric, item: Deduction, verdicts: Sequence[Verdict], leak: str | None) -> Part:
    decision = decide(verdicts, item.quote == "required", rubric.unverified_quote)
    if item.leak and leak is not None and rubric.on_leak == "deduct":
        decision = Decision(_ZERO, _ZERO, leak)
    elif item.leak and not verdicts:
        decision = Decision(_ONE, _ONE)
    line = blank(item.id, "deduction", item.when, stage=item.stage, dimension=item.dimension, **said(decision))
    return part(line, Fraction(item.points), decision.low, decision.high)


def _fatals(rubric: Rubric, results: Sequence[CheckResult], decided: Mapping[str, list[Verdict]]) -> list[Part]:
    parts = [_fatal_rule(rubric, rule, results, decided.get(rule.key, [])) for rule in rubric.fatal]
    items = {item.id: item for item in rubric.program}
    for result in results:
        if result.severity == "fatal" and result.item in items:
            parts.append(_fatal_check(result.item, items[result.item].title or result.check_id, result))
    return parts


def _fatal_leak(rubric: Rubric, leak: str | None) -> list[Part]:
    if leak is None or rubric.on_leak != "fatal":
        return []
    return [part(blank("leak", "fatal", "Evidence later than the cutoff was used", message=leak), _ZERO, _ZERO, _ZERO)]


def _fatal_rule(rubric: Rubric, rule: FatalRule, results: Sequence[CheckResult], verdicts: Sequence[Verdict]) -> Part:
    if rule.check is not None:
        return _fatal_check(rule.key, rule.check, _result_of(rule.key, rule.check, results), rule.check)
    decision = decide(verdicts, rule.quote == "required", rubric.unverified_quote)
    return part(blank(rule.key, "fatal", rule.judge or "", **said(decision)), _ZERO, decision.low, decision.high)


def _fatal_check(key: str, title: str, result: CheckResult | None, check: str | None = None) -> Part:
    low, high, reason = UNDECIDED.low, UNDECIDED.high, "the check was not run"
    if result is not None:
        low = _ZERO if result.status in ("fail", "unverifiable") else _ONE
        high = _ZERO if result.status == "fail" else _ONE
        reason = result.reason or ""
        check = result.check_id
    line = blank(key, "fatal", title, check=check, reason=reason or None, **_evidence(result))
    return part(line, _ZERO, low, high)


def empty_card(rubric: Rubric, reason: str) -> ScoreCard:
    """Return the card of a submission with nothing in it: total 0, final, every item lost."""
    parts = [
        part(blank(item.id, "program", item.title or item.check, check=item.check, stage=item.stage,
                     dimension=item.dimension, reason=reason), Fraction(item.weight), _ZERO, _ZERO)
        for item in rubric.program
    ]  # fmt: skip
    parts += [
        part(blank(item.id, "judge", item.title or item.pass_if, stage=item.stage, dimension=item.dimension,
                     reason=reason), Fraction(item.weight), _ZERO, _ZERO)
        for item in rubric.judge
    ]  # fmt: skip
    return total(rubric, parts).model_copy(update={"reason": reason})


def ungradable_card(rubric: Rubric, reason: str) -> ScoreCard:
    """Return the card of a submission that cannot be opened; its total is None unless the rubric states one."""
    card = without_total(total(rubric, ()), "ungradable", reason)
    stated = rubric.ungradable_scores
    if stated is None:
        return card
    return card.model_copy(update={"low": stated, "high": stated, "score": stated, "headline": half_up(stated)})


def without_total(card: ScoreCard, status: CardStatus, reason: str) -> ScoreCard:
    """Return a card that has no total, and why: a run that counts for nothing is not one that scored nothing."""
    nothing = {"low": None, "high": None, "score": None, "headline": None}
    return card.model_copy(update={**nothing, "status": status, "reason": reason})
