"""A model is asked over a real HTTP server on loopback: whole runs, kills, garbage, silence and rate limits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopback import Reply, endpoint, said
from planted import clean_model

from xlcheck import cli
from xlcheck.checking import CHECKS
from xlcheck.judging.prepare import prepare
from xlcheck.pipeline import grade
from xlcheck.rubric import load_rubric
from xlcheck.verdicts import load_verdicts

pytest.importorskip("openai")

TASK = """
schema_version: 1
id: kilns
title: DCF of an invented maker of kiln bricks
mode: financial_model
program:
  - {id: P01, check: recompute.no-error-values, weight: 30}
judge:
  - {id: J01, dimension: sources, weight: 20, pass_if: Each assumption has a source, quote: required}
  - {id: J02, dimension: sources, weight: 20, pass_if: Each source has a date}
  - {id: J03, dimension: logic, weight: 30, pass_if: Growth is argued, scale: 0-4}
deductions:
  - {id: D01, points: 5, when: A source is invented}
  - {id: D02, points: 5, when: A figure differs from the workbook}
fatal:
  - {id: F01, judge: Nominal flows at a real rate}
"""
RIGHT = {
    "J01": {"verdict": "pass", "quotes": [{"text": "Kilns last for forty years", "where": "memo.md"}], "reason": "r"},
    "J02": {"verdict": "fail", "absent": True, "reason": "no dates"},
    "J03": {"grade": 3, "reason": "mostly"},
    "D01": {"triggered": False, "reason": "none"},
    "D02": {"triggered": False, "reason": "none"},
    "F01": {"triggered": False, "reason": "nominal"},
}
ITEMS = list(RIGHT)


def task_in(folder: Path) -> dict[str, Path]:
    """Write rubric and answer into a folder."""
    files = {"submission": folder / "answer", "rubric": folder / "rubric.yaml"}
    files["rubric"].write_text(TASK, encoding="utf-8")
    files["submission"].mkdir()
    clean_model().save(files["submission"] / "kilns.xlsx")
    (files["submission"] / "memo.md").write_text("Kilns last for forty years.", encoding="utf-8")
    return files


@pytest.fixture
def task(tmp_path: Path) -> Path:
    task_in(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def packet(tmp_path_factory) -> str:
    """The packet of the task, which is the same in every test."""
    return prepare(**task_in(tmp_path_factory.mktemp("packet"))).model_dump_json()


@pytest.fixture
def judge(task, packet, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    monkeypatch.setattr("xlcheck.isolation.run_apart", lambda *_: packet)  # the run that is killed prepares it itself

    def run(url: str, *more: str):
        code = cli.main(arguments(task, url, *more))
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run


def arguments(task: Path, url: str, *more: str) -> list[str]:
    told = ["--rubric", str(task / "rubric.yaml"), "--base-url", url, "--model", "kiln-7b", "--out", str(task / "out")]
    return ["judge", str(task / "answer"), *told, *more]


def right(number: int, items: list[str]) -> Reply:
    return said([{"item": item, **RIGHT[item]} for item in items])


def verdicts(task: Path) -> dict[str, object]:
    rubric = load_rubric(task / "rubric.yaml", CHECKS)
    return {verdict.item: verdict for verdict in load_verdicts(task / "out" / "verdicts.json", rubric)}


def raw_answers(task: Path) -> list[dict]:
    lines = (task / "out" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_whole_run_asks_item_by_item_and_grade_takes_its_file(judge, task):
    with endpoint(right) as server:
        code, out, err = judge(server.url)
    assert (code, err) == (0, "")
    assert out.startswith("6 of 6 decided, 6 questions asked\n")
    assert server.items() == [[item] for item in ITEMS]
    assert set(server.keys) == {"Bearer sesame"}
    assert {question["model"] for question in server.questions} == {"kiln-7b"}
    found = verdicts(task)
    assert {(verdict.judge, verdict.run) for verdict in found.values()} == {("kiln-7b", "1")}
    card = grade(task / "answer", task / "rubric.yaml", task / "out" / "verdicts.json").score_card
    assert (card.status, card.program, card.judged) == ("final", 30, 42.5)  # 20 + 0 + 30 · 3/4
    assert [line.quotes[0].found for line in card.lines if line.item == "J01"] == ["exact"]
    assert [json.loads(kept["raw"])["choices"][0]["message"]["content"] for kept in raw_answers(task)]


def test_items_are_asked_in_batches(judge, task):
    with endpoint(right) as server:
        code, out, _ = judge(server.url, "--batch", "4", "--json")
    assert server.items() == [ITEMS[:4], ITEMS[4:]]
    assert json.loads(out)["decided"] == ITEMS
    assert code == 0


def test_a_killed_run_goes_on_without_asking_twice(judge, task):
    def slow_from_the_fourth(number: int, items: list[str]) -> Reply:
        reply = right(number, items)
        reply.delay = 60 if number == 3 else 0
        return reply

    with endpoint(slow_from_the_fourth) as server:
        command = [sys.executable, "-m", "xlcheck.cli", *arguments(task, server.url)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as killed:
            deadline = time.monotonic() + 150
            while len(server.questions) < 4 and time.monotonic() < deadline:
                time.sleep(0.05)
            killed.send_signal(signal.SIGKILL)
        assert server.items() == [[item] for item in ITEMS[:4]]
        assert len(raw_answers(task)) == 3
        assert not (task / "out" / "verdicts.json").exists()
        with (task / "out" / "answers.jsonl").open("ab") as file:
            file.write(b'{"run": "cut off in the mid')  # as a kill while writing leaves it
        code, out, _ = judge(server.url)
    assert code == 0
    assert out.startswith("6 of 6 decided, 3 questions asked\n")
    assert server.items()[4:] == [[item] for item in ITEMS[3:]]  # the fourth had got no answer
    assert set(verdicts(task)) == set(ITEMS)
    with endpoint(right) as other:
        pass
    code, out, _ = judge(server.url)  # nobody listens any more, and nobody is asked
    assert (code, out.splitlines()[0]) == (0, "6 of 6 decided, 0 questions asked")
    assert other.questions == []


GARBAGE = {
    "prose": (Reply("I would pass all of it."), "no JSON object with verdicts"),
    "half an object": (Reply('{"verdicts": [{"item": "J01", "verdict": '), "no JSON object with verdicts"),
    "another item": (said([{"item": "J99", "verdict": "pass"}]), "leaves it out"),
    "both ways": (Reply('{"item": "J01", "verdict": "pass"} {"item": "J01", "verdict": "fail"}'), "more than once"),
    "two minds": (
        Reply('{"verdicts": [{"item": "J01", "verdict": "pass"}]} or {"verdicts": []}'),
        "several objects of verdicts that differ",
    ),
    "a word of its own": (said([{"item": "J01", "verdict": "probably"}]), 'verdict is "probably"'),
    "a list of nothing": (Reply('{"verdicts": "pass"}'), "no list"),
    "a web page": (Reply(None, body=b"<html>busy</html>", headers={"Content-Type": "text/html"}), "no chat completion"),
    "null content": (Reply(None, body=b'{"choices": [{"message": {"content": null}}]}'), "no chat completion"),
    "another shape": (Reply(None, body=b'{"choices": []}'), "no chat completion"),
    "deep nesting": (Reply("[" * 5000 + '{"a":' * 5000), "no JSON object with verdicts"),
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_leaves_the_item_open_and_says_so(kind, judge, task):
    reply, words = GARBAGE[kind]
    with endpoint(lambda number, items: reply if "J01" in items else right(number, items)) as server:
        code, out, _ = judge(server.url)
        assert code == 0
        assert "5 of 6 decided, 7 questions asked" in out  # J01 is asked twice
        assert words in next(line for line in out.splitlines() if "J01 stays open" in line)
        assert set(verdicts(task)) == set(ITEMS[1:])
        assert judge(server.url, "--strict")[0] == 4
        assert len(server.questions) == 7  # what stayed open is not asked for ever
        judge(server.url, "--again")
        assert len(server.questions) == 9


def test_what_stays_open_makes_the_score_an_interval(judge, task):
    with endpoint(lambda number, items: Reply("No.") if "J01" in items else right(number, items)) as server:
        judge(server.url)
    card = grade(task / "answer", task / "rubric.yaml", task / "out" / "verdicts.json").score_card
    assert (card.status, card.open_items) == ("provisional", ("J01",))
    assert card.high - card.low == 20


def test_a_second_answer_that_can_be_used_counts(judge, task):
    def second_time(number: int, items: list[str]) -> Reply:
        return Reply("Well.") if number == 0 else right(number, items)

    with endpoint(second_time) as server:
        _, out, _ = judge(server.url)
    assert out.startswith("6 of 6 decided, 7 questions asked")
    assert "no JSON object" in server.questions[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "wrapped",
    ["```json\n{}\n```", "Here it is:\n{}\nDone.", '<think>{{"verdicts": [{{"item": "J01"}}]}} no</think>{}', "{}"],
)
def test_only_the_wrapping_of_an_answer_is_forgiven(wrapped, judge, task):
    def wrap(number: int, items: list[str]) -> Reply:
        return Reply(wrapped.replace("{}", right(number, items).text).replace("{{", "{").replace("}}", "}"))

    with endpoint(wrap) as server:
        assert judge(server.url, "--batch", "6")[1].startswith("6 of 6 decided, 1 question asked")


def test_a_rate_limit_is_waited_for_as_long_as_it_says(judge, task):
    def limited(number: int, items: list[str]) -> Reply:
        return Reply(None, 429, {"Retry-After": "1"}) if number == 0 else right(number, items)

    with endpoint(limited) as server:
        code, out, _ = judge(server.url, "--batch", "6")
    assert code == 0
    assert out.startswith("6 of 6 decided, 1 question asked")
    assert server.times[1] - server.times[0] >= 1.0  # the first pause of its own would be half a second at most


def test_overload_is_asked_again_with_growing_pauses(judge, task):
    def overloaded(number: int, items: list[str]) -> Reply:
        return Reply(None, 503) if number < 2 else right(number, items)

    with endpoint(overloaded) as server:
        _, out, _ = judge(server.url, "--batch", "6")
    assert out.startswith("6 of 6 decided")
    first, second = (later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False))
    assert first >= 0.37
    assert second >= 0.74  # twice half a second, less a quarter of chance


def test_silence_leaves_items_open_and_they_are_asked_next_time(judge, task):
    with endpoint(lambda number, items: Reply(delay=3, text="late")) as server:
        code, out, _ = judge(server.url, "--batch", "6", "--timeout", "0.3", "--retries", "1")
    assert code == 0
    assert len(server.questions) == 2
    assert out.startswith("0 of 6 decided")
    assert out.count("no answer within 0.3 seconds, asked 2 times") == 6
    assert raw_answers(task)[0]["raw"] is None
    assert verdicts(task) == {}


def test_a_lasting_rate_limit_leaves_items_open(judge, task):
    with endpoint(lambda number, items: Reply(None, 429, {"Retry-After": "0.05"})) as server:
        _, out, _ = judge(server.url, "--batch", "6", "--retries", "2")
        assert len(server.questions) == 3
    assert "limits the rate (429), asked 3 times" in out
    with endpoint(right) as server:
        task.joinpath("out", "answers.jsonl").unlink()
        assert judge(server.url)[1].startswith("6 of 6")


@pytest.mark.parametrize(("status", "words"), [(401, "refuses the key (401)"), (404, "knows no model 'kiln-7b'")])
def test_a_useless_endpoint_ends_the_run_with_one_sentence(status, words, judge, task):
    def then_refuses(number: int, items: list[str]) -> Reply:
        return right(number, items) if number < 2 else Reply(None, status)

    with endpoint(then_refuses) as server:
        code, _, err = judge(server.url)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert len(server.questions) == 3
    assert set(verdicts(task)) == {"J01", "J02"}  # what was decided is kept


def test_an_endpoint_that_is_not_there_ends_the_run(judge, task):
    with endpoint(right) as server:
        pass
    code, _, err = judge(server.url, "--retries", "0")
    assert code == 2
    assert "cannot be reached" in err


def test_one_refused_question_leaves_the_others(judge, task):
    def too_long(number: int, items: list[str]) -> Reply:
        return (
            Reply(None, 400, body=b'{"error": {"message": "context too long"}}') if "J02" in items else right(0, items)
        )

    with endpoint(too_long) as server:
        _, out, _ = judge(server.url)
    assert out.startswith("5 of 6 decided")
    assert "J02 stays open: the endpoint answers 400" in out
    assert "context too long" in out


def test_settings_reach_the_endpoint(judge, task, monkeypatch):
    monkeypatch.setenv("MY_KEY", "other")
    more = ["--batch", "6", "--temperature", "0", "--response-format", "json_schema", "--key-from", "MY_KEY"]
    with endpoint(right) as server:
        judge(server.url, *more)
    (question,) = server.questions
    assert question["temperature"] == 0
    assert question["response_format"]["json_schema"]["schema"]["properties"]["rubric"] == {"const": "kilns"}
    assert server.keys == ["Bearer other"]


def test_address_and_model_come_from_the_environment(task, capsys, monkeypatch):
    told = ["judge", str(task / "answer"), "--rubric", str(task / "rubric.yaml"), "--out", str(task / "out")]
    assert cli.main(told) == 2
    assert "XLCHECK_JUDGE_URL" in capsys.readouterr().err
    monkeypatch.setenv("XLCHECK_JUDGE_MODEL", "kiln-8b")
    with endpoint(right) as server:
        monkeypatch.setenv("XLCHECK_JUDGE_URL", server.url)
        assert cli.main([*told, "--batch", "6"]) == 0
    assert server.questions[0]["model"] == "kiln-8b"


def test_another_run_or_model_is_asked_afresh_and_never_over_a_file_of_others(judge, task):
    with endpoint(right) as server:
        judge(server.url, "--batch", "6")
        code, _, err = judge(server.url, "--batch", "6", "--run", "2")
        assert code == 2
        assert "is of another task, judge or run" in err
        (task / "out" / "verdicts.json").rename(task / "first.json")
        judge(server.url, "--batch", "6", "--run", "2")
        assert len(server.questions) == 2
    both = [task / "first.json", task / "out" / "verdicts.json"]
    card = grade(task / "answer", task / "rubric.yaml", both).score_card
    assert card.status == "final"
    (task / "out" / "verdicts.json").write_text("mine", encoding="utf-8")
    assert judge(server.url)[0] == 2
    assert (task / "out" / "verdicts.json").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "option", ["--timeout=0", "--timeout=-1", "--timeout=soon", "--retries=-1", "--batch=0", "--temperature=nan"]
)
def test_unusable_settings_are_refused_at_once(option, task, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(arguments(task, "http://127.0.0.1:9/v1", option))
    assert left.value.code == 2
    assert option.partition("=")[0] in capsys.readouterr().err


def test_without_the_extra_one_sentence_says_what_to_install(judge, task, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    code, _, err = judge("http://127.0.0.1:9/v1")
    assert code == 2
    assert "pip install 'xlcheck[judge]'" in err
    assert not (task / "out").exists()


def test_a_folder_with_other_answers_is_refused(judge, task):
    (task / "out").mkdir()
    (task / "out" / "answers.jsonl").write_text('{"note": 1}\n', encoding="utf-8")
    code, _, err = judge("http://127.0.0.1:9/v1")
    assert code == 2
    assert "answers.jsonl:1: this is no answer kept by xlcheck" in err


def test_the_key_is_in_no_file(judge, task):
    with endpoint(right) as server:
        judge(server.url)
    for file in (task / "out").iterdir():
        assert "sesame" not in file.read_text(encoding="utf-8")
    assert os.environ["OPENAI_API_KEY"] == "sesame"
