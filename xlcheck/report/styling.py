"""Colouring cells: each flagged cell keeps its own format and gets another fill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field

from lxml import etree

from xlcheck.cells import CellRef, parse_a1
from xlcheck.reading.parts import of_kind, relationships
from xlcheck.report.markup import Parts, namespace, number, read_part, set_part

FILLS = {"fault": "FFF6C7C1", "warning": "FFFFE9B8"}
"""Colour name to ARGB."""


@dataclass
class Styles:
    """The styles part, with the fills that were added; formats are cloned on first use."""

    part: str
    root: etree._Element
    fills: Mapping[str, int]
    clones: dict[tuple[int, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, parts: Parts, book: str) -> Styles | None:
        """Read the styles part; None where the workbook has none, so that nothing can be coloured."""
        found = [part for part in of_kind(relationships(parts.package, book), "styles") if part in parts.package]
        if not found:
            return None
        root = read_part(parts, found[0])
        space = namespace(root)
        fills = root.find(f"{{{space}}}fills")
        if fills is None or root.find(f"{{{space}}}cellXfs") is None:
            return None
        numbers = {name: _add_fill(fills, space, colour) for name, colour in FILLS.items()}
        return cls(found[0], root, numbers)

    def coloured(self, style: int, colour: str) -> int:
        """Return the index of a format like `style` with that colour as its fill."""
        if (style, colour) not in self.clones:
            formats = self.root.find(f"{{{namespace(self.root)}}}cellXfs")
            assert formats is not None
            entries = formats.findall(f"{{{namespace(self.root)}}}xf")
            known = style < len(entries)
            clone = deepcopy(entries[style]) if known else etree.Element(f"{{{namespace(self.root)}}}xf")
            clone.set("fillId", str(self.fills[colour]))
            clone.set("applyFill", "1")
            formats.append(clone)
            formats.set("count", str(len(formats)))
            self.clones[style, colour] = len(formats.findall(f"{{{namespace(self.root)}}}xf")) - 1
        return self.clones[style, colour]

    def write(self, parts: Parts) -> None:
        """Put the part back."""
        set_part(parts, self.part, self.root)


def _add_fill(fills: etree._Element, space: str, colour: str) -> int:
    fill = etree.SubElement(fills, f"{{{space}}}fill")
    pattern = etree.SubElement(fill, f"{{{space}}}patternFill")
    pattern.set("patternType", "solid")
    etree.SubElement(pattern, f"{{{space}}}fgColor").set("rgb", colour)
    etree.SubElement(pattern, f"{{{space}}}bgColor").set("indexed", "64")
    fills.set("count", str(len(fills)))
    return len(fills.findall(f"{{{space}}}fill")) - 1


def colour_cells(root: etree._Element, colours: Mapping[tuple[int, int], str], styles: Styles) -> None:
    """Colour cells of a worksheet; blank ones are created. Addresses that the file leaves out are written in."""
    space = namespace(root)
    data = root.find(f"{{{space}}}sheetData")
    if data is None:
        return
    rows = dict(_numbered_rows(data))
    for row in sorted({row for row, _ in colours}):
        element = rows.get(row)
        if element is None:
            element = _insert(data, etree.Element(f"{{{space}}}row", r=str(row)), rows, row)
            rows[row] = element
        cells = dict(_numbered_cells(element, row))
        for column in sorted(column for at, column in colours if at == row):
            cell = cells.get(column)
            if cell is None:
                address = CellRef("", row, column).address
                cell = _insert(element, etree.Element(f"{{{space}}}c", r=address), cells, column)
                cells[column] = cell
            cell.set("s", str(styles.coloured(number(cell, "s", 0), colours[row, column])))


def _numbered_rows(data: etree._Element) -> Iterator[tuple[int, etree._Element]]:
    at = 0
    for row in data.iterchildren(f"{{{namespace(data)}}}row"):
        at = number(row, "r", at + 1)
        row.set("r", str(at))
        yield at, row


def _numbered_cells(row: etree._Element, at: int) -> Iterator[tuple[int, etree._Element]]:
    column = 0
    for cell in row.iterchildren(f"{{{namespace(row)}}}c"):
        address = cell.get("r")
        column = parse_a1(address)[1] if address else column + 1
        cell.set("r", CellRef("", at, column).address)
        yield column, cell


def _insert(
    parent: etree._Element, child: etree._Element, present: Mapping[int, etree._Element], number: int
) -> etree._Element:
    later = [at for at in present if at > number]
    if later:
        present[min(later)].addprevious(child)
    else:
        parent.append(child)
    return child
