"""Builds the int8 ONNX graph of multilingual-e5-small from its 4-bit weights, without torch.

One text per run: `ids` int64 (tokens) in, `vector` float32 (hidden) of unit norm out. Knows nothing of
files, tokenisation or threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from app.providers.embedding.e5_bin import BLOCK, E5Bin

_OPSET: Final = 20
_IR_VERSION: Final = 9
_MICROSOFT: Final = "com.microsoft"
# Seven bits: on processors without VNNI the sum of two u8 x s8 products must fit into 16 bits.
_REDUCED_RANGE: Final = 63


@dataclass
class _Graph:
    """Nodes and constants in the order of their creation."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def raw(self, name: str, kind: int, shape: tuple[int, ...], data: bytes) -> str:
        self.constants.append(helper.make_tensor(name, kind, shape, data, raw=True))
        return name

    def node(self, op: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes))
        return output


def build(source: E5Bin) -> onnx.ModelProto:
    """The whole graph; about 82 MB when serialised."""
    graph = _Graph()
    axes = graph.constant("batch_axis", np.array([0], np.int64))
    rows = graph.node("Unsqueeze", ["ids", axes], "rows")
    x = _embed(graph, source, rows)
    for layer in range(source.layers):
        x = _layer(graph, source, x, layer)
    mean = graph.node("ReduceMean", [x, graph.constant("token_axis", np.array([1], np.int64))], "mean", keepdims=0)
    flat = graph.node("Squeeze", [mean, axes], "flat")
    graph.node("LpNormalization", [flat], "vector", axis=0, p=2)
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [source.hidden])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)],
        ir_version=_IR_VERSION,
        producer_name="mindcone",
    )


def _embed(graph: _Graph, source: E5Bin, rows: str) -> str:
    values, scales = source.q4("emb.word", source.hidden)
    nibbles = values.view(np.uint8) & 0x0F
    packed = nibbles[:, 0::2] | (nibbles[:, 1::2] << 4)
    words = graph.node(
        "GatherBlockQuantized",
        [
            graph.raw("words", TensorProto.INT4, values.shape, packed.tobytes()),
            rows,
            graph.constant("word_scales", scales),
        ],
        "word",
        _MICROSOFT,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
    )
    # Every token is of type 0, so that its vector is part of the position's.
    places = source.floats("emb.pos").reshape(-1, source.hidden) + source.floats("emb.type")[: source.hidden]
    length = graph.node("Shape", ["ids"], "length")
    place = graph.node(
        "Slice",
        [graph.constant("positions", places), graph.constant("first", np.array([0], np.int64)), length],
        "position",
    )
    total = graph.node("Add", [words, place], "embedded")
    weight = graph.constant("embedding.ln.w", source.floats("emb.ln.w"))
    bias = graph.constant("embedding.ln.b", source.floats("emb.ln.b"))
    return graph.node("LayerNormalization", [total, weight, bias], "hidden", axis=-1, epsilon=source.epsilon)


def _layer(graph: _Graph, source: E5Bin, x: str, layer: int) -> str:
    at = f"l{layer}."
    h = source.hidden
    qkv = _int8(
        graph,
        x,
        np.concatenate([source.matrix(f"{at}{part}.w", h) for part in "qkv"]),
        np.concatenate([source.floats(f"{at}{part}.b") for part in "qkv"]),
        f"{at}qkv",
    )
    parts = [f"{at}{part}" for part in "qkv"]
    graph.nodes.append(helper.make_node("Split", [qkv], parts, name=f"{at}split", axis=-1, num_outputs=3))
    heard = graph.node("MultiHeadAttention", parts, f"{at}attention", _MICROSOFT, num_heads=source.heads)
    out = _int8(graph, heard, source.matrix(f"{at}ao.w", h), source.floats(f"{at}ao.b"), f"{at}ao")
    x = _add_and_normalise(graph, source, x, out, f"{at}aln")
    wide = _int8(graph, x, source.matrix(f"{at}fi.w", h), source.floats(f"{at}fi.b"), f"{at}fi")
    wide = graph.node("Gelu", [wide], f"{at}gelu", _MICROSOFT)
    out = _int8(graph, wide, source.matrix(f"{at}fo.w", source.feed_forward), source.floats(f"{at}fo.b"), f"{at}fo")
    return _add_and_normalise(graph, source, x, out, f"{at}oln")


def _int8(graph: _Graph, x: str, weight: npt.NDArray[np.float32], bias: npt.NDArray[np.float32], name: str) -> str:
    """x · weightᵀ + bias with int8 weights, one scale per output; x is quantised as it comes."""
    scale = np.maximum(np.abs(weight).max(axis=1), 1e-12) / _REDUCED_RANGE
    quantised = np.rint(weight / scale[:, None]).astype(np.int8)
    return graph.node(
        "DynamicQuantizeMatMul",
        [
            x,
            graph.constant(f"{name}.w", quantised.T),
            graph.constant(f"{name}.s", scale.astype(np.float32)),
            graph.constant(f"{name}.z", np.zeros(len(scale), np.int8)),
            graph.constant(f"{name}.b", bias),
        ],
        name,
        _MICROSOFT,
    )


def _add_and_normalise(graph: _Graph, source: E5Bin, x: str, y: str, name: str) -> str:
    weight = graph.constant(f"{name}.w", source.floats(f"{name}.w"))
    bias = graph.constant(f"{name}.b", source.floats(f"{name}.b"))
    return graph.node("SkipLayerNormalization", [x, y, weight, bias], f"{name}.out", _MICROSOFT, epsilon=source.epsilon)
