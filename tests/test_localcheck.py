"""The local check and the verdicts: which stored value is accused, and which is not."""

from dataclasses import replace

import pytest
from handmade import array, book, cell, data_table, ref, table

from xlcheck.cells import CellError, CellRef
from xlcheck.localcheck.agreement import agree, as_displayed, displayed_decimals
from xlcheck.recompute import recompute


def verdicts(cells, **more):
    found = recompute(book(cells, **more)).verdicts
    return {str(one).removeprefix("M!"): verdict.status for one, verdict in found.items()}


def test_a_value_that_follows_is_same():
    assert verdicts({"A1": 2, "A2": ("=A1*3", 6.0)}) == {"A2": "same"}


def test_forged_value_is_stale_with_both_values():
    found = recompute(book({"A1": 2, "A2": ("=A1*3", 999.0)})).verdicts[ref("A2")]
    assert (found.status, found.stored, found.expected, found.recomputed) == ("stale", 999.0, 6.0, 6.0)
    assert set(found.opinions) == {"cellrune", "formualizer", "formulas"}


def test_dependants_of_a_forged_cell_are_consequences():
    # A3 and A4 still hold what follows from the true 6
    cells = {"A1": 2, "A2": ("=A1*3", 999.0), "A3": ("=A2+1", 7.0), "A4": ("=A3*2+A2", 20.0)}
    assert verdicts(cells) == {"A2": "stale", "A3": "same", "A4": "same"}


def test_only_the_first_cell_of_a_stale_chain_is_accused():
    # everything below A2 was calculated from the forged 999
    cells = {"A1": 2, "A2": ("=A1*3", 999.0), "A3": ("=A2+1", 1000.0), "A4": ("=A3*2", 2000.0)}
    assert verdicts(cells) == {"A2": "stale", "A3": "same", "A4": "same"}


def test_two_forged_cells_of_one_chain_are_both_accused():
    cells = {"A1": 2, "A2": ("=A1*3", 999.0), "A3": ("=A2+1", 55.0), "A4": ("=A3*2", 110.0)}
    assert verdicts(cells) == {"A2": "stale", "A3": "stale", "A4": "same"}


def test_forged_cell_in_a_loop_is_found_at_its_place():
    # x = 100 + 0.1 x; A2 holds another number, A3 what follows from it
    loop = {"A1": 100, "A2": ("=A1+A3", 300.0), "A3": ("=A2*0.1", 30.0)}
    assert verdicts(loop, iterate=True) == {"A2": "stale", "A3": "same"}


def test_loop_stopped_at_the_iteration_delta_is_same():
    x = 1000 / 9
    loop = {"A1": 100, "A2": ("=A1+A3", x + 0.0004), "A3": ("=A2*0.1", x / 10)}
    assert set(verdicts(loop, iterate=True).values()) == {"same"}


def test_file_without_stored_values_claims_nothing():
    assert verdicts({"A1": 2, "A2": "=A1*3"}) == {"A2": "no_stored_value"}


def test_all_zero_placeholders_claim_nothing():
    cells = {"A1": 2, "A2": ("=A1*3", 0.0), "A3": ("=A2+1", 0.0)}
    assert set(verdicts(cells, full_calc_on_load=True).values()) == {"no_stored_value"}
    assert set(verdicts(cells).values()) == {"stale", "same"} or verdicts(cells)["A2"] == "stale"


def test_readers_of_a_cell_without_a_stored_value_are_not_accused():
    found = verdicts({"A1": 2, "A2": "=A1*3", "A3": ("=A2+1", 50.0)})
    assert found["A2"] == "no_stored_value"
    assert found["A3"] in ("unsolved", "same")


def test_formula_without_precedents_is_judged_too():
    assert verdicts({"A1": ("=2*3", 7.0)}) == {"A1": "stale"}


def test_text_logical_and_error_results():
    cells = {
        "A1": "ab",
        "B1": ('=A1&"c"', "abc"),
        "B2": ("=1=1", True),
        "B3": ("=1/0", CellError(error="#DIV/0!")),
        "B4": ('=A1&"c"', "forged"),
        "B5": ("=1=1", False),
    }
    found = verdicts(cells)
    assert [found[f"B{row}"] for row in range(1, 6)] == ["same", "same", "same", "stale", "stale"]


def test_arrays_spills_and_tables_are_judged_from_stored_values():
    cells = {
        "A1": "n",
        "A2": 1,
        "A3": 2,
        "B2": array("B2", "=A2:A3*10", "B2:B3", 10.0),
        "B3": 20,
        "C2": array("C2", "=A2:A3+1", "C2:C3", 2.0, dynamic=True),
        "C3": 3,
        "D1": ("=SUM(List[n])", 3.0),
        "D2": ("=SUM(_xlfn.ANCHORARRAY(C2))", 5.0),
        "D3": ("=SUM(B2:B3)", 31.0),
    }
    found = verdicts(cells, tables=[table("List", "A1:A3", ["n"])])
    assert found == {"B2": "same", "B3": "same", "C2": "same", "C3": "same", "D1": "same", "D2": "same", "D3": "stale"}


def test_forged_follower_of_an_array_is_found():
    cells = {"A1": 1, "A2": 2, "B1": array("B1", "=A1:A2*10", "B1:B2", 10.0), "B2": 21}
    assert verdicts(cells) == {"B1": "same", "B2": "stale"}


def test_spread_followers_of_an_array_are_judged():
    cells = {"A1": 1, "B1": 5, "C1": array("C1", "=A1:B1*10", "C1:D2", 10.0), "D1": 50, "C2": 10, "D2": 51}
    assert verdicts(cells) == {"C1": "same", "D1": "same", "C2": "same", "D2": "stale"}


def test_stored_value_that_only_another_engine_gives_stands_and_the_recomputed_one_is_not_known():
    # three minutes before five: 4.95 hours of 24; the primary engine calls a negative minute an error
    found = recompute(book({"A1": ("=TIME(5,-3,0)", 4.95 / 24)})).verdicts[ref("A1")]
    assert (found.status, found.recomputed) == ("same", None)
    assert found.unsolved is not None
    assert found.unsolved.kind == "engines_disagree"


def test_net_present_value_at_a_rate_found_by_search_may_lie_beside_zero():
    # 10 % exactly; the stored rate is a search's, and the value at that rate is what its last digits leave
    cells = {"A1": -1e6, "A2": 1.1e6, "B1": ("=IRR(A1:A2)", 0.1 + 1e-10), "B2": ("=NPV(B1,A2)+A1", -1e6 / 1.1 * 1e-10)}
    assert verdicts(cells) == {"B1": "same", "B2": "same"}


def test_function_unknown_to_the_engines_under_iferror_is_never_accused():
    cells = {"A1": ('=IFERROR(INFO("osversion"),5)', 14.3), "A2": ("=IFERROR(A3/0,7)", 8.0)}
    assert verdicts(cells) == {"A1": "unsolved", "A2": "stale"}


def test_text_that_reads_as_a_date_in_one_language_only_is_not_accused():
    # 3 April where the day comes first, 4 March where the month does
    cells = {"A1": ('="03/04/2024"+0', 45385.0)}
    assert verdicts(cells) == {"A1": "unsolved"}


def test_reader_of_a_cell_in_doubt_is_not_accused_for_it():
    # 10 days lie between; the forged 12 is only doubted, for engines know DATEDIF badly: what follows from 10 is right
    cells = {
        "A1": ('=DATEDIF(B1,B2,"d")', 12.0),
        "A2": ("=A1+1", 11.0),
        "A3": ("=A1*2", 21.0),
        "B1": 44000,
        "B2": 44010,
    }
    assert verdicts(cells) == {"A1": "unsolved", "A2": "same", "A3": "stale"}


@pytest.mark.parametrize(
    ("formula", "right"),
    [
        ("=AVERAGE(X1:X3!A1)", 2.0),
        ("=SUM(X1:X3!A1:A2)", 6.0),
        ("=rate*(1-tax)", 0.075),
        ("=twice(X2!A1)+1", 5.0),
        ("=above+1", 2.0),
        ("=_xlfn.SINGLE(X3!A1)", 3.0),
    ],
)
def test_forgery_is_found_where_only_one_engine_reads_the_formula_as_it_stands(formula, right):
    cells = {"X1!A1": 1, "X2!A1": 2, "X3!A1": 3, "B1": 1, "C1": 0.1}
    names = [("rate", None, "M!$C$1"), ("tax", None, "0.25"), ("above", None, "M!A1048576")]
    names.append(("twice", None, "_xlfn.LAMBDA(_xlpm.n,_xlpm.n*2)"))
    assert verdicts(cells | {"B2": (formula, right)}, names=names) == {"B2": "same"}
    assert verdicts(cells | {"B2": (formula, right * 1.01)}, names=names) == {"B2": "stale"}


def test_young_function_without_its_prefix_is_accused_neither_as_an_error_nor_as_a_value():
    error = CellError(error="#NAME?")
    assert verdicts({"A1": ("=IFS(TRUE,1)", error), "A2": ("=A1+1", error)}) == {"A1": "same", "A2": "same"}
    assert verdicts({"A1": ("=IFS(TRUE,1)", 1.0)}) == {"A1": "unsolved"}


def test_external_references_are_judged_from_their_stored_values():
    external = {1: {CellRef("Data", 1, 1): 4.0}}
    cells = {"A1": ("=[1]Data!A1*2", 8.0), "A2": ("=[1]Data!A1*3", 13.0), "A3": ("=[1]Data!B9", 5.0)}
    assert verdicts(cells, external=external) == {"A1": "same", "A2": "stale", "A3": "unsolved"}


def test_indirect_reads_its_own_sheet():
    cells = {"A1": "B2", "B2": 6, "C1": ("=INDIRECT(A1)*2", 12.0), "C2": ("=INDIRECT(A1)*2", 13.0)}
    assert verdicts(cells) == {"C1": "same", "C2": "stale"}


def test_inner_subtotals_are_left_out_by_outer_ones():
    cells = {"A1": 1, "A2": 2, "A3": ("=SUBTOTAL(9,A1:A2)", 3.0), "A4": ("=SUBTOTAL(9,A1:A3)", 3.0)}
    assert verdicts(cells) == {"A3": "same", "A4": "same"}


def test_clock_is_never_accused():
    cells = {"A1": ("=TODAY()", 40000.0), "A2": ("=A1+1", 40001.0)}
    found = recompute(book(cells), valuation_date=45000.0).verdicts
    assert found[ref("A1")].unsolved.kind == "clock"
    assert found[ref("A2")].status == "same"


def test_random_numbers_are_never_accused():
    assert verdicts({"A1": ("=RAND()", 0.5), "A2": ("=A1*2", 1.0)}) == {"A1": "unsolved", "A2": "same"}


def test_rich_data_is_never_accused():
    rich = replace(cell(ref("A1"), '=_FV(B1,"Price")', 25.5), rich=True)
    assert verdicts({"A1": rich, "A2": ("=A1*2", 51.0)}) == {"A1": "unsolved", "A2": "same"}


def test_precision_as_displayed_is_judged_at_what_is_displayed():
    shown = replace(cell(ref("A1"), "=10/3", 3.33), number_format="0.00")
    assert verdicts({"A1": shown, "A2": ("=A1*3", 9.99)}, full_precision=False) == {"A1": "same", "A2": "same"}


def test_stale_data_table_is_found_and_a_right_one_is_not():
    cells = {"A1": 5, "A2": 6, "C1": ("=A1*A2", 30.0), "D1": 1, "E1": 2, "C2": 10, "E2": 20}
    cells["D2"] = data_table("D2:E2", "A1", "A2", 10.0)
    assert verdicts(cells) == {"C1": "same", "D2": "same", "E2": "same"}
    cells["E2"] = 21
    assert verdicts(cells) == {"C1": "same", "D2": "same", "E2": "stale"}


def test_search_in_an_unsorted_list_is_not_accused():
    cells = {"A1": 3, "A2": 1, "A3": 2, "B1": ("=MATCH(2.5,A1:A3)", 3.0)}
    assert verdicts(cells)["B1"] in ("same", "unsolved")


def test_last_digits_of_a_balance_check_are_no_difference():
    cells = {"A1": 1e9, "A2": 1e9 / 3, "B1": ("=A1-A2*3", 2.4e-7)}
    assert verdicts(cells) == {"B1": "same"}


@pytest.mark.parametrize(
    ("number_format", "decimals"),
    [
        ("General", None),
        ("0", 0),
        ("0.00", 2),
        ("0.0%", 3),
        ('#,##0.00_);[Red]("$"#,##0.00)', 2),
        ("yyyy-mm-dd", None),
        ("@", None),
        ("#,##0,", -3),
        ('"x"0.0"y"', 1),
    ],
)
def test_decimals_that_a_format_shows(number_format, decimals):
    assert displayed_decimals(number_format) == decimals


def test_displayed_rounding_is_half_away_from_zero():
    assert as_displayed(2.5, 0) == 3.0
    assert as_displayed(-2.5, 0) == -3.0
    assert as_displayed(1.005, 2) == 1.01


def test_agreement_looks_at_the_value_not_at_how_it_was_stored():
    assert agree(1.0, 1.0 + 1e-12)
    assert not agree(1.0, 1.001)
    assert agree(1.0, True)
    assert agree("12.5", 12.5)
    assert agree("#N/A", CellError(error="#N/A"))
    assert agree(0.0, None)
    assert not agree(5.0, None)
    assert not agree("a", 1.0)
    assert not agree(CellError(error="#N/A"), CellError(error="#REF!"))


def test_numbers_in_texts_may_differ_in_their_last_digits():
    assert agree("WACC: 0.0973 (2.5)", "WACC: 0.09730000000000001 (2.5)")
    assert not agree("WACC: 0.0973", "WACC: 0.0983")
    assert not agree("WACC: 0.0973", "wacc: 0.0973")


def test_name_that_reads_the_clock_is_never_accused():
    cells = {"A1": ("=date_now+1", 40001.0)}
    found = recompute(book(cells, names=[("date_now", None, "TODAY()")]), valuation_date=45000.0)
    assert found.verdicts[ref("A1")].unsolved.kind == "clock"
