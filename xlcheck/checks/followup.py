"""The second round: the new information is in the model, flows through it, and nothing else moved unsaid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from xlcheck.cells import CellRef, Scalar
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Params, Unverifiable, Workpaper, check
from xlcheck.checks import live
from xlcheck.checks.declared import is_declared, passages
from xlcheck.checks.rounds import Rounds, Step, Target, in_order, rounds, same
from xlcheck.diff import Change
from xlcheck.followup import SecondRound
from xlcheck.graph import Graph
from xlcheck.memo import Memo
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles

NEAR = 0.002
"""How far a moved value may lie from the one asked for: inputs are typed at a few digits."""
MOST = 8
"""Findings of one kind that are shown."""
FIRST_ROUND = NotApplicable(reason="this is a first round; there is no earlier workbook to compare with")


@check("followup.new-information-applied")
def new_information_applied(
    recalc: Recalc,
    graph: Graph,
    roles: Roles,
    memos: tuple[Memo, ...],
    second_round: SecondRound | None,
    previous: Workpaper | None,
    params: Params,
) -> Outcomes:
    """What the second round told is in the model, by the size and in the periods told.

    What it holds:
        Each value that the new information (or a sound challenge) moves is the first round's value times the factor, or
        the value told; the other periods of the line are what the first model gives, declared changes put in.
    Why it matters:
        An answer that talks about the news and leaves the number where it was has not used it.
    Accepted conventions:
        The driver of the line moved instead of the line; the line moved by a formula, or typed; rows inserted.
    Example:
        Guidance for capital expenditure rises by 20 % from 2027; the row of 2028 is still the old one.
    How to fix:
        Move the line (or what drives it) in every period that the information names, and in no other.
    Units and tolerance:
        The line's unit; 0.2 % of the value, or ``tolerance``.
    Source:
        The task's second round.
    """
    if second_round is None or previous is None:
        yield FIRST_ROUND
        return
    both = rounds(recalc, graph, roles, second_round, previous)
    if not both.targets:
        yield NotApplicable(reason="the second round moves no number")
    stated = params.get("tolerance")
    near = float(stated) if isinstance(stated, Decimal) else NEAR
    texts = passages(recalc, memos)
    beside = both.moved(one for one in both.roots if _says(both, texts, one))
    for target in both.targets:
        if isinstance(target, str):
            yield Unverifiable(reason=target)
            continue
        wrong = list(_not_moved(both, target, beside, near))
        if wrong and isinstance(second := _second_line(both, target), Target):
            wrong = list(_not_moved(both, second, beside, near)) and wrong
        yield from wrong[:MOST]


def _says(both: Rounds, texts: tuple[str, ...], one: Change) -> bool:
    """Say whether the answer declares a change."""
    return is_declared(texts, both.first.recalc, one.before, both.now(one.after))


def _second_line(both: Rounds, target: Target) -> Target | None:
    """Return the target on the line that the second workbook binds to the role, where that is another one."""
    line = both.roles.series.get(target.move.role)
    if line is None or isinstance(target.located, Located):
        return None
    if any(step.year is None for step in target.steps) or len(line.cells) != len(target.steps):
        return None
    moved = zip(target.steps, line.cells, strict=True)
    steps = tuple(Step(step.before, cell, step.year, step.told) for step, cell in moved)
    return Target(target.words, target.move, target.located, steps)


def _not_moved(both: Rounds, target: Target, beside: Mapping[CellRef, Scalar], near: float) -> Iterator[Finding]:
    """Yield the periods that are not what they should be; `beside` are the declared changes of the answer."""
    pins = {step.before: both.now(step.after) for step in target.steps if step.told}
    held = {before: value for before, value in pins.items() if value is not None}
    cells = [step.before for step in target.steps]
    base, follows = both.predicted(beside, cells), both.predicted({**beside, **held}, cells)
    for step in target.steps:
        old, new = both.first.recalc.number(step.before), both.now(step.after)
        wanted = _wanted(target, old) if step.told else follows[step.before]
        if step.after is None:
            yield _gone(step, target, wanted)
        elif step.told and same(new, _wanted(target, base[step.before]), near):
            continue
        elif wanted is not None and not same(new, wanted, near):
            when = "" if step.year is None else f" of {step.year}"
            said = f"is {_shown(new)}, after {_shown(old)} in the first round"
            asked = f"{_shown(wanted)} was asked for ({_quoted(target.words)})" if step.told else "it was not to move"
            message = f"{target.move.role}{when} {said}; {asked}"
            yield Finding(
                message=message, cell=step.after, found=_plain(new), expected=wanted, unit=target.located.unit
            )


def _gone(step: Step, target: Target, wanted: float | None) -> Finding:
    message = f"the cell of {target.move.role} that stood at {step.before} in the first round is gone"
    return Finding(message=message, cell=None, found=None, expected=wanted, unit=target.located.unit)


def _wanted(target: Target, old: float | None) -> float | None:
    if target.move.value is not None:
        return float(target.move.value) / target.located.factor
    return None if old is None or target.move.factor is None else old * float(target.move.factor)


def _shown(value: object) -> str:
    return f"{value:,.6g}" if isinstance(value, float | int) else "nothing" if value is None else str(value)


def _plain(value: object) -> float | str | None:
    return float(value) if isinstance(value, float | int) else None if value is None else str(value)


def _quoted(words: str) -> str:
    return words if len(words) <= 90 else words[:87] + "…"


@check("followup.flows-through", consequence_of=("followup.new-information-applied",))
def flows_through(
    recalc: Recalc, graph: Graph, roles: Roles, second_round: SecondRound | None, previous: Workpaper | None
) -> Outcomes:
    """The headline values are those of the first model with the changed inputs.

    What it holds:
        Replacing the changed inputs and the moved line in the first workbook and recomputing it gives the second
        workbook's value per share, equity and enterprise value.
    Why it matters:
        A changed row in front of pasted values changes nothing but the look of the model.
    Accepted conventions:
        Formulas that changed as well, where the outputs still move by what the first model says.
    Example:
        Capital expenditure raised by a fifth while the flows of the same years were pasted as numbers.
    How to fix:
        Keep every formula between the changed input and the value per share.
    Units and tolerance:
        Money of the sheet or currency per share; 1e-5 of the value.
    Source:
        The first workbook, recomputed.
    """
    if second_round is None or previous is None:
        yield FIRST_ROUND
        return
    both = rounds(recalc, graph, roles, second_round, previous)
    if not both.outputs:
        yield Unverifiable(reason="no headline value is bound in both rounds")
        return
    if not both.pins:
        yield Unverifiable(reason=next((why for why in both.targets if isinstance(why, str)), "no moved line is known"))
        return
    changed = {**both.moved((*both.roots, *both.twisted)), **both.pins}
    broken = list(_pasted_over(both, changed))
    if broken:
        yield from broken[:MOST]
        return
    cells = [before for before, _ in both.outputs.values()]
    expected = both.predicted(changed, cells)
    off = {role: pair for role, pair in both.outputs.items() if not _agrees(both, pair, expected[pair[0]])}
    if not off:
        yield Fits(convention="the outputs are those of the first model with the changed inputs")
        return
    deaf = list(_deaf(both))
    yield from deaf[:MOST]
    if not deaf:
        role, (_, after) = next(iter(off.items()))
        others = [str(one.after) for one in both.changes if one.kind == "formula"]
        also = f"; formulas changed too ({', '.join(others[:3])})" if others else ""
        yield Unverifiable(reason=f"{role} {after} is not what the first model gives with the changed inputs{also}")


def _agrees(both: Rounds, pair: tuple[CellRef, CellRef], wanted: float | None) -> bool:
    return same(both.now(pair[1]), wanted, 1e-5)


def _pasted_over(both: Rounds, changed: Mapping[CellRef, Scalar]) -> Iterator[Finding]:
    """Yield the formulas behind the moved cells that are constants now, and not what they would come to."""
    behind = both.first.graph.descendants(both.pins) - set(both.pins)
    before = {pair[0] for pair in both.outputs.values()}
    path = behind & both.first.graph.ancestors(before)
    pasted = {one.before: one for one in both.changes if one.kind == "overwritten" and one.before in path}
    expected = both.predicted(changed, list(pasted)) if pasted else {}
    for cell in in_order(both.first.graph, pasted):
        one, wanted = pasted[cell], expected[cell]
        if wanted is not None and not same(one.new, wanted, 1e-4):
            message = f"{one.after} held {one.old} and is a typed number now, so the new information stops there"
            yield Finding(message=message, cell=one.after, found=_plain(one.new), expected=wanted)


def _deaf(both: Rounds) -> Iterator[Finding]:
    """Yield the moved cells that move an output of the first model and none of the second."""
    before = [pair[0] for pair in both.outputs.values()]
    after = [pair[1] for pair in both.outputs.values()]
    base = {cell: both.recalc.number(cell) for cell in after}
    steps = [step for target in both.targets if isinstance(target, Target) for step in target.steps if step.told]
    for step in steps:
        old, new = both.first.recalc.number(step.before), both.now(step.after)
        if step.after is None or old is None or not isinstance(new, float | int) or same(old, new):
            continue
        first = both.predicted({step.before: new}, before)
        moved = live.run(both.recalc, {step.after: old}, after)
        reaches_first = any(not same(first[cell], both.first.recalc.number(cell)) for cell in before)
        if reaches_first and all(same(moved[cell], base[cell]) for cell in after):
            message = f"{step.after} moved, and no headline value reads it any more"
            yield Finding(message=message, cell=step.after, found=float(new), expected=old)


@check("followup.nothing-else-moved")
def nothing_else_moved(
    recalc: Recalc,
    graph: Graph,
    roles: Roles,
    memos: tuple[Memo, ...],
    second_round: SecondRound | None,
    previous: Workpaper | None,
) -> Outcomes:
    """Between the rounds nothing moved that the new information does not explain and the answer does not declare.

    What it holds:
        Each input that moves a headline value is the same as in the first round, and each formula makes the same of
        what it reads, or the memo (or a sheet of changes) names it, says that it changed and gives its new value. What
        a false challenge asks for has not moved at all.
    Why it matters:
        A second, silent change hides the effect of the first one, or makes up for it.
    Accepted conventions:
        Drivers through which the told line was moved; inputs that move no headline value; declared changes.
    Example:
        Beside the higher capital expenditure terminal growth went from 2.0 % to 2.5 %, without a word.
    How to fix:
        Set it back, or declare it with old and new value and the reason.
    Units and tolerance:
        The input's own unit; any difference that moves a headline value by more than one millionth.
    Source:
        The first workbook.
    """
    if second_round is None or previous is None:
        yield FIRST_ROUND
        return
    both = rounds(recalc, graph, roles, second_round, previous)
    if not both.outputs:
        yield Unverifiable(reason="no headline value is bound in both rounds")
        return
    refused = list(_moved_by_false_challenge(both))
    yield from refused
    texts = passages(recalc, memos)
    named = {finding.cell for finding in refused}
    undeclared = [
        one
        for one in (*_effective(both, both.roots), *both.twisted)
        if one.after not in named and not _says(both, texts, one)
    ]
    unknown = [why for why in both.targets if isinstance(why, str)]
    if undeclared and unknown:
        yield Unverifiable(reason=f"{undeclared[0].after} moved, perhaps for the new information: {unknown[0]}")
        return
    for one in undeclared[:MOST]:
        yield _undeclared(both, one)


def _moved_by_false_challenge(both: Rounds) -> Iterator[Finding]:
    for words, move in both.asked.refused():
        target = both.target(words, move)
        for step in target.steps if isinstance(target, Target) else ():
            old, new = both.first.recalc.number(step.before), both.now(step.after)
            if step.told and step.after is not None and old is not None and not same(new, old):
                message = f"{move.role} moved from {_shown(old)} to {_shown(new)}, as a false challenge asks"
                yield Finding(message=message, cell=step.after, found=_plain(new), expected=old)


def _effective(both: Rounds, changed: Sequence[Change]) -> list[Change]:
    """Return the changes that move a headline value otherwise than through the cells told to move.

    A half that moves none is not looked into.
    """
    if not changed or not both.moves_outputs(both.moved(changed), both.pins):
        return []
    if len(changed) == 1:
        return list(changed)
    middle = len(changed) // 2
    return _effective(both, changed[:middle]) + _effective(both, changed[middle:])


def _undeclared(both: Rounds, one: Change) -> Finding:
    old, new = both.twisted.get(one, both.first.recalc.value(one.before)), both.now(one.after)
    what = {"input": "moved", "overwritten": "held a formula and moved", "formula": "has another formula and moved"}
    message = f"{one.after} {what[one.kind]} from {_shown(old)} to {_shown(new)}; the answer does not declare it"
    return Finding(message=message, cell=one.after, found=_plain(new), expected=_plain(old))
