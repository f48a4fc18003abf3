"""Which level answers a question. Pure: explicit level, then rules, then gates."""

from __future__ import annotations

import re

from app.retrieval.types import Level, Route
from app.text.normalise import fold

BUILT = frozenset({Level.chat, Level.search, Level.explore, Level.context})

_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|yo)(?: there| mindcone)?|good (?:morning|afternoon|evening|night)|how are you(?: doing)?|"
    r"thanks?(?: you)?(?: (?:so|very) much)?|thx|bye|goodbye|see you|who are you|what can you do|ok(?:ay)?|"
    r"你好[啊呀吗]?|您好|嗨|哈喽|早上好|早安|下午好|晚上好|晚安|谢谢[你您]?|多谢|再见|拜拜|你是谁|你能做什么|你会什么|在吗|好的)$"
)


def route(query: str, explicit: Level | None, *, workspace_empty: bool = False) -> Route:
    """The decision for one question; `gates` names what kept it from a deeper level."""
    if explicit is not None:
        wanted = Route(explicit, "explicit")
    elif _GREETING.match(re.sub(r"[^\w\s]+", "", fold(query)).strip()):
        wanted = Route(Level.chat, "small_talk")
    else:
        wanted = Route(Level.search, "default", 0.5)
    if workspace_empty and explicit is None and wanted.level is not Level.chat:
        return Route(Level.chat, wanted.reason, wanted.confidence, ("empty_workspace",))
    return wanted


def built_level(level: Level) -> Level:
    """The level that answers in place of one that is not there yet."""
    return level if level in BUILT else Level.search
