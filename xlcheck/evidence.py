"""The evidence pack of a task, and the store that keeps what was published later out of sight.

``pack.yaml`` lists the sources; files lie beside it::

    schema_version: 1
    sources:
      - {id: AR2025, file: annual-report-2025.pdf, published: 2026-03-20, title: Annual report 2025}
      - {id: BN-04, file: broker-note.md, published: 2026-05-02, title: Broker note of May, also: [May note]}

A source without a date is never shown: nobody can say that it was known.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError, WithheldError
from xlcheck.yamltext import MisfitError, closest, read_document, validate


class Source(Frozen):
    """One source of a pack."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$", max_length=80)]
    """What citations use."""
    file: str | None = None
    """Path relative to the pack; None for a source that is only named."""
    published: date | None = None
    """The day on which it became public; None if that is not known."""
    title: Annotated[str, Field(min_length=1)]
    also: tuple[Annotated[str, Field(min_length=4)], ...] = ()
    """Other names under which answers may cite it."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Of the file; where it is stated, another file is refused on read."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which it may be cited besides its id."""
        files = () if self.file is None else (Path(self.file).name, Path(self.file).stem)
        return (self.title, *self.also, *(name for name in files if len(name) >= 6))


class PackFile(Frozen):
    """The content of ``pack.yaml``."""

    schema_version: int
    """1 for this version."""
    sources: tuple[Source, ...]

    @model_validator(mode="after")
    def _consistent(self) -> PackFile:
        if self.schema_version != 1:
            raise MisfitError(("schema_version",), f"found {self.schema_version}; this version of xlcheck reads 1")
        seen: set[str] = set()
        for index, source in enumerate(self.sources):
            if source.id.casefold() in seen:
                raise MisfitError(("sources", index, "id"), f"the id {source.id!r} stands there twice")
            seen.add(source.id.casefold())
            if source.file is not None and (Path(source.file).is_absolute() or ".." in Path(source.file).parts):
                raise MisfitError(("sources", index, "file"), f"{source.file!r} leads out of the pack's folder")
        return self


@dataclass(frozen=True, slots=True)
class Pack:
    """The sources of a task and the folder that holds their files."""

    folder: Path
    sources: tuple[Source, ...]

    def source(self, source_id: str) -> Source | None:
        """Return the source of that id (whatever its case), or None."""
        wanted = source_id.casefold()
        return next((source for source in self.sources if source.id.casefold() == wanted), None)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer may rest on, as checks ask for it."""

    cutoff: date | None = None
    """Evidence published later is a leak; None where the task sets no cutoff."""
    sources: tuple[Source, ...] | None = None
    """The pack; None where the task has none."""
    closed: bool = True
    """True where every source has to come from the pack."""
    read: frozenset[str] | None = None
    """Ids of the sources that were opened, folded; None where nobody kept a log."""

    def is_late(self, day: date | None) -> bool:
        """Say whether a day lies after the cutoff (False where either is not known)."""
        return day is not None and self.cutoff is not None and day > self.cutoff


def load_pack(path: str | Path) -> Pack:
    """Read a pack file; raises UsageError, one sentence with file, line and key."""
    path = Path(path)
    found = validate(read_document(path, UsageError), PackFile, UsageError)
    return Pack(path.parent, found.sources)


def load_reads(path: str | Path, pack: Pack) -> frozenset[str]:
    """Return the folded ids of the sources that a log says were opened.

    The log has one source a line: its id, or a JSON object with the key ``source`` (as `PointInTimeStore` writes it).
    Raises UsageError naming the line.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror or problem}") from None
    found = set()
    for number, line in enumerate(lines, 1):
        name = _logged(line.strip(), f"{path}:{number}")
        if name is None:
            continue
        if pack.source(name) is None:
            known = closest(name, (source.id for source in pack.sources))
            raise UsageError(f"{path}:{number}: {name!r} is no source of the pack{known}")
        found.add(name.casefold())
    return frozenset(found)


def _logged(line: str, where: str) -> str | None:
    if not line.startswith("{"):
        return line or None
    try:
        entry = json.loads(line)
    except ValueError as problem:
        raise UsageError(f"{where}: this is no JSON: {problem}") from None
    if not isinstance(entry.get("source"), str):
        raise UsageError(f"{where}: the key 'source' with the id of a source is missing")
    return str(entry["source"]) if entry.get("shown", True) else None


@dataclass(frozen=True, slots=True)
class PointInTimeStore:
    """Shows the sources of a pack as they stood on one day; searching and ranking stay the caller's."""

    pack: Pack
    cutoff: date
    """The last day whose publications are shown."""
    log: Path | None = None
    """File to which every attempt to read is appended, one JSON object a line."""
    _opened: list[str] = field(default_factory=list)

    def visible(self, ranked: Iterable[str]) -> tuple[Source, ...]:
        """Return the sources of these ids that were public by the cutoff, in the caller's order.

        Raises UsageError for an id that the pack does not have.
        """
        return tuple(source for source in map(self._known, ranked) if self._refusal(source) is None)

    def withheld(self, ranked: Iterable[str]) -> dict[str, str]:
        """Return why each source that is not shown is withheld, by id."""
        refusals = {source.id: self._refusal(source) for source in map(self._known, ranked)}
        return {name: why for name, why in refusals.items() if why is not None}

    def read(self, source_id: str) -> bytes:
        """Return the content of a source; its date and its file are checked again here, whatever was shown before.

        Raises WithheldError for a source that is later than the cutoff or undated, UsageError for an unknown id, a
        source without a file, a file that cannot be read, lies outside the pack, or is not the one of its SHA-256.
        """
        source = self._known(source_id)
        refusal = self._refusal(source)
        self._note(source, shown=refusal is None)
        if refusal is not None:
            raise WithheldError(refusal)
        content = _content(self.pack.folder, source)
        self._opened.append(source.id)
        return content

    @property
    def opened(self) -> tuple[str, ...]:
        """The ids that were read, in order, each once."""
        return tuple(dict.fromkeys(self._opened))

    def _known(self, source_id: str) -> Source:
        source = self.pack.source(source_id)
        if source is None:
            known = closest(source_id, (one.id for one in self.pack.sources))
            raise UsageError(f"{source_id!r} is no source of the pack{known}")
        return source

    def _refusal(self, source: Source) -> str | None:
        if source.published is None:
            return f"{source.id} has no publication date, so it cannot be shown as of {self.cutoff}"
        if source.published > self.cutoff:
            return f"{source.id} was published on {source.published}, after {self.cutoff}"
        return None

    def _note(self, source: Source, *, shown: bool) -> None:
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"source": source.id, "shown": shown}) + "\n")


def _content(folder: Path, source: Source) -> bytes:
    if source.file is None:
        raise UsageError(f"{source.id} has no file; the pack only names it")
    path = folder / source.file
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{source.id}: {source.file} leads out of the pack's folder")
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise UsageError(f"{source.id}: {path} cannot be read: {problem.strerror or problem}") from None
    if source.sha256 is not None and hashlib.sha256(content).hexdigest() != source.sha256:
        raise UsageError(f"{source.id}: {path} is another file than the pack means (SHA-256 differs)")
    return content


def sources_named(text: str, sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources that a text names: by id, or by title, other name or file.

    A short id counts in brackets and, if it has a digit, as the first word (``E03 Quarterly report, note 6``).
    A name inside the longer name of another source is not taken for a source of its own.
    """
    plain = folded(text)
    spans: list[tuple[int, int, Source]] = []
    for source in sources:
        names = [re.escape(folded(name)) for name in source.names]
        bare = re.escape(folded(source.id))
        first = rf"|\A{bare}" if re.search(r"\d", bare) else ""
        names.append(rf"(?:\[{bare}\]{first}|\A{bare}\Z)" if len(source.id) < 4 else bare)
        for name in names:
            spans += [(*match.span(), source) for match in re.finditer(rf"(?<![\w.-]){name}(?![\w-]|\.\w)", plain)]
    outer = [
        source
        for start, end, source in sorted(spans, key=lambda span: (span[0], -span[1]))
        if not any(a <= start and end <= b and (a, b) != (start, end) for a, b, _ in spans)
    ]
    return tuple(dict.fromkeys(outer))


def folded(text: str) -> str:
    """Return a text without case, double spaces and typographic quotation marks and dashes."""
    plain = re.sub(r"[‐-―−]", "-", text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}))
    return " ".join(plain.casefold().split())


_BRACKETED = re.compile(r"\[([A-Za-z0-9][\w.-]{1,40})\](?![(\[:])")


def unknown_ids(text: str, sources: Iterable[Source]) -> tuple[str, ...]:
    """Return bracketed ids, such as [S12], that have the form of the pack's ids and are none of them."""
    ids = {source.id.casefold() for source in sources}
    forms = {_form(name) for name in ids}
    found = [name for name in _BRACKETED.findall(text) if name.casefold() not in ids]
    return tuple(dict.fromkeys(name for name in found if _form(name.casefold()) in forms))


def _form(name: str) -> str:
    return re.sub(r"\d+", "0", name)
