"""Fences round what was handed in, which no text inside can close.

The fence carries a token made from the texts themselves: whoever writes a text cannot know it, and where it should
stand in a text all the same, another is taken. Tokens of chat templates are broken up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from xlcheck.checks.instruction_words import visible

_SPECIAL = re.compile(
    r"(<)(?=\|)|(\[)(?=/?INST\])|(<)(?=/?(?:s|bos|eos|SYS|start_of_turn|end_of_turn)>)", re.IGNORECASE
)


def as_data(text: str) -> str:
    """Return submission text with plain line ends, without invisible characters and tokens of chat templates."""
    lines = "\n".join(text.splitlines())
    return _SPECIAL.sub(lambda mark: f"{mark[0]} ", visible(lines))


def token_for(texts: Sequence[str]) -> str:
    """Return a word of 32 hexadecimal digits that stands in none of the texts: the same texts, the same word."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass"))
    while any(digest.hexdigest()[:32] in text for text in texts):
        digest.update(b"again")
    return digest.hexdigest()[:32]


def fenced(text: str, token: str) -> str:
    """Return a text between two fences, each on a line of its own."""
    return f"<<<DATA {token}>>>\n{text}\n<<<END {token}>>>"
