"""Stored values of linked workbooks; the links themselves are never followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlcheck.cells import CellError, CellRef, Scalar, parse_a1
from xlcheck.intake import Package
from xlcheck.reading.parts import Relationship, read_tree, relationships
from xlcheck.reading.text import unescaped
from xlcheck.reading.xml import Element, truth, whole_number


def external_links(
    package: Package, workbook: Element, rels: Mapping[str, Relationship]
) -> tuple[dict[int, dict[CellRef, Scalar]], dict[int, str]]:
    """Return the stored values and the targets by link number (1 for ``[1]``)."""
    values: dict[int, dict[CellRef, Scalar]] = {}
    targets: dict[int, str] = {}
    references = workbook.find("externalReferences")
    for number, reference in enumerate(references.children if references else (), start=1):
        rel = rels.get(reference.get("id"))
        root = read_tree(package, rel.target) if rel and not rel.external else None
        book = root.find("externalBook") if root else None
        if rel is None or book is None:
            continue
        values[number] = dict(_values(book))
        link = relationships(package, rel.target).get(book.get("id"))
        targets[number] = link.target if link else ""
    return values, targets


def _values(book: Element) -> Iterator[tuple[CellRef, Scalar]]:
    names = [name.get("val") for name in book.all("sheetName")]
    for data in book.all("sheetData"):
        index = whole_number(data.get("sheetId"), -1)
        if not 0 <= index < len(names):
            continue
        for cell in data.all("cell"):
            value = cell.find("v")
            try:
                row, column = parse_a1(cell.get("r"))
            except ValueError:
                continue  # a stored value at no cell is of no use
            if value is not None:
                yield CellRef(names[index], row, column), _scalar(cell.get("t", "n"), value.text)


def _scalar(kind: str, text: str) -> Scalar:
    if kind == "str":
        return unescaped(text)
    if kind == "b":
        return truth(text)
    if kind == "e":
        return CellError(error=text)
    try:
        return float(text)
    except ValueError:
        return text
