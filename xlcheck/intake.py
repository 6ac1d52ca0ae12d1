"""Limits and guards that run before any parser sees a byte of a submission.

The file is read once, whole, into memory (so nothing can change under the run), and never written.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from io import BytesIO
from itertools import islice, pairwise
from pathlib import Path

from xlcheck.errors import SubmissionError, UsageError, shown

ACCEPTED = "an unencrypted .xlsx or .xlsm workbook is accepted"
MEMO_SUFFIXES = (".md", ".txt", ".docx", ".pdf")
_READABLE = (".xlsx", ".xlsm", ".xltx", ".xltm")
_UNREADABLE = (".xls", ".xlsb", ".ods", ".numbers")
_DOCTYPE = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_XML_NAME = (".xml", ".rels", ".vml")
_NAMED_IN_UTF8 = 0x800
FOLDER_ENTRIES = 10_000
"""Files and folders that a submission's folder may hold, hidden ones too."""
FOLDER_DEPTH = 40
"""Levels of folders in it."""
_HIDDEN = (".", "~$", "__MACOSX")
_CHUNK = 1 << 20
_SLICE = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What a submission may cost before it is refused."""

    file_bytes: int = 50_000_000
    """Size of the file itself."""
    unpacked_bytes: int = 500_000_000
    """Sum of all parts, unpacked."""
    parts: int = 2_000
    """Number of entries of the zip."""
    ratio: float = 200.0
    """Unpacked over packed size of one part, looked at above `ratio_above_bytes` only."""
    ratio_above_bytes: int = 10_000_000
    """Unpacked size up to which any ratio is fine."""
    elements: int = 16_000_000
    """XML tags (opening and closing) of one part."""
    cells: int = 2_000_000
    """Non-blank cells of the workbook."""
    string_characters: int = 100_000_000
    """Characters of all shared strings."""
    formula_characters: int = 200_000_000
    """Characters of all formulas, shared ones written out."""
    formula_length: int = 32_768
    """Characters of one formula (Excel itself stops at 8,192)."""
    merges: int = 100_000
    """Merged ranges of one sheet that are kept (Excel itself slows down long before)."""


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Package:
    """A checked zip package; part names are looked up without regard to case, as OPC says."""

    file_name: str
    sha256: str
    data: bytes
    limits: Limits
    entries: Mapping[str, zipfile.ZipInfo] = field(repr=False)
    """Folded part name to zip entry."""

    def part(self, name: str) -> bytes | None:
        """Return the bytes of a part, or None where there is none of that name."""
        entry = self.entries.get(_folded(name))
        return None if entry is None else b"".join(_inflate(self, entry))

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a part bit by bit, so that a large part never stands in memory whole."""
        entry = self.entries.get(_folded(name))
        return iter(()) if entry is None else _inflate(self, entry)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _folded(name) in self.entries


@dataclass(frozen=True, slots=True)
class Submission:
    """What was handed in: at most one workbook, and the memo files beside it."""

    workbook: Path | None
    memos: tuple[Path, ...] = ()
    reason: str | None = None
    """Why there is no workbook."""


def find_workbook(path: str | Path, pattern: str | None = None) -> Submission:
    """Find the workbook and the memos of a submission, a file or a folder (searched with its sub-folders).

    `pattern` (``*final*.xlsx``) chooses among several workbooks by file name. UsageError if the path does not
    exist; SubmissionError if several workbooks are left; no workbook at all is an answer, with its reason.
    """
    path = Path(path)
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder; give a workbook or a folder that holds one")
    if path.is_file():
        return Submission(path, ())
    files = submitted_files(path)
    memos = tuple(file for file in files if file.suffix.lower() in MEMO_SUFFIXES)
    books = [file for file in files if file.suffix.lower() in _READABLE]
    books = books or [file for file in files if file.suffix.lower() in _UNREADABLE]
    if pattern is not None:
        books = [file for file in books if fnmatch(file.name, pattern)]
    if len(books) > 1:
        names = ", ".join(str(file.relative_to(path)) for file in books[:5]) + (" …" if len(books) > 5 else "")
        raise SubmissionError(
            f"{path.name or path}: {len(books)} workbooks found ({names}); keep one, give the file itself, or let the "
            "rubric's key 'submission' pick it"
        )
    if books:
        return Submission(books[0], memos)
    wanted = f"workbook matching {pattern}" if pattern else "workbook"
    return Submission(None, memos, f"{shown(path.name or str(path))}: the folder holds no {wanted}; {ACCEPTED}")


def submitted_files(folder: Path) -> list[Path]:
    """Return the files of a submission's folder and its sub-folders, sorted.

    Hidden ones, links and what is no regular file (pipes, devices) are left out. SubmissionError where it is no
    folder, cannot be read, or holds more than `FOLDER_ENTRIES` or folders deeper than `FOLDER_DEPTH`.
    """
    told = shown(folder.name or str(folder))
    if not folder.is_dir():
        raise SubmissionError(f"{told}: this is neither a file nor a folder, but a pipe or a device; {ACCEPTED}")
    found: list[Path] = []
    waiting, seen = [(folder, 1)], 0
    while waiting:
        place, depth = waiting.pop()
        if depth > FOLDER_DEPTH:
            raise SubmissionError(f"{told}: its folders nest deeper than {FOLDER_DEPTH}; hand in fewer levels")
        try:
            with os.scandir(place) as entries:
                inside = list(islice(entries, FOLDER_ENTRIES + 1))
        except OSError as error:
            raise SubmissionError(f"{told}: its folder {shown(place.name)} cannot be read: {error.strerror}") from None
        seen += len(inside)
        if seen > FOLDER_ENTRIES:
            raise SubmissionError(f"{told}: it holds more than {FOLDER_ENTRIES:,} files and folders; hand in fewer")
        plain = [entry for entry in inside if not entry.name.startswith(_HIDDEN)]
        found += [Path(entry.path) for entry in plain if entry.is_file(follow_symlinks=False)]
        waiting += [(Path(entry.path), depth + 1) for entry in plain if entry.is_dir(follow_symlinks=False)]
    return sorted(found)


def open_package(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> Package:
    """Read a workbook file and run every guard on it.

    Raises UsageError if there is no such file and SubmissionError, in one sentence, if it is no workbook that can
    be read safely: another format, encrypted, damaged, over a limit, or built to attack its reader.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path}: no such file; give an .xlsx or .xlsm workbook")
    name = shown(path.name)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            data = file.read(limits.file_bytes + 1) if size <= limits.file_bytes else b""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if max(size, len(data)) > limits.file_bytes:
        raise SubmissionError(f"{name}: the file has {size:,} bytes; at most {limits.file_bytes:,} are accepted")
    return check_package(data, name, limits)


def check_package(data: bytes, file_name: str, limits: Limits = DEFAULT_LIMITS) -> Package:
    """Run every guard on the bytes of a workbook; raises as `open_package` does."""
    if not data.startswith(b"PK\x03\x04"):
        raise SubmissionError(f"{file_name}: {_other_format(data)}; {ACCEPTED}")
    _check_directory_size(data, file_name, limits)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, UnicodeDecodeError) as error:
        raise SubmissionError(f"{file_name}: the zip container is damaged ({error}); {ACCEPTED}") from None
    infos = [info for info in infos if not info.is_dir()]
    _check_sizes(infos, file_name, limits)
    entries = _named(infos, file_name)
    package = Package(file_name, hashlib.sha256(data).hexdigest(), data, limits, entries)
    _check_overlap(package)
    for entry in entries.values():
        _check_own_name(package, entry)
        _check_content(package, entry)
    return package


def _other_format(data: bytes) -> str:
    """Say what a file that is no zip is, and what to do about it."""
    if not data:
        return "the file is empty (0 bytes)"
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        if "EncryptedPackage".encode("utf-16-le") in data:
            return "the workbook is encrypted with a password; remove the password and hand in an open copy"
        if any(f"{name}\0".encode("utf-16-le") in data for name in ("Workbook", "Book")):
            return "this is a legacy binary .xls workbook; save it as .xlsx"
        return "this is an OLE container (an encrypted workbook or a legacy binary file) that cannot be read"
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if data[:2] == b"\x09\x08" or data[:4] in (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00"):
        return "this is a legacy binary .xls workbook; save it as .xlsx"
    if head.startswith(b"%pdf"):
        return "this is a PDF document, no workbook"
    if head.startswith((b"<html", b"<!doctype", b"<table")):
        return "this is an HTML page, no workbook"
    if head.startswith(b"<"):
        return "this is a plain XML file (perhaps an XML spreadsheet of 2003), no workbook"
    if data.startswith(b"PK\x05\x06"):
        return "the zip container is empty"
    return "this is no workbook (the file is no zip container)"


def _check_directory_size(data: bytes, file_name: str, limits: Limits) -> None:
    """Refuse a huge central directory before zipfile builds an object for each of its entries."""
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - 65_557))
    if end < 0 or len(data) < end + 22:
        raise SubmissionError(f"{file_name}: the zip container is damaged (cut short); {ACCEPTED}")
    count, directory = struct.unpack_from("<HI", data, end + 10)
    if count != 0xFFFF and count > limits.parts:
        raise SubmissionError(f"{file_name}: the package has {count:,} parts; at most {limits.parts:,} are accepted")
    if directory != 0xFFFFFFFF and directory > limits.parts * 1_000:
        raise SubmissionError(f"{file_name}: the zip directory has {directory:,} bytes, more than any workbook needs")


def _check_sizes(infos: list[zipfile.ZipInfo], file_name: str, limits: Limits) -> None:
    if not infos:
        raise SubmissionError(f"{file_name}: the zip container is empty; {ACCEPTED}")
    if len(infos) > limits.parts:
        raise SubmissionError(
            f"{file_name}: the package has {len(infos):,} parts; at most {limits.parts:,} are accepted"
        )
    total = sum(info.file_size for info in infos)
    if total > limits.unpacked_bytes:
        raise SubmissionError(
            f"{file_name}: unpacked it has {total:,} bytes; at most {limits.unpacked_bytes:,} are accepted"
        )
    for info in infos:
        packed = max(info.compress_size, 1)
        if info.file_size > limits.ratio_above_bytes and info.file_size > limits.ratio * packed:
            raise SubmissionError(
                f"{file_name}: part {info.filename} unpacks {packed:,} bytes to {info.file_size:,}; "
                f"above {limits.ratio_above_bytes:,} bytes a ratio of at most {limits.ratio:g} is accepted"
            )
        if info.flag_bits & 0x1:
            raise SubmissionError(
                f"{file_name}: part {info.filename} is encrypted with a zip password; hand in an open copy"
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise SubmissionError(
                f"{file_name}: part {info.filename} is packed by method {info.compress_type}; "
                "only stored and deflated parts are accepted"
            )


def _folded(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()


def _named(infos: list[zipfile.ZipInfo], file_name: str) -> dict[str, zipfile.ZipInfo]:
    """Key the entries by folded name; refuse names that point elsewhere or collide."""
    entries: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = info.orig_filename.replace("\\", "/")
        if name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:", name) or "\0" in name:
            raise SubmissionError(
                f"{file_name}: part name {info.orig_filename!r} points outside the package; "
                "only relative names without '..' are accepted"
            )
        key = _folded(name)
        if key in entries:
            raise SubmissionError(
                f"{file_name}: part {name} stands twice in the package (also as {entries[key].filename}); "
                "each part name may occur once, whatever its case"
            )
        entries[key] = info
    return entries


def _data_start(package: Package, entry: zipfile.ZipInfo) -> int:
    offset = entry.header_offset
    if package.data[offset : offset + 4] != b"PK\x03\x04" or len(package.data) < offset + 30:
        raise SubmissionError(f"{package.file_name}: the zip container is damaged at part {entry.filename}")
    name_length, extra_length = struct.unpack_from("<HH", package.data, offset + 26)
    return offset + 30 + int(name_length) + int(extra_length)


def _check_own_name(package: Package, entry: zipfile.ZipInfo) -> None:
    """Refuse a part that the directory names otherwise than its own header: programs would see different parts."""
    start = entry.header_offset + 30
    (length,) = struct.unpack_from("<H", package.data, start - 4)
    own = package.data[start : start + length]
    if own != entry.orig_filename.encode("utf-8" if entry.flag_bits & _NAMED_IN_UTF8 else "cp437"):
        raise SubmissionError(
            f"{package.file_name}: part {entry.filename} has another name in its own header, "
            f"{own.decode('utf-8', 'replace')!r}; the zip container is damaged or made to deceive"
        )


def _check_overlap(package: Package) -> None:
    spans = sorted(
        (entry.header_offset, _data_start(package, entry) + entry.compress_size, entry.filename)
        for entry in package.entries.values()
    )
    for (_, end, first), (start, _, second) in pairwise(spans):
        if start < end:
            raise SubmissionError(
                f"{package.file_name}: parts {first} and {second} overlap in the zip container, as zip bombs do"
            )


def _inflate(package: Package, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the unpacked bytes; never more than declared, SubmissionError if size or checksum lie."""
    start = _data_start(package, entry)
    packed = memoryview(package.data)[start : start + entry.compress_size]
    size, crc = 0, 0
    try:
        for chunk in _chunks(packed, entry.compress_type):
            size, crc = size + len(chunk), zlib.crc32(chunk, crc)
            if size > entry.file_size:
                break
            yield chunk
    except zlib.error as error:
        raise SubmissionError(f"{package.file_name}: part {entry.filename} is damaged ({error})") from None
    if size != entry.file_size:
        found = f"more than {entry.file_size:,}" if size > entry.file_size else f"{size:,}"
        raise SubmissionError(
            f"{package.file_name}: part {entry.filename} unpacks to {found} bytes, "
            f"but the container declares {entry.file_size:,}"
        )
    if crc != entry.CRC:
        raise SubmissionError(f"{package.file_name}: part {entry.filename} is damaged (its checksum does not match)")


def _chunks(packed: memoryview, method: int) -> Iterator[bytes]:
    if method == zipfile.ZIP_STORED:
        for start in range(0, len(packed), _CHUNK):
            yield bytes(packed[start : start + _CHUNK])
        return
    unpacker = zlib.decompressobj(-15)
    for start in range(0, len(packed), _SLICE):
        rest: bytes | memoryview = packed[start : start + _SLICE]
        while rest and not unpacker.eof:
            yield unpacker.decompress(rest, _CHUNK)
            rest = unpacker.unconsumed_tail
    yield unpacker.flush()


def _check_content(package: Package, entry: zipfile.ZipInfo) -> None:
    """Unpack a part once: its size must be as declared, and XML may hold no DOCTYPE and no endless tags."""
    is_xml = entry.filename.lower().endswith(_XML_NAME)
    tags, tail, wide = 0, b"", False
    for chunk in _inflate(package, entry):
        if not is_xml:
            continue
        if not tail:
            wide = b"\0" in chunk[:4]
        text = (tail + chunk).replace(b"\0", b"") if wide else tail + chunk
        if _DOCTYPE.search(text):
            raise SubmissionError(
                f"{package.file_name}: part {entry.filename} declares a DOCTYPE or entity, which no workbook needs; "
                "it is refused and nothing it names is fetched"
            )
        tags += chunk.count(b"<")
        tail = text[-16:] or b" "
    if tags > package.limits.elements:
        raise SubmissionError(
            f"{package.file_name}: part {entry.filename} has {tags:,} XML tags; "
            f"at most {package.limits.elements:,} are accepted"
        )
