"""Words by which a text tells its grader what to decide, in English and Chinese; data for one check.

A text is levelled first (width, invisible characters, letters that only look Latin, traditional characters), since
whoever hides an order also disguises it. An order is told from talk about orders by its place: it opens a clause,
follows "please", or follows "the grader must".
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

LONGEST_EXCERPT = 160
"""Characters of an order that a finding shows."""
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
"""Invisible tag characters stand for ASCII and are read by language models."""
_ALIKE = ("авеёікмнорстухѕјԁɡοαερνικ", "abeeikmhopctyxsjdgoaepvik")
_TRADITIONAL = (
    "無視給滿評閱請務應須過標準則細記為條題項語輸復詞規這報審員機動們個檢",
    "无视给满评阅请务应须过标准则细记为条题项语输复词规这报审员机动们个检",
)
_FOLDED = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "—": "-", "–": "-"}
    | dict(zip(*_ALIKE, strict=True))
    | dict(zip(*_TRADITIONAL, strict=True))
)

_OPENING = (
    r"(?:^|[\"'(\[{:,;.!?>*#|_-]\s*|\b(?:please|kindly|now|then|always|simply|just|instead|also|and|or|but)\s+"
    r"|\b(?:you|graders?|judges?|markers?|evaluators?|examiners?|assistants?|ai|llms?)"
    r"\s+(?:must|should|shall|will|can|may|are to|is to|have to|has to|needs? to)\s+(?:\w+ly\s+)?)"
)
_WORK = r"(?:submission|answer|response|candidate|student|essay|items?|criteri(?:a|on)|questions?|requirements?)"
_HANDED_IN = rf"(?:{_WORK}|memo|report|workbook|spreadsheet|model|work|sections?)"
_THIS = r"(?:this|the|my|our|these|every|each|all(?: of)?(?: the| these)?)\s+(?:\w+\s+)?"
_TOP = (
    r"(?:(?:full|maximum|maximal|max|top|highest|perfect)(?: possible| available)? (?:marks?|points?|scores?|credits?)"
    r"|all (?:the )?(?:available |possible )?(?:marks|points))\b"
    r"(?! (?:exposure|lines?|risk|loss|losses|limit|facility|of (?:presence|sale)))"
)
_SATISFIED = r"(?:pass(?:ed|es)?\b(?!-?through)|full (?:marks|points|score|credit)|correct|satisfied|met\b|fulfilled)"
_DO_NOT = r"\b(?:do not|don't|never|must not|should not|may not) "
_LEAVE_THE_RULES = (
    rf"{_OPENING}(?:ignore|disregard|forget|override|bypass|discard|do not follow|don't follow|stop following)\s+"
    r"(?:\w+\s+){0,3}?(?:"
    r"(?:previous|prior|earlier|above|preceding|foregoing|existing|original|initial|system|your|grading|scoring|"
    r"marking|judging|all|any|other)\s+(?:\w+\s+){0,2}?(?:instructions?|prompts?|directives|rubric)|"
    r"the (?:rubric|system prompt|marking scheme)|(?:grading|scoring|marking) (?:criteria|rules|rubric|scheme)|"
    r"(?:pass|fail) conditions?|everything you (?:were|have been|are) (?:told|given|instructed))\b",
)
_GIVE_POINTS = (
    rf"{_OPENING}(?:award|give|assign|grant|allocate|record|enter|output|return)\s+"
    rf"(?:(?:it|this|me|us|{_THIS}{_HANDED_IN})\s+)?(?:the |a )?{_TOP}"
    rf"(?! (?:to|for) (?!(?:it|this|me|us|every|each|all|my|our|the {_WORK})\b))"
    r"(?! (?:only |just )?(?:where|when|unless|provided))",
    rf"{_OPENING}(?:score|grade|mark|rate|judge)\s+(?:it|this|me|{_THIS}{_HANDED_IN})\s+"
    rf"(?:as |with |at |= ?|to be |an? )*(?:{_SATISFIED}|100\b(?! ?%? of)|10 ?/ ?10|4 ?/ ?4|perfect|excellent|"
    r"outstanding|(?:the )?(?:highest|maximum|top)\b)",
    rf"{_OPENING}(?:treat|accept|record|count|consider|assess|evaluate)\s+{_THIS}{_WORK}\s+"
    rf"(?:as |to be |an? )*{_SATISFIED}",
    rf"{_OPENING}pass (?:this (?:submission|answer|response)|"
    r"(?:all|every|each)(?: of)?(?: the)? (?:items?|criteri(?:a|on)|questions?))\b",
    r"\b(?:submission|answer|response|candidate|student|workbook|memo)\s+"
    r"(?:must|should|shall|deserves?|has to|is to)\s+(?:to )?(?:be )?"
    rf"(?:awarded|given|receive|get|scored?|graded|marked|rated|pass)\b.{{0,30}}?(?:{_TOP}|\b100\b|\bpass(?:ed)?\b)",
    rf"\b(?:submission|answer|response) deserves {_TOP}",
    rf"{_OPENING}(?:award|give|assign|grant)\s+(?:(?:it|this|me|us|{_THIS}{_HANDED_IN})\s+)?(?:the |a )?"
    r"(?:highest|top|maximum|best)(?: possible)? (?:grade|rating|mark|evaluation)\b"
    rf"(?=\s*(?:$|[.,;:!)\"']|(?:to|for) (?:it|this|me|my|our|the {_WORK})\b))",
    rf"{_OPENING}(?:approve|accept) (?:this|the|my|our) (?:submission|answer|response)\b",
    rf"{_OPENING}(?:set|make|mark|change) (?:all|every|each|the|your) (?:\w+ )?(?:verdicts?|grades?|scores?)\s+"
    r"(?:to |as |= ?)?\"?(?:pass|full|max|4\b|100\b)",
    r"\b(?:correct|right|expected) (?:answer|verdict) (?:for|on|to) (?:all|every|each) "
    r"(?:\w+ )?(?:items?|questions?)\b",
    r"\bbe (?:lenient|generous) (?:when|in|with|while) (?:\w+ )?(?:grading|scoring|marking|judging|evaluating)\b",
)
_TAKE_NONE = (
    rf"{_DO_NOT}(?:deduct|subtract|take off|dock) (?:any )?(?:points|marks)\b",
    r"\bno (?:points|marks) (?:should|must|may|shall|are to) be (?:deducted|taken off|docked)",
    r"\bdeduct no (?:points|marks)\b",
    rf"{_DO_NOT}(?:penali[sz]e|fail|mark down) (?:this|the|my|our) (?:submission|answer|response|candidate)\b",
    rf"{_DO_NOT}(?:trigger|flag|report) (?:any |the )(?:deductions?|fatal errors?|penalt(?:y|ies))\b",
)
_TO_A_MACHINE = (
    r"<\|?(?:im_start|im_end|endoftext|end_of_turn|start_header_id|system)\|>|\[/?inst\]|<</?sys>>",
    r"\"(?:verdict\" ?: ?\"pass|triggered\" ?: ?(?:false|true)|grade\" ?: ?[0-4]\b)",
    rf"{_OPENING}(?:output|return|respond|reply|answer|write|print)\s+(?:only |with |just |simply |the word )*"
    r"(?:\"pass(?:ed)?\"|'pass(?:ed)?'|pass(?:ed)? (?:for|on|to) (?:every|each|all)\b|"
    r"(?:a |the )?verdicts?\b.{0,20}\bpass)",
    r"\byou are (?:now )?(?:an? |the )(?:\w+ )?"
    r"(?:ai|llm|language model|grader|evaluator|judge(?! of)|grading (?:assistant|model))\b",
    r"\bas an? (?:ai|llm|(?:large )?language model)\b.{0,40}\byou\b",
    r"\b(?:new|updated|revised) (?:system|grading|scoring|judging) instructions?\b",
    r"\b(?:attention|note|message|instructions?|reminder) ?(?:to|for)? ?[:,]? ?(?:the |any |all )?"
    r"(?:ai|llm|automated|automatic|machine)[ -]"
    r"(?:graders?|judges?|markers?|evaluators?|reviewers?|assistants?|models?|systems?)\b",
)
_IN_CHINESE = (
    r"(?:忽略|无视|忘记|忘掉|不要(?:理会|遵守|遵循|执行)|跳过)掉?(?:你)?"
    r"(?:之前|以上|上面|上述|前面|先前|此前|所有|全部|任何|一切|原有|系统)的?(?:所有|全部|任何|一切)?的?(?:系统)?"
    r"(?:指令|提示词|提示语|命令|评分(?:标准|规则|细则|要求)|打分(?:标准|规则))",
    r"(?:忽略|无视)(?:该|本|此)?(?:评分|打分|评审|判分)(?:标准|规则|细则|表)",
    r"(?:^|[,:;!。\s]|请|务必|必须|应当?|直接|一律)(?:你|您)?(?:直接|一律|全部|都|务必)?"
    r"(?:给予?|给出|打|判|评为?|记为?|授予)(?:本|此|该|这)?份?"
    r"(?:答卷|答案|提交物?|作业|报告|模型|底稿|工作簿|评分项|所有项目?|每一?项|我们?|它)?(?:打|以|为|记)?"
    r"(?:满分|最高分|全分|一百分|100 ?分)",
    r"(?:所有|全部|每个|各)(?:评分项|条目|题目|判断项|评判项)(?:均|都|全部|一律)?(?:应|须|请)?"
    r"(?:判为|判定为|标记?为|评为|记为|视为|给)(?:通过|合格|满分|正确)",
    r"请(?:你|您)?(?:直接|一律)?(?:将|把)?[^,。;]{0,10}?(?:判定?为|评定?为|标记为|视为)(?:通过|合格|满分|优秀)",
    r"(?:忽略|无视)(?:之前|以上|上述|前述|此前)的?(?:所有|全部)(?:要求|说明|规则)",
    r"(?:请|务必|切|不要|不得|不能|不应|不可)勿?(?:对\w{0,8})?扣(?:除任何|除|任何)?"
    r"(?:分数|分值|分(?=[,。、;!.\s)\"]|$))",
    r"(?:评分|阅卷|判分|打分)(?:系统|模型|助手|ai|机器人)[:,]? ?(?:请|你|您|必须|应)",
    r"你(?:现在)?是(?:一个|一名|一位)?(?:ai|人工智能|大?语言模型|评分|阅卷|评委|评审员|打分)",
    r"作为(?:评分|阅卷|判分)(?:者|员|人|模型|系统|ai),?(?:你|请|应|必须)",
    r"(?:输出|返回|回答|回复) ?[\"'「]?(?:通过|pass|满分)(?=[\"'」。,.!\s]|$)",
)
_HINT = re.compile(
    r"ignor|disregard|forget|overrid|bypass|discard|follow|mark|point|score|credit|pass|verdict|trigger|grad|"
    r"rat(?:e|ing)|attention|you are|approve|instruction|as an? |lenient|generous|inst\]|sys>|im_|endoftext|"
    r"指令|提示|命令|忽略|无视|优秀|评分|打分|满分|最高分|全分|一百分|100 ?分|扣|通过|合格|阅卷|判分|你"
)
"""Cheap first look: a text without any of these orders nothing."""
_REPORTED = re.compile(
    r"\b(?:task|brief|assignment|exercise|rubric|scheme|mandate|graders?|judges?|instructions?)\b.{0,60}"
    r"\b(?:says?|states?|asks?|reads?|requires?|notes?|awards?|promises?)\b|"
    r"(?:题目|任务|评分标准).{0,12}(?:要求|规定|写明|写道|说)"
)
_CONDITION = re.compile(r"\b(?:only|if|where|when|unless|provided|as long as)\b|只有|仅当|如果|若|的才|才能")
_REFUSED = re.compile(
    r"\bnot? (?:been )?(?:follow|act|obey|compl|use)|\b(?:reject|refus|report|set aside)|"
    r"(?:未予?|没有)(?:采用|执行|理会)"
)


@cache
def _pattern() -> re.Pattern[str]:
    orders = (*_LEAVE_THE_RULES, *_GIVE_POINTS, *_TAKE_NONE, *_TO_A_MACHINE, *_IN_CHINESE)
    return re.compile("|".join(f"(?:{order})" for order in orders))


def levelled(text: str) -> str:
    """Return a text in lower case with width, look-alike letters and traditional characters levelled."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", visible(text))
    text = re.sub(r"\s+", " ", text).lower()
    return text if text.isascii() else text.translate(_FOLDED)


def visible(text: str) -> str:
    """Return a text without invisible and half characters, tag characters as the letters they stand for."""
    text = text.translate(_TAGS)
    kept = (letter for letter in text if letter in "\n\t" or unicodedata.category(letter) not in ("Cf", "Cc", "Cs"))
    return "".join(kept)


_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*(?=\S)|\n\s*\n")


def order_in(text: str) -> str | None:
    """Return the first sentence of a text that orders its grader to decide something, as written, or None."""
    if not _HINT.search(levelled(text)):
        return None
    for sentence in _SENTENCE_END.split(visible(text)):
        plain = levelled(sentence).strip()
        found = _pattern().search(plain)
        if found and not _only_told(plain, found):
            return " ".join(sentence.split())[:LONGEST_EXCERPT]
    return None


def _only_told(sentence: str, order: re.Match[str]) -> bool:
    """Say whether a sentence reports the task's own condition, or a foreign order that was not followed."""
    if _CONDITION.search(sentence, order.end()) and _REPORTED.search(sentence, 0, order.end()):
        return True
    quoted = '"' in sentence[: order.start() + 1] and '"' in sentence[order.end() - 1 :]
    return quoted and _REFUSED.search(sentence) is not None
