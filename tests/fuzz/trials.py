"""Trials of the fuzzer: a number is a seed, a seed is one changed input, graded as a stranger's would be."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import traceback
import zipfile
from functools import lru_cache
from io import BytesIO
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

from fuzz import changes  # noqa: E402
from planted.model import clean_model  # noqa: E402
from raw_package import packed  # noqa: E402

from xlcheck.checking import BROKEN  # noqa: E402
from xlcheck.errors import XlcheckError  # noqa: E402
from xlcheck.pipeline import grade  # noqa: E402

TASK = TESTS.parent / "fixtures" / "sic-epitaxy-dcf"
RUBRIC = TESTS.parent / "rubrics" / "sic-epitaxy-dcf.yaml"
BINDING = "wacc: DCF!B7\nterminal_growth: DCF!B8\nvalue_per_share: DCF!B30\n"


@lru_cache(1)
def base() -> dict[str, str | bytes]:
    """The parts of a small whole model."""
    buffer = BytesIO()
    clean_model().workbook.save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def trial(seed: int, folder: Path) -> str:
    """Run one trial and say what came of it: graded, refused, or what broke and where."""
    chance = random.Random(seed)
    paths = {
        "submission": folder / "model.xlsx",
        "rubric": folder / "rubric.yaml",
        "verdicts": folder / "verdicts.json",
        "binding": folder / "binding.yaml",
    }
    kind = chance.choices(("part", "parts", "container", "rubric", "verdicts", "binding"), (45, 20, 10, 10, 10, 5))[0]
    paths["submission"].write_bytes(_submission(kind, chance))
    texts = {
        "rubric": RUBRIC.read_text("utf-8"),
        "verdicts": (TASK / "reference" / "verdicts.json").read_text("utf-8"),
        "binding": BINDING,
    }
    if kind in texts:
        texts[kind] = changes.lines(texts[kind], chance)
    for name, text in texts.items():
        paths[name].write_text(text, "utf-8")
    try:
        report = grade(
            paths["submission"],
            paths["rubric"],
            paths["verdicts"] if kind == "verdicts" else None,
            binding=paths["binding"] if kind == "binding" else None,
        )
    except XlcheckError as error:
        return _sentence(error)
    except Exception:  # noqa: BLE001 - any other error is what the fuzzer looks for
        return f"broke: {_where(traceback.format_exc())}"
    return _of_report(report.to_json())


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
    return f"{lines[-1][:200]} at {frames[-1] if frames else '?'}"


def _submission(kind: str, chance: random.Random) -> bytes:
    parts = dict(base())
    if kind in ("part", "parts"):
        for _ in range(1 if kind == "part" else chance.choice([2, 5, 20])):
            name = chance.choice(
                [name for name in parts if "sheet" in name or "workbook" in name or chance.random() < 0.3]
            )
            if chance.random() < 0.02 and len(parts) > 1:
                del parts[name]
            else:
                parts[name] = changes.part(str(parts[name]), chance)
    whole = packed(parts)
    return changes.container(whole, chance) if kind == "container" else whole


def trials(order: str) -> str:
    """Run the trials of an order (JSON: first, last) and return what came of them (JSON: outcome to seeds)."""
    first, last = json.loads(order)
    found: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            found.setdefault(trial(seed, Path(folder)), []).append(seed)
    return json.dumps(found)
