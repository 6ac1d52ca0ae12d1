"""The arithmetic of the main mode: worked numbers, intervals, the cap, and properties that always hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck.cells import CellRef
from xlcheck.checking import CheckResult, Finding, Severity, Status
from xlcheck.errors import RubricError
from xlcheck.rubric import Rubric, parse_rubric
from xlcheck.scoring.card import ScoreCard, exact, half_up, lost_points
from xlcheck.scoring.model import empty_card, score, spread, ungradable_card
from xlcheck.verdicts import Quote, Verdict

HEAD = "schema_version: 1\nid: t\ntitle: T\nmode: financial_model\n"
BODY = """\
program:
  - {id: P1, check: bridge.signs, weight: 27.1, stage: derivation}
  - {id: P2, check: wacc.range, weight: 0.8, stage: assumption, dimension: rates}
judge:
  - {id: J1, dimension: rates, stage: assumption, weight: 47.1, pass_if: "x"}
  - {id: J2, dimension: prose, stage: verification, weight: 25, pass_if: "x", quote: required}
deductions:
  - {id: D1, points: 5, when: "a source is invented", dimension: prose}
fatal:
  - {check: fatal.unit-mix}
  - {id: F2, judge: "nominal flows at a real rate"}
"""
RUBRIC = parse_rubric(HEAD + BODY)


def result(item: str, status: Status, check: str = "", severity: Severity = "scored", **more: object) -> CheckResult:
    """Return a check result for an item of the rubric above."""
    checks = {"P1": "bridge.signs", "P2": "wacc.range"}
    credit = {"pass": Decimal(1), "fail": Decimal(0)}.get(status)
    fields = {"check_id": check or checks.get(item, item), "item": item, "severity": severity, "status": status}
    return CheckResult.model_validate({"credit": credit, **fields, **more})


def fatal(status: Status) -> CheckResult:
    """Return the result of the fatal check."""
    return result("fatal.unit-mix", status, severity="fatal")


PASSING = [result("P1", "pass"), result("P2", "fail"), fatal("pass")]
FOUND = (Quote(text="so", found="exact"),)
VERDICTS = [
    Verdict(item="J1", verdict="pass"),
    Verdict(item="J2", verdict="fail", absent=True),
    Verdict(item="D1", triggered=False),
    Verdict(item="F2", triggered=False),
]


def with_verdict(*changed: Verdict) -> list[Verdict]:
    """Return the verdicts above with some replaced."""
    items = {verdict.item for verdict in changed}
    return [verdict for verdict in VERDICTS if verdict.item not in items] + list(changed)


def ends(card: ScoreCard) -> tuple[Decimal | None, Decimal | None]:
    """Return both ends of a score."""
    return card.low, card.high


def test_the_worked_example_is_74_2_and_shows_74() -> None:
    """27.1 of 27.9 by program and 47.1 of 72.1 by judge."""
    card = score(RUBRIC, PASSING, VERDICTS)
    assert ends(card) == (Decimal("74.2"), Decimal("74.2"))
    assert (card.program, card.judged, card.deducted) == (Decimal("27.1"), Decimal("47.1"), 0)
    assert (card.status, card.headline, card.score) == ("final", 74, Decimal("74.2"))
    assert card.best is None


def test_a_triggered_deduction_is_taken_off() -> None:
    card = score(RUBRIC, PASSING, with_verdict(Verdict(item="D1", triggered=True)))
    assert card.low == Decimal("69.2")
    assert card.deducted == 5


def test_deductions_never_take_a_score_below_zero() -> None:
    failed = [result("P1", "fail"), result("P2", "fail"), fatal("pass")]
    verdicts = with_verdict(Verdict(item="J1", verdict="fail"), Verdict(item="D1", triggered=True))
    card = score(RUBRIC, failed, verdicts)
    assert card.raw == -5
    assert ends(card) == (0, 0)


def test_a_fatal_error_caps_at_40_and_says_what_it_would_be_without() -> None:
    card = score(RUBRIC, [*PASSING[:2], fatal("fail")], VERDICTS)
    assert ends(card) == (40, 40)
    assert card.uncapped == card.raw == Decimal("74.2")
    assert card.fatal == ("fatal.unit-mix",)
    assert card.headline == 40


def test_the_cap_never_raises_a_score() -> None:
    """Raw 27.9 with a fatal error stays 27.9."""
    passed = [result("P1", "pass"), result("P2", "pass"), fatal("fail")]
    card = score(RUBRIC, passed, with_verdict(Verdict(item="J1", verdict="fail")))
    assert ends(card) == (Decimal("27.9"), Decimal("27.9"))


def test_a_fatal_error_decided_by_a_judge_caps_as_well() -> None:
    card = score(RUBRIC, PASSING, with_verdict(Verdict(item="F2", triggered=True)))
    assert ends(card) == (40, 40)
    assert card.fatal == ("F2",)


def test_a_fatal_error_that_follows_from_another_finding_still_caps() -> None:
    caused = fatal("fail").model_copy(update={"caused_by": "wacc.range"})
    assert score(RUBRIC, [*PASSING[:2], caused], VERDICTS).high == 40


def test_an_item_of_severity_fatal_costs_its_points_and_caps() -> None:
    card = score(RUBRIC, [result("P1", "fail", severity="fatal"), result("P2", "pass"), fatal("pass")], VERDICTS)
    assert card.fatal == ("P1",)
    assert card.program == Decimal("0.8")
    assert card.high == 40


def test_an_unverifiable_check_opens_an_interval() -> None:
    """P1 is worth 27.1: 47.1 at worst, 74.2 at best."""
    results = [result("P1", "unverifiable", reason="two cells could be it"), *PASSING[1:]]
    card = score(RUBRIC, results, VERDICTS)
    assert ends(card) == (Decimal("47.1"), Decimal("74.2"))
    assert card.status == "provisional"
    assert card.open_items == ("P1",)
    assert card.headline is None
    assert card.score is None
    assert card.best is not None
    assert card.best.raw == Decimal("74.2")
    assert next(line for line in card.lines if line.item == "P1").reason == "two cells could be it"


def test_an_open_fatal_error_caps_the_low_end_only() -> None:
    card = score(RUBRIC, [*PASSING[:2], fatal("unverifiable")], VERDICTS)
    assert ends(card) == (40, Decimal("74.2"))
    assert card.fatal == ()
    assert card.open_items == ("fatal.unit-mix",)


def test_without_any_verdict_everything_a_judge_decides_is_open() -> None:
    """At worst 27.1 − 5, at best 27.1 + 72.1."""
    card = score(RUBRIC, PASSING)
    assert ends(card) == (Decimal("22.1"), Decimal("99.2"))
    assert card.open_items == ("J1", "J2", "D1", "F2")


@pytest.mark.parametrize(("end", "expected"), [("low", "22.1"), ("high", "99.2")])
def test_open_scores_names_the_end_that_stands_for_a_provisional_score(end: str, expected: str) -> None:
    card = score(parse_rubric(HEAD + f"open_scores: {end}\n" + BODY), PASSING)
    assert card.score == Decimal(expected)
    assert card.status == "provisional"


def test_a_check_without_a_candidate_follows_when_absent_fail() -> None:
    card = score(RUBRIC, [result("P1", "not_applicable", reason="no bridge"), *PASSING[1:]], VERDICTS)
    assert ends(card) == (Decimal("47.1"), Decimal("47.1"))


def test_partial_credit_counts_in_proportion() -> None:
    card = score(RUBRIC, [result("P1", "partial", credit=Decimal("0.5")), *PASSING[1:]], VERDICTS)
    assert card.program == Decimal("13.55")


GROUPED = parse_rubric(
    HEAD
    + """\
program_share: [1, 1]
program:
  - {id: A, check: a.a, weight: 10, group: g, when_absent: skip}
  - {id: B, check: b.b, weight: 20, group: g, when_absent: skip}
  - {id: C, check: c.c, weight: 40, group: g, when_absent: skip}
  - {id: D, check: d.d, weight: 30}
"""
)


def test_a_skipped_item_spreads_its_weight_over_its_group_in_proportion() -> None:
    """10 points over 20 and 40: 10/3 and 20/3 more, exactly."""
    weights = spread(GROUPED.program, {"A"})
    assert weights == {"A": 0, "B": Fraction(70, 3), "C": Fraction(140, 3), "D": 30}
    results = [result("A", "not_applicable", "a.a"), *(result(i, "pass", f"{i.lower()}.{i.lower()}") for i in "BCD")]
    assert score(GROUPED, results).low == 100
    failed = [results[0], result("B", "fail", "b.b"), *results[2:]]
    card = score(GROUPED, failed)
    assert card.low == Decimal("76.666667")
    assert card.headline == 77


def test_a_group_with_nothing_left_is_a_named_error() -> None:
    results = [result(i, "not_applicable", f"{i.lower()}.{i.lower()}") for i in "ABC"]
    with pytest.raises(RubricError, match=r"group 'g' has nothing left.*A, B, C"):
        score(GROUPED, results)


def test_a_consequence_keeps_its_finding_and_is_credited() -> None:
    finding = Finding(message="EV is 90, not 100", cell=CellRef("DCF", 4, 2), found=90.0, expected=100.0)
    effect = result("P1", "fail", caused_by="wacc.range", findings=(finding,))
    card = score(RUBRIC, [effect, *PASSING[1:]], VERDICTS)
    line = card.lines[0]
    assert card.low == Decimal("74.2")
    assert (line.cell, line.found, line.expected, line.message) == ("DCF!B4", 90.0, 100.0, "EV is 90, not 100")
    assert line.reason == "credited: it only follows from wacc.range"


def test_count_consequences_charges_what_follows_as_well() -> None:
    rubric = parse_rubric(HEAD + "count_consequences: true\n" + BODY)
    card = score(rubric, [result("P1", "fail", caused_by="wacc.range"), *PASSING[1:]], VERDICTS)
    assert card.low == Decimal("47.1")


def test_a_ring_of_causes_charges_every_one() -> None:
    ring = [result("P1", "fail", caused_by="wacc.range"), result("P2", "fail", caused_by="bridge.signs"), fatal("pass")]
    assert score(RUBRIC, ring, VERDICTS).program == 0


def test_a_cause_that_nobody_charged_leaves_the_failure_charged() -> None:
    orphan = [result("P1", "fail", caused_by="flow.nopat"), *PASSING[1:]]
    assert score(RUBRIC, orphan, VERDICTS).program == 0


@pytest.mark.parametrize(("switch", "low", "high"), [("open", 72, 97), ("fail", 72, 72), ("accept", 97, 97)])
def test_a_pass_whose_required_quote_is_not_found(switch: str, low: int, high: int) -> None:
    """P1 (24.9) and J1 (47.1) give 72; the 25 points of J2 hang on the quote."""
    body = BODY.replace("27.1", "24.9").replace("weight: 0.8", "weight: 3")
    rubric = parse_rubric(HEAD + f"unverified_quote: {switch}\n" + body)
    invented = Verdict(item="J2", verdict="pass", quotes=(Quote(text="never written", found="not_found"),))
    card = score(rubric, PASSING, with_verdict(invented))
    assert ends(card) == (low, high)


def test_every_quote_of_an_item_has_to_be_found() -> None:
    mixed = (Quote(text="a", found="normalised"), Quote(text="b", found="not_found"))
    card = score(RUBRIC, PASSING, with_verdict(Verdict(item="J2", verdict="pass", quotes=mixed)))
    assert card.open_items == ("J2",)
    found = score(RUBRIC, PASSING, with_verdict(Verdict(item="J2", verdict="pass", quotes=mixed[:1])))
    assert found.low == Decimal("99.2")


def test_a_failed_item_needs_a_quote_too_unless_something_is_absent() -> None:
    assert score(RUBRIC, PASSING, with_verdict(Verdict(item="J2", verdict="fail"))).open_items == ("J2",)
    assert score(RUBRIC, PASSING, VERDICTS).open_items == ()


def test_a_grade_is_credited_in_quarters() -> None:
    rubric = parse_rubric(HEAD + BODY.replace('weight: 47.1, pass_if: "x"', 'weight: 47.1, pass_if: "x", scale: 0-4'))
    card = score(rubric, PASSING, with_verdict(Verdict(item="J1", grade=3)))
    assert card.judged == Decimal("35.325")


def test_two_of_three_judges_decide_and_a_tie_is_open() -> None:
    votes = [Verdict(item="J1", verdict=vote, judge=judge) for judge, vote in (("a", "pass"), ("b", "fail"))]
    tie = score(RUBRIC, PASSING, with_verdict(*votes))
    assert ends(tie) == (Decimal("27.1"), Decimal("74.2"))
    third = Verdict(item="J1", verdict="pass", judge="c")
    assert ends(score(RUBRIC, PASSING, with_verdict(*votes, third))) == (Decimal("74.2"), Decimal("74.2"))


def test_grades_without_a_majority_leave_the_interval_they_span() -> None:
    rubric = parse_rubric(HEAD + BODY.replace('weight: 47.1, pass_if: "x"', 'weight: 47.1, pass_if: "x", scale: 0-4'))
    votes = [Verdict(item="J1", grade=grade, judge=judge) for judge, grade in (("a", 1), ("b", 2), ("c", 4))]
    card = score(rubric, PASSING, with_verdict(*votes))
    assert card.best is not None
    assert (card.judged, card.best.judged) == (Decimal("11.775"), Decimal("47.1"))


def test_a_leak_makes_the_run_invalid_without_a_total() -> None:
    card = score(RUBRIC, PASSING, VERDICTS, leak="note-7 was published on 2026-05-02")
    assert card.status == "invalid"
    assert ends(card) == (None, None)
    assert card.score is None
    assert card.reason == "note-7 was published on 2026-05-02"


def test_a_leak_can_deduct_instead() -> None:
    body = BODY.replace("fatal:\n", '  - {id: D9, points: 10, when: "later evidence", leak: true}\nfatal:\n')
    rubric = parse_rubric(HEAD + "on_leak: deduct\n" + body)
    assert score(rubric, PASSING, VERDICTS).low == Decimal("74.2")
    assert score(rubric, PASSING, VERDICTS, leak="note-7").low == Decimal("64.2")


def test_a_leak_left_to_an_item_triggers_no_deduction() -> None:
    body = BODY.replace("fatal:\n", '  - {id: D9, points: 10, when: "later evidence", leak: true}\nfatal:\n')
    rubric = parse_rubric(HEAD + "on_leak: item\n" + body)
    assert score(rubric, PASSING, VERDICTS, leak="note-7").low == Decimal("74.2")


def test_a_grade_whose_quote_is_not_found_is_worth_at_most_itself() -> None:
    """Grade 3 of 25 points: between 0 and 18.75."""
    rubric = parse_rubric(HEAD + BODY.replace('pass_if: "x", quote', 'pass_if: "x", scale: 0-4, quote'))
    invented = Verdict(item="J2", grade=3, quotes=(Quote(text="never written", found="not_found"),))
    card = score(rubric, PASSING, with_verdict(invented))
    assert ends(card) == (Decimal("74.2"), Decimal("92.95"))


@pytest.mark.parametrize(("switch", "low", "high"), [("open", "69.2", "74.2"), ("fail", "74.2", "74.2")])
def test_a_deduction_whose_required_quote_is_not_found(switch: str, low: str, high: str) -> None:
    body = BODY.replace("points: 5,", "points: 5, quote: required,")
    rubric = parse_rubric(HEAD + f"unverified_quote: {switch}\n" + body)
    invented = Verdict(item="D1", triggered=True, quotes=(Quote(text="never written", found="not_found"),))
    assert ends(score(rubric, PASSING, with_verdict(invented))) == (Decimal(low), Decimal(high))


def test_an_empty_submission_is_zero_and_final_even_without_verdicts() -> None:
    card = empty_card(RUBRIC, "the folder holds no workbook")
    assert ends(card) == (0, 0)
    assert (card.status, card.headline, card.reason) == ("final", 0, "the folder holds no workbook")
    assert sum(line.lost for line in card.lines) == 100


def test_an_ungradable_submission_has_no_total_unless_the_rubric_states_one() -> None:
    card = ungradable_card(RUBRIC, "not a workbook")
    assert (card.status, card.low, card.score) == ("ungradable", None, None)
    stated = ungradable_card(parse_rubric(HEAD + "ungradable_scores: 0\n" + BODY), "not a workbook")
    assert (stated.status, stated.low, stated.high, stated.score) == ("ungradable", 0, 0, 0)


def test_a_check_that_was_not_run_is_open() -> None:
    card = score(RUBRIC, PASSING[1:], VERDICTS)
    assert card.open_items == ("P1",)


def test_lost_points_are_totalled_by_stage_and_dimension() -> None:
    card = score(RUBRIC, PASSING, with_verdict(Verdict(item="D1", triggered=True)))
    by_stage = {heading: lost.lost for heading, lost in lost_points([card], "stage").items()}
    assert by_stage == {"assumption": Decimal("0.8"), "verification": 25, "(none)": 5}
    twice = lost_points([card, card], "dimension")
    assert {heading: lost.lost for heading, lost in twice.items()} == {"rates": Decimal("1.6"), "prose": 60}
    open_card = score(RUBRIC, PASSING)
    assert lost_points([open_card], "dimension")["rates"].at_stake == Decimal("47.1")


def test_json_writes_every_decimal_as_a_string_and_reads_back() -> None:
    card = score(RUBRIC, PASSING)
    data = json.loads(card.model_dump_json())
    assert data["low"] == "22.1"
    assert data["lines"][0]["weight"] == "27.1"
    assert ScoreCard.model_validate_json(card.model_dump_json()) == card


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(1, 3), "0.333333"),
        (Fraction(2, 3), "0.666667"),
        (Fraction(1, 2_000_000), "0.000001"),
        (Fraction(742, 10), "74.2"),
        (Fraction(100), "100"),
        (Fraction(0), "0"),
    ],
)
def test_decimals_have_at_most_six_places_half_up(value: Fraction, shown: str) -> None:
    assert str(exact(value)) == shown


def test_headlines_round_halves_up_from_the_exact_value() -> None:
    assert half_up(Decimal("74.5")) == 75
    assert half_up(Decimal("72.5")) == 73
    assert half_up(Fraction(745, 10) - Fraction(1, 10**9)) == 74


STATUSES = st.sampled_from(["pass", "fail", "partial", "not_applicable", "unverifiable"])
TRIGGERS = st.sampled_from([None, True, False])
VERDICT = st.sampled_from([None, "pass", "fail"])


@given(
    statuses=st.tuples(STATUSES, STATUSES, STATUSES),
    judged=st.tuples(VERDICT, VERDICT),
    triggers=st.tuples(TRIGGERS, TRIGGERS),
    causes=st.tuples(st.booleans(), st.booleans()),
    cap=st.integers(0, 100),
    points=st.integers(1, 100),
)
def test_scores_stay_in_bounds_and_under_the_cap(
    statuses: Sequence[Status],
    judged: Sequence[str | None],
    triggers: Sequence[bool | None],
    causes: Sequence[bool],
    cap: int,
    points: int,
) -> None:
    """Never below 0 or above 100, low never above high, never above the cap with a fatal error triggered."""
    rubric: Rubric = parse_rubric(HEAD + f"cap_on_fatal: {cap}\n" + BODY.replace("points: 5", f"points: {points}"))
    results = [
        result("P1", statuses[0], caused_by="wacc.range" if causes[0] else None, credit=Decimal("0.3")),
        result("P2", statuses[1], caused_by="bridge.signs" if causes[1] else None, credit=Decimal("0.7")),
        fatal("fail" if statuses[2] == "partial" else statuses[2]),
    ]
    given_verdicts = [
        Verdict(item=item, verdict=said, quotes=FOUND)  # type: ignore[arg-type]
        for item, said in zip(("J1", "J2"), judged, strict=True)
        if said is not None
    ]
    given_verdicts += [
        Verdict(item=item, triggered=said)
        for item, said in zip(("D1", "F2"), triggers, strict=True)
        if said is not None
    ]
    card = score(rubric, results, given_verdicts)
    assert card.low is not None
    assert card.high is not None
    assert 0 <= card.low <= card.high <= 100
    assert (card.low == card.high) or card.status == "provisional"
    assert (card.status == "final") == (not card.open_items)
    if card.fatal:
        assert card.high <= cap
    lost = sum(line.lost for line in card.lines)
    at_stake = sum(line.at_stake for line in card.lines)
    assert card.raw == 100 - lost - at_stake
