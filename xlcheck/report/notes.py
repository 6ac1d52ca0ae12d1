"""Cell comments: a part with the texts, and the VML drawing in which spreadsheet programs place them."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from lxml import etree

from xlcheck.cells import CellRef
from xlcheck.reading.parts import of_kind, relationships
from xlcheck.report.markup import (
    CONTENT_TYPES,
    MAIN_TYPE,
    Parts,
    add_relationship,
    declare_part,
    namespace,
    new_root,
    office,
    raw_part,
    read_part,
    set_part,
    zip_name,
)

AUTHOR = "xlcheck"
_VML = (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel"></xml>'
)
_SHAPE = (
    '<v:shape xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel" id="_x0000_s{number}" type="#_x0000_t202" '
    'style="position:absolute;margin-left:60pt;margin-top:2pt;width:240pt;height:90pt;visibility:hidden" '
    'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:path o:connecttype="none"/>'
    '<v:textbox><div style="text-align:left"></div></v:textbox><x:ClientData ObjectType="Note"><x:MoveWithCells/>'
    "<x:SizeWithCells/><x:AutoFill>False</x:AutoFill><x:Row>{row}</x:Row><x:Column>{column}</x:Column>"
    "</x:ClientData></v:shape>"
)
_FIRST_SHAPE = 60_000
_AFTER_DRAWING = (
    "legacyDrawingHF", "drawingHF", "picture", "oleObjects", "controls", "webPublishItems", "tableParts", "extLst",
)  # fmt: skip
"""What may follow ``legacyDrawing`` in a worksheet, in the order that the standard fixes."""


def write_notes(parts: Parts, part: str, sheet: etree._Element, notes: Mapping[tuple[int, int], str]) -> None:
    """Add comments to a worksheet whose tree is given (and put back by the caller); existing ones are kept."""
    if not notes:
        return
    related = relationships(parts.package, part)
    stem = posixpath.splitext(posixpath.basename(part))[0]
    folder = posixpath.dirname(posixpath.dirname(part))
    existing = [target for target in of_kind(related, "comments") if target in parts.package]
    if existing:
        comments = read_part(parts, existing[0])
        target = existing[0]
    else:
        target = posixpath.join(folder, f"xlcheck_comments_{stem}.xml")
        comments = _new_comments(namespace(sheet))
        declare_part(parts, target, f"{MAIN_TYPE}.comments+xml")
        add_relationship(parts, part, target, "comments", office(sheet))
    placed = _add_comments(comments, notes)
    set_part(parts, target, comments)
    if placed:
        _add_shapes(parts, part, sheet, posixpath.join(folder, "drawings", f"xlcheck_{stem}.vml"), placed)


def _new_comments(space: str) -> etree._Element:
    root = new_root("comments", space)
    etree.SubElement(root, f"{{{space}}}authors")
    etree.SubElement(root, f"{{{space}}}commentList")
    return root


def _add_comments(root: etree._Element, notes: Mapping[tuple[int, int], str]) -> list[tuple[int, int]]:
    """Add the texts and return the cells that had no comment before, which need a shape."""
    space = namespace(root)
    authors, entries = root.find(f"{{{space}}}authors"), root.find(f"{{{space}}}commentList")
    if authors is None or entries is None:
        return []
    etree.SubElement(authors, f"{{{space}}}author").text = AUTHOR
    author = len(authors) - 1
    present = {entry.get("ref"): entry for entry in entries}
    placed = []
    for (row, column), text in sorted(notes.items()):
        address = CellRef("", row, column).address
        entry = present.get(address)
        if entry is None:
            entry = etree.SubElement(entries, f"{{{space}}}comment", ref=address, authorId=str(author))
            placed.append((row, column))
        body = entry.find(f"{{{space}}}text")
        body = etree.SubElement(entry, f"{{{space}}}text") if body is None else body
        run = etree.SubElement(body, f"{{{space}}}r")
        words = etree.SubElement(run, f"{{{space}}}t")
        words.text = text if len(body) == 1 else f"\n\n{AUTHOR}: {text}"
        words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return placed


def _add_shapes(parts: Parts, part: str, sheet: etree._Element, fresh: str, placed: list[tuple[int, int]]) -> None:
    space, ids = namespace(sheet), office(sheet)
    legacy = sheet.find(f"{{{space}}}legacyDrawing")
    related = relationships(parts.package, part)
    known = related.get(legacy.get(f"{{{ids}}}id", "")) if legacy is not None else None
    target = known.target if known is not None and known.target in parts.package else fresh
    data = raw_part(parts, target) or _VML.encode()
    shapes = "".join(
        _SHAPE.format(number=_FIRST_SHAPE + at, row=row - 1, column=column - 1)
        for at, (row, column) in enumerate(placed)
    )
    end = data.rfind(b"</xml>")
    if end < 0:
        return
    parts.changed[zip_name(parts, target)] = data[:end] + shapes.encode() + data[end:]
    if target == fresh:
        _declare_vml(parts)
        identity = add_relationship(parts, part, fresh, "vmlDrawing", ids)
        if legacy is None:
            legacy = _place(sheet, etree.Element(f"{{{space}}}legacyDrawing"), space)
        legacy.set(f"{{{ids}}}id", identity)


def _place(sheet: etree._Element, child: etree._Element, space: str) -> etree._Element:
    followers = [f"{{{space}}}{name}" for name in _AFTER_DRAWING]
    first = next((element for element in sheet if element.tag in followers), None)
    if first is None:
        sheet.append(child)
    else:
        first.addprevious(child)
    return child


def _declare_vml(parts: Parts) -> None:
    root = read_part(parts, CONTENT_TYPES)
    space = namespace(root)
    if not any(entry.get("Extension", "").lower() == "vml" for entry in root):
        entry = etree.Element(f"{{{space}}}Default")
        entry.set("Extension", "vml")
        entry.set("ContentType", "application/vnd.openxmlformats-officedocument.vmlDrawing")
        root.insert(0, entry)
        set_part(parts, CONTENT_TYPES, root)
