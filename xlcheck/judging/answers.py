"""What a judge answers: the JSON Schema it is given, and how verdicts are read out of a model's text.

Only the wrapping is forgiven (a code fence, a sentence before, reasoning in front); a verdict itself is read as
strictly as a verdict file. What cannot be used leaves its item open, with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from xlcheck.errors import VerdictError
from xlcheck.judging.items import Asked
from xlcheck.report.json import dumps
from xlcheck.rubric import Rubric
from xlcheck.verdicts import Verdict, parse_verdicts

MOST_FAILURES = 200
"""Braces of an answer at which no JSON object begins, before its rest is not looked at."""
_DECISIONS: dict[str, dict[str, Any]] = {
    "verdict": {"enum": ["pass", "fail"]},
    "grade": {"type": "integer", "minimum": 0, "maximum": 4},
    "triggered": {"type": "boolean"},
}
_QUOTES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "description": "copied word for word, without addresses"},
            "where": {"type": "string", "description": "file and page, or sheet and cell such as DCF!C40"},
        },
        "required": ["text", "where"],
        "additionalProperties": False,
    },
}


def answer_schema(rubric_id: str, asked: Sequence[Asked]) -> dict[str, Any]:
    """Return the JSON Schema of the answer on these items; what fits it is a verdict file as `grade` reads it."""
    by_answer = {key: [item.id for item in asked if item.answer == key] for key in _DECISIONS}
    kinds = [_verdict_schema(key, items) for key, items in by_answer.items() if items]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "rubric": {"const": rubric_id},
            "judge": {"type": "string"},
            "run": {"type": "string"},
            "verdicts": {"type": "array", "items": {"anyOf": kinds}},
        },
        "required": ["rubric", "verdicts"],
        "additionalProperties": False,
        "$defs": {"quotes": _QUOTES},
    }


def _verdict_schema(key: str, items: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "item": {"enum": items},
            key: _DECISIONS[key],
            "quotes": {"$ref": "#/$defs/quotes"},
            "absent": {"type": "boolean", "description": "true where it rests on something missing: then no quotes"},
            "reason": {"type": "string"},
        },
        "required": ["item", key, "reason"],
        "additionalProperties": False,
    }


class Reading(NamedTuple):
    """What one answer came to."""

    verdicts: dict[str, Verdict]
    """Item to verdict, of the items asked for."""
    problems: dict[str, str]
    """Item to the reason why it stays open."""


class UnreadableAnswerError(ValueError):
    """An answer without usable JSON; the text says why."""


def read_answer(text: str, rubric: Rubric, items: Sequence[str]) -> Reading:
    """Return the verdicts in a model's text on the items asked for, and why others stay open; never raises."""
    try:
        entries = _entries(text)
    except UnreadableAnswerError as problem:
        return Reading({}, dict.fromkeys(items, str(problem)))
    verdicts: dict[str, Verdict] = {}
    problems: dict[str, str] = {}
    for item in items:
        mine = [entry for entry in entries if isinstance(entry, dict) and entry.get("item") == item]
        if len(mine) != 1:
            problems[item] = "the answer decides it more than once" if mine else "the answer leaves it out"
            continue
        try:
            (verdicts[item],) = parse_verdicts(json.dumps({"verdicts": mine}), rubric, "the answer")
        except VerdictError as problem:
            problems[item] = str(problem).partition(": ")[2]
    return Reading(verdicts, problems)


_REASONING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


def _entries(text: str) -> list[object]:
    found = [value for value in _objects(_REASONING.sub("", text)) if "verdicts" in value or "item" in value]
    if not found:
        raise UnreadableAnswerError("the answer holds no JSON object with verdicts")
    whole = [value for value in found if "verdicts" in value]
    if len(whole) > 1 and any(value != whole[0] for value in whole):
        raise UnreadableAnswerError("the answer holds several objects of verdicts that differ")
    if not whole:
        return list(found)
    listed = whole[0]["verdicts"]
    if not isinstance(listed, list):
        raise UnreadableAnswerError("the key 'verdicts' of the answer is no list")
    return listed


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every outermost JSON object of a text; one with very many braces that open nothing is given up."""
    decoder, start, failures = json.JSONDecoder(), text.find("{"), 0
    while start >= 0 and failures < MOST_FAILURES:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            failures, end = failures + 1, start + 1
        else:
            yield value
        start = text.find("{", end)


def verdict_file(rubric: Rubric, judge: str, run: str, verdicts: Sequence[Verdict]) -> str:
    """Return verdicts of one judge and run as the text of a verdict file."""
    text = dumps(
        {
            "schema_version": 1,
            "rubric": rubric.id,
            "judge": judge,
            "run": run,
            "verdicts": [
                verdict.model_dump(mode="json", exclude_defaults=True, exclude={"judge", "run"}) for verdict in verdicts
            ],
        }
    )
    parse_verdicts(text, rubric)  # what is written can be read again
    return text
