"""Models by what their attention takes, and what a user asks of one: each choice declared once.

The figures are those of the published configurations:
    Llama-2-7B: Touvron et al. 2023 and meta-llama/Llama-2-7b-hf, config.json.
    Llama-3-8B, Llama-3-70B: meta-llama/Meta-Llama-3-8B and -70B, config.json; Grattafiori et al.
        2024, table 3.
    GPT-3-175B: Brown et al. 2020, tables 2.1 and D.1. Every other layer is locally banded there, none here.
    Mistral-7B: Jiang et al. 2023, table 1, and mistralai/Mistral-7B-v0.1, config.json (a window of 4096).
    Qwen3-8B: Qwen/Qwen3-8B, config.json; Yang et al. 2025, table 1.
    DeepSeek-V3: deepseek-ai/DeepSeek-V3, config.json, and DeepSeek-AI 2024, section 4.2. Multi-head latent
        attention caches kv_lora_rank 512 + qk_rope_head_dim 64 elements a token and layer. Its queries and
        keys are 128 + 64 wide, its values 128: kernels that take one head dim hold all as 192. Weights: e4m3.
The context that a model is made for is `max_position_embeddings` there, and 2048 of GPT-3.
"""

from difflib import get_close_matches
from typing import Annotated

import msgspec

from flashscope.kernels.workload.problem import Dtype
from flashscope.profiles.plan.choice import Choice
from flashscope.profiles.plan.seqlens import LONGEST, parse_seqlens

MOST_LAYERS, MOST_HEADS, WIDEST = 1000, 4096, 4096


def read_context(text: str) -> int:
    """One sequence length, as 8192 or 8k.

    Raises:
        ValueError: It is none, or several.
    """
    lengths = parse_seqlens(text)
    if len(lengths) > 1:
        raise ValueError(f"{text[:40]!r} is more than one context")
    return lengths[0]


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decoder as far as its attention, its cache and its weights go.

    Attributes:
        name: What it is called.
        layers: Layers with attention.
        heads: Query heads of each.
        kv_heads: Key and value heads; None: as many.
        head_dim: Width of a head of Q, K, V and O, d.
        window: Keys that a query sees, itself among them, and that a cache keeps; 0: all before it.
        latent: Elements of a compressed cache, a token and layer, in place of K and V; 0: K and V are cached.
        parameters: Of the whole model, in 10^9.
        weight_bytes: Bytes of one parameter.
        own_context: Tokens that it is made for; None: nobody says.
    """

    name: str
    layers: Annotated[
        int, Choice(label="layers", help="Layers that attend", flag="", low=1, high=MOST_LAYERS)
    ]
    heads: Annotated[
        int, Choice(label="heads", help="Query heads of a layer", flag="", low=1, high=MOST_HEADS)
    ]
    kv_heads: Annotated[
        int | None,
        Choice(
            label="kv heads",
            help="Heads of K and V, a divisor of heads; where fewer, query heads share them",
            flag="",
            low=1,
            unset="as many as heads",
        ),
    ] = None
    head_dim: Annotated[
        int, Choice(label="head dim", help="Width of one head, d", flag="", low=1, high=WIDEST, step=8)
    ] = 128
    window: Annotated[
        int,
        Choice(
            label="window", help="Keys that a query sees and a cache keeps; 0: all", flag="", high=LONGEST
        ),
    ] = 0
    latent: Annotated[
        int,
        Choice(
            label="latent",
            help="Elements that a latent cache holds of a token in a layer, as MLA's; 0: it holds K and V",
            flag="",
            high=1 << 20,
        ),
    ] = 0
    parameters: Annotated[
        float, Choice(label="parameters", help="Of the whole model", flag="", high=100_000, unit="10⁹")
    ] = 0.0
    weight_bytes: Annotated[
        float, Choice(label="bytes / weight", help="2 in 16 bits, 1 in 8, 0.5 in 4", flag="", high=8)
    ] = 2.0
    own_context: int | None = None


class Setting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked of a model: how long a context, how many at once, in what memory.

    Attributes:
        context: Tokens of a sequence, N.
        batch: Sequences at once.
        dtype: Of Q, K, V, O and the cache.
        memory: Of the device in GiB; None: of the GPU here.
        weights: Whether the weights are held beside attention.
        every_layer: Whether all layers' attention is held at once and nothing cached, as for a backward pass;
            otherwise one layer's beside the cache of all.
    """

    context: Annotated[
        int,
        Choice(
            label="context",
            help="Tokens of a sequence; 32k is 32768",
            flag="--context",
            metavar="N",
            low=1,
            high=LONGEST,
            read=read_context,
            write=str,
        ),
    ] = 8192
    batch: Annotated[
        int,
        Choice(label="batch", help="Sequences at once", flag="--batch", metavar="B", low=1, high=65_536),
    ] = 1
    dtype: Annotated[
        Dtype, Choice(label="dtype", help="Element type of Q, K, V, O and the cache", flag="--dtype")
    ] = "bfloat16"
    memory: Annotated[
        float | None,
        Choice(
            label="memory",
            help="Memory of the device",
            flag="--memory",
            metavar="GIB",
            low=0.001,
            high=1_000_000,
            unit="GiB",
            unset="of the GPU here",
        ),
    ] = None
    weights: Annotated[
        bool,
        Choice(label="with weights", help="Count the model's weights, too", flag="--weights/--no-weights"),
    ] = True
    every_layer: Annotated[
        bool,
        Choice(
            label="held at once",
            help="Hold every layer's attention at once, as a backward pass needs it, and no cache; inference "
            "holds one layer's beside the cache of all",
            flag="--every-layer/--one-layer",
            words=("every layer", "one layer"),
        ),
    ] = False


MODELS: tuple[Model, ...] = (
    Model(name="Llama-2-7B", layers=32, heads=32, parameters=6.738, own_context=4096),
    Model(name="Llama-3-8B", layers=32, heads=32, kv_heads=8, parameters=8.030, own_context=8192),
    Model(name="Llama-3-70B", layers=80, heads=64, kv_heads=8, parameters=70.554, own_context=8192),
    Model(name="GPT-3-175B", layers=96, heads=96, parameters=174.6, own_context=2048),
    Model(
        name="Mistral-7B", layers=32, heads=32, kv_heads=8, window=4096, parameters=7.242, own_context=32_768
    ),
    Model(name="Qwen3-8B", layers=36, heads=32, kv_heads=8, parameters=8.191, own_context=40_960),
    Model(
        name="DeepSeek-V3",
        layers=61,
        heads=128,
        head_dim=192,
        latent=576,
        parameters=671.0,
        weight_bytes=1.0,
        own_context=163_840,
    ),
)
FAVOURITE = MODELS[1]


def find_model(name: str) -> Model:
    """The model of that name, in capitals or not.

    Raises:
        ValueError: There is none; the text names the nearest, or all.
    """
    by_name = {model.name.lower(): model for model in MODELS}
    if name.lower() in by_name:
        return by_name[name.lower()]
    meant = get_close_matches(name.lower(), by_name, n=1)
    there = ", ".join(model.name for model in MODELS)
    told = f"did you mean {by_name[meant[0]].name}?" if meant else f"there are {there}"
    raise ValueError(f"there is no model {name[:40]!r}; {told}")
