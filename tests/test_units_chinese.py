"""Units and currencies as Chinese and Japanese workbooks declare them: 亿元, 万股, 港元, rates in words."""

import pytest
from checking_helper import accused, audit, write

from xlcheck.checks.exchange_rates import first_code, quoted_pair
from xlcheck.roles.basis import currency_in, scale_in
from xlcheck.roles.layout import is_unit


@pytest.mark.parametrize(
    ("text", "scale", "currency"),
    [
        ("人民幣百萬元", 1e6, "CNY"),
        ("亿港元", 1e8, "HKD"),
        ("港元", None, "HKD"),
        ("億円", 1e8, "JPY"),
        ("RMB百万", 1e6, "CNY"),
        ("億株", 1e8, None),
        ("元/股", None, None),
    ],
)
def test_a_unit_in_chinese_or_japanese_is_read(text, scale, currency):
    assert (is_unit(text), scale_in(text), currency_in(text)) == (True, scale, currency)


@pytest.mark.parametrize("text", ["现金", "每股", "股价", "港股", "万年青"])
def test_a_word_is_no_unit(text):
    assert not is_unit(text)


def test_hundred_millions_are_one_unit():
    assert scale_in("Shares (100mn)") == 1e8
    assert scale_in("Revenue (USD mn)") == 1e6


@pytest.mark.parametrize(
    ("text", "rate", "pair"),
    [
        ("匯率（每1元人民幣兌港元）", 1.08, ("HKD", "CNY")),
        ("港币/人民币（1港元=人民币）", 0.92, ("CNY", "HKD")),
        ("港元兑人民币", 0.92, ("CNY", "HKD")),
        ("人民币兑港元汇率", 1.09, ("HKD", "CNY")),
        ("港元兑人民币", 1.09, None),
        ("HKD/CNY", 1.09, None),
    ],
)
def test_the_direction_of_a_rate_in_words(text, rate, pair):
    assert quoted_pair(text, rate) == pair


def test_the_first_currency_named():
    assert first_code("每股价值（港币）") == "HKD"
    assert first_code("股权价值 | 百万元") is None


FX = {
    "X!A1": ["股权价值", 900.0, "人民币百万元"],
    "X!A2": ["股份数目", 300.0, "百万股"],
    "X!A3": ["汇率（1元人民币兑港元）", 1.09],
    "X!A4": ["每股价值", "=B1*B3/B2", "港元"],
    "X!A5": ["现价", 2.5, "港元"],
    "X!A6": ["空间", "=B4/B5-1"],
}
FX_ROLES = {
    "value_per_share": "X!B4",
    "equity_value": "X!B1",
    "shares": "X!B2",
    "current_price": "X!B5",
    "upside": "X!B6",
}


@pytest.mark.parametrize(
    ("changes", "status", "cells"),
    [
        ({}, "pass", set()),
        ({"X!B4": "=B1/B3/B2"}, "fail", {"X!B4"}),
        ({"X!B4": "=B1/B2"}, "fail", {"X!B4"}),
        ({"X!A7": ["每股价值（人民币）", "=B1/B2"], "X!B6": "=B7/B5-1"}, "fail", {"X!B6"}),
    ],
)
def test_conversion_to_the_currency_of_the_price(changes, status, cells, tmp_path):
    found = audit(write(tmp_path, FX | changes), FX_ROLES, ["fatal.currency-mix"])["fatal.currency-mix"]
    assert (found.status, accused(found)) == (status, cells)


LINKS = {
    "X!A1": ["总股本", 42610.0, "万股"],
    "X!A2": ["总股本（百万股）", "=B1/100"],
    "X!A3": ["股权价值", 9000.0, "百万元"],
}
COUNT_ROLES = {"equity_value": "X!B3", "shares": "X!B2", "value_per_share": "X!B4"}


@pytest.mark.parametrize(
    ("changes", "cells"),
    [
        ({}, set()),
        ({"X!B2": "=B1/10"}, {"X!B2"}),
        ({"X!A2": ["总股本（亿股）", "=B1/100"]}, {"X!B2"}),
        ({"X!A2": ["总股本", "=B1/10"]}, set()),
    ],
)
def test_a_link_carries_the_factor_between_its_two_units(changes, cells, tmp_path):
    book = LINKS | {"X!A4": ["每股价值", "=B3/B2"]} | changes
    found = audit(write(tmp_path, book), COUNT_ROLES, ["fatal.unit-mix"])["fatal.unit-mix"]
    assert accused(found) == cells
    if cells and "X!B2" in changes:
        assert found.findings[0].expected == pytest.approx(426.1)


BRIDGE = {
    "V!A1": ["企业价值", "=30+14.2", "亿元"],
    "V!A2": ["净债务", 3350.0, "百万元"],
    "V!A3": ["少数股东权益", 210.0, "百万元"],
    "V!A4": ["股权价值", "=B1*100-B2-B3", "百万元"],
}
BRIDGE_ROLES = {
    "enterprise_value": "V!B1",
    "net_debt": "V!B2",
    "minority_interest": "V!B3",
    "equity_value": "V!B4",
}


@pytest.mark.parametrize(
    ("formula", "right"),
    [
        ("=B1*100-B2-B3", None),
        ("=B1*10-B2-B3", 4420 - 3350 - 210),
        ("=B1*100-B2/1000-B3", 4420 - 3350 - 210),
        ("=B1-B2-B3", 4420 - 3350 - 210),
    ],
)
def test_each_term_of_the_bridge_is_brought_to_the_unit_of_the_equity(formula, right, tmp_path):
    cells = BRIDGE | {"V!A4": ["股权价值", formula, "百万元"]}
    check = "bridge.equity-identity"
    found = audit(write(tmp_path, cells), BRIDGE_ROLES, [check])[check]
    assert accused(found) == (set() if right is None else {"V!B4"})
    if right is not None:
        assert found.findings[0].expected == pytest.approx(right)


@pytest.mark.parametrize(
    ("label", "formula", "status"),
    [
        ("加：净现金", "=B1+B2", "pass"),
        ("加：净现金", "=B1-B2", "fail"),
        ("減：淨負債", "=B1-B2", "pass"),
        ("減：淨負債", "=B1+B2", "fail"),
        ("純有利子負債", "=B1+B2", "fail"),
    ],
)
def test_net_cash_adds_and_net_debt_lowers_whatever_sign_word_leads(label, formula, status, tmp_path):
    cells = {"V!A1": ["企业价值", "=400+20"], "V!A2": [label, 18.0], "V!A3": ["股权价值", formula]}
    roles = {"enterprise_value": "V!B1", "net_debt": "V!B2", "equity_value": "V!B3"}
    assert audit(write(tmp_path, cells), roles, ["bridge.signs"])["bridge.signs"].status == status
