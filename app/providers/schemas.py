"""One JSON schema in the words of each provider, and as a rule in the prompt where none is understood.

Pure. What a provider does not know is left out, never guessed: whoever asked checks the answer anyway.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

_MAX_DEPTH: Final = 12
_SIZES: Final = frozenset(("minItems", "maxItems", "minLength", "maxLength"))
_KEPT_BY_GEMINI: Final = _SIZES | {"title", "description", "minimum", "maximum"}
# Limits that enforced schemas do not know, or know on some models only.
_LIMITS: Final = (
    _SIZES
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minProperties", "maxProperties"}
    | {"uniqueItems", "pattern", "format", "default", "$schema"}
)


def schema_rule(schema: Mapping[str, Any]) -> str:
    """The schema as an instruction. Holds the word JSON, without which some providers refuse their JSON mode."""
    rule = "Answer with one JSON object and nothing else. It follows this JSON schema:\n"
    return rule + json.dumps(schema, ensure_ascii=False)


def enforceable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without limits and with every object closed, as enforced decoding wants it."""
    return {key: _closed(key, value) for key, value in _with_closed_object(schema).items() if key not in _LIMITS}


def is_strict(schema: Any) -> bool:
    """Whether every object of the schema is closed and requires all its properties: then OpenAI enforces it."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
                return False
            return all(map(is_strict, properties.values())) and is_strict(schema.get("$defs", {}))
        if schema.get("type") == "object" or _LIMITS & schema.keys():
            return False
        return all(map(is_strict, schema.values()))
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return all(map(is_strict, schema))
    return True


def for_gemini(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as Gemini's `Schema` object: references resolved, types in capitals, unknown words left out."""
    return _gemini(schema, schema.get("$defs") or schema.get("definitions") or {}, 0)


def _with_closed_object(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    is_object = schema.get("type") == "object" or "properties" in schema
    return {**schema, "additionalProperties": False} if is_object else schema


def _closed(key: str, value: Any) -> Any:
    if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):  # names, not words of the schema
        return {name: enforceable(part) if isinstance(part, Mapping) else part for name, part in value.items()}
    if key in ("enum", "const", "required", "examples"):
        return value
    if isinstance(value, Mapping):
        return enforceable(value)
    if isinstance(value, list | tuple):
        return [enforceable(part) if isinstance(part, Mapping) else part for part in value]
    return value


def _gemini(schema: Mapping[str, Any], named: Mapping[str, Any], depth: int) -> dict[str, Any]:
    schema = _resolved(schema, named)
    if depth > _MAX_DEPTH:  # it refers to itself
        return {"type": "STRING"}
    said: dict[str, Any] = {key: schema[key] for key in _KEPT_BY_GEMINI if key in schema}
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds or ())
    choices = schema.get("anyOf") or schema.get("oneOf") or ()
    real = [choice for choice in choices if _resolved(choice, named).get("type") != "null"]
    if "null" in kinds or len(real) < len(choices):
        said["nullable"] = True
    kinds = [kind for kind in kinds if kind != "null"]
    if len(real) == 1:
        return _gemini(real[0], named, depth + 1) | said
    if real or len(kinds) > 1:
        said["anyOf"] = [_gemini(choice, named, depth + 1) for choice in real or [{"type": kind} for kind in kinds]]
        return said
    said["type"] = (kinds[0] if kinds else _kind_of(schema)).upper()
    values = schema.get("enum", [schema["const"]] if "const" in schema else ())
    if values and all(isinstance(value, str) for value in values):  # it knows no others
        said["enum"] = list(values)
    if said["type"] == "ARRAY":
        items = schema.get("items")
        said["items"] = _gemini(items, named, depth + 1) if isinstance(items, Mapping) else {"type": "STRING"}
    if said["type"] == "OBJECT" and schema.get("properties"):
        said["properties"] = {
            name: _gemini(part, named, depth + 1) for name, part in schema["properties"].items() if part is not False
        }
        if schema.get("required"):
            said["required"] = [name for name in schema["required"] if name in said["properties"]]
    return said


def _resolved(schema: Any, named: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a reference means; `True` and the like mean anything."""
    seen = 0
    while isinstance(schema, Mapping) and "$ref" in schema and seen < _MAX_DEPTH:
        own = {key: value for key, value in schema.items() if key != "$ref"}
        target = named.get(str(schema["$ref"]).rpartition("/")[2])
        schema = {**target, **own} if isinstance(target, Mapping) else own
        seen += 1
    if isinstance(schema, Mapping) and len(schema.get("allOf") or ()) == 1:
        return {**_resolved(schema["allOf"][0], named), **schema}
    return schema if isinstance(schema, Mapping) else {}


def _kind_of(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        return "object"
    if "items" in schema:
        return "array"
    values = schema.get("enum", [schema.get("const")])
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    return "integer" if all(isinstance(value, int) for value in values) else "string"
