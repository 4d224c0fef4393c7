"""004, lines 160 to 301: tiling, memory and traffic."""

from functools import partial

from flashscope.profiles.claims.experiments import memory, printed_code, traffic
from flashscope.profiles.claims.experiments.arithmetic import computed_number, confirmed, size
from flashscope.profiles.claims.experiments.gpu import needs_gpu
from flashscope.profiles.claims.experiments.shared import dram_saved, four_matrices
from flashscope.profiles.claims.model import Claim

_claim = partial(Claim, "004")
M_BYTES = 96 * 1024
FP16 = 2


def io_reduction(n: int, d: int, sram: int = M_BYTES) -> float:
    """compute_flash_attention_io, lines 259 to 293: standard's elements over the tiled kernel's."""
    m = sram // FP16
    standard = 4 * n * n + 4 * n * d
    block = m // (4 * d)
    blocks = (n + block - 1) // block
    return standard / (3 * n * d + 2 * blocks * n * d + n * d)


def _tile_triple() -> tuple[bool, str]:
    m, d, rows = M_BYTES // FP16, 64, 64
    columns = m // d - 2 * rows  # the most that the printed sum allows
    really = (rows + 2 * columns) * d
    told = (
        f"B_r = {rows} and B_c = {columns}, which the printed sum allows, take {really:,} elements of {m:,}"
    )
    return really <= m, f"{told}: it counts Q twice, and K and V once"


def _solved() -> tuple[bool, str]:
    m, d = M_BYTES // FP16, 64
    solved = m // (3 * d)
    return solved == m // (
        4 * d
    ), f"2 B_r d + B_c d ≤ M with B_r = B_c gives M / 3d = {solved}, not M / 4d = {m // (4 * d)}"


def _own_function() -> tuple[bool, str]:
    ratios = {(n, d): io_reduction(n, d) for n, d in ((4096, 64), (8192, 128), (32_768, 64))}
    told = ", ".join(f"{ratio:.1f}× at N = {n:,}, d = {d}" for (n, d), ratio in ratios.items())
    return all(5 <= round(ratio, 1) <= 6 for ratio in ratios.values()), told


CLAIMS: tuple[Claim, ...] = (
    _claim(
        (169,),
        "Q, K and V tiles fit if B_r d + B_c d + B_r d ≤ M.",
        confirmed("Fill M by that sum, and add up Q, K and V.", _tile_triple),
    ),
    _claim((173,), "The tiles' sum with B_r = B_c gives B_c = M / 4d.", confirmed("Solve it.", _solved)),
    _claim((171,), "SRAM is 96 to 200 KB a multiprocessor on modern GPUs.", traffic.shared_memory(96, 200)),
    _claim(
        (177, 215),
        "The pseudo-code computes the attention of lines 29 to 33.",
        printed_code.agrees(
            printed_code.query_blocks, 64, 16, "Run it on 64 tokens, against softmax(QKᵀ) V.", 1.0
        ),
    ),
    _claim((217,), "FlashAttention's memory is linear in N.", memory.growth("flash2", 2)),
    _claim(
        (227, 649),
        "S of 4,096 tokens takes 32 MB a head in 16 bits.",
        size("32 MB", lambda: 4096**2 * 2, "4096² × 2 B"),
    ),
    _claim(
        (229,),
        "O of 4,096 tokens takes 512 KB a head.",
        size("512 KB", lambda: 4096 * 64 * 2, "4096 × 64 × 2 B"),
    ),
    _claim(
        (231,),
        "At 4,096 tokens tiling takes 64 times less memory.",
        computed_number("64", lambda: 4096**2 / (4096 * 64), "N² / Nd"),
    ),
    _claim(
        (231,),
        "At 32,768 tokens tiling takes 4096 times less memory.",
        computed_number("4096", lambda: 32_768**2 / (32_768 * 64), "N² / Nd"),
        part="b",
    ),
    _claim((242, 649, 725), "Standard attention moves 4 N² elements.", four_matrices()),
    _claim(
        (247,), "All query blocks together read N² d / B_r elements of K and V.", traffic.reads_of_k_and_v(1)
    ),
    _claim((249,), "FlashAttention's traffic is O(N² d² / M).", traffic.falls_with_memory()),
    _claim(
        (253,),
        "96 KB are 6144 elements of 16 bits.",
        computed_number("6144", lambda: M_BYTES / FP16, "96 × 1024 / 2"),
    ),
    _claim(
        (255,),
        "d² / 4M is then about 1/6.",
        computed_number("6", lambda: 4 * (M_BYTES / FP16) / 64**2, "4M / d² with M = 49,152", 0.1),
    ),
    _claim((257,), "6 times fewer bytes cross the HBM bus.", dram_saved(5, 7)),
    _claim(
        (259, 300),
        "The traffic function printed there says 5 to 6 times fewer bytes.",
        confirmed("Run it on its three examples.", _own_function),
    ),
    _claim(
        (297,), "An A100 has 192 KB of L2 a multiprocessor.", needs_gpu("an A100", "a figure of its caches")
    ),
)
