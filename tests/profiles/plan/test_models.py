"""The planner's models are those that were published."""

import pytest

from flashscope.profiles.plan.models import MODELS, find_model, read_context

# Hidden width, width of the gated feed-forward part and vocabulary of each config.json.
CONFIGS = {
    "Llama-2-7B": (4096, 11008, 32000),
    "Llama-3-8B": (4096, 14336, 128256),
    "Llama-3-70B": (8192, 28672, 128256),
    "Mistral-7B": (4096, 14336, 32000),
    "Qwen3-8B": (4096, 12288, 151936),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_parameters_are_what_the_published_configuration_adds_up_to(name: str) -> None:
    model, (width, inner, words) = find_model(name), CONFIGS[name]
    q, kv = model.heads * model.head_dim, (model.kv_heads or model.heads) * model.head_dim
    layer = 2 * width * q + 2 * width * kv + 3 * width * inner
    assert 2 * words * width + model.layers * layer == pytest.approx(model.parameters * 1e9, rel=1e-3)


def test_parameters_of_gpt_3_are_what_its_table_adds_up_to() -> None:
    model = find_model("GPT-3-175B")
    width = model.heads * model.head_dim
    # Table 2.1, and the vocabulary and positions of GPT-2, which it shares.
    assert (50257 + 2048) * width + model.layers * 12 * width**2 == pytest.approx(174.6e9, rel=1e-3)
    assert model.parameters == 174.6


def test_the_latent_cache_of_deepseek_is_71_times_smaller_than_its_heads_keys_and_values() -> None:
    """DeepSeek-AI 2024: 512 latent elements and a rotary key of 64, for 128 heads of 192 and 128."""
    model = find_model("deepseek-v3")
    assert model.latent == 512 + 64
    assert model.heads * (192 + 128) / model.latent == pytest.approx(71.1, abs=0.05)


def test_an_unknown_model_is_answered_with_the_nearest_or_with_all() -> None:
    with pytest.raises(ValueError, match="did you mean Llama-3-8B"):
        find_model("llama3-8b")
    with pytest.raises(ValueError, match=", ".join(model.name for model in MODELS)):
        find_model("x")


@pytest.mark.parametrize(("text", "tokens"), [("8192", 8192), ("32k", 32768), ("1", 1)])
def test_a_context_is_written_as_sequence_lengths_are(text: str, tokens: int) -> None:
    assert read_context(text) == tokens


@pytest.mark.parametrize("text", ["", "0", "1k:4k", "many", "1,2", "99999999999"])
def test_what_is_no_single_context_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_context(text)


def test_every_published_model_says_what_context_it_is_made_for() -> None:
    own = {model.name: model.own_context for model in MODELS}
    assert own["Llama-3-8B"] == 8192
    assert all(context and context >= 2048 for context in own.values())
