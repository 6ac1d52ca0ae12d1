"""The part of docs/roles.md that lists the shipped words; a test compares the committed page with it."""

from __future__ import annotations

from pathlib import Path

from xlcheck.roles.lexicon import shipped_words
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES

START = "<!-- words: generated from xlcheck/roles/words -->"
END = "<!-- end of words -->"
LANGUAGES = {
    "en": "English", "zh": "Chinese", "ja": "Japanese", "de": "German", "fr": "French", "es": "Spanish",
    "it": "Italian", "pt": "Portuguese", "ru": "Russian", "ko": "Korean", "other": "other languages",
}  # fmt: skip


def words_page() -> str:
    """Return the generated part: each role with its unit, its phrases and weights by language, and what bars it."""
    files = shipped_words()
    lines = [START, ""]
    for role in dict.fromkeys([*SCALAR_ROLES, *SERIES_ROLES]):
        unit = SCALAR_ROLES.get(role) or SERIES_ROLES.get(role)
        lines += [f"### `{role}`", "", f"Unit: {unit}.", ""]
        for name, words in files.items():
            phrases = {text: weight for text, weight in words.get(role, {}).items() if text != "not"}
            if phrases:
                shown = ", ".join(f"{text} {weight:g}" for text, weight in phrases.items())
                lines.append(f"* {LANGUAGES.get(name, name)}: {shown}")
            barred = words.get(role, {}).get("not")
            if barred:
                lines.append(f"  * not with: {', '.join(map(str, barred))}")
        lines.append("")
    return "\n".join([*lines, END])


def refreshed(page: str) -> str:
    """Return a page with its generated part written anew; ValueError if it has no such part."""
    head, found, rest = page.partition(START)
    _, closed, tail = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"the page has no part between {START} and {END}")
    return head + words_page() + tail


def refresh(path: Path) -> None:
    """Write the generated part of a page anew."""
    path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
