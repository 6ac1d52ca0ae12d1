"""The arithmetic of a score: pure functions, one mode a file."""

from xlcheck.scoring.card import Line, Lost, ScoreCard, Sums, exact, half_up, lost_points
from xlcheck.scoring.model import empty_card, score, ungradable_card

__all__ = [
    "Line",
    "Lost",
    "ScoreCard",
    "Sums",
    "empty_card",
    "exact",
    "half_up",
    "lost_points",
    "score",
    "ungradable_card",
]
