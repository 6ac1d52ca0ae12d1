"""Declaring and running checks, on a made-up registry and made-up roles."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pytest

from xlcheck import checking
from xlcheck.cells import CellError, CellRef
from xlcheck.checking import (
    Check,
    Credit,
    Finding,
    Fits,
    NotApplicable,
    Outcomes,
    Params,
    Request,
    Unverifiable,
    check,
    run_checks,
)
from xlcheck.engines import Unsolved
from xlcheck.roles import Located, LocatedSeries, Roles

B1 = CellRef("S", 1, 2)
B2 = CellRef("S", 2, 2)


def located(role: str, cell: CellRef, value: float | None, confidence: float = 0.95) -> Located:
    return Located(role=role, cell=cell, value=value, unit="rate", confidence=confidence, how="label")


def paper(values: dict[CellRef, object] | None = None, ambiguous: dict | None = None, **scalars: Located):
    roles = Roles(scalars=scalars, series={}, ambiguous=ambiguous or {})
    recalc = SimpleNamespace(value=(values or {}).get)
    return SimpleNamespace(book=None, recalc=recalc, graph=None, roles=roles, previous=None)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Check]:
    empty: dict[str, Check] = {}
    monkeypatch.setattr(checking, "CHECKS", empty)
    return empty


def declare(*outcomes: object, check_id: str = "wacc.made-up", **options: object) -> None:
    def made_up(wacc: Located, beta: Located | None) -> Outcomes:
        """Hold something."""
        yield from outcomes  # type: ignore[misc]

    check(check_id, **options)(made_up)  # type: ignore[arg-type]


def run(sheet, *requests: Request):
    return run_checks(sheet, requests or (Request("wacc.made-up"),))


FINDING = Finding(message="off", cell=B1, found=0.2, expected=0.1)


def test_signature_tells_what_a_check_needs() -> None:
    declare()
    assert dict(checking.CHECKS["wacc.made-up"].needs) == {"wacc": True, "beta": False}


@pytest.mark.parametrize(
    ("hints", "message"),
    [
        ({"waac": Located}, "'waac' is neither a role"),
        ({"wacc": LocatedSeries}, "must be annotated Located"),
        ({"fcff": Located}, "must be annotated LocatedSeries"),
        ({"params": str}, "must be annotated"),
    ],
)
def test_misspelt_roles_and_wrong_types_are_refused_when_declared(hints: dict, message: str) -> None:
    def broken(**_: object) -> Outcomes:
        yield from ()

    broken.__annotations__ = {**hints, "return": Outcomes}
    with pytest.raises(ValueError, match=message):
        check("wacc.broken")(broken)


def test_an_id_is_declared_once() -> None:
    declare()
    with pytest.raises(ValueError, match="declared twice"):
        declare()


@pytest.mark.parametrize(
    ("outcomes", "status", "credit"),
    [
        ((), "pass", Decimal(1)),
        ((Fits(convention="end-year"),), "pass", Decimal(1)),
        ((FINDING,), "fail", Decimal(0)),
        ((FINDING, Credit(credit=Decimal("0.5"))), "partial", Decimal("0.5")),
        ((FINDING, Unverifiable(reason="dark")), "fail", Decimal(0)),
        ((NotApplicable(reason="none"), Unverifiable(reason="dark")), "unverifiable", None),
        ((NotApplicable(reason="none"),), "not_applicable", None),
    ],
)
def test_outcomes_become_a_status(outcomes: tuple, status: str, credit: Decimal | None) -> None:
    declare(*outcomes)
    (result,) = run(paper(wacc=located("wacc", B1, 0.1)))
    assert (result.status, result.credit) == (status, credit)
    assert result.cells_read == (B1,)


def test_a_role_without_candidate_is_not_applicable_and_rivals_leave_it_open() -> None:
    declare()
    assert run(paper())[0].status == "not_applicable"
    rivals = (located("wacc", B1, 0.1), located("wacc", B2, 0.2))
    (result,) = run(paper(ambiguous={"wacc": rivals}))
    assert result.status == "unverifiable"
    assert "S!B1 or S!B2" in (result.reason or "")


@pytest.mark.parametrize(
    ("value", "status", "words"),
    [
        (Unsolved(kind="cycle", detail="S!B1 reads itself"), "unverifiable", "S!B1 reads itself"),
        (None, "not_applicable", "is empty"),
        (CellError(error="#REF!"), "unverifiable", "#REF!"),
    ],
)
def test_a_role_without_number_says_why(value: object, status: str, words: str) -> None:
    declare()
    (result,) = run(paper({B1: value}, wacc=located("wacc", B1, None)))
    assert result.status == status
    assert words in (result.reason or "")


def test_a_check_that_breaks_stays_open_and_the_others_go_on() -> None:
    class Panic(BaseException):
        pass

    def breaking(wacc: Located) -> Outcomes:
        """Break."""
        raise Panic("engine panicked")
        yield

    check("wacc.breaking")(breaking)
    declare()
    broken, fine = run(paper(wacc=located("wacc", B1, 0.1)), Request("wacc.breaking"), Request("wacc.made-up"))
    assert (broken.status, fine.status) == ("unverifiable", "pass")
    assert (broken.reason or "").startswith(checking.BROKEN)


def test_keyboard_interrupt_is_not_swallowed() -> None:
    def interrupted(wacc: Located) -> Outcomes:
        """Stop."""
        raise KeyboardInterrupt
        yield

    check("wacc.interrupted")(interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(paper(wacc=located("wacc", B1, 0.1)), Request("wacc.interrupted"))


def test_a_fatal_error_needs_surely_bound_roles() -> None:
    declare(FINDING, severity="fatal")
    assert run(paper(wacc=located("wacc", B1, 0.1, confidence=0.79)))[0].status == "unverifiable"
    assert run(paper(wacc=located("wacc", B1, 0.1, confidence=0.81)))[0].status == "fail"


def test_a_consequence_names_its_cause_only_when_the_cause_failed() -> None:
    declare(FINDING, check_id="bridge.root")
    declare(FINDING, check_id="bridge.after", consequence_of=("bridge.root",))
    sheet = paper(wacc=located("wacc", B1, 0.1))
    both = run(sheet, Request("bridge.root"), Request("bridge.after"))
    assert [result.caused_by for result in both] == [None, "bridge.root"]
    assert run(sheet, Request("bridge.after"))[0].caused_by is None


def test_params_and_severity_come_from_the_request() -> None:
    def ranged(wacc: Located, params: Params) -> Outcomes:
        """Hold a range."""
        if wacc.value is not None and wacc.value > float(str(params["high"])):
            yield FINDING

    check("wacc.range")(ranged)
    request = Request("wacc.range", {"high": Decimal("0.05")}, item="P7", severity="warn")
    (result,) = run(paper(wacc=located("wacc", B1, 0.1)), request)
    assert (result.status, result.item, result.severity) == ("fail", "P7", "warn")
