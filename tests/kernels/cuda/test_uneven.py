"""Sequences of different lengths and keys in pages on a GPU: against the oracle, and to the bit."""

import itertools
from typing import Any

import pytest
from msgspec import structs

from flashscope.kernels import attention
from flashscope.kernels.catalogue.flash3_share import (
    MOST_GROUPS_SHARED,
    Share,
    packed_heads,
    share,
    small_shapes,
    usual_shape,
)
from flashscope.kernels.catalogue.ladder import FLASH2, FLASH3, SIMT
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda import flash2
from flashscope.kernels.cuda.launch import current_target
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cuda.running import (
    by_name,
    by_name_and_dtype,
    differing_bits,
    head_dims,
    judged,
    prepared,
    run,
    shared,
    skip_unsupported,
)
from tests.kernels.uneven import options

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

each_kernel, each_kernel_and_dtype = (
    by_name((SIMT, FLASH2, FLASH3)),
    by_name_and_dtype((SIMT, FLASH2, FLASH3)),
)
each_layout = pytest.mark.parametrize("page_size", [None, *PAGE_SIZES])
MASKS: tuple[dict[str, Any], ...] = (
    {},
    {"causal": True},
    {"window": (100, 20)},
    {"causal": True, "window": (64, 0)},
)
LENGTHS = {"query_lengths": (300, 0, 65, 1, 129), "key_lengths": (512, 17, 0, 400, 65)}


def prefill(**rest: Any) -> Problem:
    """Some sequences without a row, without a key, with fewer keys than rows, and one of all of both."""
    shape = {"batch": 5, "heads": 4, "kv_heads": 2, "seqlen_q": 300, "seqlen_k": 512, "dtype": "bfloat16"}
    return Problem(**{**shape, **LENGTHS, **rest})


def decoding(**rest: Any) -> Problem:
    """A few rows before caches from one key to thousands, one of them one key longer than pages."""
    lengths = {"query_lengths": (3, 1, 2, 3, 0), "key_lengths": (4096, 1, 129, 2000, 77)}
    shape = {"batch": 5, "heads": 8, "kv_heads": 2, "seqlen_q": 3, "seqlen_k": 4096, "dtype": "bfloat16"}
    return Problem(**{**shape, **lengths, **rest})


@each_layout
@each_kernel_and_dtype
def test_lengths_and_pages_agree_with_the_oracle(name: str, dtype: Dtype, page_size: int | None) -> None:
    for head_dim, masks, make in itertools.product(head_dims(name), MASKS, (prefill, decoding)):
        problem = make(head_dim=head_dim, dtype=dtype, page_size=page_size, **masks)
        verdict = run(name, problem)
        assert verdict.passed, (problem, verdict)


@pytest.mark.parametrize("page_size", PAGE_SIZES)
@each_kernel
def test_pages_of_whole_sequences_agree_with_the_oracle(name: str, page_size: int) -> None:
    """The keys of one page more than 256 end within a tile."""
    for head_dim in head_dims(name):
        even = {"query_lengths": None, "key_lengths": None, "seqlen_k": 256 + page_size}
        verdict = run(name, prefill(head_dim=head_dim, page_size=page_size, **even))
        assert verdict.passed, (head_dim, verdict)


@pytest.mark.parametrize("page_size", PAGE_SIZES)
def test_pages_of_more_tiles_than_blocks_agree_with_the_oracle(page_size: int) -> None:
    """Blocks of flash3 that stay draw several tiles, whose pages several threads find."""
    shape: dict[str, Any] = {"heads": 160, "kv_heads": 40, "seqlen_q": 65, "seqlen_k": 512}
    for head_dim, causal in itertools.product((64, 128, 256), (False, True)):
        problem = Problem(head_dim=head_dim, dtype="bfloat16", causal=causal, page_size=page_size, **shape)
        skip_unsupported("flash3", problem)
        inputs = make_inputs(problem, "cuda")
        launch = shared(problem, inputs, Share(usual_shape(problem)))
        launch.run()
        verdict = judged("flash3", problem, inputs, launch.output, launch.lse)
        assert verdict.passed, (head_dim, causal, verdict)


@each_layout
@each_kernel
def test_padding_is_empty_even_where_a_key_it_shares_a_tile_with_has_an_infinite_value(
    cp: Any, name: str, page_size: int | None
) -> None:
    problem = prefill(page_size=page_size)
    inputs = make_inputs(problem, "cuda")
    inputs.v[:, :, 0] = cp.inf
    launch = prepared(name, problem, inputs)
    launch.run()
    for b, (rows, keys) in enumerate(zip(problem.row_counts, problem.key_counts, strict=True)):
        empty = slice(rows if keys else 0, None)
        assert bool((launch.output[b, :, empty].astype(cp.float32) == 0).all()), b
        assert bool(cp.isneginf(launch.lse[b, :, empty]).all()), b


@pytest.mark.parametrize("name", ["flash2", "simt"])
@pytest.mark.parametrize("page_size", PAGE_SIZES)
def test_pages_change_no_bit_of_the_same_tiles(cp: Any, name: str, page_size: int) -> None:
    for head_dim, masks, make in itertools.product((64, 128), MASKS, (prefill, decoding)):
        plain = make(head_dim=head_dim, **masks)
        paged = structs.replace(plain, page_size=page_size)
        if name == "flash2":
            cuts = [flash2.program(one, current_target()).defines["BLOCK_K"] for one in (plain, paged)]
            assert cuts[0] == cuts[1]
        same_bits(cp, *(prepared(name, one, make_inputs(one, "cuda")) for one in (plain, paged)))


def same_bits(cp: Any, *launches: Any) -> None:
    for launch in launches:
        launch.run()
    first, second = launches
    assert bool((first.output.view(cp.uint8) == second.output.view(cp.uint8)).all())
    assert bool((first.lse.view(cp.uint8) == second.lse.view(cp.uint8)).all())


@pytest.mark.parametrize("splits", [1, 2, 7])
@pytest.mark.parametrize("page_size", PAGE_SIZES)
def test_pages_change_no_bit_of_flash3_s_tiles_in_any_share(cp: Any, page_size: int, splits: int) -> None:
    skip_unsupported("flash3", prefill())
    for head_dim, masks, make in itertools.product((64, 128, 256), MASKS[:3], (prefill, decoding)):
        plain = make(head_dim=head_dim, **masks)
        paged = structs.replace(plain, page_size=page_size)
        given, laid = make_inputs(plain, "cuda"), make_inputs(paged, "cuda")
        for chosen in shares(paged, splits):
            launches = shared(plain, given, chosen), shared(paged, laid, chosen)
            same_bits(cp, *launches)
            verdict = judged("flash3", paged, laid, launches[1].output, launches[1].lse)
            assert verdict.passed, (paged, chosen, verdict)


def shares(problem: Problem, splits: int) -> list[Share]:
    """Every tile with so many parts, heads packed where that helps, drawn and not."""
    return [
        Share(shape, packed_heads(problem, shape), splits, draws)
        for shape, draws in itertools.product((usual_shape(problem), *small_shapes(problem)), (False, True))
        if shape.groups <= MOST_GROUPS_SHARED or splits == 1
    ]


@each_layout
@each_kernel
def test_a_hundred_runs_agree_to_the_bit(cp: Any, name: str, page_size: int | None) -> None:
    """Of the build that is timed, after one of the guarded build, which would not hang."""
    for problem in (prefill(page_size=page_size, causal=True), decoding(page_size=page_size)):
        inputs = make_inputs(problem, "cuda")
        assert run(name, problem, inputs).passed
        assert differing_bits(cp, prepare(find_kernel(name), problem, inputs, "cuda"), runs=100) == 0


@each_kernel
def test_sequences_may_share_pages_and_one_may_come_twice(name: str) -> None:
    """Four sequences with a common beginning, as of one prompt, and a page that stands for two stretches."""
    problem = Problem(
        batch=4,
        heads=4,
        kv_heads=1,
        seqlen_q=5,
        seqlen_k=320,
        dtype="bfloat16",
        causal=True,
        key_lengths=(320, 161, 90, 64),
        page_size=32,
    )
    inputs = make_inputs(problem, "cuda")
    inputs.page_table[1:, :2] = inputs.page_table[0, :2]
    inputs.page_table[0, 4] = inputs.page_table[0, 1]
    verdict = run(name, problem, inputs)
    assert verdict.passed, verdict


@pytest.mark.parametrize("page_size", PAGE_SIZES)
@each_kernel
def test_one_key_in_the_last_page_is_seen_and_the_rest_of_it_is_not(
    cp: Any, name: str, page_size: int
) -> None:
    problem = Problem(
        seqlen_q=1,
        seqlen_k=3 * page_size,
        dtype="bfloat16",
        key_lengths=(2 * page_size + 1,),
        page_size=page_size,
    )
    inputs = make_inputs(problem, "cuda")
    last = int(inputs.page_table[0, 2])
    assert bool(cp.isnan(inputs.v[last, 0, 1:].astype(cp.float32)).all())
    assert run(name, problem, inputs).passed
    values = inputs.v.copy()
    values[last, 0, 0] = 8.0
    before, after = (
        attention_of(name, problem, Inputs(inputs.q, inputs.k, v, inputs.page_table))
        for v in (inputs.v, values)
    )
    assert bool((before != after).all())


def attention_of(name: str, problem: Problem, inputs: Inputs) -> Any:
    """O by way of the surface."""
    asked = {**options(problem), "page_table": inputs.page_table}
    return attention(*inputs.qkv, kernel=name, **asked)


def test_what_flash3_chooses_for_decoding_agrees_with_the_oracle() -> None:
    for heads, page_size, head_dim in itertools.product((8, 32), (16, 256), (64, 96, 128, 256)):
        problem = decoding(
            heads=heads,
            seqlen_k=32768,
            head_dim=head_dim,
            page_size=page_size,
            key_lengths=(32768, 1, 20000, 2000, 77),
        )
        verdict = run("flash3", problem)
        assert verdict.passed, (share(problem), verdict)
