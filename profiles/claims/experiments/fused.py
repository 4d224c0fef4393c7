"""Fusing without tiling: the kernel `fused`, where it works and where it ends."""

import numpy as np

from flashscope.kernels.catalogue import fused
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.claims.experiments.arithmetic import confirmed
from flashscope.profiles.claims.experiments.memory import square
from flashscope.profiles.claims.experiments.traffic import KIB
from flashscope.profiles.claims.model import RUN, Experiment

HOPPER = Device(
    backend="cuda",
    name="a Hopper GPU",
    memory_bytes=80 << 30,
    compute_capability=(9, 0),
    shared_memory_per_block=227 * KIB,
)
REFUSAL = "computed here: the kernel's own refusal"


def works() -> Experiment:
    """The kernel against float64, and the bytes that it needs beside standard's; it denies that it cannot."""

    def test() -> tuple[bool, str]:
        problem = Problem(seqlen_q=1024, seqlen_k=1024)
        inputs = make_inputs(problem, "cpu")
        launch = prepare(find_kernel("fused"), problem, inputs, "cpu")
        launch.run()
        exact, _ = attention_reference(*inputs.qkv, causal=False, scale=problem.softmax_scale)
        off = float(np.abs(launch.output - exact).max())
        plain = find_kernel("standard").workspace_bytes(problem, "cpu")
        held = f"with {launch.workspace_bytes:,} B beside O, where standard has {plain:,} B"
        told = f"it is right to {off:.0e} at N = 1024 {held}"
        most = fused.longest(square(1), HOPPER.shared_memory_per_block or 0)
        return (
            off > 1e-4,
            f"{told}; a block needs its rows alone: on {HOPPER.name} they fit up to {most:,} keys",
        )

    return confirmed("Run fused, one pass with whole rows of scores, and compare with float64.", test, RUN)


def ends() -> Experiment:
    """The refusal at a longer N."""

    def test() -> tuple[bool, str]:
        reason = find_kernel("fused").unsupported(square(4096), HOPPER)
        return reason is not None, reason or "it runs at N = 4096"

    return confirmed("Ask fused for N = 4096, d = 64, on a Hopper GPU.", test, REFUSAL)
