"""001, to line 1200: the slides on the problem, the method and its example."""

from functools import partial

from flashscope.profiles.claims.experiments import (
    backward,
    fused,
    memory,
    online,
    printed_code,
    recorded,
    traffic,
)
from flashscope.profiles.claims.experiments.arithmetic import a100_shared_memory, computed_number
from flashscope.profiles.claims.experiments.gpu import needs_gpu
from flashscope.profiles.claims.experiments.shared import (
    equal_flops,
    four_matrices,
    memory_bound,
    runtime_growth,
    same_as_reference,
)
from flashscope.profiles.claims.model import Claim

_claim = partial(Claim, "001")

CLAIMS: tuple[Claim, ...] = (
    _claim((96,), "Attention's time and memory grow as N².", runtime_growth("standard")),
    _claim((114, 119), "Operations do not tell the speed.", equal_flops()),
    _claim((123, 159), "Attention is bound by memory, not by arithmetic.", memory_bound()),
    _claim(
        (176,),
        "SRAM is 10 times as fast as HBM.",
        recorded.on_chip_faster(10, 0.3),
    ),
    _claim((181,), "On-chip memory: 192 KB at 19 TB/s.", a100_shared_memory()),
    _claim((185,), "HBM: 40 to 80 GB at 1.5 to 2 TB/s.", needs_gpu("an A100", "a figure of its memory")),
    _claim((205,), "S and P are each written once and read once.", four_matrices()),
    _claim(
        (211, 213), "Fusion without tiling cannot work: the matrix is too large for the chip.", fused.works()
    ),
    _claim((213,), "Fusion without tiling ends where a row no longer fits the chip.", fused.ends(), part="b"),
    _claim((214, 220), "Training has to store S and P.", backward.recomputed(claimed=False)),
    _claim((254,), "S is needed for the gradient of P.", backward.without_scores()),
    _claim(
        (262, 1178),
        "Standard attention moves Θ(Nd + N²).",
        traffic.standard_moves("Nd + N²", lambda p: p.seqlen_q * p.head_dim + p.seqlen_q**2),
    ),
    _claim((293, 796), "FlashAttention is exact.", same_as_reference(claimed=True)),
    _claim(
        (305,),
        "FlashAttention makes attention 2 to 3 times as fast.",
        recorded.speedup("flash2", "standard", 2, 3),
    ),
    _claim((310,), "FlashAttention's memory is O(N).", memory.growth("flash2", 2)),
    _claim((341,), "FlashAttention is 2 to 4 times as fast.", recorded.speedup("flash2", "standard", 2, 4)),
    _claim(
        (349, 396),
        "Blocks of M / 4d are chosen so that four of them fit M.",
        traffic.four_blocks_fit(with_scores=False),
    ),
    _claim(
        (396, 987),
        "Q, K, V and O blocks, and S between them, are on the chip together.",
        traffic.four_blocks_fit(with_scores=True),
        part="b",
    ),
    _claim((360, 436), "Tiles that are normalised alone cannot be added.", online.naive_tiles()),
    _claim((362,), "Nothing can fix separately normalised tiles afterwards.", online.fixed_afterwards()),
    _claim((466, 472), "m and ℓ of two blocks merge exactly.", online.merged()),
    _claim((541,), "Example: the first block's maximum is 3.0.", online.example("m", "3.000", 0)),
    _claim((547,), "Example: e^(1 − 3) = 0.135.", online.exponential("0.135", 1.0, 3.0)),
    _claim((555,), "Example: the first block's sum is 1.135.", online.example("l", "1.135", 0)),
    _claim((614,), "Example: e^(0.5 − 2) = 0.223.", online.exponential("0.223", 0.5, 2.0)),
    _claim(
        (620,),
        "Example: the second block's own sum is 1.223.",
        computed_number("1.223", lambda: 1 + 2.718281828459045**-1.5, "1 + e^−1.5"),
    ),
    _claim(
        (662,),
        "Example: the maximum stays, so old sums keep the factor 1.",
        online.example("alpha", "1.000", 1),
    ),
    _claim((666,), "Example: e^(2 − 3) = 0.368.", online.exponential("0.368", 2.0, 3.0)),
    _claim(
        (666,),
        "Example: the second block adds 0.450.",
        computed_number("0.450", lambda: 2.718281828459045**-1 + 2.718281828459045**-2.5, "e^−1 + e^−2.5"),
        part="b",
    ),
    _claim((700, 780, 792), "Example: the whole sum is 1.585.", online.example("l", "1.585", 1)),
    _claim((778,), "Example: e^(0.5 − 3) = 0.082.", online.exponential("0.082", 0.5, 3.0)),
    _claim((762, 838), "Example: after both blocks O is exact.", online.example_output()),
    _claim((868, 876), "Rows of Q never interact.", online.rows_alone()),
    _claim(
        (880, 898),
        "Algorithm 1 as printed computes attention.",
        printed_code.agrees(printed_code.key_blocks, 64, 16, "Run it, K and V outside, on 64 tokens."),
    ),
    _claim((967,), "Each tile takes four loads: Q, m, ℓ and O.", traffic.loads_of_a_tile()),
    _claim((1067,), "The merging rule is e^−(m − m_new), as one slide prints it.", online.wrong_sign()),
    _claim((1196,), "FlashAttention's first algorithm writes O once.", traffic.output_written_once()),
    _claim((1200, 1232), "FlashAttention moves Θ(N²d² / M).", traffic.falls_with_memory()),
)
