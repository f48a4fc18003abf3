"""The embedders behind the `Embedder` port, and the one place that chooses between them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from app.core.errors import ConfigurationError
from app.providers.embedding.query_cache import QueryCache
from app.providers.ports import Embedder
from app.providers.settings import EmbedderSettings

_EMBEDDER_VARIABLE: Final = re.compile(r"MINDCONE_EMBEDDER(?!_NEXT)")

MAX_DIMENSION: Final = 4000
"""pgvector indexes halfvec up to here; a longer vector could be stored but not searched."""


def build(settings: EmbedderSettings, data_dir: Path) -> Embedder:
    """The embedder that `settings` names, not opened yet. Raises ConfigurationError."""
    if settings.embedder_dimension is not None and settings.embedder_dimension > MAX_DIMENSION:
        raise ConfigurationError(
            f"MINDCONE_EMBEDDER_DIMENSION is {settings.embedder_dimension}; vectors of more than "
            f"{MAX_DIMENSION} dimensions cannot be indexed. Choose a model, or a shorter output, within that."
        )
    embedder = _build(settings, data_dir)
    return QueryCache(embedder, settings.embedder_query_cache) if settings.embedder_query_cache else embedder


def build_next(settings: EmbedderSettings, data_dir: Path) -> Embedder | None:
    """The embedder that the vectors are to move to, not opened yet. Raises ConfigurationError."""
    following = settings.of_next()
    if following is None:
        return None
    try:
        return build(following, data_dir)
    except ConfigurationError as error:
        # It was built from settings of its own, under other names.
        raise ConfigurationError(_EMBEDDER_VARIABLE.sub("MINDCONE_EMBEDDER_NEXT", error.detail)) from error


def _build(settings: EmbedderSettings, data_dir: Path) -> Embedder:
    if settings.embedder != "bge-m3" and settings.embedder_device != "cpu":
        raise _ineffective(settings, "embedder_device")
    if settings.embedder == "openai":
        from app.providers.embedding.openai_embeddings import OpenAIEmbeddings

        return OpenAIEmbeddings(settings)
    _refuse(settings, "embedder_base_url", "embedder_api_key", "embedder_send_dimension")
    if settings.embedder == "bge-m3":
        from app.providers.embedding.bge_m3 import BgeM3

        return BgeM3(settings)
    _refuse(settings, "embedder_query_prefix", "embedder_passage_prefix")
    from app.providers.embedding import e5

    if settings.embedder_model not in (None, e5.MODEL):
        raise ConfigurationError(
            f"MINDCONE_EMBEDDER=embedded has one model, {e5.MODEL}; remove MINDCONE_EMBEDDER_MODEL or choose "
            "another embedder."
        )
    if settings.embedder_dimension not in (None, e5.DIMENSION):
        raise ConfigurationError(
            f"The embedded model has {e5.DIMENSION} dimensions; remove MINDCONE_EMBEDDER_DIMENSION."
        )
    return e5.E5Embedder(data_dir, settings.embedder_threads)


def _refuse(settings: EmbedderSettings, *names: str) -> None:
    for name in names:
        if getattr(settings, name):
            raise _ineffective(settings, name)


def _ineffective(settings: EmbedderSettings, name: str) -> ConfigurationError:
    """A setting that would have no effect is a mistake, and better said than ignored."""
    return ConfigurationError(f"MINDCONE_{name.upper()} has no effect with MINDCONE_EMBEDDER={settings.embedder}.")
