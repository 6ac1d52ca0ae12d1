"""The newcomer's tutorial, run as it stands: files written, edits made, commands run, output compared."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "first-task.md"
FENCE = re.compile(r'^```(\w+)((?: \w+="[^"]*")*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its language, its attributes, its text."""

    language: str
    told: dict[str, str]
    text: str


def blocks() -> Iterator[Block]:
    for match in FENCE.finditer(PAGE.read_text(encoding="utf-8")):
        told = dict(re.findall(r'(\w+)="([^"]*)"', match[2]))
        title, _, section = told.get("title", "").partition(", section ")
        code = title.removeprefix("ends with exit code ") if match[1] == "console" else ""
        more = {"title": title, "section": section, "exit": code}
        yield Block(match[1], {name: value for name, value in more.items() if value}, match[3])


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """Return each command of a console block with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif line != "…":
            found[-1][1].append(line)
    return found


def edited(text: str, diff: str) -> str:
    """Replace each run of lines with a minus by the run of lines with a plus that follows it."""
    for minus, plus in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)+)", diff, re.MULTILINE):
        old, new = ("\n".join(line[1:] for line in part.splitlines()) for part in (minus, plus))
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def with_section(text: str, name: str, section: str) -> str:
    """Replace a section at the top level of a YAML file."""
    return re.sub(rf"^{name}:\n(?:[ -].*\n)*", lambda _: section, text, count=1, flags=re.MULTILINE)


def run(command: str, folder: Path) -> tuple[int, str]:
    """Run a command of the page with the interpreter of the tests."""
    words = shlex.split(command)
    program = {"python": [], "xlcheck": ["-m", "xlcheck.cli"], "pytest": ["-m", "pytest", "-p", "no:cacheprovider"]}
    line = [sys.executable, *program[words[0]], *words[1:]]
    done = subprocess.run(line, cwd=folder, check=False, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_page_takes_fewer_than_fifteen_commands():
    assert sum(len(commands(block)) for block in blocks() if block.language == "console") < 15


def test_workflow_of_the_page_runs_what_the_page_ran():
    told = {command for block in blocks() if block.language == "console" for command, _ in commands(block)}
    workflow = next(block for block in blocks() if block.told.get("title", "").endswith("rubric.yml"))
    steps = [step["run"] for step in yaml.safe_load(workflow.text)["jobs"]["calibrate"]["steps"] if "run" in step]
    assert steps[0].startswith("pip install")
    assert {step.replace(" --save", "") for step in steps[1:]} <= {command.replace(" --save", "") for command in told}


@pytest.mark.slow
def test_page_can_be_followed_to_the_end(tmp_path):
    for block in blocks():
        target = tmp_path / block.told.get("title", "nowhere")
        if block.language == "console":
            for command, shown in commands(block):
                code, output = run(command, tmp_path)
                last = command == commands(block)[-1][0]
                assert code == (int(block.told.get("exit", 0)) if last else 0), f"{command}\n{output}"
                said = [" ".join(line.split()) for line in output.splitlines()]
                missing = [line for line in shown if not any(" ".join(line.split()) in one for one in said)]
                assert missing == [], f"{command}\n{output}"
        elif block.language == "diff":
            target.write_text(edited(target.read_text(encoding="utf-8"), block.text), encoding="utf-8")
        elif "section" in block.told:
            text = target.read_text(encoding="utf-8")
            target.write_text(with_section(text, block.told["section"], block.text), encoding="utf-8")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
    assert (tmp_path / "ferry-dcf.calibration.json").is_file()
