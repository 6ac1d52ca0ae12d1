"""The evidence pack: what is shown as of a day, what is withheld, and what a text cites of it."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck.errors import UsageError, WithheldError
from xlcheck.evidence import Pack, PointInTimeStore, Source, load_pack, load_reads, sources_named, unknown_ids

CUTOFF = date(2026, 3, 31)
PACK = """\
schema_version: 1
sources:
  - {id: AR2025, file: annual-report.md, published: 2026-03-20, title: Annual report 2025 of the ferry line}
  - {id: S2, file: sub/notice.md, published: 2026-03-31, title: Port notice}
  - {id: BN-04, file: broker-note.md, published: 2026-04-01, title: Broker note of April}
  - {id: LEAF, file: leaflet.md, title: Undated leaflet, also: [The ferry leaflet]}
"""


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    (tmp_path / "sub").mkdir()
    for name in ("annual-report.md", "sub/notice.md", "broker-note.md", "leaflet.md"):
        (tmp_path / name).write_text(f"text of {name}", encoding="utf-8")
    (tmp_path / "pack.yaml").write_text(PACK, encoding="utf-8")
    return load_pack(tmp_path / "pack.yaml")


def test_the_callers_ranking_is_kept_and_later_and_undated_sources_are_withheld(pack):
    store = PointInTimeStore(pack, CUTOFF)
    ranked = ["BN-04", "S2", "LEAF", "AR2025"]
    assert [source.id for source in store.visible(ranked)] == ["S2", "AR2025"]
    assert store.withheld(ranked) == {
        "BN-04": "BN-04 was published on 2026-04-01, after 2026-03-31",
        "LEAF": "LEAF has no publication date, so it cannot be shown as of 2026-03-31",
    }


def test_reading_checks_again_and_keeps_a_log(pack, tmp_path):
    store = PointInTimeStore(pack, CUTOFF, tmp_path / "reads.jsonl")
    assert store.read("s2") == b"text of sub/notice.md"
    for name in ("BN-04", "LEAF"):
        with pytest.raises(WithheldError, match=name):
            store.read(name)
    assert store.read("AR2025") == store.read("AR2025")
    assert store.opened == ("S2", "AR2025")
    assert load_reads(tmp_path / "reads.jsonl", pack) == {"s2", "ar2025"}


def test_a_later_day_shows_more(pack):
    assert PointInTimeStore(pack, date(2026, 4, 1)).read("BN-04") == b"text of broker-note.md"


def test_a_file_that_is_not_the_one_meant_is_refused(pack, tmp_path):
    right = hashlib.sha256(b"text of annual-report.md").hexdigest()
    source = pack.sources[0].model_copy(update={"sha256": right})
    store = PointInTimeStore(Pack(tmp_path, (source,)), CUTOFF)
    assert store.read("AR2025") == b"text of annual-report.md"
    (tmp_path / "annual-report.md").write_text("another", encoding="utf-8")
    with pytest.raises(UsageError, match="another file than the pack means"):
        store.read("AR2025")


def test_a_link_out_of_the_folder_is_refused(pack, tmp_path):
    secret = tmp_path.parent / "secret.md"
    secret.write_text("x", encoding="utf-8")
    (tmp_path / "annual-report.md").unlink()
    (tmp_path / "annual-report.md").symlink_to(secret)
    with pytest.raises(UsageError, match="leads out of the pack's folder"):
        PointInTimeStore(pack, CUTOFF).read("AR2025")


@given(st.dates(), st.dates())
def test_nothing_later_than_the_cutoff_is_ever_shown(published, cutoff):
    source = Source(id="S1", file="s1.md", published=published, title="One")
    store = PointInTimeStore(Pack(Path("nowhere"), (source,)), cutoff)
    assert bool(store.visible(["S1"])) == (published <= cutoff)
    with pytest.raises(UsageError if published <= cutoff else WithheldError):
        store.read("S1")


BAD = {
    "an id stands twice": ("id: S2", "id: ar2025", "pack.yaml:4: sources[1].id", "stands there twice"),
    "a date is another order": ("2026-03-20", "20.03.2026", "sources[0].published", "write a date such as"),
    "a title is missing": (", title: Port notice", "", "sources[1].title", "is missing"),
    "a path leads out": ("sub/notice.md", "../notice.md", "sources[1].file", "leads out of the pack's folder"),
    "a key is misspelt": ("published: 2026-04-01", "publishd: 2026-04-01", "sources[2].publishd", "'published'"),
    "a newer schema": ("schema_version: 1", "schema_version: 2", "schema_version", "reads 1"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_pack_gets_one_sentence(fault, tmp_path):
    old, new, key, words = BAD[fault]
    assert old in PACK
    (tmp_path / "pack.yaml").write_text(PACK.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_pack(tmp_path / "pack.yaml")
    assert key in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [("AR2052", "reads.txt:2: 'AR2052' is no source of the pack (did you mean 'AR2025'?)"),
     ("{nonsense", "reads.txt:2: this is no JSON"), ('{"id": "S2"}', "the key 'source'")],
)  # fmt: skip
def test_a_bad_log_names_its_line(line, words, pack, tmp_path):
    (tmp_path / "reads.txt").write_text(f"AR2025\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_reads(tmp_path / "reads.txt", pack)
    assert words in str(caught.value)


NAMED = [
    ("AR2025, p. 17", ["AR2025"]),
    ("see the Annual Report 2025 of the  ferry line, note 8", ["AR2025"]),
    ("annual-report.md page 3", ["AR2025"]),
    ("cell S2 of the sheet", []),
    ("port plan [S2]", ["S2"]),
    ("S2", ["S2"]),
    ("S2 port authority, cover page", ["S2"]),
    ("S2024 plan", []),
    ("BN-04 and ar2025", ["BN-04", "AR2025"]),
    ("BN-041", []),
    ("THE FERRY LEAFLET", ["LEAF"]),
    ("nothing of these", []),
]


@pytest.mark.parametrize(("text", "ids"), NAMED)
def test_a_source_is_known_by_id_title_or_file(text, ids, pack):
    assert [source.id for source in sources_named(text, pack.sources)] == ids


def test_a_name_inside_a_longer_name_is_not_taken_for_another_source():
    short = Source(id="AA01", title="Annual report")
    long = Source(id="AA02", title="Annual report 2025, supplement")
    assert sources_named("Annual report 2025, supplement, p. 3", (short, long)) == (long,)


def test_ids_of_the_packs_form_that_it_lacks_are_named(pack):
    text = "As [AR2031] and [S2] say; see [the site](http://x) and [S77](http://y), [12] and [note]."
    assert unknown_ids(text, pack.sources) == ("AR2031",)


def test_the_examples_of_the_page_are_valid(tmp_path):
    import re

    from xlcheck.actuals import load_actuals

    page = (Path(__file__).parents[1] / "docs" / "evidence.md").read_text(encoding="utf-8")
    pack, actuals = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    for name, text in (
        ("pack.yaml", pack),
        ("actuals.yaml", actuals),
        ("broker-note.md", "x"),
        ("annual-report-2025.pdf", "y"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert load_actuals(tmp_path / "actuals.yaml", CUTOFF)[0].role == "revenue"
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    known: dict[str, object] = {}
    for file in ("pack.yaml", "reads.jsonl"):
        example = example.replace(f'"{file}"', repr(str(tmp_path / file)))
    exec(example, known)
    assert known["store"].opened == ("AR2025",)  # type: ignore[attr-defined]
    assert [one.id for one in known["store"].visible(["BN-04", "AR2025"])] == ["AR2025"]  # type: ignore[attr-defined]
