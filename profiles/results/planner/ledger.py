"""What a model holds at a context: its kernel's buffers, the cache and the weights, to the byte.

All of it is a formula: kernels allocate by the same rules (`kernels.catalogue.workspace`), and tests hold
those against the allocator. What else a program holds, such as activations of other layers, is not counted.
"""

from functools import lru_cache
from math import prod
from typing import NamedTuple

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import ITEMSIZE, Problem
from flashscope.profiles.plan.models import Model, Setting
from flashscope.profiles.plan.seqlens import LONGEST
from flashscope.profiles.wire.text import listed

GIB = 1 << 30
WEIGHTS, CACHE, LATENT_CACHE, OUTPUTS = "weights", "KV cache", "latent cache", "O and LSE"
TOO_LARGE = "what kernels can count"
LIMIT = "the planner's end"


class Term(NamedTuple):
    """One thing that is held: its name and its bytes."""

    name: str
    nbytes: int


class Ledger(NamedTuple):
    """What is held at once at one context.

    Attributes:
        weights: Of the model, 0 bytes where they are not counted.
        cache: Of all layers, K and V or what stands for them.
        inputs: Of the layers held; K and V only where they are not the cache itself.
        workspace: The same of what the kernel holds besides, S and P of standard.
        outputs: The same of O and of the log-sum-exp.
        layers: Layers that are held at once.
    """

    weights: Term
    cache: Term
    inputs: Term
    workspace: Term
    outputs: Term
    layers: int

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms of the ledger."""
        return self[:5]

    @property
    def total(self) -> int:
        """Bytes in all."""
        return sum(term.nbytes for term in self.terms)

    @property
    def attention(self) -> int:
        """Bytes of the layers held: inputs, workspace and outputs."""
        return self.inputs.nbytes + self.workspace.nbytes + self.outputs.nbytes

    @property
    def binds(self) -> str:
        """The name of what takes most."""
        return max(self.terms, key=lambda term: term.nbytes).name


class Longest(NamedTuple):
    """The longest context that fits: its tokens (0: none does), and what takes most at one token more."""

    tokens: int
    binds: str


def layer_problem(model: Model, setting: Setting, tokens: int) -> Problem:
    """One layer's attention of a model over a whole sequence: causal, within its window.

    Raises:
        InputError: It is larger than any problem may be, or its heads do not go together.
    """
    return Problem(
        seqlen_q=tokens,
        seqlen_k=tokens,
        batch=setting.batch,
        heads=model.heads,
        kv_heads=model.kv_heads,
        head_dim=model.head_dim,
        dtype=setting.dtype,
        causal=True,
        window=(model.window - 1, 0) if model.window else None,
    )


def cache_bytes(model: Model, setting: Setting, tokens: int) -> int:
    """Bytes that generating after `tokens` needs of them, in all layers."""
    kept = min(tokens, model.window) if model.window else tokens
    elements = model.latent or 2 * (model.kv_heads or model.heads) * model.head_dim
    return model.layers * setting.batch * kept * elements * ITEMSIZE[setting.dtype]


def ledger(model: Model, setting: Setting, kernel: str, tokens: int) -> Ledger:
    """What is held at a context when this kernel computes the attention.

    Raises:
        InputError: As `layer_problem`.
        KeyError: No kernel has this name.
    """
    problem, spec = layer_problem(model, setting, tokens), find_kernel(kernel)
    held = model.layers if setting.every_layer else 1
    buffers = spec.workspace(problem, "cuda")
    is_cached = not (setting.every_layer or model.latent or 0 < model.window < tokens)
    q_bytes = prod(problem.q_shape) * problem.itemsize
    return Ledger(
        weights=Term(WEIGHTS, weight_bytes(model) if setting.weights else 0),
        cache=Term(
            LATENT_CACHE if model.latent else CACHE,
            0 if setting.every_layer else cache_bytes(model, setting, tokens),
        ),
        inputs=Term("Q", held * q_bytes) if is_cached else Term("Q, K and V", held * problem.input_bytes),
        workspace=Term(listed([b.name for b in buffers]), held * spec.workspace_bytes(problem, "cuda")),
        outputs=Term(OUTPUTS, held * problem.output_bytes),
        layers=held,
    )


def weight_bytes(model: Model) -> int:
    """Bytes of all parameters."""
    return round(model.parameters * 1e9 * model.weight_bytes)


@lru_cache(maxsize=256)
def longest_context(model: Model, setting: Setting, kernel: str, capacity: int) -> Longest:
    """The longest context of which everything fits into `capacity` bytes, by bisection over the ledger.

    Args:
        model: The model.
        setting: What is asked of it; its context and memory say nothing here.
        kernel: What computes the attention.
        capacity: Bytes of the device.
    """
    fits, too_long = 0, LONGEST + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if _fits(model, setting, kernel, middle, capacity):
            fits = middle
        else:
            too_long = middle
    return Longest(fits, LIMIT if fits == LONGEST else _binds(model, setting, kernel, too_long))


def total_bytes(model: Model, setting: Setting, kernel: str, tokens: int) -> int | None:
    """Bytes of the whole ledger; None where kernels cannot count so many elements."""
    try:
        return ledger(model, setting, kernel, tokens).total
    except InputError:
        return None


def _fits(model: Model, setting: Setting, kernel: str, tokens: int, capacity: int) -> bool:
    total = total_bytes(model, setting, kernel, tokens)
    return total is not None and total <= capacity


def _binds(model: Model, setting: Setting, kernel: str, tokens: int) -> str:
    try:
        return ledger(model, setting, kernel, tokens).binds
    except InputError:
        return TOO_LARGE
