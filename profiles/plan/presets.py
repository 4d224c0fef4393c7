"""Sweeps with a name: what the command line runs without being told every choice."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Dtype, Passes, Problem
from flashscope.profiles.plan.drawn import draw
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.plan.request import own_of

# Of a request, that a preset takes beside its protocol.
CHOICES = ("backend", "kernels", "passes", "deterministic", "seed")
DTYPES: Mapping[Backend, Dtype] = {"cuda": "bfloat16", "cpu": "float32"}

# Shapes of FlashAttention's own benchmark: the tokens of a batch and the width of all heads stay the same.
SEQLENS: Mapping[Backend, tuple[int, ...]] = {
    "cuda": (1024, 2048, 4096, 8192, 16384),
    "cpu": (128, 256, 512),
}
TOKENS: Mapping[Backend, int] = {"cuda": 16384, "cpu": 512}
WIDTHS: Mapping[Backend, int] = {"cuda": 2048, "cpu": 256}
HEAD_DIMS = (64, 128, 256)


class DecodeRows(NamedTuple):
    """Sequences of which a step of decoding asks with few query rows: all but the lengths of their keys."""

    batch: int
    heads: int
    kv_heads: int
    queries: int


DECODED: Mapping[Backend, Mapping[DecodeRows, tuple[int, ...]]] = {
    "cuda": {
        DecodeRows(1, 32, 8, 1): (8192, 32768, 131072),
        DecodeRows(16, 32, 8, 1): (2048, 8192, 32768),
        DecodeRows(64, 32, 8, 1): (1024, 4096),
        DecodeRows(4, 64, 8, 1): (16384, 65536),
        DecodeRows(1, 32, 8, 16): (32768, 131072),
        DecodeRows(1, 16, 16, 64): (16384, 65536),
    },
    "cpu": {
        DecodeRows(1, 8, 2, 1): (512, 1024, 2048),
        DecodeRows(4, 8, 2, 1): (512, 1024),
        DecodeRows(1, 8, 8, 16): (512, 1024),
    },
}
DECODED_HEAD_DIM = 128

THIN_BATCHES: Mapping[Backend, tuple[int, ...]] = {"cuda": (1, 4), "cpu": (1,)}
THIN_HEADS: Mapping[Backend, tuple[int, ...]] = {"cuda": (8, 16, 32), "cpu": (1, 2)}
THIN_SEQLENS: Mapping[Backend, tuple[int, ...]] = {
    "cuda": (256, 512, 1024, 2048, 4096),
    "cpu": (64, 128, 256),
}
THIN_HEAD_DIMS = (64, 128)


class Preset(NamedTuple):
    """Problems with a name.

    Attributes:
        about: What they are, in a few words.
        problems: The problems for a backend, without a seed, of a forward pass; drawn by the seed or not.
        passes: What is computed of each in any case; None: what is chosen.
    """

    about: str
    problems: Callable[[Backend, int], Iterator[Problem]]
    passes: Passes | None = None


def preset_plan(
    name: str,
    backend: Backend,
    protocol: Protocol,
    *,
    seed: int = 0,
    kernels: tuple[str, ...] | None = None,
    passes: Passes = "forward",
    deterministic: bool = False,
) -> Plan:
    """Our ladder and the libraries' kernels side by side on a preset's problems, in turns within each.

    What is not installed here is among the kernels, too (see `with_those_at`).

    Args:
        name: One of `PRESETS`.
        backend: Where to run: in bfloat16 on a GPU, in float32 and small on the CPU.
        protocol: How to measure.
        seed: Seed of the inputs, and of the problems that are drawn.
        kernels: Kernels to run, also the user's own that are known here by name; None: all of ours and of
            libraries that exist on the backend and have these passes.
        passes: What a run computes, if the preset does not say.
        deterministic: Every run must give the same bits of the gradients.

    Raises:
        InputError: No gradients are asked for that could be deterministic.
    """
    preset = PRESETS[name]
    computed = preset.passes or passes
    asked = {"seed": seed, "passes": computed, "deterministic": deterministic}
    able = (spec for spec in KERNELS if _runs(spec, backend, computed, deterministic=deterministic))
    return Plan(
        backend=backend,
        kernels=kernels or tuple(spec.name for spec in able),
        problems=tuple(replace(problem, **asked) for problem in preset.problems(backend, seed)),
        protocol=protocol,
        seed=seed,
        own=own_of(kernels or ()),
    )


def with_those_at(device: Device | None, plan: Plan) -> Plan:
    """The plan without the peers whose libraries are not installed where the device is."""
    there = (spec.name for spec in KERNELS if spec.name in plan.kernels and spec.library_is_at(device))
    return replace(plan, kernels=tuple(there))


def _runs(spec: KernelSpec, backend: Backend, passes: Passes, *, deterministic: bool) -> bool:
    """Whether a kernel exists on the backend, and has these passes there."""
    if passes == "forward":
        return backend in spec.dtypes
    own = spec.backward
    if own is None or backend not in own.dtypes:
        return False
    return backend in own.deterministic or not deterministic


def _peers(backend: Backend, _seed: int) -> Iterator[Problem]:
    """N doubling with batch x N and heads x head dim constant: 16k tokens of width 2048 on a GPU."""
    for head_dim, causal, seqlen in product(HEAD_DIMS, (False, True), SEQLENS[backend]):
        yield Problem(
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            batch=TOKENS[backend] // seqlen,
            heads=WIDTHS[backend] // head_dim,
            head_dim=head_dim,
            dtype=DTYPES[backend],
            causal=causal,
        )


def _decode(backend: Backend, _seed: int) -> Iterator[Problem]:
    """Few query rows before many keys, most with several query heads to a key/value head."""
    for rows, lengths in DECODED[backend].items():
        for seqlen in lengths:
            yield Problem(
                seqlen_q=rows.queries,
                seqlen_k=seqlen,
                batch=rows.batch,
                heads=rows.heads,
                kv_heads=rows.kv_heads,
                head_dim=DECODED_HEAD_DIM,
                dtype=DTYPES[backend],
            )


def _thin(backend: Backend, _seed: int) -> Iterator[Problem]:
    """Small problems, whose tiles of queries are fewer than a GPU's multiprocessors or hardly more."""
    sides = THIN_HEAD_DIMS, (False, True), THIN_BATCHES[backend], THIN_HEADS[backend], THIN_SEQLENS[backend]
    for head_dim, causal, batch, heads, seqlen in product(*sides):
        yield Problem(
            seqlen_q=seqlen,
            seqlen_k=seqlen,
            batch=batch,
            heads=heads,
            head_dim=head_dim,
            dtype=DTYPES[backend],
            causal=causal,
        )


PRESETS: Mapping[str, Preset] = {
    "peers": Preset("square problems, head dim 64 to 256", _peers),
    "peers-backward": Preset("the same, backward", _peers, "backward"),
    "decode": Preset("few query rows before many keys", _decode),
    "thin": Preset("small problems that do not fill a GPU", _thin),
    "drawn": Preset("problems of any shape, drawn by the seed", draw),
}
