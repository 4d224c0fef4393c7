"""Experiments on kernels as a whole that several documents' claims share."""

import numpy as np

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.claims.experiments.arithmetic import confirmed
from flashscope.profiles.claims.experiments.memory import GB, GIB, GPT3_CONTEXT, bytes_in_all, square
from flashscope.profiles.claims.experiments.recorded import by_counters, bytes_moved, over_n
from flashscope.profiles.claims.experiments.recorded import point_footprint as measured_bytes
from flashscope.profiles.claims.lab import Lab
from flashscope.profiles.claims.model import LEDGER, RUN, ClaimResult, Experiment, found
from flashscope.profiles.results.model.rows import PointRow

Points = dict[tuple[str, int], PointRow]
FLOAT32_ERROR = 1e-5
LONG, LONGER = 16_384, 32_768


def runtime_growth(kernel: str) -> Experiment:
    """How a runtime grows when N doubles, at the longest N."""

    def test(points: Points) -> tuple[bool, str]:
        once, twice = (points[kernel, n].times for n in (LONG, LONGER))
        if once is None or twice is None:
            return False, "it did not run so far"
        ratio = twice.median / once.median
        return abs(
            ratio - 4
        ) < 0.4, f"{once.median:.3g} ms at N = {LONG:,}, {ratio:.2f} times as long at {LONGER:,}"

    return over_n(f"Measured runtimes of {kernel} at N = {LONG:,} and {LONGER:,}.", test)


def longest_run(kernel: str, least: int, most: int) -> Experiment:
    """The longest N that a kernel did, of one layer of 16 heads."""

    def test(points: Points) -> tuple[bool, str]:
        ends = [n for (name, n), row in points.items() if name == kernel and row.done]
        longest = max(ends, default=0)
        nbytes = (measured_bytes(points[kernel, longest]) or 0) if ends else 0
        told = f"{kernel} ran to N = {longest:,}, holding {nbytes / GIB:,.2f} GiB for one layer of 16 heads"
        return least <= longest <= most, told

    return over_n(f"The longest N at which {kernel} was measured.", test)


def would_not_fit(seqlen: int) -> Experiment:
    """Whether standard could not run at an N: it is the claim that it cannot."""

    def test(points: Points) -> tuple[bool, str]:
        row = points.get(("standard", seqlen))
        if row is None:
            return False, f"it was not tried at N = {seqlen:,}"
        told = f"it ran in {row.times.median:.3g} ms" if row.times else row.reason.rstrip(".")
        nbytes = (measured_bytes(row) or row.predicted_bytes) / GIB
        return (
            not row.done,
            f"standard at N = {seqlen:,}, {nbytes:,.1f} GiB for one layer of 16 heads: {told}",
        )

    return over_n(f"Whether standard ran at N = {seqlen:,}.", test)


def footprint_ratio(least: float, most: float, seqlens: tuple[int, ...]) -> Experiment:
    """How many times less flash2 holds than standard."""

    def test(points: Points) -> tuple[bool, str]:
        pairs = [
            (n, *(measured_bytes(points.get((name, n))) for name in ("standard", "flash2"))) for n in seqlens
        ]
        ratios = {n: plain / tiled for n, plain, tiled in pairs if plain and tiled}
        told = ", ".join(f"{ratio:,.0f}× at {n:,}" for n, ratio in ratios.items())
        return bool(ratios) and all(least <= ratio <= most for ratio in ratios.values()), f"less by {told}"

    return over_n("Measured footprints of standard and flash2, inputs and outputs among them.", test)


def dram_saved(least: float, most: float = 1e9) -> Experiment:
    """How many times fewer bytes cross the HBM bus, by hardware counters."""

    def test(_lab: Lab, points: dict[str, PointRow]) -> tuple[bool, str] | None:
        plain, tiled = (
            bytes_moved(points[name]) if name in points else None for name in ("standard", "flash2")
        )
        if not plain or not tiled:
            return None
        problem = points["standard"].problem
        shape = f"N = {problem.seqlen_q:,}, {problem.heads} heads of {problem.head_dim}"
        told = (
            f"standard {plain / GB:.2f} GB, flash2 {tiled / GB:.3f} GB: {plain / tiled:.0f}× fewer ({shape})"
        )
        return least < plain / tiled <= most, told

    return by_counters("DRAM bytes of one run by hardware counters, standard beside flash2.", test)


def four_matrices() -> Experiment:
    """The bytes of standard by counters against 4 N² elements."""

    def test(_lab: Lab, points: dict[str, PointRow]) -> tuple[bool, str] | None:
        plain = points.get("standard")
        nbytes = bytes_moved(plain) if plain else None
        if plain is None or nbytes is None:
            return None
        expected = 4 * plain.problem.score_elements * plain.problem.itemsize
        told = f"{nbytes / GB:.2f} GB counted, 4 N² elements of all heads are {expected / GB:.2f} GB"
        return abs(nbytes / expected - 1) < 0.1, f"{told} (N = {plain.seqlen:,})"

    return by_counters("DRAM bytes of standard by hardware counters.", test)


def memory_bound() -> Experiment:
    """What standard's counted bytes take at the rate of a copy, of its runtime."""

    def test(lab: Lab, points: dict[str, PointRow]) -> tuple[bool, str] | None:
        plain = points.get("standard")
        nbytes = bytes_moved(plain) if plain else None
        if plain is None or plain.times is None or nbytes is None or lab.copy_gbs is None or lab.peak is None:
            return None
        copied = nbytes / lab.copy_gbs / 1e6
        multiplied = plain.problem.flops / lab.peak.tflops / 1e9
        share = copied / plain.times.median
        told = f"its bytes at the copy rate take {share:.0%} of its {plain.times.median:.2f} ms"
        return (
            copied > multiplied and share > 0.5,
            f"{told}, its products at the peak {multiplied / plain.times.median:.0%}",
        )

    return by_counters("Counted bytes at the measured copy rate, beside the products at the peak.", test)


def equal_flops() -> Experiment:
    """Runtimes of kernels that do the same operations."""

    def test(_lab: Lab, points: dict[str, PointRow]) -> tuple[bool, str] | None:
        times = {name: row.times.median for name, row in points.items() if row.times}
        if len(times) < 2:
            return None
        flops = next(iter(points.values())).problem.flops
        told = ", ".join(f"{name} {ms:.3g} ms" for name, ms in times.items())
        return max(times.values()) / min(times.values()) > 1.5, f"{flops / 1e9:,.0f} GFLOP each: {told}"

    return by_counters("Runtimes of kernels with the same floating-point operations on one problem.", test)


def million_tokens() -> Experiment:
    """What flash2 holds for a million tokens."""

    def test() -> tuple[bool, str]:
        nbytes = bytes_in_all("flash2", square(1 << 20, heads=32, head_dim=128))
        return (
            nbytes < 80e9,
            f"flash2 holds {nbytes / GIB:.1f} GiB for a layer of 32 heads of 128 at 1M tokens",
        )

    return confirmed("Count what flash2 holds at N = 1M, against the 80 GB of an A100.", test, LEDGER)


def hopper_alone() -> Experiment:
    """Whether flash3 takes an A100."""

    def test() -> tuple[bool, str]:
        a100 = Device(backend="cuda", name="A100", memory_bytes=80 << 30, compute_capability=(8, 0))
        reason = find_kernel("flash3").unsupported(square(1024), a100)
        return reason is None, reason or "flash3 takes it"

    return confirmed(
        "Ask whether flash3, with TMA and wgmma, takes an A100.", test, "this program's own kernels"
    )


def known_context(least: int, most: int) -> Experiment:
    """GPT-3's context as published."""

    def test() -> tuple[bool, str]:
        return least <= GPT3_CONTEXT <= most, f"{GPT3_CONTEXT:,} tokens"

    return confirmed("Look it up in its paper.", test, "Brown et al. 2020, section 2.1")


def same_as_reference(*, claimed: bool) -> Experiment:
    """The NumPy kernels against float64; `claimed`: that they are exact."""

    def run(lab: Lab) -> ClaimResult:
        errors = lab.once(_errors)
        told = ", ".join(f"{name} {off:.1e}" for name, off in errors.items())
        exact = max(errors.values()) < FLOAT32_ERROR
        return found(exact is claimed, f"largest error against float64: {told} (float32)", RUN)

    return Experiment("Run standard, flash1 and flash2 on the same inputs, and compare with float64.", run)


def _errors() -> dict[str, float]:
    """The largest error of each kernel."""
    problem = Problem(seqlen_q=300, seqlen_k=700)
    inputs = make_inputs(problem, "cpu")
    exact, _ = attention_reference(*inputs.qkv, causal=False, scale=problem.softmax_scale)
    errors = {}
    for name in ("standard", "flash1", "flash2"):
        launch = prepare(find_kernel(name), problem, inputs, "cpu")
        launch.run()
        errors[name] = float(np.abs(launch.output - exact).max())
    return errors
