"""Editing the XML parts of a workbook package: reading, writing, declaring and relating them."""

from __future__ import annotations

import posixpath
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from lxml import etree

from xlcheck.errors import SubmissionError
from xlcheck.intake import Package

CONTENT_TYPES = "[Content_Types].xml"
MAIN_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_STRICT = "http://purl.oclc.org/ooxml/"


class Parts(NamedTuple):
    """A package with what was changed in it so far."""

    package: Package
    changed: dict[str, bytes]
    """Part name, as the zip writes it, to its new content."""


def raw_part(parts: Parts, name: str) -> bytes | None:
    """Return the present bytes of a part, None if there is none."""
    return parts.changed.get(zip_name(parts, name)) or parts.package.part(name)


def zip_name(parts: Parts, name: str) -> str:
    """Return the name by which the zip holds a part, whatever its case; the given one for a new part."""
    entry = next((info for info in parts.package.entries.values() if info.filename.casefold() == name.casefold()), None)
    return name if entry is None else entry.filename


def read_part(parts: Parts, name: str) -> etree._Element:
    """Parse a part; SubmissionError where it is missing or no XML that can be edited."""
    data = raw_part(parts, name)
    if data is None:
        raise SubmissionError(f"{parts.package.file_name}: part {name} is missing, so no copy of it can be marked up")
    try:
        return _parse(data)
    except etree.XMLSyntaxError as problem:
        told = str(problem).partition(", line")[0]
        raise SubmissionError(
            f"{parts.package.file_name}: part {name} is damaged, so no copy of it can be marked up: {told}"
        ) from None


def _parse(data: bytes) -> etree._Element:
    """Parse XML without entities, network or limits on depth (the package has passed the guards of intake)."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))


def new_root(name: str, space: str) -> etree._Element:
    """Return an empty root element in its default namespace."""
    return _parse(f"<{name} xmlns={quoteattr(space)}/>".encode())


def number(element: etree._Element, attribute: str, otherwise: int) -> int:
    """Return an attribute that should hold a whole number, `otherwise` where it is absent or holds none."""
    text = element.get(attribute, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def set_part(parts: Parts, name: str, root: etree._Element) -> None:
    """Put a tree in place of a part, or beside the others."""
    parts.changed[zip_name(parts, name)] = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def namespace(root: etree._Element) -> str:
    """Return the namespace of a root: transitional or Strict spreadsheetml."""
    return etree.QName(root).namespace or ""


def office(root: etree._Element) -> str:
    """Return the namespace of relationship ids that goes with a root."""
    if namespace(root).startswith(_STRICT):
        return f"{_STRICT}officeDocument/relationships"
    return "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def declare_part(parts: Parts, name: str, content_type: str) -> None:
    """Add the content type of a new part."""
    root = read_part(parts, CONTENT_TYPES)
    override = etree.SubElement(root, f"{{{_TYPES}}}Override")
    override.set("PartName", f"/{name}")
    override.set("ContentType", content_type)
    set_part(parts, CONTENT_TYPES, root)


def add_relationship(parts: Parts, source: str, target: str, kind: str, office_space: str) -> str:
    """Relate two parts and return the new id."""
    folder, name = posixpath.split(source)
    rels = posixpath.join(folder, "_rels", f"{name}.rels")
    known = raw_part(parts, rels) is not None
    root = read_part(parts, rels) if known else new_root("Relationships", _RELATIONS)
    taken = {relation.get("Id") for relation in root}
    identity = next(f"rIdXlcheck{number}" for number in range(1, len(taken) + 2) if f"rIdXlcheck{number}" not in taken)
    relation = etree.SubElement(root, f"{{{_RELATIONS}}}Relationship")
    relation.set("Id", identity)
    relation.set("Type", f"{office_space}/{kind}")
    relation.set("Target", f"/{target}")
    set_part(parts, rels, root)
    return identity
