"""Pages made from the program itself: ``python -m xlcheck.reference`` writes docs/cli.md and docs/documents.md."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from xlcheck.arguments import EXIT_CODES
from xlcheck.cli import build_parser
from xlcheck.schemas import VERSIONS, schema_text

_CLI = """# Commands

Generated from the program by `python -m xlcheck.reference`; a test compares. `xlcheck VERB --help` prints the same.

Every verb takes `--json` (print JSON for scripts), `--quiet` or `-q` (no progress on standard error) and `--help`.
Colours and progress appear on a terminal only; the variable `NO_COLOR` turns colours off.

"""
_DOCUMENTS = """# Keys of every document

Generated from the program by `python -m xlcheck.reference`; a test compares. `xlcheck schema NAME` prints the JSON
Schema, for editors and programs; its `$id` carries the version, which is raised when a key changes its meaning.
A binding is a YAML file of `role: cell`, see [the roles](roles.md).

"""
_COMMON = ("--help", "--json", "--quiet")


def cli_page() -> str:
    """Return docs/cli.md: every verb with its arguments, then the exit codes."""
    verbs = "\n".join(_verb("xlcheck", name, parser) for name, parser in _verbs(build_parser()))
    title, *codes = EXIT_CODES.splitlines()
    listed = "".join(f"* `{line.split()[0]}`: {line.split(maxsplit=1)[1]}\n" for line in codes)
    return f"{_CLI}{verbs}\n## {title.rstrip(':').capitalize()}\n\n{listed}"


def _verbs(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _verb(prefix: str, name: str, parser: argparse.ArgumentParser) -> str:
    inner = list(_verbs(parser))
    if inner:
        return "\n".join(_verb(f"{prefix} {name}", below, verb) for below, verb in inner)
    actions = [action for action in parser._actions if not set(_COMMON) & set(action.option_strings)]
    needed = [action for action in actions if action.required]
    usage = " ".join([prefix, name, *map(_form, needed), *(["[options]"] if len(needed) < len(actions) else [])])
    listed = "".join(f"* `{_form(action)}`{_says(action)}\n" for action in actions)
    return f"## `{prefix} {name}`\n\n{parser.description}\n\n```\n{usage}\n```\n\n{listed}"


def _form(action: argparse.Action) -> str:
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else None
    value = str(action.metavar or choices or action.dest.upper()) if action.nargs != 0 else ""
    return " ".join(filter(None, [*action.option_strings[:1], value]))


def _says(action: argparse.Action) -> str:
    if not action.help:
        return ""
    return ": " + action.help % {"default": action.default, "prog": "xlcheck"}


def documents_page() -> str:
    """Return docs/documents.md: every key of every document with its type, default and meaning."""
    return _DOCUMENTS + "\n".join(_document(name) for name in VERSIONS if name != "binding")


def _document(name: str) -> str:
    schema = json.loads(schema_text(name))
    parts = dict(schema.get("$defs", {}))
    root = parts.pop(schema.get("$ref", "").rpartition("/")[2], schema)
    tables = [_part(part) for part in (root, *schema.get("anyOf", ()), *parts.values()) if part.get("properties")]
    return f"## {name.capitalize()}, version {VERSIONS[name]}\n\n" + "\n".join(tables)


def _part(part: dict[str, Any]) -> str:
    required = part.get("required", ())
    lines = [f"### {part.get('title', 'Whole file')}\n"]
    if part.get("description"):
        lines.append(f"{' '.join(part['description'].split())}\n")
    for key, value in part["properties"].items():
        default = "" if key in required or "default" not in value else f", default `{json.dumps(value['default'])}`"
        says = f": {value['description']}" if "description" in value else ""
        lines.append(f"* `{key}` ({_type(value)}{', needed' if key in required else default}){says}")
    return "\n".join(lines) + "\n"


def _type(value: dict[str, Any]) -> str:
    """Return the type of a key in words: ``text or null``, ``list of Item``, ``one of "a", "b"``."""
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "const" in value or "enum" in value:
        choices = value.get("enum", [value.get("const")])
        return ("one of " if len(choices) > 1 else "") + ", ".join(f"`{json.dumps(choice)}`" for choice in choices)
    if "anyOf" in value or "allOf" in value:
        return " or ".join(dict.fromkeys(map(_type, value.get("anyOf") or value["allOf"])))
    return _plain_type(value)


def _plain_type(value: dict[str, Any]) -> str:
    kind = value.get("type", "anything")
    if kind == "array":
        items: dict[str, Any] = value.get("items") or next(iter(value.get("prefixItems", ())), {})
        return f"list of {_type(items)}" if items else "list"
    if kind == "object":
        inner = value.get("additionalProperties")
        return f"mapping to {_type(inner)}" if isinstance(inner, dict) else "mapping"
    names = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    return "date" if value.get("format") == "date" else names.get(str(kind), str(kind))


def main() -> None:
    """Write both pages of the current directory's docs."""
    from pathlib import Path

    Path("docs/cli.md").write_text(cli_page(), encoding="utf-8")
    Path("docs/documents.md").write_text(documents_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
