"""The judge's decisions, read from a file and held against the rubric.

A verdict file is JSON, one judge's decisions on one answer::

    {"judge": "analyst-a", "run": "1", "verdicts": [
      {"item": "J01", "verdict": "pass", "quotes": [{"text": "capex of 1,250", "where": "memo.md"}], "reason": "…"},
      {"item": "J02", "grade": 3}, {"item": "D01", "triggered": false}]}

or JSON Lines, one decision a line, each with its own ``judge`` and ``run`` (several judges or runs in one file).
An item that no verdict speaks of is open; nothing is ever assumed for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from xlcheck.cells import Frozen
from xlcheck.errors import VerdictError
from xlcheck.modeldocs import described_schema
from xlcheck.rubric import JudgeItem, Rubric
from xlcheck.yamltext import closest, show

Found = Literal["exact", "normalised", "not_found"]
_HEADER = ("schema_version", "rubric", "judge", "run", "verdicts")


class Quote(Frozen):
    """Words that a judge took from the submission."""

    text: str
    where: str = ""
    """File and page or cell, as the judge gives it."""
    found: Found | None = None
    """How it was found in what was handed in; None until it is looked for."""


class Verdict(Frozen):
    """One judge's decision on one item, one deduction or one fatal error."""

    item: str
    verdict: Literal["pass", "fail"] | None = None
    """For a pass-fail item."""
    grade: int | None = None
    """0 to 4, for an item on that scale."""
    triggered: bool | None = None
    """For a deduction or a fatal error."""
    quotes: tuple[Quote, ...] = ()
    absent: bool = False
    """True where the decision rests on something missing, so that nothing can be quoted."""
    reason: str = ""
    judge: str = ""
    run: str = ""


def verdicts_schema() -> dict[str, Any]:
    """Return the JSON Schema of a verdict file; a line of JSON Lines is one ``Verdict`` of its definitions."""
    verdict = described_schema(Verdict)
    parts = verdict.pop("$defs")
    del parts["Quote"]["properties"]["found"]  # it is looked up, never given
    decisions = {
        "verdict": {"enum": ["pass", "fail"]},
        "grade": {"type": "integer", "minimum": 0, "maximum": 4},
        "triggered": {"type": "boolean"},
    }
    parts["Verdict"] = verdict | {
        "oneOf": [{"required": [key], "properties": {key: accepted}} for key, accepted in decisions.items()]
    }
    listed = {"type": "array", "items": {"$ref": "#/$defs/Verdict"}}
    texts = {name: {"type": "string"} for name in ("rubric", "judge", "run")}
    whole = {
        "title": "Verdict file",
        "type": "object",
        "properties": {"schema_version": {"const": 1}, **texts, "verdicts": listed},
        "required": ["verdicts"],
        "additionalProperties": False,
    }
    return {"title": "Verdicts of a judge", "anyOf": [whole, listed], "$defs": parts}


class _Entry(NamedTuple):
    line: int
    value: object


class _Wanted(NamedTuple):
    """What a verdict on one id has to carry."""

    key: Literal["verdict", "grade", "triggered"]
    kind: str


def load_verdicts(path: str | Path, rubric: Rubric) -> tuple[Verdict, ...]:
    """Read a verdict file (JSON, or JSON Lines if it ends in .jsonl); raises VerdictError naming item and line."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise VerdictError(f"{path}: the verdict file cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError as problem:
        raise VerdictError(f"{path}: the verdict file is no UTF-8 text (byte {problem.start})") from None
    return parse_verdicts(text, rubric, str(path), lines=path.suffix == ".jsonl")


def load_all_verdicts(paths: Iterable[str | Path], rubric: Rubric) -> tuple[Verdict, ...]:
    """Read verdict files of several judges or runs; VerdictError where two files decide as the same judge and run."""
    verdicts: list[Verdict] = []
    seen: dict[tuple[str, str, str], str | Path] = {}
    for path in paths:
        for verdict in load_verdicts(path, rubric):
            key = (verdict.item, verdict.judge, verdict.run)
            if key in seen:
                raise VerdictError(
                    f"{path}: {verdict.item} is decided by {_judge_named(verdict)} in {seen[key]} already; "
                    "give each file its own judge or run"
                )
            seen[key] = path
            verdicts.append(verdict)
    return tuple(verdicts)


def _judge_named(verdict: Verdict) -> str:
    run = f", run {verdict.run}" if verdict.run else ""
    return f"the judge {verdict.judge}{run}" if verdict.judge else f"a judge without a name{run}"


def parse_verdicts(
    text: str, rubric: Rubric, source: str = "verdicts.json", *, lines: bool = False
) -> tuple[Verdict, ...]:
    """Read verdicts from text and hold them against the rubric; raises VerdictError as `load_verdicts` does."""
    wanted = _wanted(rubric)
    entries, header = (_read_lines(text, source), {}) if lines else _read_json(text, source)
    if header.get("rubric", rubric.id) != rubric.id:
        raise VerdictError(f"{source}:1: the verdicts are for the rubric {header['rubric']!r}, not for {rubric.id!r}")
    seen: dict[tuple[str, str, str], int] = {}
    verdicts = []
    for entry in entries:
        verdict = _verdict(entry, header, wanted, source)
        key = (verdict.item, verdict.judge, verdict.run)
        if key in seen:
            raise VerdictError(
                f"{source}:{entry.line}: {verdict.item} is decided twice by the same judge and run "
                f"(first in line {seen[key]}); keep one"
            )
        seen[key] = entry.line
        verdicts.append(verdict)
    return tuple(verdicts)


def _wanted(rubric: Rubric) -> dict[str, _Wanted]:
    wanted = {item.id: _item_wants(item) for item in rubric.judge}
    wanted |= {deduction.id: _Wanted("triggered", "a deduction") for deduction in rubric.deductions}
    return wanted | {rule.key: _Wanted("triggered", "a fatal error") for rule in rubric.fatal if rule.judge}


def _item_wants(item: JudgeItem) -> _Wanted:
    return _Wanted("grade", "an item graded 0 to 4") if item.scale == "0-4" else _Wanted("verdict", "a pass-fail item")


def _verdict(entry: _Entry, header: Mapping[str, str], wanted: Mapping[str, _Wanted], source: str) -> Verdict:
    where = f"{source}:{entry.line}"
    raw = entry.value
    if not isinstance(raw, dict):
        raise VerdictError(f"{where}: found {json.dumps(raw)[:40]}; a verdict is an object with the key 'item'")
    item = raw.get("item")
    if not isinstance(item, str) or not item:
        raise VerdictError(f"{where}: the key 'item' is missing or no text; name an item, deduction or fatal error")
    if item not in wanted:
        raise VerdictError(
            f"{where}: {item!r} is no item that a judge decides{closest(item, wanted)}; "
            f"the rubric has {', '.join(wanted) or 'none'}"
        )
    where = f"{where}: {item}"
    for quote in raw["quotes"] if isinstance(raw.get("quotes"), list) else ():
        if isinstance(quote, dict) and "found" in quote:
            raise VerdictError(f"{where}: unknown key 'found' in a quote; whether it is found is looked up here")
    _one_decision(raw, wanted[item], where)
    try:
        verdict = Verdict.model_validate({name: header[name] for name in ("judge", "run") if name in header} | raw)
    except ValidationError as problem:
        raise VerdictError(f"{where}: {_sentence(problem)}") from None
    return _coherent(verdict, where)


def _one_decision(raw: Mapping[str, object], wants: _Wanted, where: str) -> None:
    for key in ("verdict", "grade", "triggered"):
        if key != wants.key and raw.get(key) is not None:
            raise VerdictError(f"{where}: found the key {key!r}, but it is {wants.kind} and takes {wants.key!r}")
    if not isinstance(raw.get("absent", False), bool):
        raise VerdictError(f"{where}: absent is {json.dumps(raw['absent'])[:40]}; write true or false")
    value = raw.get(wants.key)
    if value is None:
        raise VerdictError(
            f"{where}: the key {wants.key!r} is missing ({_accepted(wants.key)}); leave an open item out"
        )
    fits = {
        "verdict": value in ("pass", "fail"),
        "grade": isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 4,
        "triggered": isinstance(value, bool),
    }
    if not fits[wants.key]:
        raise VerdictError(f"{where}: {wants.key} is {json.dumps(value)}; write {_accepted(wants.key)}")


def _accepted(key: str) -> str:
    return {"verdict": '"pass" or "fail"', "grade": "a whole number from 0 to 4", "triggered": "true or false"}[key]


def _coherent(verdict: Verdict, where: str) -> Verdict:
    for number, quote in enumerate(verdict.quotes, 1):
        if not quote.text.strip():
            raise VerdictError(f"{where}: quote {number} is empty; quote the words, or leave it out with absent: true")
    if verdict.absent and verdict.quotes:
        raise VerdictError(f"{where}: absent is true, yet it quotes {verdict.quotes[0].text[:40]!r}; keep one of them")
    if verdict.absent and (verdict.verdict == "pass" or verdict.grade == 4):
        raise VerdictError(f"{where}: absent is true, yet the item has full marks; nothing missing earns them")
    return verdict


def _sentence(problem: ValidationError) -> str:
    entry = problem.errors()[0]
    key, found = show(entry["loc"]), json.dumps(entry["input"], ensure_ascii=False, default=str)[:40]
    if entry["type"] == "extra_forbidden":
        known = [name for name in (Quote if "quotes" in entry["loc"] else Verdict).model_fields if name != "found"]
        return f"unknown key {key!r}{closest(str(entry['loc'][-1]), known)}; accepted keys are {', '.join(known)}"
    if entry["type"] == "missing":
        return f"the key {key!r} is missing"
    return f"{key} is {found}: {entry['msg'][0].lower()}{entry['msg'][1:]}"


class _DoubledKeyError(ValueError):
    pass


def _no_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in pairs:
        if key in values:
            raise _DoubledKeyError(f"the key {key!r} stands twice in one object")
        values[key] = value
    return values


def _refuse_constant(name: str) -> object:
    raise _DoubledKeyError(f"{name} is no JSON number")


def _parse(text: str, where: str, line: int | None = None) -> object:
    try:
        value: object = json.loads(text, object_pairs_hook=_no_doubles, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair could never be written out again
    except json.JSONDecodeError as problem:
        raise VerdictError(f"{where}:{line or problem.lineno}: this is not JSON: {problem.msg}") from None
    except UnicodeEncodeError:
        raise VerdictError(f"{where}:{line or 1}: an escape such as \\ud800 stands for half a character only") from None
    except (ValueError, RecursionError) as problem:  # doubled keys, and numbers of thousands of digits
        raise VerdictError(f"{where}:{line or 1}: {str(problem) or 'nested too deeply'}") from None
    return value


def _read_lines(text: str, source: str) -> list[_Entry]:
    return [
        _Entry(number, _parse(line, source, number)) for number, line in enumerate(text.split("\n"), 1) if line.strip()
    ]


def _read_json(text: str, source: str) -> tuple[list[_Entry], dict[str, str]]:
    if not text.strip():
        raise VerdictError(f'{source}:1: the file is empty; without any verdict write {{"verdicts": []}}')
    whole = _parse(text, source)
    if isinstance(whole, list):
        return list(_entries(text, _skip(text, 0))), {}
    if not isinstance(whole, dict):
        raise VerdictError(f"{source}:1: found {json.dumps(whole)[:40]}; an object with the key 'verdicts' is expected")
    for key in whole:
        if key not in _HEADER:
            raise VerdictError(
                f"{source}:{_line(text, _offset(text, key))}: unknown key {key!r}{closest(key, _HEADER)}; "
                f"accepted keys are {', '.join(_HEADER)}"
            )
    if whole.get("schema_version", 1) != 1 or isinstance(whole.get("schema_version"), bool):
        raise VerdictError(
            f"{source}:1: schema_version is {whole['schema_version']!r}; this version of xlcheck reads 1"
        )
    header = {key: whole[key] for key in ("rubric", "judge", "run") if key in whole}
    for key, value in header.items():
        if not isinstance(value, str):
            raise VerdictError(f"{source}:{_line(text, _offset(text, key))}: {key} is {value!r}; write a text")
    if "verdicts" not in whole:
        raise VerdictError(f"{source}:1: the key 'verdicts' is missing; it lists the verdicts")
    if not isinstance(whole["verdicts"], list):
        found, line = json.dumps(whole["verdicts"])[:40], _line(text, _offset(text, "verdicts"))
        raise VerdictError(f"{source}:{line}: verdicts is {found}; write a list of verdicts, [ … ]")
    return list(_entries(text, _offset(text, "verdicts"))), header


_SPACE = re.compile(r"[\s,:]*")


def _skip(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _offset(text: str, wanted: str) -> int:
    """Return where the value of a top-level key begins; the text is valid JSON and has the key."""
    decoder, offset = json.JSONDecoder(), _skip(text, 0) + 1
    while True:
        key, offset = decoder.raw_decode(text, _skip(text, offset))
        start = _skip(text, offset)
        if key == wanted:
            return start
        _, offset = decoder.raw_decode(text, start)


def _entries(text: str, start: int) -> Iterator[_Entry]:
    decoder, offset = json.JSONDecoder(), _skip(text, start + 1)
    while text[offset] != "]":
        value, end = decoder.raw_decode(text, offset)
        yield _Entry(_line(text, offset), value)
        offset = _skip(text, end)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
