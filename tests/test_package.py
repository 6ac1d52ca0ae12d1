"""The public names, and the built wheel at work in an environment of its own."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import xlcheck

ROOT = Path(__file__).parents[1]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)


def test_public_names_are_these():
    """A new public name is a promise: add it here knowingly."""
    assert sorted(xlcheck.__all__) == [
        "Report",
        "__version__",
        "audit",
        "grade",
        "load",
        "locate",
        "recompute",
    ]
    assert dir(xlcheck) == sorted(xlcheck.__all__)


@pytest.mark.parametrize("name", xlcheck.__all__)
def test_public_name_exists(name):
    assert getattr(xlcheck, name) is not None


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = xlcheck.nonsense


@pytest.mark.parametrize(
    "first", ["import xlcheck.recompute", "import xlcheck.pipeline", "from xlcheck import load", "pass"]
)
def test_recompute_is_the_function_whatever_was_imported_before(first):
    code = f"import xlcheck\n{first}\nassert callable(xlcheck.recompute), xlcheck.recompute"
    assert run(sys.executable, "-c", code).stderr == ""


def test_import_is_light():
    """Starting the command line must not load what only a grading needs."""
    heavy = {"pandas", "numpy", "jinja2", "openpyxl", "pydantic", "lxml", "cellrune", "formualizer", "formulas"}
    code = f"import sys, xlcheck, xlcheck.cli\nprint(sorted({heavy!r} & set(sys.modules)))"
    assert run(sys.executable, "-c", code).stdout.strip() == "[]"


@pytest.mark.slow
def test_built_wheel_runs_the_demo_elsewhere(tmp_path):
    """The wheel carries all that the demo needs, and nothing of it is taken from this checkout."""
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT)
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    installed = run(python, "-m", "pip", "install", "-q", wheel)
    assert installed.returncode == 0, installed.stderr
    away = tmp_path / "away"
    away.mkdir()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = run(tmp_path / "env" / "bin" / "xlcheck", "demo", cwd=away, env=clean)
    assert (done.returncode, done.stderr) == (0, "")
    assert "report.html" in done.stdout.splitlines()[-1]
    assert list(away.rglob("report.html"))
