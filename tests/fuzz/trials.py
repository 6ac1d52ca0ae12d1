"""Trials of the fuzzer: a number is a seed, a seed is one changed input, graded as a stranger's would be."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import traceback
import zipfile
from io import BytesIO
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

from fuzz import bases, changes  # noqa: E402
from raw_package import packed  # noqa: E402

from xlcheck.checking import BROKEN  # noqa: E402
from xlcheck.errors import XlcheckError  # noqa: E402
from xlcheck.intake import open_package  # noqa: E402
from xlcheck.judging.packet import packet_text  # noqa: E402
from xlcheck.judging.prepare import prepare  # noqa: E402
from xlcheck.pipeline import Given, Graded, grade_with_papers  # noqa: E402
from xlcheck.report.annotated import annotated  # noqa: E402
from xlcheck.report.html import report_page  # noqa: E402

RUBRICS = TESTS.parent / "rubrics"
BINDING = "wacc: DCF!B7\nterminal_growth: DCF!B8\nvalue_per_share: DCF!B30\n"
KINDS = {"part": 38, "parts": 17, "container": 9, "memo": 12, "rubric": 10, "verdicts": 9, "binding": 5}
"""What is changed, and how often of 100 times."""


def trial(seed: int, folder: Path) -> str:
    """Run one trial and say what came of it: graded, refused, or what broke and where."""
    chance = random.Random(seed)
    kind = chance.choices([*KINDS], [*KINDS.values()])[0]
    task = chance.choice(bases.TASKS)
    answer = folder / f"answer-{seed}"
    answer.mkdir()
    (answer / "model.xlsx").write_bytes(_submission(kind, chance))
    if kind == "memo":
        name = chance.choice([*bases.memos()])
        (answer / name).write_bytes(_memo(name, chance))
    texts = {
        "rubric": (RUBRICS / f"{chance.choice([task, task, 'generic-dcf'])}.yaml").read_text("utf-8"),
        "verdicts": (bases.FIXTURES / task / "reference" / "verdicts.json").read_text("utf-8"),
        "binding": BINDING,
    }
    if kind in texts:
        texts[kind] = changes.lines(texts[kind], chance)
    paths = {"rubric": folder / "rubric.yaml", "verdicts": folder / "verdicts.json", "binding": folder / "binding.yaml"}
    for name, text in texts.items():
        paths[name].write_text(text, "utf-8")
    rubric = paths["rubric"] if kind == "rubric" else task
    verdicts = paths["verdicts"] if kind in ("verdicts", "memo") else None
    try:
        found = grade_with_papers(
            answer, rubric, verdicts, Given(binding=paths["binding"] if kind == "binding" else None)
        )
        _shown(found, answer, rubric, chance)
    except XlcheckError as error:
        return _sentence(error)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - any other error is what the fuzzer looks for
        return f"broke: {_where(traceback.format_exc())}"
    return _of_report(found.report.to_json())


def _shown(found: Graded, answer: Path, rubric: Path | str, chance: random.Random) -> None:
    """Make one of the things that people and judges see of a submission, now and then."""
    kind = chance.random()
    if found.paper is None:
        return
    if kind < 0.1:
        report_page(found.report, found.paper)
    elif kind < 0.2:
        annotated(open_package(answer / "model.xlsx"), found.report)
    elif kind < 0.25:
        packet_text(prepare(answer, rubric, formulas=True))


def _sentence(error: XlcheckError) -> str:
    text = str(error)
    bad = "\n" in text or len(text) > 2_000 or "Traceback" in text or error.exit_code == 5
    return f"broke: no sentence for a user: {text[:200]!r}" if bad else "refused"


def _of_report(text: str) -> str:
    report = json.loads(text)
    for result in report["results"]:
        if (result["reason"] or "").startswith(BROKEN):
            return f"broke: {result['check_id']}: {result['reason'][:200]}"
    return "refused" if report["score_card"]["status"] == "ungradable" else "graded"


def _where(told: str) -> str:
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    frames = [line for line in lines if line.startswith("File ")]
    own = [frame for frame in frames if "/xlcheck/" in frame]
    return f"{lines[-1][:200]} at {frames[-1] if frames else '?'}, called at {own[-1] if own else '?'}"


def _submission(kind: str, chance: random.Random) -> bytes:
    parts = dict(bases.parts(chance.choice(bases.NAMES)))
    if kind in ("part", "parts"):
        for _ in range(1 if kind == "part" else chance.choice([2, 5, 20])):
            _change(parts, chance)
    whole = packed(parts)
    return changes.container(whole, chance) if kind == "container" else whole


def _change(parts: dict[str, str | bytes], chance: random.Random) -> None:
    likely = [name for name in parts if "sheets/sheet" in name or "xl/workbook" in name]
    name = chance.choice(likely if likely and chance.random() < 0.6 else [*parts])
    content = parts[name]
    if chance.random() < 0.02 and len(parts) > 1:
        del parts[name]
    elif isinstance(content, bytes):
        parts[name] = changes.raw(content, chance)
    elif content:
        parts[name] = changes.part(content, chance)


def _memo(name: str, chance: random.Random) -> bytes:
    content = bases.memos()[name]
    if name.endswith(".docx") and chance.random() < 0.7:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            parts: dict[str, str | bytes] = {part: bases.text_of(archive.read(part)) for part in archive.namelist()}
        _change(parts, chance)
        return packed(parts)
    if name.endswith(".pdf") and chance.random() < 0.7:
        return changes.words(content.decode("latin-1"), chance).encode("latin-1", "replace")
    return changes.raw(content, chance)


def trials(order: str) -> str:
    """Run the trials of an order (JSON: first, last) and return what came of them (JSON: outcome to seeds)."""
    first, last = json.loads(order)
    found: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            found.setdefault(trial(seed, Path(folder)), []).append(seed)
    return json.dumps(found)
