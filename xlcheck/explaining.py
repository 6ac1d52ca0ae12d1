"""A rubric in plain words, for people who do not read YAML."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from xlcheck.authoring import numbers_only_ceiling
from xlcheck.rubric import FollowUp, ForecastTask, JudgeItem, Rubric, second_round
from xlcheck.scoring.card import exact


def explain(rubric: Rubric) -> str:
    """Return what a rubric says, in plain words for people who do not read YAML."""
    lines = [f"{rubric.title} ({rubric.id})", ""]
    if rubric.forecast is not None:
        lines += _forecast_lines(rubric.forecast)
    else:
        lines += _item_lines(rubric)
    if rubric.followup is not None:
        lines += ["", *_second_round_lines(rubric, rubric.followup)]
    return "\n".join(lines) + "\n"


def _forecast_lines(task: ForecastTask) -> Iterator[str]:
    levels, days = ", ".join(map(str, task.quantiles)), " and ".join(map(str, task.horizons))
    yield f"Forecasts {days} days ahead at the quantiles {levels}, from amounts until {task.lag_days} days before."
    yield f"A weighted interval score of {task.baseline_wis} scores 0, one of {task.reference_wis} scores 100."


def _second_round_lines(rubric: Rubric, section: FollowUp) -> Iterator[str]:
    yield "Second round, 100 points of its own. The submitter is told:"
    yield from (f"  {item.text}" for item in section.information)
    for challenge in section.challenges:
        yield f"  {challenge.id}  {challenge.text} [{'to be accepted' if challenge.sound else 'to be rejected'}]"
    yield from _item_lines(second_round(rubric))


def _item_lines(rubric: Rubric) -> list[str]:
    program, judged = (sum(Fraction(item.weight) for item in items) for items in (rubric.program, rubric.judge))
    lines = []
    if rubric.basis is not None:
        lines.append(f"Money is stated in {rubric.basis.currency}, in units of {rubric.basis.unit:,f}.")
    if rubric.price is not None:
        lines.append(f"The price is {rubric.price.value} per share as of {rubric.price.as_of}.")
    if rubric.cutoff is not None:
        lines.append(f"Evidence published after {rubric.cutoff}: {_LEAK[rubric.on_leak]}.")
    lines.append(f"Checks decide {exact(Fraction(program))} points, a judge {exact(Fraction(judged))}.")
    lines += _program_lines(rubric)
    for dimension in dict.fromkeys(item.dimension for item in rubric.judge):
        asked = rubric.questions.get(dimension)
        lines += ["", f"Judge, {dimension}: {asked}" if asked else f"Judge, {dimension}:"]
        lines += [_judge_line(item) for item in rubric.judge if item.dimension == dimension]
    if rubric.deductions:
        lines += ["", "Points are taken off:"]
        lines += [f"  {item.id}  −{item.points}  {item.when}" for item in rubric.deductions]
    if rubric.fatal:
        lines += ["", f"Fatal, the total is then at most {rubric.cap_on_fatal}:"]
        lines += [f"  {rule.key}" + (f"  {rule.judge}" if rule.judge else "") for rule in rubric.fatal]
    if rubric.program and rubric.judge:
        ceiling = numbers_only_ceiling(rubric)
        lines += ["", f"An answer with every number right and no argument can reach {ceiling} points."]
    return lines


_LEAK = {
    "invalid": "makes the run invalid",
    "deduct": "takes points off",
    "fatal": "is a fatal error",
    "item": "is judged by an item",
}


def _program_lines(rubric: Rubric) -> Iterator[str]:
    for group in dict.fromkeys(item.group for item in rubric.program):
        yield from ("", f"Checks, {group or 'each for itself'}:")
        for item in rubric.program:
            if item.group == group:
                bounds = ", ".join(f"{key} {value}" for key, value in item.params.items())
                absent = "; skipped where it does not apply" if item.when_absent == "skip" else ""
                yield (
                    f"  {item.id}  {item.weight:>5}  {item.title or item.check}"
                    + (f" ({bounds})" if bounds else "")
                    + absent
                )


def _judge_line(item: JudgeItem) -> str:
    quote = " [needs a quote]" if item.quote == "required" else ""
    graded = " [grade 0 to 4]" if item.scale == "0-4" else ""
    failing = f"\n                fails: {item.fail_if}" if item.fail_if else ""
    heading = f"  {item.id}  {item.weight:>5}  {item.title or ''}{quote}{graded}"
    return f"{heading}\n                passes: {item.pass_if}{failing}"
