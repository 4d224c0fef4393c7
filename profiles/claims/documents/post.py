"""002: the post on scaling transformers."""

from functools import partial

from flashscope.profiles.claims.experiments import memory, passes, printed_code, recorded, traffic
from flashscope.profiles.claims.experiments.arithmetic import a100_shared_memory, confirmed, size
from flashscope.profiles.claims.experiments.gpu import history, needs_gpu
from flashscope.profiles.claims.experiments.shared import (
    footprint_ratio,
    four_matrices,
    known_context,
    memory_bound,
    same_as_reference,
)
from flashscope.profiles.claims.model import Claim

_claim = partial(Claim, "002")
FIX = "Run it with a batch of one, "


def _below_inputs() -> tuple[bool, str]:
    n, d, m = 8192, 64, 20e6 / 2
    by_formula, inputs = n**2 * d**2 / m, 4 * n * d
    told = f"at N = {n:,}, d = {d} that is {by_formula:,.0f} elements, Q, K, V and O alone are {inputs:,}"
    return by_formula >= inputs, f"{told}: M is one block's memory, not all of the chip's"


CLAIMS: tuple[Claim, ...] = (
    _claim((3, 99), "Attention gets 2 to 4 times as fast.", recorded.speedup("flash2", "standard", 2, 4)),
    _claim((3, 98, 100), "FlashAttention approximates nothing.", same_as_reference(claimed=True), part="b"),
    _claim(
        (7,),
        "S of 8192 tokens takes 256 MB a head in float32.",
        size("256 MB", lambda: 8192**2 * 4, "8192² × 4 B"),
    ),
    _claim((8,), "32 heads of it take 8 GB.", size("8 GB", lambda: 32 * 8192**2 * 4, "32 × 8192² × 4 B")),
    _claim((9,), "GPT-3 was limited to 2048 tokens.", known_context(2048, 2048)),
    _claim(
        (14,),
        "There are about 20 MB of SRAM.",
        size("20 MB", lambda: 108 * 192 * 1024, "108 multiprocessors × 192 KiB"),
    ),
    _claim(
        (14,),
        "SRAM is read at about 19 TB/s.",
        a100_shared_memory(),
        part="b",
    ),
    _claim((15,), "HBM has 40 to 80 GB at about 1.5 TB/s.", needs_gpu("an A100", "a figure of its memory")),
    _claim((16, 97), "Memory traffic is the bottleneck.", memory_bound()),
    _claim((17, 19), "Standard attention's three steps move S and P to HBM and back.", four_matrices()),
    _claim(
        (24, 54),
        "The pseudo-code computes attention.",
        printed_code.agrees(printed_code.unsqueezed, 128, 32, FIX + "128 tokens, d = 32."),
    ),
    _claim(
        (47, 50),
        "The pseudo-code is right where d is 64, too, and all shapes happen to fit.",
        printed_code.agrees(printed_code.unsqueezed, 128, 64, FIX + "128 tokens, d = 64."),
    ),
    _claim(
        (57, 59), "A stable softmax takes two passes.", passes.passes(passes.stable, 2, "the stable softmax")
    ),
    _claim(
        (60,), "The online softmax takes one pass.", passes.passes(passes.online, 1, "the online softmax")
    ),
    _claim(
        (61,),
        "Attention with the online softmax takes one pass over the scores.",
        passes.passes(passes.fused_passes, 1, "attention with the online softmax"),
    ),
    _claim((65,), "Standard attention's memory is O(n²).", memory.growth("standard", 4)),
    _claim(
        (65,),
        "Standard attention's traffic is O(n²d + n²).",
        traffic.standard_moves("n²d + n²", lambda p: p.seqlen_q**2 * (p.head_dim + 1)),
        part="b",
    ),
    _claim((66, 68), "FlashAttention's memory is O(n).", memory.growth("flash2", 2)),
    _claim((66,), "FlashAttention's traffic is O(n²d² / M).", traffic.falls_with_memory(), part="b"),
    _claim(
        (67,),
        "In n²d² / M the memory M is about 20 MB.",
        confirmed("Put M = 20 MB into n²d² / M.", _below_inputs),
    ),
    _claim(
        (83,),
        "The flash-attn library needs compute capability 8.0.",
        needs_gpu("a GPU older than 8.0", "the library would have to be tried there"),
    ),
    _claim((77,), "A library enables version 2 by itself.", history("it is about another library")),
    _claim(
        (89,),
        "Version 2 is twice as fast as version 1.",
        recorded.about_twice("flash2", "flash1", recorded.filled),
    ),
    _claim(
        (94,),
        "Version 3 is 1.5 to 2 times as fast as version 2.",
        recorded.speedup("flash3", "torch-flash", 1.5, 2),
    ),
    _claim(
        (99,),
        "Memory shrinks 10 to 20 times for long sequences.",
        footprint_ratio(10, 20, (4096, 16_384, 32_768)),
        part="b",
    ),
    _claim(
        (13, 15),
        "SRAM is about 12 times as fast as HBM.",
        recorded.on_chip_faster(12, 0.1),
    ),
)
