"""Stored values of linked workbooks; the links themselves are never followed."""

from __future__ import annotations

from collections.abc import Mapping

from xlcheck.cells import CellError, CellRef, Scalar, parse_a1
from xlcheck.intake import Package
from xlcheck.reading.parts import Relationship, relationships, where
from xlcheck.reading.text import unescaped
from xlcheck.reading.xml import Element, local, stream, truth, whole_number


def external_links(
    package: Package, workbook: Element, rels: Mapping[str, Relationship]
) -> tuple[dict[int, dict[CellRef, Scalar]], dict[int, str]]:
    """Return the stored values and the targets by link number (1 for ``[1]``)."""
    values: dict[int, dict[CellRef, Scalar]] = {}
    targets: dict[int, str] = {}
    references = workbook.find("externalReferences")
    for number, reference in enumerate(references.children if references else (), start=1):
        rel = rels.get(reference.get("id"))
        if rel is None or rel.external or rel.target not in package:
            continue
        link = _Link()
        stream(package.chunks(rel.target), where(package, rel.target), link.start, link.end, link.text)
        if link.relationship is not None:
            values[number] = link.values
            target = relationships(package, rel.target).get(link.relationship)
            targets[number] = target.target if target else ""
    return values, targets


class _Link:
    """The state between the events of one link part, which can hold whole sheets of another workbook."""

    def __init__(self) -> None:
        self.values: dict[CellRef, Scalar] = {}
        self.relationship: str | None = None
        """Id of the relationship to the linked workbook; None for a DDE or OLE link."""
        self._sheets: list[str] = []
        self._sheet = self._address = self._kind = ""
        self._pieces: list[str] | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = local(name)
        if tag == "externalBook":
            plain = {local(key): value for key, value in attributes.items()}
            self.relationship = plain.get("id", "")
        elif tag == "sheetName":
            self._sheets.append(attributes.get("val", ""))
        elif tag == "sheetData":
            index = whole_number(attributes.get("sheetId", ""), -1)
            self._sheet = self._sheets[index] if 0 <= index < len(self._sheets) else ""
        elif tag == "cell":
            self._address, self._kind = attributes.get("r", ""), attributes.get("t", "n")
        elif tag == "v" and self._sheet:
            self._pieces = []

    def text(self, data: str) -> None:
        if self._pieces is not None:
            self._pieces.append(data)

    def end(self, _: str) -> None:
        if self._pieces is None:
            return
        text, self._pieces = "".join(self._pieces), None
        try:
            row, column = parse_a1(self._address)
        except ValueError:
            return  # a stored value at no cell is of no use
        self.values[CellRef(self._sheet, row, column)] = _scalar(self._kind, text)


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
