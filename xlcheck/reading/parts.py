"""Finding parts: relationships, their targets, and what each sheet of the workbook is."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from urllib.parse import unquote

from xlcheck.errors import SubmissionError
from xlcheck.intake import ACCEPTED, Package
from xlcheck.reading.xml import Element, tree


@dataclass(frozen=True, slots=True)
class Relationship:
    """One line of a .rels part."""

    id: str
    kind: str
    """Last word of the type: ``worksheet``, ``styles``, ``externalLinkPath`` …"""
    target: str
    """Part name for internal targets; as written for external ones, which are never followed."""
    external: bool


def relationships(package: Package, part: str) -> dict[str, Relationship]:
    """Return the relationships of a part (``""`` for the package) by id; none if there is no .rels part."""
    folder, name = posixpath.split(part)
    rels = posixpath.join(folder, "_rels", f"{name}.rels")
    data = package.part(rels)
    if data is None:
        return {}
    found = {}
    for element in tree(data, where(package, rels)).children:
        external = element.get("TargetMode").lower() == "external"
        target = element.get("Target")
        kind = element.get("Type").rsplit("/", 1)[-1]
        resolved = target if external else resolve(folder, target)
        found[element.get("Id")] = Relationship(element.get("Id"), kind, resolved, external)
    return found


def resolve(folder: str, target: str) -> str:
    """Return the part name of a relationship target, relative to a folder or absolute in the package."""
    target = unquote(target.replace("\\", "/")).partition("#")[0]
    joined = target if target.startswith("/") else posixpath.join(folder, target)
    return posixpath.normpath("/" + joined).lstrip("/")


def of_kind(found: dict[str, Relationship], kind: str) -> list[str]:
    """Return the internal targets of one kind, in file order."""
    return [rel.target for rel in found.values() if rel.kind.lower() == kind.lower() and not rel.external]


def where(package: Package, part: str) -> str:
    """Name a part in an error sentence."""
    return f"{package.file_name}: part {part}"


def read_tree(package: Package, part: str | None) -> Element | None:
    """Read a small part as a tree; None where the workbook has no such part."""
    data = package.part(part) if part else None
    return None if data is None or part is None else tree(data, where(package, part))


def workbook_part(package: Package) -> str:
    """Return the name of the workbook part.

    Raises SubmissionError naming the kind of file if it is another Office or OpenDocument format.
    """
    targets = of_kind(relationships(package, ""), "officeDocument")
    candidates = [*targets, "xl/workbook.xml", "xl/workbook.bin"]
    part = next((target for target in candidates if target in package), None)
    problem = ""
    if part is None:
        problem = _other_package(package)
    elif part.lower().endswith(".bin"):
        problem = "this is a binary .xlsb workbook; save it as .xlsx"
    elif not part.lower().startswith("xl/") and _other_package(package, ""):
        problem = _other_package(package)
    if problem or part is None:
        raise SubmissionError(f"{package.file_name}: {problem}; {ACCEPTED}")
    return part


def _other_package(package: Package, otherwise: str = "the package holds no workbook part") -> str:
    mimetype = package.part("mimetype") or b""
    if b"opendocument.spreadsheet" in mimetype:
        return "this is an OpenDocument .ods spreadsheet; save it as .xlsx"
    if b"opendocument" in mimetype:
        return "this is an OpenDocument file, no workbook"
    if "index/document.iwa" in package or "index.zip" in package:
        return "this is an Apple Numbers document; export it as .xlsx"
    if "word/document.xml" in package:
        return "this is a Word document, no workbook"
    if "ppt/presentation.xml" in package:
        return "this is a PowerPoint presentation, no workbook"
    return otherwise
