"""The words of the page: both languages say the same things, and the Chinese page leaves no English standing."""

import re
import string
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sample_reports as sample

from xlcheck.checking import CHECKS
from xlcheck.pipeline import audit_with_papers, grade_with_papers
from xlcheck.report.html import report_html, report_page
from xlcheck.report.language import LANGUAGES, words
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES

TASK = Path(__file__).parents[1] / "fixtures" / "sic-epitaxy-dcf"


def places(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


# -- the catalogue ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("section", ["interface", "roles"])
def test_both_languages_have_the_same_keys_and_places(section):
    english, chinese = (words(language).sections[section] for language in ("en", "zh"))
    assert set(english) == set(chinese)
    for key, text in english.items():
        assert places(text) == places(chinese[key]), key


def test_every_role_and_every_check_has_a_chinese_name():
    chinese = words("zh")
    assert set(chinese.sections["roles"]) == set(SCALAR_ROLES) | set(SERIES_ROLES)
    missing = set(CHECKS) - set(chinese.sections["checks"])
    assert not missing, f"give these checks a title under `checks:` in xlcheck/report/languages/zh.yaml: {missing}"


def test_every_sentence_fills_the_places_of_its_pattern():
    for pattern, translation in words("zh").sections["sentences"].items():
        slots = pattern.count("{}")
        assert places(translation) == {str(at) for at in range(slots)}, pattern


def test_template_asks_only_for_texts_that_exist():
    package = Path(__file__).parents[1] / "xlcheck" / "report"
    asked = set()
    for path in (*package.glob("*.py"), *package.glob("templates/*.j2")):
        asked |= set(re.findall(r"\bsay\(\"(\w+)\"[,)]", path.read_text(encoding="utf-8")))
    assert len(asked) > 80
    assert asked <= set(words("en").sections["interface"])


def test_no_text_of_the_interface_is_dead():
    package = Path(__file__).parents[1] / "xlcheck" / "report"
    source = "".join(path.read_text("utf-8") for path in (*package.glob("*.py"), *package.glob("templates/*.j2")))
    built = re.compile(r"(scale|quote)_|(final|provisional|invalid|ungradable)$")  # by number, or by the card's status
    keys = (key for key in words("en").sections["interface"] if not built.match(key))
    assert not [key for key in keys if f'"{key}"' not in source]


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("the workbook has no candidate for the role upside", "工作簿中没有可作为“上行空间”的单元格"),
        (
            "minority interest of 67 (DCF!C28) raises the equity value: it must be deducted",
            "少数股东权益 67（DCF!C28）增加了股权价值：应当扣除",
        ),
        (
            "skipped, its weight went to the group terminal: the workbook has no candidate for the role exit_multiple",
            "跳过，其分值转给同组 终值 的其他项：工作簿中没有可作为“退出倍数”的单元格",
        ),
        ("My Sheet!A4 reads 'Beta'", "My Sheet!A4 的标签为 'Beta'"),
        ("a sentence that no one has written about My Sheet!A4 yet", "该检查无法作出判断。 My Sheet!A4"),
    ],
)
def test_sentences_of_the_checks_are_told_in_chinese(english, chinese):
    assert words("zh").sentence(english, "generic_reason", ("DCF", "My Sheet")) == chinese
    assert words("en").sentence(english, "generic_reason", ("DCF", "My Sheet")) == english


@pytest.mark.parametrize(
    "label",
    ["x" * 10_000, " and ".join("y" * 300), "\ue0007!A1", "{0} {} {name}", "a takes b, which is labelled c, " * 12],
)
def test_labels_of_a_submission_neither_slow_nor_break_the_lookup(label):
    start = time.process_time()
    said = words("zh").sentence(f"DCF!C9 reads {label}", "generic_evidence", ("DCF",))
    assert time.process_time() - start < 2
    assert said.startswith(("DCF!C9", "其他依据 DCF!C9"))


def test_there_is_no_third_language():
    assert LANGUAGES == ("en", "zh")
    with pytest.raises(KeyError):
        words("fr")


# -- the page --------------------------------------------------------------------------------------------------------


class Prose(HTMLParser):
    """Collects the text of a page, without formulas, cells, quotes, check ids and the tables of the workbook."""

    LEFT_OUT = ("style", "script", "code", "blockquote", "footer", "summary", "title", "h1")
    LEFT_OUT_CLASSES = ("cell", "grid", "why")

    def __init__(self):
        super().__init__()
        self.open, self.skipping, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag in ("meta", "br", "link"):
            return
        classes = (dict(attrs).get("class") or "").split()
        self.open.append(tag)
        self.skipping.append(tag in self.LEFT_OUT or any(name in classes for name in self.LEFT_OUT_CLASSES))

    def handle_endtag(self, tag):
        while self.open:
            self.skipping.pop()
            if self.open.pop() == tag:
                return

    def handle_data(self, data):
        if data.strip() and not any(self.skipping):
            self.texts.append(" ".join(data.split()))


def english_left(page, given):
    """Return the texts of a page with English words in them that nobody outside the program has written."""
    prose = Prose()
    prose.feed(page)
    left = []
    for text in prose.texts:
        bare = re.sub(r"“[^”]*”|'[^']*'|\S+![A-Z]+\d+(:[A-Z]+\d+)?|\b[a-z-]+\.[a-z-]+…?", "", text)
        for own in given:
            bare = bare.replace(own, "").replace(own[:28], "")
        if re.search(r"[A-Za-z]{3,} [a-z]{2,}|\b[a-z]{4,}\b", bare):
            left.append(text)
    return left


@pytest.mark.parametrize("answer", ["flawed", "growth-above-wacc", "provisional"])
def test_chinese_page_leaves_no_english_but_what_others_wrote(answer):
    folder = TASK / ("reference" if answer == "provisional" else answer)
    verdicts = None if answer == "provisional" else folder / "verdicts.json"
    report, paper = grade_with_papers(folder, "sic-epitaxy-dcf", verdicts)[:2]
    lines = report.score_card.lines
    rubric = [line.title for line in lines if line.check is None] + [report.rubric_title]
    judge = [line.message for line in lines if line.check is None and line.message]
    labels = [str(cell.stored) for cell in paper.book.cells() if isinstance(cell.stored, str)]
    page = report_page(report, paper, "zh")
    given = sorted({*rubric, *judge, *labels, report.headline}, key=len, reverse=True)
    assert english_left(page, [text for text in given if len(text) > 2]) == []
    assert 'lang="zh-Hans"' in page


def test_chinese_audit_leaves_no_english():
    report, _ = audit_with_papers(TASK / "flawed", "generic-dcf")[:2]
    assert english_left(report_html(report, language="zh"), [report.rubric_title, report.headline]) == []


def test_english_page_says_what_the_checks_say():
    page = report_html(sample.capped())
    assert "The debt is added instead of taken off" in page
    assert "The debt is added instead of taken off" not in report_html(sample.capped(), language="zh")
