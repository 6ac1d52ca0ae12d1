"""The documents say what the program does: generated pages are compared, commands and verbs looked up."""

import json
import re
import shlex
from pathlib import Path

import pytest

import xlcheck.checks  # noqa: F401 - declares the checks
from xlcheck import cli
from xlcheck.checking import CHECKS, check
from xlcheck.reference import cli_page, documents_page
from xlcheck.report.checkdocs import SECTIONS, check_page, check_text, checks_page, missing_sections, sections
from xlcheck.roles import Located

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def invented():
    """A check that exists for one test."""

    def kiln_identity(wacc: Located, beta: Located | None):
        """The kiln rate follows from its parts.

        What it holds:
            Rate = base + premium,
              summed by hand.
        Why it matters: It is the rate.
        Example:
        """
        yield from ()

    check("invented.kiln-identity", severity="warn", consequence_of=("wacc.capm",))(kiln_identity)
    yield CHECKS["invented.kiln-identity"]
    del CHECKS["invented.kiln-identity"]


def test_docstring_is_split_at_the_fixed_headings(invented):
    found = sections(invented.doc)
    assert found[""] == "The kiln rate follows from its parts."
    assert found["What it holds"] == "Rate = base + premium,\n  summed by hand."
    assert found["Why it matters"] == "It is the rate."


def test_missing_and_empty_sections_are_named(invented):
    assert missing_sections(invented) == [
        "Accepted conventions",
        "Example",
        "How to fix",
        "Units and tolerance",
        "Source",
    ]


def test_page_of_a_check_tells_what_it_needs(invented):
    page = check_page(invented)
    assert page.startswith("### `invented.kiln-identity`\n")
    assert "*Severity:* warn. *Needs:* `wacc`; uses `beta` where found." in page
    assert "*Follows from:* `wacc.capm`" in page


def test_text_for_the_terminal_has_no_markdown_marks(invented):
    shown = check_text(invented)
    assert shown.startswith("invented.kiln-identity\n")
    assert "Severity: warn. Needs: wacc; uses beta where found." in shown
    assert "*" not in shown


@pytest.mark.parametrize("check_id", sorted(CHECKS))
def test_every_check_has_a_whole_page(check_id):
    assert missing_sections(CHECKS[check_id]) == [], f"write the sections {SECTIONS} in its docstring"


def test_committed_page_is_the_generated_one():
    committed = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    assert committed == checks_page(CHECKS), "run python -m xlcheck.report.checkdocs"


@pytest.mark.parametrize(("page", "generated"), [("cli.md", cli_page), ("documents.md", documents_page)])
def test_committed_references_are_the_generated_ones(page, generated):
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == generated(), "run python -m xlcheck.reference"


def test_every_verb_has_its_arguments_in_the_reference():
    page = cli_page()
    assert "## `xlcheck rubric lint`" in page
    assert "* `--rubric ID|FILE`: a bundled rubric or a YAML file\n" in page
    assert "xlcheck grade SUBMISSION --rubric ID|FILE [options]" in page
    assert "* `4`: the score is provisional and --strict was given\n" in page


def test_every_key_has_its_type_and_meaning_in_the_reference():
    page = documents_page()
    assert "* `cap_on_fatal` (number or text, default `" in page
    assert "The most points an answer with a fatal error can have." in page
    assert "* `credit` (text or null, needed): 0 to 1; null where the status leaves it open.\n" in page


def verbs():
    parser = cli.build_parser()
    return next(action for action in parser._actions if action.dest == "verb").choices


@pytest.mark.parametrize("verb", sorted(verbs()))
def test_every_verb_is_in_the_readme(verb):
    assert f"xlcheck {verb}" in README


def test_terminal_excerpt_of_the_readme_is_what_the_program_prints(tmp_path, capsys):
    task = ROOT / "fixtures" / "sic-epitaxy-dcf"
    excerpt = re.search(r"```\n\$ (xlcheck grade .*?)\n(.*?)\n```", README, re.DOTALL)
    arguments = [str(task / part) if part.startswith("flawed") else part for part in excerpt[1].split()[1:]]
    assert cli.main([*arguments, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    position = 0
    for line in excerpt[2].splitlines():
        if line != "…":
            assert line in printed[position:], f"README shows a line that grade does not print here: {line}"
            position = printed.index(line, position) + 1


def test_readme_has_its_two_commands():
    commands = [line for line in README.splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    assert commands[0].endswith("xlcheck demo")
    assert "pytest" in commands[1]


def test_continuous_integration_runs_the_readme_command():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"sed -n '/(.*?)/p' README\.md", script)[1]
    (command,) = [line for line in README.splitlines() if re.match(pattern, line)]
    assert shlex.split(command)[-3:] == ["pytest", "-n", "2"]


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_examples_of_the_json_page_are_json_with_the_keys_of_the_program():
    import sample_reports as sample

    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    recalc, roles, report = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL))
    real = json.loads(sample.capped().to_json())
    assert set(report) <= set(real)
    assert set(report["score_card"]) <= set(real["score_card"])
    assert set(report["results"][0]) <= set(real["results"][0])
    assert set(report["results"][0]["findings"][0]) <= set(real["results"][0]["findings"][0])
    assert set(roles["roles"]["wacc"]) <= set(real["roles"]["wacc"])
    assert set(recalc) == {"cells", "summary"}
