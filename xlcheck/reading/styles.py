"""Cell styles, as far as a grader needs them: the number format, and whether the value can be seen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from xlcheck.intake import Package
from xlcheck.reading.parts import read_tree
from xlcheck.reading.xml import Element, whole_number

BUILTIN_FORMATS = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
    5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);[Red]("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
    27: "yyyy/m/d", 28: "m/d", 29: "m/d", 30: "m/d/yy", 31: "yyyy/m/d", 32: "h:mm", 33: "h:mm:ss",
    34: "h:mm", 35: "h:mm:ss", 36: "yyyy/m",
    37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
    41: r'_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)', 42: r'_("$"* #,##0_);_("$"* \(#,##0\);_("$"* "-"_);_(@_)',
    43: r'_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)',
    44: r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0", 48: "##0.0E+0", 49: "@",
    50: "yyyy/m", 51: "m/d", 52: "yyyy/m", 53: "m/d", 54: "m/d", 55: "yyyy/m", 56: "m/d", 57: "yyyy/m", 58: "m/d",
}  # fmt: skip
"""Formats that a file names by number only (ECMA-376 18.8.30; 27 to 58 are the date formats of East Asian locales)."""

_BLACK, _WHITE = "000000", "FFFFFF"
_INDEXED = {0: _BLACK, 1: _WHITE, 8: _BLACK, 9: _WHITE, 64: _BLACK, 65: _WHITE}
_THEMED = {0: _WHITE, 1: _BLACK}
_HIDING_FORMAT = re.compile(r'(?:"\s*"|\s)*;(?:"\s*"|\s)*;(?:"\s*"|\s)*;(?:"\s*"|\s)*')


@dataclass(frozen=True, slots=True)
class Style:
    """What one cell format shows."""

    number_format: str = "General"
    white: bool = False
    """The value cannot be seen: font in the colour of its fill, or a format of empty sections."""


PLAIN = Style()


def cell_styles(package: Package, part: str | None) -> list[Style]:
    """Return the cell formats by their index (``s`` attribute); an empty list where the part is missing."""
    root = read_tree(package, part)
    if root is None:
        return []
    custom = {
        whole_number(element.get("numFmtId")): element.get("formatCode", "General")
        for group in _group(root, "numFmts")
        for element in [group]
    }
    fonts = [_colour(font.find("color"), _BLACK) for font in _group(root, "fonts")]
    fills = [_fill_colour(fill) for fill in _group(root, "fills")]
    return [_style(xf, custom, fonts, fills) for xf in _group(root, "cellXfs")]


def _group(root: Element, tag: str) -> list[Element]:
    group = root.find(tag)
    return group.children if group else []


def _style(xf: Element, custom: dict[int, str], fonts: list[str], fills: list[str]) -> Style:
    number = whole_number(xf.get("numFmtId"))
    number_format = custom.get(number) or BUILTIN_FORMATS.get(number, "General")
    font = _at(fonts, xf.get("fontId"), _BLACK)
    fill = _at(fills, xf.get("fillId"), _WHITE)
    return Style(number_format, font == fill or _hides(number_format))


@lru_cache(maxsize=1_000)
def _hides(number_format: str) -> bool:
    """Tell whether a format shows nothing; a file may give one endless format to all its styles."""
    return _HIDING_FORMAT.fullmatch(number_format) is not None


def _at(colours: list[str], index: str, default: str) -> str:
    number = whole_number(index, -1)
    return colours[number] if 0 <= number < len(colours) else default


def _fill_colour(fill: Element) -> str:
    """Return the colour behind a value: white for no fill, the foreground of a solid one, else its own kind."""
    pattern = fill.find("patternFill")
    if pattern is None:
        return "gradient" if fill.children else _WHITE
    kind = pattern.get("patternType", "none")
    if kind == "none":
        return _WHITE
    return _colour(pattern.find("fgColor"), "pattern") if kind == "solid" else "pattern"


def _colour(colour: Element | None, default: str) -> str:
    """Return a colour as six hex digits where it is plain, else as a key that equals only itself."""
    if colour is None:
        return default
    tint = colour.get("tint").strip("0.-+")
    if "rgb" in colour.attributes and not tint:
        return colour.get("rgb")[-6:].upper()
    for attribute, known in (("theme", _THEMED), ("indexed", _INDEXED)):
        if attribute in colour.attributes:
            number = whole_number(colour.get(attribute), -1)
            plain = known.get(number) if not tint else None
            return plain or f"{attribute} {number} {colour.get('tint')}"
    return default
