"""Time and memory of reading and recomputing, and of what-ifs, against other ways to do it.

    python tests/bench/bench.py                          generated models, ratios to the bare engine
    python tests/bench/bench.py --formulas --libreoffice also against these two (minutes)
    python tests/bench/bench.py --corpus FOLDER          the workbooks of a folder too
    python tests/bench/bench.py --write                  put the tables into docs/performance.md
    python tests/bench/bench.py --resume FILE            keep what was measured there, and measure only the rest

Every figure is the CPU time of a process of its own, the median of three up to 100,000 formulas, all in one run: a busy
machine makes each slower, the ratios less exact.
"""

# ruff: noqa: T201 - a script tells its results on the terminal

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module, metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance.md"
COLUMNS = "ABCDEFGHIJ"
WHAT_IFS = 100


def generate(path: Path, formulas: int) -> None:
    """Write a model in which every cell of the sheet Model depends on one input, and one cell on another only."""
    from xlcheck.engines.package import Draft, Formula, write_package

    model: dict[tuple[int, int], object] = {(1, 1): 100.0, (1, 2): 0.001}
    rows = formulas // len(COLUMNS)
    for row in range(2, rows + 2):
        model[row, 1] = Formula(f"=A{row - 1}*(1+$B$1)-1")
        for column in range(2, len(COLUMNS) + 1):
            model[row, column] = Formula(f"={COLUMNS[column - 2]}{row}*0.5+A{row - 1}*0.01")
    output = {(1, 1): Formula(f"=SUM(Model!A2:J{rows + 1})"), (1, 2): 5.0, (2, 2): Formula("=B1*2")}
    path.write_bytes(write_package(Draft({"Model": model, "Output": output})))


def floor(path: Path) -> dict[str, float]:
    """The bare primary engine: load, calculate, read every value."""
    import cellrune

    start = time.process_time()
    limits = dict.fromkeys(("max_total_cells", "max_cells_per_sheet"), 1 << 40)
    sizes = "max_archive_bytes max_entry_uncompressed_bytes max_total_uncompressed_bytes max_total_formula_bytes"
    limits.update(dict.fromkeys(sizes.split(), 2 << 30))
    workbook = cellrune.Workbook.from_bytes(path.read_bytes(), read_limits=limits)
    workbook.calculate(calculation_limits={"max_dependency_edges": 100_000_000})
    for sheet in workbook.summary()["sheets"]:
        if sheet["used_range"]:
            first, _, last = sheet["used_range"].partition(":")
            bottom = int("".join(filter(str.isdigit, last or first)))
            letters = "".join(filter(str.isalpha, last or first))
            for top in range(1, bottom + 1, 50_000):
                workbook.read_values(sheet["name"], f"A{top}", f"{letters}{min(top + 49_999, bottom)}")
    return {"seconds": time.process_time() - start}


def product(path: Path) -> dict[str, float]:
    """This package: read and recompute, in a process that has it imported."""
    from xlcheck.engines import engine
    from xlcheck.recompute import recompute
    from xlcheck.workbook import load

    engine("cellrune")
    import_module("xlcheck.reading.book")
    start = time.process_time()
    book = load(path)
    read = time.process_time()
    recalc = recompute(book)
    end = time.process_time()
    return {"seconds": end - start, "read": read - start, "recompute": end - read, "cells": len(recalc.values)}


def verdicts(path: Path) -> dict[str, float]:
    """The local check, after reading and recomputing."""
    from xlcheck.recompute import recompute
    from xlcheck.workbook import load

    recalc = recompute(load(path))
    start = time.process_time()
    _ = recalc.verdicts
    return {"seconds": time.process_time() - start}


def what_ifs(path: Path) -> dict[str, float]:
    """What-ifs that ask for one output: one that every cell stands behind, one that two cells stand behind."""
    from xlcheck.cells import CellRef
    from xlcheck.recompute import recompute
    from xlcheck.workbook import load

    recalc = recompute(load(path))
    found = {}
    count = max(3, min(WHAT_IFS, 200_000 // max(len(recalc.values), 1)))
    cases = {"all": ("Model!B1", "Output!A1", 0.001), "few": ("Output!B1", "Output!B2", 5.0)}
    for name, (changed, output, value) in cases.items():
        recalc.what_if({changed: value * 1.5}, [output])
        start = time.process_time()
        for number in range(count):
            recalc.what_if_cells({CellRef.parse(changed): value * (1.1 + number / 1000)}, [CellRef.parse(output)])
        found[name] = (time.process_time() - start) / count
    return found


def formulas_alone(path: Path) -> dict[str, float]:
    """The formulas package on the whole workbook."""
    import formulas

    start = time.process_time()
    formulas.ExcelModel().loads(str(path)).finish().calculate()
    return {"seconds": time.process_time() - start}


PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse">
<value>0</value></prop></item></oor:items>
"""


def libreoffice(path: Path) -> dict[str, float]:
    """LibreOffice with forced recalculation, then openpyxl reading the values; the second of two runs."""
    import openpyxl

    with tempfile.TemporaryDirectory() as folder:
        user = Path(folder) / "profile" / "user"
        user.mkdir(parents=True)
        (user / "registrymodifications.xcu").write_text(PROFILE, encoding="utf-8")
        command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "xlsx"]
        for _ in range(2):
            before = _children()
            subprocess.run([*command, "--outdir", folder, str(path)], check=True, capture_output=True)
            seconds = _children() - before
        start = time.process_time()
        converted = openpyxl.load_workbook(Path(folder) / f"{path.stem}.xlsx", data_only=True)
        for sheet in converted.worksheets:
            for row in sheet.iter_rows(values_only=True):
                _ = row
        return {"seconds": seconds + time.process_time() - start}


def _command(*arguments: str) -> dict[str, float]:
    """Run the program twice and time the second: its modules are compiled then, as those of an installed package."""
    with tempfile.TemporaryDirectory() as compiled:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = compiled
        for start in ("from xlcheck.cli import main; main()", "from xlcheck.cli import entry; entry()"):
            before = _children()
            command = [sys.executable, "-c", f"import sys; {start}", *arguments]
            subprocess.run(command, check=False, capture_output=True, env=environment)
        return {"seconds": _children() - before}


def help(path: Path) -> dict[str, float]:  # noqa: A001 - named after the option
    """The start of the program alone."""
    del path
    return _command("--help")


def audit(path: Path) -> dict[str, float]:
    """A whole audit, from the start of the program."""
    return _command("audit", str(path))


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


TASKS = {
    task.__name__: task for task in (floor, product, verdicts, what_ifs, formulas_alone, libreoffice, help, audit)
}  # fmt: skip


class Bench:
    """Measures each task of each file, three times or once, and keeps what was measured."""

    def __init__(self, kept: Path | None) -> None:
        self._file = kept
        self._known: dict[str, dict[str, float]] = {}
        if kept is not None and kept.is_file():
            self._known = json.loads(kept.read_text(encoding="utf-8"))

    def measure(self, task: str, path: Path, times: int = 3) -> dict[str, float]:
        """Return the median of every figure of a task; ``failed`` where it did not end well."""
        key = f"{task} {path.name}"
        if key not in self._known:
            runs = [_run_apart(task, path) for _ in range(times)]
            whole = [run for run in runs if "failed" not in run]
            figures = {name: statistics.median(run[name] for run in whole) for name in whole[0]} if whole else {}
            self._known[key] = figures or {"failed": 1.0}
            if self._file is not None:
                self._file.write_text(json.dumps(self._known, indent=1), encoding="utf-8")
        return self._known[key]


def _run_apart(task: str, path: Path) -> dict[str, float]:
    """Run a task in a process of its own; adds the CPU time of the whole process and its peak memory."""
    before = _children()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--task", task, "--file", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return {"failed": 1.0}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    found["process"] = _children() - before
    return found


def run_task(task: str, path: Path) -> None:
    found = TASKS[task](path)
    found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def model_rows(bench: Bench, sizes: list[int], *, with_formulas: bool, with_libreoffice: bool) -> list[str]:
    rows = [
        "| formula cells | bare engine, s | read + recompute, s | ratio | peak MiB | what-if, all depend, s | ratio | "
        "what-if, few depend, s | formulas alone, s | LibreOffice, s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / f"model{size}.xlsx"
            generate(path, size)
            times = 3 if size <= 100_000 else 1
            bare, ours, asked = (bench.measure(task, path, times) for task in ("floor", "product", "what_ifs"))
            other = bench.measure("formulas_alone", path, 1) if with_formulas and size <= 10_000 else {}
            office = bench.measure("libreoffice", path, 1) if with_libreoffice and size <= 100_000 else {}
            rows.append(
                f"| {size:,} | {bare['seconds']:.2f} | {ours['seconds']:.2f} ({ours['read']:.2f} reading) | "
                f"{ours['seconds'] / bare['seconds']:.2f} | {ours['megabytes']:,.0f} | {asked['all']:.4f} | "
                f"{asked['all'] / ours['recompute']:.2f} | {asked['few']:.5f} | {_against(other, ours)} | "
                f"{_against(office, ours)} |"
            )
            print(rows[-1], flush=True)
    return rows


def _against(other: dict[str, float], ours: dict[str, float]) -> str:
    if not other:
        return "–"
    return "failed" if "failed" in other else f"{other['seconds']:.1f} ({other['seconds'] / ours['seconds']:.0f} ×)"


def corpus_rows(bench: Bench, folder: Path, *, with_libreoffice: bool) -> list[str]:
    rows = []
    for path in sorted(folder.glob("*.xls[xm]")):
        ours = bench.measure("product", path, 1)
        if "failed" not in ours and ours["cells"]:
            rows.append({"path": path, **ours, "verdicts": bench.measure("verdicts", path, 1)["seconds"]})
    rows.sort(key=lambda row: row["seconds"])
    middle, last = rows[len(rows) // 2], rows[-1]
    checks = [row["verdicts"] for row in rows]
    text = [
        f"{len(rows)} workbooks with formulas: read + recompute {middle['seconds']:.2f} s in the median, "
        f"{last['seconds']:.2f} s at most ({last['cells']:,.0f} cells); the local check after it "
        f"{statistics.median(checks):.2f} s in the median, {max(checks):.2f} s at most."
    ]
    if with_libreoffice:
        path = middle["path"]
        with tempfile.TemporaryDirectory() as copies:  # measured anew, as often as the other
            again = Path(shutil.copy(path, Path(copies) / f"median_{path.name}"))
            office, middle = (bench.measure(task, again) for task in ("libreoffice", "product"))
        apart, started = office["seconds"] / middle["seconds"], office["seconds"] / middle["process"]
        text.append(
            f"On the median one ({middle['cells']:,.0f} cells): in-process {middle['seconds']:.3f} s, with process "
            f"start {middle['process']:.2f} s; LibreOffice {office['seconds']:.2f} s: {apart:.0f} ×, {started:.1f} ×."
        )
    return text


def cold_start(bench: Bench) -> str:
    """What a person waits for: processor seconds of the whole command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cold1000.xlsx"
        generate(path, 1_000)
        told, audited = bench.measure("help", path, 5), bench.measure("audit", path, 3)
    return (
        f"`xlcheck --help` takes {told['seconds']:.2f} s, `xlcheck audit` of the generated workbook with 1,000 "
        f"formulas {audited['seconds']:.2f} s, of processor time and with compiled modules."
    )


def heading() -> str:
    parts = ["xlcheck", "cellrune", "formualizer", "formulas", "openpyxl"]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in parts)
    office = ""
    if shutil.which("soffice"):
        said = subprocess.run(["soffice", "--version"], capture_output=True, text=True, check=False).stdout.split()
        office = f", LibreOffice {said[1]}" if len(said) > 1 else ""
    system = (
        f"{platform.machine()}, {platform.system()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    )
    return f"{system}; {versions}{office}. Load when the run ended: {os.getloadavg()[0]:.1f}."


INTRODUCTION = """# Performance

Written by `python tests/bench/bench.py --formulas --libreoffice --corpus FOLDER --write`. CPU seconds, every figure
from a process of its own, the median of three up to 100,000 formulas, all of one run: compare ratios, not seconds of
different machines. *Bare engine* is the primary engine alone: load, calculate, read every value. Read + recompute is
the whole way: reading formulas and stored values, the normalised copy, the recalculation. A what-if asks for one
output; its ratio is to a recompute.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 500_000])
    parser.add_argument("--formulas", action="store_true")
    parser.add_argument("--libreoffice", action="store_true")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--resume", type=Path, metavar="FILE")
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("--file", type=Path)
    arguments = parser.parse_args()
    if arguments.task:
        run_task(arguments.task, arguments.file)
        return
    office = arguments.libreoffice and shutil.which("soffice") is not None
    bench = Bench(arguments.resume)
    lines = ["## Generated models", ""]
    lines += model_rows(bench, arguments.sizes, with_formulas=arguments.formulas, with_libreoffice=office)
    if arguments.corpus:
        lines += ["", "## Real workbooks", "", *corpus_rows(bench, arguments.corpus, with_libreoffice=office)]
    lines += ["", "## Cold start", "", cold_start(bench)]
    lines = [INTRODUCTION, heading(), "", *lines]
    print("\n".join(lines))
    if arguments.write:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
