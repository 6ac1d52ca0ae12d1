"""The words that name the roles, and how well a label matches them.

The words are data (``words/*.yaml``: role → phrase → weight); a grader can add his own file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from xlcheck.errors import UsageError
from xlcheck.roles.compiled import kept
from xlcheck.roles.text import FILLERS, Reading, has_cjk, read_label, spelled, words_of
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES

UNKNOWN_WORD = 0.13
"""What each word beyond the phrase takes off a match."""
FILLER_WORD = 0.01
RATIO = 0.25
"""What a ratio sign takes off a match of one of its sides."""
LONGEST_LABEL = 12
"""Words; a longer text is a note."""
_MONEY_NOT = frozenset(
    [
        "%",
        "percent",
        "margin",
        "ratio",
        "yield",
        "multiple",
        "day",
        "cagr",
        "share_of",
        "weight",
        "sensitivity",
        "check",
    ]
)

_METHODS = frozenset(["gordon", "growth", "perpetuity", "growing", "perpetual", "exit", "multiple", "method", "model",
                      "ggm", "pgm", "approach", "terminal"])  # fmt: skip
"""Words of a bracket that only name the method of a value."""
_PEERS = frozenset(["ev/ebitda", "ev/sale", "ev/revenue", "ev/ebit", "median", "mean", "average", "peer", "comp",
                    "comparable", "trading", "ltm", "ntm", "of"])  # fmt: skip
"""Words of a bracket that only say where an exit multiple is from."""


class Phrase(NamedTuple):
    """One phrase of one role."""

    role: str
    tokens: tuple[str, ...]
    compact: str
    weight: float


@dataclass(frozen=True, slots=True)
class Match:
    """How well a label names a role."""

    role: str
    score: float
    """0 to 1; 1 where the label is a phrase of the role, word for word."""
    start: int
    end: int
    exact: bool = False
    """The phrase is the whole label, so that no word beside it can rule the role out."""


@dataclass(frozen=True)
class Lexicon:
    """Phrases by their first word, and the words that rule a role out."""

    by_word: Mapping[str, tuple[Phrase, ...]]
    cjk: tuple[Phrase, ...]
    barred: Mapping[str, tuple[str, ...]]
    known: frozenset[str]

    def match(self, text: str) -> dict[str, float]:
        """Return the roles that a label may name, each with a score of 0 to 1."""
        return dict(_match(self, text))

    def __hash__(self) -> int:
        """Identity is enough: a lexicon is loaded once."""
        return id(self)


def load_lexicon(extra: Path | None = None) -> Lexicon:
    """Read the shipped words, and those of a grader's own file; UsageError names the file and the key."""
    return _shipped() if extra is None else _build(*read_words([*shipped_words().values(), _read(extra)]))


@lru_cache(maxsize=1)
def _shipped() -> Lexicon:
    found = kept()
    if found is None:
        return _build(*read_words([*shipped_words().values()]))
    phrases = [Phrase(role, tuple(tokens), *rest) for role, tokens, *rest in found["phrases"]]
    return _build(phrases, found["barred"], found["known"])


def shipped_words() -> dict[str, Mapping[str, Any]]:
    """Return the shipped words: file name without ending → role → phrase → weight (``not``: barred words)."""
    folder = resources.files("xlcheck.roles") / "words"
    entries = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda one: one.name)
    return {entry.name.removesuffix(".yaml"): _parsed(entry.read_text("utf-8"), entry.name) for entry in entries}


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: the vocabulary file cannot be read: {error.strerror}") from None
    return _parsed(text, str(path))


def _parsed(text: str, name: str) -> Mapping[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        words = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, the one written in C
    except yaml.YAMLError as error:
        raise UsageError(f"{name}: the vocabulary file is no YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(words, dict):
        raise UsageError(f"{name}: a mapping of role to phrases is expected, found {type(words).__name__}")
    for role, phrases in words.items():
        if role not in SCALAR_ROLES and role not in SERIES_ROLES:
            raise UsageError(f"{name}: {role!r} is no role; the roles are listed in docs/roles.md")
        if not isinstance(phrases, dict):
            raise UsageError(f"{name}: {role}: a mapping of phrase to weight (0 to 1) is expected, found {phrases!r}")
        for phrase, weight in phrases.items():
            if phrase != "not" and (not isinstance(weight, int | float) or not 0 < weight <= 1):
                raise UsageError(f"{name}: {role}: {phrase}: a weight above 0, at most 1 is expected, found {weight!r}")
    return words


class Words(NamedTuple):
    """What the word files say, their phrases read as labels are."""

    phrases: list[Phrase]
    barred: dict[str, list[str]]
    known: frozenset[str]


def read_words(files: list[Mapping[str, Any]]) -> Words:
    """Return the phrases of word files, the words that rule out each role, and the words that are spelt right."""
    phrases: list[Phrase] = []
    barred: dict[str, set[str]] = {}
    for words in files:
        for role, entries in words.items():
            for text, weight in entries.items():
                if text == "not":
                    barred.setdefault(role, set()).update(_barred_form(str(word)) for word in weight)
                    continue
                reading = read_label(str(text))[0]
                phrases.append(Phrase(role, reading.tokens, reading.compact, float(weight)))
    known = frozenset(token for phrase in phrases for token in phrase.tokens)
    known |= FILLERS | words_of(word for words in barred.values() for word in words)
    return Words(phrases, {role: sorted(words) for role, words in barred.items()}, known)


def _build(phrases: Sequence[Phrase], barred: Mapping[str, Iterable[str]], known: Iterable[str]) -> Lexicon:
    by_word: dict[str, list[Phrase]] = {}
    for phrase in phrases:
        by_word.setdefault(phrase.tokens[0], []).append(phrase)
    return Lexicon(
        by_word={word: tuple(found) for word, found in by_word.items()},
        cjk=tuple(phrase for phrase in phrases if has_cjk(phrase.compact)),
        barred={role: tuple(words) for role, words in barred.items()},
        known=frozenset(known),
    )


def _barred_form(word: str) -> str:
    readings = read_label(word)
    return word if not readings else readings[0].compact if has_cjk(word) else " ".join(readings[0].tokens)


@lru_cache(maxsize=50_000)
def _match(lexicon: Lexicon, text: str) -> tuple[tuple[str, float], ...]:
    best: dict[str, float] = {}
    readings = read_label(text)
    if not readings or len(readings[0].tokens) > LONGEST_LABEL or len(text) > 90:
        return ()
    whole = readings[0]
    for reading in readings:
        found = _in_cjk(lexicon, reading) if has_cjk(reading.compact) else _in_words(lexicon, reading)
        for match in _longest(found):
            if match.exact or _by_method(match, reading, whole) or not _barred(lexicon, match.role, whole):
                best[match.role] = max(best.get(match.role, 0.0), match.score * reading.weight)
    return tuple(best.items())


def _by_method(match: Match, reading: Reading, whole: Reading) -> bool:
    """Say whether the phrase is the whole label but for a bracket with the method (``Value (Gordon growth)``)."""
    outside = set(whole.tokens) - set(reading.tokens)
    covers = match.end - match.start == len(reading.tokens)
    named = _METHODS | _PEERS if match.role == "exit_multiple" else _METHODS
    return covers and bool(outside) and outside <= named


def _in_words(lexicon: Lexicon, reading: Reading) -> list[Match]:
    tokens = tuple(spelled(token, lexicon.known) for token in reading.tokens)
    found = []
    for start, token in enumerate(tokens):
        for phrase in lexicon.by_word.get(token, ()):
            end = start + len(phrase.tokens)
            if tokens[start:end] != phrase.tokens:
                continue
            rest = tokens[:start] + tokens[end:]
            unknown = sum(1 for word in rest if word not in FILLERS and not word[0].isdigit())
            score = phrase.weight - UNKNOWN_WORD * unknown - FILLER_WORD * (len(rest) - unknown)
            if reading.ratio and len(phrase.tokens) < len(tokens):
                score -= RATIO
            exact = not rest and reading.weight == 1
            found.append(Match(phrase.role, max(0.0, score), start, end, exact))
    return found


def _in_cjk(lexicon: Lexicon, reading: Reading) -> list[Match]:
    text, found = reading.compact, []
    for phrase in lexicon.cjk:
        start = text.find(phrase.compact)
        if start >= 0:
            rest = len(text) - len(phrase.compact)
            score, exact = phrase.weight * max(0.6, 1 - 0.03 * rest), not rest and reading.weight == 1
            if _over_another(text, start, start + len(phrase.compact), phrase.role):
                score -= RATIO
            found.append(Match(phrase.role, score, start, start + len(phrase.compact), exact))
    for token in dict.fromkeys(reading.tokens):
        start = text.find(token)
        for phrase in lexicon.by_word.get(token, ()):
            if len(phrase.tokens) == 1 and start >= 0 and not has_cjk(token):
                rest = len(text) - len(token)
                found.append(
                    Match(phrase.role, phrase.weight * max(0.6, 0.96 - 0.03 * rest), start, start + len(token))
                )
    return found


def _over_another(text: str, start: int, end: int, role: str) -> bool:
    """Say whether a label sets a price over another amount (``株価/理論株価``); a unit (``元/股``) is none."""
    if "/" not in text or SCALAR_ROLES.get(role) != "per_share":
        return False
    before, after = text[:start], text[end:]
    return (before.endswith("/") and len(before) > 2) or (after.startswith("/") and len(after) > 2)


def _longest(found: list[Match]) -> list[Match]:
    """Leave out a match that lies inside a longer one of another role."""
    return [
        match
        for match in found
        if match.score > 0
        and not any(
            other.role != match.role
            and other.start <= match.start
            and other.end >= match.end
            and other.end - other.start > match.end - match.start
            and other.score >= 0.4
            for other in found
        )
    ]


_BOTH_PARTS = (frozenset({"short", "long"}), frozenset({"current", "non"}))
"""Words of a part that, named together, mean the whole: ``Debt (short-term and long-term)``."""


def _barred(lexicon: Lexicon, role: str, whole: Reading) -> bool:
    words = set(whole.tokens)
    unit = SCALAR_ROLES.get(role) or SERIES_ROLES.get(role)
    if unit == "money" and words & _MONEY_NOT:
        return True
    whole_again = {word for pair in _BOTH_PARTS if pair <= words for word in pair}
    spaced = " " + " ".join(whole.tokens) + " "
    return any(
        barred in whole.compact if has_cjk(barred) else f" {barred} " in spaced
        for barred in lexicon.barred.get(role, ())
        if barred not in whole_again
    )
