"""A large batch, whole and broken: ``python tests/bench/batch.py --count 2000 --kills 3 --ray``.

Makes submissions (copies of the bundled answers, a third of them with a changed part), grades them with two workers in
one go, then again while the run is killed and started anew, then on a Ray cluster one of whose workers is killed,
and holds the tables against each other, byte for byte. Prints figures in Markdown.
"""
# ruff: noqa: T201 - a script tells its results on the terminal

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from fuzz import changes  # noqa: E402
from raw_package import packed  # noqa: E402

RUBRIC = "sic-epitaxy-dcf"


def make(folder: Path, count: int) -> None:
    """Write the submissions."""
    answers = sorted(path.parent for path in (ROOT / "fixtures").glob("*/*/verdicts.json"))
    chance = random.Random(1)
    for number in range(count):
        place = folder / f"answer-{number:05}"
        shutil.copytree(answers[number % len(answers)], place, ignore=shutil.ignore_patterns("verdicts.json"))
        book = place / "model.xlsx"
        if number % 3 == 0 and book.exists():
            with zipfile.ZipFile(book) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
            name = chance.choice([name for name in parts if "worksheets/sheet" in name])
            book.write_bytes(packed({**parts, name: changes.part(parts[name].decode(), chance)}))


def command(folder: Path, out: Path, *more: str) -> list[str]:
    line = [sys.executable, "-m", "xlcheck.cli", "batch", str(folder), "--rubric", RUBRIC, "--out", str(out), "--quiet"]
    return [*line, *more]


def timed(folder: Path, out: Path, *more: str) -> tuple[float, int]:
    """Run a batch to its end; return its seconds and the peak memory of its parent in MiB."""
    begun = time.monotonic()
    run = subprocess.Popen(command(folder, out, *more), stdout=subprocess.DEVNULL)
    peak = 0
    while run.poll() is None:
        try:
            told = Path(f"/proc/{run.pid}/status").read_text()
            peak = max(peak, int(told.split("VmHWM:")[1].split()[0]) // 1024)
        except (OSError, IndexError):
            pass
        time.sleep(0.2)
    assert run.returncode in (0, 5), run.returncode
    return time.monotonic() - begun, peak


def killed(folder: Path, out: Path, kills: int, whole: float) -> list[int]:
    """Kill a batch at random points and start it again; return the rows that stood at each kill."""
    chance, stood = random.Random(2), []
    for _ in range(kills):
        run = subprocess.Popen(command(folder, out, "--jobs", "2"), stdout=subprocess.DEVNULL, start_new_session=True)
        time.sleep(chance.uniform(0.1, 0.9) * whole / (kills + 1))
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        stood.append(len(list((out / "rows").glob("*.json"))))
    timed(folder, out, "--jobs", "2")
    return stood


def kill_ray_worker() -> bool:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().startswith(b"ray::run_job"):
                os.kill(int(process.name), signal.SIGKILL)
                return True
        except OSError:
            continue
    return False


def on_ray(folder: Path, out: Path) -> tuple[float, bool]:
    begun = time.monotonic()
    run = subprocess.Popen(command(folder, out, "--on", "ray"), stdout=subprocess.DEVNULL)
    done = False
    while run.poll() is None:
        if not done and len(list((out / "rows").glob("*.json"))) > 20:
            done = kill_ray_worker()
        time.sleep(0.5)
    return time.monotonic() - begun, done


def same(one: Path, other: Path) -> str:
    equal = (one / "results.parquet").read_bytes() == (other / "results.parquet").read_bytes()
    return "the same bytes" if equal else "DIFFERENT"


def _compared(sample: Path, root: Path, count: int) -> int:
    """Compare one worker with two; return the peak memory of the parent in MiB."""
    make(sample, count)
    one, peak = timed(sample, root / "one", "--jobs", "1")
    two, _ = timed(sample, root / "two", "--jobs", "2")
    print(f"* {count} submissions: {one:.0f} s with one worker, {two:.0f} s with two: {one / two:.2f} times")
    print(f"* one and two workers: {same(root / 'one', root / 'two')}", flush=True)
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--sample", type=int, default=200, help="to compare one worker with two; 0 for not")
    parser.add_argument("--ray", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folder, sample = Path(root, "all"), Path(root, "sample")
        make(folder, args.count)
        small = _compared(sample, Path(root), args.sample) if args.sample else 0
        whole, large = timed(folder, Path(root, "whole"), "--jobs", "2")
        rate = args.count / whole
        print(f"* {args.count} submissions in {whole:.0f} s with two workers, {rate:.1f} a second")
        print(
            f"* peak memory of the parent: {small or '?'} MiB for {args.sample}, {large} MiB for {args.count}",
            flush=True,
        )
        stood = killed(folder, Path(root, "torn"), args.kills, whole)
        print(
            f"* killed after {stood} rows and started again: {same(Path(root, 'whole'), Path(root, 'torn'))}",
            flush=True,
        )
        if args.ray:
            seconds, hit = on_ray(folder, Path(root, "ray"))
            told = "a worker killed" if hit else "no worker killed"
            print(f"* on a Ray cluster, {told}: {seconds:.0f} s, {same(Path(root, 'whole'), Path(root, 'ray'))}")


if __name__ == "__main__":
    main()
