"""003, the algorithm: online softmax, forward and backward pass."""

from functools import partial

from flashscope.profiles.claims.experiments import (
    backward,
    memory,
    online,
    passes,
    printed_code,
    recorded,
    traffic,
)
from flashscope.profiles.claims.experiments.drawn import Doubles
from flashscope.profiles.claims.experiments.shared import equal_flops, memory_bound
from flashscope.profiles.claims.model import Claim, not_here

_claim = partial(Claim, "003")


def _unscaled(q: Doubles, k: Doubles, v: Doubles) -> Doubles:
    return printed_code.key_blocks(q, k, v, scaled=False)


CLAIMS: tuple[Claim, ...] = (
    _claim(
        (101,), "A stable softmax takes three passes.", passes.passes(passes.stable, 3, "the stable softmax")
    ),
    _claim((177, 180), "The sum of two blocks merges by the rescaling rule.", online.merged()),
    _claim(
        (180,),
        "The online softmax takes two passes.",
        passes.passes(passes.online, 2, "the online softmax"),
        part="b",
    ),
    _claim((86,), "Softmax traffic leaves the tensor cores idle.", memory_bound(), part="b"),
    _claim((186,), "Attention gets 2 to 4 times as fast.", recorded.speedup("flash2", "standard", 2, 4)),
    _claim((192,), "4 B_c d ≤ M holds for B_c = ⌈M / 4d⌉.", traffic.columns_fit()),
    _claim(
        (206, 254),
        "The forward pass as printed, without a scale, computes the attention of line 320.",
        printed_code.agrees(_unscaled, 64, 16, "Run it as it stands, and compare with softmax(QKᵀ/√d) V."),
    ),
    _claim((262,), "Standard and FlashAttention do the same O(N² d) operations.", equal_flops()),
    _claim((263,), "FlashAttention's memory is O(N).", memory.growth("flash2", 2)),
    _claim((264,), "FlashAttention's traffic is O(N² d² / M).", traffic.falls_with_memory()),
    _claim(
        (271,),
        "Version 1's backward pass recomputes instead of storing P.",
        backward.recomputed(claimed=True),
    ),
    _claim(
        (271,),
        "What version 1 saves for its backward pass, O and the statistics, is N × 1 each.",
        memory.kept(),
        part="b",
    ),
    _claim(
        (273,), "Recomputation makes the backward pass cost more operations.", backward.more_flops(2.01, 3)
    ),
    _claim(
        (273,),
        "A backward pass with recomputation is faster all the same.",
        not_here("no recording here has backward passes, and a sweep measures none yet"),
        part="b",
    ),
)
