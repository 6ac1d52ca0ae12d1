"""What is refused before any parser sees it, and what is found in a folder."""

from __future__ import annotations

import struct
import warnings
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from raw_package import packed, parts_of, rels

from xlcheck.errors import SubmissionError, UsageError
from xlcheck.intake import DEFAULT_LIMITS, Limits, check_package, find_workbook, open_package
from xlcheck.workbook import load

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504


def refused(data: bytes, limits: Limits = DEFAULT_LIMITS) -> str:
    with pytest.raises(SubmissionError) as caught:
        check_package(data, "model.xlsx", limits)
    message = str(caught.value)
    assert message.startswith("model.xlsx: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"name,value\nwacc,0.09\n", "no zip container"),
        (b"%PDF-1.7", "PDF"),
        (b"<html><table></table></html>", "HTML"),
        (b'<?xml version="1.0"?><Workbook/>', "plain XML"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "password"),
        (OLE + "Workbook\0".encode("utf-16-le"), ".xls workbook; save it as .xlsx"),
        (OLE, "encrypted workbook or a legacy"),
        (b"\x09\x08\x10\0\0\x06\x05\0", ".xls workbook"),
        (b"PK\x05\x06" + b"\0" * 18, "empty"),
    ],
)
def test_other_formats_are_named(data: bytes, words: str) -> None:
    assert words in refused(data)


def test_a_zip_cut_short_is_called_damaged() -> None:
    data = packed(parts_of())
    assert "damaged" in refused(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"xl/workbook.bin": b"x", "_rels/.rels": rels(("r", "officeDocument", "xl/workbook.bin"))}, ".xlsb"),
        ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}, ".ods"),
        ({"word/document.xml": "<x/>"}, "Word"),
        ({"ppt/presentation.xml": "<x/>"}, "PowerPoint"),
        ({"Index/Document.iwa": b"x"}, "Numbers"),
        ({"readme.txt": "hello"}, "no workbook part"),
    ],
)
def test_other_packages_are_named(tmp_path: Path, parts: dict[str, str | bytes], words: str) -> None:
    path = tmp_path / "model.xlsx"
    path.write_bytes(packed(parts))
    with pytest.raises(SubmissionError, match=r"model\.xlsx: .*accepted"):
        load(path)
    with pytest.raises(SubmissionError, match=words.replace(".", r"\.")):
        load(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "docProps/app.xml", "xl/_rels/a.rels"])
def test_a_doctype_in_any_xml_part_is_refused(part: str, encoding: str) -> None:
    text = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e SYSTEM "file:///nowhere">]><a>&e;</a>'
    parts = parts_of() | {part: text.encode(encoding)}
    message = refused(packed(parts))
    assert part in message
    assert "DOCTYPE" in message


def test_a_doctype_across_a_block_boundary_is_refused() -> None:
    padding = " " * ((1 << 20) - 5)
    text = padding + '<!DOCTYPE a SYSTEM "x"><a/>'
    message = refused(packed(parts_of() | {"xl/styles.xml": text}, zipfile.ZIP_STORED))
    assert "xl/styles.xml" in message


def test_the_word_doctype_in_a_cell_is_harmless() -> None:
    row = '<row r="1"><c r="A1" t="inlineStr"><is><t>&lt;!DOCTYPE html&gt;</t></is></c></row>'
    assert "xl/workbook.xml" in check_package(packed(parts_of(row)), "model.xlsx")


def test_limits_are_named_with_the_size_found() -> None:
    data = packed(parts_of())
    assert "5 parts; at most 4" in refused(data, Limits(parts=4))
    assert "at most 100 are accepted" in refused(data, Limits(unpacked_bytes=100))
    assert "XML tags; at most 3" in refused(data, Limits(elements=3))


def test_a_file_above_the_size_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "model.xlsx"
    path.write_bytes(b"x" * 2_000)
    with pytest.raises(SubmissionError, match=r"model\.xlsx: the file has 2,000 bytes; at most 1,000"):
        open_package(path, Limits(file_bytes=1_000))


def test_a_bomb_is_refused_by_its_ratio() -> None:
    parts = parts_of() | {"xl/media/zero.bin": b"\0" * 11_000_000}
    message = refused(packed(parts))
    assert "xl/media/zero.bin" in message
    assert "ratio of at most 200" in message


def test_a_high_ratio_is_fine_in_a_small_part() -> None:
    parts = parts_of() | {"xl/media/zero.bin": b"\0" * 9_000_000}
    assert "xl/media/zero.bin" in check_package(packed(parts), "model.xlsx")


def lying(declared: int) -> bytes:
    """A package whose directory declares another unpacked size of its last part than it has."""
    data = bytearray(packed(parts_of() | {"xl/zz.xml": "<a>" + "x" * 5_000 + "</a>"}))
    directory = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, directory + 24, declared)
    return bytes(data)


@pytest.mark.parametrize("declared", [10, 5_006, 400_000])
def test_a_lying_size_is_refused(declared: int) -> None:
    message = refused(lying(declared))
    assert "xl/zz.xml" in message
    assert f"declares {declared:,}" in message


def test_a_wrong_checksum_is_refused() -> None:
    data = packed(parts_of() | {"xl/zz.xml": "<a>x</a>"}, zipfile.ZIP_STORED)
    assert "checksum" in refused(data.replace(b"<a>x</a>", b"<a>y</a>"))


@pytest.mark.parametrize(
    "name", ["../evil.xml", "xl/../../evil.xml", "/etc/passwd", "C:/evil.xml", "..\\evil.xml", "xl/..\\..\\evil.xml"]
)
def test_names_that_point_outside_are_refused(name: str) -> None:
    assert "points outside the package" in refused(packed(parts_of() | {name: "<a/>"}))


@pytest.mark.parametrize("name", ["xl/workbook.xml", "XL/Workbook.xml", "xl\\workbook.xml"])
def test_a_part_name_may_stand_once_only_whatever_its_case(name: str) -> None:
    buffer = BytesIO(packed(parts_of()))
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(name, "<a/>")
    assert "stands twice" in refused(buffer.getvalue())


def test_overlapping_parts_are_refused() -> None:
    data = bytearray(packed(parts_of() | {"xl/a.xml": "<a>1</a>", "xl/b.xml": "<a>1</a>"}, zipfile.ZIP_STORED))
    first = data.rindex(b"xl/a.xml", 0, data.index(b"PK\x01\x02")) - 30
    directory = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, directory + 42, first)
    assert "overlap" in refused(bytes(data))


def test_a_part_with_two_names_is_refused() -> None:
    data = bytearray(packed(parts_of() | {"xl/a.xml": "<a>1</a>"}))
    at = data.rindex(b"xl/a.xml")
    data[at : at + 8] = b"xl/b.xml"
    told = refused(bytes(data))
    assert "xl/b.xml" in told
    assert "'xl/a.xml'" in told
    check_package(packed(parts_of() | {"xl/价值.xml": "<a>1</a>", "xl/é.xml": "<a/>"}), "model.xlsx")


def test_zip_encryption_and_odd_compression_are_refused() -> None:
    data = bytearray(packed(parts_of()))
    directory = data.rindex(b"PK\x01\x02")
    locked = bytearray(data)
    locked[directory + 8] |= 1
    assert "zip password" in refused(bytes(locked))
    assert "packed by method 12" in refused(packed(parts_of(), zipfile.ZIP_BZIP2))


def test_part_names_are_found_whatever_their_case() -> None:
    package = check_package(packed(parts_of()), "model.xlsx")
    assert package.part("XL/WorkBook.xml") == package.part("xl/workbook.xml") != None  # noqa: E711
    assert package.part("xl/none.xml") is None


def test_the_file_is_hashed_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.xlsx"
    path.write_bytes(packed(parts_of()))
    before = path.read_bytes()
    assert load(path).sha256 == __import__("hashlib").sha256(before).hexdigest()
    assert path.read_bytes() == before


def test_a_folder_gives_its_workbook_and_its_memos(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name in ("model.xlsx", "memo.md", "notes/more.docx", "~$model.xlsx", ".hidden.xlsx", "picture.png"):
        (tmp_path / name).write_bytes(b"x")
    found = find_workbook(tmp_path)
    assert found.workbook == tmp_path / "model.xlsx"
    assert [memo.name for memo in found.memos] == ["memo.md", "more.docx"]
    assert found.reason is None


def test_a_file_is_its_own_submission(tmp_path: Path) -> None:
    path = tmp_path / "model.xlsx"
    path.write_bytes(b"x")
    (tmp_path / "memo.md").write_text("words")
    assert find_workbook(path).workbook == path
    assert find_workbook(path).memos == ()


def test_several_workbooks_are_named_and_a_pattern_chooses(tmp_path: Path) -> None:
    for name in ("draft.xlsx", "final.xlsm"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(SubmissionError, match=r"2 workbooks found \(draft\.xlsx, final\.xlsm\)"):
        find_workbook(tmp_path)
    assert find_workbook(tmp_path, "final*").workbook == tmp_path / "final.xlsm"
    nothing = find_workbook(tmp_path, "other*")
    assert nothing.workbook is None
    assert "other*" in (nothing.reason or "")


def test_a_readable_workbook_goes_before_an_unreadable_one(tmp_path: Path) -> None:
    (tmp_path / "old.xls").write_bytes(OLE)
    assert find_workbook(tmp_path).workbook == tmp_path / "old.xls"
    (tmp_path / "new.xlsx").write_bytes(b"x")
    assert find_workbook(tmp_path).workbook == tmp_path / "new.xlsx"


def test_an_empty_folder_is_an_answer_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "memo.md").write_text("words")
    found = find_workbook(tmp_path)
    assert found.workbook is None
    assert len(found.memos) == 1
    assert "holds no workbook" in (found.reason or "")


def test_a_missing_path_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        find_workbook(tmp_path / "none")
    with pytest.raises(UsageError, match="no such file"):
        load(tmp_path / "none.xlsx")
    with pytest.raises(UsageError, match="no such file"):
        load(tmp_path)
