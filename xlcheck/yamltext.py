"""Reading YAML of the grader's own: scalars stay text (so 27.9 is exact), and errors name file, line and key."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from xlcheck.errors import UsageError

Location = tuple[str | int, ...]
_Model = TypeVar("_Model", bound=BaseModel)


class Document(NamedTuple):
    """A parsed file: mappings, lists, text and None, with the line of every key and entry."""

    source: str
    data: object
    lines: Mapping[Location, int]

    def line(self, location: Location) -> int:
        """Return the line of a key, or of the nearest enclosing one (1-based)."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, 1)


class MisfitError(ValueError):
    """Raised by a validator of a whole model that knows which key is at fault."""

    def __init__(self, location: Location, sentence: str) -> None:
        super().__init__(sentence)
        self.location = location


def read_document(path: Path, error: type[UsageError]) -> Document:
    """Read one YAML file; raises the given error if it cannot be read or is not YAML."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise error(f"{path} is no UTF-8 text: byte {problem.start} is {problem.object[problem.start]:#04x}") from None
    return parse_document(text, str(path), error)


def parse_document(text: str, source: str, error: type[UsageError]) -> Document:
    """Parse YAML text; numbers, dates and booleans stay as written; anchors and doubled keys are refused."""
    import yaml

    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        where = f"{source}:{mark.line + 1}" if mark else source
        raise error(f"{where}: this is not YAML: {problem.problem or problem.context}") from None
    except (yaml.YAMLError, RecursionError) as problem:
        raise error(f"{source}: this is not YAML: {str(problem).splitlines()[0]}") from None
    lines: dict[Location, int] = {(): 1}
    return Document(source, None if root is None else _plain(root, (), lines, set(), (source, error)), lines)


def _plain(
    node: Any,  # noqa: ANN401 - a node of PyYAML
    location: Location,
    lines: dict[Location, int],
    seen: set[int],
    blame: tuple[str, type[UsageError]],
) -> object:
    source, error = blame
    line = node.start_mark.line + 1
    lines.setdefault(location, line)
    if id(node) in seen:
        raise error(f"{source}:{line}: {show(location)} is an alias (*); write the value out")
    seen.add(id(node))
    if node.id == "scalar":
        absent = not node.style and node.value in ("", "~", "null", "Null", "NULL")
        return None if absent else node.value
    if node.id == "sequence":
        return [_plain(child, (*location, index), lines, seen, blame) for index, child in enumerate(node.value)]
    mapping: dict[str, object] = {}
    for key, child in node.value:
        place = key.start_mark.line + 1
        if key.id != "scalar":
            raise error(f"{source}:{place}: a key must be a word")
        if key.value in mapping:
            raise error(f"{source}:{place}: the key {show((*location, key.value))} stands there twice")
        lines[(*location, key.value)] = place
        mapping[key.value] = _plain(child, (*location, key.value), lines, seen, blame)
    return mapping


def show(location: Iterable[str | int]) -> str:
    """Write a location as people read it: ``program[2].weight``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the file"


def closest(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known word most like the given one, else nothing."""
    likely = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.5)
    return f" (did you mean {likely[0]!r}?)" if likely else ""


def validate(
    document: Document, model: type[_Model], error: type[UsageError], context: Mapping[str, object] | None = None
) -> _Model:
    """Build the model from a document; raises the given error for the fault that stands first in the file."""
    if not isinstance(document.data, dict):
        raise error(f"{document.source}:1: a mapping with the keys {', '.join(model.model_fields)} is expected")
    try:
        return model.model_validate(document.data, context=dict(context or {}))
    except ValidationError as problem:
        # a misspelt key also leaves its right name missing: the misspelling is the fault to name
        entries = sorted(problem.errors(), key=lambda entry: entry["type"] != "extra_forbidden")
        faults = [_fault(entry, model) for entry in entries]
        location, sentence = min(faults, key=lambda fault: document.line(fault[0]))
        raise error(f"{document.source}:{document.line(location)}: {show(location)}: {sentence}") from None


_PLAIN_WORDS = {
    "date_": "write a date such as 2026-03-31",
    "decimal_parsing": "write a decimal number such as 27.9",
    "decimal_type": "write a decimal number such as 27.9",
    "int_parsing": "write a whole number",
    "bool_": "write true or false",
    "string_type": "write a text",
    "model_type": "write a mapping, {key: value, …}",
    "dict_type": "write a mapping, {key: value, …}",
    "tuple_type": "write a list, [ … ]",
}
"""Start of a pydantic error type to what would be accepted, in our words."""


def _fault(entry: Any, model: type[BaseModel]) -> tuple[Location, str]:  # noqa: ANN401 - pydantic's ErrorDetails
    kind, location, found = entry["type"], tuple(entry["loc"]), entry["input"]
    cause = entry.get("ctx", {}).get("error")
    if isinstance(cause, MisfitError):
        return (*location, *cause.location), str(cause)
    if kind == "extra_forbidden":
        known = tuple(_fields_at(model, location[:-1]))
        return location, f"unknown key{closest(str(location[-1]), known)}; accepted keys are {', '.join(known)}"
    if kind == "missing":
        return location, f"the key {location[-1]!r} is missing"
    if kind == "literal_error":
        return location, f"{_short(found)} is not accepted; write {entry['ctx']['expected']}"
    for start, sentence in _PLAIN_WORDS.items():
        if kind.startswith(start):
            return location, f"found {_short(found)}; {sentence}"
    message = str(cause) if cause is not None else entry["msg"][0].lower() + entry["msg"][1:]
    return location, f"found {_short(found)}: {message}"


def _short(found: object) -> str:
    if isinstance(found, dict | list):
        return "a mapping" if isinstance(found, dict) else "a list"
    text = repr(found) if found is not None else "nothing"
    return text if len(text) <= 60 else text[:57] + "…'"


def _fields_at(model: type[BaseModel], location: Location) -> Iterator[str]:
    current: type[BaseModel] | None = model
    for part in location:
        if isinstance(part, str) and current is not None and part in current.model_fields:
            current = _nested(current.model_fields[part].annotation)
    yield from current.model_fields if current is not None else ()


def _nested(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401 - any type form
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _nested(part)) is not None), None)
