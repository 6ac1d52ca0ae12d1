"""Parts of a valuation put together the wrong way round: tax, premium, the growth of a value driver."""

import pytest
from checking_helper import accused, audit, write

TAXED = {
    "M!A1": ["年度", 2026, 2027, 2028],
    "M!A2": ["息税前利润", 100.0, 110.0, 120.0],
    "M!A3": ["所得税率", 0.25],
    "M!A4": ["税后经营利润", "=B2*(1-$B$3)", "=C2*(1-$B$3)", "=D2*(1-$B$3)"],
    "M!A5": ["折旧摊销", 20.0, 21.0, 22.0],
    "M!A6": ["自由现金流", "=B4+B5", "=C4+C5", "=D4+D5"],
}
TAXED_ROLES = {
    "fcff": "M!B6:D6",
    "ebit": "M!B2:D2",
    "nopat": "M!B4:D4",
    "depreciation": "M!B5:D5",
    "tax_rate": "M!B3",
}


@pytest.mark.parametrize(("term", "accusation"), [("", set()), ("*$B$3", {"M!B4"}), ("*(1+$B$3)", {"M!B4"})])
def test_what_tax_leaves_of_ebit_is_nopat(term, accusation, tmp_path):
    row = [f"={column}2{term or '*(1-$B$3)'}" for column in "BCD"]
    found = audit(write(tmp_path, TAXED | {"M!A4": ["税后经营利润", *row]}), TAXED_ROLES, ["flow.nopat"])["flow.nopat"]
    assert accused(found) == accusation
    if accusation:
        assert found.findings[0].expected == pytest.approx(75.0)


@pytest.mark.parametrize(
    ("label", "premium", "status"),
    [
        ("市场风险溢价", 0.06, "fail"),
        ("Equity risk premium", 0.06, "fail"),
        ("市场风险溢价（市场回报率）", 0.06, "pass"),
        ("市场预期收益率", 0.06, "pass"),
        ("市场风险溢价", 0.09, "pass"),
    ],
)
def test_the_risk_free_rate_is_deducted_from_a_return_not_from_a_premium(label, premium, status, tmp_path):
    cells = {"W!A1": ["无风险利率", 0.024], "W!A2": ["Beta", 0.9], "W!A3": [label, premium]}
    cells["W!A4"] = ["股权资本成本", "=B1+B2*(B3-B1)"]
    roles = {"risk_free_rate": "W!B1", "beta": "W!B2", "equity_risk_premium": "W!B3", "cost_of_equity": "W!B4"}
    assert audit(write(tmp_path, cells), roles, ["wacc.capm"])["wacc.capm"].status == status


DRIVER = {
    "D!A1": ["WACC", 0.09],
    "D!A2": ["永续增长率", 0.025],
    "D!A3": ["新增投资回报率", 0.13],
    "D!A4": ["年度", 2026, 2027, 2028],
    "D!A5": ["NOPAT", 50.0, 54.0, 57.0],
    "D!A6": ["自由现金流", 30.0, 34.0, 40.0],
    "D!A7": ["折现因子", "=1/(1+$B$1)", "=1/(1+$B$1)^2", "=1/(1+$B$1)^3"],
    "D!A8": ["终值", "=D5*(1+B2)*(1-B2/B3)/(B1-B2)"],
    "D!A9": ["企业价值", "=SUMPRODUCT(B6:D6,B7:D7)+B8*D7"],
}
DRIVER_ROLES = {
    "wacc": "D!B1", "terminal_growth": "D!B2", "ronic": "D!B3", "nopat": "D!B5:D5", "fcff": "D!B6:D6",
    "discount_factor": "D!B7:D7", "terminal_value": "D!B8", "enterprise_value": "D!B9",
}  # fmt: skip


@pytest.mark.parametrize(("below", "status"), [("(B1-B2)", "pass"), ("B1", "fail"), ("(B1+B2)", "fail")])
def test_growth_is_deducted_below_a_value_driver(below, status, tmp_path):
    changes = {"D!B8": f"=D5*(1+B2)*(1-B2/B3)/{below}"}
    cells = {**DRIVER, "D!A8": ["终值", changes["D!B8"]]}
    check = "terminal.gordon-identity"
    found = audit(write(tmp_path, cells), DRIVER_ROLES, [check])[check]
    assert found.status == status
    assert accused(found) == (set() if status == "pass" else {"D!B8"})


def test_a_last_flow_read_through_its_source_is_not_a_normalised_one(tmp_path):
    cells = {**DRIVER, "D!A8": ["终值", "=F!D1/(B1-B2)"], "F!A1": ["自由现金流", 30.0, 34.0, 40.0]}
    cells["D!A6"] = ["自由现金流", "=F!B1", "=F!C1", "=F!D1"]
    check = "terminal.gordon-identity"
    roles = {role: cell for role, cell in DRIVER_ROLES.items() if role not in ("ronic", "nopat")}
    assert accused(audit(write(tmp_path, cells), roles, [check])[check]) == {"D!B8"}


ENDLESS = {
    "D!A1": ["折现率", 0.1],
    "D!A2": ["永续期增长率", 0.01],
    "D!A4": ["年度", 2026, 2027, 2028, "永续年度"],
    "D!A5": ["自由现金流", 30.0, 34.0, 40.0, 37.0],
    "D!A6": ["折现系数", "=1/(1+$B$1)", "=1/(1+$B$1)^2", "=1/(1+$B$1)^3", "=ROUND(D6/(B1-B2),4)"],
    "D!A7": ["现值", "=B5*B6", "=C5*C6", "=D5*D6", "=E5*E6"],
    "D!A8": ["经营性资产价值", "=SUM(B7:E7)"],
}
ENDLESS_ROLES = {
    "wacc": "D!B1", "terminal_growth": "D!B2", "fcff": "D!B5:D5", "discount_factor": "D!B6:D6", "pv_fcff": "D!B7:D7",
    "pv_terminal_value": "D!E7", "enterprise_value": "D!B8",
}  # fmt: skip


@pytest.mark.parametrize("check", ["terminal.discounted-once", "fatal.terminal-not-discounted", "discount.pv-sum"])
def test_a_factor_for_all_years_to_come_discounts_the_last_column(check, tmp_path):
    assert audit(write(tmp_path, ENDLESS), ENDLESS_ROLES, [check])[check].status == "pass"


def test_a_sum_that_passes_over_the_first_year_beside_an_endless_column_is_found(tmp_path):
    cells = ENDLESS | {"D!A8": ["经营性资产价值", "=SUM(C7:E7)"]}
    found = audit(write(tmp_path, cells), ENDLESS_ROLES, ["bridge.enterprise-value"])["bridge.enterprise-value"]
    assert accused(found) == {"D!B8"}


@pytest.mark.parametrize(
    ("formula", "capex", "status"),
    [
        ("={0}4-{0}5+{0}3-{0}6", "资本支出", "pass"),
        ("={0}4-{0}5-{0}6", "资本支出", "fail"),
        ("={0}4-{0}5-{0}6", "净资本支出", "pass"),
        ("={0}2-{0}5-{0}6", "资本支出", "pass"),
    ],
)
def test_depreciation_is_added_back_to_taxed_ebit(formula, capex, status, tmp_path):
    cells = {
        "M!A1": ["年度", 2026, 2027, 2028],
        "M!A2": ["EBITDA", 120.0, 130.0, 140.0],
        "M!A3": ["折旧摊销", 20.0, 21.0, 22.0],
        "M!A4": ["EBIT", "=B2-B3", "=C2-C3", "=D2-D3"],
        "M!A5": ["减：EBIT所得税", "=B4*0.25", "=C4*0.25", "=D4*0.25"],
        "M!A6": [capex, 30.0, 31.0, 32.0],
        "M!A7": ["自由现金流", *(formula.format(column) for column in "BCD")],
    }
    roles = {"fcff": "M!B7:D7", "ebit": "M!B4:D4", "depreciation": "M!B3:D3", "capex": "M!B6:D6"}
    assert audit(write(tmp_path, cells), roles, ["flow.fcff-identity"])["flow.fcff-identity"].status == status
