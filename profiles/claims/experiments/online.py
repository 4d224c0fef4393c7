"""The online softmax, run: merged exactly, row by row, and what goes wrong without it."""

import numpy as np

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import Array, Trace, TraceRequest
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

SCORES = (1.0, 3.0, 2.0, 0.5)  # of the slides' example, in blocks of 2
TRACED = "run here: the NumPy kernel's own tile steps"


def merged() -> Experiment:
    """Two blocks' m and l, merged by the rescaling rule."""

    def test() -> tuple[bool, str]:
        x = np.random.default_rng(1).standard_normal(1000) * 10
        (m1, l1), (m2, l2) = (_stats(part) for part in (x[:300], x[300:]))
        m = max(m1, m2)
        l = np.exp(m1 - m) * l1 + np.exp(m2 - m) * l2
        off = abs(l / _stats(x)[1] - 1)
        return off < EXACT, f"l of 300 + 700 numbers differs from that of all 1,000 by {off:.1e} of it"

    return confirmed(
        "Merge m and ℓ of two blocks of random numbers, and compare with all at once.", test, RUN
    )


def example(what: str, printed: str, block: int) -> Experiment:
    """A number of the slides' example, from a trace of the tiled kernel: `m`, `l`, or `alpha`."""

    def test() -> tuple[bool, str]:
        value = float(getattr(_trace(), what).numpy()[block, 0])
        return f"{value:.3f}" == printed, f"{what} after block {block + 1}: {value:.5f}; stated: {printed}"

    return confirmed(f"Trace the tiled kernel over the scores {SCORES} in blocks of 2.", test, TRACED)


def exponential(printed: str, score: float, maximum: float) -> Experiment:
    """One exponential of that example."""

    def test() -> tuple[bool, str]:
        value = float(np.exp(score - maximum))
        return f"{value:.3f}" == printed, f"exp({score:g} − {maximum:g}) = {value:.5f}; stated: {printed}"

    return confirmed("Compute the exponential.", test, RUN)


def example_output() -> Experiment:
    """O of that example against the whole row's softmax."""

    def test() -> tuple[bool, str]:
        trace = _trace()
        exact = softmax_by_definition(np.array(SCORES)) @ np.arange(1.0, 5.0)
        off = abs(float(trace.output.numpy()[0, 0]) - float(exact))
        return off < 1e-6, f"O differs by {off:.1e} (float32) from softmax over the whole row"

    return confirmed(f"Trace the tiled kernel over the scores {SCORES} with V = 1, 2, 3, 4.", test, TRACED)


def naive_tiles() -> Experiment:
    """Tiles that are each normalised by their own sum, added up."""

    def test() -> tuple[bool, str]:
        q, k, v = qkv(48, 16)
        parts = [attention_by_definition(q, k[at : at + 16], v[at : at + 16]) for at in range(0, 48, 16)]
        exact = attention_by_definition(q, k, v)
        off, largest = error(sum(parts[1:], parts[0]), exact), np.abs(exact).max()
        return off > EXACT, f"three tiles' outputs added are off by {off:.2f}, where |O| ≤ {largest:.2f}"

    return confirmed("Take the softmax of each of three tiles of keys alone, and add the outputs.", test, RUN)


def fixed_afterwards() -> Experiment:
    """The same outputs, weighed by each tile's log-sum-exp: it denies the claim that this mends them."""

    def test() -> tuple[bool, str]:
        q, k, v = qkv(48, 16)
        tiles = [slice(at, at + 16) for at in range(0, 48, 16)]
        outputs = np.stack([attention_by_definition(q, k[tile], v[tile]) for tile in tiles])
        lse = np.stack([_lse(q @ k[tile].T / 4) for tile in tiles])
        weights = softmax_by_definition(lse.T).T[:, :, None]
        off = error((weights * outputs).sum(axis=0), attention_by_definition(q, k, v))
        told = f"weighed by each tile's log-sum-exp they are exact to {off:.1e}, as split keys in decoding"
        return off > EXACT, told

    return confirmed("Combine the tiles' outputs by the log-sum-exp of each.", test, RUN)


def rows_alone() -> Experiment:
    """Each block of queries computed alone."""

    def test() -> tuple[bool, str]:
        q, k, v = qkv(64, 16)
        whole = attention_by_definition(q, k, v)
        off = max(
            error(attention_by_definition(q[at : at + 8], k, v), whole[at : at + 8]) for at in range(0, 64, 8)
        )
        return off < EXACT, f"8 blocks of queries, each alone, differ from all at once by {off:.1e}"

    return confirmed("Compute blocks of queries one by one, and compare with all at once.", test, RUN)


def wrong_sign() -> Experiment:
    """The rule as one slide prints it, with e to the minus (m - m_new)."""

    def test() -> tuple[bool, str]:
        (m1, l1), (m2, l2) = (_stats(np.array(part)) for part in (SCORES[:2], SCORES[2:]))
        m = max(m1, m2)
        l = np.exp(-(m1 - m)) * l1 + np.exp(-(m2 - m)) * l2
        exact = _stats(np.array(SCORES))[1]
        return abs(l - exact) < EXACT, f"l = {l:.3f}, where the row's sum is {exact:.3f}"

    return confirmed("Merge the example's two blocks with the exponents as printed.", test, RUN)


def _trace() -> Trace:
    from flashscope.kernels.cpu.trace import record  # noqa: PLC0415 - NumPy's kernels, when they run

    column = np.array(SCORES, np.float32)[:, None]
    one = np.ones((1, 1), np.float32)
    values = np.arange(1, 5, dtype=np.float32)[:, None]
    problem = Problem(seqlen_q=1, seqlen_k=4, head_dim=1, scale=1.0)
    inputs = (Array.of(one), Array.of(column), Array.of(values))
    return record(TraceRequest(problem=problem, block_q=1, block_k=2, inputs=inputs))


def _stats(x: Doubles) -> tuple[float, float]:
    m = float(x.max())
    return m, float(np.exp(x - m).sum())


def _lse(scores: Doubles) -> Doubles:
    m = scores.max(axis=-1)
    lse: Doubles = m + np.log(np.exp(scores - m[:, None]).sum(axis=-1))
    return lse
