"""Careful workbooks in layouts of many authors: their roles are found and nothing in them is accused."""

import re
from importlib import import_module

import pytest
from layouts import Layout, workbook, write
from openpyxl.utils import get_column_letter, range_boundaries

import xlcheck

NAMES = [
    "agent_sheets",
    "assumptions_by_key",
    "averaged_terminal_values",
    "chance_of_failure",
    "equity_flows",
    "excess_returns",
    "japanese_mid_year",
    "labels_on_the_right",
    "net_income_to_firm",
    "peers_and_exit_on_ebit",
    "pence_three_statements",
    "present_value_function",
    "quarterly_flows",
    "rupees_net_cash",
    "russian_roubles",
    "sum_of_the_parts",
    "two_columns_of_methods",
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
        link = re.fullmatch(r"=-?(?:'?([^'!*+/]+)'?!)?\$?([A-Z]+)\$?([0-9]+)", str(book[sheet][place].value))
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


@pytest.mark.parametrize("name", [name for name in NAMES if name != "sum_of_the_parts"])
def test_few_checks_stay_open(name, audited):
    """What cannot be told is unverifiable; on plain work that is rare."""
    results = audited(name)["results"]
    assert len([result for result in results if result["status"] == "unverifiable"]) <= 3


def test_flows_to_equity_have_no_enterprise_value(audited):
    roles = audited("equity_flows")["roles"]
    assert "enterprise_value" not in roles
    assert roles["equity_value"]["cell"] == "FCFE Valuation!D39"


RIGHT = {
    "flow from EBITDA": "D18:J18 =D8-D11-D14+D17",
    "capital spending rounded": "D14:J14 =ROUND(D5*$B14,0)",
    "tax rate of each year": (
        "A43 Effective tax rate\nD43:J43 20% | 21% | 22% | 23% | 24% | 25.2% | 25.2%\nD11:J11 =D10*D43"
    ),
    "tax losses used first": (
        "A40 Tax losses brought forward\nC40 900\nA41 Tax losses used\nA42 Tax losses carried forward\nC42 =C40\n"
        "D41:J41 =MIN(D10,C42)\nD42:J42 =C42-D41\nD11:J11 =MAX(0,D10-D41)*$B$11"
    ),
    "minority at a multiple of its profit": (
        "A40 Share of profit of minorities\nC40 4.1\nA41 P/E of listed peers\nC41 22\nC30 =C40*C41"
    ),
    "some cash kept for operations": (
        "C29 ='Balance Sheet'!D7+'Balance Sheet'!D8-'Balance Sheet'!D14-('Balance Sheet'!D15-0.02*C5)"
    ),
}
WRONG = {
    "growth above the rate": ("C24 16%", "fatal.growth-not-below-wacc", "DCF!C24"),
    "terminal value of the year before": ("C26 =I18*(1+C24)/(C23-C24)", "terminal.gordon-identity", "DCF!C26"),
    "growth added": ("C26 =J18*(1+C24)/(C23+C24)", "terminal.gordon-identity", "DCF!C26"),
    "terminal value on a present value": ("C26 =J21*(1+C24)/(C23-C24)", "fatal.double-discounting", "DCF!C26"),
    "terminal value a year short": ("C27 =C26/(1+C23)^I19", "terminal.discounted-once", "DCF!C27"),
    "capital spending of the year before": ("D14:J14 =C5*$B14", "basis.period-alignment", "DCF!D14:J14"),
    "a plug in one year": ("F5 =E5*(1+F6)+37", "recompute.no-hardcoded-forecast", "DCF!F5"),
    "net cash deducted": ("C31 =C28+C29-C30", "bridge.signs", "DCF!C31"),
    "price over value": ("C38 =C37/C35-1", "bridge.upside", "DCF!C38"),
}


def audit_with(change: str, path) -> list[dict]:
    """Audit the rupee valuation in which some lines of its sheet DCF are written anew."""
    book = workbook(layout_of("rupees_net_cash"))
    for line in change.splitlines():
        write(book["DCF"], line)
    book.save(path)
    return xlcheck.audit(path).model_dump(mode="json")["results"]


@pytest.mark.parametrize("what", RIGHT)
def test_right_variants_are_not_accused(what, tmp_path):
    results = audit_with(RIGHT[what], tmp_path / "variant.xlsx")
    bad = [r for r in results if r["status"] in ("fail", "partial") and r["severity"] != "warn"]
    assert [(r["check_id"], r["findings"][0]["message"]) for r in bad] == []


@pytest.mark.parametrize("what", WRONG)
def test_one_slip_is_found_at_its_cell(what, tmp_path):
    change, check_id, place = WRONG[what]
    results = {result["check_id"]: result for result in audit_with(change, tmp_path / "slip.xlsx")}
    assert results[check_id]["status"] == "fail"
    named = {cell for finding in results[check_id]["findings"] for cell in cells(finding["cell"] or "DCF!A1")}
    assert named & cells(place)
