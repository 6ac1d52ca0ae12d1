"""Functions stay within 60 lines and modules within 400, so that each can be read at once."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "xlcheck").rglob("*.py"))
LONGEST_FUNCTION = 60
LONGEST_MODULE = 400


def functions(path: Path) -> dict[str, int]:
    """Return the number of lines of each function of a module, docstring and decorators included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {f"{node.name}:{node.lineno}": (node.end_lineno or 0) - node.lineno + 1 for node in found}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_can_be_read_at_once(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    long = {name: size for name, size in functions(path).items() if size > LONGEST_FUNCTION}
    assert lines <= LONGEST_MODULE
    assert not long
