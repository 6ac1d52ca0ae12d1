"""The whole workbook: from the workbook part to sheets, names, tables, settings and links."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import get_args

from xlcheck.cells import RangeRef
from xlcheck.errors import SubmissionError
from xlcheck.intake import Package
from xlcheck.reading.links import external_links
from xlcheck.reading.parts import Relationship, of_kind, read_tree, relationships, where, workbook_part
from xlcheck.reading.sheet import Budget, SheetContext, read_sheet
from xlcheck.reading.styles import cell_styles
from xlcheck.reading.text import shared_strings, unescaped
from xlcheck.reading.xml import Element, whole_number
from xlcheck.workbook import Book, CalcSettings, DefinedName, Sheet, SheetState, Table

_NO_GRID = ("chartsheet", "dialogsheet")


def read_book(package: Package) -> Book:
    """Read a checked package; SubmissionError in one sentence for whatever cannot be read."""
    part = workbook_part(package)
    root = read_tree(package, part)
    assert root is not None
    if root.tag != "workbook":
        raise SubmissionError(f"{where(package, part)} holds <{root.tag}>, not a workbook")
    rels = relationships(package, part)
    calc = _calc(root)
    strings = shared_strings(package, _first(rels, "sharedStrings"))
    styles = cell_styles(package, _first(rels, "styles"))
    budget = Budget(package.limits.cells, package.limits.formula_characters)
    order: list[str] = []
    sheets: list[Sheet] = []
    tables: list[Table] = []
    for element in _children(root, "sheets"):
        name = unescaped(element.get("name"))
        if name in order:
            raise SubmissionError(f"{package.file_name}: two sheets are named {name!r}; each needs a name of its own")
        order.append(name)
        rel = rels.get(element.get("id"))
        if rel is not None and rel.kind in _NO_GRID:
            continue
        context = SheetContext(package.file_name, name, strings, styles, calc.date1904, package.limits, budget)
        sheet_part = _sheet_part(package, rel, name)
        sheets.append(_sheet(package, sheet_part, element, context))
        tables += _tables(package, sheet_part, name)
    if not sheets:
        raise SubmissionError(f"{package.file_name}: the workbook holds no worksheet")
    external, targets = external_links(package, root, rels)
    return Book(
        file_name=package.file_name,
        sha256=package.sha256,
        sheets=tuple(sheets),
        names=_names(root, order),
        tables=tuple(tables),
        calc=calc,
        application=_application(package),
        last_saved=_last_saved(package),
        external=external,
        external_names=targets,
    )


def _first(rels: Mapping[str, Relationship], kind: str) -> str | None:
    return next(iter(of_kind(dict(rels), kind)), None)


def _children(root: Element, tag: str) -> list[Element]:
    group = root.find(tag)
    return group.children if group else []


def _sheet_part(package: Package, rel: Relationship | None, name: str) -> str:
    if rel is None or rel.external or rel.target not in package:
        raise SubmissionError(f"{package.file_name}: sheet {name}: its part is missing; the file is damaged")
    return rel.target


def _sheet(package: Package, part: str, element: Element, context: SheetContext) -> Sheet:
    content = read_sheet(package.chunks(part), context)
    state: SheetState = "visible"
    for known in get_args(SheetState):
        if element.get("state") == known:
            state = known
    return Sheet(
        name=context.sheet,
        state=state,
        cells=content.cells,
        hidden_rows=frozenset(content.hidden_rows),
        hidden_columns=frozenset(content.hidden_columns),
        merged=tuple(content.merged),
        comments=_comments(package, part),
    )


def _comments(package: Package, part: str) -> dict[tuple[int, int], str]:
    """Return comment texts by place; a thread's own words replace the notice Excel writes for old programs."""
    rels = relationships(package, part)
    found: dict[tuple[int, int], str] = {}
    threads: dict[tuple[int, int], str] = {}
    for target in of_kind(rels, "comments"):
        root = read_tree(package, target)
        for comment in root.all("comment") if root else ():
            _add(found, comment, "".join(text.text for text in comment.all("t")))
    for target in of_kind(rels, "threadedComment"):
        root = read_tree(package, target)
        for comment in root.all("threadedComment") if root else ():
            _add(threads, comment, "\n".join(text.text for text in comment.all("text")))
    return {**found, **threads}


def _add(found: dict[tuple[int, int], str], comment: Element, text: str) -> None:
    try:
        bounds = RangeRef.parse("-!" + comment.get("ref"))
    except ValueError:
        return  # a comment at no cell says nothing about any
    place = bounds.first_row, bounds.first_column
    found[place] = f"{found[place]}\n{text}" if place in found else unescaped(text)


def _tables(package: Package, part: str, sheet: str) -> list[Table]:
    tables = []
    for target in of_kind(relationships(package, part), "table"):
        root = read_tree(package, target)
        if root is None:
            continue
        try:
            bounds = RangeRef.parse(f"{sheet}!{root.get('ref')}")
        except ValueError:
            raise SubmissionError(f"{where(package, target)}: {root.get('ref')!r} is no range") from None
        columns = tuple(unescaped(column.get("name")) for column in _children(root, "tableColumns"))
        header, totals = whole_number(root.get("headerRowCount"), 1), whole_number(root.get("totalsRowCount"))
        tables.append(Table(root.get("displayName") or root.get("name"), bounds, columns, header, totals))
    return tables


def _names(root: Element, order: list[str]) -> tuple[DefinedName, ...]:
    names = []
    for element in _children(root, "definedNames"):
        scope = whole_number(element.get("localSheetId"), -1)
        sheet = order[scope] if 0 <= scope < len(order) else None
        formula = element.text.strip()
        names.append(DefinedName(element.get("name"), sheet, formula.removeprefix("="), element.flag("hidden")))
    return tuple(names)


def _calc(root: Element) -> CalcSettings:
    calc = root.find("calcPr") or Element("calcPr", {})
    properties = root.find("workbookPr") or Element("workbookPr", {})
    mode = calc.get("calcMode", "auto")
    return CalcSettings(
        mode="manual" if mode == "manual" else "autoNoTable" if mode == "autoNoTable" else "auto",
        iterate=calc.flag("iterate"),
        iterate_count=whole_number(calc.get("iterateCount"), 100),
        iterate_delta=_positive(calc.get("iterateDelta"), 0.001),
        full_precision=calc.flag("fullPrecision", default=True),
        date1904=properties.flag("date1904"),
        full_calc_on_load=calc.flag("fullCalcOnLoad"),
    )


def _positive(text: str, default: float) -> float:
    try:
        number = float(text)
    except ValueError:
        return default
    return number if 0 < number < 1e300 else default


def _application(package: Package) -> str:
    root = read_tree(package, "docProps/app.xml")
    name = root.find("Application") if root else None
    return name.text.strip() if name else ""


def _last_saved(package: Package) -> datetime | None:
    root = read_tree(package, "docProps/core.xml")
    modified = root.find("modified") if root else None
    try:
        moment = datetime.fromisoformat(modified.text.strip()) if modified else None
    except ValueError:
        return None
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
