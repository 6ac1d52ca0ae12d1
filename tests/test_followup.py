"""The second round: what must move, what must not, and that it reaches the value per share."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from planted import Model, bound_roles, clean_model

from xlcheck import cli, grade
from xlcheck.cells import CellRef
from xlcheck.checking import CheckResult, Request, Workpaper, run_checks
from xlcheck.errors import UsageError
from xlcheck.followup import Challenge, Information, Move, SecondRound
from xlcheck.graph import build_graph
from xlcheck.memo import Memo
from xlcheck.recompute import recompute
from xlcheck.workbook import load

TASK = Path(__file__).parents[1] / "fixtures" / "sic-epitaxy-dcf"
CAPEX = Information(text="capex is raised by a quarter", moves=Move(role="capex", factor=Decimal("1.25")))
LATER = Information(text="capex from year two", moves=Move(role="capex", factor=Decimal("1.25"), from_year=2027))
GROWTH = Challenge(
    id="C2", sound=False, text="growth is 4 %", moves=Move(role="terminal_growth", value=Decimal("0.04"))
)
DEBT = Challenge(id="C1", sound=True, text="debt is 350", moves=Move(role="debt", value=Decimal("350000000")))
CHECKS = ("followup.new-information-applied", "followup.flows-through", "followup.nothing-else-moved")


def paper(model: Model, path: Path, memo: str = "", **more: object) -> Workpaper:
    book = load(model.save(path))
    recalc = recompute(book)
    memos = (Memo("memo.md", (memo,)),)
    return Workpaper(book, recalc, build_graph(book), bound_roles(model, recalc), memos, **more)  # type: ignore[arg-type]


def compare(
    folder: Path, second: Model, *told: Information | Challenge, first: Model | None = None, memo: str = ""
) -> dict[str, CheckResult]:
    asked = SecondRound(
        information=tuple(one for one in told if isinstance(one, Information)),
        challenges=tuple(one for one in told if isinstance(one, Challenge)),
    )
    previous = paper(first or clean_model(), folder / "first.xlsx")
    now = paper(second, folder / "second.xlsx", memo, second_round=asked, previous=previous)
    results = run_checks(now, [Request(check_id) for check_id in CHECKS])
    assert not [result.reason for result in results if result.reason and "broke" in result.reason]
    return {result.check_id.removeprefix("followup."): result for result in results}


def statuses(found: dict[str, CheckResult]) -> list[str]:
    return [found[check.removeprefix("followup.")].status for check in CHECKS]


def raised(share: float = 0.072 * 1.25) -> Model:
    """The clean model with its capex share raised by a quarter."""
    model = clean_model()
    model.set("capex_share", share)
    return model


def test_the_driver_of_the_line_may_be_moved_instead_of_the_line(tmp_path):
    found = compare(tmp_path, raised(), CAPEX)
    assert statuses(found) == ["pass", "pass", "pass"]
    assert found["flows-through"].convention == "the outputs are those of the first model with the changed inputs"


def test_a_formula_may_move_the_line(tmp_path):
    second = clean_model()
    second.set("capex", "={revenue}*{capex_share}*1.25")
    assert statuses(compare(tmp_path, second, CAPEX)) == ["pass", "pass", "pass"]


def test_an_answer_that_moves_nothing_has_not_used_the_news(tmp_path):
    found = compare(tmp_path, clean_model(), CAPEX)
    assert statuses(found)[0] == "fail"
    first = found["new-information-applied"].findings[0]
    line = clean_model().forecast("capex")
    assert str(first.cell) == line[0]
    assert first.expected == pytest.approx(first.found * 1.25)


def test_a_move_of_another_size_is_named_with_the_size_asked_for(tmp_path):
    found = compare(tmp_path, raised(0.072 * 1.2), CAPEX)["new-information-applied"]
    assert found.status == "fail"
    assert found.findings[0].expected / found.findings[0].found == pytest.approx(1.25 / 1.2)


def test_years_that_were_not_told_must_not_move(tmp_path):
    found = compare(tmp_path, raised(), LATER)["new-information-applied"]
    assert found.status == "fail"
    (finding,) = found.findings
    assert str(finding.cell) == clean_model().forecast("capex")[0]
    assert "it was not to move" in finding.message


def test_a_declared_change_explains_the_rest_of_the_line(tmp_path):
    """More revenue growth in the first year moves capex of every year, as capex is a share of revenue."""
    second = clean_model()
    second.set("capex", "={revenue}*{capex_share}*1.25", period=1)
    old = second.get("revenue_growth", 0)
    second.set("revenue_growth", 0.11, period=0)
    told = CAPEX.model_copy(update={"moves": CAPEX.moves.model_copy(update={"from_year": 2027, "to_year": 2027})})
    silent = compare(tmp_path, second, told)
    assert silent["new-information-applied"].status == silent["nothing-else-moved"].status == "fail"
    memo = f"Revenue growth of the first year is raised from {old:.1%} to 11.0 %, as a contract was won."
    assert statuses(compare(tmp_path, second, told, memo=memo)) == ["pass", "pass", "pass"]


def test_pasted_flows_stop_the_news(tmp_path):
    second = raised()
    calc = recompute(load(clean_model().save(tmp_path / "values.xlsx")))
    for period, cell in enumerate(clean_model().forecast("fcff")):
        second.set("fcff", calc.number(CellRef.parse(cell)), period=period)
    found = compare(tmp_path, second, CAPEX)
    assert statuses(found) == ["pass", "fail", "pass"]
    assert [str(finding.cell) for finding in found["flows-through"].findings] == second.forecast("fcff")


def test_a_link_turned_to_another_row_stops_the_news(tmp_path):
    second = raised()
    second.set("fcff", "={nopat}+{depreciation}-{revenue}*0.072-{change_in_nwc}")
    found = compare(tmp_path, second, CAPEX)
    assert found["flows-through"].status == "fail"
    assert "no headline value reads it any more" in found["flows-through"].findings[0].message


def test_an_undeclared_input_is_named(tmp_path):
    second = raised()
    second.set("terminal_growth", 0.03)
    found = compare(tmp_path, second, CAPEX, memo="We use terminal growth of 3.0 % as usual.")
    assert statuses(found) == ["pass", "pass", "fail"]
    (finding,) = found["nothing-else-moved"].findings
    assert (str(finding.cell), finding.found, finding.expected) == (second.cell("terminal_growth"), 0.03, 0.025)


DECLARED = [
    "Terminal growth is raised to 3.0 %, as the new plant serves\na growing market.",
    "Terminal growth: 3.0 % (2.5 % before).",
    "| Terminal growth | 2.5 % | 3.0 % |",
    "Valuation. We changed Inputs!{cell} to 3.0 %.",
    "We now use a terminal growth rate of 3 % instead of 2.5 %.",
]
SAID = [
    "We use terminal growth of 3.0 % as usual.",
    "Terminal growth of 3.0 % is taken from long-run forecasts, and revenue increases faster.",
    "Capex guidance is raised. Terminal growth is 3.0 %.",
    "Terminal growth is raised, as the plant serves a growing market.",
    "The risk-free rate is raised from 2.5 % to 3.0 %.",
]


@pytest.mark.parametrize("memo", DECLARED)
def test_a_declared_input_may_move(memo, tmp_path):
    second = raised()
    where = second.set("terminal_growth", 0.03)
    memo = memo.format(cell=where.partition("!")[2])
    assert statuses(compare(tmp_path, second, CAPEX, memo=memo)) == ["pass", "pass", "pass"]


@pytest.mark.parametrize("memo", SAID)
def test_a_value_that_is_only_mentioned_is_not_declared(memo, tmp_path):
    second = raised()
    second.set("terminal_growth", 0.03)
    assert statuses(compare(tmp_path, second, CAPEX, memo=memo))[2] == "fail"


def test_what_a_false_challenge_asks_for_may_not_move_even_declared(tmp_path):
    second = raised()
    second.set("terminal_growth", 0.04)
    memo = "Terminal growth is raised from 2.5 % to 4.0 %, as you say."
    found = compare(tmp_path, second, CAPEX, GROWTH, memo=memo)["nothing-else-moved"]
    assert [str(finding.cell) for finding in found.findings] == [second.cell("terminal_growth")]
    assert "as a false challenge asks" in found.findings[0].message


def test_a_sound_challenge_moves_its_number(tmp_path):
    second = raised()
    second.set("debt", 350.0)
    assert statuses(compare(tmp_path, second, CAPEX, DEBT)) == ["pass", "pass", "pass"]
    left = compare(tmp_path, raised(), CAPEX, DEBT)["new-information-applied"]
    assert left.status == "fail"
    assert [(str(one.cell), one.found, one.expected) for one in left.findings] == [(second.cell("debt"), 310.0, 350.0)]


def test_a_formula_overtyped_elsewhere_is_no_silent_change(tmp_path):
    second = raised()
    where = second.set("revenue", 1300.0, period=2)
    found = compare(tmp_path, second, CAPEX)["nothing-else-moved"]
    assert found.status == "fail"
    assert where in {str(finding.cell) for finding in found.findings}


def test_a_literal_slipped_into_a_formula_is_a_silent_change(tmp_path):
    second = raised()
    plain = str(second.get("equity_value"))
    where = second.set("equity_value", f"{plain}+60")
    found = compare(tmp_path, second, CAPEX)
    assert statuses(found) == ["pass", "pass", "fail"]
    (finding,) = found["nothing-else-moved"].findings
    assert str(finding.cell) == where
    assert finding.found - finding.expected == pytest.approx(60)


def test_a_new_line_in_the_bridge_is_left_to_the_judge(tmp_path):
    """It reads a cell that the first workbook does not have: what it does to the value cannot be predicted."""
    second = raised()
    second.put("Valuation!D30", 60)
    second.set("equity_value", f"{second.get('equity_value')}-Valuation!D30")
    assert statuses(compare(tmp_path, second, CAPEX)) == ["pass", "unverifiable", "pass"]


def test_inserted_rows_are_no_changes(tmp_path):
    """Three rows above the inputs shift every row and every reference of that sheet."""
    second = raised()
    book = second.save(tmp_path / "plain.xlsx")
    shifted = _with_rows_above(book, tmp_path / "second.xlsx", "Inputs", 3)
    previous = paper(clean_model(), tmp_path / "first.xlsx")
    recalc = recompute(load(shifted))
    asked = SecondRound(information=(CAPEX,))
    roles = previous.roles
    now = Workpaper(recalc.book, recalc, build_graph(recalc.book), roles, second_round=asked, previous=previous)
    results = run_checks(now, [Request(check_id) for check_id in CHECKS])
    assert [(result.status, result.reason) for result in results] == [("pass", None)] * 3


def _with_rows_above(source: Path, target: Path, name: str, count: int) -> Path:
    import re

    import openpyxl

    book = openpyxl.load_workbook(source)
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, str) and cell.value.startswith("="):
                    own = sheet.title == name
                    cell.value = re.sub(
                        rf"({name}!)?(\$?[A-Z]{{1,2}}\$?)(\d+)",
                        lambda m, own=own: f"{m[1] or ''}{m[2]}{int(m[3]) + count if m[1] or own else m[3]}",
                        re.sub(rf"({name}!\$?[A-Z]+\$?\d+):(\$?[A-Z]+\$?\d+)", rf"\1:{name}!\2", cell.value),
                    ).replace(f":{name}!", ":")
    book[name].insert_rows(1, count)
    book[name]["A1"] = "Second round"
    book.save(target)
    return target


def test_a_first_round_has_nothing_to_compare_with(tmp_path):
    results = run_checks(paper(clean_model(), tmp_path / "m.xlsx"), [Request(check_id) for check_id in CHECKS])
    assert {result.status for result in results} == {"not_applicable"}


# -- the bundled second round ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def second():
    """Grade each of the three bundled answers in the second round."""
    graded = {}
    for answer in ("right", "pasted", "silent"):
        folder = TASK / "second-round" / answer
        report = grade(
            TASK / "reference",
            "sic-epitaxy-dcf",
            TASK / "reference" / "verdicts.json",
            followup=folder,
            followup_verdicts=folder / "verdicts.json",
        )
        graded[answer] = report.followup
    return graded


def failed(report) -> dict[str, list[str]]:
    return {
        result.check_id: [str(finding.cell) for finding in result.findings]
        for result in report.results
        if result.status == "fail" and result.check_id.startswith("followup.")
    }


def test_the_three_answers_score_in_order(second):
    assert [second[answer].score_card.score for answer in ("right", "pasted", "silent")] == [100, 80, 75]


def test_each_answer_has_the_findings_it_deserves(second):
    assert failed(second["right"]) == {}
    found = failed(second["pasted"])
    assert list(found) == ["followup.flows-through"]
    assert found["followup.flows-through"][0] == "DCF!G5"
    assert failed(second["silent"]) == {"followup.nothing-else-moved": ["Assumptions!C13"]}


def test_outputs_and_changed_inputs_are_listed_side_by_side(second):
    found = {str(one.after): one for one in second["silent"].differences}
    value, growth, leases = (found[where] for where in ("DCF!C32", "Assumptions!C13", "Assumptions!C25"))
    assert (value.kind, value.label) == ("output", "value_per_share")
    assert (value.old, value.new) == (pytest.approx(39.3087, abs=5e-5), pytest.approx(38.5072, abs=5e-5))
    assert (growth.kind, growth.old, growth.new, growth.declared) == ("input", 0.13, 0.16, False)
    assert (leases.kind, leases.old, leases.new, leases.declared) == ("input", 38.0, 52.0, True)
    assert {one.kind for one in second["pasted"].differences} == {"output", "input", "overwritten"}


def test_the_table_of_both_rounds_is_printed(capsys, tmp_path):
    folder = TASK / "second-round" / "right"
    options = ["--rubric", "sic-epitaxy-dcf", "--followup", str(folder), "--out", str(tmp_path)]
    assert cli.main(["grade", str(TASK / "reference"), *options]) == 0
    lines = capsys.readouterr().out.split("Both rounds")[1].splitlines()
    assert [line.split() for line in lines if "value per share" in line] == [
        ["value", "per", "share", "39.3087", "37.5784"]
    ]
    assert any(line.split()[-2:] == ["Assumptions!C25", "declared"] for line in lines)


def test_the_right_answer_is_worth_what_plain_arithmetic_gives(second):
    """The first round's figures with capex shares of 25.2 % and 22.8 % and leases of 52, worked out in plain Python."""
    from test_fixtures import value_per_share

    assert value_per_share() == pytest.approx(39.3087, abs=5e-5)
    found = second["right"].roles["value_per_share"].value
    assert found == pytest.approx(37.5784, abs=5e-5)


def test_the_command_writes_both_rounds(tmp_path, capsys):
    folder = TASK / "second-round" / "silent"
    arguments = ["--verdicts", str(TASK / "reference" / "verdicts.json"), "--followup", str(folder), "--json"]
    arguments += [
        "--followup-verdicts",
        str(folder / "verdicts.json"),
        "--out",
        str(tmp_path / "out"),
        "--min-score",
        "80",
    ]
    code = cli.main(["grade", str(TASK / "reference"), "--rubric", "sic-epitaxy-dcf", *arguments])
    printed = json.loads(capsys.readouterr().out)
    assert code == 1
    assert printed["score_card"]["score"] == "100"
    assert printed["followup"]["score_card"]["score"] == "75"
    assert (tmp_path / "out" / "followup" / "report.html").is_file()
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '<a href="followup/report.html">Second round: 75</a>' in page
    assert json.loads((tmp_path / "out" / "followup" / "report.json").read_text()) == printed["followup"]


def test_a_rubric_without_a_second_round_says_so():
    with pytest.raises(UsageError, match="generic-dcf has no follow-up section"):
        grade(TASK / "reference", "generic-dcf", followup=TASK / "reference")


def test_the_news_is_no_leak_unless_the_second_round_has_a_cutoff(tmp_path):
    """The first round's cutoff of 31 March does not void an answer that cites the guidance of 14 April."""
    folder = tmp_path / "second"
    folder.mkdir()
    right = TASK / "second-round" / "right"
    (folder / "model.xlsx").write_bytes((right / "model.xlsx").read_bytes())
    (folder / "memo.md").write_text("Capex follows [G1].", encoding="utf-8")
    pack = tmp_path / "pack.yaml"
    source = "  - {id: G1, published: 2026-04-14, title: Guidance of 14 April 2026}\n"
    pack.write_text(f"schema_version: 1\nsources:\n{source}", encoding="utf-8")
    text = (Path(__file__).parents[1] / "rubrics" / "sic-epitaxy-dcf.yaml").read_text(encoding="utf-8")
    for cutoff, status in (
        ("", "provisional"),
        ("  cutoff: 2026-04-13\n", "invalid"),
        ("  cutoff: 2026-04-14\n", "provisional"),
    ):
        (tmp_path / "r.yaml").write_text(text.replace("followup:\n", f"followup:\n{cutoff}"), encoding="utf-8")
        report = grade(TASK / "reference", tmp_path / "r.yaml", followup=folder, evidence=pack)
        assert report.followup.score_card.status == status, cutoff
