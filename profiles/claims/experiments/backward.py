"""The backward pass: whether recomputation gives the gradients, and what it takes."""

import numpy as np

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.launch import make_inputs, prepare, prepare_backward
from flashscope.kernels.oracle.reference_gradients import gradients_reference
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved
from flashscope.profiles.claims.experiments.arithmetic import confirmed
from flashscope.profiles.claims.experiments.drawn import error, qkv, softmax_by_definition
from flashscope.profiles.claims.model import RUN, Experiment

PRODUCTS = {"forward": ("Q Kᵀ", "P V"), "backward": ("Q Kᵀ", "dO Vᵀ", "Pᵀ dO", "dS K", "dSᵀ Q")}


def recomputed(*, claimed: bool) -> Experiment:
    """Gradients of flash1's order without P, against float64; `claimed`: that there is such a pass."""

    def test() -> tuple[bool, str]:
        problem = Problem(seqlen_q=256, seqlen_k=256, head_dim=32)
        spec, inputs = find_kernel("flash1"), make_inputs(problem, "cpu")
        forward = prepare(spec, problem, inputs, "cpu")
        forward.run()
        grad = np.random.default_rng(5).standard_normal(problem.q_shape, dtype=np.float32)
        saved = Saved(*inputs.qkv, forward.output, forward.lse, grad)
        launch = prepare_backward(spec, problem, saved, "cpu")
        launch.run()
        exact = gradients_reference(*inputs.qkv, grad, causal=False, scale=problem.softmax_scale)
        off = max(error(a, b) for a, b in zip(launch.gradients, exact, strict=True))
        kept = spec.backward.kept_bytes(problem, "cpu") if spec.backward else 0
        p_bytes = 4 * problem.score_elements
        told = f"dQ, dK and dV from Q, K, V, O and LSE alone are right to {off:.0e} (float32)"
        return (off < 1e-4) is claimed, f"{told}; kept: {kept:,} B, where P would be {p_bytes:,} B"

    words = "Run the backward pass of flash1's loop order: scores and P computed again, tile by tile."
    return confirmed(words, test, RUN)


def without_scores() -> Experiment:
    """The gradient with respect to P computed from dO and V, against differences; S is not wanted."""

    def test() -> tuple[bool, str]:
        q, k, v = qkv(12, 8)
        d_output = np.random.default_rng(2).standard_normal((12, 8))
        p, step = softmax_by_definition(q @ k.T / np.sqrt(8)), 1e-6
        nudged = np.zeros_like(p)
        for place in np.ndindex(*p.shape):
            beside = p.copy()
            beside[place] += step
            nudged[place] = ((beside - p) @ v * d_output).sum() / step
        off = error(d_output @ v.T, nudged)
        return off > 1e-6, f"dP = dO Vᵀ, in which S does not occur, is right to {off:.0e}"

    return confirmed("Compute dP from dO and V alone, and compare with finite differences.", test, RUN)


def more_flops(least: float, most: float) -> Experiment:
    """Its matrix products beside those of the forward pass, all of 2 Nq Nk d operations."""

    def test() -> tuple[bool, str]:
        ratio = len(PRODUCTS["backward"]) / len(PRODUCTS["forward"])
        told = ", ".join(PRODUCTS["backward"])
        return least <= ratio <= most, f"{ratio:g} times: {told} against {' and '.join(PRODUCTS['forward'])}"

    return confirmed("Count the matrix products of both passes.", test)
