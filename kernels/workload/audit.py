"""What the attention of a model's step is: its distinct calls, which kernel ran, and how long steps took."""

from typing import Any, Literal

import msgspec

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import ITEMSIZE, Problem

MaskKind = Literal["none", "causal", "window", "padding", "bias", "arbitrary"]
ModelPhase = Literal["forward", "prefill", "decode", "training"]
Ran = Literal["flash", "efficient", "cudnn", "math", "ours", "unknown"]

REPLAYED: dict[Ran, str] = {
    "flash": "torch-flash",
    "efficient": "torch-efficient",
    "cudnn": "torch-cudnn",
    "math": "torch-math",
}
"""The kernel of ours whose point replays what ran in the model; see `replayed_by`."""

STATED = ("dtype", "causal", "window", "key_lengths", "query_lengths", "softcap", "sinks", "alibi")
"""What a call asks for by the name that a Problem has for it."""


class AttentionCall(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """One attention call as a model makes it: what it asks for, whoever computes it.

    Attributes:
        q_shape: (batch, heads, Nq, d).
        k_shape: (batch, key/value heads, Nk, d).
        v_dim: Width of a head of V.
        dtype: Element type as PyTorch names it, such as `float32`.
        mask: What the mask does: `none` keeps all pairs; `window` is causal and a sliding window; `padding`
            leaves keys at a sequence's begin or end out, beside a causal mask or window if there is one;
            `bias` adds numbers to scores that are not ALiBi's; `arbitrary` is none of these.
        causal: Keep only keys k <= q + Nk - Nq, beside the rest.
        window: (left, right) as in Problem; None: there is none.
        key_lengths: Keys of each sequence that count, where a padding leaves some out; None: all do.
        query_lengths: Query rows of each sequence that are none of the padding; None: all.
        kept_share: Share of the pairs that the mask keeps.
        scale: Factor on the scores; None: it is not told and 1 / sqrt(d).
        softcap: Scores are softcap * tanh(score / softcap); None: they are not capped.
        sinks: Whether each head has a logit beside those of the keys that takes weight and has no value.
        alibi: Whether scores have ALiBi's bias, as Problem has it but for a number that all scores of a row
            share, which no output shows.
        dropout: Probability that a weight is dropped.
        gradients: Whether a backward pass follows.
        asked: The implementation that the model asks for: `sdpa`, `eager`, or PyTorch's function itself.
    """

    q_shape: tuple[int, int, int, int]
    k_shape: tuple[int, int, int, int]
    v_dim: int
    dtype: str
    mask: MaskKind
    causal: bool = False
    window: tuple[int, int] | None = None
    key_lengths: tuple[int, ...] | None = None
    query_lengths: tuple[int, ...] | None = None
    kept_share: float = 1.0
    scale: float | None = None
    softcap: float | None = None
    sinks: bool = False
    alibi: bool = False
    dropout: float = 0.0
    gradients: bool = False
    asked: str = ""


class AuditedCall(msgspec.Struct, frozen=True, kw_only=True):
    """All calls of one step that are alike.

    Attributes:
        phase: Which step.
        call: What they ask for.
        layers: The module that makes each, in the order of the calls.
        ran: What computed them.
        operators: PyTorch's operators that stand for that.
        kernels: The GPU's kernels, by the profiler's names, what took longest first; on a CPU the operators
            are all there is.
        why_not: Why nothing else ran, in sentences.
        took_ms: What they took together in each profiled step, with their backward pass.
    """

    phase: ModelPhase
    call: AttentionCall
    layers: tuple[str, ...]
    ran: Ran = "unknown"
    operators: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    took_ms: tuple[float, ...] = ()


class AuditedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a model with one implementation of attention.

    Attributes:
        phase: Which step.
        implementation: What computed attention.
        refused: Why there are no times with it; empty: there are.
        step_ms: What a step took, without a profiler, round by round, in turns with the others of the phase.
        profiled_ms: The same under a profiler.
        attention_ms: What attention took of each of those.
        busy_ms: How long the GPU worked in each of those, at attention or anything else; empty: on a CPU.
        ran: What computed attention, each kind once.
        kernel: The kernel of ours that computed it; empty: none of ours did.
    """

    phase: ModelPhase
    implementation: str
    refused: str = ""
    step_ms: tuple[float, ...] = ()
    profiled_ms: tuple[float, ...] = ()
    attention_ms: tuple[float, ...] = ()
    busy_ms: tuple[float, ...] = ()
    ran: tuple[Ran, ...] = ()
    kernel: str = ""


class ModelAudit(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of one model.

    Attributes:
        model: What was asked for, without the folders above it.
        architecture: The class that was built.
        implementation: The implementation of attention that its configuration led to.
        weights: Where they are from: `random`, or the folder or name on this machine.
        parameters: How many there are in what was built.
        weight_bytes: What they take.
        parameters_in_all: How many the configuration has with all its layers; 0: nobody counted.
        layers: Layers that were built.
        layers_in_all: Layers that the configuration has.
        device: Where it ran.
        dtype: Element type of the weights.
        threads: Threads of PyTorch's on a CPU.
        inputs: What the first step is given: shapes by name.
        versions: Of the libraries, by name.
        calls: Every distinct call of every step.
        steps: Steps by phase and implementation, what was asked for first.
        unseen: Softmaxes beside the recorded calls, which may be attention written by hand, in words.
        notes: What else is to be known, in sentences.
    """

    model: str
    architecture: str
    implementation: str
    weights: str
    parameters: int
    weight_bytes: int
    layers: int
    layers_in_all: int
    device: Device
    dtype: str
    threads: int
    inputs: dict[str, tuple[int, ...]]
    versions: dict[str, str]
    calls: tuple[AuditedCall, ...]
    steps: tuple[AuditedStep, ...]
    parameters_in_all: int = 0
    unseen: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def phases(self) -> tuple[ModelPhase, ...]:
        """The steps that were taken, in order."""
        return tuple(dict.fromkeys(one.phase for one in self.steps))


def replayed_by(ran: Ran, implementation: str, dtype: str) -> str:
    """The kernel that replays what ran with an implementation; empty: none does.

    Transformers' plain formula (`eager`) multiplies 16 bits as they are; PyTorch's takes them to float32.
    """
    if implementation == "eager" and dtype != "float32":
        return ""
    return REPLAYED.get(ran, "")


def needs(call: AttentionCall) -> tuple[str, ...]:
    """What a call asks for that a Problem does not state, each in words; empty: it states all."""
    asked = {
        "an additive bias": call.mask == "bias",
        "an arbitrary mask": call.mask == "arbitrary",
        "dropout": call.dropout > 0,
        f"the dtype {call.dtype}": call.dtype not in ITEMSIZE,
        "a batch of K unlike Q's": call.q_shape[0] != call.k_shape[0],
    }
    return tuple(words for words, so in asked.items() if so)


def problem_of(call: AttentionCall) -> Problem | None:
    """The call as a Problem, whose kernels replay it; None where a Problem does not state it (see `needs`).

    Padding before a sequence, as generation has it, becomes padding behind it: the same pairs, moved.
    """
    if needs(call):
        return None
    batch, heads, rows, head_dim = call.q_shape
    _, kv_heads, keys, _ = call.k_shape
    usual = call.scale is None or _is_usual(call.scale, head_dim)
    fields: dict[str, Any] = {
        "kv_heads": None if kv_heads == heads else kv_heads,
        "scale": None if usual else call.scale,
        **{name: getattr(call, name) for name in STATED},
    }
    try:
        return Problem(
            batch=batch,
            heads=heads,
            seqlen_q=rows,
            seqlen_k=keys,
            head_dim=head_dim,
            head_dim_v=None if call.v_dim == head_dim else call.v_dim,
            passes="both" if call.gradients else "forward",
            **fields,
        )
    except InputError:
        return None


def _is_usual(scale: float, head_dim: int) -> bool:
    usual: float = head_dim**-0.5
    return abs(scale - usual) <= 1e-6 * usual
