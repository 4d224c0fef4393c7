from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.catalogue import traffic
from flashscope.kernels.catalogue.flash3_share import share
from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.traffic import Tiles
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.profiles.results.model.rows import rows as rows_of
from flashscope.profiles.results.theory import formulas as theory
from flashscope.profiles.results.theory.bytes_moved import compulsory, dram_bytes
from flashscope.profiles.store import load
from tests.kernels.masked import kept, masked_problems
from tests.matrix import in_rounds

SESSIONS = Path(__file__).parents[4] / "assets" / "sessions"
ON_CUDA = [spec for spec in LADDER if "cuda" in spec.dtypes]


def problem(seqlen: int) -> Problem:
    return Problem(seqlen_q=seqlen, seqlen_k=seqlen)


@pytest.mark.parametrize("kernel", ["flash1", "flash2"])
def test_the_standard_footprint_grows_fourfold_where_the_tiled_grow_twofold(kernel: str) -> None:
    small, large = problem(4096), problem(8192)
    standard, tiled = (
        spec.predicted_bytes(large, "cuda") / spec.predicted_bytes(small, "cuda")
        for spec in (find_kernel("standard"), find_kernel(kernel))
    )
    assert standard == pytest.approx(4, rel=0.05)
    assert tiled == pytest.approx(2, rel=0.01)


def test_flash2_moves_q_and_o_once_and_k_and_v_once_a_query_block() -> None:
    n, d, e = 1024, 64, 4
    assert traffic.flash2_io(problem(n), Tiles(128, 64)) == 2 * n * d * e + 4 * n + (n // 128) * 2 * n * d * e


def test_flash1_moves_o_m_and_l_twice_a_key_block() -> None:
    n, d, e = 1024, 64, 4
    expected = 2 * n * d * e + n * d * e + 4 * n + (n // 64) * (n * d * e + 2 * n * d * 4 + 16 * n)
    assert traffic.flash1_io(problem(n), Tiles(128, 64)) == expected


def test_standard_moves_four_score_matrices() -> None:
    n = 8192
    four = 4 * n * n * 4
    assert four < traffic.standard_io(problem(n), Tiles()) < 2 * four


def test_scores_in_float32_add_two_bytes_to_each_write_and_read_of_s() -> None:
    half = Problem(seqlen_q=4096, seqlen_k=4096, dtype="float16")
    added = 2 * 2 * 4096**2
    ours, rounded = (traffic.standard_fp32s_io(half, Tiles()), traffic.standard_io(half, Tiles()))
    assert ours - rounded == added
    dram, rounded_dram = (
        theory.compulsory_dram_bytes(name, half, "cuda") for name in ("standard-fp32s", "standard")
    )
    assert dram - rounded_dram == added
    assert traffic.standard_fp32s_io(problem(4096), Tiles()) == traffic.standard_io(problem(4096), Tiles())


@given(
    rows=st.integers(1, 700),
    keys=st.integers(1, 700),
    block_q=st.integers(1, 130),
    block_k=st.integers(1, 130),
)
def test_a_causal_mask_never_adds_traffic_and_one_that_hides_nothing_takes_none_away(
    rows: int, keys: int, block_q: int, block_k: int
) -> None:
    full = Problem(seqlen_q=rows, seqlen_k=keys)
    causal = Problem(seqlen_q=rows, seqlen_k=keys, causal=True)
    for formula in (traffic.flash1_io, traffic.flash2_io):
        masked, unmasked = (formula(p, Tiles(block_q, block_k)) for p in (causal, full))
        assert masked <= unmasked
        if rows == 1:
            assert masked == unmasked


@given(masked_problems(), st.integers(1, 40), st.integers(1, 40))
def test_tiled_traffic_is_that_of_the_tiles_that_keep_a_pair(
    problem: Problem, block_q: int, block_k: int
) -> None:
    pairs, d, e = kept(problem), problem.head_dim, problem.itemsize
    flash1 = flash2 = 0
    loaded = set()
    for q, k in product(range(0, problem.seqlen_q, block_q), range(0, problem.seqlen_k, block_k)):
        tile = pairs[q : q + block_q, k : k + block_k]
        if tile.any():
            flash1 += tile.shape[0] * (d * e + 2 * d * 4 + 16)
            flash2 += 2 * tile.shape[1] * d * e
            loaded |= set(range(k, k + tile.shape[1]))
    flash1 += 2 * len(loaded) * d * e + problem.seqlen_q * (d * e + 4)
    flash2 += 2 * problem.seqlen_q * d * e + problem.seqlen_q * 4
    heads = problem.batch * problem.heads
    assert traffic.flash1_io(problem, Tiles(block_q, block_k)) == heads * flash1
    assert traffic.flash2_io(problem, Tiles(block_q, block_k)) == heads * flash2


def test_heads_in_one_tile_load_their_keys_together_and_parts_pass_twice_in_float32() -> None:
    p = Problem(heads=32, kv_heads=8, seqlen_q=1, seqlen_k=65536, head_dim=128, dtype="bfloat16", causal=True)
    assert share(p)[1:3] == (4, 16)
    keys_and_values, rows = 2 * 8 * 65536 * 128 * 2, 32 * (2 * 128 * 2 + 4)
    parts = 2 * 16 * 32 * (128 + 2) * 4
    assert theory.tile_io_bytes("flash3", p, "cuda") == keys_and_values + rows + parts
    assert theory.tile_io_bytes("flash2", p, "cuda") == 4 * keys_and_values + rows


def test_flash3_moves_what_flash2_moves_where_tiles_are_many_and_more_where_they_are_small() -> None:
    many, few = (Problem(heads=heads, seqlen_q=1024, seqlen_k=1024, dtype="bfloat16") for heads in (256, 8))
    assert theory.tile_io_bytes("flash3", many, "cuda") == theory.tile_io_bytes("flash2", many, "cuda")
    assert theory.tile_io_bytes("flash3", few, "cuda") == traffic.flash2_io(few, Tiles(64, 64))


class Hbm:
    """Counts the bytes of what a loop loads and stores."""

    def __init__(self) -> None:
        self.moved = 0

    def move(self, rows: range, columns: int, itemsize: int) -> None:
        self.moved += len(rows) * columns * itemsize


def blocks_of(length: int, block: int) -> list[range]:
    return [range(at, min(at + block, length)) for at in range(0, length, block)]


class Standard:
    """Three launches of blocked loops, S = QK^T, P = softmax(S), O = PV, which pass by tiles without a pair.

    Attributes:
        other: What moves beside S and P.
        scores: S, written and read.
        weights: P, written and read.
    """

    def __init__(self, p: Problem, tiles: Tiles) -> None:
        self.other, self.scores, self.weights = Hbm(), Hbm(), Hbm()
        d, e, pairs = p.head_dim, p.itemsize, kept(p)
        for rows in blocks_of(p.seqlen_q, tiles.block_q):
            for keys in blocks_of(p.seqlen_k, tiles.block_k):
                if not pairs[rows.start : rows.stop, keys.start : keys.stop].any():
                    continue
                self.other.move(rows, d, e)
                self.other.move(keys, 2 * d, e)  # K for S, V for O
                self.scores.move(rows, len(keys), e)
                for _ in ("the softmax writes", "the product reads"):
                    self.weights.move(rows, len(keys), e)
            self.other.move(rows, d, e)  # O
            self.other.move(rows, 1, 4)  # LSE
        for row in pairs:
            self.scores.move(range(1), int(row.sum()), e)

    @property
    def moved(self) -> int:
        return self.other.moved + self.scores.moved + self.weights.moved


def run_flash1(p: Problem, tiles: Tiles) -> int:
    """Keys outer, queries inner: O, m and l of float32 are read and written for each pair of blocks."""
    hbm, d, e = Hbm(), p.head_dim, p.itemsize
    for keys in blocks_of(p.seqlen_k, tiles.block_k):
        hbm.move(keys, 2 * d, e)  # K and V
        for rows in blocks_of(p.seqlen_q, tiles.block_q):
            hbm.move(rows, d, e)
            for _ in ("load", "store"):
                hbm.move(rows, d + 2, 4)
    for rows in blocks_of(p.seqlen_q, tiles.block_q):
        hbm.move(rows, d, e)
        hbm.move(rows, 1, 4)
    return hbm.moved


def run_flash2(p: Problem, tiles: Tiles) -> int:
    """Queries outer, keys inner."""
    hbm, d, e = Hbm(), p.head_dim, p.itemsize
    for rows in blocks_of(p.seqlen_q, tiles.block_q):
        hbm.move(rows, d, e)
        for keys in blocks_of(p.seqlen_k, tiles.block_k):
            hbm.move(keys, 2 * d, e)
        hbm.move(rows, d, e)
        hbm.move(rows, 1, 4)
    return hbm.moved


@given(
    rows=st.integers(1, 300),
    keys=st.integers(1, 300),
    heads=st.integers(1, 4),
    head_dim=st.integers(1, 130),
    dtype=st.sampled_from(["float32", "float16"]),
    tiles=st.builds(Tiles, st.integers(1, 140), st.integers(1, 140)),
)
def test_the_formulas_count_what_a_loop_that_is_run_loads_and_stores(
    *, rows: int, keys: int, heads: int, head_dim: int, dtype: Dtype, tiles: Tiles
) -> None:
    p = Problem(seqlen_q=rows, seqlen_k=keys, heads=heads, head_dim=head_dim, dtype=dtype)
    assert traffic.standard_io(p, tiles) == heads * Standard(p, tiles).moved
    assert traffic.flash1_io(p, tiles) == heads * run_flash1(p, tiles)
    assert traffic.flash2_io(p, tiles) == heads * run_flash2(p, tiles)


@given(masked_problems(), st.builds(Tiles, st.integers(1, 40), st.integers(1, 40)))
def test_standard_moves_what_the_tiles_that_keep_a_pair_take(p: Problem, tiles: Tiles) -> None:
    assert traffic.standard_io(p, tiles) == p.batch * p.heads * Standard(p, tiles).moved


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(masked_problems(longest=200))
def test_s_and_p_are_written_and_all_of_them_that_no_cache_keeps_is_read_again(turn: int, p: Problem) -> None:
    once, heads = needed_bytes(p), p.batch * p.heads
    counted = Standard(p, traffic.TILES["cuda"])
    size = heads * counted.weights.moved // 2
    passed = heads * (counted.scores.moved + counted.weights.moved)
    assert theory.compulsory_dram_bytes("standard", p, "cuda", 0) == once + passed
    assert theory.compulsory_dram_bytes("standard", p, "cuda", 2 * size) == once + 2 * size
    assert theory.compulsory_dram_bytes("flash1", p, "cuda", 0) == once


def needed_bytes(p: Problem) -> int:
    """Inputs and outputs but for the keys that no query sees, of a block mask in whole blocks of keys."""
    seen = [bool(column.any()) for column in kept(p).T]
    size = 1 if p.block_mask is None else p.block_mask.block_k
    blocks = [seen[at : at + size] for at in range(0, p.seqlen_k, size)]
    hidden = sum(len(block) for block in blocks if not any(block))
    return p.input_bytes + p.output_bytes - p.batch * p.key_heads * hidden * 2 * p.head_dim * p.itemsize


@in_rounds(4)
@settings(max_examples=50, deadline=None)
@given(masked_problems(longest=300))
def test_keys_that_masks_hide_from_all_queries_need_not_cross_the_bus(turn: int, p: Problem) -> None:
    crossed = {name: theory.compulsory_dram_bytes(name, p, "cuda") for name in ("flash1", "flash2", "flash3")}
    assert set(crossed.values()) == {needed_bytes(p)}


def test_a_decode_under_a_window_reads_no_more_from_memory_than_its_loops_load() -> None:
    p = Problem(seqlen_q=1, seqlen_k=65_536, heads=8, window=(1023, 0), dtype="float16", causal=True)
    crossed, loaded = (
        formula("flash2", p, "cuda") or 0 for formula in (theory.compulsory_dram_bytes, theory.tile_io_bytes)
    )
    assert crossed == 8 * (1024 * 2 * 64 * 2 + 2 * 64 * 2 + 4) <= loaded
    assert theory.compulsory_dram_bytes("standard", p, "cpu") > p.input_bytes  # it multiplies all keys there


class Cache:
    """Of whole rows, which drops the one that was used least lately; what it drops changed is written."""

    def __init__(self, nbytes: int) -> None:
        self.room, self.held, self.read, self.written = nbytes, dict[tuple[str, int], bool](), 0, 0

    def use(self, row: tuple[str, int], nbytes: int, *, change: bool) -> None:
        was_there, changed = row in self.held, self.held.pop(row, False) or change
        self.read += 0 if was_there or change else nbytes
        self.held[row] = changed
        while len(self.held) * nbytes > self.room:
            self.written += nbytes * self.held.pop(next(iter(self.held)))

    def flush(self, nbytes: int) -> None:
        self.written += nbytes * sum(self.held.values())
        self.held.clear()


@given(count=st.integers(20, 120), cache=st.integers(1, 60_000))
def test_s_and_p_cross_the_bus_as_through_a_cache_that_drops_what_is_oldest(count: int, cache: int) -> None:
    p = Problem(seqlen_q=count, seqlen_k=128, dtype="float16")
    row, seen = 128 * 2, Cache(cache)
    for name, other in ((None, "S"), ("S", "P"), ("P", None)):  # what each launch reads and writes
        for n in range(count):
            if name is not None:
                seen.use((name, n), row, change=False)
            if other is not None:
                seen.use((other, n), row, change=True)
    seen.flush(row)
    passed = theory.compulsory_dram_bytes("standard", p, "cuda", cache) - p.input_bytes - p.output_bytes
    assert passed == pytest.approx(seen.read + seen.written, abs=4 * row)


def test_on_the_cpu_standard_alone_leaves_nothing_out_under_a_mask() -> None:
    whole = problem(1024)
    causal = Problem(seqlen_q=1024, seqlen_k=1024, causal=True)
    for formula in (theory.tile_io_bytes, theory.compulsory_dram_bytes):
        assert formula("standard", causal, "cpu") == formula("standard", whole, "cpu")
        assert (formula("standard", causal, "cuda") or 0) < 0.7 * (formula("standard", whole, "cuda") or 0)
    tiled = theory.tile_io_bytes("flash2", causal, "cpu"), theory.tile_io_bytes("flash2", whole, "cpu")
    assert (tiled[0] or 0) < (tiled[1] or 0)


def test_the_formula_says_what_counters_saw_of_standard_on_the_h200() -> None:
    session = load(SESSIONS / "h200-traffic.flashscope")
    of_standard = [row for row in rows_of(session) if row.kernel == "standard" and row.seqlen >= 2048]
    ratios = [
        (moved.nbytes / (compulsory(row).value or 1)) for row in of_standard if (moved := dram_bytes(row))
    ]
    assert len(ratios) == 4
    assert all(0.98 < ratio < 1.02 for ratio in ratios), ratios


@pytest.mark.parametrize("spec", ON_CUDA, ids=lambda spec: spec.name)
def test_every_cuda_kernel_of_ours_has_a_formula_for_its_traffic(spec: KernelSpec) -> None:
    assert theory.tile_io_bytes(spec.name, problem(256), "cuda")


def test_intensity_is_flops_a_byte() -> None:
    p = problem(128)
    assert theory.arithmetic_intensity(p, p.flops // 2) == 2


def test_fused_reads_k_and_v_for_every_16_queries_and_what_masks_hide_on_the_cpu_alone() -> None:
    p, causal = problem(1024), Problem(seqlen_q=1024, seqlen_k=1024, causal=True)
    e, d = p.itemsize, p.head_dim
    once = 2 * 1024 * d * e + 1024 * 4
    assert theory.tile_io_bytes("fused", p, "cuda") == once + 1024 // 16 * 2 * 1024 * d * e
    assert theory.tile_io_bytes("fused", p, "cpu") == once + 1024 // 128 * 2 * 1024 * d * e
    assert theory.tile_io_bytes("fused", causal, "cpu") == theory.tile_io_bytes("fused", p, "cpu")
    assert (theory.tile_io_bytes("fused", causal, "cuda") or 0) < 0.6 * (
        theory.tile_io_bytes("fused", p, "cuda") or 0
    )
