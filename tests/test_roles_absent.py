"""Where there is no valuation, or two of equal standing, nothing is guessed."""

import openpyxl
import pytest
from roles_models import Layout, build, names

from xlcheck.graph import build_graph
from xlcheck.recompute import recompute
from xlcheck.roles.locate import locate
from xlcheck.workbook import load


def roles_of(book, tmp_path):
    path = tmp_path / "book.xlsx"
    book.save(path)
    read = load(path)
    return locate(read, recompute(read), build_graph(read))


def filled(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return book


def test_a_text_binds_nothing(tmp_path):
    book = filled(
        [
            ["Discounted cash flow valuation of Kestrel Optics"],
            ["We use a WACC of 9% and a terminal growth rate of 2%, giving a value per share of 14.2."],
            ["Enterprise value"],
            ["See the memo for WACC, equity value and shares outstanding."],
        ]
    )
    roles = roles_of(book, tmp_path)
    assert names(roles) == {}
    assert roles.headline is None


def test_a_peer_table_binds_nothing(tmp_path):
    header = ["Company", "Share price", "Market cap", "Enterprise value", "EV/EBITDA", "Beta", "WACC"]
    peers = [["Aster", 12.0, 900, 1100, 8.5, 1.1, 0.08], ["Brook", 31.0, 2500, 2600, 9.1, 0.9, 0.075]]
    roles = roles_of(filled([header, *peers, ["Median", 21.5, 1700, 1850, 8.8, 1.0, 0.0775]]), tmp_path)
    assert names(roles) == {}


def test_headings_of_a_sensitivity_table_bind_nothing(tmp_path):
    rows = [
        ["Sensitivity of value per share"],
        ["WACC max 20 %", "WACC min 5 %", "Terminal growth max 4 %"],
        ["WACC", 0.08, 0.09, 0.10],
        [0.01, 12.0, 11.0, 10.0],
        [0.02, 13.0, 12.0, 11.0],
    ]
    assert names(roles_of(filled(rows), tmp_path)) == {}


def test_an_empty_template_binds_nothing(tmp_path):
    labels = ["WACC", "Terminal growth rate", "Sum of PV of FCF", "Terminal value", "Enterprise value", "Net debt"]
    labels += ["Equity value", "Shares outstanding", "Value per share"]
    assert names(roles_of(filled([[label] for label in labels]), tmp_path)) == {}


def test_a_buyout_model_without_discounting_binds_nothing(tmp_path):
    rows = [
        ["Entry EBITDA", 100],
        ["Exit multiple", 8],
        ["Enterprise value", "=B1*B2"],
        ["Net debt", 300],
        ["Equity value", "=B3-B4"],
    ]
    assert names(roles_of(filled(rows), tmp_path)) == {}


def two_valuations(second_revenue):
    """Two complete models of the same build on two sheets; they differ in revenue only."""
    first = build(Layout(sheet="Alpha")).book
    other = build(Layout(sheet="Beta")).book.active
    copy = first.create_sheet("Beta")
    for row in other.iter_rows():
        for cell in row:
            copy.cell(cell.row, cell.column, cell.value)
    revenue = next(row for row in range(1, 40) if copy.cell(row, 1).value == "Revenue")
    copy.cell(revenue, 2, second_revenue)
    return first


def test_two_live_valuations_of_equal_standing_are_ambiguous(tmp_path):
    roles = roles_of(two_valuations(700.0), tmp_path)
    assert roles.headline_ambiguous
    assert roles.headline is None
    assert "value_per_share" not in roles.scalars
    assert {located.cell.sheet for located in roles.ambiguous["value_per_share"]} == {"Alpha", "Beta"}
    assert {block.name.split(":")[0] for block in roles.alternates} == {"Alpha", "Beta"}


def test_a_summary_that_repeats_one_valuation_decides(tmp_path):
    book = two_valuations(700.0)
    summary = book.create_sheet("Summary", 0)
    label = next(row for row in range(1, 60) if book["Beta"].cell(row, 1).value == "Value per share")
    summary["A1"], summary["B1"] = "Value per share", f"=Beta!B{label}"
    summary["A2"], summary["B2"] = "Share price", 11.5
    summary["A3"], summary["B3"] = "Upside", "=B1/B2-1"
    roles = roles_of(book, tmp_path)
    assert not roles.headline_ambiguous
    assert names(roles)["value_per_share"] == f"Beta!B{label}"


def test_a_pasted_copy_is_an_alternate(tmp_path):
    model = build(Layout(sheet="Live"))
    path = tmp_path / "live.xlsx"
    model.book.save(path)
    recalc = recompute(load(path))
    pasted = model.book.create_sheet("Old copy", 0)
    for row in model.book["Live"].iter_rows():
        for cell in row:
            formula = isinstance(cell.value, str) and cell.value.startswith("=")
            value = recalc.what_if({}, [f"Live!{cell.coordinate}"]) if formula else {}
            pasted.cell(cell.row, cell.column, value.get(f"Live!{cell.coordinate}", cell.value))
    roles = roles_of(model.book, tmp_path)
    assert names(roles)["value_per_share"] == model.cells["value_per_share"]


@pytest.mark.parametrize("role", ["wacc", "value_per_share"])
def test_the_graders_binding_beats_inference(role, tmp_path):
    model = build(Layout())
    path = tmp_path / "model.xlsx"
    model.book.save(path)
    book = load(path)
    roles = locate(book, recompute(book), build_graph(book), {role: "DCF!B6"})
    assert str(roles[role].cell) == "DCF!B6"
    assert roles[role].how == "binding"
    assert roles[role].confidence == 1.0


def test_a_sheet_of_the_pessimistic_case_is_no_rival(tmp_path):
    book = two_valuations(700.0)
    book["Beta"].title = "Forecast PESS"
    roles = roles_of(book, tmp_path)
    assert not roles.headline_ambiguous
    assert roles["value_per_share"].cell.sheet == "Alpha"


def test_a_capitalisation_rate_in_its_own_cell_is_seen_through(tmp_path):
    rows = [
        ["Discount rate", 0.1],
        ["Growth rate in perpetuity", 0.03],
        ["Year", 2026, 2027, 2028],
        ["Free cash flow", 50, 55, 60],
        ["Discount factor", "=1/(1+$B$1)^1", "=1/(1+$B$1)^2", "=1/(1+$B$1)^3"],
        ["PV of free cash flow", "=B4*B5", "=C4*C5", "=D4*D5"],
        ["Capitalization rate", "=B1-B2"],
        ["Terminal value", "=D4*(1+B2)/B7"],
        ["Present value of terminal value", "=B8*D5"],
        ["Enterprise value", "=SUM(B6:D6)+B9"],
    ]
    roles = roles_of(filled(rows), tmp_path)
    found = names(roles)
    wanted = {"wacc": "B1", "terminal_growth": "B2", "terminal_value": "B8", "pv_terminal_value": "B9"}
    assert {role: found.get(role) for role in wanted} == {role: f"Sheet!{cell}" for role, cell in wanted.items()}
    assert roles["sum_pv_fcff"].cell is None
    assert roles["sum_pv_fcff"].expression == "SUM(Sheet!B6:D6)"
