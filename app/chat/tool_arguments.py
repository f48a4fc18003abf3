"""What a model wrote as a tool's arguments: strict JSON that matches the schema, or a refusal that it can read. Pure.

Knows the part of JSON schema that tools are described with; what it does not know it lets through: the tool decides.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

MAX_CHARS: Final = 65_536
_SHOWN: Final = 5

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
    ),
}


class BadArguments(ValueError):
    """The arguments cannot be used; the text says why, to the model."""


def read_arguments(raw: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the schema wants them. Nothing at all is an empty object. Raises BadArguments."""
    if len(raw) > MAX_CHARS:
        raise BadArguments(f"The arguments are longer than {MAX_CHARS} characters.")
    try:
        value = json.loads(raw, parse_constant=_no_number) if raw.strip() else {}
    except (ValueError, RecursionError) as error:
        raise BadArguments(f"The arguments are not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadArguments("The arguments must be one JSON object.")
    wrong = faults(value, schema)
    if wrong:
        raise BadArguments("The arguments do not match the schema: " + "; ".join(wrong[:_SHOWN]))
    return value


def canonical(arguments: Mapping[str, Any]) -> str:
    """The same text for the same arguments, in whichever order they were written."""
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)


def faults(value: Any, schema: Mapping[str, Any], at: str = "") -> list[str]:
    """What does not match, in words."""
    where = at or "arguments"
    kinds = schema.get("type")
    wanted = [kinds] if isinstance(kinds, str) else list(kinds or ())
    if wanted and not any(_TYPES[kind](value) for kind in wanted if kind in _TYPES):
        return [f"{where} must be {' or '.join(wanted)}"]
    if "enum" in schema and not any(value == one and type(value) is type(one) for one in schema["enum"]):
        return [f"{where} must be one of {json.dumps(schema['enum'], ensure_ascii=False)}"]
    if isinstance(value, str):
        return _sizes(where, len(value), schema, ("minLength", "maxLength"), " characters long")
    if isinstance(value, list):
        return [
            *_sizes(where, len(value), schema, ("minItems", "maxItems"), " items long"),
            *(one for n, item in enumerate(value) for one in faults(item, schema.get("items", {}), f"{where}[{n}]")),
        ]
    if isinstance(value, dict):
        return _object_faults(value, schema, at)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _sizes(where, value, schema, ("minimum", "maximum"), "")
    return []


def _object_faults(value: Mapping[str, Any], schema: Mapping[str, Any], at: str) -> list[str]:
    known: Mapping[str, Any] = schema.get("properties", {})
    found = [f"{_path(at, name)} is missing" for name in _names(schema.get("required")) if name not in value]
    if schema.get("additionalProperties") is False:
        found += [f"there is no {_path(at, name)[:80]}" for name in value if name not in known]
    for name, one in value.items():
        if name in known:
            found += faults(one, known[name], _path(at, name))
    return found


def _names(required: Sequence[str] | None) -> Sequence[str]:
    return required or ()


def _path(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _sizes(where: str, size: float, schema: Mapping[str, Any], names: tuple[str, str], unit: str) -> list[str]:
    least, most = schema.get(names[0], -math.inf), schema.get(names[1], math.inf)
    if size < least:
        return [f"{where} must be at least {least}{unit}"]
    return [f"{where} must be at most {most}{unit}"] if size > most else []


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
