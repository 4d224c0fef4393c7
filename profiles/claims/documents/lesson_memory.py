"""004, to line 160: memory, bandwidth and the online softmax."""

from functools import partial

from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.profiles.claims.experiments import memory, online, passes, printed_code, recorded
from flashscope.profiles.claims.experiments.arithmetic import computed_number, confirmed, size
from flashscope.profiles.claims.experiments.gpu import history, needs_gpu
from flashscope.profiles.claims.experiments.memory import A100_GB, square
from flashscope.profiles.claims.experiments.shared import memory_bound, same_as_reference
from flashscope.profiles.claims.model import LEDGER, Claim
from flashscope.profiles.plan.models import find_model
from flashscope.profiles.results.planner.ledger import weight_bytes

_claim = partial(Claim, "004")
LAYERS = 32
DTYPES: tuple[Dtype, Dtype] = ("float32", "float16")


def _scores(seqlen: int, heads: int = 1, layers: int = 1) -> int:
    """Bytes of S in float32."""
    return seqlen**2 * 4 * heads * layers


def _out_of_memory() -> tuple[bool, str]:
    weights = weight_bytes(find_model("Llama-2-7B"))
    single, half = (memory.bytes_in_all("standard", square(16_384, 32, 64, dtype)) for dtype in DTYPES)
    alone, both, less = (nbytes / memory.GIB for nbytes in (single, single + weights, half + weights))
    room = A100_GB * memory.GB
    told = f"a layer of 32 heads holds {alone:.1f} GiB in float32, with 7B weights in 16 bits {both:.1f}"
    text = f"{told} of {room / memory.GIB:.1f} GiB; in 16 bits it fits, {less:.1f} GiB"
    return single + weights > room, text


def _long() -> Problem:
    return square(128_000, 32, 64)


CLAIMS: tuple[Claim, ...] = (
    _claim(
        (7,),
        "An A100 of 80 GB struggled at 2048 tokens.",
        memory.fits("standard", square(2048, 32), A100_GB, claimed=False),
    ),
    _claim(
        (7, 18),
        "Tiled, an A100 handles 128k tokens.",
        memory.fits("flash2", _long(), A100_GB, claimed=True),
        part="b",
    ),
    _claim((7, 18), "FlashAttention's result is exact.", same_as_reference(claimed=True), part="c"),
    _claim(
        (12,),
        "16,384 tokens are out of memory on 80 GB.",
        confirmed(
            "Count S, P, inputs and outputs of a layer in float32, beside a model's weights.",
            _out_of_memory,
            LEDGER,
        ),
    ),
    _claim(
        (14,),
        "S of 16,384 tokens takes 1.07 GB a head.",
        size("1.07 GB", lambda: _scores(16_384), "16384² × 4 B"),
    ),
    _claim(
        (14,),
        "S of 16,384 tokens takes 1.07 TB for 32 heads in 32 layers.",
        size("1.07 TB", lambda: _scores(16_384, 32, LAYERS), "32 × 32 × 16384² × 4 B"),
        part="b",
    ),
    _claim(
        (16, 46),
        "S of 4,096 tokens takes 2.1 GB for 32 heads.",
        size("2.1 GB", lambda: _scores(4096, 32), "32 × 4096² × 4 B"),
    ),
    _claim(
        (16,),
        "Writing and reading 2.1 GB at 2 TB/s takes 1 ms.",
        computed_number("1", lambda: 2 * _scores(4096, 32) / 2e12 * 1e3, "2 × 2.1 GB / 2 TB/s, in ms", 0.2),
        part="b",
    ),
    _claim(
        (44,), "S of 4,096 tokens takes 67 MB a head.", size("67 MB", lambda: _scores(4096), "4096² × 4 B")
    ),
    _claim(
        (46,),
        "S of 4,096 tokens takes 67 GB for 32 heads in 32 layers.",
        size("67 GB", lambda: _scores(4096, 32, LAYERS), "32 × 32 × 4096² × 4 B"),
        part="b",
    ),
    _claim(
        (46,),
        "S of 32 layers takes 84% of an A100's 80 GB.",
        computed_number("84", lambda: 100 * _scores(4096, 32, LAYERS) / 80e9, "68.7 GB / 80 GB, in percent"),
        part="c",
    ),
    _claim(
        (54,),
        "Q Kᵀ does about 32 FLOP a byte.",
        computed_number(
            "32",
            lambda: 2 * 4096**2 * 64 / ((2 * 4096 * 64 + 4096**2) * 4),
            "2N²d / 4 (2Nd + N²) at N = 4096, d = 64",
            0.05,
        ),
    ),
    _claim((56,), "An A100 does 312 TFLOP/s at 2 TB/s.", needs_gpu("an A100", "figures of its chip")),
    _claim(
        (56,),
        "An A100's balance is 156 FLOP a byte.",
        computed_number("156", lambda: 312 / 2, "312 / 2"),
        part="b",
    ),
    _claim(
        (56,),
        "Q Kᵀ is bound by memory 5 times over.",
        computed_number(
            "5",
            lambda: 156 / (2 * 4096**2 * 64 / ((2 * 4096 * 64 + 4096**2) * 2)),
            "156 over the intensity in 16 bits, at which 312 TFLOP/s are given",
            0.1,
        ),
        part="c",
    ),
    _claim((56,), "Standard attention is bound by memory.", memory_bound(), part="d"),
    _claim((65,), "Sparse attention dropped 90% of the pairs.", history("it is about models of that time")),
    _claim(
        (79,),
        "Version 1 is 2 to 4 times as fast as PyTorch.",
        recorded.speedup("flash1", "torch-math", 2, 4, recorded.filled),
    ),
    _claim(
        (80,),
        "Version 2 is twice as fast as version 1.",
        recorded.about_twice("flash2", "flash1", recorded.filled),
    ),
    _claim(
        (81,),
        "Version 3 is 1.5 to 2 times as fast as version 2.",
        recorded.speedup("flash3", "torch-flash", 1.5, 2),
    ),
    _claim(
        (93,),
        "A plain softmax takes two passes.",
        passes.passes(passes.naive, 2, "a softmax without a maximum"),
    ),
    _claim(
        (99,),
        "A softmax with the maximum takes three passes.",
        passes.passes(passes.stable, 3, "the stable softmax"),
    ),
    _claim((111,), "Maximum and sum are updated block by block, exactly.", online.merged()),
    _claim(
        (115, 117),
        "The online softmax takes one pass.",
        passes.passes(passes.online, 1, "the online softmax"),
    ),
    _claim(
        (121, 157),
        "The function online_softmax_demo returns the exact softmax, of sum 1.0.",
        printed_code.demo(),
    ),
)
