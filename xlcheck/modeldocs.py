"""JSON Schemas in the models' own words: the line under each field becomes its description."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Literal

from xlcheck.cells import Frozen

_NONE = re.compile(r"\bNone\b")


def described_schema(
    model: type[Frozen], mode: Literal["validation", "serialization"] = "validation"
) -> dict[str, Any]:
    """Return the JSON Schema of a model, with the docstrings of its fields and of all models in it."""
    schema = model.model_json_schema(mode=mode)
    known = [model, *_subclasses(Frozen)]
    for part in (schema, *schema.get("$defs", {}).values()):
        fields = part.get("properties", {})
        match = [kind for kind in known if kind.__name__ == part.get("title") and set(kind.model_fields) == set(fields)]
        for name, says in _field_docs(match[0]).items() if match else ():
            fields[name]["description"] = says
    return schema


def _subclasses(kind: type[Frozen]) -> Iterator[type[Frozen]]:
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)


def _field_docs(model: type[Frozen]) -> dict[str, str]:
    """Return field to docstring, on one line, in the words of JSON."""
    body = _classes(model.__module__).get(model.__name__, [])
    return {
        field.target.id: _NONE.sub("null", " ".join(text.value.value.split()))
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


@cache
def _classes(module: str) -> dict[str, list[ast.stmt]]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
