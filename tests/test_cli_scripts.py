"""What scripts rely on: every verb takes ``--json`` and ``--quiet``, and prints nothing but JSON then."""

import argparse
import json

import pytest
from openpyxl import load_workbook
from planted import clean_model

from xlcheck import cli


def leaves(parser, name=()):
    """Yield the words of each verb with its parser; verbs of verbs too."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield name, parser
    for group in groups:
        for word, below in group.choices.items():
            yield from leaves(below, (*name, word))


VERBS = dict(leaves(cli.build_parser()))


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_takes_json_and_quiet(verb):
    taken = {option for action in VERBS[verb]._actions for option in action.option_strings}
    assert {"--json", "--quiet", "-q", "--help"} <= taken


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_argument_is_explained(verb):
    bare = [action.dest for action in VERBS[verb]._actions if not action.help]
    assert not bare, f"xlcheck {' '.join(verb)}: say what {bare} are"


@pytest.fixture(scope="module")
def kilns(tmp_path_factory):
    return clean_model().save(tmp_path_factory.mktemp("kilns") / "kilns.xlsx")


@pytest.fixture
def printed(capsys):
    """Run a command line with --json and return what it printed, read as JSON."""

    def run(*words, code=0):
        assert cli.main([*map(str, words), "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return run


def test_demo_prints_both_reports(printed, tmp_path):
    reports = printed("demo", "--out", tmp_path)
    assert list(reports) == ["reference", "flawed"]
    assert reports["reference"]["score_card"]["low"] == "100"


def test_annotate_says_which_file_it_wrote(printed, kilns, tmp_path):
    target = tmp_path / "marked.xlsx"
    assert printed("annotate", kilns, "--out", target) == {"written": str(target)}
    assert "xlcheck" in load_workbook(target).sheetnames


def test_a_new_rubric_is_a_text_or_a_file(printed, tmp_path):
    target = tmp_path / "rubric.yaml"
    text = printed("rubric", "new", "kilns")["text"]
    assert printed("rubric", "new", "kilns", "--out", target) == {"written": str(target)}
    assert target.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "verb", [("audit",), ("roles",), ("recalc",), ("annotate",), ("grade", "--rubric", "generic-dcf")]
)
def test_an_error_is_json_too(printed, verb):
    said = printed(verb[0], "nowhere.xlsx", *verb[1:], code=2)
    assert said["error"]["exit_code"] == 2
    assert said["error"]["message"].startswith("nowhere.xlsx: no such file or folder")
