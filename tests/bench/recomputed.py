"""How much of a folder of workbooks is recomputed, what is found in forged copies, and whether stored values leak.

python tests/bench/recomputed.py FOLDER                   cover of the local check and of the whole recalculation
python tests/bench/recomputed.py FOLDER --forge 200       a stored value is forged, one per copy
python tests/bench/recomputed.py FOLDER --poison 8        all stored results are replaced, in so many workbooks
"""

# ruff: noqa: T201 - a script tells its results on the terminal

from __future__ import annotations

import argparse
import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from xlcheck.cells import CellRef, Scalar, as_number
from xlcheck.engines import Unsolved
from xlcheck.errors import XlcheckError
from xlcheck.graph import build_graph
from xlcheck.recompute import Recalc, recompute
from xlcheck.workbook import Book, load

SEED = 20260331


def books(folder: Path) -> Iterator[tuple[str, Book]]:
    for path in sorted(folder.glob("*.xls[xm]")):
        try:
            book = load(path)
        except XlcheckError:
            continue
        if any(cell.stored is not None for cell in book.formula_cells()):
            yield path.name, book


def cover(folder: Path) -> None:
    """Print per workbook and in all: same, stale and unsolved cells, and those that only the whole leg leaves open."""
    total: Counter[str] = Counter()
    for name, book in books(folder):
        verdicts = recompute(book).verdicts
        counts = Counter(verdict.status for verdict in verdicts.values())
        counts["open in the whole recalculation"] = sum(one.unsolved is not None for one in verdicts.values())
        total += counts
        print(f"{name:44} {dict(counts)}", *[ref for ref, one in verdicts.items() if one.status == "stale"], flush=True)
    judged = total["same"] + total["stale"]
    every = judged + total["unsolved"]
    print(f"{dict(total)}: covered {judged / every:.2%}, same {total['same'] / judged:.3%} of these")


def forge(folder: Path, count: int) -> None:
    """Forge one stored number per copy and print what was found elsewhere than there."""
    draw = random.Random(SEED)
    known = [(name, book, recompute(book)) for name, book in books(folder)]
    found = number = 0
    while number < count:
        name, book, recalc = draw.choice(known)
        cells = [cell for cell in book.formula_cells() if as_number(cell.stored) is not None]
        before = {ref for ref, one in recalc.verdicts.items() if one.status != "same"}
        cells = [cell for cell in cells if cell.ref not in before]
        if not cells:
            continue
        number += 1
        cell = draw.choice(cells)
        stored = as_number(cell.stored) or 0.0
        value = draw.choice((stored * 1.01 + 1.0, stored * 1.001 + 0.001, -stored - 1.0, stored * 1000 + 5.0))
        stale = stale_cells(with_stored(recalc, cell.ref, value))
        found += stale == {cell.ref}
        if stale != {cell.ref}:
            print(
                f"{number} {name} {cell.ref} {cell.formula}: {stored} forged to {value}; stale {sorted(stale)}",
                flush=True,
            )
    print(f"{found} of {count} forgeries found at their cell")


def with_stored(recalc: Recalc, ref: CellRef, value: Scalar) -> Recalc:
    """Return the recalculation of the book with one stored value replaced: no stored value is in its values."""
    sheets = []
    for sheet in recalc.book.sheets:
        cells = dict(sheet.cells)
        if sheet.name == ref.sheet:
            cells[ref.row, ref.column] = dataclasses.replace(cells[ref.row, ref.column], stored=value)
        sheets.append(dataclasses.replace(sheet, cells=cells))
    book = dataclasses.replace(recalc.book, sheets=tuple(sheets))
    rewriter = dataclasses.replace(recalc.rewriter, book=book) if recalc.rewriter else None
    return dataclasses.replace(recalc, book=book, graph=build_graph(book), rewriter=rewriter)


def stale_cells(recalc: Recalc) -> set[CellRef]:
    return {ref for ref, verdict in recalc.verdicts.items() if verdict.status == "stale"}


def poison(folder: Path, count: int) -> None:
    """Replace every stored result by a wrong one and print the cells whose recomputed value then differs."""
    draw = random.Random(SEED)
    chosen = draw.sample(list(books(folder)), count)
    compared = differing = 0
    for name, book in chosen:
        clean, poisoned = recompute(book).values, recompute(poisoned_copy(book)).values
        for ref, value in clean.items():
            compared += 1
            if not alike(value, poisoned[ref]):
                differing += 1
                print(f"{name} {ref}: {value}, poisoned {poisoned[ref]}")
    print(f"{count} workbooks, {compared} cells, {differing} of them differ")


def poisoned_copy(book: Book) -> Book:
    filled = {ref for cell in book.formula_cells() if cell.array is not None for ref in cell.array.cells()}
    filled |= {ref for cell in book.cells() if cell.data_table is not None for ref in cell.data_table.range.cells()}
    sheets = []
    for sheet in book.sheets:
        cells = {
            place: dataclasses.replace(cell, stored=987_654.25) if cell.formula or cell.ref in filled else cell
            for place, cell in sheet.cells.items()
        }
        sheets.append(dataclasses.replace(sheet, cells=cells))
    return dataclasses.replace(book, sheets=tuple(sheets))


def alike(one: Scalar | Unsolved, other: Scalar | Unsolved) -> bool:
    if isinstance(one, Unsolved) or isinstance(other, Unsolved):
        return isinstance(one, Unsolved) and isinstance(other, Unsolved)
    first, second = as_number(one), as_number(other)
    if first is None or second is None:
        return one == other
    return abs(first - second) <= 1e-9 * max(1.0, abs(first))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--forge", type=int, metavar="N")
    parser.add_argument("--poison", type=int, metavar="N")
    arguments = parser.parse_args()
    if arguments.forge:
        forge(arguments.folder, arguments.forge)
    elif arguments.poison:
        poison(arguments.folder, arguments.poison)
    else:
        cover(arguments.folder)


if __name__ == "__main__":
    main()
