"""Claims about GPUs: read from points that were measured, on the GPU here or in the bundled recordings."""

from collections.abc import Callable, Iterable
from statistics import geometric_mean

from flashscope.profiles.claims.lab import Lab, Topic, shapes
from flashscope.profiles.claims.model import ClaimResult, Experiment, found, untested
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import value_of
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.ceilings import COPY, SHARED_READS

PEERS: Topic = "h200-peers"
OVER_N: Topic = "h200-standard-flash2"
TRAFFIC: Topic = "h200-traffic"
CACHES: Topic = "h100-caches"
NO_CHOICE = "needs an NVIDIA GPU with PyTorch"
NO_POINTS = "neither a GPU nor a recording has the points that this needs"
Choices = dict[tuple[str, str, int], PointRow]  # by kernel, dtype and head dim
TENTH = 0.1
AMPLE = 2048  # from this N on launches and tails weigh little
USUAL = (64, 128)  # head dims of which the documents speak
FILLING = 128  # sequences times heads, each a block of flash1, that give most multiprocessors one
ABOUT_TWICE = 1.5, 2.5
OWN_RANGE = 'Flashscope chose this range for "about 2 times" after measuring; the documents give none.'
PLAIN = "without a mask, head dims 64 and 128"


def tflops(row: PointRow) -> float:
    """The throughput of a point, TFLOP/s; 0 without a runtime."""
    return row.problem.flops / row.times.median / 1e9 if row.times else 0.0


def speedups(lab: Lab, kernel: str, over: str, wanted: Callable[[PointRow], bool]) -> list[float]:
    """How many times as fast a kernel is as another, shape by shape."""
    cells = shapes([row for row in lab.rows(PEERS, kernel, over) if wanted(row)]).values()
    pairs = [(cell[over].times, cell[kernel].times) for cell in cells if {kernel, over} <= cell.keys()]
    return [slow.median / fast.median for slow, fast in pairs if slow and fast]


def usual(row: PointRow) -> bool:
    """Whether a problem is of the kind that the documents speak of."""
    return row.seqlen >= AMPLE and row.problem.head_dim in USUAL and not row.problem.causal


def filled(row: PointRow) -> bool:
    """Whether it has sequences and heads enough for kernels that give each one block, as version 1 does."""
    return usual(row) and row.problem.batch * row.problem.heads >= FILLING


def speedup(
    kernel: str, over: str, least: float, most: float, wanted: Callable[[PointRow], bool] | None = None
) -> Experiment:
    """Whether the geometric mean of a speed-up lies in the range that is claimed."""
    chosen = wanted or usual
    which = f"{PLAIN}, {FILLING} heads or more in all" if chosen is filled else PLAIN

    def run(lab: Lab) -> ClaimResult:
        ratios = speedups(lab, kernel, over, chosen)
        if not ratios:
            return untested(NO_POINTS)
        mean = geometric_mean(ratios)
        told = f"{mean:.2f}× over {len(ratios)} problems ({min(ratios):.2f} to {max(ratios):.2f}×)"
        every = speedups(lab, kernel, over, lambda _row: True)  # so that the choice of problems is seen
        told += (
            f"; over all {len(every)}, other masks, head dims and N among them, {geometric_mean(every):.2f}×"
        )
        return found(least <= round(mean, 1) <= most, f"{kernel} over {over}: {told}", lab.source(PEERS))

    return Experiment(
        f"Median runtimes of {kernel} and {over}, in turns on the same problems ({which}): does the mean "
        f"ratio lie within {least:g} to {most:g}?",
        run,
    )


def about_twice(kernel: str, over: str, wanted: Callable[[PointRow], bool] | None = None) -> Experiment:
    """Whether a speed-up is about 2 times, in a range of our own."""
    trial = speedup(kernel, over, *ABOUT_TWICE, wanted)
    return Experiment(f"{trial.words} {OWN_RANGE}", trial.run)


def utilisation(
    kernels: tuple[str, ...],
    least: float,
    most: float,
    head_dims: Iterable[int] = (),
    *,
    on_h100: bool = False,
) -> Experiment:
    """Whether the best share of the peak that these kernels reach, in whole percent, is as claimed."""
    dims = frozenset(head_dims)

    def run(lab: Lab) -> ClaimResult:
        lab, topic = lab.of_h100() if on_h100 else (lab, PEERS)
        found_rows = [row for row in lab.rows(topic, *kernels) if not dims or row.problem.head_dim in dims]
        if not found_rows or lab.peak is None:
            return untested(NO_POINTS)
        best = max(found_rows, key=tflops)
        share = tflops(best) / lab.peak.tflops
        told = (
            f"{best.kernel} at most {tflops(best):,.0f} TFLOP/s (d {best.problem.head_dim}, "
            f"N = {best.seqlen:,}), {share:.0%} of {lab.peak.tflops:,.0f}"
        )
        return found(least <= round(share, 2) <= most, told, f"{lab.source(topic)}; {lab.peak.source}")

    return Experiment(f"The best throughput of {' or '.join(kernels)} over the peak of 16-bit products.", run)


def throughput(
    kernels: tuple[str, ...], stated: float, head_dim: int, seqlen: int, *, on_h100: bool = False
) -> Experiment:
    """Whether any of these kernels reaches a throughput at one shape, to a tenth."""

    def run(lab: Lab) -> ClaimResult:
        lab, topic = lab.of_h100() if on_h100 else (lab, PEERS)
        there = [
            row
            for row in lab.rows(topic, *kernels)
            if (row.problem.head_dim, row.seqlen, row.problem.causal) == (head_dim, seqlen, False)
        ]
        if not there:
            return untested(NO_POINTS)
        best = max(there, key=tflops)
        shape = f"N = {seqlen:,}, d {head_dim}"
        told = f"{best.kernel}: {tflops(best):,.0f} TFLOP/s at {shape}; stated: {stated:,.0f}"
        return found(tflops(best) >= 0.9 * stated, told, lab.source(topic))

    return Experiment(
        f"The throughput of {' or '.join(kernels)} at head dim {head_dim} and N = {seqlen:,}.", run
    )


def h100_memory(stated_gb: float, stated_gbs: float) -> Experiment:
    """Whether an H100 has as much memory, and copies within it as fast, as is stated; to a tenth."""

    def run(lab: Lab) -> ClaimResult:
        lab, topic = lab.of_h100()
        device, session = lab.device(topic), lab.session(topic)
        reached = session.ceilings[1].rates.get(COPY) if session and 1 in session.ceilings else None
        if device is None or reached is None or not reached.figure.value:
            return untested(NO_POINTS)
        size, rate = device.memory_bytes / 1e9, reached.figure.value
        holds = abs(size / stated_gb - 1) <= TENTH and abs(rate / stated_gbs - 1) <= TENTH
        told = f"{size:.0f} GB; a copy within it reads and writes {rate:,.0f} GB/s"
        return found(holds, told, lab.source(topic))

    return Experiment("The memory that CUDA tells of, and the rate of a large copy within it.", run)


def on_chip_faster(times: float, within: float) -> Experiment:
    """Whether shared memory is read so many times as fast as memory is copied, to a share of that."""

    def run(lab: Lab) -> ClaimResult:
        shared, copy = (lab.ceiling(key, CACHES) for key in (SHARED_READS, COPY))
        if not shared or not copy:
            return untested(NO_POINTS)
        ratio = shared / copy
        told = f"{shared / 1e3:.1f} TB/s from shared memory, {copy / 1e3:.2f} from memory: {ratio:.1f}×"
        return found(abs(ratio / times - 1) <= within, f"{told}; stated: {times:g}", lab.source(CACHES))

    return Experiment(
        f"Read the shared memory of every multiprocessor, and copy within memory: {times:g} times as fast, "
        f"to {within:.0%}?",
        run,
    )


def over_n(words: str, test: Callable[[dict[tuple[str, int], PointRow]], tuple[bool, str]]) -> Experiment:
    """A test of the points of standard and flash2 over N, by kernel and N."""

    def run(lab: Lab) -> ClaimResult:
        points = {(row.kernel, row.seqlen): row for row in lab.every(OVER_N)}
        if not points:
            return untested(NO_POINTS)
        holds, told = test(points)
        return found(holds, told, lab.source(OVER_N))

    return Experiment(words, run)


def by_counters(
    words: str, test: Callable[[Lab, dict[str, PointRow]], tuple[bool, str] | None]
) -> Experiment:
    """A test of the bytes that counters saw at the longest N of 8192 or less, by kernel."""

    def run(lab: Lab) -> ClaimResult:
        for one in (lab, lab.recorded()):  # a GPU here may have no permission to count
            known = [row for row in one.rows(TRAFFIC) if row.seqlen <= 8192 and bytes_moved(row)]
            longest = max((row.seqlen for row in known), default=0)
            points = {row.kernel: row for row in known if row.seqlen == longest}
            answer = test(one, points) if points else None
            if answer is not None:
                return found(*answer, one.source(TRAFFIC))
        return untested(NO_POINTS)

    return Experiment(words, run)


def bytes_moved(row: PointRow) -> float | None:
    """Bytes to and from DRAM as counters saw them, written back or not; None where nobody counted."""
    return value_of(QUANTITIES["dram_bytes"], row)


def point_footprint(row: PointRow | None) -> float | None:
    """The footprint of a point in bytes, None where it has none."""
    if row is None or row.measurement is None or not row.done:
        return None
    return row.measurement.held_bytes


def smaller_for_wide_heads() -> Experiment:
    """Whether flash2 gains less over standard at d = 128 than at d = 64."""

    def run(lab: Lab) -> ClaimResult:
        means = {}
        for d in (64, 128):
            ratios = speedups(lab, "flash2", "standard", lambda row, d=d: row.problem.head_dim == d)  # type: ignore[misc]
            if not ratios:
                return untested(NO_POINTS)
            means[d] = geometric_mean(ratios)
        told = f"flash2 over standard: {means[64]:.2f}× at d = 64, {means[128]:.2f}× at d = 128"
        return found(means[128] < means[64], told, lab.source(PEERS))

    return Experiment("Mean speed-ups of flash2 over standard at both head dims.", run)


def faster_in_8_bits(least: float) -> Experiment:
    """How many times as fast flash3 is in 8 bits at its longest N."""

    def run(lab: Lab) -> ClaimResult:
        ratios = speedups(lab, "flash3-fp8", "flash3", lambda row: row.problem.head_dim == 128)
        if not ratios:
            return untested(NO_POINTS)
        told = (
            f"flash3-fp8 over flash3 at d = 128: {min(ratios):.2f} to {max(ratios):.2f}×, rounding included"
        )
        return found(max(ratios) >= least, told, lab.source(PEERS))

    return Experiment(
        "Measured runtimes of flash3-fp8 and flash3: attention as a whole, not products alone.", run
    )


def chosen_in_float32() -> Experiment:
    """What PyTorch's dispatcher takes for float32 on a GPU."""

    def test(points: Choices) -> tuple[bool, str] | None:
        row = points.get(("torch-auto", "float32", 64))
        return None if row is None else ("math" in row.note, f"in float32 it chose: {row.note or 'no name'}")

    return _choice("Let PyTorch's dispatcher choose in float32, and read what it chose.", test)


def refuses_head_dim(head_dim: int) -> Experiment:
    """Whether PyTorch's FlashAttention refuses a head dim."""

    def test(points: Choices) -> tuple[bool, str] | None:
        row = points.get(("torch-flash", "bfloat16", head_dim))
        if row is None:
            return None
        return not row.done, f"torch-flash at d = {head_dim}: {row.status} {row.reason}".rstrip()

    return _choice(f"Force PyTorch's FlashAttention at head dim {head_dim}.", test)


def float32_costs(memory: float, speed: float) -> Experiment:
    """How many times more float32 holds, and how many times longer it takes, than bfloat16."""

    def test(points: Choices) -> tuple[bool, str] | None:
        single, half = (points.get(("torch-auto", dtype, 64)) for dtype in ("float32", "bfloat16"))
        sizes = point_footprint(single), point_footprint(half)
        if single is None or half is None or not all(sizes) or not single.times or not half.times:
            return None
        more, longer = (sizes[0] or 0) / (sizes[1] or 1), single.times.median / half.times.median
        told = f"float32 holds {more:.1f} times as much and takes {longer:.1f} times as long"
        return more >= memory / 2 and longer >= speed / 2, f"{told} (N = {single.seqlen:,}, d 64)"

    return _choice("Let PyTorch's dispatcher choose in float32 and in bfloat16, and compare.", test)


def _choice(words: str, test: Callable[[Choices], tuple[bool, str] | None]) -> Experiment:
    def run(lab: Lab) -> ClaimResult:
        points: Choices = {
            (row.kernel, row.problem.dtype, row.problem.head_dim): row for row in lab.every("torch-choice")
        }
        answer = test(points)
        return untested(NO_CHOICE) if answer is None else found(*answer, lab.source("torch-choice"))

    return Experiment(words, run)
