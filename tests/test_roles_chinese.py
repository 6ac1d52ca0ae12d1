"""Valuations as Chinese and Japanese analysts set them out: stages, years going down, traditional labels."""

import openpyxl
import pytest

from xlcheck.graph import build_graph
from xlcheck.recompute import recompute
from xlcheck.roles.locate import locate
from xlcheck.workbook import load


def model(changes=None):
    """Return cells of a six-year model; years run over B:G, the present values of two stages are summed apart."""
    cells = {
        "A1": ["百万元", "2026E", "2027E", "2028E", "2029E", "2030E", "2031E"],
        "A2": ["企业自由现金流", 80.0, 90.0, 98.0, 104.0, 108.0, 110.0],
        "A3": ["折现系数", *(f"=1/(1+$B$6)^{year}" for year in range(1, 7))],
        "A4": ["现值", *(f"={column}2*{column}3" for column in "BCDEFG")],
        "A6": ["WACC", 0.09],
        "A7": ["永续增长率", 0.02],
        "A8": ["第一阶段", "=SUM(B4:D4)"],
        "A9": ["第二阶段", "=E4+F4+G4"],
        "A10": ["终值", "=G2*(1+B7)/(B6-B7)"],
        "A11": ["终值现值", "=B10*G3"],
        "A12": ["企业价值", "=B8+B9+B11"],
        "A13": ["净债务", 260.0],
        "A14": ["股权价值", "=B12-B13"],
        "A15": ["总股本（百万股）", 120.0],
        "A16": ["每股价值", "=B14/B15"],
        "A17": ["股价", 9.5],
        "A18": ["相对现价", "=B16/B17-1"],
    }
    return cells | (changes or {})


def roles_of(cells, tmp_path):
    book = openpyxl.Workbook()
    for where, values in cells.items():
        for offset, value in enumerate(values):
            book.active.cell(int(where[1:]), 1 + offset, value)
    book.save(tmp_path / "model.xlsx")
    read = load(tmp_path / "model.xlsx")
    return locate(read, recompute(read), build_graph(read))


def test_stages_summed_apart_are_one_row_of_present_values(tmp_path):
    roles = roles_of(model(), tmp_path)
    assert [cell.address for cell in roles.series["fcff"].cells] == ["B2", "C2", "D2", "E2", "F2", "G2"]
    assert roles.scalars["sum_pv_fcff"].cell is None
    assert roles.scalars["enterprise_value"].cell.address == "B12"


@pytest.mark.parametrize("formula", ["=B16/B17-1", "=(B16-B17)/B17"])
@pytest.mark.parametrize("label", ["相对现价", "测算结论", "差幅"])
def test_value_over_price_less_one_is_the_upside_whatever_it_is_called(label, formula, tmp_path):
    roles = roles_of(model({"A18": [label, formula]}), tmp_path)
    assert roles.scalars["upside"].cell.address == "B18"


def test_another_ratio_to_the_price_is_no_upside(tmp_path):
    roles = roles_of(model({"A18": ["安全边际", "=1-B17/B16"]}), tmp_path)
    assert "upside" not in roles.scalars


def test_traditional_labels_are_read_as_simplified_ones(tmp_path):
    words = {
        "A2": ["企業自由現金流量", *model()["A2"][1:]],
        "A6": ["加權平均資金成本", 0.09],
        "A7": ["永續成長率", 0.02],
        "A13": ["淨負債", 260.0],
        "A15": ["流通在外股數（百萬股）", 120.0],
        "A17": ["收盤價", 9.5],
    }
    found = roles_of(model(words), tmp_path).scalars
    wanted = {"wacc": "B6", "terminal_growth": "B7", "net_debt": "B13", "shares": "B15", "current_price": "B17"}
    assert {role: found[role].cell.address for role in wanted} == wanted


def test_years_going_down_in_words_leave_the_lines_to_their_headings(tmp_path):
    cells = {
        "A1": ["年度", "売上高", "営業利益", "NOPAT", "減価償却費", "設備投資", "FCF", "割引係数", "現在価値"],
        "A2": ["2025年度", 500.0],
        "A9": ["現在価値合計", "=SUM(I3:I7)"],
        "A10": ["WACC", 0.07],
        "A11": ["永久成長率", 0.01],
        "A12": ["法人税率", 0.3],
        "A13": ["ターミナルバリュー", "=G7*(1+B11)/(B10-B11)"],
        "A14": ["企業価値", "=B9+B13*H7"],
        "A15": ["純有利子負債", 80.0],
        "A16": ["株主価値", "=B14-B15"],
    }
    for year in range(5):
        row = 3 + year
        lines = [f"=B{row - 1}*1.03", f"=B{row}*0.1", f"=C{row}*(1-$B$12)", 20.0 + year, 24.0, f"=D{row}+E{row}-F{row}"]
        cells[f"A{row}"] = [f"{2026 + year}年度", *lines, f"=1/(1+$B$10)^{year + 1}", f"=G{row}*H{row}"]
    found = roles_of(cells, tmp_path).series
    wanted = {"revenue": "B", "ebit": "C", "nopat": "D", "depreciation": "E", "capex": "F", "fcff": "G"}
    assert {role: [cell.address for cell in found[role].cells] for role in wanted} == {
        role: [f"{column}{row}" for row in range(3, 8)] for role, column in wanted.items()
    }


@pytest.mark.parametrize(
    ("factor", "value"),
    [("=1/(1+B7)^5/B7", "=G2*G3"), ("=F3/(B7-B8)", "=G2*G3"), ("=F3/B7", "=G2*G3")],
)
def test_a_last_column_for_all_years_after_is_the_terminal_value(factor, value, tmp_path):
    cells = {
        "A1": ["万元", "2026年", "2027年", "2028年", "2029年", "2030年", "永续期"],
        "A2": ["企业自由现金流量", 80.0, 90.0, 98.0, 104.0, 108.0, 96.0],
        "A3": ["折现系数", *(f"=1/(1+$B$7)^{year}" for year in range(1, 6)), factor],
        "A4": ["现值", *(f"={column}2*{column}3" for column in "BCDEF"), value],
        "A7": ["折现率（WACC）", 0.09],
        "A8": ["永续增长率", 0.02],
        "A9": ["经营性资产价值", "=SUM(B4:G4)"],
        "A11": ["付息债务", 300.0],
        "A12": ["股东全部权益价值", "=B9-B11"],
    }
    roles = roles_of(cells, tmp_path)
    assert roles.scalars["pv_terminal_value"].cell.address == "G4"
    assert [cell.address for cell in roles.series["fcff"].cells] == ["B2", "C2", "D2", "E2", "F2"]


def test_an_enterprise_value_taken_to_the_unit_of_the_bridge_is_bound_itself(tmp_path):
    roles = roles_of(model({"A13": ["净债务（万元）", 26000.0], "A14": ["股权价值（万元）", "=B12*100-B13"]}), tmp_path)
    assert roles.scalars["enterprise_value"].cell.address == "B12"
    assert roles.scalars["net_debt"].cell.address == "B13"


def test_price_over_value_is_not_the_value(tmp_path):
    ratio = {"A18": ["株価/理論株価", "=B17/B16"], "A16": ["理論株価（円/株）", "=B14/B15"], "A17": ["株価", 9.5]}
    assert roles_of(model(ratio), tmp_path).scalars["value_per_share"].cell.address == "B16"
