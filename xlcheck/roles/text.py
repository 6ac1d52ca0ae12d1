"""Text of labels: folding, tokens, brackets, signs, misspellings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

_TRADITIONAL = str.maketrans(
    "資產負債權價現貼終續長營業務參數總稅後淨經濟攤銷舊開動間過應當無風險規範億萬幣團實際聯賬與對個稱優級將變轉換額還項監東會計師遞減歸屬潛釋據發擇輪較國準備績報評預測單於區點損戶庫"
    "購買贖貸證註類專兌並佈併來係倉們償儲內兩別劃匯協問圍圓執壓導層島幾廠廢廣張從擔擴時桿槓條極構樂標樣機橫檢歐歷氣滾漁潤灣為爲熱環盧礦種穩籌約維網線縮縱臺興華藥處虛號術製觀設說議護讓"
    "貝貨費貿賃賣車軟軸輕輛農這週進運遠醫鉤銀銅鋁鋅鋼錄錯鎊鐵門閒陣陸雙電頓題顧餘驗體齡細給統組結緩編練織繳義舉許訂記訊託調論請謹識財貢責質賠賦贈鏈鎖閉關隨離雜難須頭頻願飛養馬驅齊龍"
    "顯樓殘滿漲獨獲確禮筆簡簽純紅紙絕絡綜綠緊罰職聲腳蓋衛補裝複復覽訓診詢試該詳誤讀讚豐賺趨跡載輔輸轄辦適選遷鄉鄰釐鈔銳鍵鎮閱階雲靜響頁順頒領顆飯飲館驟黃場塊夠奪獎婦學寫寬審尋屆帳帶"
    "廳彈強彙徑態慣憑懷戰掛採搶擁擊攜敗敘敵斷昇曆書朮棄榮歲殺毀決況涼湯溫滅災烏煙爐爭牆狀瑪瓊畢畫療盤眾砲禦積窮競節築籃糧納紐",
    "资产负债权价现贴终续长营业务参数总税后净经济摊销旧开动间过应当无风险规范亿万币团实际联账与对个称优级将变转换额还项监东会计师递减归属潜释据发择轮较国准备绩报评预测单于区点损户库"
    "购买赎贷证注类专兑并布并来系仓们偿储内两别划汇协问围圆执压导层岛几厂废广张从担扩时杆杠条极构乐标样机横检欧历气滚渔润湾为为热环卢矿种稳筹约维网线缩纵台兴华药处虚号术制观设说议护让"
    "贝货费贸赁卖车软轴轻辆农这周进运远医钩银铜铝锌钢录错镑铁门闲阵陆双电顿题顾余验体龄细给统组结缓编练织缴义举许订记讯托调论请谨识财贡责质赔赋赠链锁闭关随离杂难须头频愿飞养马驱齐龙"
    "显楼残满涨独获确礼笔简签纯红纸绝络综绿紧罚职声脚盖卫补装复复览训诊询试该详误读赞丰赚趋迹载辅输辖办适选迁乡邻厘钞锐键镇阅阶云静响页顺颁领颗饭饮馆骤黄场块够夺奖妇学写宽审寻届账带"
    "厅弹强汇径态惯凭怀战挂采抢拥击携败叙敌断升历书术弃荣岁杀毁决况凉汤温灭灾乌烟炉争墙状玛琼毕画疗盘众炮御积穷竞节筑篮粮纳纽",
)
_SPECIAL = (
    (re.compile(r"\b([ed])\s*/\s*\(\s*d\s*\+\s*e\s*\)"), r" \1/v "),
    (re.compile(r"\bev\s*/\s*\(?(ebitda|ebit|sales|revenues?|fcf)\b\)?"), r" ev/\1 "),
    (re.compile(r"\bp\s*/\s*(e|fcf)\b"), r" p/\1 "),
    (re.compile(r"\bd\s*/\s*e\b"), " d/e "),
    (re.compile(r"\b([ed])\s*/\s*v\b"), r" \1/v "),
    (re.compile(r"\bd\s*&\s*a\b"), " d&a "),
    (re.compile(r"\bs\s*/\s*o\b"), " s/o "),
    (re.compile(r"\by\s*/\s*y\b"), " y/y "),
    (re.compile(r"\bfk\s*/\s*ek\b"), " fk/ek "),
    (re.compile(r"\bebit\s*[*x]?\s*\(\s*1\s*-\s*t(?:ax)?(?:\s*rate)?\s*\)"), " ebit1t "),
    (re.compile(r"\br_([a-z])\b"), r"r\1"),
)
_SPECIAL_SIGN = re.compile(r"[/&(_]")
"""Each of these patterns holds one of these signs."""
_SYNONYMS = (
    (re.compile(r"\bpresent[\s-]values?\b|\bpvs\b"), "pv"),
    (re.compile(r"\bfree[\s-]cash[\s-]*flows?\b|\bfcfs\b"), "fcf"),
    (re.compile(r"\bfcf to (?:the )?firm\b|\bunlevered fcfs?\b|\bufcfs?\b|\bfcffs?\b|\bunlevered fcff\b"), "fcf"),
    (re.compile(r"\bfcf\s*\(?fcf\)?(?!\w)"), "fcf"),
    (re.compile(r"\bright[\s-]+of[\s-]+use\b"), "rou"),
)
"""Phrases of the same meaning, written one way before labels and words are compared."""
_PAIRS = re.compile(
    r"(upside|increase|decrease|inc\.?|premium|discount|add|plus|less|cash|income|long|short)\s*/\s*"
    r"\(?(downside|decrease|increase|dec\.?|discount|premium|less|minus|debt|expense|term|cash|\(cash)"
)
_SIGN = re.compile(
    r"^\s*(?:[\(\[]?\s*(?:\+/-|[+\-−–—])\s*[\)\]]?\s*|"
    r"(?:add back|add/less|plus/less|add|plus|less|minus|deduct|zzgl\.?|abzgl\.?|davon)\b\s*[:：.\-]?\s*|"
    r"(?:加回|加上|加|减去|减|減|扣除|控除|其中)\s*[:：]\s*)+",
    re.IGNORECASE,
)
_MINUS = re.compile(r"^\s*(?:[\(\[]?\s*[\-−–—]|less|minus|deduct|abzgl|减|減|扣除|控除)", re.IGNORECASE)
_PLUS = re.compile(r"^\s*(?:[\(\[]?\s*\+(?!/)|add|plus|zzgl|加)", re.IGNORECASE)
_PERCENT_NUMBER = re.compile(r"[@~≈]?\s*\d+(?:[.,]\d+)?\s*%")
_PERIOD_WORD = re.compile(r"\b(?:fy|cy|q[1-4]\s*)?(?:19|20)\d{2}\s*[aefp]?\b|\b\d{2}fy\b|\bfy\d{2}[aefp]?\b")
_HORIZON = re.compile(r"\b\d{1,3}[\s-]*(?:years?|yrs?|periods?)\b")
_NUMBERING = re.compile(
    r"^\s*(?:\d{1,2}(?:\.\d{1,2})*[.)]\s+|[ivx]{1,4}[.)]\s+|[a-h][.)]\s+|[一二三四五六七八九十]+、|\*+|•)"
)
_BRACKET = re.compile(r"[(\[（【]([^()\[\]（）【】]*)[)\]）】]")
_TOKEN = re.compile(
    r"ebit1t|ev/[^\W\d_]+|p/e|p/fcf|fk/ek|[ed]/[ev]|d&a|s/o|y/y|"
    r"[⺀-鿿぀-ヿ가-힯豈-﫿]+|[^\W\d_⺀-鿿぀-ヿ]+(?:['’][^\W\d_]+)?|\d+(?:[.\-]\d+)*|%"
)
_DIGIT = re.compile(r"\d")
_RATIO = re.compile(r"[^\W\d_)]\s*[/÷]\s*[^\W\d_(]")
_CODES = re.compile(r"ev/[^\W\d_]+|p/e|p/fcf|fk/ek|[ed]/[ev]|s/o|y/y")
_PUNCTUATION = re.compile(r"[\s\-–—_.,:：、，。;；'\"()（）\[\]【】「」]")
_CJK = re.compile(r"[⺀-鿿぀-ヿ豈-﫿]")
FILLERS = frozenset(
    re.findall(
        r"\S+",
        """
        the of to for in at a an and or our by on as with from its per_cent der die das des im je und zum
        zur de la le du del da do fy cy e total value_ company memo using calculated calc result year_end m
        mm mn k bn usd eur gbp cny rmb hkd jpy inr million thousand billion crore lakh cr rs mio tsd c $
        method gordon perpetuity base case live pgm ggm approach
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a label: its words in order and the same text without spaces (for CJK)."""

    tokens: tuple[str, ...]
    compact: str
    ratio: bool
    """The text sets one quantity over another (``FCF / Capex``)."""
    weight: float
    """1 for the whole label, less for a bracket inside it."""


@lru_cache(maxsize=50_000)
def fold(text: str) -> str:
    """Return the text in lower case, without accents, full-width forms and traditional characters."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).lower().replace("∆", "δ").replace("ß", "ss").replace("×", "x")
    folded = []
    for char in text:
        if ord(char) < 0x2000 and ord(char) > 127:
            folded.append("".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c)))
        else:
            folded.append(char)
    return "".join(folded).replace("đ", "d").translate(_TRADITIONAL)


def has_cjk(text: str) -> bool:
    """Say whether the text holds Chinese or Japanese characters."""
    return not text.isascii() and _CJK.search(text) is not None


def stated_sign(text: str) -> int | None:
    """Return -1 for ``Less: debt`` or ``(–) debt``, +1 for ``Add: cash``, None where the label says neither."""
    folded = fold(text)
    if re.match(r"^\s*\(?\s*\+\s*/\s*[-−–]", folded) or re.match(r"^\s*(add|plus)\s*/", folded):
        return None
    return -1 if _MINUS.match(folded) else 1 if _PLUS.match(folded) else None


_LONGEST_LABEL = 400
"""Characters of a label that are read: what is longer is prose."""


@lru_cache(maxsize=50_000)
def read_label(text: str) -> tuple[Reading, ...]:
    """Return the ways to read a label, the whole first, then without brackets, then each bracket."""
    folded = fold(text[:_LONGEST_LABEL].replace("\n", " "))
    if "=" in folded or "＝" in folded:
        folded = re.split(r"\s[=＝]\s|＝", folded)[0]
    counted = _DIGIT.search(folded) is not None
    if counted:
        folded = _PERCENT_NUMBER.sub(" ", folded)
    folded = _NUMBERING.sub("", folded)
    folded = _SIGN.sub("", folded)
    if _SPECIAL_SIGN.search(folded):
        for pattern, replacement in _SPECIAL:
            folded = pattern.sub(replacement, folded)
    for pattern, replacement in _SYNONYMS:
        folded = pattern.sub(replacement, folded)
    without = _PERIOD_WORD.sub(" ", _HORIZON.sub(" ", folded)) if counted else folded
    readings = [_reading(without, 1.0)]
    inner = _BRACKET.findall(without)
    if inner:
        outer = _BRACKET.sub(" ", without)
        if outer.strip():
            readings.append(_reading(outer, 0.99))
        readings += [_reading(part, 0.88) for part in inner if part.strip()]
    return tuple(reading for reading in readings if reading.tokens)


def _reading(text: str, weight: float) -> Reading:
    bare = _PAIRS.sub(r"\1 \2", text) if "/" in text else text
    ratio = _RATIO.search(_CODES.sub("x", bare)) if "/" in bare or "÷" in bare else None
    tokens = tuple(_singular(token) for token in _TOKEN.findall(bare))
    return Reading(tokens, _PUNCTUATION.sub("", bare), ratio is not None, weight)


def _singular(token: str) -> str:
    plural = len(token) >= 4 and token.endswith("s") and not token.endswith(("ss", "us", "is"))
    return token[:-1] if plural and "/" not in token else token


def spelled(token: str, known: frozenset[str]) -> str:
    """Return the known word that a misspelt token means, or the token itself."""
    if len(token) < 5 or token in known or not token.isalpha() or has_cjk(token):
        return token
    return _nearest(token, known)


@lru_cache(maxsize=20_000)
def _nearest(token: str, known: frozenset[str]) -> str:
    allowed = 1 if len(token) < 8 else 2
    best, best_distance = token, allowed + 1
    letters = set(token)
    for word in _by_initial(known).get(token[0], ()):
        if abs(len(word) - len(token)) > allowed or len(letters ^ set(word)) > 2 * (best_distance - 1):
            continue  # one change of a letter takes one out and brings one in at most
        distance = _distance(token, word, best_distance)
        if distance < best_distance:
            best, best_distance = word, distance
    return best


@lru_cache(maxsize=8)
def _by_initial(known: frozenset[str]) -> Mapping[str, list[str]]:
    """Return the words long enough to be misspelt by first letter; sorted, so that ties have one end."""
    found: dict[str, list[str]] = {}
    for word in sorted(known):
        if len(word) >= 5:
            found.setdefault(word[0], []).append(word)
    return found


def _distance(left: str, right: str, limit: int) -> int:
    """Damerau–Levenshtein distance (neighbouring letters may be swapped), cut off at `limit`."""
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        current = [i]
        for j, b in enumerate(right, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) >= limit:
            return limit
        before, previous = previous, current
    return previous[-1]


def words_of(phrases: Iterable[str]) -> frozenset[str]:
    """Return every word that the phrases use."""
    return frozenset(token for phrase in phrases for reading in read_label(phrase)[:1] for token in reading.tokens)
