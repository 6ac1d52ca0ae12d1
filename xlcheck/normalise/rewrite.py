"""Rewrite the references of a formula in its text, so that an engine reads what Excel reads.

References to other workbooks read their stored values from added sheets; names that belong to one sheet, or
that move with the formula, become addresses. A *pinned* formula can stand on any other sheet at the same
address: its references name their sheet, and tables and spills are the ranges that they are now.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xlcheck.cells import CellRef, column_letters
from xlcheck.localcheck.agreement import displayed_decimals
from xlcheck.normalise.calls import rewritten
from xlcheck.normalise.intersection import intersect
from xlcheck.normalise.lambdas import Function, functions, written_out
from xlcheck.normalise.offsets import without_constant_offsets
from xlcheck.normalise.positions import POSITION, spell_positions
from xlcheck.normalise.prefixed import without_bare_names
from xlcheck.normalise.searches import Searches
from xlcheck.normalise.unquoted import with_quotes
from xlcheck.reading.scope import defined_name, name_area, placed, rectangles, structured
from xlcheck.reading.tokens import Area, Token, quote, tokens, written
from xlcheck.workbook import Book, Cell, DefinedName

_LINK = re.compile(r"'?\[(\d+)\](.*?)'?!\Z", re.DOTALL)
_ANCHOR = re.compile(r"_xlfn\.ANCHORARRAY\(((?:'(?:[^']|'')+'!|[\w.]+!)?\$?[A-Z]{1,3}\$?[0-9]{1,7})\)", re.IGNORECASE)
_SINGLE = re.compile(r"_xlfn\.SINGLE\(((?:'(?:[^']|'')+'!|[\w.]+!)?\$?[A-Z]{1,3}\$?[0-9]{1,7})\)", re.IGNORECASE)
"""The intersection mark at a single cell, where it has nothing to do."""
_UNUSUAL = re.compile(
    r"""["'\[\]#]|[A-Za-z]:|:\$?[A-Za-z]{1,3}(?![$0-9A-Za-z])|(?<![A-Za-z$0-9])\$?[0-9]+:|_xlfn\.[AS]|:[\w.]+!"""
)
"""What the short way of pinning cannot do: quotes, brackets, spills, whole rows and columns."""
_OWN = re.compile(r"(?<![\w.$:!])\$?[A-Za-z]{1,3}\$?[0-9]{1,7}(?::\$?[A-Za-z]{1,3}\$?[0-9]{1,7})?(?![\w(.!:])")
"""A reference that names no sheet."""
_DEEPEST = 20
"""Names within names."""


@dataclass(frozen=True)
class Rewriter:
    """Rewrites the formulas of one book."""

    book: Book
    undefined: frozenset[str] = frozenset()
    """Words, case-folded, that stand in formulas as names and are none: Excel calculates #NAME? for them."""

    @cached_property
    def links(self) -> Mapping[tuple[int, str], str]:
        """Return (link number, case-folded sheet name) to the title of the sheet added for it."""
        taken = {sheet.name.casefold() for sheet in self.book.sheets}
        found: dict[tuple[int, str], str] = {}
        for link, values in self.book.external.items():
            for name in dict.fromkeys(ref.sheet.casefold() for ref in values):
                title = f"External_{link}_{len(found) + 1}"
                while title.casefold() in taken:
                    title += "_"
                found[link, name] = title
        return found

    @cached_property
    def _external(self) -> Mapping[tuple[int, str], frozenset[tuple[int, int]]]:
        return {
            (link, name): frozenset(
                (ref.row, ref.column) for ref in self.book.external[link] if ref.sheet.casefold() == name
            )
            for link, name in self.links
        }

    @cached_property
    def _special(self) -> re.Pattern[str]:
        """Return a pattern of what cannot be left to an engine: brackets, positions, and names that move."""
        names = {name.name for name in self.book.names if name.sheet is not None or not _fixed(name)}
        return re.compile("|".join([r"\[", POSITION.pattern, *_words_of(names | self.undefined)]), re.IGNORECASE)

    @cached_property
    def _named(self) -> re.Pattern[str] | None:
        """Return a pattern of all names, None if there are none."""
        words = _words_of({name.name for name in self.book.names})
        return re.compile("|".join(words), re.IGNORECASE) if words else None

    def rewrite(self, cell: Cell) -> str:
        """Return a cell's formula for its own place in the normalised copy."""
        formula = self._intersected(cell)
        if self._special.search(formula):
            plain = spell_positions(formula, cell.ref, self.book)
            formula = "=" + "".join(self._words(plain[1:], cell.ref, pinned=False))
        return self._displayed(formula, cell)

    @cached_property
    def _wide(self) -> re.Pattern[str] | None:
        """Return a pattern of the names that stand for several cells, None if there are none."""
        names = [re.escape(name.name) for name in self.book.names if ":" in name.formula]
        return re.compile("|".join(names), re.IGNORECASE) if names else None

    def _intersected(self, cell: Cell) -> str:
        formula = without_constant_offsets(without_bare_names(with_quotes(cell.formula or "=")))
        if cell.array is not None or (":" not in formula and not (self._wide and self._wide.search(formula))):
            return formula
        return "=" + intersect(formula[1:], cell.ref, self.book)

    def _displayed(self, formula: str, cell: Cell) -> str:
        """Round to what is displayed, in a workbook set to calculate with that ("precision as displayed")."""
        decimals = None if self.book.calc.full_precision else displayed_decimals(cell.number_format)
        return formula if decimals is None else f"=IFERROR(ROUND({formula[1:]},{decimals}),{formula[1:]})"

    def pin(self, cell: Cell) -> str:
        """Return a cell's formula for another sheet, at the same address."""
        at, formula = cell.ref, written_out(self._intersected(cell), self._functions)
        named = self._named is not None and self._named.search(formula)
        if not named and not _UNUSUAL.search(formula) and not self._special.search(formula):
            home = quote(at.sheet).replace("\\", r"\\")
            return self._displayed(_OWN.sub(rf"{home}\g<0>", formula), cell)
        plain = spell_positions(formula[1:], at, self.book)
        text = _ANCHOR.sub(lambda match: self._spill(match[1], at) or match[0], plain)
        words = "".join(self._words(text, at, pinned=True))
        return self._displayed("=" + _SINGLE.sub(r"\1", words), cell)

    @cached_property
    def _searches(self) -> Searches:
        return Searches(self.book)

    @cached_property
    def _functions(self) -> Mapping[str, Function]:
        return functions(self.book)

    def for_primary(self, formula: str, at: CellRef) -> str:
        """Return a rewritten formula as the primary engine must see it."""
        if "(" not in formula:
            return formula
        text = self._searches.rewritten(formula, at)
        return rewritten(text, ("YEARFRAC",), _positive) if _YEARFRAC.search(text) else text

    def name(self, name: DefinedName) -> str:
        """Return the formula of a defined name for the normalised copy."""
        if name.formula.endswith("!#REF!"):  # of a deleted sheet or range; an engine may read it as blank
            return "#REF!"
        if "[" not in name.formula:
            return with_quotes(name.formula)
        at = CellRef(name.sheet or self.book.sheets[0].name, 1, 1)
        return "".join(self._words(name.formula, at, pinned=False))

    def _words(self, text: str, at: CellRef, *, pinned: bool) -> Iterator[str]:
        home = quote(at.sheet) if pinned else ""
        held: Token | None = None
        for word in tokens(text):
            if held is not None:
                spill = self._spill(held.text, at) if word.text == "#" else None
                yield spill or self._area(held, home)
                held = None
                if spill:
                    continue
            if word.kind == "ref":
                if pinned:
                    held = word
                else:
                    yield self._area(word, home)
            elif word.kind == "name":
                yield "#NAME?" if word.text.casefold() in self.undefined else self._name(word.text, at, pinned=pinned)
            elif word.kind == "table":
                yield self._table(word.text, at)
            else:
                yield word.text
        if held is not None:
            yield self._area(held, home)

    def _area(self, word: Token, home: str) -> str:
        area = word.area
        assert area is not None
        if not area.sheet:
            return home + word.text
        if home and ":" in area.sheet and "[" not in area.sheet:  # only the primary engine reads across sheets
            return ",".join(written(one) for one in rectangles(area, "", self.book)) or word.text
        match = _LINK.match(area.sheet) if "[" in area.sheet else None
        if match is None:
            return word.text
        key = int(match[1]), match[2].replace("''", "'").casefold()
        title = self.links.get(key)
        if title is None or not _stored(area, self._external[key]):
            return word.text
        return quote(title) + word.text[len(area.sheet) :]

    def _name(self, text: str, at: CellRef, *, pinned: bool, depth: int = 0) -> str:
        name = defined_name(text.replace("[0]!", ""), at.sheet, self.book)
        if name is None:
            return text
        if name.sheet is None and _fixed(name) and not pinned:
            return name.name
        area = name_area(name, at)
        if area is not None and "[" not in area.sheet:
            sheet = area.sheet or quote(name.sheet or at.sheet)
            return sheet + _address(area)
        if (pinned or not _fixed(name)) and depth < _DEEPEST:
            return f"({''.join(self._inlined(name, at, pinned=pinned, depth=depth + 1))})"
        return text if not pinned and "!" not in text else alias(name, self.book)

    def _inlined(self, name: DefinedName, at: CellRef, *, pinned: bool, depth: int) -> Iterator[str]:
        """Yield the words of a name that computes something from cells that move with the formula."""
        home = at._replace(sheet=name.sheet or at.sheet)
        for word in tokens(name.formula):
            moved = placed(word.area, at) if word.area is not None and "[" not in word.area.sheet else None
            if moved is not None:
                yield (moved.sheet or quote(home.sheet)) + _address(moved)
            elif word.kind == "name":
                yield self._name(word.text, home, pinned=pinned, depth=depth)
            elif word.kind == "table":
                yield self._table(word.text, at)
            elif word.kind == "error":
                yield word.text[word.text.index("#") :]
            else:
                yield word.text if word.area is None else self._area(word, "")

    def _table(self, text: str, at: CellRef) -> str:
        found = structured(text, self.book, at)
        return written(found) if found is not None else text

    def _spill(self, anchor: str, at: CellRef) -> str | None:
        try:
            ref = CellRef.parse(anchor if "!" in anchor else f"{quote(at.sheet)}{anchor}")
        except ValueError:
            return None
        cell = self.book.get(ref)
        return written(cell.array) if cell is not None and cell.array is not None else None


_YEARFRAC = re.compile(r"\bYEARFRAC\(", re.IGNORECASE)


def _positive(name: str, _: Sequence[list[Token]], texts: Sequence[str]) -> str:
    """Return the call without its sign: Excel counts years from the earlier date to the later, in either order."""
    return f"ABS({name}({','.join(texts)}))"


def undefined_names(formulas: Iterable[Cell], book: Book) -> frozenset[str]:
    """Return the words of these formulas, case-folded, that can only be names and are defined nowhere."""
    return frozenset(
        word.text.casefold()
        for cell in formulas
        if not _BINDING.search(cell.formula or "")
        for word in tokens(cell.formula or "")
        if word.kind == "name"
        and word.text.upper() not in ("TRUE", "FALSE")
        and "[" not in word.text
        and defined_name(word.text, cell.ref.sheet, book) is None
        and book.table(word.text) is None
    )


_BINDING = re.compile(r"\b(?:LET|LAMBDA)\(|_xl\w+\.(?![A-Z.]+\()", re.IGNORECASE)
"""Formulas whose words may be names of their own, or functions passed as values."""


def alias(name: DefinedName, book: Book) -> str:
    """Return the workbook-wide name under which a name that computes something can be read from any sheet."""
    if name.sheet is None:
        return name.name
    number = next(index for index, sheet in enumerate(book.sheets) if sheet.name == name.sheet)
    return f"Scoped_{number}_{name.name}"


def _fixed(name: DefinedName) -> bool:
    """Say whether a name means the same wherever it is used: all its references are absolute, none to its own row."""
    return not _OWN_ROW.search(name.formula) and all(
        word.area is None or all(word.area.absolute) for word in tokens(name.formula)
    )


_OWN_ROW = re.compile(r"\[\s*(?:@|#this row)", re.IGNORECASE)


def _words_of(names: Collection[str]) -> list[str]:
    """Return a pattern of each name as a word of its own."""
    return [rf"(?<![\w.\\]){re.escape(name)}(?![\w.(\\])" for name in sorted(names)]


def _stored(area: Area, places: frozenset[tuple[int, int]]) -> bool:
    """Say whether the linked workbook has a stored value in the area."""
    if area.single:
        return (area.first_row, area.first_column) in places
    last_row, last_column = area.last_row or 1 << 30, area.last_column or 1 << 30
    return any(
        area.first_row <= row <= last_row and area.first_column <= column <= last_column for row, column in places
    )


def _address(area: Area) -> str:
    start = f"${column_letters(area.first_column)}" if area.first_column else ""
    start += f"${area.first_row}" if area.first_row else ""
    if area.single:
        return start
    end = f"${column_letters(area.last_column)}" if area.last_column else ""
    return f"{start}:{end}" + (f"${area.last_row}" if area.last_row else "")
