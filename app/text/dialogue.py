"""Turns of a dialogue, and what is said in them told with the speakers' names in place of I and you.

Knows chats, transcripts and interviews by their lines: `[time] Speaker: text`, `Speaker: text`, `**Speaker**: text`,
`张三：…`. A list of `key: value`, a note with a colon, YAML and code are no dialogue: in doubt there are no turns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from app.text.coref_words import FEMALE_NAMES, MALE_NAMES, OPENERS, TITLES, words_of
from app.text.coref_words_zh import SPEAKERS, SURNAMES
from app.text.normalise import HAN

_LINE = re.compile(
    r"""^[ \t]*(?:>[ \t]*)?(?P<bullet>[-*+][ \t]+)?
    (?:[\[［(（](?P<time>[^\]］)）\n]{1,60})[\]］)）][ \t]*
       |(?P<clock>(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[ \t]+)?\d{1,2}:\d{2}(?::\d{2})?)[ \t]+)?
    (?:\*\*|__)?
    (?P<speaker>[^\s:：\[\]|\#>*_`"'“”(){}<=/\\-][^:：\n|`"“”{}<>=\[\]]{0,39}?)
    (?:\*\*|__)?[ \t]*(?:[(（](?P<late>[^)）\n]{1,40})[)）][ \t]*)?
    [:：](?:\*\*|__)?(?=[ \t]|(?<=：)|(?<=\*\*)|(?<=__))[ \t]*(?=\S)""",
    re.MULTILINE | re.VERBOSE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"[.!?。！？…~～]|[，,].*\S")
_HAN_ONLY = re.compile(f"[{HAN}·•]+")
_LATIN = re.compile(r"[A-ZÀ-ÖØ-Þ][\w.'’-]*(?: (?:[A-ZÀ-ÖØ-Þ][\w.'’-]*|de|van|von|der|la|al|bin|\d{1,2})){0,3}")
_KEY_LIST: Final = """
    note notes warning tip tips hint todo important caution info example examples summary title date author
    authors tag tags alias aliases name names age city country email phone address url link links source
    sources type status version category created updated modified description subject from to cc bcc re time
    place location where when what why how who result results input output expected actual before after pros
    cons pro con correct incorrect wrong right question questions step steps goal goals problem problems
    solution solutions cause causes fix action actions decision decisions risk risks attendees agenda topic
    topics context background conclusion references reference see usage default returns return raises args
    parameters params error errors price total size color colour weight height budget owner priority deadline
    due start end id key value keywords language license home monday tuesday wednesday thursday friday saturday
    sunday january february march april may june july august september october november december breakfast
    lunch dinner yes no ok chapter section part figure table ingredients method edit update ps p.s http https
    file path image song album artist director cast genre rating pages isbn publisher translation original
    meaning definition synonyms antonyms score model dataset week day month year"""
_KEYS: Final = words_of(_KEY_LIST)
_HAN_KEYS = re.compile(
    "注意?|备注|提示|说明|时间|日期|地点|地址|主题|标题|作者|来源|标签|分类|类型|类别|状态|版本|问题|原因|结果|结论|目标|步骤"
    "|方法|方案|例如|比如|例子|案例|示例|总结|摘要|背景|参考|链接|网址|关键词|作用|评价|优点|缺点|优势|劣势|定义|翻译|原文|译文|工具"
    "|电话|邮箱|姓名|性别|年龄|职业|价格|金额|数量|规格|用途|特点|输入|输出|首先|其次|最后|其中|第.{1,3}|建议|推荐|下载|官网|主演"
    "|导演|编剧|片名|书名|出版社|评分|简介|高光|摆烂|碳水|蛋白质|脂肪|早餐|午餐|晚餐|周[一二三四五六日]|待办|进度|负责人|参会人"
)
_LETTERS = re.compile(r"[A-Z]\d?")


@dataclass(frozen=True, slots=True)
class Turn:
    """`content[start:end]` is the turn with its label, `content[said_start:end]` what was said."""

    speaker: str
    start: int
    end: int
    said_start: int
    time_text: str | None = None


def turns(content: str) -> list[Turn]:
    """The turns in order, or none where the content is no dialogue. A turn ends where the next one begins."""
    if ":" not in content and "：" not in content:
        return []
    barred = [m.span() for pattern in (_FENCE, _FRONT_MATTER) for m in pattern.finditer(content)]
    found = [m for m in _LINE.finditer(content) if not any(a <= m.start() < b for a, b in barred)]
    found = [m for m in found if _may_speak(m["speaker"])]
    if len(found) < 2 or not _is_dialogue(content, found):
        return []
    edges = [m.start() for m in found] + [len(content)]
    # A heading or a fence closes the last turn before it.
    out: list[Turn] = []
    for match, edge in zip(found, edges[1:], strict=True):
        stop = _HEADING.search(content, match.end(), edge)
        end = match.end() + len(content[match.end() : stop.start() if stop else edge].rstrip())
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        time_text = match["time"] or match["clock"] or match["late"]
        out.append(Turn(_speaker(match["speaker"]), start, end, match.end(), time_text))
    return out


_HEADING = re.compile(r"^(?:#{1,6} |```|~~~|---[ \t]*$|\|)", re.MULTILINE)


_QUOTED_TURN = re.compile(
    r"(?<![\w'’-])(?P<speaker>[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)?)(?: ?\([^)\n]{1,24}\))? ?[:：] ?"
    r'(?:"(?P<straight>[^"\n]+)"|“(?P<curly>[^“”\n]+)”)'
)
_LETTER = re.compile(r"[^\W_]")


def speaker_of(line: str) -> tuple[str, str] | None:
    """Who speaks in a line that stands alone, and what is said; None unless the label is surely somebody."""
    match = _LINE.match(line)
    if match is None or not _may_speak(match["speaker"]) or not _is_person(_speaker(match["speaker"])):
        return None
    return _speaker(match["speaker"]), line[match.end() :].strip()


def quoted_turns(line: str) -> list[tuple[str | None, str]]:
    """A line in parts: what somebody says in quotes behind a name and a colon, with that name, and what stands around
    it (None).
    """
    parts: list[tuple[str | None, str]] = []
    end = 0
    for match in _QUOTED_TURN.finditer(line):
        if _may_speak(match["speaker"]) and _is_person(match["speaker"]):
            parts += [
                (None, line[end : match.start()]),
                (match["speaker"], (match["straight"] or match["curly"]).strip()),
            ]
            end = match.end()
    return [(who, part) for who, part in (*parts, (None, line[end:])) if _LETTER.search(part)]


def _speaker(label: str) -> str:
    return label.strip(" \t*_")


def _may_speak(label: str) -> bool:
    name = _speaker(label)
    if _LETTERS.fullmatch(name):
        return True
    if not name or _bare(name) in _KEYS or name.lower() in OPENERS:
        return False
    if _HAN_ONLY.fullmatch(name):
        return len(name) <= 12 and not _HAN_KEYS.fullmatch(name)
    if name.isascii() or _LATIN.fullmatch(name):
        return bool(_LATIN.fullmatch(name)) and not all(w in _KEYS for w in name.lower().split())
    # 阿May, Lily姐, User 2
    return len(name) <= 12 and not re.search(r"[，。、；！？,;!?\d]", name)


def _bare(name: str) -> str:
    return name.lower().strip(". ")


def _is_dialogue(content: str, found: Sequence[re.Match[str]]) -> bool:
    speakers = Counter(_speaker(m["speaker"]) for m in found)
    if len(speakers) < 2:
        return False
    lines = sum(1 for line in content[found[0].start() :].splitlines() if line.strip())
    timed = sum(1 for m in found if m["time"] or m["clock"] or m["late"]) * 2 > len(found)
    if any(m["bullet"] for m in found) and not timed and not all(map(_is_person, speakers)):
        return False
    said = [content[m.end() : _line_end(content, m.end())] for m in found]
    spoken = sum(1 for text in said if _SENTENCE.search(text)) * 2 >= len(said)
    sure = all(map(_is_person, speakers))
    if not timed and 2 * len(found) <= lines:
        return False
    repeated = sum(1 for count in speakers.values() if count > 1)
    if timed:
        return repeated > 0 or sure
    if sure:
        return spoken or repeated > 0
    few = len(speakers) <= max(2, len(found) // 2)
    return spoken and repeated >= 1 and len(found) > 2 and few and all(map(_could_be_person, speakers))


def _line_end(content: str, at: int) -> int:
    end = content.find("\n", at)
    return len(content) if end < 0 else end


def _is_person(name: str) -> bool:
    """Whether a label is surely somebody: a given name, a surname, a role in a talk."""
    if _HAN_ONLY.fullmatch(name):
        return (
            name in SPEAKERS
            or "·" in name
            or (
                2 <= len(name) <= 3
                and (name[0] in SURNAMES or name[0] in "小老阿大" or name[-1] in "总姐哥叔姨爷奶嫂工导")
            )
            or name.endswith(("老师", "医生", "律师", "教授", "经理", "先生", "女士", "阿姨", "师傅", "同学"))
        )
    words = name.lower().replace(".", "").split()
    return bool(words) and (
        _LETTERS.fullmatch(name) is not None
        or words[0] in TITLES
        or words[0] in _ROLES
        or words[0] in MALE_NAMES
        or words[0] in FEMALE_NAMES
    )


def _could_be_person(name: str) -> bool:
    """The same where it talks more than once: any short capitalised label."""
    if _is_person(name):
        return True
    words = name.split()
    return len(words) <= 3 and all(w[0].isupper() and w.lower() not in _KEYS for w in words)


_ASIDES: Final = frozenset(("Q", "A", "问", "答", "甲", "乙", "丙", "Me", "me", "我", "你"))
_ROLES = words_of("""
    interviewer interviewee host guest moderator speaker user assistant human ai me customer agent""")

# ------------------------------------------------------------------- told by name


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb[-1:] == "y" and verb[-2:-1] not in "aeiou" else f"{verb}s"


def addressee_of(speakers: Set[str], speaker: str) -> str | None:
    """Whom `speaker` speaks to: the other one of two; None where more than two talk."""
    others = speakers - {speaker}
    return next(iter(others)) if len(others) == 1 else None


_BASE_VERBS: Final = words_of("""
    think want know love like need feel hope see go get work live say guess mean wish keep use try plan look
    prefer remember agree believe enjoy start make take play run find come give tell ask read write call help
    bring buy sell teach learn study visit travel walk swim paint cook eat drink sleep miss hate understand own
    spend appreciate choose wonder suppose recommend suggest dream care cherish admire value support share hang
    sing dance move stay save pay send set put turn show train coach volunteer hike draw grow collect watch
    listen""")
_IRREGULAR: Final = {
    "am": "is",
    "are": "is",
    "have": "has",
    "do": "does",
    "were": "was",
    "go": "goes",
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "weren't": "wasn't",
    "don’t": "doesn’t",
    "haven’t": "hasn’t",
    "aren’t": "isn’t",
    "weren’t": "wasn’t",
}
_SHORT: Final = {"m": " is", "re": " is", "ve": " has", "ll": " will", "d": " would"}
_FIRST = re.compile(
    r"\b(?P<aux>(?i:am|are|were|have|do|don['’]t|haven['’]t|aren['’]t)) (?P<inverted>I|you)\b(?!['’])"
    r"|\b(?P<both>[Ww]e both|[Bb]oth of us|[Tt]he two of us)\b"
    r"|\b(?P<subject>(?<!War )(?<!Part )(?<!Type )(?<!Phase )(?<!Chapter )I|you|You)\b"
    r"(?:['’](?P<short>m|re|ve|ll|d)\b)?"
    r"(?: (?P<adverb>really|also|just|always|still|never|even|actually|usually|often|definitely|totally))?"
    r"(?: (?P<verb>[a-z]+n['’]t|[a-z]+)\b)?"
    r"|\b(?P<own>my|My|your|Your)\b|\b(?P<mine>mine|yours)\b|\b(?P<object>me|myself|yourself)\b",
)
_FIXED = re.compile(
    r"(?:\bthank |\bthanks to |\bmeet |\bsee |\blove |\bmiss |\bbless |\bexcuse |\btell |\bbelieve )$", re.IGNORECASE
)
_GENERIC_YOU = words_of("""
    know guys all see two can never""")
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”|「[^」\n]*」|`[^`\n]*`')
_HAN_FIRST = re.compile(
    "(?P<both>我们俩|我俩|咱俩|咱们俩|我们两个)"
    "|(?<![自忘唯小大])(?P<me>我|本人)(?![们国军校院市省县党方司俩])"
    "|(?<!迷)(?P<you>[你您])(?!们|好|妈的|懂的)"
)
_HAN_FIXED = re.compile("(?:谢谢|多谢|感谢|辛苦|拜托|恭喜|祝)$")


def stand_alone_turn(said: str, speaker: str, addressee: str | None = None) -> str:
    """`said` (a turn or a sentence of it) with names for I, me, my, and you, your where the addressee is given.

    Verbs that stand next to them agree. "We" stays unless it says that it is the two: it may be anybody. What is
    quoted stays. `said` itself is returned where there is nothing to tell.
    """
    if speaker in _ASIDES or addressee in _ASIDES or (len(speaker) == 1 and speaker.isascii()):
        # "Q" and "A" name nobody.
        return said
    if not _FIRST.search(said) and not _HAN_FIRST.search(said):
        return said
    barred = [m.span() for m in _QUOTED.finditer(said)]
    out = _FIRST.sub(lambda m: _tell(m, speaker, addressee, barred), said)
    if out is not said and out != said:
        barred = [m.span() for m in _QUOTED.finditer(out)]
    return _HAN_FIRST.sub(lambda m: _tell_han(m, speaker, addressee, barred), out)


def _inside(match: re.Match[str], barred: Sequence[tuple[int, int]]) -> bool:
    return any(a < match.start() < b for a, b in barred)


def _tell(match: re.Match[str], speaker: str, addressee: str | None, barred: Sequence[tuple[int, int]]) -> str:
    whole = match.group()
    if _inside(match, barred):
        return whole
    if match["both"]:
        return f"{speaker} and {addressee}" if addressee else whole
    key = match["inverted"] or match["subject"] or match["own"] or match["mine"] or match["object"] or ""
    name = speaker if key.lower() in ("i", "my", "mine", "me", "myself") else addressee
    if name is None:
        return whole
    if match["aux"]:
        aux = _IRREGULAR.get(match["aux"].lower(), match["aux"])
        return f"{aux.capitalize() if match['aux'][0].isupper() else aux} {name}"
    if match["mine"] and not _OF.search(match.string, max(0, match.start() - 8), match.start()):
        return whole
    if match["own"] or match["mine"]:
        return f"{name}'s"
    if match["object"]:
        return name
    verb, short, adverb = match["verb"], match["short"], match["adverb"]
    bare = _after_auxiliary(match)
    if key != "I" and not short and (_is_fixed(match) or (not bare and verb in _GENERIC_YOU)):
        return whole
    if short == "d" and verb in ("been", "had", "gone", "done", "seen"):
        return f"{name} had" + _joined(adverb) + _joined(verb)
    if short:
        return name + _SHORT[short] + _joined(adverb) + _joined(verb)
    if verb is not None and not bare:
        verb = _IRREGULAR.get(verb) or (_third_person(verb) if verb in _BASE_VERBS else verb)
    return name + _joined(adverb) + _joined(verb)


def _is_fixed(match: re.Match[str]) -> bool:
    """Whether "you" belongs to a phrase: "thank you"."""
    return _FIXED.search(match.string, max(0, match.start() - 12), match.start()) is not None


_OF = re.compile(r"\b(?:is|was|are|were|of|than|like|as|and|or|to)\s$")
_AUXILIARY_BEFORE = re.compile(
    r"\b(?:did|do|does|can|could|will|would|should|shall|may|might|must|didn['’]t|can['’]t|won['’]t|let|make|made|help|see|saw|hear)\s$",
    re.IGNORECASE,
)


def _after_auxiliary(match: re.Match[str]) -> bool:
    """Whether the verb is bare: "did you go", "let you know"."""
    return _AUXILIARY_BEFORE.search(match.string, max(0, match.start() - 12), match.start()) is not None


def _joined(word: str | None) -> str:
    return f" {word}" if word else ""


def _tell_han(match: re.Match[str], speaker: str, addressee: str | None, barred: Sequence[tuple[int, int]]) -> str:
    whole = match.group()
    if _inside(match, barred):
        return whole
    if match["both"]:
        return f"{speaker}和{addressee}" if addressee else whole
    if match["me"]:
        return speaker
    if addressee is None or _HAN_FIXED.search(match.string, max(0, match.start() - 4), match.start()):
        return whole
    return addressee
