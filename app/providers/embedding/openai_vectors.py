"""Reads the reply of an OpenAI-compatible `/embeddings` endpoint, believing nothing in it. Pure."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from app.providers.ports import DimensionMismatch, ProviderGarbled, Vector
from app.providers.transport import upstream_code


def parse(body: bytes, count: int, dimension: int) -> Vector:
    """Vectors of unit norm in the order of the texts, shape (count, dimension).

    Raises DimensionMismatch when a vector has another length, ProviderGarbled for everything else: too
    few vectors, none, null, an index twice, numbers that are none.
    """
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProviderGarbled("The embedding server's answer is not JSON.") from error
    items = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(items, list):
        code = upstream_code(body)
        raise ProviderGarbled(f"The embedding server's answer has no vectors{f' ({code})' if code else ''}.")
    if len(items) != count:
        raise ProviderGarbled(f"The embedding server gave {len(items)} vectors for {count} texts.")
    vectors = np.zeros((count, dimension), np.float32)
    seen: set[int] = set()
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            raise ProviderGarbled("The embedding server's answer has a vector that is none.")
        at = item.get("index", position)
        if type(at) is not int or not 0 <= at < count or at in seen:
            raise ProviderGarbled("The embedding server's answer does not say which vector belongs to which text.")
        seen.add(at)
        vectors[at] = _unit(item.get("embedding"), dimension)
    return vectors


def _unit(values: Any, dimension: int) -> Vector:
    if values is None:
        raise ProviderGarbled("The embedding server gave null instead of a vector.")
    if not isinstance(values, list) or not all(isinstance(value, int | float) for value in values):
        raise ProviderGarbled("The embedding server gave a vector that does not consist of numbers.")
    if len(values) != dimension:
        raise DimensionMismatch(
            f"The embedding server gives vectors of {len(values)} dimensions; configured are {dimension}.",
            expected=dimension,
            got=len(values),
        )
    try:
        vector = np.array(values, np.float64)
    except OverflowError as error:
        raise ProviderGarbled("The embedding server gave a vector with a number beyond all bounds.") from error
    largest = np.abs(vector).max()
    if not np.isfinite(largest) or largest == 0:
        raise ProviderGarbled("The embedding server gave a vector without a direction.")
    vector /= largest  # so that squares neither overflow nor vanish
    unit: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit
