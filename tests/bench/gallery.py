"""The screenshots of docs/gallery.md, made from the bundled answers with headless Chromium.

python tests/bench/gallery.py        writes docs/images/*.png anew
"""

# ruff: noqa: T201 - a script tells its results on the terminal

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from browser import chromium  # noqa: E402

from xlcheck.pipeline import grade_with_papers  # noqa: E402
from xlcheck.report.html import report_page  # noqa: E402

TASK = "sic-epitaxy-dcf"
IMAGES = ROOT / "docs" / "images"
LARGEST = 200_000
"""Bytes of one picture."""


class Shot(NamedTuple):
    """One picture: an answer, a window, and what is brought into view first."""

    name: str
    answer: str
    width: int = 1440
    height: int = 1000
    verdicts: bool = True
    language: str = "en"
    show: str | None = None
    click: str | None = None


SHOTS = (
    Shot("report-flawed", "flawed", height=1150),
    Shot("report-flawed-pictures", "flawed", width=1200, height=860, show="#pictures"),
    Shot("report-flawed-workbook", "flawed", height=900, click="#lost-P17 a.cell"),
    Shot("report-reference", "reference"),
    Shot("report-fatal", "growth-above-wacc"),
    Shot("report-fatal-narrow", "growth-above-wacc", width=390, height=1600),
    Shot("report-provisional", "reference", verdicts=False),
    Shot("report-provisional-narrow", "reference", width=390, height=1300, verdicts=False),
    Shot("report-chinese", "flawed", language="zh"),
)


def page(shot: Shot) -> str:
    """Return the page that a shot shows."""
    folder = ROOT / "fixtures" / TASK / shot.answer
    verdicts = folder / "verdicts.json" if shot.verdicts else None
    report, paper = grade_with_papers(folder, TASK, verdicts)[:2]
    return report_page(report, paper, shot.language)


def main() -> int:
    """Take every shot; 1 if one is larger than the documentation may hold."""
    too_large = []
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for shot in SHOTS:
            file = Path(folder) / f"{shot.name}.html"
            file.write_text(page(shot), encoding="utf-8")
            window = browser.new_page(viewport={"width": shot.width, "height": shot.height})
            window.goto(file.as_uri())
            if shot.click:
                window.locator(shot.click).first.click()
            if shot.show:
                window.locator(shot.show).evaluate("one => one.scrollIntoView()")
            target = IMAGES / f"{shot.name}.png"
            window.screenshot(path=target)
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1000:.0f} kB")
            too_large += [target] if target.stat().st_size > LARGEST else []
            window.close()
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main())
