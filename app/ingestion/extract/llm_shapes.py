"""What a model is asked to write, as a JSON schema, and what it wrote, as values that can be relied on. Pure.

Each item is validated by itself: a bad one is dropped and counted, the good ones are kept. Names and sentences
only; knows nothing of where they stand in the text.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.ingestion.extract.types import ENTITY_TYPES, EntityDraft, EntityType, RelationDraft
from app.providers.ladder import NotJson, climb
from app.text.normalise import clean, fold, name_key

DEFAULT_CONFIDENCE: Final = 0.8
"""Of a relation whose confidence the model did not say."""

_MAX_NAME: Final = 200
_MAX_TEXT: Final = 2000
_MAX_ALIASES: Final = 12
_MAX_ITEMS: Final = 1000


@dataclass(frozen=True, slots=True)
class Claim:
    """One atomic statement; `about` are names, `times` expressions of time in the words of the text."""

    text: str
    about: tuple[str, ...] = ()
    times: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """`roles` are (name, what it is or does here)."""

    title: str
    description: str
    claims: tuple[Claim, ...] = ()
    roles: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Focus:
    title: str
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model call, or several merged, found in one passage."""

    entities: tuple[EntityDraft, ...] = ()
    relations: tuple[RelationDraft, ...] = ()
    episodes: tuple[Focus, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)
    cut: bool = False
    """The model's JSON ended too early: this is only its beginning."""

    @property
    def is_empty(self) -> bool:
        return not (self.entities or self.relations or self.episodes)


# ---------------------------------------------------------------------------------------- schema


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


_WORDS: Final = {"type": "string"}
SCHEMA: Final[Mapping[str, Any]] = _object(
    entities=_list(
        _object(
            name=_WORDS,
            type={"type": "string", "enum": list(ENTITY_TYPES)},
            description=_WORDS,
            aliases=_list(_WORDS),
        )
    ),
    relations=_list(
        _object(source=_WORDS, target=_WORDS, predicate=_WORDS, sentence=_WORDS, confidence={"type": "number"})
    ),
    episodes=_list(
        _object(
            title=_WORDS,
            facets=_list(
                _object(
                    title=_WORDS,
                    description=_WORDS,
                    points=_list(_object(text=_WORDS, about=_list(_WORDS), times=_list(_WORDS))),
                    roles=_list(_object(entity=_WORDS, role=_WORDS)),
                )
            ),
        )
    ),
)


def as_json(answer: Answer) -> dict[str, Any]:
    """`answer` in the form of the schema; `validate` reads it back."""
    return {
        "entities": [
            {"name": e.name, "type": e.type, "description": e.description, "aliases": list(e.aliases)}
            for e in answer.entities
        ],
        "relations": [
            {
                "source": r.source,
                "target": r.target,
                "predicate": r.predicate,
                "sentence": r.text,
                "confidence": r.confidence,
            }
            for r in answer.relations
        ],
        "episodes": [
            {"title": episode.title, "facets": [_section_json(section) for section in episode.sections]}
            for episode in answer.episodes
        ],
    }


def _section_json(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "description": section.description,
        "points": [{"text": c.text, "about": list(c.about), "times": list(c.times)} for c in section.claims],
        "roles": [{"entity": entity, "role": role} for entity, role in section.roles],
    }


# --------------------------------------------------------------------------------------- reading

_ENTITIES: Final = ("entities", "nodes")
_RELATIONS: Final = ("relations", "relationships", "edges", "triples")
_EPISODES: Final = ("episodes", "episode")
_SECTIONS: Final = ("facets", "sections")
_TOP: Final = frozenset((*_ENTITIES, *_RELATIONS, *_EPISODES))


def read_answer(text: str) -> Answer:
    """What a model's answer says. Raises NotJson when nothing in it can be used. Takes milliseconds."""
    parsed = climb(text, is_answer)
    return validate(parsed.value, cut=parsed.cut)


def is_answer(value: Any) -> bool:
    """Whether a JSON value can be an answer, maybe inside a wrapper, maybe only a list of its items."""
    if isinstance(value, list):
        return any(isinstance(one, dict) and (_is_entity(one) or _is_relation(one)) for one in value)
    return isinstance(value, dict) and (_has_top(value) or any(_has_top(inner) for inner in value.values()))


def validate(value: Any, *, cut: bool = False) -> Answer:
    """The good items of a JSON value. Raises NotJson when it has items and all of them are bad."""
    said = _unwrapped(value)
    reader = _Reader()
    entities = reader.entities(_get(said, _ENTITIES))
    relations = reader.relations(_get(said, _RELATIONS))
    episodes = reader.episodes(_get(said, _EPISODES))
    loose = reader.sections(_get(said, _SECTIONS))
    if loose:
        episodes = (*episodes, Focus("", loose))
    answer = Answer(entities, relations, episodes, reader.dropped, cut)
    if answer.is_empty and reader.dropped:
        raise NotJson("None of the items has the fields that were asked for.")
    return answer


def _unwrapped(value: Any) -> Mapping[str, Any]:
    if isinstance(value, list):
        items = [one for one in value if isinstance(one, dict)]
        return {
            "entities": [one for one in items if not _is_relation(one)],
            "relations": [one for one in items if _is_relation(one)],
        }
    if not isinstance(value, dict):
        return {}
    if not _has_top(value):
        value = next((inner for inner in value.values() if _has_top(inner)), value)
    return _folded(value)


def _has_top(value: Any) -> bool:
    return isinstance(value, dict) and not _TOP.isdisjoint(_folded(value))


def _is_entity(item: Mapping[str, Any]) -> bool:
    return "name" in _folded(item)


def _is_relation(item: Mapping[str, Any]) -> bool:
    return {"source", "target"} <= _folded(item).keys()


def _folded(item: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): value for key, value in item.items()}


def _get(item: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


class _Reader:
    """Reads lists of items and counts what it drops."""

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()

    def entities(self, value: Any) -> tuple[EntityDraft, ...]:
        if isinstance(value, dict) and "name" not in _folded(value):  # {"Alice": {"type": …}}
            value = [{"name": key, **(inner if isinstance(inner, dict) else {})} for key, inner in value.items()]
        return tuple(self._kept(self._entity, value, "entity_invalid"))

    def relations(self, value: Any) -> tuple[RelationDraft, ...]:
        return tuple(self._kept(_relation, value, "relation_invalid"))

    def episodes(self, value: Any) -> tuple[Focus, ...]:
        return tuple(self._kept(self._episode, value, "episode_invalid"))

    def sections(self, value: Any) -> tuple[Section, ...]:
        return tuple(self._kept(self._section, value, "facet_invalid"))

    def _kept(self, read: Any, value: Any, reason: str) -> Iterable[Any]:
        items = _items(value)
        if len(items) > _MAX_ITEMS:
            self.dropped["too_many"] += len(items) - _MAX_ITEMS
        for item in items[:_MAX_ITEMS]:
            kept = read(item)
            if kept is None:
                self.dropped[reason] += 1
            else:
                yield kept

    def _entity(self, item: Any) -> EntityDraft | None:
        item = _folded(item) if isinstance(item, dict) else {"name": item}
        name = _name(_get(item, ("name", "entity", "title")))
        if name is None:
            return None
        aliases = (_name(alias) for alias in _items(item.get("aliases"))[:_MAX_ALIASES])
        return EntityDraft(
            name,
            entity_type(_get(item, ("type", "category"))),
            _text(item.get("description")) or "",
            tuple(dict.fromkeys(alias for alias in aliases if alias and alias != name)),
        )

    def _episode(self, item: Any) -> Focus | None:
        if not isinstance(item, dict):
            return None
        item = _folded(item)
        sections = self.sections(_get(item, _SECTIONS))
        return Focus(_line(item.get("title")) or "", sections) if sections else None

    def _section(self, item: Any) -> Section | None:
        if not isinstance(item, dict):
            return None
        item = _folded(item)
        claims = tuple(self._kept(_claim, _get(item, ("points", "facts", "claims")), "point_invalid"))
        roles = tuple(self._kept(_role, item.get("roles"), "role_invalid"))
        title = _line(item.get("title")) or ""
        description = _text(_get(item, ("description", "summary"))) or " ".join(claim.text for claim in claims)
        if not (title or description):
            return None
        return Section(title or _first_words(description), description[:_MAX_TEXT] or title, claims, roles)


def _relation(item: Any) -> RelationDraft | None:
    if not isinstance(item, dict):
        return None
    item = _folded(item)
    source = _name(_get(item, ("source", "subject", "from", "head")))
    target = _name(_get(item, ("target", "object", "to", "tail")))
    predicate = _line(_get(item, ("predicate", "relation", "type", "label")))
    sentence = _text(_get(item, ("sentence", "text", "description", "evidence")))
    if not (source and target and (predicate or sentence)):
        return None
    text = sentence or f"{source} {predicate} {target}"
    return RelationDraft(source, target, predicate or "", text, confidence(item.get("confidence")))


def _claim(item: Any) -> Claim | None:
    item = _folded(item) if isinstance(item, dict) else {"text": item}
    text = _text(_get(item, ("text", "point", "claim", "content")))
    if text is None:
        return None
    about = (_name(one) for one in _items(_get(item, ("about", "entities"))))
    times = (_line(one) for one in _items(_get(item, ("times", "time"))))
    return Claim(
        text,
        tuple(dict.fromkeys(one for one in about if one)),
        tuple(dict.fromkeys(one for one in times if one)),
    )


def _role(item: Any) -> tuple[str, str] | None:
    if not isinstance(item, dict):
        return None
    item = _folded(item)
    entity, role = _name(_get(item, ("entity", "name"))), _text(item.get("role"))
    return (entity, role) if entity and role else None


# ---------------------------------------------------------------------------------------- values

_SPACE = re.compile(r"\s+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_PRONOUN_LIST = """
    i me my you your he him his she her it its we us our they them their this that these those who which someone
    我 你 您 他 她 它 我们 你们 他们 她们 它们 咱们 大家 自己 这 那 这个 那个 这些 那些 此 其 该 本人 某人"""
_PRONOUNS: Final = frozenset(_PRONOUN_LIST.split())
# What models write for "nothing", where the schema wants a string.
_NOTHING: Final = frozenset(("null", "none", "n/a", "undefined", "unknown", "无", "未知"))
_NUMBER = re.compile(r"[-+]?\d*\.?\d+")
_GRADES: Final = {"high": 0.9, "高": 0.9, "medium": 0.6, "中": 0.6, "low": 0.3, "低": 0.3}
_TYPES_LIST: Final = {
    "person": "people human character individual 人 人物 人名 角色",
    "place": "location city country region geo gpe loc area 地点 地名 地方 位置 城市 国家 地区",
    "organization": "organisation org company institution team group agency 组织 机构 公司 团队 企业 学校",
    "event": "activity meeting incident 事件 活动 会议",
    "work": "book article paper film movie song artwork publication 作品 书 书籍 文章 论文 电影 歌曲",
    "product": "software tool technology device service brand library 产品 软件 工具 技术 设备 品牌",
    "concept": "idea topic theory method term field 概念 主题 理论 方法 术语 领域",
}
_TYPE_NAMES: Final[Mapping[str, EntityType]] = {t: t for t in ENTITY_TYPES} | {
    word: t for t in ENTITY_TYPES for word in _TYPES_LIST.get(t, "").split()
}


def entity_type(value: Any) -> EntityType:
    """The type that a model's word for it means; "other" where there is none."""
    return _TYPE_NAMES.get(fold(value).strip(), "other") if isinstance(value, str) else "other"


def confidence(value: Any) -> float:
    """0…1 from a number, a number as a string, a percentage, or a word."""
    number: float | None = None
    if isinstance(value, str):
        found = _NUMBER.search(value)
        number = float(found.group()) if found else _GRADES.get(value.strip().lower())
        if found and "%" in value:
            number = float(found.group()) / 100
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = None
    if number is None or not math.isfinite(number):
        return DEFAULT_CONFIDENCE
    if 1 < number <= 10 and number == int(number):
        number /= 10
    elif 10 < number <= 100:
        number /= 100
    return min(1.0, max(0.0, number))


def _items(value: Any) -> Sequence[Any]:
    if value is None or value == "":
        return ()
    return value if isinstance(value, list) else (value,)


def _text(value: Any) -> str | None:
    """A statement or description: cleaned, on one line, bounded; None where nothing is said."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = json.dumps(value)
    if not isinstance(value, str):
        return None
    text = _SPACE.sub(" ", _CONTROL.sub(" ", clean(value))).strip()
    return text[:_MAX_TEXT] if text and text.lower() not in _NOTHING else None


def _line(value: Any) -> str | None:
    text = _text(value)
    return text[:_MAX_NAME].rstrip() if text else None


def _name(value: Any) -> str | None:
    """What can name something: not a pronoun, not a sentence, not punctuation."""
    text = _text(value)
    if text is None or len(text) > _MAX_NAME or _is_pronoun(text):
        return None
    return text if any(ch.isalnum() for ch in name_key(text)) else None


def _is_pronoun(text: str) -> bool:
    """US, IT and WHO are names."""
    return text.lower() in _PRONOUNS and (len(text) == 1 or not text.isupper())


def _first_words(text: str) -> str:
    return text if len(text) <= 60 else text[:59].rstrip() + "…"
