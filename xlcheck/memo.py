"""The text of the memo files beside a workbook: .md and .txt at once, .docx and .pdf with the extra ``memo``."""

from __future__ import annotations

import logging
import re
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from xlcheck.errors import SubmissionError, shown
from xlcheck.intake import MEMO_SUFFIXES, check_package

MAX_BYTES = 20_000_000
"""Size of a memo file above which it is not read."""
MAX_PAGES = 500
"""Pages of a PDF that are read."""
MAX_PARAGRAPHS = 100_000
"""Paragraphs of a Word file, those in cells of tables too, above which it is not read."""


class Memo(NamedTuple):
    """What could be read of one memo file."""

    name: str
    texts: tuple[str, ...]
    """The whole text; of a PDF its pages, then the same joined."""
    unread: str | None = None
    """Why nothing could be read, in one sentence."""
    pages: int = 1
    """So many of the first texts are pages; the same joined, with and without hyphens, follow."""


def read_memo(path: Path) -> Memo:
    """Read one memo file; a file that cannot be read says why in `unread` (the submitter's fault, no error of ours)."""
    suffix = path.suffix.lower()
    if suffix not in MEMO_SUFFIXES:
        return _unread(path, f"a memo is one of {', '.join(MEMO_SUFFIXES)}")
    try:
        if path.stat().st_size > MAX_BYTES:
            return _unread(path, f"it has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read")
        data = path.read_bytes()
    except OSError as problem:
        return _unread(path, f"it cannot be read: {problem.strerror or problem}")
    if suffix == ".docx":
        return _docx(path, data)
    if suffix == ".pdf":
        return _pdf(path, data)
    return Memo(shown(path.name), (_decoded(data),))


def _unread(path: Path, why: str) -> Memo:
    return Memo(shown(path.name), (), f"{shown(path.name)}: {why}")


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:  # Chinese Windows still writes its own code page
        return data.decode("gb18030", errors="replace")


def _docx(path: Path, data: bytes) -> Memo:
    try:
        from docx import Document
        from docx.oxml.ns import qn
        from docx.table import _Cell
        from docx.text.paragraph import Paragraph
    except ImportError:
        return _unread(path, "reading .docx needs the extra, pip install 'xlcheck[memo]'")
    try:
        check_package(data, shown(path.name))
        document = Document(BytesIO(data))
        if sum(1 for _ in document.element.body.iter(qn("w:p"))) > MAX_PARAGRAPHS:
            return _unread(path, f"it has more than {MAX_PARAGRAPHS:,} paragraphs; fewer are read")
        lines = []
        for block in document.iter_inner_content():
            if isinstance(block, Paragraph):
                lines.append(block.text)
            else:
                # not row.cells: a cell says itself how many columns it spans, and would be repeated as often
                rows = ([_Cell(cell, block).text for cell in row.tc_lst] for row in block._tbl.tr_lst)
                lines += [" | ".join(texts) for texts in rows]
    except SubmissionError as problem:
        return Memo(shown(path.name), (), str(problem))
    except MemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - whatever a damaged file makes its reader raise
        return _unread(path, f"it is no sound .docx file ({type(problem).__name__})")
    return Memo(shown(path.name), ("\n".join(lines),))


_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zß-ÿ])")


def _pdf(path: Path, data: bytes) -> Memo:
    try:
        from pypdf import PdfReader
    except ImportError:
        return _unread(path, "reading .pdf needs the extra, pip install 'xlcheck[memo]'")
    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # its remarks on odd files are not for the terminal
    try:
        texts = [page.extract_text() for page in PdfReader(BytesIO(data)).pages[:MAX_PAGES]]
    except MemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - whatever a damaged file makes its reader raise
        return _unread(path, f"it is no sound .pdf file ({type(problem).__name__})")
    pages = [text.encode("utf-8", "replace").decode() for text in texts]  # fonts may give halves of characters
    if not any(page.strip() for page in pages):
        return _unread(path, "its pages hold no text (scanned pages are pictures)")
    joined = "\n".join(pages)
    return Memo(shown(path.name), (*pages, joined, _HYPHENATED.sub("", joined)), pages=len(pages))


_WRAPPED = re.compile(r"\n(?![^\S\n]*(?:\n|[-*•|#>]|\d+[.)]))")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[\"'])|[。！？；]|\n+")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, wrapped lines joined; each bullet, heading and row of a table is one too."""
    return [part for part in _SENTENCE_END.split(_WRAPPED.sub(" ", text)) if part.strip()]
