"""Declaring and running checks; it knows no particular check."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, get_type_hints

from xlcheck.actuals import Actual
from xlcheck.cells import CellRef, Frozen, RangeRef, Tolerance
from xlcheck.engines import Unsolved
from xlcheck.evidence import Evidence
from xlcheck.followup import SecondRound
from xlcheck.graph import Graph
from xlcheck.memo import Memo
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES
from xlcheck.workbook import Book

Status = Literal["pass", "fail", "partial", "not_applicable", "unverifiable"]
Severity = Literal["fatal", "scored", "warn"]


class Effect(Frozen):
    """What repairing a fault would do to the value per share."""

    role: str
    """The headline output that moves: ``value_per_share``, else ``equity_value``, ``enterprise_value``."""
    stated: float
    repaired: float


class Finding(Frozen):
    """One thing that is wrong, at its cell, in one sentence a grader can act on."""

    message: str
    cell: CellRef | RangeRef | None
    """Where to look first; None only where a finding is about the whole workbook."""
    found: float | str | None
    """The recomputed value that stands there, in the sheet's unit."""
    expected: float | str | None
    """What would be right, in the same unit."""
    unit: str = ""
    tolerance: Tolerance | None = None
    effect: Effect | None = None


class Fits(Frozen):
    """Yielded by a check to name the accepted convention that the workbook follows."""

    convention: str


class NotApplicable(Frozen):
    """Yielded by a check when the workbook has nothing that it could hold for."""

    reason: str


class Unverifiable(Frozen):
    """Yielded by a check when it cannot tell: the item stays open."""

    reason: str


class Credit(Frozen):
    """Yielded beside findings for partial credit: the status becomes ``partial``."""

    credit: Decimal


Outcome = Finding | Fits | NotApplicable | Unverifiable | Credit
Outcomes = Iterator[Outcome]


class CheckResult(Frozen):
    """What one check said of one workbook."""

    check_id: str
    item: str | None = None
    """Id of the rubric item that asked for it (None in `audit`)."""
    severity: Severity
    status: Status
    credit: Decimal | None
    """0 to 1; None where the status leaves it open."""
    findings: tuple[Finding, ...] = ()
    cells_read: tuple[CellRef | RangeRef, ...] = ()
    convention: str | None = None
    caused_by: str | None = None
    """Check id of the finding that this failure only follows from."""
    reason: str | None = None
    """Why it is not applicable, unverifiable or partial."""


Params = Mapping[str, Decimal | str | bool]
"""What a rubric item tells a check: ``low``, ``high``, … (rates as decimals)."""


_WHOLE: dict[str, object] = {
    "book": Book,
    "recalc": Recalc,
    "graph": Graph,
    "roles": Roles,
    "params": Params,
    "memos": tuple[Memo, ...],
    "evidence": Evidence | None,
    "actuals": tuple[Actual, ...],
    "second_round": SecondRound | None,
}
FATAL_CONFIDENCE = 0.8
"""A fatal error needs roles bound at least this surely; below it the check is unverifiable."""


@dataclass(frozen=True, slots=True)
class Check:
    """A declared check; what it needs is read from its signature once, when it is declared."""

    id: str
    function: Callable[..., Outcomes]
    severity: Severity
    consequence_of: tuple[str, ...]
    """Ids of checks whose failure explains a failure of this one."""
    needs: Mapping[str, bool]
    """Role name to whether it must be bound."""
    whole: frozenset[str]
    """The parameters that are not roles: ``book``, ``recalc``, …"""

    @property
    def doc(self) -> str:
        """The docstring, unindented."""
        return inspect.getdoc(self.function) or ""


CHECKS: dict[str, Check] = {}
"""Every declared check by id."""


@dataclass(frozen=True, slots=True)
class Workpaper:
    """What checks may ask for."""

    book: Book
    recalc: Recalc
    graph: Graph
    roles: Roles
    memos: tuple[Memo, ...] = ()
    """The memo files beside the workbook."""
    evidence: Evidence | None = None
    """What the answer may rest on; None where the task neither has a pack nor a cutoff."""
    actuals: tuple[Actual, ...] = ()
    """What came true after the forecast, where the grader has it."""
    second_round: SecondRound | None = None
    """What is new in a second round; None in a first one."""
    previous: Workpaper | None = None
    """The first round, for a second one."""


_WHOLE["previous"] = Workpaper | None


@dataclass(frozen=True, slots=True)
class Request:
    """One check to run, as a rubric item or `audit` asks for it."""

    check_id: str
    params: Params = field(default_factory=dict)
    item: str | None = None
    severity: Severity | None = None
    """Overrides the check's own."""


def check(
    check_id: str, *, severity: Severity = "scored", consequence_of: tuple[str, ...] = ()
) -> Callable[[Callable[..., Outcomes]], Callable[..., Outcomes]]:
    """Declare a check; its parameters are role names, or one of `Workpaper`'s fields, or ``params``.

    Raises ValueError at import for an id used twice, an unknown role, or a wrong annotation.
    """

    def declare(function: Callable[..., Outcomes]) -> Callable[..., Outcomes]:
        if check_id in CHECKS:
            raise ValueError(f"check id {check_id!r} is declared twice")
        needs, whole = _needs(check_id, function)
        CHECKS[check_id] = Check(check_id, function, severity, consequence_of, needs, whole)
        return function

    return declare


def _needs(check_id: str, function: Callable[..., Outcomes]) -> tuple[dict[str, bool], frozenset[str]]:
    needs: dict[str, bool] = {}
    whole = set()
    for name, hint in _hints(function).items():
        if name == "return":
            continue
        if name in _WHOLE:
            if hint != _WHOLE[name]:
                raise ValueError(f"{check_id}: parameter {name!r} must be annotated {_WHOLE[name]}")
            whole.add(name)
            continue
        kind = Located if name in SCALAR_ROLES else LocatedSeries if name in SERIES_ROLES else None
        if kind is None:
            raise ValueError(f"{check_id}: {name!r} is neither a role nor one of {', '.join(_WHOLE)}")
        if hint not in (kind, kind | None):
            raise ValueError(f"{check_id}: role {name!r} must be annotated {kind.__name__} or {kind.__name__} | None")
        needs[name] = hint is kind
    return needs, frozenset(whole)


_KNOWN_HINTS: dict[tuple[object, ...], object] = {}
"""An annotation's text and what its words mean in its module, to its value: to evaluate it anew costs more."""


def _hints(function: Callable[..., Outcomes]) -> dict[str, object]:
    scope = function.__globals__
    keys = {
        name: (text, *(id(scope.get(word)) for word in re.findall(r"\w+", str(text))))
        for name, text in function.__annotations__.items()
    }
    if not _KNOWN_HINTS.keys() >= set(keys.values()):
        _KNOWN_HINTS.update({keys[name]: hint for name, hint in get_type_hints(function).items()})
    return {name: _KNOWN_HINTS[key] for name, key in keys.items()}


def run_checks(paper: Workpaper, requests: Iterable[Request]) -> tuple[CheckResult, ...]:
    """Run the checks asked for, in order; one that breaks becomes ``unverifiable`` and the others go on.

    Raises KeyError for an unknown check id (rubrics are validated before).
    """
    results = [_run(paper, CHECKS[request.check_id], request) for request in requests]
    return tuple(_with_cause(result, results) for result in results)


def _run(paper: Workpaper, declared: Check, request: Request) -> CheckResult:
    severity = request.severity or declared.severity
    roles, missing = _bind(paper, declared)
    if missing is not None:
        return _result(declared, request, severity, [missing], roles)
    arguments: dict[str, object] = dict(roles)
    for name in declared.whole:
        arguments[name] = request.params if name == "params" else getattr(paper, name)
    try:
        outcomes: list[Outcome] = list(declared.function(**arguments))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - engines written in Rust raise PanicException, no Exception
        outcomes = [Unverifiable(reason=f"{BROKEN}: {type(error).__name__}: {error}")]
    return _result(declared, request, severity, outcomes, roles)


BROKEN = "the check itself broke"
"""Start of the reason of a check that raised; the command then ends with exit code 5."""


def _bind(
    paper: Workpaper, declared: Check
) -> tuple[dict[str, Located | LocatedSeries | None], NotApplicable | Unverifiable | None]:
    bound: dict[str, Located | LocatedSeries | None] = {}
    missing: NotApplicable | Unverifiable | None = None
    for role, required in declared.needs.items():
        located = paper.roles.scalars.get(role) or paper.roles.series.get(role)
        problem = _unusable(paper, role, located)
        bound[role] = located if problem is None else None
        if problem is not None and required and not isinstance(missing, Unverifiable):
            missing = problem
    return bound, missing


def _unusable(
    paper: Workpaper, role: str, located: Located | LocatedSeries | None
) -> NotApplicable | Unverifiable | None:
    if located is None:
        rivals = paper.roles.ambiguous.get(role)
        if rivals:
            where = " or ".join(str(rival.cell or rival.expression) for rival in rivals)
            return Unverifiable(reason=f"the role {role} cannot be told with confidence: {where}")
        return NotApplicable(reason=f"the workbook has no candidate for the role {role}")
    if isinstance(located, LocatedSeries) or located.value is not None or located.unit == "text":
        return None
    value = paper.recalc.value(located.cell) if located.cell else None
    if isinstance(value, Unsolved):
        return Unverifiable(reason=f"{located.cell} ({role}) could not be recomputed: {value.detail}")
    if value is None:
        return NotApplicable(reason=f"{located.cell} ({role}) is empty")
    return Unverifiable(reason=f"{located.cell} ({role}) holds {value}, no number")


def _result(
    declared: Check,
    request: Request,
    severity: Severity,
    outcomes: list[Outcome],
    roles: Mapping[str, Located | LocatedSeries | None],
) -> CheckResult:
    findings = tuple(outcome for outcome in outcomes if isinstance(outcome, Finding))
    status, credit, reason = _status(findings, outcomes)
    surest = [located.confidence for located in roles.values() if located is not None]
    if severity == "fatal" and status == "fail" and min(surest, default=1.0) < FATAL_CONFIDENCE:
        status, credit = "unverifiable", None
        reason = "a role it rests on is not bound surely enough for a fatal error"
    return CheckResult(
        check_id=declared.id,
        item=request.item,
        severity=severity,
        status=status,
        credit=credit,
        findings=findings,
        cells_read=tuple(_cells(roles)),
        convention=next((outcome.convention for outcome in outcomes if isinstance(outcome, Fits)), None),
        reason=reason,
    )


def _status(findings: tuple[Finding, ...], outcomes: list[Outcome]) -> tuple[Status, Decimal | None, str | None]:
    if findings:
        part = next((outcome.credit for outcome in outcomes if isinstance(outcome, Credit)), None)
        return ("fail", Decimal(0), None) if part is None else ("partial", part, None)
    for kind in (Unverifiable, NotApplicable):
        for outcome in outcomes:
            if isinstance(outcome, kind):
                status: Status = "unverifiable" if kind is Unverifiable else "not_applicable"
                return status, None, outcome.reason
    return "pass", Decimal(1), None


def _cells(roles: Mapping[str, Located | LocatedSeries | None]) -> Iterator[CellRef]:
    for located in roles.values():
        if isinstance(located, LocatedSeries):
            yield from located.cells
        elif located is not None and located.cell is not None:
            yield located.cell


def _with_cause(result: CheckResult, results: list[CheckResult]) -> CheckResult:
    if result.status not in ("fail", "partial"):
        return result
    causes = CHECKS[result.check_id].consequence_of
    failed = {other.check_id for other in results if other.status == "fail"}
    cause = next((check_id for check_id in causes if check_id in failed), None)
    return result if cause is None else result.model_copy(update={"caused_by": cause})
