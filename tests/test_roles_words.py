"""How labels are read, and the words that ship."""

from pathlib import Path

import pytest

from xlcheck.errors import UsageError
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.roles.text import stated_sign
from xlcheck.roles.wordlist import refresh, refreshed

PAGE = Path(__file__).parents[1] / "docs" / "roles.md"


def best(text):
    found = load_lexicon().match(text)
    return max(found, key=found.get) if found else None


@pytest.mark.parametrize(
    ("label", "role"),
    [
        ("Weighted Avergae Cost of Capital", "wacc"),
        ("Enterprize Value", "enterprise_value"),
        ("(–) Financial debt", "debt"),
        ("Less: Non-Controlling Interest (book)", "minority_interest"),
        ("3.  Terminal value (2033E)", "terminal_value"),
        ("PV of Terminal Value", "pv_terminal_value"),
        ("Sum of PV of FCFF, FY2026E-FY2033E", "sum_pv_fcff"),
        ("Equity value per share (EUR)", "value_per_share"),
        ("Share price (30 Dec 2025)", "current_price"),
        ("EBIT × (1 - t)", "nopat"),
        ("EBIT(1-T)", "nopat"),
        ("Tax on EBIT", "taxes"),
        ("Unlevered beta", "unlevered_beta"),
        ("(Increase) / decrease in NWC", "change_in_nwc"),
        ("減：非控制性權益", "minority_interest"),
        ("终值 TV (Gordon)", "terminal_value"),
        ("终值现值", "pv_terminal_value"),
        ("每股价值（元）", "value_per_share"),
        ("永久成長率", "terminal_growth"),
        ("Anteile anderer Gesellschafter", "minority_interest"),
        ("Pensionsrückstellungen", "pension_deficit"),
    ],
)
def test_label_names_its_role(label, role):
    assert best(label) == role


@pytest.mark.parametrize(
    "label",
    [
        "TV share of EV",
        "终值现值占EV",
        "EV / Sales 2026E",
        "Net debt / EBITDA",
        "WACC max 20 %",
        "We assume that the enterprise value grows with the terminal growth rate and the WACC over ten years.",
        "Change in cash",
        "Book equity value",
    ],
)
def test_label_of_something_else_names_no_headline_role(label):
    headline = {"wacc", "enterprise_value", "equity_value", "value_per_share", "terminal_value", "net_debt", "cash"}
    assert not {role for role, score in load_lexicon().match(label).items() if score >= 0.5} & headline


@pytest.mark.parametrize(
    ("label", "sign"),
    [
        ("Less: debt", -1),
        ("(–) Debt", -1),
        ("减：有息负债", -1),
        ("Add: cash", 1),
        ("+ Liquide Mittel", 1),
        ("Debt", None),
    ],
)
def test_label_states_a_sign(label, sign):
    assert stated_sign(label) == sign


def test_own_words_are_added(tmp_path):
    words = tmp_path / "words.yaml"
    words.write_text("value_per_share:\n  worth per unit: 0.9\n", encoding="utf-8")
    assert load_lexicon().match("Worth per unit") == {}
    assert load_lexicon(words).match("Worth per unit") == {"value_per_share": 0.9}
    assert load_lexicon(words).match("WACC")["wacc"] == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wak: {a: 1}\n", "'wak' is no role"),
        ("wacc: {a: 2}\n", "at most 1 is expected, found 2"),
        ("wacc: 3\n", "phrase to weight"),
        ("- a\n", "a mapping of role to phrases is expected, found list"),
        ("wacc: {\n", "no YAML"),
    ],
)
def test_bad_words_are_refused(text, message, tmp_path):
    words = tmp_path / "words.yaml"
    words.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="words.yaml.*" + message):
        load_lexicon(words)


def test_page_lists_the_shipped_words():
    """Refresh with: python -c "from tests.test_roles_words import renew; renew()"."""
    page = PAGE.read_text(encoding="utf-8")
    assert refreshed(page) == page


def renew():
    refresh(PAGE)


@pytest.mark.parametrize(
    ("label", "is_debt"),
    [
        ("Debt (short-term and long-term borrowings)", True),
        ("Short and long term debt", True),
        ("Current and non-current borrowings", True),
        ("Short-term debt", False),
        ("Long-term borrowings", False),
    ],
)
def test_both_parts_named_together_are_the_whole(label, is_debt):
    assert ("debt" in load_lexicon().match(label)) is is_debt
