"""What makes a rubric unfit although each of its keys is: the faults that only show across keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.yamltext import Location, MisfitError, closest

if TYPE_CHECKING:
    from xlcheck.rubric import Rubric


def second_round(rubric: Rubric) -> Rubric:
    """Return the follow-up section as a rubric of its own, with the first round's task, basis and rules."""
    section = rubric.followup
    if section is None:
        raise ValueError(f"{rubric.id} has no follow-up section")
    leaks = any(deduction.leak for deduction in section.deductions)
    changes = {
        "id": f"{rubric.id}.followup",
        "title": f"{rubric.title}: second round",
        "on_leak": "invalid" if rubric.on_leak == "deduct" and not leaks else rubric.on_leak,
        "followup": None,
    }
    own = ("cutoff", "program_share", "program", "judge", "deductions", "fatal")
    return rubric.model_copy(update={**changes, **{key: getattr(section, key) for key in own}})


def questions_weighted(data: Mapping[str, object]) -> dict[str, object]:
    """Give each question of an outcome the same weight, spread over its items (SCORING: FinanceGym).

    Raises MisfitError for an item that states a weight of its own.
    """
    items = data.get("judge")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return dict(data)
    counts = Counter(str(item.get("question")) for item in items)
    shares = rounded_shares([Fraction(100, len(counts) * counts[str(item.get("question"))]) for item in items])
    for index, (item, share) in enumerate(zip(items, shares, strict=True)):
        if item.get("weight", str(share)) != str(share):
            raise MisfitError(
                ("judge", index, "weight"), "each question weighs the same in the mode outcome; leave the weight out"
            )
    weighted = [
        {"scale": "0-4", "dimension": item.get("question"), **item, "weight": str(share)}
        for item, share in zip(items, shares, strict=True)
    ]
    return {**data, "judge": weighted}


def rounded_shares(exact: Sequence[Fraction]) -> list[Decimal]:
    """Return shares at six decimals with the same whole sum; the largest remainders are rounded up."""
    million = 10**6
    units = [int(share * million) for share in exact]
    spare = round(sum(exact, Fraction(0))) * million - sum(units)
    ranked = sorted(range(len(exact)), key=lambda index: units[index] - exact[index] * million)
    for index in ranked[:spare]:
        units[index] += 1
    return [(Decimal(unit) / million).normalize() + 0 for unit in units]


def inconsistencies(rubric: Rubric, known_checks: Collection[str] | None) -> Iterator[tuple[Location, str]]:
    """Yield the key and the sentence of each fault; `known_checks` are the ids that items may name."""
    if rubric.schema_version != 1:
        yield ("schema_version",), f"found {rubric.schema_version}; this version of xlcheck reads 1"
    yield from _repeated_ids(rubric)
    if known_checks is not None:
        yield from _unknown_checks(rubric, known_checks)
    for role in rubric.binding:
        if role not in SCALAR_ROLES and role not in SERIES_ROLES:
            known = (*SCALAR_ROLES, *SERIES_ROLES)
            yield ("binding", role), f"{role!r} is no role{closest(role, known)}; `xlcheck roles` lists them"
    yield from _bounds_faults(rubric)
    yield from _emptied_groups(rubric)
    yield from _mode_faults(rubric)
    if rubric.mode != "quantile_forecast":
        yield from _weight_faults(rubric)
    if rubric.on_leak == "deduct" and not any(deduction.leak for deduction in rubric.deductions):
        yield ("on_leak",), "'deduct' needs a deduction with 'leak: true' that says how many points"
    if rubric.mode != "financial_model" and rubric.on_leak == "fatal":
        yield ("on_leak",), f"'fatal' belongs to the mode financial_model, and the mode is {rubric.mode}"
    yield from _date_faults(rubric)
    yield from _followup_faults(rubric, known_checks)


def _date_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    price, cutoff = rubric.price, rubric.cutoff
    if price is not None and cutoff is not None and price.as_of > cutoff:
        yield ("price", "as_of"), f"the price is of {price.as_of}, later than the cutoff {cutoff}"


def _followup_faults(rubric: Rubric, known_checks: Collection[str] | None) -> Iterator[tuple[Location, str]]:
    for index, item in enumerate(rubric.judge):
        if item.challenge is not None:
            yield ("judge", index, "challenge"), "challenges belong to items of the follow-up section"
    section = rubric.followup
    if section is None:
        return
    if rubric.mode != "financial_model":
        yield ("followup",), f"belongs to the mode financial_model, and the mode is {rubric.mode}"
    known = [challenge.id for challenge in section.challenges]
    for index, name in enumerate(known):
        if name in known[:index]:
            yield ("followup", "challenges", index, "id"), f"the id {name!r} stands there twice"
    for index, item in enumerate(section.judge):
        if item.challenge is not None and item.challenge not in known:
            wanted = f"write one of {', '.join(known)}" if known else "the section has no challenges"
            yield ("followup", "judge", index, "challenge"), f"{item.challenge!r} is no challenge; {wanted}"
    plain = [item.model_copy(update={"challenge": None}) for item in section.judge]
    round_two = second_round(rubric).model_copy(update={"judge": tuple(plain)})
    for location, sentence in inconsistencies(round_two, known_checks):
        yield ("followup", *location), sentence


def _repeated_ids(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    seen: dict[str, str] = {}
    lists = {
        "program": [item.id for item in rubric.program],
        "judge": [item.id for item in rubric.judge],
        "deductions": [deduction.id for deduction in rubric.deductions],
        "fatal": [rule.key for rule in rubric.fatal],
    }
    for name, keys in lists.items():
        for index, key in enumerate(keys):
            if key in seen:
                yield (name, index, "id"), f"the id {key!r} is already used by {seen[key]}; each id stands once"
            seen[key] = f"{name}[{index}]"


def _unknown_checks(rubric: Rubric, known: Collection[str]) -> Iterator[tuple[Location, str]]:
    named = [(("program", i, "check"), item.check) for i, item in enumerate(rubric.program)]
    named += [(("fatal", i, "check"), rule.check) for i, rule in enumerate(rubric.fatal) if rule.check]
    for place, check_id in named:
        if check_id not in known:
            yield place, f"{check_id!r} is no check{closest(check_id, known)}; `xlcheck checks` lists them"
    families = {check_id.partition(".")[0] for check_id in known}
    shown: list[tuple[Location, tuple[str, ...]]] = []
    shown += [(("judge", i, "findings"), item.findings) for i, item in enumerate(rubric.judge)]
    shown += [(("deductions", i, "findings"), item.findings) for i, item in enumerate(rubric.deductions)]
    for location, names in shown:
        for name in names:
            if name not in known and name not in families:
                yield location, f"{name!r} is neither a check nor a family{closest(name, known)}"


def _bounds_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    told = [(("program", i), item.params) for i, item in enumerate(rubric.program)]
    told += [(("fatal", i), rule.params) for i, rule in enumerate(rubric.fatal)]
    for location, params in told:
        bounds = {name: params[name] for name in ("low", "high") if name in params}
        for name, bound in bounds.items():
            if not isinstance(bound, Decimal):
                yield (*location, "params", name), f"found {bound!r}; write a number, rates as decimals such as 0.085"
                return
        if len(bounds) == 2 and bounds["low"] > bounds["high"]:  # type: ignore[operator]
            yield (*location, "params", "low"), f"low {bounds['low']} lies above high {bounds['high']}"


def _emptied_groups(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    sizes = Counter(item.group for item in rubric.program)
    for index, item in enumerate(rubric.program):
        if item.when_absent == "skip" and (item.group is None or sizes[item.group] == 1):
            having = "has no group" if item.group is None else f"is alone in the group {item.group!r}"
            yield (
                ("program", index, "when_absent"),
                f"{item.id} {having}, so nothing could take over its weight; "
                "write 'fail', or give it a group with another item",
            )


def _mode_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    if rubric.mode == "quantile_forecast":
        yield from _forecast_faults(rubric)
        return
    if rubric.forecast is not None:
        yield ("forecast",), f"belongs to the mode quantile_forecast, and the mode is {rubric.mode}"
    yield from _question_faults(rubric)
    if rubric.mode in ("research_judgement", "outcome") and rubric.program:
        yield ("program",), f"the mode {rubric.mode} has judge items only"
    if rubric.mode == "research_judgement" and rubric.fatal:
        yield ("fatal",), "the mode research_judgement knows deductions, no fatal errors"
    if not rubric.items:
        yield (), "the rubric has no items; list some under 'program' or 'judge'"


def _question_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    if rubric.mode != "outcome":
        if rubric.questions:
            yield ("questions",), f"belongs to the mode outcome, and the mode is {rubric.mode}"
        for index, item in enumerate(rubric.judge):
            if item.question is not None or item.part is not None:
                yield ("judge", index), f"'question' and 'part' belong to the mode outcome, and it is {rubric.mode}"
        return
    if rubric.deductions or rubric.fatal:
        yield ("deductions" if rubric.deductions else "fatal",), "the mode outcome has graded items only"
    asked = {item.question for item in rubric.judge}
    for question in rubric.questions:
        if question not in asked:
            yield ("questions", question), "no judge item belongs to this question"
    for index, item in enumerate(rubric.judge):
        if item.question not in rubric.questions:
            names = ", ".join(rubric.questions) or "none"
            yield ("judge", index), f"'question' is {item.question or 'missing'}; the questions are {names}"
        if item.scale != "0-4":
            yield ("judge", index, "scale"), "outcome items are graded 0 to 4"


def _forecast_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    task = rubric.forecast
    if task is None:
        yield ("mode",), "quantile_forecast needs the key 'forecast' with baseline_wis, reference_wis and quantiles"
        return
    if rubric.items:
        yield ("program" if rubric.program else "judge",), "a quantile forecast is scored by its WIS alone"
    if task.reference_wis >= task.baseline_wis:
        yield (
            ("forecast", "reference_wis"),
            f"the reference ({task.reference_wis}) must lie below the baseline ({task.baseline_wis})",
        )
    levels = task.quantiles
    if list(levels) != sorted(set(levels)) or [1 - level for level in reversed(levels)] != list(levels):
        yield ("forecast", "quantiles"), "levels must rise and lie symmetrically about 0.5, such as [0.1, 0.5, 0.9]"
    elif Decimal("0.5") not in levels:
        yield ("forecast", "quantiles"), "the median 0.5 is missing"


def _weight_faults(rubric: Rubric) -> Iterator[tuple[Location, str]]:
    program = sum((Fraction(item.weight) for item in rubric.program), Fraction(0))
    judged = sum((Fraction(item.weight) for item in rubric.judge), Fraction(0))
    first = "program" if rubric.program else "judge"
    if program + judged != 100:
        yield (
            (first,),
            f"the weights sum to {_decimal(program + judged)} (program {_decimal(program)}, judge {_decimal(judged)}); "
            "they must sum to 100 exactly",
        )
    low, high = rubric.program_share
    if low > high:
        yield ("program_share",), f"[{low}, {high}] is no band; the lower share comes first"
    if not low * 100 <= program <= high * 100:
        yield (
            ("program_share",),
            f"the program items weigh {_decimal(program)} of 100, outside the band {low} to {high}; "
            "change the weights or state another program_share",
        )


def _decimal(value: Fraction) -> Decimal:
    return (Decimal(value.numerator) / Decimal(value.denominator)).normalize() if value else Decimal(0)
