"""Small valuations of invented companies in the layouts, languages and conventions of careful authors.

A layout is written as text, one line for a cell or a range, sheet by sheet::

    ## DCF
    A5 Revenue
    C5:E5 100 | 110 | 12%            values from left to right (or down); 12% is 0.12 shown as a percentage
    C6:E6 =C5*(1+$B$2)               one formula, filled over the range
    C7 =C6/B6-1 as %                 the result is shown as a percentage
    @name WACC 'DCF'!$B$2            a defined name
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from itertools import chain

from openpyxl import Workbook
from openpyxl.formula.translate import Translator
from openpyxl.workbook.defined_name import DefinedName


@dataclass(frozen=True)
class Layout:
    name: str
    text: str
    roles: dict[str, str]
    """Role -> cell, or several cells that are equally right."""
    series: dict[str, str]
    """Role -> range over the forecast years."""
    iterates: bool = False
    """Whether the workbook asks for iteration (interest on average balances)."""
    also: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Role -> further cells or ranges that are equally right."""


def workbook(layout: Layout) -> Workbook:
    """Return the workbook that the text of a layout describes."""
    book = Workbook()
    book.remove(book.active)
    book.calculation.iterate = layout.iterates
    sheet = None
    for line in filter(str.strip, layout.text.splitlines()):
        if line.startswith("## "):
            sheet = book.create_sheet(line[3:])
            continue
        if line.startswith("@name "):
            _, name, place = line.split(" ", 2)
            book.defined_names[name] = DefinedName(name, attr_text=place)
            continue
        write(sheet, line)
    return book


def write(sheet, line: str) -> None:
    """Write one line of a layout to a sheet, over what stands there."""
    place, _, what = line.partition(" ")
    _fill([sheet[place]] if ":" not in place else list(chain.from_iterable(sheet[place])), what.strip())


def _fill(cells, what: str) -> None:
    if what.startswith("="):
        formula, percent = (what[:-5], True) if what.endswith(" as %") else (what, False)
        for cell in cells:
            cell.value = Translator(formula, origin=cells[0].coordinate).translate_formula(cell.coordinate)
            cell.number_format = "0.0%" if percent else "General"
        return
    for cell, word in zip(cells, _words(what, len(cells)), strict=True):
        cell.value = None if word == "~" else _value(word)
        cell.number_format = "0.0%" if re.fullmatch(r"-?[0-9.]+%", word) else cell.number_format


def _words(what: str, cells: int) -> list[str]:
    """Return one word for each cell; a single one stands for all, ``~`` for an empty cell."""
    words = what.split(" | ") if cells > 1 else [what]
    return words * cells if len(words) == 1 else words


def _value(word: str) -> object:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", word):
        return dt.date.fromisoformat(word)
    if re.fullmatch(r"-?[0-9]+", word):
        return int(word)
    if re.fullmatch(r"-?[0-9]*\.[0-9]+", word):
        return float(word)
    if re.fullmatch(r"-?[0-9.]+%", word):
        return round(float(word[:-1]) / 100, 10)
    return word
