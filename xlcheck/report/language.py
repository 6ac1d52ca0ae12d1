"""The words of the page in one language: interface text, roles, check titles, and the sentences of the checks.

The catalogue is data, one file a language in ``languages/``. Text of submissions, rubrics and judges stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

LANGUAGES = ("en", "zh")
LONGEST, DEEPEST = 400, 3
"""Characters of a sentence, and sentences within sentences, that are looked up: labels in them can be of any length."""
_SLOT = re.compile(r"\{\}")
_ADDRESS = re.compile(r"\ue000[0-9]+![A-Z]{1,3}[0-9]+(?::[A-Z]{1,3}[0-9]+)?")
"""A cell whose sheet name is masked."""
_MASK = re.compile(r"\ue000([0-9]+)!")


@dataclass(frozen=True)
class Words:
    """A language; calling it gives a text of the interface."""

    language: str
    sections: Mapping[str, Mapping[str, str]]

    def __call__(self, key: str, **values: object) -> str:
        """Return a text of the interface with its places filled; KeyError for an unknown key."""
        return self.sections["interface"][key].format(**values)

    def role(self, role: str) -> str:
        """Return the name of a role."""
        return self.sections.get("roles", {}).get(role) or role.replace("_", " ")

    def word(self, text: str) -> str:
        """Return a word of the field, a stage or a dimension; one that is not in the catalogue stays as it is."""
        return self.sections.get("words", {}).get(text, text)

    def known(self, text: str) -> str:
        """Return a word of the program (a unit), empty where this language has none for it."""
        return text if self.language == "en" else self.sections["words"].get(text, "")

    def check(self, check_id: str, title: str) -> str:
        """Return the title of a check; `title` is the English one."""
        return self.sections.get("checks", {}).get(check_id, title)

    def sentence(self, text: str, otherwise: str, sheets: Sequence[str] = ()) -> str:
        """Return a sentence of the program in this language; `sheets` are the names that its cells may have.

        One that is not in the catalogue becomes the general text under the key `otherwise`, with the cells that the
        sentence names; in English every sentence stays as it is.
        """
        if self.language == "en":
            return text
        masked = _masked(text, sheets)
        found = self._part(masked)
        if found is None:
            cells = ", ".join(dict.fromkeys(_ADDRESS.findall(masked)))
            found = f"{self(otherwise)} {cells}".rstrip()
        return _unmasked(found, sheets)

    def phrase(self, text: str, sheets: Sequence[str] = ()) -> str:
        """Return a word, cell or short phrase of the program; one that is not there points to the sentence."""
        found = text if self.language == "en" else self._part(_masked(text, sheets))
        return self("generic_value") if found is None else _unmasked(found, sheets)

    def _translated(self, text: str, depth: int) -> str | None:
        if len(text) > LONGEST or depth > DEEPEST:
            return None
        for pattern, translation in self._patterns:
            match = pattern.fullmatch(text)
            if match is not None:
                parts = [self._part(part, depth + 1) for part in match.groups()]
                if None not in parts:
                    return translation.format(*parts)
        return None

    def _part(self, text: str, depth: int = 0) -> str | None:
        """Return what fills a place: a translated part, or a number, cell or quoted text; None for other prose."""
        named = self.sections["roles"].get(text.strip().replace(" ", "_")) or self.sections["words"].get(text)
        known = named or self._translated(text, depth)
        bare = _ADDRESS.sub("", _QUOTED.sub("", text))
        return known or (text if not _PROSE.search(bare) else None)

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        """Sentences as patterns, those with most fixed text first."""
        sentences = sorted(self.sections["sentences"].items(), key=lambda pair: -len(_SLOT.sub("", pair[0])))
        return [
            (re.compile("(.+?)".join(re.escape(part) for part in _SLOT.split(pattern)), re.DOTALL), translation)
            for pattern, translation in sentences
        ]


def _masked(text: str, sheets: Sequence[str]) -> str:
    """Put numbers in place of sheet names, so that a cell is one word whatever its sheet is called."""
    text = text.replace("\ue000", "")
    for at, sheet in sorted(enumerate(sheets), key=lambda pair: -len(pair[1])):
        text = text.replace(f"{sheet}!", f"\ue000{at}!")
    return text


def _unmasked(text: str, sheets: Sequence[str]) -> str:
    return _MASK.sub(lambda mask: f"{sheets[int(mask[1])]}!", text)


_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PROSE = re.compile(r"[A-Za-z]{3,} [a-z]{2,}|\b[a-z]{4,}\b")
"""Two words in a row, or one long word in small letters: English that would be left standing."""


@cache
def words(language: str = "en") -> Words:
    """Return the catalogue of a language; KeyError for one that there is none of."""
    import yaml

    if language not in LANGUAGES:
        raise KeyError(language)
    text = files("xlcheck.report").joinpath(f"languages/{language}.yaml").read_text(encoding="utf-8")
    return Words(language, yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)))  # noqa: S506 - text only
