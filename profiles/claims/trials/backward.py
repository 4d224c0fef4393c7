"""The backward pass: whether recomputation gives the gradients, and what it takes."""

import numpy as np

from kernels.launch import Saved, make_inputs, prepare, prepare_backward
from kernels.problem import Problem
from kernels.reference_gradients import gradients_reference
from kernels.registry import find_kernel
from profiles.claims.model import RUN, Trial
from profiles.claims.trials.arithmetic import check
from profiles.claims.trials.drawn import EXACT, error, qkv, softmax

PRODUCTS = {"forward": ("Q Kᵀ", "P V"), "backward": ("Q Kᵀ", "dO Vᵀ", "Pᵀ dO", "dS K", "dSᵀ Q")}


def recomputed(*, claimed: bool) -> Trial:
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
    return check(words, test, RUN)


def without_scores() -> Trial:
    """The gradient with respect to P computed from dO and V, against differences; S is not wanted."""

    def test() -> tuple[bool, str]:
        q, k, v = qkv(12, 8)
        d_output = np.random.default_rng(2).standard_normal((12, 8))
        p, step = softmax(q @ k.T / np.sqrt(8)), 1e-6
        nudged = np.zeros_like(p)
        for place in np.ndindex(*p.shape):
            beside = p.copy()
            beside[place] += step
            nudged[place] = ((beside - p) @ v * d_output).sum() / step
        off = error(d_output @ v.T, nudged)
        return off > 1e-6, f"dP = dO Vᵀ, in which S does not occur, is right to {off:.0e}"

    return check("Compute dP from dO and V alone, and compare with finite differences.", test, RUN)


def more_flops(least: float, most: float) -> Trial:
    """Its matrix products beside those of the forward pass, all of 2 Nq Nk d operations."""

    def test() -> tuple[bool, str]:
        ratio = len(PRODUCTS["backward"]) / len(PRODUCTS["forward"])
        told = ", ".join(PRODUCTS["backward"])
        return least <= ratio <= most, f"{ratio:g} times: {told} against {' and '.join(PRODUCTS['forward'])}"

    return check("Count the matrix products of both passes.", test)


def same_sum() -> Trial:
    """Rows of dO·O against rows of dP·P: what lets a backward pass do without P of a whole row."""

    def test() -> tuple[bool, str]:
        q, k, v = qkv(32, 8)
        d_output = np.random.default_rng(2).standard_normal((32, 8))
        p = softmax(q @ k.T / np.sqrt(8))
        off = error((d_output * (p @ v)).sum(axis=1), (d_output @ v.T * p).sum(axis=1))
        return off < EXACT, f"rowsum(dO O) and rowsum(dP P) differ by {off:.0e}"

    return check("Compare rowsum(dO O) with rowsum(dP P).", test, RUN)
