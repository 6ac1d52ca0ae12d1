"""The documentation site is built strictly, and the commands of its tutorials do what they say."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted(page for page in (ROOT / "docs" / "tutorials").glob("*.md") if page.stem != "first-task")
"""That one has a test of its own."""
ELISION = "…"
BINARIES = Path(sys.executable).parent


def blocks(page, *languages):
    return re.findall(rf"```(?:{'|'.join(languages)})\n(.*?)\n```", page.read_text(encoding="utf-8"), re.DOTALL)


def steps(page):
    """Yield each command of a page with the lines shown below it; ``sh`` holds commands alone."""
    for block in blocks(page, "sh", "console"):
        shown = []
        for line in block.replace("\\\n", "").splitlines():
            if line.startswith("$ "):
                shown.append((line[2:], []))
            elif shown:
                shown[-1][1].append(line)
            else:
                yield line, []
        yield from shown


def assert_shows(lines, printed):
    """Assert that the lines are printed in this order; ``…`` stands for any lines, or for the end of one."""
    at, anywhere = 0, False
    for line in lines:
        if line == ELISION:
            anywhere = True
            continue
        pattern = re.compile(re.escape(line.removesuffix(ELISION)) + (".*" if line.endswith(ELISION) else ""))
        found = next((n for n in range(at, len(printed)) if pattern.fullmatch(printed[n])), None)
        assert found == at or (anywhere and found is not None), f"not printed here: {line}\n" + "\n".join(printed)
        at, anywhere = found + 1, False


@pytest.mark.parametrize(
    ("lines", "fits"),
    [
        (["a", "b"], True),
        (["b"], False),
        (["…", "c"], True),
        (["a", "…", "d e…"], True),
        (["a", "c"], False),
        (["…", "c", "…", "b"], False),
    ],
)
def test_shown_lines_are_held_to_their_order(lines, fits):
    printed = ["a", "b", "c", "d e f"]
    if fits:
        assert_shows(lines, printed)
    else:
        with pytest.raises(AssertionError, match="not printed here"):
            assert_shows(lines, printed)


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_commands_of_a_tutorial_work_and_print_what_it_shows(page, tmp_path):
    for folder in ("fixtures", "rubrics"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    variables = os.environ | {"PATH": f"{BINARIES}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
    for command, lines in steps(page):
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert_shows(lines, done.stdout.splitlines())


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_python_of_a_tutorial_is_python(page):
    for code in blocks(page, "python"):
        compile(code, page.name, "exec")


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", ROOT / ".mkdocs.yml", "-d", tmp_path / "site"],
        capture_output=True, text=True, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 15
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "```" not in text, f"{page}: a block of code with attributes that the site does not know (title only)"
        loaded = re.findall(r'<(?:script|img|iframe)[^>]+src="(https?:[^"]*)', text)
        loaded += re.findall(r'<link[^>]+rel="(?:stylesheet|preconnect)"[^>]+href="(https?:[^"]*)', text)
        assert loaded == [], page


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert f" {page.relative_to(ROOT / 'docs')}\n" in navigation, f"add {page.name} to .mkdocs.yml"
