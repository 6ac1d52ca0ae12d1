"""The other modes: judgements, quantile forecasts, question sets, runs and judges."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck.errors import RubricError, UsageError
from xlcheck.rubric import ForecastTask, parse_rubric
from xlcheck.scoring.agreement import agreement, cohen_kappa, krippendorff_alpha, majority
from xlcheck.scoring.forecast import Forecast, interval_score, pinball, scaled, score_forecasts, wis
from xlcheck.scoring.judgement import score_judgement
from xlcheck.scoring.model import score
from xlcheck.scoring.outcome import OutcomeItem, outcome
from xlcheck.scoring.runs import summarise, summarise_cards
from xlcheck.verdicts import Verdict

JUDGEMENT = parse_rubric("""\
schema_version: 1
id: port-note
title: Research note on a port
mode: research_judgement
judge:
  - {id: J1, dimension: thesis, weight: 60, pass_if: "x"}
  - {id: J2, dimension: risks, weight: 40, pass_if: "x"}
deductions:
  - {id: D1, points: 70, when: "source invented"}
""")


@pytest.mark.parametrize(
    ("first", "second", "invented", "total"),
    [("pass", "pass", False, 100), ("pass", "fail", False, 60), ("pass", "pass", True, 30), ("pass", "fail", True, 0)],
)
def test_a_judgement_is_weights_less_deductions_never_below_zero(
    first: str, second: str, invented: bool, total: int
) -> None:
    verdicts = [
        Verdict(item="J1", verdict=first),  # type: ignore[arg-type]
        Verdict(item="J2", verdict=second),  # type: ignore[arg-type]
        Verdict(item="D1", triggered=invented),
    ]
    assert score_judgement(JUDGEMENT, verdicts).low == total


def test_a_judgement_refuses_another_mode() -> None:
    text = "schema_version: 1\nid: t\ntitle: T\nmode: financial_model\nprogram:\n  - {id: P, check: a.b, weight: 100}\n"
    with pytest.raises(RubricError, match="research_judgement is needed"):
        score_judgement(parse_rubric(text), [])


FIVE = (Decimal("0.1"), Decimal("0.25"), Decimal("0.5"), Decimal("0.75"), Decimal("0.9"))
TASK = ForecastTask(baseline_wis=Decimal(5), reference_wis=Decimal(1), quantiles=FIVE, horizons=(1, 5))


def test_the_interval_score_charges_width_and_distance() -> None:
    """α = 0.2, interval 8 to 12: inside 4; at 14, 4 + (2/0.2)·2 = 24; at 7, 4 + 10 = 14."""
    alpha = Fraction(1, 5)
    scores = [interval_score(alpha, Fraction(8), Fraction(12), Fraction(y)) for y in (10, 14, 7)]
    assert scores == [4, 24, 14]


def test_wis_of_a_hand_computed_forecast() -> None:
    """Quantiles 8, 9, 10, 11, 12 and outcome 13: (1.5 + 0.1·(4 + 10) + 0.25·(2 + 8)) / 2.5 = 2.16."""
    forecast = dict(zip(FIVE, (8, 9, 10, 11, 12), strict=True))
    assert wis(forecast, 13) == Fraction(54, 25)


FINITE = st.integers(-10_000, 10_000)


@given(values=st.lists(FINITE, min_size=5, max_size=5), observed=FINITE)
def test_wis_is_twice_the_mean_pinball_loss(values: list[int], observed: int) -> None:
    forecast = dict(zip(FIVE, sorted(values), strict=True))
    losses = [pinball(Fraction(level), Fraction(observed - value)) for level, value in forecast.items()]
    assert wis(forecast, observed) == 2 * sum(losses, Fraction(0)) / 5


@pytest.mark.parametrize(
    ("forecast", "observed", "words"),
    [
        ({Decimal("0.1"): 3, Decimal("0.5"): 2, Decimal("0.9"): 4}, 1, "the quantiles cross: 3 at 0.1"),
        ({Decimal("0.1"): 1, Decimal("0.5"): math.nan, Decimal("0.9"): 4}, 1, "the quantile 0.5 is nan"),
        ({Decimal("0.1"): 1, Decimal("0.5"): 2, Decimal("0.9"): 4}, math.inf, "the outcome is inf"),
        ({Decimal("0.1"): 1, Decimal("0.5"): 2, Decimal("0.8"): 4}, 1, "symmetrically"),
        ({Decimal("0.1"): 1, Decimal("0.9"): 4}, 1, "symmetrically"),
        ({}, 1, "(none)"),
    ],
)
def test_a_faulty_forecast_is_refused(forecast: dict[Decimal, float], observed: float, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        wis(forecast, observed)
    assert words in str(caught.value)


@pytest.mark.parametrize(("value", "points"), [(5, 0), (1, 100), (3, 50), (9, 0), (0, 100)])
def test_wis_is_scaled_between_baseline_and_reference(value: int, points: int) -> None:
    assert scaled(Fraction(value), 5, 1) == points


def test_a_reference_no_better_than_the_baseline_is_refused() -> None:
    with pytest.raises(UsageError, match="must lie below"):
        scaled(Fraction(1), 2, 2)


def _forecast(day: int, horizon: int, centre: int, until: int | None = None) -> Forecast:
    values = (centre - 2, centre - 1, centre, centre + 1, centre + 2)
    return Forecast(
        day=date(2026, 3, day),
        horizon=horizon,
        quantiles=dict(zip(FIVE, map(Decimal, values), strict=True)),
        data_until=None if until is None else date(2026, 3, until),
    )


OUTCOMES = {date(2026, 3, 10): 13, date(2026, 3, 11): 10}
FORECASTS = [_forecast(day, horizon, 10, day - 2) for day in (10, 11) for horizon in (1, 5)]


def test_forecasts_of_all_days_and_horizons_are_averaged() -> None:
    """2.16 on the 10th; on the 11th the outcome is the median: (0.1·4 + 0.25·2)/2.5 = 0.36. Mean 1.26."""
    found = score_forecasts(FORECASTS, OUTCOMES, TASK)
    assert found.wis == Decimal("1.26")
    assert found.by_horizon == {1: Decimal("1.26"), 5: Decimal("1.26")}
    assert found.score == Decimal("93.5")
    assert found.days == 4


@pytest.mark.parametrize(
    ("forecasts", "words"),
    [
        (FORECASTS[1:], "for 2026-03-10, 1 day ahead, is missing"),
        ([*FORECASTS, FORECASTS[0]], "stands there twice"),
        ([*FORECASTS, _forecast(12, 1, 10)], "was not asked for"),
        ([_forecast(10, 1, 10, 9), *FORECASTS[1:]], "uses amounts of 2026-03-09; only those until 2026-03-08"),
    ],
)
def test_missing_doubled_or_too_well_informed_forecasts_are_refused(forecasts: list[Forecast], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        score_forecasts(forecasts, OUTCOMES, TASK)
    assert words in str(caught.value)


def _items(*ids: str) -> list[OutcomeItem]:
    return [OutcomeItem(id=name) for name in ids]


def test_questions_weigh_the_same_whatever_their_number_of_items() -> None:
    """One item scored 4 and three items scored 0: 0.5, not 0.25."""
    found = outcome({"q1": _items("a"), "q2": _items("a", "b", "c")}, {"q1": {"a": 4}, "q2": {"a": 0, "b": 0, "c": 0}})
    assert found.outcome == Decimal("0.5")


def test_items_before_and_after_the_cutoff_are_reported_apart() -> None:
    items = [OutcomeItem(id="a", part="pre"), OutcomeItem(id="b", part="post")]
    found = outcome({"q": items}, {"q": {"a": 4, "b": 1}})
    assert (found.pre, found.post, found.outcome) == (1, Decimal("0.25"), Decimal("0.625"))


def test_one_leaking_run_makes_the_outcome_invalid() -> None:
    found = outcome({"q": _items("a")}, {"q": {"a": 4}}, leaked=["q"])
    assert (found.status, found.outcome) == ("invalid", None)


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({}, "question q: its scores are missing"),
        ({"q": {"a": 1}}, "score of item b is missing"),
        ({"q": {"a": 1, "b": 5}}, "item b: found 5"),
        ({"q": {"a": 1, "b": True}}, "item b: found True"),
        ({"q": {"a": 1, "b": 2, "c": 0}}, "'c' is no item"),
        ({"q": {"a": 1, "b": 2}, "r": {}}, "'r' is no question"),
    ],
)
def test_incomplete_scores_are_refused_by_name(scores: dict[str, dict[str, int]], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        outcome({"q": _items("a", "b")}, scores)
    assert words in str(caught.value)


def test_runs_report_more_than_the_mean() -> None:
    """22, 23, 34, 100, 100: mean 55.8, median 34; sample deviation by hand √(6600.8/4)."""
    runs = summarise([22, 23, 34, 100, 100])
    assert (runs.n, runs.mean, runs.median, runs.min, runs.max) == (5, Decimal("55.8"), 34, 22, 100)
    assert runs.standard_deviation == pytest.approx(math.sqrt(6600.8 / 4))
    assert runs.interval is not None
    low, high = runs.interval
    assert 22 < low < 40
    assert 75 < high < 100
    assert summarise([22, 23, 34, 100, 100]) == runs


def test_a_single_run_has_no_interval() -> None:
    runs = summarise([Decimal("74.2")])
    assert (runs.standard_deviation, runs.interval) == (None, None)
    with pytest.raises(UsageError, match="no run"):
        summarise([])


def test_runs_without_a_score_are_named_and_items_that_flip_are_counted() -> None:
    """J1 passes in two of three runs: two of three pairs disagree."""

    def card(first: str) -> object:
        said = [Verdict(item="J1", verdict=first), Verdict(item="J2", verdict="pass")]  # type: ignore[arg-type]
        return score(JUDGEMENT, (), [*said, Verdict(item="D1", triggered=False)])

    cards = {"r1": card("pass"), "r2": card("pass"), "r3": card("fail"), "r4": score(JUDGEMENT, (), (), leak="note 7")}
    runs = summarise_cards(cards)  # type: ignore[arg-type]
    assert runs.n == 3
    assert runs.left_out == {"r4": "note 7"}
    assert runs.flips["J1"] == pytest.approx(2 / 3)
    assert runs.flips["J2"] == 0


def test_cohens_kappa_of_a_published_table() -> None:
    """The usual example: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no gives 0.4."""
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohen_kappa(pairs) == Fraction(2, 5)
    assert cohen_kappa([("y", "y")]) is None


KRIPPENDORFF = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_alpha_of_his_own_example(level: str, expected: float) -> None:
    """Krippendorff 2011, part C: four observers, twelve units, missing data."""
    units = [[int(x) for x in unit if x != "."] for unit in zip(*(row.split() for row in KRIPPENDORFF), strict=True)]
    found = krippendorff_alpha(units, level)  # type: ignore[arg-type]
    assert found is not None
    assert float(found) == pytest.approx(expected, abs=0.0005)


def test_alpha_is_undefined_without_two_values() -> None:
    assert krippendorff_alpha([["pass", "pass"]]) is None
    assert krippendorff_alpha([["pass"], ["fail"]]) is None


def test_a_tie_has_no_majority() -> None:
    assert majority(["pass", "fail"]) is None
    assert majority(["pass", "fail", "pass"]) == "pass"
    assert majority([1, 2, 4]) is None


def test_agreement_of_two_judges_is_reported_per_item() -> None:
    verdicts = [
        Verdict(item=item, verdict=said, judge=judge)  # type: ignore[arg-type]
        for judge, answers in (("a", "pfpp"), ("b", "pfpf"))
        for item, letter in zip("wxyz", answers, strict=True)
        for said in [{"p": "pass", "f": "fail"}[letter]]
    ]
    found = agreement(verdicts, {"a": "one", "b": "one"})
    assert [item.agreement for item in found.items] == [1, 1, 1, 0]
    assert found.items[3].majority is None
    assert found.kappa == Decimal("0.5")
    assert found.same_family == {"one": ("a", "b")}


def test_agreement_needs_two_named_judges() -> None:
    with pytest.raises(UsageError, match="names no judge"):
        agreement([Verdict(item="J1", verdict="pass")])
    with pytest.raises(UsageError, match="needs two judges"):
        agreement([Verdict(item="J1", verdict="pass", judge="a")])
