"""Small models of Transformers with random weights, and what they answer with an attention implementation.

To be imported where Transformers and PyTorch are there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import transformers as t

PLAIN = {"causal": False, "scale": None, "window": None, "block_mask": None}
VOCABULARY, TOKENS = 128, 70
TEXT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
}
GROUPED = {**TEXT, "num_key_value_heads": 2}
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
DROPS_NOTHING = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}


def _llama() -> Any:
    return t.LlamaForCausalLM(t.LlamaConfig(**GROUPED))


def _mistral() -> Any:
    return t.MistralForCausalLM(t.MistralConfig(**GROUPED, sliding_window=16))


def _qwen3() -> Any:
    return t.Qwen3ForCausalLM(t.Qwen3Config(**GROUPED, head_dim=32))


def _gpt2() -> Any:
    sizes = {"vocab_size": VOCABULARY, "n_positions": 256, "n_embd": 64, "n_layer": 2, "n_head": 4}
    return t.GPT2LMHeadModel(t.GPT2Config(**sizes, **ENDS, **DROPS_NOTHING))


def _bert() -> Any:
    drops_nothing = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
    return t.BertForMaskedLM(t.BertConfig(**TEXT, **drops_nothing))


def _vit() -> Any:
    sizes = {key: TEXT[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers")}
    return t.ViTForImageClassification(
        t.ViTConfig(**sizes, num_attention_heads=4, image_size=48, patch_size=8, num_labels=7)
    )


def _gemma2() -> Any:
    """Scores of a softcap so low that it bends them, and a window in every other layer."""
    soft = {"attn_logit_softcapping": 0.1, "query_pre_attn_scalar": 16}
    return t.Gemma2ForCausalLM(t.Gemma2Config(**GROUPED, **soft, head_dim=32, sliding_window=16))


def _gpt_oss() -> Any:
    """Sinks, of which some outweigh all keys and some weigh nothing, and a window in every other layer."""
    few = {"num_local_experts": 4, "num_experts_per_tok": 2}
    model = t.GptOssForCausalLM(t.GptOssConfig(**GROUPED, **few, head_dim=32, sliding_window=16))
    for layer in model.model.layers:
        torch.nn.init.uniform_(layer.self_attn.sinks, -2, 6)
    return model


def _deepseek() -> Any:
    """Q and K of 32 beside V of 16."""
    low_rank = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 16, "qk_nope_head_dim": 16}
    dense = {"n_routed_experts": 2, "first_k_dense_replace": 2}
    sizes = {**TEXT, "num_key_value_heads": 4}
    return t.DeepseekV3ForCausalLM(t.DeepseekV3Config(**sizes, **low_rank, **dense, v_head_dim=16))


MODELS = {
    "llama": _llama,
    "mistral": _mistral,
    "qwen3": _qwen3,
    "gpt2": _gpt2,
    "bert": _bert,
    "vit": _vit,
    "gemma2": _gemma2,
    "gpt-oss": _gpt_oss,
    "deepseek-v3": _deepseek,
}


def of_name(name: str) -> Any:
    """One of `MODELS`, its weights the same every time; it is ready to train."""
    torch.manual_seed(0)
    return MODELS[name]().train()


def with_sharp_rows() -> Any:
    """A Llama that is ready to train, of weights so large that rows of P are uneven at once."""
    torch.manual_seed(0)
    return t.LlamaForCausalLM(t.LlamaConfig(**GROUPED, initializer_range=0.1)).train()


def for_tensor_cores(device: str = "cuda", seed: int = 0) -> Any:
    """A Llama in bfloat16 that is ready to train, whose heads are 64 wide, which flash3 takes."""
    torch.manual_seed(seed)
    wide = {**GROUPED, "hidden_size": 256, "intermediate_size": 512, "initializer_range": 0.05}
    return t.LlamaForCausalLM(t.LlamaConfig(**wide)).to(device, torch.bfloat16).train()


def inputs_for(name: str, *, batch: int = 2) -> dict[str, Any]:
    """Random tokens (batch, TOKENS), or pictures."""
    torch.manual_seed(1)
    if name == "vit":
        return {"pixel_values": torch.randn(batch, 3, 48, 48)}
    return {"input_ids": torch.randint(3, VOCABULARY, (batch, TOKENS))}


class Answer(NamedTuple):
    """Logits, and gradients of a loss by the names of the parameters."""

    logits: Any
    gradients: Mapping[str, Any]


def answer(model: Any, implementation: str, inputs: Mapping[str, Any], real: Any = None) -> Answer:
    """Run a model with an implementation, forward and backward.

    Args:
        model: One that trains.
        implementation: As Transformers calls it.
        inputs: What the model is called with.
        real: Bool (batch, tokens): the tokens that enter the loss; None: all.
    """
    model.set_attn_implementation(implementation)
    model.zero_grad()
    logits = model(**inputs).logits
    taken = logits if real is None else logits[real]
    taken.log_softmax(-1)[..., 3].sum().backward()
    gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    return Answer(taken.detach(), gradients)


def difference(found: Answer, right: Answer) -> float:
    """The largest difference of logits and gradients, each over the largest number of its tensor.

    A bias of K moves all scores of a row alike: its gradient is 0 but for rounding, and is held against the
    largest of all gradients.
    """
    assert found.gradients.keys() == right.gradients.keys()
    largest = max(float(gradient.abs().max()) for gradient in right.gradients.values())
    shares = [float((found.logits - right.logits).abs().max() / right.logits.abs().max())]
    for name, gradient in right.gradients.items():
        is_key_bias = name.endswith(("key.bias", "k_proj.bias"))
        scale = largest if is_key_bias else float(gradient.abs().max())
        shares.append(float((found.gradients[name] - gradient).abs().max()) / scale)
    return max(shares)


@contextmanager
def in_evaluation(model: Any) -> Iterator[None]:
    """A model that answers and does not train."""
    model.eval()
    with torch.no_grad():
        yield
    model.train()


def continued(model: Any, implementation: str, tokens: Any, cache: str | None) -> list[list[int]]:
    """The tokens that a model adds, the likeliest each time.

    Args:
        model: One that generates.
        implementation: As Transformers calls it.
        tokens: The prompts.
        cache: The kind of K/V cache, as `generate` calls it; None: the one that grows.
    """
    model.set_attn_implementation(implementation)
    with in_evaluation(model):
        found = model.generate(
            tokens,
            max_new_tokens=12,
            do_sample=False,
            cache_implementation=cache,
            pad_token_id=0,
            eos_token_id=None,
            disable_compile=True,
        )
    return found[:, tokens.shape[1] :].tolist()  # type: ignore[no-any-return]
