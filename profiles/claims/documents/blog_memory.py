"""003, memory and complexity: introduction, table and appendices."""

from functools import partial

from flashscope.profiles.claims.experiments import memory, recorded, traffic
from flashscope.profiles.claims.experiments.arithmetic import computed_number, confirmed, size
from flashscope.profiles.claims.experiments.gpu import history, needs_gpu
from flashscope.profiles.claims.experiments.memory import square
from flashscope.profiles.claims.experiments.shared import longest_run, runtime_growth
from flashscope.profiles.claims.model import LEDGER, Claim, Experiment, not_here

_claim = partial(Claim, "003")
WIDTH, HEADS, LAYERS = 768, 12, 12  # of a GPT-2 small


def _table(seqlen: int, gigabytes: float) -> Experiment:
    """S and P of all heads of all layers in float32, the most that could be meant, within a factor of 2."""

    def test() -> tuple[bool, str]:
        held, told = _all_layers(seqlen)
        return 0.5 < held / gigabytes < 2, f"{told}; stated: {gigabytes:g} GB"

    return confirmed("Count S and P of every head and layer, and S alone as line 47 does.", test, LEDGER)


def _more_than(seqlen: int, gigabytes: float) -> Experiment:
    """The same of a figure that is to be passed."""

    def test() -> tuple[bool, str]:
        held, told = _all_layers(seqlen)
        return (
            held > gigabytes,
            f"{told}; stated: more than {gigabytes:,g} GB, where the table's rule gives 24,576",
        )

    return confirmed("Count S and P of every head and layer, and S alone as line 47 does.", test, LEDGER)


def _all_layers(seqlen: int) -> tuple[float, str]:
    problem = square(seqlen, HEADS, WIDTH // HEADS, "float32")
    held, own = memory.workspace("standard", problem) * LAYERS / 1e9, seqlen**2 * 4 / 1e9
    told = f"S and P of {HEADS} heads in {LAYERS} layers take {held:,.2f} GB, S of one head, as in line 47,"
    return held, f"{told} {own:,.3g} GB"


def _operations() -> tuple[bool, str]:
    d = 64
    multiplied = added = 0
    total = 0.0
    for k in range(d):
        product = 1.0 * k
        multiplied += 1
        if k:
            total += product
            added += 1
    return (multiplied, added) == (d, d - 1), f"{multiplied} multiplications and {added} additions at d = {d}"


def _flops() -> tuple[bool, str]:
    n, d = 4096, 64
    ours, stated = square(n).flops, 2 * n * n * (d + d)
    return ours == stated, f"{ours:,} operations, 2 n² (d_k + d_v) = {stated:,}"


def _on_chip() -> tuple[bool, str]:
    sram, hbm = 108 * 192 * 1024, 40e9
    return hbm / sram > 100, f"108 × 192 KiB = {sram / 1e6:.1f} MB, 40 GB are {hbm / sram:,.0f} times as much"


def _hbm_faster() -> tuple[bool, str]:
    hbm, sram = 1.6, 19.0  # TB/s
    return (
        hbm > sram,
        f"{hbm:g} TB/s from HBM and {sram:g} TB/s from SRAM, by the figures of the same paragraph",
    )


def _ten_times() -> tuple[bool, str]:
    n = 131_072
    factor = square(10 * n).flops / square(n).flops
    return (
        factor <= 10,
        f"10 times the tokens take {factor:.0f} times the operations; 3 petaflop are 4 times today's",
    )


def _intensity() -> tuple[bool, str]:
    n, d, e = 8192, 64, 2
    intensity = 2 * n * n * d / ((2 * n * d + n * n) * e)
    balance = 312e12 / 2e12
    told = f"Q Kᵀ at N = {n}, d = {d} does {intensity:.0f} FLOP a byte in 16 bits"
    return intensity > balance, f"{told}; an A100 as given in 004 has {balance:.0f}"


CLAIMS: tuple[Claim, ...] = (
    _claim((47,), "Attention's time is O(n² d).", runtime_growth("standard")),
    _claim((47,), "Attention's memory is O(n²).", memory.growth("standard", 4), part="b"),
    _claim(
        (47,),
        "The attention matrix of 2,048 tokens takes 16 MB.",
        size("16 MB", lambda: 2048**2 * 4, "2048² × 4 B"),
        part="c",
    ),
    _claim(
        (47,),
        "The attention matrix of 16,384 tokens takes 1 GB.",
        size("1 GB", lambda: 16_384**2 * 4, "16384² × 4 B, one head"),
        part="d",
    ),
    _claim(
        (47,),
        "At 16,384 tokens a layer takes 1 GB.",
        size(
            "1 GB", lambda: memory.workspace("standard", square(16_384, 16)), "S and P of 16 heads in 16 bits"
        ),
        part="e",
    ),
    _claim(
        (47,),
        "Beyond 8k to 16k tokens standard attention is prohibitive.",
        longest_run("standard", 8192, 16_384),
        part="f",
    ),
    _claim(
        (61,), "65,536 registers of 32 bits are 256 KB.", size("256 KB", lambda: 65_536 * 4, "65,536 × 4 B")
    ),
    _claim(
        (61,),
        "A multiprocessor has 65,536 registers, a thread up to 255.",
        not_here("no instrument here reads registers"),
        part="b",
    ),
    _claim((66,), "An H100 has 80 GB at about 3,000 GB/s.", recorded.h100_memory(80, 3000)),
    _claim(
        (66,),
        "An access takes 400 to 800 cycles.",
        not_here("no instrument here times one access"),
        part="b",
    ),
    _claim(
        (70,), "HBM has the higher bandwidth.", confirmed("Compare the paragraph's own figures.", _hbm_faster)
    ),
    _claim(
        (70,),
        "An A100 has 40 GB at 1.6 TB/s and 192 KB on each of 108 multiprocessors.",
        needs_gpu("an A100", "figures of its chip"),
        part="b",
    ),
    _claim(
        (70,),
        "SRAM is an order of magnitude faster than HBM.",
        recorded.on_chip_faster(10, 0.25),
        part="c",
    ),
    _claim(
        (70,),
        "SRAM is many orders of magnitude smaller than HBM.",
        confirmed("Compare the sizes given.", _on_chip),
        part="d",
    ),
    _claim(
        (86,),
        "Q Kᵀ is bound by arithmetic.",
        confirmed("Compute its intensity, and the balance of the GPU.", _intensity),
    ),
    _claim((305,), "A chip's blocks have hundreds of KB of SRAM.", traffic.shared_memory(96, 1000)),
    _claim((305,), "Contexts reach a million tokens.", history("it is about models, not kernels"), part="b"),
    _claim(
        (315,),
        "Multi-petaflop kernels make 10 times longer sequences feasible.",
        confirmed("Count the operations of 10 times the tokens.", _ten_times),
    ),
    _claim(
        (343,),
        "A dot product has d multiplications and d − 1 additions.",
        confirmed("Compute one, and count.", _operations),
    ),
    _claim(
        (391,),
        "Attention takes n² (d_k + d_v) multiply-adds in all.",
        confirmed("Compare with the operations counted here.", _flops),
    ),
    _claim(
        (410,),
        "Q, K and V take O(nd).",
        computed_number(
            "2", lambda: square(8192).input_bytes / square(4096).input_bytes, "their bytes at 8192 over 4096"
        ),
    ),
    _claim(
        (419, 420),
        "2,048 tokens cost 16 times 512.",
        computed_number("16", lambda: square(2048).flops / square(512).flops, "operations at 2,048 over 512"),
    ),
    _claim(
        (421,),
        "8,192 tokens cost 256 times 512.",
        computed_number(
            "256", lambda: square(8192).flops / square(512).flops, "operations at 8,192 over 512"
        ),
    ),
    _claim(
        (422,),
        "65,536 tokens cost 16,384 times 512.",
        computed_number(
            "16384", lambda: square(65_536).flops / square(512).flops, "operations at 65,536 over 512"
        ),
    ),
    _claim(
        (419,),
        "512 tokens take 1.5 GB at width 768.",
        _table(512, 1.5),
        part="b",
    ),
    _claim(
        (420,),
        "2,048 tokens take 24 GB.",
        _table(2048, 24),
    ),
    _claim((421,), "8,192 tokens take 384 GB.", _table(8192, 384), part="b"),
    _claim(
        (422,),
        "65,536 tokens take more than 6 TB.",
        _more_than(65_536, 6000),
        part="b",
    ),
    _claim(
        (431,),
        "No algorithm takes less than n^(2 − ε) time.",
        not_here("a theorem under an unproven hypothesis"),
    ),
    _claim(
        (454,),
        "Standard attention accesses HBM Θ(Nd + N²) times.",
        traffic.standard_moves("Nd + N²", lambda p: p.seqlen_q * p.head_dim + p.seqlen_q**2),
    ),
)
