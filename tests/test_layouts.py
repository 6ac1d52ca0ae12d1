"""Careful workbooks in layouts of many authors: their roles are found and nothing in them is accused."""

import re
from importlib import import_module

import pytest
from layouts import Layout, workbook
from openpyxl.utils import get_column_letter, range_boundaries

import xlcheck

NAMES = [
    "agent_sheets",
    "equity_flows",
    "japanese_mid_year",
    "pence_three_statements",
    "rupees_net_cash",
]
OUTPUTS = ("terminal_value", "pv_terminal_value", "equity_value", "shares", "value_per_share", "current_price")


def layout_of(name: str) -> Layout:
    return import_module(f"layouts.{name}").LAYOUT


def cells(span: str) -> set[str]:
    """Return the cells of a range written ``Sheet!A1:C1``."""
    sheet, _, area = span.rpartition("!")
    left, top, right, bottom = range_boundaries(area)
    columns, rows = range(left, right + 1), range(top, bottom + 1)
    return {f"{sheet}!{get_column_letter(column)}{row}" for column in columns for row in rows}


def matches(got: set[str], true: set[str]) -> bool:
    """Tell whether two series are one, an opening or a terminal column apart."""
    return len(got & true) >= 0.8 * len(true) and len(got) <= len(true) + 1


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """Audit each layout once."""
    folder, done = tmp_path_factory.mktemp("layouts"), {}

    def audit(name: str):
        if name not in done:
            path = folder / f"{name}.xlsx"
            workbook(layout_of(name)).save(path)
            done[name] = xlcheck.audit(path).model_dump(mode="json")
        return done[name]

    return audit


def linked(book, cell: str) -> set[str]:
    """Return a cell and those it only repeats."""
    found = set()
    while cell not in found:
        found.add(cell)
        sheet, _, place = cell.rpartition("!")
        link = re.fullmatch(r"=-?(?:'?([^'!]+)'?!)?\$?([A-Z]+)\$?([0-9]+)", str(book[sheet][place].value))
        if link:
            cell = f"{link[1] or sheet}!{link[2]}{link[3]}"
    return found


def right(book, layout: Layout, role: str, cell: str) -> bool:
    ends = set().union(*(linked(book, true) for true in (layout.roles[role], *layout.also.get(role, ()))))
    return bool(linked(book, cell) & ends)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_of_the_valuation_are_found(name, audited):
    layout, roles = layout_of(name), audited(name)["roles"]
    wanted = {role: cell for role, cell in layout.roles.items() if role in OUTPUTS}
    book = workbook(layout)
    assert wanted
    assert {role for role in wanted if role not in roles or not right(book, layout, role, roles[role]["cell"])} == set()


@pytest.mark.parametrize("name", NAMES)
def test_no_role_is_bound_to_a_wrong_cell(name, audited):
    """A wrong binding is worse than none."""
    layout, roles = layout_of(name), audited(name)["roles"]
    book = workbook(layout)
    bound = {role: roles[role]["cell"] for role in layout.roles if role in roles and roles[role]["cell"]}
    assert {role: cell for role, cell in bound.items() if not right(book, layout, role, cell)} == {}


@pytest.mark.parametrize("name", NAMES)
def test_series_of_the_forecast_are_found(name, audited):
    layout, series = layout_of(name), audited(name)["series"]
    wrong = {}
    for role, span in layout.series.items():
        got = set(series[role]["cells"]) if role in series else set()
        if got and not any(matches(got, cells(one)) for one in (span, *layout.also.get(role, ()))):
            wrong[role] = sorted(got)
    assert wrong == {}
    assert len(set(layout.series) & set(series)) >= 0.8 * len(layout.series)


@pytest.mark.parametrize("name", NAMES)
def test_careful_work_is_not_accused(name, audited):
    results = audited(name)["results"]
    assert [
        (result["check_id"], [finding["message"] for finding in result["findings"]])
        for result in results
        if result["status"] in ("fail", "partial") and result["severity"] != "warn"
    ] == []


@pytest.mark.parametrize("name", NAMES)
def test_few_checks_stay_open(name, audited):
    """What cannot be told is unverifiable; on plain work that is rare."""
    results = audited(name)["results"]
    assert len([result for result in results if result["status"] == "unverifiable"]) <= 3


@pytest.mark.xfail(reason="an enterprise value that is NPV() over a row with the terminal value in its last flow")
def test_terminal_value_added_to_the_last_flow_is_not_accused(audited):
    assert [r["check_id"] for r in audited("present_value_function")["results"] if r["status"] == "fail"] == []
