"""The words that are kept ready to use are the words of the YAML files."""

from xlcheck.roles import compiled, lexicon

RENEW = "run python -m xlcheck.roles.compiled"


def test_the_kept_words_are_made_from_the_words_and_code_as_they_are():
    assert compiled.kept() is not None, RENEW


def test_the_kept_words_are_those_of_the_word_files():
    found = compiled.kept()
    assert found is not None, RENEW
    read = lexicon.read_words([*lexicon.shipped_words().values()])
    assert [tuple(phrase) for phrase in read.phrases] == [(a, tuple(b), c, d) for a, b, c, d in found["phrases"]]
    assert read.barred == found["barred"]
    assert sorted(read.known) == found["known"]


def test_words_that_have_changed_since_are_read_from_their_files(monkeypatch):
    monkeypatch.setattr(compiled, "fingerprint", lambda: "of other words")
    lexicon._shipped.cache_clear()
    try:
        assert lexicon.load_lexicon().match("terminal value")["terminal_value"] == 1.0
    finally:
        lexicon._shipped.cache_clear()
