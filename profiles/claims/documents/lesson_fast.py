"""004, from line 302 on: versions 2 and 3, use in PyTorch, and the interview's answers."""

from functools import partial

from flashscope.profiles.claims.experiments import backward, memory, online, recorded, traffic
from flashscope.profiles.claims.experiments.arithmetic import computed_number, confirmed, size
from flashscope.profiles.claims.experiments.gpu import needs_gpu
from flashscope.profiles.claims.experiments.memory import A100_GB, square
from flashscope.profiles.claims.experiments.shared import dram_saved, longest_run
from flashscope.profiles.claims.lab import SHEET, SHEET_TFLOPS
from flashscope.profiles.claims.model import Claim, not_here

_claim = partial(Claim, "004")
A100_PEAK = 312  # TFLOP/s, line 56
FA2, FA3 = ("torch-flash",), ("flash3", "flash-attn-4")
NO_MASKS = "this program hands PyTorch no mask but the causal one"


def _below(peak: float, source: str, *stated: float) -> tuple[bool, str]:
    return max(
        stated
    ) <= peak, f"stated: {', '.join(f'{one:,} TFLOP/s' for one in stated)}; the peak is {peak:,g} ({source})"


def _flash_bytes() -> float:
    return 4 * 4096 * 64 * 2 * 32


CLAIMS: tuple[Claim, ...] = (
    _claim(
        (304,),
        "Version 2 is another 2 times as fast as version 1.",
        recorded.about_twice("flash2", "flash1", recorded.filled),
    ),
    _claim(
        (308,), "Version 1 lacks blocks where sequences are short.", traffic.blocks_of("flash1", grows=False)
    ),
    _claim(
        (308,),
        "Version 2 fills the GPU even with 512 tokens.",
        traffic.blocks_of("flash2", grows=True),
        part="b",
    ),
    _claim(
        (312, 685),
        "Tensor cores do 16 times the other units' work: 312 and 19.5 TFLOP/s.",
        computed_number("16", lambda: 312 / 19.5, "312 / 19.5"),
    ),
    _claim(
        (333,),
        "Version 2 reaches 227 TFLOP/s on an A100, version 1 149.",
        needs_gpu("an A100", "a runtime on it"),
    ),
    _claim(
        (333,),
        "Version 2's 227 TFLOP/s are 1.52 times version 1's.",
        computed_number("1.52", lambda: 227 / 149, "227 / 149"),
        part="b",
    ),
    _claim(
        (334, 335),
        "Version 2 reaches 335 and 368 TFLOP/s on an A100.",
        confirmed("Compare with the peak of line 56.", lambda: _below(A100_PEAK, "004, line 56", 335, 368)),
    ),
    _claim(
        (334,),
        "Version 2's 335 TFLOP/s are 1.69 times version 1's.",
        computed_number("1.69", lambda: 335 / 198, "335 / 198"),
        part="b",
    ),
    _claim(
        (335,),
        "Version 2's 368 TFLOP/s are 1.73 times version 1's.",
        computed_number("1.73", lambda: 368 / 213, "368 / 213"),
        part="b",
    ),
    _claim(
        (353, 746),
        "8-bit tensor cores are twice as fast as 16-bit ones.",
        not_here("products alone in 8 bits are not measured here"),
    ),
    _claim(
        (353,), "8 bits make attention as a whole twice as fast.", recorded.faster_in_8_bits(1.9), part="b"
    ),
    _claim(
        (358,),
        "Version 2 reaches 670 TFLOP/s on an H100 at N = 8192.",
        recorded.throughput(FA2, 670, 128, 8192, on_h100=True),
    ),
    _claim(
        (358,),
        "Version 3 reaches 1000 TFLOP/s on an H100 at N = 8192.",
        recorded.throughput(FA3, 1000, 128, 8192, on_h100=True),
        part="b",
    ),
    _claim(
        (358,),
        "Version 3's 1000 TFLOP/s are 1.49 times version 2's.",
        computed_number("1.49", lambda: 1000 / 670, "1000 / 670"),
        part="c",
    ),
    _claim(
        (359,),
        "Version 3 reaches 1300 TFLOP/s in 8 bits.",
        recorded.throughput(("flash3-fp8",), 1300, 128, 8192),
    ),
    _claim(
        (358, 360),
        "1000 and 1100 TFLOP/s in 16 bits are possible on an H100.",
        confirmed(
            "Compare with the peak of 16-bit products.", lambda: _below(SHEET_TFLOPS, SHEET, 1000, 1100)
        ),
        part="d",
    ),
    _claim(
        (360,),
        "Version 2 reaches 720 and version 3 1100 TFLOP/s at N = 32,768, 1.53 times.",
        computed_number("1.53", lambda: 1100 / 720, "1100 / 720"),
    ),
    _claim(
        (379, 432, 609, 625),
        "In float32 PyTorch falls back to the plain kernel.",
        recorded.chosen_in_float32(),
    ),
    _claim(
        (380, 441, 627, 711),
        "Head dims other than 64, 128 and 256 make PyTorch fall back.",
        recorded.refuses_head_dim(96),
    ),
    _claim((436, 629), "Any mask but a causal one makes PyTorch fall back.", not_here(NO_MASKS)),
    _claim((507,), "A sliding window of w makes attention O(N w).", traffic.windowed()),
    _claim((555, 558), "At its peak inference holds S and P of all layers.", memory.layers_in_turn()),
    _claim(
        (625,),
        "PyTorch in float32 holds 64 times as much at a fifth of the throughput.",
        recorded.float32_costs(64, 5),
        part="b",
    ),
    _claim((631,), "The backward pass has 2 to 3 times the operations.", backward.more_flops(2, 3)),
    _claim(
        (640,),
        "PyTorch dispatches to FlashAttention from 2.0 on.",
        not_here("it takes an older PyTorch beside this one"),
    ),
    _claim(
        (655,),
        "d² / M is about 1/6.",
        computed_number("6", lambda: 96 * 1024 / 2 / 64**2, "M / d² with M = 49,152", 0.1),
    ),
    _claim((668, 672), "Sum and output are rescaled by e^(m − m_new).", online.merged()),
    _claim(
        (687,),
        "Version 2's three changes make it twice as fast on an A100.",
        needs_gpu("an A100", "a runtime on it"),
    ),
    _claim(
        (706,),
        "S and P of 4,096 tokens and 32 heads take about 2 GB.",
        size("2 GB", lambda: memory.workspace("standard", square(4096, 32)), "2 × 32 × 4096² × 2 B"),
    ),
    _claim(
        (706,),
        "Tiled, 4,096 tokens and 32 heads take about 32 MB.",
        size("32 MB", _flash_bytes, "Q, K, V and O, 4 × 4096 × 64 × 2 B × 32 heads"),
        part="b",
    ),
    _claim((729,), "The tiled kernel's reads come to 2Nd + 2N²d / B_r.", traffic.matches_flash2()),
    _claim((733,), "An A100 has 40 KB of SRAM a multiprocessor.", traffic.ampere_memory(40)),
    _claim(
        (733,),
        "40 KB are 20,480 elements of 16 bits.",
        computed_number("20480", lambda: 40 * 1024 / 2, "40 × 1024 / 2"),
        part="b",
    ),
    _claim(
        (733,),
        "d² / M with M = 20,480 is 0.2.",
        computed_number("0.2", lambda: 64**2 / 20_480, "64² / 20,480"),
        part="c",
    ),
    _claim((735,), "5 times fewer bytes cross the HBM bus.", dram_saved(4, 6)),
    _claim(
        (748,),
        "1000 TFLOP/s and more are 75% of an H100's peak.",
        computed_number("0.75", lambda: 1000 / SHEET_TFLOPS, "1000 / 989.4 TFLOP/s", 0.05),
    ),
    _claim(
        (761,),
        "FlashAttention is 2 to 4 times as fast in practice.",
        recorded.speedup("flash2", "standard", 2, 4),
    ),
    _claim(
        (765,),
        "Above 2048 tokens a model does not fit without FlashAttention.",
        memory.fits("standard", square(4096, 32, 128), A100_GB, claimed=False),
    ),
    _claim((765,), "Standard attention ends at 2048 tokens.", longest_run("standard", 1, 2048), part="b"),
)
