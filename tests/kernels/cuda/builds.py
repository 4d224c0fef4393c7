"""Every build of the CUDA sources that a problem can ask for, each once, and a covering choice of them.

A build is a source with its options and an architecture. The full product of kernels, passes, masks, layouts,
dtypes, head dims and architectures has thousands; the covering set holds every value that any define takes,
and of defines with few values every pair that occurs, so that every branch of the preprocessor is compiled.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product
from typing import Any, NamedTuple

from msgspec import structs

from flashscope.kernels.catalogue.flash2_cut import FEW_TILES, LONG
from flashscope.kernels.catalogue.flash3_share import (
    FEW_ROWS_SHAPE,
    MOST_GROUPS_SHARED,
    Share,
    small_shapes,
    usual_shape,
)
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import HEAD_DIMS
from flashscope.kernels.cuda import (
    flash1,
    flash1_backward,
    flash2,
    flash2_backward,
    flash3,
    flash3_backward,
    flash3_fp8,
    fused,
    simt,
    standard,
    standard_backward,
)
from flashscope.kernels.cuda.instrument import instrumented
from flashscope.kernels.cuda.program import HOPPER, SHARED_MEMORY_LIMITS, Program, ProgramOf, Target
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import DTYPES, Problem
from flashscope.kernels.workload.trace import TraceRequest

FORWARD: dict[str, ProgramOf] = {
    "standard": standard.program,
    "standard-fp32s": partial(standard.program, float_scores=True),
    "fused": fused.program,
    "simt": simt.program,
    "flash1": flash1.program,
    "flash2": flash2.program,
    **{step: partial(flash3.program, step=step) for step in ("flash3-a", "flash3-b", "flash3-c", "flash3")},
    "flash3-fp8": flash3_fp8.program,
}
BACKWARD: dict[str, ProgramOf] = {
    "standard": standard_backward.program,
    "flash1": flash1_backward.program,
    "flash2": flash2_backward.program,
    "flash3": flash3_backward.program,
}
TARGETS = [Target(found, limit, multiprocessors=132) for found, limit in SHARED_MEMORY_LIMITS.items()]
ON_HOPPER = next(target for target in TARGETS if target.compute_capability == HOPPER)
SOME_HEAD_DIMS = (16, 24, 56, 64, 72, 96, 120, 128, 160, 192, 224, 256)
MASKS: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"causal": True},
    "window": {"window": (256, 64)},
    "causal window": {"causal": True, "window": (256, 0)},
    "negative": {"scale": -0.3},
    "causal negative": {"causal": True, "scale": -0.3},
}
SHAPES = (
    (500, 500, 4),
    (2048, 2048, 4),
    (8192, 8192, 2),
    (16384, 16384, 4),
    (40000, 40000, 4),
    (60, 2048, 1),
)
"""Queries, keys, and K/V heads of 4: few and many, and those that choose how long rows are cut."""
FEW_QUERIES = (1, 65536, 1)
PACKED_UNDER = {"causal", "gqa"}  # all that three warpgroups with packed heads or parts take
BLOCKS = ((16, 16), (16, 64), (64, 32), (128, 64), (128, 128), (256, 192))
RAGGED: dict[str, Any] = {"key_lengths": (5, 2000), "query_lengths": (60, 0)}
LAYOUTS: dict[str, dict[str, Any]] = {
    "ragged": RAGGED,
    "pages of 16": {"page_size": 16},
    "ragged, pages of 64": {**RAGGED, "page_size": 64},
    "pages of 256": {"page_size": 256},
}
PAGED: dict[str, dict[str, Any]] = {
    "ragged pages": {"key_lengths": (5, 2000), "query_lengths": (60, 10), "page_size": 64}
}
SCORED: dict[str, dict[str, Any]] = {
    "softcap": {"softcap": 50.0},
    "sinks": {"sinks": True},
    "alibi": {"alibi": True},
    "all of scores": {"softcap": 50.0, "sinks": True, "alibi": True},
}
TRACED_BLOCKS = (1, 16, 64)
FEW_VALUES = 8  # of a define whose pairs with others are covered, too


class Build(NamedTuple):
    """A program for an architecture.

    Attributes:
        name: The kernel, problem and architecture that ask for it, in words: the same at every commit.
        program: Its source, defines, and the launches of the first problem that asks for it.
        target: The architecture.
    """

    name: str
    program: Program
    target: Target

    @property
    def arch(self) -> str:
        """The compiler's name of the architecture, with the suffix of the program."""
        return f"{self.target.arch}{self.program.arch_suffix}"

    @property
    def key(self) -> tuple[Any, ...]:
        """What decides the machine code."""
        return (self.program.source, self.arch, *sorted(self.program.defines.items()))


Case = tuple[str, Callable[[], Program], Target]  # a name and what makes the program


def every_build(head_dims: Iterable[int] = SOME_HEAD_DIMS) -> list[Build]:
    """Each build that these head dims take, once, under the first name that asks for it.

    Of the other head dims those without a mask and under causal, at one length: their loops are no others.
    """
    found: dict[tuple[Any, ...], Build] = {}
    for name, program_of, target in _cases(tuple(head_dims)):
        try:
            build = _build(name, program_of, target)
        except InputError:  # no cut suits the block mask
            continue
        found.setdefault(build.key, build)
    return [*found.values()]


def named(names: Collection[str]) -> list[Build]:
    """The builds of these names, as this commit makes them; names that it does not know are left out."""
    cases = _cases(tuple(HEAD_DIMS))
    return [_build(*case) for case in cases if case[0] in names]


def _build(name: str, program_of: Callable[[], Program], target: Target) -> Build:
    """Tables and notes are no part of a build."""
    return Build(name, replace(program_of(), tables={}, note=""), target)


def covering(builds: Iterable[Build], *, pairs: bool = True) -> list[Build]:
    """A few of the builds with every value of a define, and every pair of those with few values if asked.

    They are asked in an order that depends on their names alone, so that it stays when others are added. Of
    those that brought something new, one goes again if others together hold all that it has.
    """
    ordered = sorted(builds, key=lambda build: hashlib.sha256(build.name.encode()).digest())
    few = _with_few_values(ordered) if pairs else {}
    covered: set[Any] = set()
    taken: list[tuple[Build, set[Any]]] = []
    for build in ordered:
        goals = _goals(build, few)
        if not goals <= covered:
            covered |= goals
            taken.append((build, goals))
    return sorted(_needed(taken), key=lambda build: build.name)


def _needed(taken: list[tuple[Build, set[Any]]]) -> Iterator[Build]:
    """Those of which others do not hold everything; the first, which bring what is usual, go first."""
    held = Counter(goal for _, goals in taken for goal in goals)
    for build, goals in taken:
        if all(held[goal] > 1 for goal in goals):
            held.subtract(goals)
        else:
            yield build


def _with_few_values(builds: Iterable[Build]) -> Mapping[str, set[str]]:
    """By source, the defines whose pairs are covered."""
    values: dict[tuple[str, str], set[Any]] = {}
    for build in builds:
        for name, value in _values(build):
            values.setdefault((build.program.source, name), set()).add(value)
    few: dict[str, set[str]] = {}
    for (source, name), seen in values.items():
        if 1 < len(seen) <= FEW_VALUES:
            few.setdefault(source, set()).add(name)
    return few


def _values(build: Build) -> Iterator[tuple[str, Any]]:
    yield from build.program.defines.items()
    yield "arch", build.arch


def _goals(build: Build, few: Mapping[str, set[str]]) -> set[Any]:
    source = build.program.source
    paired = sorted(pair for pair in _values(build) if pair[0] in few.get(source, ()))
    return {(source, *one) for one in _values(build)} | {(source, *two) for two in combinations(paired, 2)}


def _cases(head_dims: tuple[int, ...]) -> Iterator[Case]:
    for words, problem in (*_problems(head_dims), *_plain([d for d in HEAD_DIMS if d not in head_dims])):
        yield from _passes(words, problem)
    yield from _shares(head_dims)
    yield from _cuts_of_blocks(head_dims)
    yield from _short_tiles()
    yield from _traces()


def _problem(shape: tuple[int, int, int], head_dim: int, dtype: Any, **more: Any) -> Problem:
    queries, keys, kv_heads = shape
    return Problem(
        batch=2,
        heads=4,
        kv_heads=kv_heads,
        seqlen_q=queries,
        seqlen_k=keys,
        head_dim=head_dim,
        dtype=dtype,
        **more,
    )


def _problems(head_dims: tuple[int, ...]) -> Iterator[tuple[str, Problem]]:
    for head_dim, dtype, (mask, masks) in product(head_dims, DTYPES, MASKS.items()):
        words = f"d{head_dim} {dtype} {mask}"
        for shape in (*SHAPES, FEW_QUERIES):
            yield _plain_problem(shape, head_dim, dtype, mask)
        for blocks in BLOCKS:
            kept = _blocks(*blocks)
            yield (
                f"{words} blocks of {blocks[0]}x{blocks[1]}",
                _problem(SHAPES[1], head_dim, dtype, block_mask=kept, **masks),
            )
        for scores, scored in SCORED.items():
            for layout, more in {"": {}, "blocks": {"block_mask": _blocks(128, 64)}, **PAGED}.items():
                yield (
                    f"{words} {scores} {layout}",
                    _problem(SHAPES[1], head_dim, dtype, **masks, **scored, **more),
                )
        for layout, lengths in LAYOUTS.items():
            for shape in (SHAPES[1], SHAPES[-1]):
                found = _problem(shape, head_dim, dtype, **masks, **lengths)
                yield f"{words} {layout} {'x'.join(map(str, shape))}", found


def _plain(head_dims: Iterable[int]) -> Iterator[tuple[str, Problem]]:
    for head_dim, mask in product(head_dims, ("full", "causal")):
        yield _plain_problem(SHAPES[1], head_dim, DTYPES[head_dim // 8 % len(DTYPES)], mask)


def _plain_problem(shape: tuple[int, int, int], head_dim: int, dtype: Any, mask: str) -> tuple[str, Problem]:
    """A problem without blocks or lengths, and its words."""
    words = f"d{head_dim} {dtype} {mask} {'x'.join(map(str, shape))}"
    return words, _problem(shape, head_dim, dtype, **MASKS[mask])


@cache
def _blocks(block_q: int, block_k: int) -> BlockMask:
    return BlockMask.random(2048, 2048, block_q=block_q, block_k=block_k, kept_share=0.5)


def _passes(words: str, problem: Problem) -> Iterator[Case]:
    for target in TARGETS:
        gpu = _device(target)
        for name, program_of in FORWARD.items():
            if find_kernel(name).unsupported(problem, gpu) is None:
                yield f"{name} {words} {target.arch}", partial(program_of, problem, target), target
        for name, mode in product(BACKWARD, (False, True)) if problem.even else ():
            asked = structs.replace(problem, passes="backward", deterministic=mode)
            if find_kernel(name).unsupported_backward(asked, gpu) is None:
                said = f"{name} backward {'deterministic ' * mode}{words} {target.arch}"
                yield said, partial(BACKWARD[name], asked, target), target


@cache
def _device(target: Target) -> Device:
    return Device(
        backend="cuda",
        name="a GPU",
        memory_bytes=1 << 40,
        compute_capability=target.compute_capability,
        shared_memory_per_block=target.shared_memory,
    )


def _shares(head_dims: tuple[int, ...]) -> Iterator[Case]:
    """Every way of flash3 to share few tiles among the SMs."""
    layouts = {"": {}, **LAYOUTS}
    ways = ((1, 1, True), (1, 2, True), (1, 2, False), *product((4,), (1, 2), (True, False)))
    dims = [head_dim for head_dim in head_dims if head_dim in find_kernel("flash3").head_dims["cuda"]]
    for head_dim, (mask, masks), (layout, lengths) in product(dims, MASKS.items(), layouts.items()):
        problem = _problem(SHAPES[-1], head_dim, "bfloat16", **masks, **lengths)
        shapes = {usual_shape(problem), *small_shapes(problem), FEW_ROWS_SHAPE}
        for shape, (packed, splits, draws) in product(sorted(shapes), ways):
            if shape.groups > MOST_GROUPS_SHARED and packed * splits > 1 and problem.features - PACKED_UNDER:
                continue
            for residents in (1, 2) if shape == FEW_ROWS_SHAPE and head_dim <= 128 else (1,):
                share = Share(shape, packed, splits, draws, residents)
                words = f"d{head_dim} {mask} {layout} {[*shape]} {packed} packed {splits} parts"
                how = f"{' drawn' * draws}{' two an SM' * (residents > 1)}"
                made = partial(flash3.program, problem, ON_HOPPER, "flash3", share)
                yield f"flash3 shared {words}{how}", made, ON_HOPPER


def _cuts_of_blocks(head_dims: tuple[int, ...]) -> Iterator[Case]:
    """Every cut of flash3 for a block mask."""
    dims = [head_dim for head_dim in head_dims if head_dim in find_kernel("flash3").head_dims["cuda"]]
    for head_dim, (mask, masks) in product(dims, MASKS.items()):
        problem = _problem(SHAPES[1], head_dim, "bfloat16", block_mask=_blocks(128, 64), **masks)
        for place in range(len(flash3.sparse_variants(problem))):
            yield f"flash3 d{head_dim} {mask} cut {place} of blocks", partial(_cut, problem, place), ON_HOPPER


def _cut(problem: Problem, place: int) -> Program:
    program = flash3.program(problem, ON_HOPPER)
    variant = flash3.sparse_variants(problem)[place]
    return replace(program, defines={**program.defines, **variant.defines(problem)})


def _short_tiles() -> Iterator[Case]:
    """flash2 in tiles of half the rows, as it takes few."""
    terms: dict[str, dict[str, Any]] = {
        "": {},
        "sinks ": SCORED["sinks"],
        "values of 24 ": {"head_dim_v": 24},
    }
    for dtype, (term, more), (narrow, causal) in product(("float16", "bfloat16"), terms.items(), FEW_TILES):
        for (few, keys), head_dim in product(FEW_TILES[narrow, causal], (24, 64) if narrow else (112, 128)):
            shape: dict[str, Any] = {
                "heads": few[-1],
                "seqlen_q": 128,
                "seqlen_k": LONG,
                "head_dim": head_dim,
            }
            problem = Problem(**shape, dtype=dtype, causal=causal, **more)
            name = f"flash2 d{head_dim} {dtype} {term}{few[-1]} tiles {keys} keys {ON_HOPPER.arch}"
            yield name, partial(flash2.program, problem, ON_HOPPER), ON_HOPPER


def _traces() -> Iterator[Case]:
    for order, block, (mask, masks), dtype in product(
        ("flash1", "flash2"), TRACED_BLOCKS, MASKS.items(), DTYPES
    ):
        problem = Problem(seqlen_q=100, seqlen_k=100, head_dim=64, dtype=dtype, **masks)
        request = TraceRequest(problem=problem, backend="cuda", order=order, block_q=block, block_k=block)
        name = f"trace of {order} {dtype} {mask} blocks of {block}"
        yield name, partial(instrumented, request, problem), ON_HOPPER
