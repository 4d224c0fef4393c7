"""000: the overview of problem, solution and versions."""

from functools import partial

from flashscope.profiles.claims.experiments import backward, memory, online, printed_code, recorded, traffic
from flashscope.profiles.claims.experiments.gpu import history, needs_training
from flashscope.profiles.claims.experiments.memory import square
from flashscope.profiles.claims.experiments.shared import (
    dram_saved,
    equal_flops,
    hopper_alone,
    known_context,
    longest_run,
    million_tokens,
    runtime_growth,
    same_as_reference,
    would_not_fit,
)
from flashscope.profiles.claims.model import Claim

_claim = partial(Claim, "000")
TILED = ("flash2", "flash3", "torch-flash", "torch-cudnn", "flash-attn-4")

CLAIMS: tuple[Claim, ...] = (
    _claim((9,), "Standard attention's time grows as N².", runtime_growth("standard")),
    _claim((10, 166), "Standard attention's memory grows as N².", memory.growth("standard", 4)),
    _claim(
        (12,),
        "Standard attention's practical context ends at 4k to 16k tokens.",
        longest_run("standard", 4096, 16_384),
    ),
    _claim(
        (13, 170),
        "Standard attention uses 40 to 50% of a GPU.",
        recorded.utilisation(("standard",), 0.4, 0.5),
    ),
    _claim((19,), "Flash attention's time grows as N², too.", runtime_growth("flash2")),
    _claim((20, 123, 166), "Flash attention's memory grows as N.", memory.growth("flash2", 2)),
    _claim(
        (22,),
        "Flash attention's practical context is 16k to 64k tokens and more.",
        longest_run("flash2", 65_536, 1 << 30),
    ),
    _claim(
        (23, 136, 170),
        "Flash attention uses 75% of an H100.",
        recorded.utilisation(TILED, 0.75, 1.0, (128,), on_h100=True),
    ),
    _claim((25, 33), "Flash attention accesses HBM less often.", dram_saved(1)),
    _claim(
        (33,), "Flash attention does the same operations, and gains by moving less.", equal_flops(), part="b"
    ),
    _claim((46, 48), "Running maximum and sum merge exactly.", online.merged()),
    _claim((49,), "The online softmax only approximates softmax.", same_as_reference(claimed=False)),
    _claim(
        (60, 90),
        "The pseudo-code of version 2 computes attention.",
        printed_code.agrees(
            printed_code.row_blocks, 512, 32, "Run it on 512 tokens, a multiple of its blocks."
        ),
    ),
    _claim(
        (61, 71),
        "The pseudo-code of version 2 takes any N.",
        printed_code.agrees(printed_code.row_blocks, 600, 32, "Run it on 600 tokens."),
        part="b",
    ),
    _claim((63, 64), "Blocks of 256 rows and 32 columns fit on the chip.", traffic.blocks_fit(256, 32)),
    _claim(
        (102, 174), "Training is 2 to 4 times as fast.", needs_training("a model, its data and days on GPUs")
    ),
    _claim(
        (109,), "4k tokens are no trouble for standard attention.", longest_run("standard", 4096, 1 << 30)
    ),
    _claim(
        (110,),
        "16k tokens still fit with standard attention, tightly.",
        memory.fits("standard", square(16_384, 16), 80, claimed=True),
    ),
    _claim((111,), "32k tokens are not possible with standard attention.", would_not_fit(32_768)),
    _claim((112,), "64k to 128k tokens are impossible with standard attention.", would_not_fit(65_536)),
    _claim(
        (112,), "64k to 128k tokens are feasible tiled.", longest_run("flash2", 65_536, 1 << 30), part="b"
    ),
    _claim((113,), "200k to 1M tokens are possible tiled.", million_tokens()),
    _claim(
        (122,),
        "Version 1 is 2 to 4 times as fast as standard.",
        recorded.speedup("flash1", "standard", 2, 4, recorded.filled),
    ),
    _claim((124,), "Version 1 optimises the forward pass alone.", backward.recomputed(claimed=False)),
    _claim(
        (130,), "Version 2 is 4 to 7 times as fast as standard.", recorded.speedup("flash2", "standard", 4, 7)
    ),
    _claim(
        (130,),
        "The FlashAttention-2 library is 4 to 7 times as fast as standard.",
        recorded.speedup("torch-flash", "standard", 4, 7),
        part="b",
    ),
    _claim((131,), "Version 2 uses 90% of a GPU and more.", recorded.utilisation(("torch-flash",), 0.9, 1.0)),
    _claim((138,), "Version 3 is made for the A100, too.", hopper_alone()),
    _claim((148,), "Transformers of 2017 had contexts of 4k.", history("it is about models, not kernels")),
    _claim((152,), "GPT-3's context is 4k to 8k tokens.", known_context(4096, 8192)),
    _claim((156, 160), "Contexts since are 32k to 1M tokens.", history("it is about other vendors' models")),
    _claim(
        (178,),
        "128k tokens fit standard hardware, where 4k did before.",
        memory.context(
            "Llama-3-8B",
            80,
            lambda plain, tiled: (
                tiled >= 128_000 and plain <= 4096,
                f"tiled it takes {tiled:,} tokens, and standard attention {plain:,}, not 4,096",
            ),
        ),
    ),
    _claim((184, 188), "Tiling changes data movement, not the mathematics.", same_as_reference(claimed=True)),
)
