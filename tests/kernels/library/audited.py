"""Models to audit: configurations small in width and depth and true in shape, and one in plain PyTorch.

To be imported where Transformers and PyTorch are there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as t

WINDOW = 24
TEXT = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 100,
}
SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "vocab_size")


def _deepseek() -> Any:
    """Multi-head latent attention: Q and K of 128 + 64, V of 128."""
    experts = {"n_routed_experts": 4, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2}
    ranks = {"kv_lora_rank": 32, "q_lora_rank": 48}
    sizes = {
        key: TEXT[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers", "vocab_size")
    }
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
    return t.DeepseekV3Config(
        **sizes, **heads, **experts, **ranks, moe_intermediate_size=32, first_k_dense_replace=1
    )


def _whisper() -> Any:
    parts = {
        f"{part}_{name}": size
        for part in ("encoder", "decoder")
        for name, size in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 128))
    }
    ends = {"decoder_start_token_id": 1, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    return t.WhisperConfig(**parts, **ends, d_model=64, vocab_size=100, max_source_positions=60)


def _vit() -> Any:
    sizes = {key: TEXT[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers")}
    return t.ViTConfig(**sizes, num_attention_heads=4, image_size=48, patch_size=8)


CONFIGS: dict[str, Callable[[], Any]] = {
    "llama3": lambda: t.LlamaConfig(**TEXT),
    "mistral": lambda: t.MistralConfig(**TEXT, sliding_window=WINDOW),
    "gemma2": lambda: t.Gemma2Config(**TEXT, sliding_window=WINDOW, query_pre_attn_scalar=16),
    "gemma3": lambda: t.Gemma3TextConfig(
        **{**TEXT, "num_hidden_layers": 6}, sliding_window=WINDOW, query_pre_attn_scalar=16
    ),
    "gpt-oss": lambda: t.GptOssConfig(
        **TEXT, sliding_window=WINDOW, num_local_experts=2, num_experts_per_tok=1
    ),
    "qwen3": lambda: t.Qwen3Config(**TEXT),
    "deepseek-v3": _deepseek,
    "vit": _vit,
    "whisper": _whisper,
    "bert": lambda: t.BertConfig(
        **{key: TEXT[key] for key in SIZES},
        num_attention_heads=4,
    ),
    "t5": lambda: t.T5Config(
        d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, vocab_size=100, decoder_start_token_id=0
    ),
}


def folder_of(name: str, above: Path) -> Path:
    """A folder with the configuration of that name, as a model on disk has it."""
    folder = above / name
    CONFIGS[name]().save_pretrained(folder)
    return folder


class Block(torch.nn.Module):  # type: ignore[misc]  # torch is not analysed
    """A block of a diffusion transformer (Peebles and Xie 2023), modulated by the step of the diffusion."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
        )
        self.modulation = torch.nn.Linear(width, 6 * width)
        self.norm = torch.nn.LayerNorm(width, elementwise_affine=False)

    def forward(self, x: Any, step: Any) -> Any:
        shift, scale, gate, shift2, scale2, gate2 = self.modulation(step)[:, None].chunk(6, -1)
        qkv = self.qkv(self.norm(x) * (1 + scale) + shift).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in qkv)
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + gate * self.out(attended.transpose(1, 2).flatten(2))
        return x + gate2 * self.mlp(self.norm(x) * (1 + scale2) + shift2)


class DiffusionTransformer(torch.nn.Module):  # type: ignore[misc]  # torch is not analysed
    """Blocks over patches, which attend to a text at the end through PyTorch's own module."""

    def __init__(self, width: int = 64, heads: int = 4, depth: int = 2) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.text = torch.nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: Any, step: Any, text: Any) -> Any:
        for block in self.blocks:
            x = block(x, step)
        return x + self.text(x, text, text, need_weights=False)[0]


def diffusion(batch: int, seqlen: int) -> tuple[torch.nn.Module, dict[str, Any]]:
    """The model and the arguments of its step."""
    torch.manual_seed(0)
    inputs = {
        "x": torch.randn(batch, seqlen, 64),
        "step": torch.randn(batch, 64),
        "text": torch.randn(batch, 7, 64),
    }
    return DiffusionTransformer(), inputs


class Alibi(torch.nn.Module):  # type: ignore[misc]  # torch is not analysed
    """Causal attention with ALiBi's bias (Press, Smith, Lewis 2022) in the mask of PyTorch's function."""

    def __init__(self, width: int = 64, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.qkv = heads, torch.nn.Linear(width, 3 * width)

    def forward(self, x: Any) -> Any:
        qkv = self.qkv(x).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in qkv)
        places = torch.arange(x.shape[1])
        slopes = 2.0 ** (-8 / self.heads * torch.arange(1, self.heads + 1))
        bias = slopes[:, None, None] * (places - places[:, None])
        mask = bias.masked_fill(places > places[:, None], -torch.inf)[None]
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return attended.transpose(1, 2).flatten(2)


def alibi(batch: int, seqlen: int) -> tuple[torch.nn.Module, dict[str, Any]]:
    """The module and its argument."""
    torch.manual_seed(0)
    return Alibi(), {"x": torch.randn(batch, seqlen, 64)}


class ByHand(torch.nn.Module):  # type: ignore[misc]  # torch is not analysed
    """Attention as products and a softmax, which no audit sees as a call."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, x: Any) -> Any:
        return torch.softmax(x @ x.transpose(-1, -2) * self.weight, -1) @ x


def by_hand(batch: int, seqlen: int) -> tuple[torch.nn.Module, dict[str, Any]]:
    """The module and its argument."""
    return ByHand(), {"x": torch.randn(batch, 2, seqlen, 16)}
