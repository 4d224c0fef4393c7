"""Code that the documents print, written down as it stands and run."""

from collections.abc import Callable, Sequence

import numpy as np

from flashscope.profiles.claims.experiments.arithmetic import confirmed
from flashscope.profiles.claims.experiments.drawn import (
    EXACT,
    Doubles,
    attention_by_definition,
    error,
    qkv,
    softmax_by_definition,
)
from flashscope.profiles.claims.model import RUN, Experiment

Attend = Callable[[Doubles, Doubles, Doubles], Doubles]


def agrees(code: Attend, seqlen: int, head_dim: int, words: str, scale: float | None = None) -> Experiment:
    """Whether printed code computes attention; an exception of its own denies it."""

    def test() -> tuple[bool, str]:
        q, k, v = qkv(seqlen, head_dim)
        exact = attention_by_definition(q, k, v, scale)
        try:
            off = error(code(q, k, v), exact)
        except ValueError as failure:
            return False, f"it fails: {failure}"
        return (
            off < EXACT,
            f"at N = {seqlen}, d = {head_dim} it is off by {off:.2g}, where |O| ≤ {np.abs(exact).max():.2g}",
        )

    return confirmed(words, test, RUN)


def row_blocks(q: Doubles, k: Doubles, v: Doubles) -> Doubles:
    """000, lines 60 to 90: blocks of 256 rows and 32 keys, arrays of whole blocks."""
    n, d = q.shape
    b_r, b_c = 256, 32
    o = np.zeros((n, d))
    for i in range(0, n, b_r):
        q_block = q[i : i + b_r]
        o_block, l_block, m_block = np.zeros((b_r, d)), np.zeros(b_r), np.full(b_r, -np.inf)
        for j in range(0, n, b_c):
            s_block = q_block @ k[j : j + b_c].T / np.sqrt(d)
            m_new = np.maximum(m_block, s_block.max(axis=1))
            p_block = np.exp(s_block - m_new[:, None])
            factor = np.exp(m_block - m_new)
            o_block = o_block * factor[:, None] + p_block @ v[j : j + b_c]
            l_block = l_block * factor + p_block.sum(axis=1)
            m_block = m_new
        o[i : i + b_r] = o_block / l_block[:, None]
    return o


def unsqueezed(q: Doubles, k: Doubles, v: Doubles) -> Doubles:
    """002, lines 24 to 54: a batch of one; m, l, alpha and beta lack the axis that they are used with."""
    q, k, v = q[None], k[None], v[None]
    n, block = q.shape[1], 64
    output = np.zeros_like(q)
    for i in range(0, n, block):
        q_block = q[:, i : i + block]
        m_i, l_i = np.full((1, block), -np.inf), np.zeros((1, block))
        o_i = np.zeros_like(q_block)
        for j in range(0, n, block):
            scores = q_block @ k[:, j : j + block].swapaxes(-1, -2) / np.sqrt(q.shape[-1])
            m_ij = scores.max(axis=-1)
            m_new = np.maximum(m_i, m_ij)
            alpha, beta = np.exp(m_i - m_new), np.exp(m_ij - m_new)
            l_i = alpha * l_i + beta * np.exp(scores - m_ij).sum(axis=-1)
            o_i = alpha * o_i + beta * (np.exp(scores - m_ij) @ v[:, j : j + block])
            m_i = m_new
        output[:, i : i + block] = o_i / l_i[..., None]
    first: Doubles = output[0]
    return first


def key_blocks(q: Doubles, k: Doubles, v: Doubles, *, scaled: bool = True, block: int = 16) -> Doubles:
    """001, lines 880 to 898, and without the scale 003, lines 206 to 254: K and V outside, O normalised."""
    n, d = q.shape
    o, l, m = np.zeros((n, d)), np.zeros(n), np.full(n, -np.inf)
    for j in range(0, n, block):
        for i in range(0, n, block):
            rows = slice(i, i + block)
            s = q[rows] @ k[j : j + block].T / (np.sqrt(d) if scaled else 1.0)
            m_tile = s.max(axis=1)
            p = np.exp(s - m_tile[:, None])
            m_new = np.maximum(m[rows], m_tile)
            old, new = np.exp(m[rows] - m_new), np.exp(m_tile - m_new)
            l_new = old * l[rows] + new * p.sum(axis=1)
            kept = (l[rows] * old)[:, None] * o[rows]
            o[rows] = (kept + new[:, None] * (p @ v[j : j + block])) / l_new[:, None]
            l[rows], m[rows] = l_new, m_new
    return o


def query_blocks(q: Doubles, k: Doubles, v: Doubles) -> Doubles:
    """004, lines 177 to 215: Q outside, no scale."""
    n, block = len(q), 16
    output = np.zeros_like(q)
    for i in range(0, n, block):
        q_i = q[i : i + block]
        o_i, l_i, m_i = np.zeros_like(q_i), np.zeros(len(q_i)), np.full(len(q_i), -np.inf)
        for j in range(0, n, block):
            s = q_i @ k[j : j + block].T
            m_ij = s.max(axis=1)
            p = np.exp(s - m_ij[:, None])
            m_new = np.maximum(m_i, m_ij)
            old, new = np.exp(m_i - m_new), np.exp(m_ij - m_new)
            l_i = old * l_i + new * p.sum(axis=1)
            o_i = old[:, None] * o_i + new[:, None] * (p @ v[j : j + block])
            m_i = m_new
        output[i : i + block] = o_i / l_i[:, None]
    return output


def online_softmax_demo(x_blocks: Sequence[np.ndarray]) -> np.ndarray:
    """004, lines 121 to 141: exponentials of earlier blocks stay as they were when a later block raises m."""
    m, l = float("-inf"), 0.0
    all_exps = []
    for block in x_blocks:
        m_new = max(m, float(np.max(block)))
        l = np.exp(m - m_new) * l + np.sum(np.exp(block - m_new))
        m = m_new
        all_exps.append(np.exp(block - m))
    result: np.ndarray = np.concatenate(all_exps) / l
    return result


def demo() -> Experiment:
    """That function on its own test, with its own assertion."""

    def test() -> tuple[bool, str]:
        drawn = np.random.RandomState(42)
        blocks = [drawn.randn(16).astype(np.float32) for _ in range(4)]
        result = online_softmax_demo(blocks)
        reference = softmax_by_definition(np.concatenate(blocks))
        close = bool(np.allclose(result, reference, atol=1e-6))
        told = "its assertion passes" if close else "its own assertion fails"
        return (
            close,
            f"{told}: the sum is {result.sum():.4f}, the largest error {error(result, reference):.4f}",
        )

    return confirmed("Run the function on the test that stands below it, seed and all.", test, RUN)
