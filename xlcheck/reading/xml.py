"""Streaming XML over expat: no tree for large parts, a small one for small parts.

Expat recurses nowhere, fetches nothing and expands nothing here: a DOCTYPE is refused (intake looked already).
Tags and attributes come without their namespace, so that Transitional and Strict files read alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from xlcheck.errors import SubmissionError

_SEPARATOR = "}"
MAX_NODES = 400_000
"""Elements that a part read as a tree may have."""
MAX_DEPTH = 200
"""Nesting of elements; Office stays below 30."""
MAX_WORD = 20_000_000
"""Bytes of one tag or comment: expat looks at an unfinished one again with each chunk it is given."""


@dataclass(slots=True)
class Element:
    """An element of a small part; `text` is its own text only."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def find(self, tag: str) -> Element | None:
        """Return the first child of that tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> Iterator[Element]:
        """Yield every element of that tag below, in document order."""
        stack = self.children[::-1]
        while stack:
            element = stack.pop()
            if element.tag == tag:
                yield element
            stack.extend(reversed(element.children))

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute by its name without namespace."""
        return self.attributes.get(name, default)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a boolean attribute (``1``, ``true``, ``on``)."""
        return truth(self.attributes[name]) if name in self.attributes else default


def truth(value: str) -> bool:
    """Read an XML boolean."""
    return value.strip().lower() in ("1", "true", "on")


def local(name: str) -> str:
    """Drop the namespace of an expat name."""
    return name[name.rfind(_SEPARATOR) + 1 :]


def whole_number(text: str, default: int = 0) -> int:
    """Read a non-negative integer attribute of sane length, or the default."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else default


def stream(
    data: Iterable[bytes],
    where: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> None:
    """Drive the three handlers over the chunks of a part; `where` (file and part) stands in error sentences.

    Raises SubmissionError for XML that is not well-formed.
    """
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.buffer_text = True
    parser.buffer_size = 65_536

    def refuse(*_: object) -> NoReturn:
        raise SubmissionError(f"{where} declares a DOCTYPE, which no workbook needs; it is refused")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    fed = 0
    try:
        for chunk in data:
            parser.Parse(chunk, False)
            fed += len(chunk)
            if fed - parser.CurrentByteIndex > MAX_WORD:
                raise SubmissionError(f"{where} has a tag or comment of more than {MAX_WORD:,} bytes")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise SubmissionError(f"{where} is damaged: {error}") from None
    except (ValueError, LookupError) as error:  # an encoding that expat does not know
        raise SubmissionError(f"{where} cannot be read: {error}") from None


def tree(data: bytes, where: str, max_nodes: int = MAX_NODES) -> Element:
    """Read a small part whole; SubmissionError if it is damaged, too large or nested too deep."""
    root = Element("", {})
    stack = [root]
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > max_nodes or len(stack) > MAX_DEPTH:
            raise SubmissionError(f"{where} has more elements, or nests them deeper, than any workbook needs")
        plain = {local(key): value for key, value in attributes.items()} if attributes else {}
        element = Element(local(name), plain)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        stack[-1].text += data

    stream((data,), where, start, end, text)
    return root.children[0]
