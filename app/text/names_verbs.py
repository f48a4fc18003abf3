"""Which words between two names say how they are related. Data, and one question to it."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIGHT: Final = _words("""
    is are was were be been being am has have had do does did will would can could may might must should not also""")
PREPOSITIONS: Final = _words("""
    of in on at by for from with to near under over between against after before during as about into within""")

_VERBS: Final = _words("""
    become became make made write wrote written direct produce found create develop release publish play star marry
    meet met work live born die win won lose lost lead led own buy bought acquire sell sold build built design use
    support contain include consist locate base call name know known see saw give gave given take took taken hold
    held serve join leave left move study teach taught learn graduate attend receive award host perform record sing
    sang sung compose invent discover propose introduce describe explain define cause affect increase reduce replace
    extend implement provide require need depend run ran compete beat defeat fight fought attack invade rule reign
    succeed appoint elect represent belong border flow cover form divide merge split sign order kill help let begin
    began begun start end stop open close launch land travel visit go went come came return bring brought send sent
    show shown report say said tell told ask think thought believe love like want enjoy try keep kept put set get
    got find discuss mention recommend read cite link compare connect relate combine apply test measure store index
    search query embed train fine-tune host deploy ship install migrate adopt hire fire promote fund finance sponsor
    inspire influence adapt translate edit act appear feature portray voice depict cast premiere air broadcast
    distribute manufacture headquarter operate manage organize organise chair join adopt raise grow grew grown
    inherit descend father mother""")

# Chinese: the one who acts stands behind these, and the verb behind him: 由李明创立.
HAN_TURNS: Final = frozenset(("由", "被", "受", "经"))
HAN_BEHIND_VERB: Final = frozenset(("于", "为", "到", "在", "成", "给", "与", "自", "过", "出", "向"))

_ENDINGS: Final = (
    ("ies", "y"),
    ("es", ""),
    ("es", "e"),
    ("s", ""),
    ("ied", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
)


def is_verb(word: str) -> bool:
    """Whether the lower-case word is a form of a common verb; a participle counts by its ending."""
    if word in LIGHT or word in _VERBS:
        return word not in ("not", "also")
    for ending, repair in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word[: -len(ending)]
            if stem + repair in _VERBS or (len(stem) > 2 and stem[-1] == stem[-2] and stem[:-1] in _VERBS):
                return True
    return len(word) > 4 and word.endswith("ed")
