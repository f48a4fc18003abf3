"""From what models write to JSON: every rung, what is above it, and what no rung can hold."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ingestion.extract.llm_shapes import (
    DEFAULT_CONFIDENCE,
    SCHEMA,
    Claim,
    Focus,
    Section,
    as_json,
    confidence,
    entity_type,
    is_answer,
    read_answer,
    validate,
)
from app.ingestion.extract.types import ENTITY_TYPES, EntityDraft, RelationDraft
from app.providers.ladder import NotJson, Parsed, ascii_structure, climb

ZHANG = {"entities": [{"name": "张三", "type": "person"}]}


def parse(text: str) -> Parsed:
    return climb(text, is_answer)


# ----------------------------------------------------------------------------------------- rungs

GOOD = '{"entities": [{"name": "张三", "type": "person"}]}'


@pytest.mark.parametrize(
    ("text", "rung"),
    [
        (GOOD, "strict"),
        ("\ufeff\n " + GOOD + " \n", "strict"),
        (GOOD.replace("张三", "张\\u4e09"), "strict"),
        ('<think>Maybe {"entities": [{"name": "李四"}]}?</think>\n' + GOOD, "strict"),
        (f"```json\n{GOOD}\n```", "fence"),
        (f"Here is the output in JSON format:```{GOOD}```", "fence"),
        (f"好的，结果如下：\n```JSON\n{GOOD}\n```\n希望对你有帮助！", "fence"),
        (f"Sure! {GOOD}", "braces"),
        (f"{GOOD}\nLet me know if you need anything else {{smile}} :)", "braces"),
        (f"The note has {{x}} and [1] in it, so: {GOOD}. Done.", "braces"),
        (f"```json\n{GOOD}", "braces"),
        (f"First try: ```{GOOD[:-3]}``` and now right: ```{GOOD}```", "fence"),
        ("｛“entities”：［｛“name”：“张三”，“type”：“person”｝］｝", "punctuation"),
        ('｛"entities"：[｛"name"："张三"，"type"："person"｝]｝', "punctuation"),
        ("结果：｛“entities”：［｛“name”：“张三”，“type”：“person”｝］｝，完毕。", "punctuation"),
        ("｛「entities」：【｛「name」：「张三」、「type」：「person」｝】｝", "punctuation"),
        ('{“entities“: [{“name“: “张三“, "type”: "person"}]}', "punctuation"),
        ('{"entities": [{"name": "张三", "type": "person",},],}', "repair"),
        ('{"entities": [{"name": "张三" "type": "person"}]}', "repair"),
        ("{'entities': [{'name': '张三', 'type': 'person'}]}", "repair"),
        ('{entities: [{name: "张三", type: "person"}]} // done', "repair"),
        ("｛“entities”：［｛“name”：“张三”，“type”：“person”，｝］｝", "repair"),
        ('Here you go:\n```json\n{"entities": [{"name": "张三", "type": "person"},]}\n```\nBye', "repair"),
    ],
)
def test_every_rung(text: str, rung: str):
    """G1, G2, G10, B13."""
    assert parse(text) == Parsed(ZHANG, rung)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"entities": [{"name": "Git\nHub\tInc"}]}', "Git Hub Inc"),
        ('{"entities": [{"name": "Git\x01Hub\x1b Inc"}]}', "Git Hub Inc"),
        ('{"entities":\x0b [{"name": "Acme"}]}', "Acme"),
        ('{"entities": [{"name": "A\\u0000c\\ud800me"}]}', "Acme"),
        ('{"entities": [{"name": "\\ud83d\\ude00 Inc"}]}', "😀 Inc"),
    ],
)
def test_control_characters_nul_and_surrogates(text: str, name: str):
    """A13, A7."""
    assert [entity.name for entity in read_answer(text).entities] == [name]


@pytest.mark.parametrize("frame", ["{}", "```json\n{}\n```", "Look:\n```\n{}\n```\nThat was ```json```."])
def test_backticks_inside_survive(frame: str):
    """G5."""
    said = {"entities": [{"name": "make", "description": "Run ```make all``` or ```\nmake {x}\n``` first"}]}
    assert parse(frame.replace("{}", json.dumps(said))).value == said


def test_of_several_objects_the_largest_is_taken():
    draft = {"entities": [{"name": "A"}]}
    final = {"entities": [{"name": "Alice"}, {"name": "Bob"}], "relations": []}
    assert parse(f"Draft: {json.dumps(draft)}\nFinal: {json.dumps(final)}").value == final
    assert parse(f"Final: {json.dumps(final)}\nas {json.dumps(draft)}").value == final


def test_a_piece_of_a_broken_object_is_not_taken_for_the_whole():
    """The list of entities is valid by itself; the relations behind it must not be lost."""
    broken = '{"entities": [{"name": "Alice"}, {"name": "Bob"}], "relations": [{"source": "Alice" "target": "Bob"}]}'
    assert parse(broken) == Parsed(
        {"entities": [{"name": "Alice"}, {"name": "Bob"}], "relations": [{"source": "Alice", "target": "Bob"}]},
        "repair",
    )


def test_an_item_that_looks_like_an_answer_is_not_taken_for_one():
    point = '{"text": "x", "entities": ["Alice"]}'
    broken = f'{{"entities": [{{"name": "Alice"}}, {{"name": "Bob"}}], "facets": [{{"points": [{point} {point}]}}]}}'
    parsed = parse(broken)
    assert parsed.rung == "repair"
    assert parsed.value["entities"] == [{"name": "Alice"}, {"name": "Bob"}]


@pytest.mark.parametrize(
    "text",
    [
        '{"entities": [{"name": "Alice"}, {"name": "Bo',
        '{"entities": [{"name": "Alice"}, {"name": ',
        '{"entities": [{"name": "Alice"},',
        '{"entities": [{"name": "Alice"}]',
        '```json\n{"entities": [{"name": "Alice"}, {"na',
        "｛“entities”：［｛“name”：“Alice”｝，｛“na",
    ],
)
def test_a_truncated_answer_gives_its_beginning_and_says_so(text: str):
    """G2."""
    parsed = parse(text)
    assert parsed.cut
    assert parsed.value["entities"][0] == {"name": "Alice"}
    assert read_answer(text).cut


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        (" \n\x00", "empty"),
        ("null", "no JSON object"),
        ("I am sorry, I cannot do that.", "no JSON object"),
        ("我无法处理（抱歉）。", "no JSON object"),
        ('"entities"', "no JSON object"),
        ('{"answer": "Alice works at Acme"}', "none of the keys"),
        ("[1, 2, 3]", "none of the keys"),
        ("{" * 100_000, "not valid JSON"),
        ('{"a":' * 50_000, "nested too deeply"),
        ("[" * 100_000, ""),
        ('{"entities": "' + "x" * 500_000, "too long"),
    ],
)
def test_what_no_rung_holds(text: str, complaint: str):
    """G4: one kind of error, fast, and its words can be told to the model."""
    began = time.perf_counter()
    with pytest.raises(NotJson) as caught:
        parse(text)
    assert complaint in caught.value.detail
    assert len(caught.value.detail) < 200
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize("text", ["{}", "[]", "```json\n{}\n```", '{"entities": [], "relations": [], "episodes": []}'])
def test_nothing_is_an_answer(text: str):
    assert read_answer(text).is_empty


# ------------------------------------------------------------------------------ full-width marks


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("｛“a”：“他说“好”，然后走了”，“b”：1｝", {"a": "他说“好”，然后走了", "b": 1}),
        ('｛“a”：“他说"好"了”｝', {"a": '他说"好"了'}),
        ('{"a"："时间：三点，地点：［北京］"}', {"a": "时间：三点，地点：［北京］"}),
        ("｛“a”：“x\\“y\\\\”，“b”：true｝", None),
        ("｛“a”：［1，2，3］，“b”：null｝", {"a": [1, 2, 3], "b": None}),
        ("｛＂a＂：＂b＂｝", {"a": "b"}),
    ],
)
def test_full_width_punctuation_is_structure_only_outside_of_strings(text: str, value: object):
    """B13."""
    plain = ascii_structure(text)
    if value is None:
        assert plain.startswith('{"a":"x')
        assert plain.endswith(',"b":true}')
    else:
        assert json.loads(plain) == value


WIDE = str.maketrans("{}[]:,", "｛｝［］：，")
words = st.text(st.sampled_from("张三, :{}［］“好a"), max_size=8).filter(lambda text: "“" not in text)
values = st.recursive(
    words | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def write_wide(value: object) -> str:
    """JSON as an input method for Chinese would write it."""
    if isinstance(value, str):
        return f"“{value}”"
    if isinstance(value, list):
        return "［" + "，".join(map(write_wide, value)) + "］"
    if isinstance(value, dict):
        return "｛" + "，".join(f"“{key}”：{write_wide(inner)}" for key, inner in value.items()) + "｝"
    return json.dumps(value)


@given(st.dictionaries(words, values, max_size=4))
def test_whatever_is_written_full_width_is_read(value: dict[str, object]):
    """B13."""
    assert json.loads(ascii_structure(write_wide(value))) == value


@given(values)
def test_json_itself_is_not_touched(value: object):
    """Strings in ASCII quotation marks end at ASCII quotation marks, whatever else is in them."""
    text = json.dumps(value, ensure_ascii=False)
    assert climb(text, lambda found: found == value).value == value


# ------------------------------------------------------------------------------------ validation


def test_bad_items_are_dropped_and_counted_and_the_good_ones_kept():
    """C7, N16."""
    answer = validate(
        {
            "entities": [
                {"name": "Alice", "type": "Person", "description": None, "aliases": "Al"},
                {"name": ""},
                {"name": None},
                {"type": "person"},
                {"name": ["Bob"]},
                {"name": "she"},
                {"name": "他"},
                {"name": "—"},
                {"name": "x" * 500},
                7.5,
                None,
                "Acme",
                {"Name": "Paris", "TYPE": "city", "aliases": [None, "", "Paris", "Paname", {"a": 1}]},
            ],
            "relations": [
                {"source": "Alice", "target": "Acme", "predicate": "works at", "confidence": "0.9"},
                {"subject": "Alice", "object": "Paris", "relation": "lives in", "text": "Alice lives in Paris."},
                {"source": "Alice", "target": "Acme"},
                {"source": "Alice", "predicate": "works at"},
                ["Alice", "works at", "Acme"],
                "Alice works at Acme",
                None,
            ],
            "episodes": [
                {
                    "title": "Work",
                    "facets": [
                        {"title": "Job", "points": ["Alice works at Acme.", {"text": None}, {"text": 42}, None, []]},
                        {"description": "Only described."},
                        {"points": []},
                        "text",
                    ],
                },
                {"title": "empty"},
                "text",
            ],
        }
    )
    assert answer.entities == (
        EntityDraft("Alice", "person", aliases=("Al",)),
        EntityDraft("7.5"),
        EntityDraft("Acme"),
        EntityDraft("Paris", "place", aliases=("Paname",)),
    )
    assert answer.relations == (
        RelationDraft("Alice", "Acme", "works at", "Alice works at Acme", 0.9),
        RelationDraft("Alice", "Paris", "lives in", "Alice lives in Paris.", DEFAULT_CONFIDENCE),
    )
    assert answer.episodes == (
        Focus(
            "Work",
            (
                Section("Job", "Alice works at Acme. 42", (Claim("Alice works at Acme."), Claim("42"))),
                Section("Only described.", "Only described."),
            ),
        ),
    )
    assert answer.dropped == Counter(
        entity_invalid=9, relation_invalid=5, point_invalid=3, facet_invalid=2, episode_invalid=2
    )


def test_nothing_but_bad_items_is_no_answer():
    with pytest.raises(NotJson):
        validate({"entities": [{"name": ""}], "relations": [{"source": "a"}]})


@pytest.mark.parametrize(
    "value",
    [
        {
            "result": {
                "entities": [{"name": "Alice"}, {"name": "Bob"}],
                "relations": [{"source": "Alice", "target": "Bob", "predicate": "knows"}],
            }
        },
        {"Nodes": {"Alice": {}, "Bob": None}, "Edges": {"from": "Alice", "to": "Bob", "label": "knows"}},
        [{"name": "Alice"}, {"name": "Bob"}, {"source": "Alice", "target": "Bob", "predicate": "knows"}],
        {"entities": ["Alice", "Bob"], "relationships": [{"source": "Alice", "target": "Bob", "type": "knows"}]},
    ],
)
def test_other_forms_that_models_choose(value: object):
    answer = read_answer(json.dumps(value))
    assert [entity.name for entity in answer.entities] == ["Alice", "Bob"]
    assert [(r.source, r.predicate, r.target) for r in answer.relations] == [("Alice", "knows", "Bob")]
    assert not answer.dropped


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (0.75, 0.75),
        ("0.75", 0.75),
        ("75%", 0.75),
        (75, 0.75),
        (7, 0.7),
        (1, 1.0),
        (0, 0.0),
        (-3, 0.0),
        (1e9, 1.0),
        ("high", 0.9),
        ("低", 0.3),
        (None, DEFAULT_CONFIDENCE),
        ("sure", DEFAULT_CONFIDENCE),
        (float("nan"), DEFAULT_CONFIDENCE),
        (float("inf"), DEFAULT_CONFIDENCE),
        (True, DEFAULT_CONFIDENCE),
        (10**400, DEFAULT_CONFIDENCE),
        ([], DEFAULT_CONFIDENCE),
    ],
)
def test_confidence(said: object, read: float):
    assert confidence(said) == read


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("PERSON", "person"),
        ("人物", "person"),
        (" Company ", "organization"),
        ("地点", "place"),
        ("wizardry", "other"),
        (3, "other"),
    ],
)
def test_types(said: object, read: str):
    assert entity_type(said) == read


def test_what_is_stored_reads_back_as_it_was():
    value = {
        "entities": [{"name": "张三", "type": "person", "description": "工程师", "aliases": ["老张"]}],
        "relations": [{"source": "张三", "target": "Acme", "predicate": "就职于", "sentence": "张三在 Acme 工作。"}],
        "episodes": [
            {
                "title": "工作",
                "facets": [
                    {
                        "title": "职位",
                        "description": "张三的职位。",
                        "points": [{"text": "张三去年加入 Acme。", "about": ["张三", "Acme"], "times": ["去年"]}],
                        "roles": [{"entity": "张三", "role": "员工"}],
                    }
                ],
            }
        ],
    }
    answer = validate(value)
    assert validate(json.loads(json.dumps(as_json(answer)))) == answer
    assert answer.episodes[0].sections[0].claims[0].times == ("去年",)


def test_the_schema_is_strict_in_the_sense_of_the_providers_that_enforce_one():
    def check(schema: dict[str, object]) -> int:
        if schema["type"] == "array":
            return check(schema["items"])
        if schema["type"] != "object":
            return 0
        assert schema["required"] == list(schema["properties"])
        assert schema["additionalProperties"] is False
        return 1 + sum(map(check, schema["properties"].values()))

    assert check(dict(SCHEMA)) == 7
    assert SCHEMA["properties"]["entities"]["items"]["properties"]["type"]["enum"] == list(ENTITY_TYPES)
