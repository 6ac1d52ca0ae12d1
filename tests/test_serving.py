"""The HTTP service: a report as the library gives it, and a clear answer to everything else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from xlcheck import cli
from xlcheck.confinement import Allowance
from xlcheck.errors import UsageError
from xlcheck.pipeline import grade
from xlcheck.serving.app import Settings, build_app, settings_of
from xlcheck.serving.gate import FullError, Gate

TASK = Path(__file__).parents[1] / "fixtures" / "sic-epitaxy-dcf"
RUBRIC = "sic-epitaxy-dcf"
FORM = {"content-type": "multipart/form-data; boundary=y"}


@pytest.fixture(scope="module")
def client():
    with TestClient(build_app(settings_of((RUBRIC,), running=1, megabytes=2))) as client:
        yield client


def sent(client, answer="reference", *, rubric=RUBRIC, name="model.xlsx", content=None, verdicts=False, query=""):
    content = (TASK / answer / "model.xlsx").read_bytes() if content is None else content
    files = {"workbook": (name, content)}
    if verdicts:
        files["verdicts"] = ("verdicts.json", (TASK / answer / "verdicts.json").read_bytes())
    return client.post(f"/grade{query}", files=files, data={"rubric": rubric})


def test_the_report_is_that_of_the_library(client):
    answer = sent(client, "flawed")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.text == grade(TASK / "flawed" / "model.xlsx", RUBRIC).to_json()


def test_verdicts_make_the_score_final(client, tmp_path):
    card = sent(client, verdicts=True).json()["score_card"]
    alone = tmp_path / "model.xlsx"
    alone.write_bytes((TASK / "reference" / "model.xlsx").read_bytes())
    expected = grade(alone, RUBRIC, TASK / "reference" / "verdicts.json").score_card
    assert (card["low"], card["high"]) == (str(expected.low), str(expected.high))


def test_a_browser_gets_pages(client):
    page = client.get("/")
    assert f'<option value="{RUBRIC}">' in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    answer = sent(client, query="?as=html")
    assert answer.headers["content-type"].startswith("text/html")
    assert "<html" in answer.text


@pytest.mark.parametrize(
    ("how", "code", "says"),
    [
        ({"rubric": "no-such"}, 404, "there is no rubric 'no-such'; there are sic-epitaxy-dcf"),
        ({"content": bytes(2_100_000)}, 413, "the request is larger than 2 MB"),
    ],
)
def test_what_cannot_be_taken_is_answered_in_one_sentence(client, how, code, says):
    answer = sent(client, **how)
    assert (answer.status_code, answer.json()) == (code, {"error": says})


def test_a_form_without_its_parts_is_answered(client):
    assert client.post("/grade", data={"rubric": RUBRIC}).json() == {
        "error": "the field workbook is missing; send an .xlsx or .xlsm file"
    }
    broken = client.post("/grade", content=b"--x", headers={"content-type": "multipart/form-data; boundary=y"})
    assert broken.status_code in (400, 404)
    bad = {"workbook": ("m.xlsx", (TASK / "reference" / "model.xlsx").read_bytes()), "verdicts": ("v.json", b"{}")}
    answer = client.post("/grade", files=bad, data={"rubric": RUBRIC})
    assert answer.status_code == 422
    assert "v.json" in answer.json()["error"]


@pytest.mark.parametrize(
    ("fields", "code", "says"),
    [
        ([("verdict", b"{}")], 400, "the field 'verdict' is unknown; workbook, rubric and verdicts are accepted"),
        ([("workbook", b"PK")], 400, "the field workbook stands twice; send it once"),
        ([("verdicts", b"{}"), ("verdicts", b"{}")], 400, "Too many files. Maximum number of files is 2."),
    ],
)
def test_a_field_too_many_is_never_passed_over(client, fields, code, says):
    files = [("workbook", ("m.xlsx", b"PK")), *((name, ("f", content)) for name, content in fields)]
    answer = client.post("/grade", files=files, data={"rubric": RUBRIC})
    assert answer.status_code == code
    assert says in answer.json()["error"]


def test_what_is_no_form_is_answered_in_one_sentence(client):
    files = {"workbook": ("m.xlsx", b"PK")}
    for answer, code, says in (
        (client.post("/grade", json={"rubric": RUBRIC}), 415, "the request is no form"),
        (client.post("/grade", files={**files, "rubric": ("r", b"x")}), 400, "the field rubric is missing"),
        (client.post("/grade?as=pdf", files=files, data={"rubric": RUBRIC}), 400, "as is 'pdf'"),
        (client.post("/grade", data={"rubric": RUBRIC, "workbook": "x"}), 400, "Too many fields"),
        (client.post("/grade", content=b"", headers={"content-length": "9" * 12, **FORM}), 413, "larger than 2 MB"),
        (client.post("/grade", content=b"x", headers={"content-type": "multipart/form-data"}), 400, "boundary"),
    ):
        assert answer.status_code == code, answer.text
        assert says in answer.json()["error"]


def test_a_balancer_may_ask_with_head(client):
    assert client.head("/health").status_code == client.head("/").status_code == 200


def test_a_long_name_in_any_script_is_cut_for_the_disk(client):
    assert sent(client, name="名" * 120 + ".xlsx", content=b"").status_code == 200


def test_a_file_that_is_no_workbook_is_an_ungradable_report(client):
    card = sent(client, content=b"PK no more").json()["score_card"]
    assert card["status"] == "ungradable"


@pytest.mark.parametrize("name", ["../../etc/model.xlsx", r"C:\temp\model.xlsx", "/model.xlsx"])
def test_folders_in_a_file_name_are_left_away(client, name):
    assert sent(client, name=name).json()["workbook"] == "model.xlsx"


def test_a_workbook_beyond_its_allowance_is_answered_and_the_next_one_graded():
    tight = settings_of((RUBRIC,), running=1, allowance=Allowance(memory_mib=60))
    with TestClient(build_app(tight)) as client:
        answer = sent(client)
        assert answer.status_code == 422
        assert answer.json()["error"] == "the workbook is ungradable: it needed more than 60 MiB of memory"
        assert client.get("/health").json() == {"status": "ok", "running": 0, "waiting": 0}


def test_metrics_count_answers_by_code(client):
    before = client.get("/metrics").text.count('xlcheck_answers_total{code="404"}')
    sent(client, rubric="no-such")
    shown = client.get("/metrics").text
    assert 'xlcheck_answers_total{code="404"}' in shown
    assert "xlcheck_grading_seconds_count" in shown
    assert "xlcheck_running 0.0" in shown
    assert before <= 1


def test_one_request_too_many_is_sent_away():
    async def crowd() -> list[int]:
        app = build_app(settings_of((RUBRIC,), running=1, waiting=2))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here", timeout=60) as client:
            content = (TASK / "reference" / "model.xlsx").read_bytes()
            ask = [
                client.post("/grade", files={"workbook": ("m.xlsx", content)}, data={"rubric": RUBRIC}) for _ in "12345"
            ]
            return [answer.status_code for answer in await asyncio.gather(*ask)]

    assert sorted(asyncio.run(crowd())) == [200, 200, 200, 429, 429]


def test_the_gate_lets_places_go_even_after_an_error():
    async def use() -> list[int]:
        gate, seen = Gate(running=1, waiting=0), []
        for _ in range(3):
            with suppress(ZeroDivisionError):
                async with gate.place(), gate.turn():
                    seen.append(gate.running)
                    with pytest.raises(FullError):
                        async with gate.place():
                            pass
                    seen.append(1 // 0)
            seen.append(gate.running + gate.waiting)
        return seen

    assert asyncio.run(use()) == [1, 0, 1, 0, 1, 0]


def test_settings_name_what_is_wrong():
    with pytest.raises(UsageError):
        settings_of(("no-such-rubric",))
    with pytest.raises(UsageError, match="one id"):
        settings_of((RUBRIC, RUBRIC))
    assert isinstance(settings_of((RUBRIC,)), Settings)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        (["--port", "99999"], "xlcheck: --port 99999: a port is a whole number from 1 to 65535\n"),
        (["--host", "no.such.invalid"], "xlcheck: --host no.such.invalid --port 8000: nothing can listen there"),
    ],
)
def test_a_place_where_nothing_can_listen_is_one_sentence(capsys, place, says):
    assert cli.main(["serve", "--rubric", RUBRIC, *place]) == 2
    assert capsys.readouterr().err.startswith(says)
