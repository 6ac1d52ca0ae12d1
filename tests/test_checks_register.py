"""The assumption register: planted faults are found at their cell, look-alikes are accepted."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from planted import Model, clean_model, workpaper

import xlcheck.checks  # noqa: F401 - declares the checks
from xlcheck.actuals import Actual, load_actuals
from xlcheck.checking import CheckResult, Request, run_checks
from xlcheck.citations import citations, is_own, leak_in
from xlcheck.errors import UsageError
from xlcheck.evidence import Evidence, Source
from xlcheck.memo import Memo
from xlcheck.recompute import recompute
from xlcheck.register import day_in, find_registers
from xlcheck.workbook import load

CUTOFF = date(2026, 3, 31)
SOURCES = (
    Source(id="AR01", published=date(2026, 3, 20), title="Annual report 2025"),
    Source(id="AR02", published=date(2026, 4, 20), title="Quarterly report of April"),
    Source(id="AR03", title="Undated brochure"),
)
HEADS = ("ID", "Assumption", "Value", "Unit", "Source", "Date")
KEYS = {
    "risk_free_rate": ("Risk-free rate", "%", "Bond yield of 31 December 2025"),
    "unlevered_beta": ("Unlevered beta", "", "Peers, three years to December 2025"),
    "equity_risk_premium": ("Equity risk premium", "%", "Survey, January 2026"),
    "pre_tax_cost_of_debt": ("Pre-tax cost of debt", "%", "Annual report 2025, note 23"),
    "tax_rate": ("Tax rate", "%", "Income tax law"),
    "terminal_growth": ("Terminal growth", "%", "Judgement: below the bond yield"),
    "cash": ("Cash", "USD m", "Annual report 2025, balance sheet"),
    "debt": ("Debt", "USD m", "Annual report 2025, balance sheet"),
    "minority_interest": ("Minority interest", "USD m", "Annual report 2025, note 31"),
    "investments": ("Associates", "USD m", "Annual report 2025, note 14"),
    "shares": ("Shares", "million", "Annual report 2025, note 28"),
    "current_price": ("Share price", "USD", "Exchange, 31 December 2025"),
}
DAY = date(2026, 3, 20)


def registered(sheet: str = "Register", heads: tuple[str, ...] = HEADS) -> tuple[Model, dict[str, int]]:
    """Return the clean model with a register of links, and the row of each key."""
    model = clean_model()
    page = model.workbook.create_sheet(sheet)
    page["A1"] = "Assumption register" if sheet == "Register" else "Overview"
    rows: dict[str, int] = {}
    for column, head in enumerate(heads, 1):
        page.cell(3, column, head)
    for row, (key, (name, unit, source)) in enumerate(KEYS.items(), 4):
        if key not in model.scalars:
            continue
        rows[key] = row
        cells = (f"A{row}", name, model.render(f"={{{key}}}", sheet), unit, source, DAY)
        for column, value in enumerate(cells, 1):
            page.cell(row, column, value)
        if key == "risk_free_rate":
            page.cell(row, 3).number_format = "0.00%"
    return model, rows


def run(
    model: Model, folder: Path, *checks: str, evidence: Evidence | None = None, memo: str = "", **more: object
) -> dict[str, CheckResult]:
    paper = workpaper(model, folder / "model.xlsx")
    memos = (Memo("memo.md", (memo,)),) if memo else ()
    found = run_checks(replace(paper, evidence=evidence, memos=memos, **more), [Request(check) for check in checks])  # type: ignore[arg-type]
    assert not [result.reason for result in found if result.reason and "broke" in result.reason]
    return {result.check_id: result for result in found}


ALL = ("complete", "values-match-model", "sourced", "units", "dated-before-cutoff")
IDS = tuple(f"register.{name}" for name in ALL)


def accused(result: CheckResult) -> list[str]:
    assert result.status == "fail", (result.check_id, result.status, result.reason)
    return [str(finding.cell) for finding in result.findings]


def test_a_right_register_is_accepted(tmp_path):
    model, _ = registered()
    found = run(model, tmp_path, *IDS, evidence=Evidence(CUTOFF))
    assert {check: result.status for check, result in found.items()} == dict.fromkeys(IDS, "pass")


def test_no_register_is_no_fault(tmp_path):
    found = run(clean_model(), tmp_path, *IDS, evidence=Evidence(CUTOFF))
    assert {result.status for result in found.values()} == {"not_applicable"}


def test_a_table_of_inputs_with_remarks_is_no_register(tmp_path):
    model, _ = registered("Overview", ("No", "Input", "Value", "x", "Basis", "Remark"))
    found = run(model, tmp_path, *IDS, evidence=Evidence(CUTOFF))
    assert {result.status for result in found.values()} == {"not_applicable"}


def test_chinese_headings_make_a_register(tmp_path):
    model, rows = registered("Overview", ("序号", "假设", "取值", "单位", "资料来源", "日期"))
    (register,) = find_registers(recompute(load(model.save(tmp_path / "m.xlsx"))))
    assert [entry.name for entry in register.entries] == [KEYS[key][0] for key in rows]
    assert register.entries[0].day == DAY


# register.complete


def test_an_input_that_the_register_lacks_is_named_at_its_cell(tmp_path):
    model, rows = registered()
    for column in range(1, 7):
        model.workbook["Register"].cell(rows["pre_tax_cost_of_debt"], column).value = None
    found = run(model, tmp_path, "register.complete")["register.complete"]
    assert accused(found) == [model.cell("pre_tax_cost_of_debt")]


def test_a_value_typed_into_the_register_counts_as_listed(tmp_path):
    model, rows = registered()
    model.put(f"Register!C{rows['pre_tax_cost_of_debt']}", 100 * float(str(model.get("pre_tax_cost_of_debt"))))
    assert run(model, tmp_path, "register.complete")["register.complete"].status == "pass"


def test_a_register_of_a_few_inputs_does_not_claim_to_be_complete(tmp_path):
    model, rows = registered()
    for key, row in rows.items():
        if key not in ("risk_free_rate", "unlevered_beta", "equity_risk_premium"):
            for column in range(1, 7):
                model.workbook["Register"].cell(row, column).value = None
    found = run(model, tmp_path, "register.complete")["register.complete"]
    assert (found.status, found.reason) == ("unverifiable", "the register has 3 of 12 stated inputs")


# register.values-match-model


def labelled(model: Model, key: str) -> str:
    """Return the label of a scalar of the model."""
    sheet, address = model.cell(key).split("!")
    return str(model.workbook[sheet][f"A{address[1:]}"].value)


def test_a_register_of_an_older_version_is_named(tmp_path):
    model, rows = registered()
    row = rows["terminal_growth"]
    model.put(f"Register!B{row}", labelled(model, "terminal_growth"))
    where = model.put(f"Register!C{row}", 0.03)
    found = run(model, tmp_path, "register.values-match-model")["register.values-match-model"]
    assert accused(found) == [where]
    assert (found.findings[0].found, found.findings[0].expected) == (0.03, 0.025)


@pytest.mark.parametrize("stated", [0.025, 2.5, 0.03 - 0.005])
def test_a_register_in_other_decimals_is_the_same(stated, tmp_path):
    model, rows = registered()
    row = rows["terminal_growth"]
    model.put(f"Register!B{row}", labelled(model, "terminal_growth"))
    model.put(f"Register!C{row}", stated)
    assert run(model, tmp_path, "register.values-match-model")["register.values-match-model"].status == "pass"


def test_an_entry_of_its_own_words_is_compared_with_nothing(tmp_path):
    model, rows = registered()
    model.put(f"Register!B{rows['terminal_growth']}", "Terminal growth of the downside case")
    model.put(f"Register!C{rows['terminal_growth']}", 0.01)
    assert run(model, tmp_path, "register.values-match-model")["register.values-match-model"].status == "pass"


# register.units


def test_a_percentage_in_money_is_named(tmp_path):
    model, rows = registered()
    where = model.put(f"Register!D{rows['risk_free_rate']}", "USD m")
    assert accused(run(model, tmp_path, "register.units")["register.units"]) == [where]


def test_an_amount_without_a_unit_is_named(tmp_path):
    model, rows = registered()
    model.put(f"Register!C{rows['debt']}", 31_000)
    where = model.put(f"Register!D{rows['debt']}", None)
    assert accused(run(model, tmp_path, "register.units")["register.units"]) == [where]


def test_a_scale_that_its_input_contradicts_is_named(tmp_path):
    model, rows = registered()
    where = model.put(f"Register!D{rows['debt']}", "USD bn")
    page = model.workbook["Register"]
    page.cell(30, 1, "Debt of the group")
    page.cell(30, 2, "USD m")
    page.cell(30, 3, 310)
    model.put(f"Register!C{rows['debt']}", "=Register!C30")
    assert accused(run(model, tmp_path, "register.units")["register.units"]) == [where]


# register.sourced


@pytest.mark.parametrize("words", [None, "n/a", "internet", "TBD", "待补"])
def test_an_assumption_without_a_source_is_named(words, tmp_path):
    model, rows = registered()
    where = model.put(f"Register!E{rows['equity_risk_premium']}", words)
    assert accused(run(model, tmp_path, "register.sourced")["register.sourced"]) == [where]


def test_a_computed_entry_needs_no_source(tmp_path):
    model, rows = registered()
    row = rows["equity_risk_premium"]
    model.put(f"Register!E{row}", None)
    model.put(f"Register!C{row}", model.render("={risk_free_rate}*2", "Register"))
    assert run(model, tmp_path, "register.sourced")["register.sourced"].status == "pass"


def test_sources_outside_a_closed_pack_are_unknown(tmp_path):
    model, rows = registered()
    for key, row in rows.items():
        if "Annual" not in KEYS[key][2] and "Judgement" not in KEYS[key][2]:
            model.put(f"Register!E{row}", "AR01, p. 3")
    where = model.put(f"Register!E{rows['equity_risk_premium']}", "A study of 2025")
    closed, opened = Evidence(CUTOFF, SOURCES), Evidence(CUTOFF, SOURCES, closed=False)
    assert accused(run(model, tmp_path, "register.sourced", evidence=closed)["register.sourced"]) == [where]
    assert run(model, tmp_path, "register.sourced", evidence=opened)["register.sourced"].status == "pass"


def test_a_source_that_was_cited_and_never_opened_is_named(tmp_path):
    model, rows = registered()
    for row in rows.values():
        model.put(f"Register!E{row}", "Judgement")
    where = model.put(f"Register!E{rows['cash']}", "Annual report 2025, balance sheet")
    unread = Evidence(CUTOFF, SOURCES, read=frozenset({"ar02"}))
    found = run(model, tmp_path, "register.sourced", evidence=unread)["register.sourced"]
    assert accused(found) == [where]
    assert "never opened" in found.findings[0].message


def test_a_memo_is_held_against_the_pack(tmp_path):
    evidence = Evidence(CUTOFF, SOURCES)
    memo = "Debt is 310 [AR01]. Margins follow [AR07].\nWe did not use [AR02], which is later than the cutoff."
    found = run(
        clean_model(), tmp_path, "register.sourced", "register.dated-before-cutoff", evidence=evidence, memo=memo
    )
    (finding,) = found["register.sourced"].findings
    assert (finding.cell, finding.found) == (None, "AR07")
    assert found["register.dated-before-cutoff"].status == "pass"


# register.dated-before-cutoff


def test_a_row_dated_later_is_named_at_its_date(tmp_path):
    model, rows = registered()
    where = model.put(f"Register!F{rows['current_price']}", date(2026, 4, 2))
    evidence = Evidence(CUTOFF)
    found = run(model, tmp_path, "register.dated-before-cutoff", evidence=evidence)["register.dated-before-cutoff"]
    assert accused(found) == [where]
    recalc = recompute(load(model.save(tmp_path / "again.xlsx")))
    assert leak_in(recalc, (), evidence) == f"{where} (Share price) is dated 2026-04-02, after the cutoff 2026-03-31"


def test_a_source_published_later_is_named_whatever_its_row_says(tmp_path):
    model, rows = registered()
    where = model.put(f"Register!E{rows['cash']}", "Quarterly report of April, p. 2")
    evidence = Evidence(CUTOFF, SOURCES, closed=False)
    found = run(model, tmp_path, "register.dated-before-cutoff", evidence=evidence)["register.dated-before-cutoff"]
    assert accused(found) == [where]


def test_sources_without_a_date_are_named_and_are_no_leak(tmp_path):
    model, rows = registered()
    row = rows["cash"]
    model.put(f"Register!E{row}", "Investor day")
    where = model.put(f"Register!F{row}", None)
    brochure = model.put(f"Register!E{rows['debt']}", "Undated brochure, p. 1")
    evidence = Evidence(CUTOFF, SOURCES, closed=False)
    found = run(model, tmp_path, "register.dated-before-cutoff", evidence=evidence)["register.dated-before-cutoff"]
    assert accused(found) == [where, brochure]
    assert leak_in(recompute(load(model.save(tmp_path / "again.xlsx"))), (), evidence) is None


def test_a_date_of_retrieval_is_no_date_of_publication(tmp_path):
    model, rows = registered(heads=(*HEADS[:5], "Retrieved"))
    for row in rows.values():
        model.put(f"Register!F{row}", date(2026, 6, 1))
    found = run(model, tmp_path, "register.dated-before-cutoff", evidence=Evidence(CUTOFF))
    assert found["register.dated-before-cutoff"].status == "pass"


def test_judgement_and_law_need_no_date(tmp_path):
    model, rows = registered()
    for key in ("terminal_growth", "tax_rate"):
        model.put(f"Register!F{rows[key]}", None)
    found = run(model, tmp_path, "register.dated-before-cutoff", evidence=Evidence(CUTOFF))
    assert found["register.dated-before-cutoff"].status == "pass"


def test_without_a_cutoff_no_date_is_too_late(tmp_path):
    model, _ = registered()
    found = run(model, tmp_path, "register.dated-before-cutoff")["register.dated-before-cutoff"]
    assert (found.status, found.reason) == ("not_applicable", "the rubric sets no cutoff")


DAYS = {
    "2026-03-20": date(2026, 3, 20),
    "as of 2026/3/2": date(2026, 3, 2),
    "20 March 2026": date(2026, 3, 20),
    "Mar 5th, 2026": date(2026, 3, 5),
    "call of 24 Mar. 2026": date(2026, 3, 24),
    "March 2026": date(2026, 3, 1),
    "2026年3月20日": date(2026, 3, 20),
    "2026年3月": date(2026, 3, 1),
    "annual report 2025": date(2025, 1, 1),
    "3/4/2026": date(2026, 3, 4),
    "13/4/2026": date(2026, 4, 13),
    "note 2025a": date(2025, 1, 1),
    "p. 12": None,
    "31 February 2026": date(2026, 2, 1),
}


@pytest.mark.parametrize("text", DAYS)
def test_a_date_is_read_at_its_earliest(text):
    assert day_in(text) == DAYS[text]


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("Judgement: WACC plus three points", True),
        ("Analyst judgement", True),
        ("Analyst convention (balance-sheet date)", True),
        ("分析师判断", True),
        ("=Assumptions!B4", True),
        ("The task", True),
        ("Broker model of May 2026", False),
        ("Annual report 2025, note 8: renewal assumed", False),
        ("Consensus estimates, data vendor", False),
        ("Analyst report of a bank", False),
    ],
)
def test_judgement_is_told_from_a_source(words, own):
    assert is_own(words) is own


UNUSED = [
    "We did not use [AR02], which is later than the cutoff.",
    "The quarterly report of April [AR02] came out after the cutoff and was not used.",
    "[AR02] was published later, so we leave it aside.",
    "The later report [AR02] plays no part here.",
    "We exclude the later [AR02].",
    "A newer report [AR02] exists; it was\ndisregarded.",
    "Without using\n[AR02] we come to the same.",
    "季度报告[AR02]晚于截止日，未采用。",
]
USED = [
    "Sales doubled [AR02].",
    "Excluding one-offs, EBITDA grew by a tenth [AR02].",
    "Published after the cutoff, [AR02] confirms our view.",
    "We did not use it.\n\nSales doubled [AR02].",
    "Growth ignores inflation and is 4 % by the latest report [AR02].",
]


@pytest.mark.parametrize("sentence", UNUSED)
def test_a_sentence_that_says_a_source_was_not_used_cites_nothing(sentence):
    assert leak_in(None, (Memo("memo.md", (sentence,)),), Evidence(CUTOFF, SOURCES)) is None


@pytest.mark.parametrize("sentence", USED)
def test_a_sentence_that_uses_a_later_source_is_a_leak(sentence):
    found = leak_in(None, (Memo("memo.md", (sentence,)),), Evidence(CUTOFF, SOURCES))
    assert found == "memo.md cites AR02, published on 2026-04-20, after the cutoff 2026-03-31"


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("Company call of 12 May 2026", "late"),
        ("Annual report 2025: the lease ends on 30 June 2026", None),
        ("Investment plan to 2030", None),
        ("Guidance for the year ending 31 December 2028", None),
        ("Target price of a broker, 4 April 2026", "late"),
        ("Estimates of the market, 4 April 2026", "late"),
        ("Investor day", "undated"),
        ("Judgement: the hall opens on 1 May 2026", None),
    ],
)
def test_without_a_date_column_the_words_of_a_source_date_it(words, fault, tmp_path):
    """Only a day counts as late, and only where it can be a day of publication."""
    model, rows = registered(heads=(*HEADS[:5], "Remark"))
    for row in rows.values():
        model.put(f"Register!E{row}", "Judgement")
    model.put(f"Register!E{rows['cash']}", words)
    registers = find_registers(recompute(load(model.save(tmp_path / "m.xlsx"))))
    assert [one.fault for one in citations(registers, (), Evidence(CUTOFF))] == ([fault] if fault else [])


def test_each_citation_of_a_memo_is_reported_once():
    memo = Memo("memo.md", ("Sales doubled [AR02]. Margins too [AR02].", "Sales doubled [AR02]."))
    found = list(citations((), (memo,), Evidence(CUTOFF, SOURCES)))
    assert [(one.fault, one.found) for one in found] == [("late", "AR02")]


# actuals


def actual(year: int, value: float) -> Actual:
    return Actual(role="revenue", year=year, value=value, published=date(2028, 3, 1), source="Annual report")


def test_forecasts_near_what_came_true_pass_and_others_cost_their_share(tmp_path):
    model = clean_model()
    paper = workpaper(model, tmp_path / "model.xlsx")
    revenue = paper.roles.series["revenue"]
    first, second = (value * 1e6 for value in revenue.values[:2])
    years = [2026, 2027]
    near = run(model, tmp_path, "actuals.within", actuals=(actual(years[0], first * 1.09),))["actuals.within"]
    assert near.status == "pass", near
    both = (actual(years[0], first * 1.09), actual(years[1], second * 0.8))
    found = run(model, tmp_path, "actuals.within", actuals=both)["actuals.within"]
    assert (found.status, found.credit) == ("partial", pytest.approx(0.5))
    (finding,) = found.findings
    assert str(finding.cell) == model.forecast("revenue")[1]
    assert finding.expected == pytest.approx(second * 0.8 / 1e6)


def test_without_actuals_nothing_is_compared(tmp_path):
    assert run(clean_model(), tmp_path, "actuals.within")["actuals.within"].status == "not_applicable"


def test_an_actual_known_by_the_cutoff_is_refused(tmp_path):
    path = tmp_path / "actuals.yaml"
    line = "  - {role: revenue, year: 2026, value: 1, published: 2026-03-31, source: Report}\n"
    path.write_text("schema_version: 1\nactuals:\n" + line, encoding="utf-8")
    with pytest.raises(UsageError, match=r"actuals.yaml:3: actuals\[0\]\.published: 2026-03-31 is not later"):
        load_actuals(path, CUTOFF)
    assert load_actuals(path, None)[0].year == 2026
