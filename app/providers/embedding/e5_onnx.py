"""multilingual-e5-small on onnxruntime: one session, one text per run, one thread per call.

One text per run because the scales of dynamic int8 span everything in a run: in a batch the vector of a
text would depend on its neighbours. The only file that imports onnxruntime.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime

from app.providers.embedding import e5_bin
from app.providers.embedding.e5_text import E5Tokenizer, Normaliser
from app.providers.ports import Vector

GRAPH_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
VERSION: Final = str(onnxruntime.__version__)
_QUERY, _PASSAGE = "query: ", "passage: "


class E5Onnx:
    """Blocking; safe to call from several threads, which is how it uses several processors."""

    def __init__(self, directory: Path, source: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(directory / GRAPH_FILE), options, providers=["CPUExecutionProvider"]
        )
        normalise = Normaliser(e5_bin.read(source, vocabulary=False).charmap)
        self._tokenizer = E5Tokenizer(directory / TOKENIZER_FILE, normalise)

    def count_tokens(self, text: str) -> int:
        return len(self._tokenizer.content(text))

    def embed(self, text: str, is_query: bool) -> tuple[Vector, bool]:
        """The vector of unit norm, and whether the text was longer than the window."""
        ids, cut = self._tokenizer.window((_QUERY if is_query else _PASSAGE) + text)
        vector: Vector = self._session.run(["vector"], {"ids": ids})[0]
        return np.asarray(vector, dtype=np.float32), cut

    def prepare_thread(self) -> None:
        """Nothing to do: the session's own options keep each call on its caller's thread."""
