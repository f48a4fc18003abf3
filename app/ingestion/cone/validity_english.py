"""English claims of which one can be true at a time: states with one value, relations of which there is one. Pure.

Reads single sentences in the present tense with a named or definite subject; regular expressions and word lists only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.ingestion.cone.validity_shapes import Slot, Statement, names_one, one_of, place, slots
from app.text.normalise import fold, name_key

# What is denied, supposed, planned, reported, repeated or over.
_UNSURE_WORDS = one_of(r"""
    no|not|never|none|nobody|cannot|without|if|unless|whether|would|could|might|may(?!\s+\d)|can|should|shall
    |must|will|wo|going to|plan(?:s|ned|ning)?|hop(?:es?|ed|ing)|want(?:s|ed)?|wish(?:es)?|expect(?:s|ed)?
    |intend(?:s|ed)?|consider(?:s|ed|ing)?|think(?:s|ing)?|thought|believe[sd]?|feels?|seems?|appears?|maybe
    |perhaps|probably|possibly|likely|supposed(?:ly)?|suppose|allegedly|reportedly|rumou?red|said|says|tells?
    |told|claim(?:s|ed)|according|heard|asked|estimated|projected|assume[sd]?|imagine|used to|was|were|had
    |formerly|previously|originally|once|former|ex|until|till|before|also|too|both|either|or|sometimes|usually
    |often|part[- ]time|for example|e\.g|let's|let|please|try|dreams?|dreamt|temporarily|part of""")
_UNSURE = re.compile(rf"\b{_UNSURE_WORDS}\b|n['’]t\b|['’]d\b|['’]ll\b")
_SET_WORDS = one_of("""
    raised|increased|lowered|reduced|cut|changed|moved|postponed|extended|pushed|appointed|named|elected|promoted
    |renamed|set|hired""")
_SET = re.compile(rf"\b(?:was|were|has been|have been|had been) (?={_SET_WORDS}\b)")
_NOW = r"(?:now|currently|presently|at present|at the moment|these days|nowadays|as of (?:now|today)|today)"
_LATELY = rf"(?:(?:last|this) {one_of('week|month|year|spring|summer|autumn|fall|winter')}|yesterday|recently)"
_LEADING = re.compile(rf"^(?:{_NOW}|{_LATELY}|finally|good news|well|so|update|btw|fyi),?\s+(?=\w)", re.IGNORECASE)
_NOW_WORD = re.compile(rf"(?:,?\s+|^){_NOW}(?=$|[\s,.])", re.IGNORECASE)
_JUST = re.compile(r"\b(?:recently|just|finally|officially)\s")
_COMPARED = re.compile(
    r",?\s+(?:\(?(?:up|down|increased|reduced|raised) from|instead of|rather than|compared (?:to|with))\b.*$"
)

# ------------------------------------------------------------------------------------- subjects

_PRONOUN_WORDS = one_of("""
    I|me|my|you|your|he|him|his|she|her|it|its|we|us|our|they|them|their|this|that|these|those|there|here|who
    |which|what|how|why|when|where|and|each|every|most|many|some|all|any|several|another|other|others|old|next
    |same|everyone|everybody|someone|somebody|anyone|anybody|nobody|nothing|everything|something|people|one
    |i['’]m|because|though|although|while|since|than""")
_PRONOUN = re.compile(rf"\b{_PRONOUN_WORDS}\b", re.IGNORECASE)
_NO_OPENER_LIST = """
    in on at by for from with after before since during as when once to then but so last next usually up down
    over under about around make add wait take put set mix use see note remember check keep go get open click run
    install only even just still yes no ok step"""
_NO_OPENERS: Final = frozenset(_NO_OPENER_LIST.split())
_DETERMINER = re.compile(r"^(?:the|a|an)\s+(?:(?:current|latest|present|new|newest)\s+)?", re.IGNORECASE)
_OF = re.compile(r"^(?P<what>[^'’]+?)\s+(?:of|for)\s+(?:the\s+)?(?P<whose>.+)$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?(?=\s)")
_WORD = re.compile(r"[^\W_]+(?:['’.+&-][^\W_]+)*[+#]*")


def _subject(text: str, names: Sequence[str], singular: bool) -> tuple[str, bool] | None:
    """The key of a subject, and whether a name is in it. None for what is a pronoun, general or no subject at all."""
    text = text.strip()
    if not text or len(text) > 80 or _PRONOUN.search(text) or re.search(r"[,;:()\[\]/*|>]", text):
        return None
    words = text.split()
    if len(words) > 9 or words[0].lower() in _NO_OPENERS:
        return None
    named = names_one(text, names) or any(word[:1].isupper() and word != "I" for word in words[1:])
    if not named and (words[0].lower() != "the" or len(words) > 5 or not singular or _plural(words[-1])):
        return None
    bare = _DETERMINER.sub("", text)
    if (found := _OF.match(bare)) is not None:
        bare = f"{found['whose']} {found['what']}"
    return name_key(_POSSESSIVE.sub("", bare)), named


def _plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


# --------------------------------------------------------------------------------------- values

_MOVED = "raised|increased|lowered|reduced|cut|changed|moved|postponed|extended|pushed(?: back)?"
_GREW = "went up|gone up|risen|rose|grown|grew|climbed|dropped|fell|fallen|shrunk|shrank|went down|gone down|decreased"
_BECAME = (
    rf"(?:(?:has |have )?(?:been )?(?:{_MOVED}) (?:to|at)|(?:has |have )?(?:{_GREW}) to"
    r"|stands at|amounts to|comes to|totals|equals|is (?:set|scheduled|due) (?:to|at|for|on)|is due(?: on)?)"
)
_VERB_LIST = """
    has have costs cost lasts last weighs weigh measures measure contains contain takes take requires require
    needs need employs employ earns earn pays pay charges charge holds hold covers cover spans span seats seat
    allows allow opens closes starts begins ends expires uses runs serves stores supports consumes produces owns offers
    hosts spends sleeps counts comprises supports-up-to gets makes"""
_VERBS: Final = tuple(verb.replace("-", " ") for verb in _VERB_LIST.split())
_SENTENCE = re.compile(
    rf"^(?P<subject>.+?)\s(?:(?P<be>{_BECAME}|is|are|['’]s)|(?P<verb>{'|'.join(_VERBS)}))\s(?P<between>.*)$"
)
_PLURAL_LIST = "have are cost last weigh measure contain take require need employ pay charge hold cover"
_PLURALS: Final = frozenset(_PLURAL_LIST.split())
_DEEDS = re.compile(
    r"\b(?:\w+(?:ed|ing)|won|built|made|run|sold|read|done|got|lost|met|seen|been|sent|spent|taught|bought|held|left|paid"
    r"|written|driven|flown|eaten|taken|given|known|become|swum|to [a-z]+)\b"
)
_TAIL_WORDS = one_of("""
    and|but|or|when|while|because|who|which|that|than|after|ago|since|so|then|late|early|away|ahead|behind|left
    |remaining|later|earlier|more|less|fewer|short|to go|overdue|last|this|next|yesterday|today|tomorrow|tonight
    |each of|of (?:the|these|those|them|us|his|her|its|their)""")
_TAIL_BARS = re.compile(rf"[,;:(\[—–]|\b{_TAIL_WORDS}\b", re.IGNORECASE)
_DATED = re.compile(
    r"(?:deadline|due date|date|expiry|expiration|birthday|anniversary|launch|release|wedding|exam|cutoff|cut-off)"
    r"(?: (?:of|for)\b.*)?$",
    re.IGNORECASE,
)
_DATED_VERBS: Final = frozenset({"expires", "ends", "starts", "begins"})
_STOP_LIST = "a an the of to on at in is are be"
_STOP: Final = frozenset(_STOP_LIST.split())


def _value(text: str, names: Sequence[str], has_times: bool) -> Statement | None:
    found = _SENTENCE.match(text)
    if found is None:
        return None
    behind = found.start("between")
    filled = slots(text)
    inside = [slot for slot in filled if slot.start >= behind]
    if len(inside) != 1:
        return None
    slot = inside[0]
    verb = found["verb"] or "be"
    between, tail = text[behind : slot.start].strip(), text[slot.end :].strip().rstrip(".!")
    if len(between.split()) > 4 or len(tail.split()) > 8 or _TAIL_BARS.search(tail):
        return None
    if re.search(r"[,;:(]", between) or (between and _DEEDS.search(between)):
        return None
    if not _fits(slot, found["subject"], verb, has_times) or (slot.kind == "date" and (tail or "a" in between.split())):
        return None
    subject = _subject(found["subject"], names, (found["verb"] or found["be"]) not in _PLURALS)
    if subject is None:
        return None
    words = [_stem(word) for word in _WORD.findall(fold(f"{between} # {tail}"))]
    attribute = " ".join([_stem(verb), slot.kind, slot.unit, *(word for word in words if word not in _STOP)])
    return Statement(subject[0], attribute, slot.value, subject[1])


def _fits(slot: Slot, subject: str, verb: str, has_times: bool) -> bool:
    """Whether a value of this kind is a state of the subject rather than something that happens to it."""
    if slot.kind == "date":
        return slot.fixed and (verb in _DATED_VERBS or (verb == "be" and _DATED.search(subject) is not None))
    if has_times and slot.kind != "clock":
        return False
    if slot.kind == "number":
        return verb == "be"
    if slot.kind == "version":
        return verb in ("be", "uses", "runs", "requires", "needs")
    return verb not in ("runs", "uses", "makes", "gets")


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and _plural(word) else {"has": "have"}.get(word, word)


# ------------------------------------------------------------------------------------ relations

_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)\b"
)
_MAY_FOLLOW = re.compile(
    rf"^(?:[,.]?\s*(?:again|already|full[- ]time|together|since\b.*|with\b.*|as an? .*|{_LATELY}))?[.!]?$"
)
_LINK = r"(?:(?:of|de|la|del|di|da|van|von|der|den|du|the|&)\s+){0,2}"
_NAME = re.compile(
    r"(?:[Tt]he\s+)?(?:(?:Mr|Mrs|Ms|Dr|St)\.\s+)?[^\W\d_a-z][\w.&'’+-]*"
    rf"(?:\s+{_LINK}[^\Wa-z_][\w.&'’+-]*){{0,5}}"
)
_AREA = re.compile(r"^[a-z]+(?: [a-z]+){0,2} (?:at|for|of|in) (?=[^a-z])")
_WIDER = re.compile(r"^,\s+[A-Z][\w.]*(?:\s[A-Z]\w*)?(?=$|[.\s])")
_NOT_PLACE_LIST = """
    google amazon apple microsoft meta facebook netflix twitter openai anthropic nvidia intel ibm oracle sap
    siemens bosch aws azure gcp cloud postgres postgresql mysql sqlite mongodb redis kubernetes docker linux
    windows macos android ios github gitlab slack notion obsidian evernote python java rust go typescript
    javascript react vue product marketing sales engineering design finance hr legal operations research support
    done trash archive monday tuesday wednesday thursday friday saturday sunday plan phase step room office floor
    team"""
_NOT_PLACE: Final = frozenset(_NOT_PLACE_LIST.split())
_ROLE_WORDS = one_of("""
    CEO|CTO|CFO|COO|CIO|CMO|chief executive(?: officer)?
    |chief (?:technology|financial|operating|product|marketing) officer|president|chairman|chairwoman|chairperson
    |chair|head coach|head|managing director|director|general manager|manager|project lead|team lead|leader|lead
    |owner|captain|coach|mayor|king|queen|governor|prime minister|chancellor|principal|headmaster|dean|rector
    |editor[- ]in[- ]chief|maintainer|landlord|landlady|capital|boss|supervisor|wife|husband|spouse|girlfriend
    |boyfriend|fianc[eé]e?|secretary[- ]general|product owner|contact person|treasurer""")
_SAME_ROLE: Final = {
    "boss": "manager of",
    "supervisor": "manager of",
    "manager": "manager of",
    "wife": "spouse",
    "husband": "spouse",
    "chief executive": "ceo",
    "chief executive officer": "ceo",
    "chief technology officer": "cto",
    "chief financial officer": "cfo",
    "chairwoman": "chair",
    "chairman": "chair",
    "chairperson": "chair",
    "landlady": "landlord",
    "maintained": "maintainer",
    "owned": "owner",
    "led": "leader",
    "lead": "leader",
    "team lead": "leader",
    "managed": "manager of",
    "supervised": "manager of",
    "run": "manager of",
    "headed": "head",
    "chaired": "chair",
    "coached": "coach",
}
_ROLE = rf"(?:(?:new|current) )?(?P<role>{_ROLE_WORDS})"
_SEAT = "(?:headquarters|head office|HQ)"
_FROM = r"(?:from [A-Z]\w+(?: [A-Z]\w+)? )?"
_LIVES = one_of("lives|resides|has lived|has been living|is living|is based|is headquartered|is located|is situated")
_WORKS = one_of("""
    (?:works|is working|has worked|has been working|started working|started a job|got a job) (?:at|for)
    |is employed (?:at|by)|joined(?= .+ as )""")
_RENAMED = one_of("(?:changed (?:its|her|his|their) name|rebranded(?: itself)?|renamed itself) (?:to|as)")
_CALLED = one_of("(?:has been )?renamed(?: to| as)?|is (?:called|known as)")
_BECOMES = one_of("became|become|appointed|named|elected|took over as|taken over as|promoted to")
_APPOINTS = one_of("appointed|named|hired|elected|made")
_LED = "(?P<role>maintained|owned|led|managed|headed|chaired|run|coached|supervised)"
_HIDDEN = (
    r"(?P<role>(?:[Ww]i-?[Ff]i |WLAN |door |gate )?(?:password|passcode|code|PIN|phone number|email(?: address)?))"
)
_DOOR = r"(?P<s>(?:[Ww]i-?[Ff]i|WLAN|router|door|gate|alarm|safe))"
# In S and O the subject and what is said of it.
_RELATION_LIST = (
    ("seat", rf"S\s+(?:(?:has )?moved|relocated) (?:its|their|the) {_SEAT} {_FROM}to\s+O"),
    ("seat", rf"S['’]s? {_SEAT} (?:is|are) (?:located |based )?in\s+O"),
    ("moved", rf"S\s+(?:has |have )?(?:moved|relocated)(?: back)? {_FROM}to\s+O"),
    ("place", rf"S\s+{_LIVES} in\s+O"),
    ("employer", rf"S\s+{_WORKS}\s+O"),
    ("manager of", r"S\s+(?:reports|is reporting) (?:directly )?to\s+O"),
    ("spouse", r"S\s+(?:is|has been|got) married to\s+O"),
    ("spouse", r"S\s+(?:has )?married\s+O"),
    ("name", rf"S\s+(?:has )?{_RENAMED}\s+O"),
    ("name", rf"S\s+{_CALLED}\s+O"),
    ("uses", r"S\s+(?:is using|uses)\s+(?P<o>.+?)\s+as (?:its|her|his|their|the) (?P<role>[a-z][a-z -]{2,40})[.!]?"),
    ("favourite", r"S['’]s? favou?rite (?P<role>[a-z]+(?: [a-z]+)?) is (?:the )?(?P<o>[^,;:]{2,40})"),
    ("role", rf"(?:The\s+)?{_ROLE} (?:of|for|at) S\s+is\s+O"),
    ("role", rf"S['’]s? {_ROLE} is\s+O"),
    ("led", rf"S\s+is {_LED} by\s+O"),
    ("role", rf"S\s+(?:has )?{_APPOINTS}\s+(?P<o>.+?)\s+(?:as )?(?:its |the |their )?{_ROLE}"),
    ("held", rf"(?P<o>.+?)\s+is (?:the )?{_ROLE} (?:of|at) (?P<s>.+)"),
    ("held", rf"(?P<o>.+?)\s+(?:has )?{_BECOMES} (?:the )?{_ROLE} (?:of|at) (?P<s>.+)"),
    ("secret", rf"(?:The\s+)?{_HIDDEN} (?:of|for) (?:the )?S is (?P<o>\S+)"),
    ("secret", rf"S['’]s? {_HIDDEN} is (?P<o>\S+)"),
    ("secret", rf"The {_DOOR} (?P<role>password|passcode|code|PIN) is (?P<o>\S+)"),
)
_RELATIONS: Final = tuple(
    (kind, re.compile(f"^{re.sub('^S|(?<= )S', '(?P<s>.+?)', re.sub('O$', '(?P<o>.+)', pattern))}$"))
    for kind, pattern in _RELATION_LIST
)
_RELATED = re.compile(
    r"\b(?:mov|reloc|liv|join|start|maintained|owned|led|managed|headed|chaired|run|coached|supervised|appoint|hired|elect|resid|based|head|located|situated|work|job|employed|report|marri|name|rebrand|called|known"
    rf"|us(?:es|ing)|favou?rite|password|passcode|code|PIN|phone|email|{_ROLE_WORDS})"
)


def _relation(text: str, names: Sequence[str]) -> Statement | None:
    if not _RELATED.search(text):
        return None
    for kind, pattern in _RELATIONS:
        if found := pattern.match(text):
            return _related(kind, found, names)
    return None


def _related(kind: str, found: re.Match[str], names: Sequence[str]) -> Statement | None:
    group = found.groupdict()
    role = fold(group.get("role") or "")
    owner, given = group["s"].strip(), group["o"].strip()
    if kind == "held":
        area = _AREA.match(owner)
        name = _name(owner[area.end() :] if area else owner, names)
        holder = _whole(given, names)
        if name is None or holder is None:
            return None
        name = (area.group() if area else "") + name
        return Statement(_owner_key(name), _SAME_ROLE.get(role, role), name_key(holder))
    if kind == "secret":
        if "." in given[-1:]:
            given = given[:-1]
        named = names_one(owner, names) or any(word[:1].isupper() for word in owner.split())
        if _PRONOUN.search(owner) or not given:
            return None
        return Statement(
            name_key(owner), role.replace("-", ""), given, named and owner.lower() not in ("wi-fi", "wifi", "wlan")
        )
    subject = _subject(owner, names, True) if kind in ("role", "uses", "led") else _bearer(owner, names)
    if subject is None or (kind not in ("role", "uses", "led") and not subject[1]):
        return None
    if not subject[1]:
        return None
    if kind == "favourite":
        if re.search(r"\b(?:and|when|because|that|who)\b", given):
            return None
        return Statement(subject[0], f"favourite {role}", name_key(given))
    if kind == "uses":
        whole = _whole(given, names)
        return Statement(subject[0], f"uses as {role}", name_key(whole)) if whole else None
    name = _name(given, names, kind in ("place", "moved", "seat"))
    if name is None:
        return None
    if kind in ("place", "moved", "seat"):
        if kind == "moved" and (
            re.search(r"[\d_]|[a-z][A-Z]", name) or any(w in _NOT_PLACE for w in fold(name).split())
        ):
            return None
        width, key = place(name)
        return Statement(subject[0], f"place {width}", key)
    key = name_key(re.sub(r",?\s+(?:Inc|Ltd|LLC|GmbH|Corp|Co)\.?$", "", name).removeprefix("the ").removeprefix("The "))
    return Statement(subject[0], _SAME_ROLE.get(role, role) if kind in ("role", "led") else kind, key)


def _bearer(text: str, names: Sequence[str]) -> tuple[str, bool] | None:
    """As a subject; a single capitalised word is a name before these verbs."""
    if subject := _subject(text, names, True):
        return subject
    if text[:1].isupper() and " " not in text and not _PRONOUN.search(text) and not _plural(text):
        return name_key(text), True
    return None


def _owner_key(name: str) -> str:
    return name_key(_POSSESSIVE.sub("", _DETERMINER.sub("", name)))


def _whole(text: str, names: Sequence[str]) -> str | None:
    """`text` if it is one name."""
    match = _NAME.match(text)
    if fold(text) in names or (match is not None and match.end() == len(text) and not _PRONOUN.search(text)):
        return text
    return None


def _name(text: str, names: Sequence[str], of_place: bool = False) -> str | None:
    """The one name with which `text` begins, if nothing follows that would make it another or one of several."""
    folded = fold(text)
    known = next(
        (name for name in names if folded.startswith(name) and not folded[len(name) : len(name) + 1].isalnum()), ""
    )
    match = _NAME.match(text)
    end = max(len(known), match.end() if match is not None else 0)
    if end == 0:
        return None
    name, rest = text[:end].rstrip("."), text[end:]
    if of_place:
        rest = _WIDER.sub("", rest)
        name = re.sub(r"^[Tt]he\s+", "", name)
    return name if _MAY_FOLLOW.match(rest) and not _PRONOUN.search(name) else None


# ----------------------------------------------------------------------------------------- all


def read_english(text: str, names: Sequence[str], has_times: bool, speaker: str) -> Statement | None:
    """`names` are folded. First persons are the `speaker`; without one they are nobody."""
    text = text.rstrip(" .!")
    if not _FIGURE.search(text) and not _RELATED.search(text):
        return None
    if speaker:
        text = _as_told(text, speaker)
        names = [*names, fold(speaker)]
    text = _NOW_WORD.sub("", _COMPARED.sub("", text))
    for _ in range(2):
        text = _LEADING.sub("", text)
    text = _SET.sub("", " ".join(_JUST.sub("", text).split()))
    if _UNSURE.search(text[:1].lower() + text[1:]):
        return None
    return _relation(text, names) or _value(text, names, has_times)


_FIRST: Final = tuple(
    (re.compile(pattern), verb)
    for pattern, verb in (
        (r"^I['’]m\b|^I am\b", "is"),
        (r"^I['’]ve\b|^I have\b", "has"),
        (r"^I (?=live|work|report|weigh|need|earn|pay|own|sleep|use|run)(\w+)", r"\1s"),
        (r"^I\b", ""),
    )
)


def _as_told(text: str, speaker: str) -> str:
    for pattern, verb in _FIRST:
        if pattern.match(text):
            return " ".join(pattern.sub(f"{speaker} {verb}".replace("\\", "\\"), text, count=1).split())
    return re.sub(r"^My\b", f"{speaker}'s", text)
