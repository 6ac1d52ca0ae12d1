"""Reports of an invented task, put together by hand: no workbook, engine or locator behind them."""

from decimal import Decimal

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import CheckResult, Effect, Finding
from xlcheck.report.document import Report
from xlcheck.roles import Located
from xlcheck.rubric import fingerprint, parse_rubric
from xlcheck.scoring.model import score
from xlcheck.verdicts import Quote, Verdict

RUBRIC = parse_rubric("""
schema_version: 1
id: invented-task
title: DCF of an invented maker of kiln bricks
mode: financial_model
program:
  - {id: P01, check: bridge.equity-identity, weight: 12, stage: derivation, dimension: bridge, title: Equity bridge}
  - {id: P02, check: wacc.identity, weight: 10, stage: derivation, dimension: rates, title: WACC build}
  - {id: P03, check: discount.pv-sum, weight: 8, stage: verification, dimension: discounting}
judge:
  - {id: J01, dimension: sources, stage: assumption, weight: 40, pass_if: Each assumption has a dated source,
     quote: required}
  - {id: J02, dimension: conclusion, stage: verification, weight: 30, pass_if: Says what would disprove it}
deductions:
  - {id: D01, points: 5, when: A source is invented}
fatal:
  - {check: fatal.share-count}
  - {id: F02, judge: Nominal flows at a real rate}
""")

SLIP = Finding(
    message="The debt is added instead of taken off",
    cell=CellRef("Bridge", 9, 3),
    found=2466.0,
    expected=1906.0,
    unit="money",
    tolerance=Tolerance(),
    effect=Effect(role="value_per_share", stated=30.825, repaired=23.825),
)
PASSES = {"check_id": "", "severity": "scored", "status": "pass", "credit": Decimal(1)}


def result(item, check_id, status="pass", **more):
    credit = {"pass": Decimal(1), "fail": Decimal(0)}.get(status)
    severity = "fatal" if check_id.startswith("fatal.") else "scored"
    return CheckResult(check_id=check_id, item=item, severity=severity, status=status, **({"credit": credit} | more))


def verdicts(*, j02="pass"):
    return (
        Verdict(
            item="J01",
            verdict="pass",
            quotes=(Quote(text="kiln output of 1,250 kt", where="memo.md", found="exact"),),
            judge="a",
        ),
        Verdict(item="J02", verdict=j02, reason="No trigger is named.", judge="a"),
        Verdict(item="D01", triggered=False, judge="a"),
        Verdict(item="F02", triggered=False, judge="a"),
    )


def roles():
    def money(role, row, value):
        return Located(
            role=role, cell=CellRef("Bridge", row, 3), value=value, unit="money", factor=1e6, currency="EUR",
            confidence=0.97, how="label+identity", evidence=(f"label Bridge!A{row}",),
        )  # fmt: skip

    found = [
        money("enterprise_value", 5, 2186.0),
        money("debt", 6, 360.0),
        money("cash", 7, 80.0),
        money("equity_value", 9, 1906.0),
        Located(role="wacc", cell=CellRef("WACC", 4, 2), value=0.0973, unit="rate", confidence=0.99, how="label"),
    ]
    return {located.role: located for located in found}


def report(results, rulings, *, title=RUBRIC.title, workbook="kilns.xlsx"):
    return Report(
        xlcheck_version="0.0",
        engines={"cellrune": "0.2"},
        workbook=workbook,
        workbook_sha256="ab" * 32,
        rubric_id=RUBRIC.id,
        rubric_title=title,
        rubric_sha256=fingerprint(RUBRIC),
        roles=roles(),
        series={},
        ambiguous={},
        headline="Bridge",
        results=tuple(results),
        score_card=None if rulings is None else score(RUBRIC, results, rulings),
    )


def good():
    """All points but the conclusion's 30: 70, final."""
    return report(
        [
            result("P01", "bridge.equity-identity"),
            result("P02", "wacc.identity", convention="typed rate at its own decimals"),
            result("P03", "discount.pv-sum"),
            result("fatal.share-count", "fatal.share-count"),
        ],
        verdicts(j02="fail"),
    )


def capped():
    """88 points and a fatal error: 40."""
    count = Finding(message="The share count is zero", cell=CellRef("Bridge", 11, 3), found=0.0, expected=None)
    return report(
        [
            result("P01", "bridge.equity-identity", "fail", findings=(SLIP,)),
            result("P02", "wacc.identity"),
            result("P03", "discount.pv-sum"),
            result("fatal.share-count", "fatal.share-count", "fail", findings=(count,)),
        ],
        verdicts(),
    )


def provisional():
    """An open check of 8 points and a judge item of 40 without a verdict: 52 to 100."""
    return report(
        [
            result("P01", "bridge.equity-identity"),
            result("P02", "wacc.identity"),
            result("P03", "discount.pv-sum", "unverifiable", reason="Bridge!C3 could not be recomputed: a loop"),
            result("fatal.share-count", "fatal.share-count"),
        ],
        verdicts()[1:],
    )


def audited():
    """No score: one fault, its consequence, one open check."""
    return report(
        [
            result(None, "bridge.equity-identity", "fail", findings=(SLIP,)),
            result(None, "bridge.per-share", "fail", findings=(SLIP,), caused_by="bridge.equity-identity"),
            result(None, "wacc.identity", convention="typed rate at its own decimals"),
            result(None, "discount.pv-sum", "unverifiable", reason="Bridge!C3 could not be recomputed: a loop"),
        ],
        None,
    )
