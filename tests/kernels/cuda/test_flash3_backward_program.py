"""How flash3's backward pass is cut and launched for a problem, and what its products are."""

import pytest
from msgspec import structs

from flashscope.kernels.catalogue.ladder import FLASH2, FLASH3
from flashscope.kernels.catalogue.registry import choose_backward
from flashscope.kernels.catalogue.workspace_backward import flash3_tile_q
from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from tests.kernels.cases import in_mode
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.compiled import check, workload
from tests.kernels.cuda.cubin import disassembled
from tests.matrix import chosen

assert FLASH3.backward is not None
GPU = Device(backend="cuda", name="a GPU", memory_bytes=2**36, compute_capability=(9, 0))


@pytest.mark.matrix  # it takes seconds
def test_only_turns_and_sums_that_others_zero_are_waited_for() -> None:
    """The deterministic mode waits for turns; under a window nobody zeroes ahead."""
    windowed = structs.replace(workload(64), window=(256, 64))
    codes = [
        disassembled(check(flash3_backward.program(problem, ON_HOPPER), ON_HOPPER))
        for problem in (windowed, in_mode(windowed), workload(64))
    ]
    assert ["LDG.E.STRONG.GPU" in code for code in codes] == [False, True, True]


INSTRUCTIONS = {  # by head dim
    64: ("HGMMA.64x128x16.F32.BF16", "HGMMA.64x64x16.F32.BF16", "UTMALDG.3D"),
    128: ("HGMMA.64x80x16.F32.BF16", "HGMMA.64x128x16.F32.BF16", "UTMALDG.3D"),
    256: ("HGMMA.64x64x16.F32.BF16", "HGMMA.64x256x16.F32.BF16", "UTMALDG.3D.MULTICAST"),
}


@chosen("head_dim", INSTRUCTIONS, {128})
def test_the_products_are_hopper_s_and_the_sums_of_dq_are_added_to_in_memory(head_dim: int) -> None:
    code = disassembled(check(flash3_backward.program(workload(head_dim), ON_HOPPER), ON_HOPPER))
    for instruction in (*INSTRUCTIONS[head_dim], "USETMAXREG", "REDG.E.ADD.F32x4"):
        assert instruction in code


@pytest.mark.parametrize(
    ("head_dim", "deterministic", "rows", "key_stages"),
    [(64, False, 128, 2), (64, True, 128, 2), (128, False, 80, 1), (128, True, 64, 2)],
)
def test_shared_memory_is_what_the_device_code_lays_out(
    head_dim: int, deterministic: bool, rows: int, key_stages: int
) -> None:
    """K and V, twice if they fit, Q, dO, rows' states and dS twice, barriers, two places for keys.

    Also barriers of turns at dQ, or two that say that its sums are zero.
    """
    problem, keys = in_mode(workload(head_dim), deterministic), 128
    tiles = 2 * (2 * key_stages * keys * head_dim + 2 * (2 * rows * head_dim + keys * rows))
    barriers = 8 * (4 * 2 + 4 * 2) + 16 * 2 + 8 * 2 * (2 if deterministic else 1)
    found = flash3_backward.shared_bytes(problem, flash3_backward.query_cut(problem))
    assert found == 1024 + tiles + 2 * 2 * rows * 4 + barriers
    assert found <= ON_HOPPER.shared_memory
    assert flash3_backward.program(problem, ON_HOPPER).defines["TILE_Q"] == rows


@pytest.mark.parametrize(("head_dim", "zeroed_ahead"), [(64, True), (128, False)])
def test_tiles_that_are_drawn_late_have_a_barrier_for_that(head_dim: int, zeroed_ahead: bool) -> None:
    """16 bytes more, also where others say that sums are zero."""
    causal, full = (workload(head_dim, causal=causal) for causal in (True, False))
    sizes = (flash3_backward.shared_bytes(one, flash3_backward.query_cut(one)) for one in (causal, full))
    more = next(sizes) - next(sizes)
    assert more == 16 - 16 * (not zeroed_ahead)
    assert not flash3_backward.drawn_late(in_mode(causal))


def test_tiles_of_queries_leave_few_rows_behind_the_last() -> None:
    """80 at head dim 128, but 64 where that makes the fewer rows: a step of 80 takes a fifth longer."""
    tiles = {
        seqlen: flash3_tile_q(structs.replace(workload(128), seqlen_q=seqlen))
        for seqlen in (1, 64, 65, 512, 640, 768, 896, 1024, 4224)
    }
    assert tiles == {1: 64, 64: 64, 65: 80, 512: 64, 640: 80, 768: 64, 896: 64, 1024: 80, 4224: 80}


def test_under_a_causal_mask_tiles_of_queries_are_those_whose_steps_take_less() -> None:
    """A tile of keys is met from its first query on, which a tile of 80 seldom begins with."""
    tiles = {
        seqlen: flash3_backward.query_cut(
            structs.replace(workload(128, causal=True), seqlen_q=seqlen, seqlen_k=seqlen)
        )
        for seqlen in (512, 1024, 1200, 4096, 8192, 16384)
    }
    assert {seqlen for seqlen, cut in tiles.items() if cut.rows == 64} == {512, 1024, 1200, 4096}
    assert {cut.key_stages for cut in tiles.values()} == {1}


def test_rows_of_dq_that_are_turned_over_meet_no_others_in_shared_memory() -> None:
    """16 bytes more than 128 columns in each."""
    first, _, last = flash3_backward.program(workload(128), ON_HOPPER).launches
    assert last.shared_bytes == 80 * 2 * (128 + 8)
    assert first.threads == last.threads == 320
    assert flash3_backward.program(workload(64), ON_HOPPER).launches[2].shared_bytes == 0


@pytest.mark.parametrize(("deterministic", "barriers"), [(False, 160), (True, 192)])
@pytest.mark.parametrize(("head_dim", "q_rows", "grad_rows"), [(192, 3 * 64, 2 * 64), (256, 2 * 64, 3 * 32)])
def test_so_is_that_for_wide_heads(
    head_dim: int, q_rows: int, grad_rows: int, deterministic: bool, barriers: int
) -> None:
    """K, V, Q, dO, half of the pair's K, P or dS of both blocks twice, the states of Q, and the barriers."""
    tiles = 2 * ((2 * 64 + q_rows + grad_rows) * head_dim + 64 * 128 + 4 * 64 * 64)
    found = flash3_backward.wide_shared_bytes(in_mode(workload(head_dim), deterministic))
    assert found == 1024 + tiles + 2 * q_rows * 4 + barriers
    assert found <= ON_HOPPER.shared_memory


@pytest.mark.parametrize(
    ("head_dim", "batch", "seqlen", "grid"),
    [
        (64, 16, 4096, 132),
        (128, 64, 1024, 132),
        (64, 2, 4096, 2 * 4 * 32),
    ],
)
@pytest.mark.parametrize("deterministic", [False, True], ids=["any order", "deterministic"])
def test_blocks_stay_where_tiles_are_many_and_short_or_heads_narrow(
    head_dim: int, batch: int, seqlen: int, grid: int, deterministic: bool
) -> None:
    problem = structs.replace(workload(head_dim), batch=batch, seqlen_q=seqlen, seqlen_k=seqlen)
    assert flash3_backward.program(in_mode(problem, deterministic), ON_HOPPER).launches[1].grid == grid


@pytest.mark.parametrize(
    ("seqlen", "causal", "deterministic", "stay"),
    [
        (4096, False, True, False),
        (4096, False, False, True),
        (16384, False, False, True),
        (4096, True, False, True),
        (8192, True, False, True),
        (8192, True, True, False),
    ],
)
def test_at_head_dim_128_they_do_if_they_are_alike_short_or_drawn_late(
    seqlen: int, causal: bool, deterministic: bool, stay: bool
) -> None:
    problem = structs.replace(workload(128, causal=causal), batch=32, seqlen_q=seqlen, seqlen_k=seqlen)
    grid = flash3_backward.program(in_mode(problem, deterministic), ON_HOPPER).launches[1].grid
    assert grid == (132 if stay else 32 * 4 * seqlen // 128)


def test_no_block_stays_where_it_would_keep_others_waiting() -> None:
    problem = structs.replace(workload(64, causal=True), batch=16, seqlen_q=4096, seqlen_k=4096)
    assert flash3_backward.program(problem, ON_HOPPER).launches[1].grid == 132
    assert flash3_backward.program(in_mode(problem), ON_HOPPER).launches[1].grid == 16 * 4 * 32


BLOCKS = BlockMask.random(8192, 8192, block_q=24, block_k=20, kept_share=0.5)


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (workload(96), "takes head dims 64 to 256 in steps of 64 on cuda, not 96"),
        (structs.replace(workload(192), block_mask=BLOCKS), "takes no block mask at head dims over 128"),
    ],
    ids=["head dim", "block mask"],
)
def test_what_it_does_not_take_goes_to_flash2(problem: Problem, says: str) -> None:
    problem = in_mode(problem, deterministic=False)
    found = FLASH3.unsupported_backward(problem, GPU)
    assert found == f"flash3's backward pass {says}"
    assert choose_backward(problem, GPU) is FLASH2


def test_wide_heads_have_two_blocks_for_128_keys() -> None:
    assert choose_backward(workload(256, causal=True), GPU) is FLASH3
    assert flash3_backward.program(workload(256), ON_HOPPER).launches[1].grid == 2 * 2 * 4 * 64


@pytest.mark.parametrize("deterministic", [False, True], ids=["any order", "deterministic"])
def test_it_is_the_first_choice_where_it_runs(deterministic: bool) -> None:
    for problem in (
        workload(64, causal=True),
        workload(256),
        structs.replace(workload(128), block_mask=BLOCKS),
    ):
        assert choose_backward(in_mode(problem, deterministic), GPU) is FLASH3


@pytest.mark.parametrize("deterministic", [False, True], ids=["any order", "deterministic"])
def test_heads_are_taken_in_sections_where_tiles_differ_or_wait(deterministic: bool) -> None:
    """4 MiB a head at N = 4k and head dim 128: 8 heads are 32 MiB, 4 where tiles are drawn late."""
    long = structs.replace(workload(128), batch=4, seqlen_q=4096, seqlen_k=4096)
    for causal in (False, True):
        problem = structs.replace(long, causal=causal)
        expected = 8 if deterministic else 4 if causal else 1
        assert flash3_backward.section(in_mode(problem, deterministic)) == expected


@pytest.mark.parametrize(
    ("batch", "seqlen", "group", "expected"),
    [(2, 8192, 4, 2), (1, 3000, 4, 4), (1, 16384, 4, 1), (2, 8192, 1, 2)],
    ids=["even", "short", "even already", "a head each"],
)
def test_sections_of_grouped_heads_are_wider_where_they_end_more_evenly(
    batch: int, seqlen: int, group: int, expected: int
) -> None:
    problem = structs.replace(
        workload(128, causal=True), batch=batch, heads=8 * group, kv_heads=8, seqlen_q=seqlen, seqlen_k=seqlen
    )
    found = flash3_backward.section(problem)
    assert found == expected
    ends = [flash3_backward.last_end(problem, heads) for heads in (1, found)]
    assert ends[1] <= ends[0]


def test_the_last_block_ends_when_its_tiles_do() -> None:
    """Of 132 and one more tiles alike one comes second; a step is 64 or 80 queries, a tile takes 5 more."""
    problem = structs.replace(workload(128, causal=True), batch=1, heads=133, seqlen_q=128, seqlen_k=128)
    assert flash3_backward.last_end(problem, 1) == 2 * (2 + 5)
    long = structs.replace(problem, heads=2, seqlen_q=800, seqlen_k=800)
    assert flash3_backward.last_end(long, 2) == 10 + 5
