"""Whole recalculation: each expected value is worked out by hand in the comment or is plain arithmetic."""

import pytest
from handmade import array, book, data_table, ref, table

from xlcheck.cells import CellError, CellRef
from xlcheck.engines import Unsolved
from xlcheck.recompute import recompute


def value(cells, where, **more):
    return recompute(book(cells, **more)).value(ref(where))


def kind(found):
    return found.kind if isinstance(found, Unsolved) else found


def test_stored_values_never_reach_the_recalculation():
    found = recompute(book({"A1": 2, "A2": ("=A1*3", 987654.25), "A3": ("=A2+1", 987654.25)}))
    assert found.value(ref("A3")) == 7.0


def test_a_blank_precedent_is_zero():
    assert value({"A1": "=B1+B2"}, "A1") == 0.0


def test_unary_minus_binds_tighter_than_power():
    cells = {"A1": 3, "B1": "=-A1^2", "B2": "=0-A1^2"}
    assert value(cells, "B1") == 9.0
    assert value(cells, "B2") == -9.0


def test_text_numbers_are_skipped_by_sum_and_used_by_operators():
    cells = {"A1": "5", "A2": 2, "B1": "=SUM(A1:A2)", "B2": "=A1+A2"}
    assert value(cells, "B1") == 2.0
    assert value(cells, "B2") == 7.0


def test_legacy_formula_takes_the_cell_of_its_own_row():
    cells = {"A1": 1, "A2": 2, "A3": 3, "B2": "=A1:A3*2"}
    assert value(cells, "B2") == 4.0


def test_aggregate_of_an_unmarked_array_expression_takes_the_cell_of_its_own_row():
    # Excel shows =SUM(@A1:A3*2): 4 beside A2, #VALUE! below the range; SUMPRODUCT needs no mark
    cells = {"A1": 1, "A2": 2, "A3": 3, "B2": "=SUM(A1:A3*2)", "B9": "=SUM(A1:A3*2)", "B3": "=SUMPRODUCT(A1:A3*2)"}
    found = recompute(book(cells))
    assert found.value(ref("B2")) == 4.0
    assert found.value(ref("B9")) == CellError(error="#VALUE!")
    assert found.value(ref("B3")) == 12.0


def test_marked_array_expression_is_calculated_whole():
    cells = {"A1": 1, "A2": 2, "A3": 3, "B9": array("B9", "=SUM(A1:A3*2)", "B9:B9", dynamic=True)}
    assert value(cells, "B9") == 12.0


def test_legacy_array_fills_its_range():
    cells = {"A1": 1, "A2": 2, "B1": array("B1", "=A1:A2*10", "B1:B2"), "C1": "=SUM(B1:B2)"}
    found = recompute(book(cells))
    assert found.value(ref("B2")) == 20.0
    assert found.value(ref("C1")) == 30.0


def test_legacy_array_spreads_a_row_over_its_range():
    cells = {"A1": 1, "B1": 5, "C1": array("C1", "=A1:B1*10", "C1:E2"), "F1": "=SUM(C2:D2)", "F2": "=ISNA(E2)"}
    found = recompute(book(cells))
    assert found.value(ref("C2")) == 10.0
    assert found.value(ref("F1")) == 60.0
    assert found.value(ref("F2")) is True


def test_stored_followers_of_an_array_are_not_taken_for_inputs():
    cells = {"A1": 1, "A2": 2, "B1": array("B1", "=A1:A2*10", "B1:B2", 999.0), "B2": 888}
    assert recompute(book(cells)).value(ref("B2")) == 20.0


def test_spill_is_read_through_its_anchor():
    spill = array("B1", "=A1:A3*2", "B1:B3", dynamic=True)
    cells = {"A1": 1, "A2": 2, "A3": 3, "B1": spill, "C1": "=SUM(_xlfn.ANCHORARRAY(B1))"}
    assert value(cells, "C1") == 12.0


def test_row_of_a_range_counts_as_array():
    # 10/1.1^1 + 10/1.1^2 + 10/1.1^3 with rows 1 to 3
    cells = {"A1": 10, "A2": 10, "A3": 10, "B1": "=SUMPRODUCT(A1:A3/1.1^ROW(A1:A3))"}
    assert value(cells, "B1") == pytest.approx(10 / 1.1 + 10 / 1.21 + 10 / 1.331)


def test_mid_year_discounting_by_row_numbers():
    cells = {"A1": 10, "A2": 10, "B1": "=SUMPRODUCT(A1:A2,1/1.1^(ROW(A1:A2)-0.5))"}
    assert value(cells, "B1") == pytest.approx(10 / 1.1**0.5 + 10 / 1.1**1.5)


def test_row_of_indirect_counts_from_one():
    cells = {"A1": 4, "B1": '=SUMPRODUCT(ROW(INDIRECT("1:"&A1)))'}
    assert value(cells, "B1") == 10.0


def test_offset_and_indirect():
    cells = {"A1": 7, "A2": 8, "B1": "=SUM(OFFSET(A1,0,0,2,1))", "B2": '=INDIRECT("A"&2)'}
    assert value(cells, "B1") == 15.0
    assert value(cells, "B2") == 8.0


def test_let_and_lambda():
    cells = {
        "A1": "=_xlfn.LET(_xlpm.x,3,_xlpm.x*2)",
        "A2": "=_xlfn.LAMBDA(_xlpm.x,_xlpm.x+1)(4)",
    }
    assert value(cells, "A1") == 6.0
    assert value(cells, "A2") == 5.0


def test_three_dimensional_sum():
    cells = {"X!A1": 1, "Y!A1": 2, "Z!A1": 3, "M!A1": "=SUM(X:Z!A1)"}
    assert value(cells, "M!A1") == 6.0


def test_names_constant_formula_chinese_and_of_one_sheet():
    names = [
        ("rate", None, "0.1"),
        ("double", None, "M!$A$1*2"),
        ("折现率", None, "M!$A$1"),
        ("local", "N", "N!$A$1"),
        ("local", None, "M!$A$1"),
    ]
    cells = {
        "A1": 5,
        "B1": "=rate*100",
        "B2": "=double",
        "B3": "=折现率",
        "B4": "=local",
        "B5": "=N!local",
        "N!A1": 9,
        "N!B1": "=local",
    }
    found = recompute(book(cells, names=names))
    assert [found.value(ref(f"B{row}")) for row in range(1, 6)] == [10.0, 10.0, 5.0, 5.0, 9.0]
    assert found.value(ref("N!B1")) == 9.0


def test_relative_name_moves_with_the_formula():
    # in the file a relative name counts from A1: one column to the left of A1 wraps to XFD
    names = [("left", None, "M!XFD1")]
    assert value({"A2": 6, "B2": "=left*2"}, "B2", names=names) == 12.0


def test_relative_name_that_computes_moves_with_the_formula():
    # at A1 the name reads the last row one column back, and the last row of its own column: from B3 these are A2 and B2
    names = [("above", None, "M!XFD1048576+M!A1048576"), ("twice", None, "above*2")]
    cells = {"A2": 6, "B2": 1, "B3": "=above", "C3": "=above*10", "B4": "=twice"}
    found = recompute(book(cells, names=names))
    assert found.value(ref("B3")) == 7.0
    assert found.value(ref("C3")) == 10.0


def test_structured_references_to_a_table_whose_name_begins_with_a_backslash():
    cells = {"A1": "n", "A2": 3, "B1": "m", "B2": "=\\_T.1[[#This Row],[n]]*2", "C1": "=SUM(\\_T.1[n])+1"}
    found = recompute(book(cells, tables=[table("\\_T.1", "A1:B2", ["n", "m"])]))
    assert found.value(ref("B2")) == 6.0
    assert found.value(ref("C1")) == 4.0


def test_name_of_a_deleted_range_is_the_reference_error():
    names = [("gone", None, "M!#REF!"), ("lost", None, "#REF!"), ("half", None, "M!$B$1+M!#REF!")]
    cells = {"B1": 5, "A1": "=gone+1", "A2": "=SUM(lost)", "A3": "=half*2", "A4": "=IFERROR(gone,3)"}
    found = recompute(book(cells, names=names))
    assert [str(found.value(ref(f"A{row}"))) for row in (1, 2, 3, 4)] == ["#REF!", "#REF!", "#REF!", "3.0"]


def test_word_that_is_no_name_is_the_name_error():
    cells = {"A1": "=SUM(nosuch)", "A2": "=IFERROR(nosuch,5)+1", "A3": "=COUNT(nosuch,A2)", "A4": '="nosuch"&A2'}
    found = recompute(book(cells))
    assert found.value(ref("A1")) == CellError(error="#NAME?")
    assert found.value(ref("A2")) == 6.0
    assert found.value(ref("A3")) == 1.0
    assert found.value(ref("A4")) == "nosuch6"


def test_structured_references():
    cells = {"A1": "item", "B1": "cost", "A2": "a", "B2": 3, "A3": "b", "B3": 4, "C2": "=Costs[[#This Row],[cost]]*2"}
    cells["D1"] = "=SUM(Costs[cost])"
    tables = [table("Costs", "A1:C3", ["item", "cost", "twice"])]
    found = recompute(book(cells, tables=tables))
    assert found.value(ref("C2")) == 6.0
    assert found.value(ref("D1")) == 7.0


def test_external_references_read_their_stored_values():
    external = {1: {CellRef("Data", 1, 1): 4.0, CellRef("Data", 2, 1): 6.0}}
    cells = {"A1": "=[1]Data!A1*2", "A2": "=SUM([1]Data!A1:A2)"}
    found = recompute(book(cells, external=external))
    assert found.value(ref("A1")) == 8.0
    assert found.value(ref("A2")) == 10.0


def test_external_reference_without_a_stored_value_is_unsolved():
    found = recompute(book({"A1": "=[1]Data!A1*2", "A2": "=A1+1"}))
    assert kind(found.value(ref("A1"))) == "external_link"
    assert kind(found.value(ref("A2"))) == "external_link"


def test_dates_of_1904():
    # day 0 is 1904-01-01; the serial 366 is 1905-01-01
    assert value({"A1": 366, "A2": "=YEAR(A1)"}, "A2", date1904=True) == 1905.0


def test_precision_as_displayed_rounds_each_formula_to_its_format():
    from dataclasses import replace

    from handmade import cell

    shown = replace(cell(ref("A1"), "=10/3"), number_format="0.00")
    assert value({"A1": shown, "A2": "=A1*3"}, "A2", full_precision=False) == pytest.approx(9.99)


def test_clock_is_the_valuation_date_or_unsolved():
    cells = {"A1": "=TODAY()", "A2": "=A1+1"}
    assert recompute(book(cells), valuation_date=45000.0).value(ref("A2")) == 45001.0
    assert kind(recompute(book(cells)).value(ref("A2"))) == "clock"


def test_valuation_date_is_counted_from_1900_in_a_workbook_of_1904_too():
    # 45000 is 2023-03-15, 1,462 days fewer in the other system
    found = recompute(book({"A1": "=TODAY()", "A2": "=YEAR(A1)"}, date1904=True), valuation_date=45000.0)
    assert found.value(ref("A1")) == 43538.0
    assert found.value(ref("A2")) == 2023.0


def test_random_numbers_and_their_cone_are_unsolved():
    assert kind(value({"A1": "=RAND()", "A2": "=A1*2"}, "A2")) == "random"


def test_feeds_are_unsolved_as_rich_data():
    assert kind(value({"A1": '=RTD("a",,"b")', "A2": "=A1*2"}, "A2")) == "rich_data"


def test_unknown_function_is_unsolved_and_named():
    found = value({"A1": "=MYFUNCTION(1)"}, "A1")
    assert kind(found) == "unsupported_function"
    assert "MYFUNCTION" in found.detail


def test_function_that_no_engine_knows_is_not_taken_for_the_error_that_iferror_catches():
    cells = {"A1": '=IFERROR(INFO("osversion"),5)', "A2": "=IFERROR(MYFUNCTION(1),5)*2", "A3": "=A1+1"}
    found = recompute(book(cells))
    assert [kind(found.value(ref(f"A{row}"))) for row in (1, 2, 3)] == ["unsupported_function"] * 3


def test_placeholder_of_a_function_of_another_spreadsheet_is_the_error_that_iferror_catches():
    # Excel knows no __xludf.DUMMYFUNCTION: the second argument is what it shows
    cells = {"A1": '=IFERROR(__xludf.DUMMYFUNCTION("GOOGLEFINANCE(""X"")"),12.5)', "A2": "=A1*2"}
    assert value(cells, "A2") == 25.0


def test_young_function_without_its_prefix_is_the_name_error():
    # Excel and LibreOffice show #NAME? until the cell is entered anew
    cells = {
        "A1": "=IFS(TRUE,1)",
        "A2": "=_xlfn.IFS(TRUE,1)",
        "A3": "=IFERROR(XLOOKUP(1,A2:A2,A2:A2),7)",
        "A4": "=A1+1",
    }
    found = recompute(book(cells))
    assert found.value(ref("A1")) == found.value(ref("A4")) == CellError(error="#NAME?")
    assert found.value(ref("A2")) == 1.0
    assert found.value(ref("A3")) == 7.0


def test_error_values_are_values():
    assert value({"A1": 0, "A2": "=1/A1"}, "A2") == CellError(error="#DIV/0!")


def test_xirr_over_a_range_with_blanks_is_left_to_the_other_engines():
    # −100 on day 0 and 121 two years (730 days) later: 10 % a year; 144 instead: 20 %; the blank row is skipped
    cells = {"A1": -100, "A3": 121, "B1": 44000, "B3": 44730, "C1": "=XIRR(A1:A3,B1:B3)", "C2": "=C1*2"}
    found = recompute(book(cells))
    assert found.value(ref("C1")) == pytest.approx(0.1, abs=1e-6)
    assert found.value(ref("C2")) == pytest.approx(0.2, abs=1e-6)
    assert found.what_if({"M!A3": 144.0}, ["M!C2"])["M!C2"] == pytest.approx(0.4, abs=1e-6)
    assert found.what_if({}, ["M!C2"])["M!C2"] == pytest.approx(0.2, abs=1e-6)


def test_search_for_the_nearest_value_passes_over_blank_cells():
    # 1, 5, 9 and five blank cells: Excel finds 9, the last value, in the third place
    cells = {"A1": 1, "A2": 5, "A3": 9, "B1": 10, "B2": 50, "B3": 90}
    cells |= {"N!A1": 9, "N!B1": 5, "N!C1": 1, "N!A2": "x", "N!B2": "y", "N!C2": "z"}
    formulas = {
        "=MATCH(99,A1:A8)": 3.0,
        "=INDEX(B:B,MATCH(1E+99,A:A,1))": 90.0,
        "=VLOOKUP(6,$A$1:$B$9,2)": 50.0,
        "=VLOOKUP(99,A1:B9,2,TRUE)": 90.0,
        '=IFERROR(VLOOKUP(0,A1:B9,2),"none")': "none",
        "=HLOOKUP(99,N!A1:H2,2)": "z",
        "=MATCH(0,N!A1:H1,-1)": 3.0,
        "=MATCH(5,A1:A8,0)": 2.0,
        "=INDEX(B1:B8,MATCH(MATCH(99,list)*2,list))": 50.0,
    }
    cells |= {f"D{row}": formula for row, formula in enumerate(formulas, 1)}
    found = recompute(book(cells, names=[("list", None, "M!$A$1:$A$20")]))
    assert [found.value(ref(f"D{row}")) for row in range(1, len(formulas) + 1)] == list(formulas.values())


def test_date_in_words_is_left_to_the_other_engines():
    # 31 December 2024 is day 45657 of the 1900 system; on YEAR of such a text the engines do not agree
    cells = {"A1": '=DATEVALUE("31-Dec-2024")', "A2": "31-Dec-2024", "A3": "=YEAR(A2)", "A4": "=DATEVALUE(A2)+1"}
    found = recompute(book(cells))
    assert found.value(ref("A1")) == 45657.0
    assert kind(found.value(ref("A3"))) == "engines_disagree"
    assert found.value(ref("A4")) == 45658.0


def test_fraction_of_a_year_has_no_sign():
    # 1 January 2024 to 1 July 2026 are two years and six months of 30 days, in either order
    cells = {"A1": "=YEARFRAC(DATE(2026,7,1),DATE(2024,1,1))", "A2": "=YEARFRAC(DATE(2024,1,1),DATE(2026,7,1))"}
    found = recompute(book(cells))
    assert found.value(ref("A1")) == found.value(ref("A2")) == 2.5


def test_rate_of_a_mortgage():
    # 1,000 a month for 360 months repay 150,000: 0.585025 % a month (annuity factor 150)
    found = value({"A1": "=RATE(360,-1000,150000)"}, "A1")
    assert (1 - (1 + found) ** -360) / found == pytest.approx(150, rel=1e-8)


@pytest.mark.parametrize("mode", ["auto", "autoNoTable"])
def test_data_table_with_two_inputs(mode):
    # corner = A1*A2; row input A1 takes 1, 2; column input A2 takes 10, 20
    cells = {"A1": 5, "A2": 6, "C1": "=A1*A2", "D1": 1, "E1": 2, "C2": 10, "C3": 20}
    cells["D2"] = data_table("D2:E3", "A1", "A2", 999.0)
    cells["G1"] = "=MAX(D2:E3)"
    found = recompute(book(cells, mode=mode))
    assert [found.value(ref(one)) for one in ("D2", "E2", "D3", "E3")] == [10.0, 20.0, 20.0, 40.0]
    assert found.value(ref("G1")) == 40.0


def test_data_tables_with_one_input_in_a_column_and_in_a_row():
    cells = {"A1": 5, "B1": "=A1+100"}
    cells |= {"D2": 1, "D3": 2, "E1": "=B1", "F1": "=B1*2", "E2": data_table("E2:F3", None, "A1")}
    cells |= {"I1": 7, "J1": 8, "H2": "=B1", "I2": data_table("I2:J2", "A1", None)}
    found = recompute(book(cells))
    assert [found.value(ref(one)) for one in ("E2", "E3", "F2", "F3")] == [101.0, 102.0, 202.0, 204.0]
    assert [found.value(ref(one)) for one in ("I2", "J2")] == [107.0, 108.0]


LOOP = {"A1": 100, "A2": "=A1+A3", "A3": "=A2*0.1"}
"""x = 100 + 0.1 x settles at 1000/9."""


def test_loop_settles_at_its_fixed_point():
    found = recompute(book(LOOP, iterate=True))
    assert found.value(ref("A2")) == pytest.approx(1000 / 9, rel=1e-10)
    assert [loop.state for loop in found.loops] == ["converged"]


def test_loop_without_iteration_is_unsolved_and_names_its_cells():
    found = recompute(book({**LOOP, "B1": "=A2"}))
    assert kind(found.value(ref("A2"))) == "cycle"
    assert "M!A2, M!A3" in found.value(ref("B1")).detail
    assert [loop.state for loop in found.loops] == ["iteration_off"]


def test_loop_that_grows_is_unsolved():
    found = recompute(book({"A1": "=A2+1", "A2": "=A1*2"}, iterate=True))
    assert kind(found.value(ref("A1"))) == "cycle"
    assert [loop.state for loop in found.loops] == ["diverging"]


def test_loop_whose_end_depends_on_the_start_is_indeterminate():
    found = recompute(book({"A1": 2, "B1": "=B2*A1", "B2": "=B1/A1"}, iterate=True))
    assert kind(found.value(ref("B1"))) == "indeterminate_loop"


def test_what_depends_on_a_loop_without_end_is_never_a_number():
    cells = {"A1": "=A2+1", "A2": "=A1*2", "B1": "=B2*0.5+A1", "B2": "=B1*0.5", "C1": "=B1+1"}
    found = recompute(book(cells, iterate=True))
    assert {kind(found.value(ref(one))) for one in ("A1", "A2", "B1", "B2", "C1")} == {"cycle"}


def test_guarded_loop_is_no_loop():
    cells = {"A1": 0, "A2": "=IF(A1=0,10,A3)", "A3": "=IF(A1=0,A2*2,20)"}
    found = recompute(book(cells))
    assert [found.value(ref(one)) for one in ("A2", "A3")] == [10.0, 20.0]
    assert found.loops == ()


def test_formulas_that_count_from_their_own_cell_are_no_loops():
    # each cell adds 1 to the one above; A4 sums the three above it: 1 + 2 + 3
    cells = {"A1": 1, "B1": 1, "A2": "=OFFSET(A2,-1,0)+1", "A3": "=OFFSET(A3,-1,0)+1", "A4": "=SUM(OFFSET(A4,-3,0,3))"}
    found = recompute(book(cells))
    assert [found.value(ref(f"A{row}")) for row in (2, 3, 4)] == [2.0, 3.0, 6.0]
    assert found.loops == ()


def test_formulas_that_count_from_their_own_cell_by_a_variable_are_no_loops():
    cells = {"A1": 1, "B1": 1, "A2": "=OFFSET(A2,-B1,0)+1", "A3": "=OFFSET(A3,-$B$1,0)+1"}
    cells |= {"A4": "=SUM(OFFSET(A4,-3*B1,0,3))", "A5": "=OFFSET(A5,-B1,0)/0"}
    found = recompute(book(cells))
    assert [found.value(ref(f"A{row}")) for row in (2, 3, 4)] == [2.0, 3.0, 6.0]
    assert found.value(ref("A5")) == CellError(error="#DIV/0!")
    assert found.loops == ()
    assert found.what_if({"M!A1": 10.0}, ["M!A3", "M!A4"]) == {"M!A3": 12.0, "M!A4": 33.0}


def test_long_chain_of_cells_that_count_from_themselves():
    cells = {"A1": 1, "B1": 1} | {f"A{row}": f"=OFFSET(A{row},-$B$1,0)+1" for row in range(2, 62)}
    found = recompute(book(cells))
    assert found.value(ref("A61")) == 61.0
    assert found.what_if({"M!A1": 5.0}, ["M!A61"]) == {"M!A61": 65.0}


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=SUM(OFFSET(B2,0,0,2,2))", 10.0),
        ("=OFFSET(B2,1,1)", 4.0),
        ("=SUM(OFFSET(B2:C2,1,0))", 7.0),
        ("=SUM(OFFSET($B$2,,1,2))", 6.0),
        ("=OFFSET(M!B3,-1,+1)", 2.0),
        ("=OFFSET(A1,-1,0)", CellError(error="#REF!")),
        ("=SUM(OFFSET(C3,0,0,-2,-2))", 10.0),
    ],
)
def test_offset_by_constants(formula, expected):
    cells = {"B2": 1, "C2": 2, "B3": 3, "C3": 4, "E9": formula}
    assert value(cells, "E9") == expected


def test_range_that_holds_its_own_cell_is_no_loop():
    cells = {"A1": 5, "B1": 1, "C1": "=INDEX(A1:C1,1)+1", "A2": "=SUM(OFFSET(A2,1,0,2,1))", "A3": 3, "A4": 4}
    found = recompute(book(cells))
    assert found.value(ref("C1")) == 6.0
    assert found.value(ref("A2")) == 7.0
    assert found.loops == ()


def test_slow_loop_is_taken_to_its_end():
    # x = 1 + 0.9 x settles at 10; a hundred plain steps would stop short
    found = recompute(book({"A1": "=1+0.9*A2", "A2": "=A1"}, iterate=True))
    assert found.value(ref("A1")) == pytest.approx(10, rel=1e-9)


def test_number_is_none_where_there_is_none():
    found = recompute(book({"A1": "text", "A2": "=NOSUCH(1)", "A3": "=1/0"}))
    assert [found.number(ref(one)) for one in ("A1", "A2", "A3")] == [None, None, None]


def test_engines_are_named_with_versions():
    assert set(recompute(book({"A1": "=1+1"})).engines) == {"cellrune", "formualizer", "formulas"}


@pytest.mark.parametrize("name", ["bad name", "A1", "1x", "x" * 300, "R1C1", "TRUE", "a&b", ""])
def test_odd_defined_name_does_not_cost_the_workbook(name):
    cells = {"A1": 2, "A2": ("=A1*3", 6.0), "A3": ("=good+1", 3.0)}
    found = recompute(book(cells, names=[(name, None, "M!$A$1"), ("good", None, "M!$A$1")]))
    assert found.value(ref("A2")) == 6.0
    assert found.verdicts[ref("A2")].status == "same"


def test_names_given_twice_do_not_cost_the_workbook():
    names = [("twice", None, "M!$A$1"), ("TWICE", None, "M!$A$2"), ("gone", None, "#REF!"), ("link", None, "[1]S!$A$1")]
    assert recompute(book({"A1": 2, "A2": "=A1*3"}, names=names)).value(ref("A2")) == 6.0


def test_sheet_names_that_need_quotes():
    cells = {"It's 50% & more!A1": 2, "R1C1!A1": 3, "2024!A1": 4, "M!A1": "='It''s 50% & more'!A1+'R1C1'!A1+'2024'!A1"}
    assert value(cells, "M!A1") == 9.0


def test_book_without_formulas_and_book_without_cells():
    assert recompute(book({"A1": 1})).values == {}
    assert recompute(book({})).values == {}


def test_ranges_as_large_as_the_sheet_do_not_hang():
    cells = {"A1": 1, "A9": ("=A1*2", 2.0), "N!B1": array("N!B1", "=M!A1:A2*2", "N!B1:XFD1048576", 2.0)}
    cells["D2"] = data_table("D2:XFD1048576", "A1", None, 5.0)
    found = recompute(book(cells))
    assert found.value(ref("A9")) == 2.0
    assert found.verdicts[ref("A9")].status == "same"


def test_array_that_no_engine_loads_is_unsolved_and_costs_nothing_else():
    odd = array("C3", "=A1:A2*2", "B1:B2", 2.0)
    found = recompute(book({"A1": 1, "C3": odd, "D1": "=C3+1", "A9": ("=A1*2", 2.0)}))
    assert found.value(ref("A9")) == 2.0
    assert not isinstance(found.value(ref("D1")), float)
