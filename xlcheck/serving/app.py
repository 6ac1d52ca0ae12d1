"""The HTTP service: POST a workbook, get its report; health, metrics, and a page to drop a file on."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from jinja2 import Environment
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect

from xlcheck.batching.work import graded
from xlcheck.cells import Frozen
from xlcheck.confinement import Allowance
from xlcheck.errors import UsageError, WorkerBrokeError, WorkerLostError, XlcheckError
from xlcheck.isolation import run_apart
from xlcheck.serving.gate import BodyLimit, FullError, Gate, TooLargeError

MEGABYTE = 1_000_000
_LONGEST_NAME = 100
"""Bytes that are kept of an uploaded file's name, its last ones."""
_PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


class Settings(Frozen):
    """How much the service takes on."""

    rubrics: Mapping[str, str]
    """Id to title of the rubrics it grades against."""
    places: Mapping[str, str]
    """Id to bundled id or file of the same."""
    running: int = 2
    """Gradings at a time."""
    waiting: int = 16
    """Requests that may stand in line; one more is answered 429."""
    megabytes: int = 50
    """Largest request, in 1,000,000 bytes."""
    reading_seconds: float = 60.0
    """Time in which a request must have arrived."""
    allowance: Allowance = Allowance()


class Refusal(Exception):  # noqa: N818 - it is an answer
    """An answer other than a report."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Meters:
    """What /metrics shows."""

    def __init__(self, gate: Gate) -> None:
        self.registry = CollectorRegistry()
        self.answers = Counter("xlcheck_answers", "Answers by HTTP code", ["code"], registry=self.registry)
        self.seconds = Histogram("xlcheck_grading_seconds", "Seconds a grading ran", registry=self.registry)
        for name, says in (("running", "Gradings that run"), ("waiting", "Requests that stand in line")):
            gauge = Gauge(f"xlcheck_{name}", says, registry=self.registry)
            gauge.set_function(partial(getattr, gate, name))


def build_app(settings: Settings) -> FastAPI:
    """Return the service; its state lives in this process, nothing of a submission outlives its request."""
    app = FastAPI(title="xlcheck", docs_url=None, redoc_url=None)
    gate = Gate(settings.running, settings.waiting)
    meters = Meters(gate)
    page = Environment(autoescape=True).from_string(files(__package__).joinpath("page.html").read_text("utf-8"))
    app.add_middleware(BodyLimit, most=settings.megabytes * MEGABYTE)

    @app.api_route("/", methods=_LOOKS, response_class=HTMLResponse)
    def drop_page() -> HTMLResponse:
        shown = page.render(rubrics=sorted(settings.rubrics.items()), megabytes=settings.megabytes)
        return HTMLResponse(shown, headers={**_HEADERS, "Content-Security-Policy": _PAGE_POLICY})

    @app.api_route("/health", methods=_LOOKS)
    def health() -> dict[str, Any]:
        return {"status": "ok", "running": gate.running, "waiting": gate.waiting}

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(generate_latest(meters.registry), media_type="text/plain; version=0.0.4")

    @app.get("/rubrics")
    def rubrics() -> Mapping[str, str]:
        return settings.rubrics

    @app.post("/grade", openapi_extra={"requestBody": _BODY})
    async def grade(request: Request) -> Response:
        try:
            page = _wants_page(request)
            text = await _graded(request, settings, gate, meters, graded_page if page else graded)
            kind = "text/html" if page else "application/json"
            response = Response(text, media_type=f"{kind}; charset=utf-8", headers=_HEADERS)
        except Refusal as refusal:
            headers = {"Retry-After": "2"} if refusal.code == 429 else {}
            response = JSONResponse({"error": str(refusal)}, refusal.code, {**_HEADERS, **headers})
        meters.answers.labels(response.status_code).inc()
        return response

    return app


_LOOKS = ["GET", "HEAD"]
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_FIELDS = ("workbook", "rubric", "verdicts")
_BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["workbook", "rubric"],
                "properties": {
                    "workbook": {"type": "string", "format": "binary"},
                    "rubric": {"type": "string"},
                    "verdicts": {"type": "string", "format": "binary"},
                },
            }
        }
    },
}


async def _graded(request: Request, settings: Settings, gate: Gate, meters: Meters, work: Callable[[str], str]) -> str:
    """Return what `work` makes of the uploaded files; raises Refusal."""
    try:
        async with gate.place():
            with tempfile.TemporaryDirectory(prefix="xlcheck-upload-") as folder:
                order = await _received(request, settings, Path(folder))
                async with gate.turn():
                    begun = time.perf_counter()
                    try:
                        return await run_in_threadpool(run_apart, work, order, settings.allowance)
                    finally:
                        meters.seconds.observe(time.perf_counter() - begun)
    except FullError:
        raise Refusal(429, f"{settings.running + settings.waiting} workbooks are in hand; try again later") from None
    except WorkerBrokeError as error:
        raise Refusal(500, f"a fault of xlcheck: {error}") from None
    except WorkerLostError as error:
        raise Refusal(422, f"the workbook is ungradable: {error}") from None
    except XlcheckError as error:
        raise Refusal(422, str(error)) from None


def _wants_page(request: Request) -> bool:
    wanted = request.query_params.get("as", "json")
    if wanted not in ("json", "html"):
        raise Refusal(400, f"as is {wanted!r}; json and html are accepted")
    return wanted == "html"


async def _received(request: Request, settings: Settings, folder: Path) -> str:
    """Write the uploaded files into ``folder`` and return the order to grade them."""
    form = await _form(request, settings)
    try:
        rubric = _rubric(form, settings)
        workbook = await _saved(form, "workbook", folder)
        if workbook is None:
            raise Refusal(400, "the field workbook is missing; send an .xlsx or .xlsm file")
        verdicts = await _saved(form, "verdicts", folder)
    finally:
        await form.close()
    return json.dumps({"submission": workbook, "rubric": rubric, "verdicts": verdicts})


async def _form(request: Request, settings: Settings) -> FormData:
    """Return the form of a request; raises Refusal for what is none, too large or too slow."""
    too_large = Refusal(413, f"the request is larger than {settings.megabytes} MB")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in _FORMS:
        raise Refusal(415, "the request is no form; send multipart/form-data with the fields workbook and rubric")
    if _declared(request) > settings.megabytes * MEGABYTE:
        raise too_large
    try:
        async with asyncio.timeout(settings.reading_seconds):
            return await request.form(max_files=2, max_fields=1)
    except TooLargeError:
        raise too_large from None
    except TimeoutError:
        raise Refusal(408, f"the request did not arrive within {settings.reading_seconds:g} s") from None
    except ClientDisconnect:
        raise Refusal(400, "the request broke off") from None
    except (MultiPartException, HTTPException) as error:
        told = error.message if isinstance(error, MultiPartException) else error.detail
        raise Refusal(400, f"the request is no form of workbook, rubric and verdicts: {told}") from None


def _declared(request: Request) -> int:
    """Return the size that a request says it has, 0 where it does not; what arrives is counted all the same."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0


def _rubric(form: FormData, settings: Settings) -> str:
    """Return the place of the rubric that a form names; Refusal for one that is none, and for other fields."""
    names = [name for name, _ in form.multi_items()]
    for name in names:
        if name not in _FIELDS:
            raise Refusal(400, f"the field {name[:100]!r} is unknown; workbook, rubric and verdicts are accepted")
        if names.count(name) > 1:
            raise Refusal(400, f"the field {name} stands twice; send it once")
    rubric = form.get("rubric")
    if not isinstance(rubric, str):
        raise Refusal(400, "the field rubric is missing; send the id of a rubric as text")
    if rubric not in settings.places:
        raise Refusal(404, f"there is no rubric {rubric[:100]!r}; there are {', '.join(sorted(settings.places))}")
    return settings.places[rubric]


async def _saved(form: FormData, field: str, folder: Path) -> str | None:
    file = form.get(field)
    if not isinstance(file, UploadFile) or not file.filename:
        return None
    name = PurePath(file.filename.replace("\\", "/")).name.encode("utf-8", "replace")
    place = folder / field / (name[-_LONGEST_NAME:].decode("utf-8", "ignore") or field)
    place.parent.mkdir()
    try:
        place.write_bytes(await file.read())
    except (OSError, ValueError):
        raise Refusal(400, f"{file.filename!r} is no file name") from None
    return str(place)


def graded_page(order: str) -> str:
    """Grade what an order (JSON: submission, rubric, verdicts) names and return the report as a page."""
    from xlcheck.pipeline import grade_with_papers
    from xlcheck.report.html import report_page

    told = json.loads(order)
    found = grade_with_papers(told["submission"], told["rubric"], told["verdicts"])
    return report_page(found.report, found.paper)


def settings_of(rubrics: tuple[str, ...], **others: Any) -> Settings:  # noqa: ANN401 - fields of Settings
    """Return settings that offer bundled rubrics and rubric files; UsageError for one that is not valid."""
    import xlcheck.checks  # noqa: F401 - declares the checks that rubrics name
    from xlcheck.checking import CHECKS
    from xlcheck.rubric import load_rubric

    loaded = [(load_rubric(place, CHECKS), place) for place in rubrics]
    places = {rules.id: place for rules, place in loaded}
    if len(places) < len(loaded):
        raise UsageError(f"two of the rubrics {', '.join(rubrics)} have one id; give each its own")
    return Settings(rubrics={rules.id: rules.title for rules, _ in loaded}, places=places, **others)
