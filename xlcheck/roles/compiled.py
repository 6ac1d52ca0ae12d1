"""The shipped words in the form that the lexicon keeps: to read them from YAML takes a tenth of an audit.

``python -m xlcheck.roles.compiled`` writes the file anew. It counts only as long as it was made from the words and by
the code that stand beside it, and a test says when it was not.
"""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

FOLDER = resources.files("xlcheck.roles")
FILE = "words.json"


def fingerprint() -> str:
    """Return the checksum of everything that the file follows from: the words, and how labels are read."""
    words = sorted((entry for entry in (FOLDER / "words").iterdir()), key=lambda entry: entry.name)
    code = [FOLDER / name for name in ("lexicon.py", "text.py")]
    parts = [entry.name.encode() + entry.read_bytes() for entry in [*words, *code] if entry.is_file()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def kept() -> dict[str, Any] | None:
    """Return the phrases, barred and known words; None if they are not those of the words and code as they are."""
    file = FOLDER / FILE
    found: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return found if found.get("fingerprint") == fingerprint() else None


def main() -> None:
    """Write the file."""
    from xlcheck.roles.lexicon import read_words, shipped_words

    phrases, barred, known = read_words([*shipped_words().values()])
    lines = [
        f'"fingerprint": {json.dumps(fingerprint())}',
        f'"barred": {json.dumps(barred, ensure_ascii=False)}',
        f'"known": {json.dumps(sorted(known), ensure_ascii=False)}',
        '"phrases": [\n' + ",\n".join(json.dumps(tuple(phrase), ensure_ascii=False) for phrase in phrases) + "\n]",
    ]
    Path(str(FOLDER / FILE)).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
