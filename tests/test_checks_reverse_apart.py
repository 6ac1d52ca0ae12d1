"""A reverse DCF worked beside the model: an own block, solved by goal seek or by the inverse of the perpetuity.

Forward: flows 100 growing 5 % for three years, rate 10 %, g 2 %, net debt 200, 50 shares, price 30. The flows are
worth 100 × (1.05/1.1 + 1.05²/1.1² + 1.05³/1.1³); the block lets them grow by another rate.
"""

import pytest
from checking_helper import write

from xlcheck.pipeline import audit

YEARS = "CDE"
PRICE, SHARES, DEBT, RATE, G = 30.0, 50.0, 200.0, 0.10, 0.02


def worth(growth: float) -> float:
    flows = [100 * (1 + growth) ** year for year in (1, 2, 3)]
    present = sum(flow / (1 + RATE) ** year for year, flow in enumerate(flows, start=1))
    return (present + flows[-1] * (1 + G) / (RATE - G) / (1 + RATE) ** 3 - DEBT) / SHARES


def solved() -> float:
    low, high = 0.0, 0.4
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) < PRICE else (low, middle)
    return round(low, 6)


MODEL = {
    "M!A1": "Share price", "M!B1": PRICE,
    "M!A2": "Discount rate (WACC)", "M!B2": "=0.9*B3+0.1*0.01",
    "M!A3": "Cost of equity", "M!B3": 0.11,
    "M!A4": "Terminal growth rate", "M!B4": G,
    "M!A5": "Shares outstanding", "M!B5": SHARES,
    "M!A6": "Net debt", "M!B6": DEBT,
    "M!A7": "Flow growth", "M!B7": 0.05,
    "M!A8": "Free cash flow, last year", "M!B8": 100.0,
    "M!A10": "Year", "M!C10": [2027, 2028, 2029],
    "M!A11": "Period", "M!C11": [1, 2, 3],
    "M!A12": "Free cash flow to the firm", "M!C12": ["=$B$8*(1+$B$7)", "=C12*(1+$B$7)", "=D12*(1+$B$7)"],
    "M!A13": "Discount factor", "M!C13": [f"=1/(1+$B$2)^{year}11" for year in YEARS],
    "M!A14": "Present value of FCFF", "M!C14": [f"={year}12*{year}13" for year in YEARS],
    "M!A16": "Sum of present values", "M!B16": "=SUM(C14:E14)",
    "M!A17": "Terminal value", "M!B17": "=E12*(1+B4)/(B2-B4)",
    "M!A18": "Present value of terminal value", "M!B18": "=B17*E13",
    "M!A19": "Enterprise value", "M!B19": "=B16+B18",
    "M!A20": "Less: net debt", "M!B20": "=-B6",
    "M!A21": "Equity value", "M!B21": "=B19+B20",
    "M!A22": "Value per share", "M!B22": "=B21/B5",
    "M!A23": "Upside", "M!B23": "=B22/B1-1",
}  # fmt: skip
BLOCK = {
    "Reverse!A1": "Market-implied flow growth (goal seek)", "Reverse!B1": solved(),
    "Reverse!A2": "Share price", "Reverse!B2": "=M!B1",
    "Reverse!A3": "Flow", "Reverse!C3": ["=M!$B$8*(1+$B$1)", "=C3*(1+$B$1)", "=D3*(1+$B$1)"],
    "Reverse!A4": "Present value", "Reverse!C4": [f"={year}3/(1+M!$B$2)^M!{year}11" for year in YEARS],
    "Reverse!A5": "Present value of the perpetuity", "Reverse!B5": "=E3*(1+M!B4)/(M!B2-M!B4)*M!E13",
    "Reverse!A6": "Value per share at implied growth", "Reverse!B6": "=(SUM(C4:E4)+B5-M!B6)/M!B5",
    "Reverse!A7": "Tie-out: value less price", "Reverse!B7": "=B6-B2",
}  # fmt: skip
CLOSED = {
    "Reverse!A1": "Market capitalisation", "Reverse!B1": "=M!B1*M!B5",
    "Reverse!A2": "Market enterprise value", "Reverse!B2": "=B1+M!B6",
    "Reverse!A3": "Terminal value that the market pays for", "Reverse!B3": "=(B2-M!B16)/M!E13",
    "Reverse!A4": "Growth in perpetuity implied by the price", "Reverse!B4": "=(B3*M!B2-M!E12)/(B3+M!E12)",
    "Reverse!A5": "Enterprise value at that growth", "Reverse!B5": "=M!B16+M!E12*(1+B4)/(M!B2-B4)*M!E13",
    "Reverse!A6": "Proof (zero)", "Reverse!B6": "=B5-B2",
}  # fmt: skip


def results(tmp_path, changes):
    return {one.check_id: one for one in audit(write(tmp_path, MODEL | changes)).results}


@pytest.mark.parametrize("block", [BLOCK, CLOSED], ids=["goal seek", "closed form"])
def test_answer_beside_the_model_is_found_and_solved_afresh(tmp_path, block):
    found = results(tmp_path, block)
    for check in ("solves-to-price", "implied-value", "price-anchor", "fixed-terms"):
        assert found[f"reverse.{check}"].status == "pass", found[f"reverse.{check}"]


def test_block_without_a_tie_out_is_held_against_the_price(tmp_path):
    changes = BLOCK | {"Reverse!A7": None, "Reverse!B7": None, "Reverse!B1": 0.02}
    finding = results(tmp_path, changes)["reverse.solves-to-price"].findings[0]
    assert str(finding.cell) == "Reverse!B1"
    assert finding.found == pytest.approx(worth(0.02))


def test_goal_seek_that_was_not_run_again_is_found_with_the_root(tmp_path):
    found = results(tmp_path, BLOCK | {"Reverse!B1": 0.02})
    assert found["reverse.solves-to-price"].findings[0].found == pytest.approx(worth(0.02))
    assert found["reverse.implied-value"].findings[0].expected == pytest.approx(solved(), abs=1e-5)


def test_slip_in_the_closed_form_is_found(tmp_path):
    found = results(tmp_path, CLOSED | {"Reverse!B4": "=(B3*M!B2-M!E12)/(B3-M!E12)"})
    assert str(found["reverse.solves-to-price"].findings[0].cell) == "Reverse!B4"


def test_price_of_another_day_in_the_block_is_found(tmp_path):
    finding = results(tmp_path, BLOCK | {"Reverse!B2": 27.5})["reverse.price-anchor"].findings[0]
    assert (str(finding.cell), finding.found, finding.expected) == ("Reverse!B2", 27.5, PRICE)


def test_price_in_another_currency_is_no_other_price(tmp_path):
    changes = {"M!A1": "Share price (EUR)", "Reverse!A2": "Share price (USD)", "Reverse!B2": 27.5}
    assert results(tmp_path, BLOCK | changes)["reverse.price-anchor"].status == "pass"


def test_market_value_that_adds_the_net_debt_the_wrong_way_is_found(tmp_path):
    finding = results(tmp_path, CLOSED | {"Reverse!B2": "=B1-M!B6"})["reverse.price-anchor"].findings[0]
    assert (str(finding.cell), finding.found, finding.expected) == ("Reverse!B2", 1300.0, pytest.approx(1700.0))


def test_market_value_in_another_unit_is_named_where_it_starts(tmp_path):
    finding = results(tmp_path, CLOSED | {"Reverse!B1": "=M!B1*M!B5*100"})["reverse.price-anchor"].findings[0]
    assert str(finding.cell) == "Reverse!B1"


def test_block_discounted_at_the_cost_of_equity_is_found(tmp_path):
    changes = {"Reverse!C4": [f"={year}3/(1+M!$B$3)^M!{year}11" for year in YEARS]}
    finding = results(tmp_path, BLOCK | changes)["reverse.fixed-terms"].findings[0]
    assert str(finding.cell) == "Reverse!C4"


def test_implied_figure_that_nothing_holds_against_the_price_is_no_answer(tmp_path):
    changes = {"M!A25": "Implied EV/FCF multiple", "M!B25": "=B19/C12", "M!A26": "Implied return", "M!B26": "=C12/B19"}
    assert results(tmp_path, changes)["reverse.solves-to-price"].status == "not_applicable"


NO_GROWTH = {
    "M!A30": "Revenue", "M!B30": [1000.0, 1050.0, 1102.5, 1157.625],
    "M!A31": "EBIT", "M!C31": [f"={year}30*0.16" for year in YEARS],
    "M!A32": "Tax on EBIT", "M!C32": [f"={year}31*0.25" for year in YEARS],
    "M!A33": "NOPAT", "M!C33": [f"={year}31-{year}32" for year in YEARS],
    "M!A34": "Reinvestment", "M!C34": [f"={year}33*0.2" for year in YEARS],
    "M!A12": "Free cash flow to the firm", "M!C12": [f"={year}33-{year}34" for year in YEARS],
    "M!A10": "Year", "M!B10": [2026, 2027, 2028, 2029],
    "Reverse!A9": "Value without growth, per share",
}  # fmt: skip


def test_value_without_growth_stands_on_trailing_profit_after_tax(tmp_path):
    right = "=(M!B30*0.16*(1-0.25)/M!B2-M!B6)/M!B5"
    assert results(tmp_path, BLOCK | NO_GROWTH | {"Reverse!B9": right})["reverse.no-growth-value"].status == "pass"
    wrong = "=(M!B30*0.16/M!B2-M!B6)/M!B5"
    finding = results(tmp_path, BLOCK | NO_GROWTH | {"Reverse!B9": wrong})["reverse.no-growth-value"].findings[0]
    assert str(finding.cell) == "Reverse!B9"


def test_answer_read_between_two_rows_of_a_grid_need_not_be_the_exact_root(tmp_path):
    near = round(solved() + 0.0002, 4)
    assert results(tmp_path, BLOCK | {"Reverse!B1": f"=({near}+{near})/2"})["reverse.implied-value"].status == "pass"


SWITCHED = {
    "M!A8": "Growth implied by the price (goal seek)", "M!B8": solved(),
    "M!A9": "Mode: 1 our view, 2 the price's", "M!B9": 1,
    "M!A27": "Free cash flow, last year", "M!B27": 100.0,
    "M!A28": "Growth used", "M!B28": "=CHOOSE(B9,B7,B8)",
    "M!C12": ["=$B$27*(1+$B$28)", "=C12*(1+$B$28)", "=D12*(1+$B$28)"],
}  # fmt: skip


def test_answer_behind_a_switch_is_held_against_the_price_with_the_switch_turned(tmp_path):
    found = results(tmp_path, SWITCHED)
    assert found["reverse.solves-to-price"].status == "pass"
    assert found["reverse.implied-value"].status == "pass"
    stale = results(tmp_path, SWITCHED | {"M!B8": 0.02})["reverse.solves-to-price"].findings[0]
    assert (str(stale.cell), stale.found) == ("M!B8", pytest.approx(worth(0.02)))


def test_value_at_the_answer_is_no_other_division_of_the_equity(tmp_path):
    block = {"M!A30": "Worth of a point of growth", "M!B30": 40.0, "M!A31": "Value per share at that growth",
             "M!B31": "=(B21+B30*3)/B5"}  # fmt: skip
    assert results(tmp_path, block)["bridge.per-share"].findings == ()


def linear(slope: str) -> dict:
    """An answer that is the model's own growth plus the shortfall over a slope; the flows are linear in no input but
    the first one, so the slope is the value of one unit of it."""
    return {
        "M!A40": "Equity value at the price", "M!B40": "=B1*B5",
        "M!A41": "Value of one unit of the first flow", "M!B41": slope,
        "M!A42": "Flow of last year implied by the price, growth held", "M!B42": "=B8+(B40-B21)/B41",
        "M!A43": "Value per share at that flow", "M!B43": "=(B21+(B42-B8)*B41)/B5",
        "M!A44": "Difference to the price", "M!B44": "=B43-B1",
    }  # fmt: skip


def test_answer_of_a_linear_step_is_run_on_the_model_itself(tmp_path):
    assert results(tmp_path, linear("=(B21+B6)/B8"))["reverse.implied-value"].status == "pass"
    finding = results(tmp_path, linear("=2*(B21+B6)/B8"))["reverse.implied-value"].findings[0]
    assert str(finding.cell) == "M!B42"


def test_price_in_words_of_its_own_is_what_the_upside_compares_with(tmp_path):
    assert results(tmp_path, BLOCK | {"M!A1": "Price per share, exchange close"})["bridge.upside"].status == "pass"
