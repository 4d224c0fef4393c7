"""Fusing without tiling: the kernel `fused`, where it works and where it ends."""

import numpy as np

from kernels import fused
from kernels.device import Device
from kernels.launch import make_inputs, prepare
from kernels.problem import Problem
from kernels.reference import attention_reference
from kernels.registry import find_kernel
from profiles.claims.model import RUN, Trial
from profiles.claims.trials.arithmetic import check
from profiles.claims.trials.memory import square
from profiles.claims.trials.traffic import KIB

HOPPER = Device(
    backend="cuda",
    name="a Hopper GPU",
    memory_bytes=80 << 30,
    compute_capability=(9, 0),
    shared_memory_per_block=227 * KIB,
)
REFUSAL = "computed here: the kernel's own refusal"


def works() -> Trial:
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

    return check("Run fused, one pass with whole rows of scores, and compare with float64.", test, RUN)


def ends() -> Trial:
    """The refusal at a longer N."""

    def test() -> tuple[bool, str]:
        reason = find_kernel("fused").unsupported(square(4096), HOPPER)
        return reason is not None, reason or "it runs at N = 4096"

    return check("Ask fused for N = 4096, d = 64, on a Hopper GPU.", test, REFUSAL)
