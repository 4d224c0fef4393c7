"""Linformer (Wang et al. 2020), approximate: K and V projected from N rows to k, beside exact attention.

E averages runs of N / k neighbours, the mean pooling of the paper's section 4, and is multiplied as the dense
matrix that a learned E is. Tokens are drawn independently: the hard case, on which neighbours have nothing in
common; a learned E can do better on text. This is no kernel: nothing here is judged as exact attention is.
"""

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.installation import install_command
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.claims.experiments.arithmetic import confirmed
from flashscope.profiles.claims.experiments.memory import GIB, MIB
from flashscope.profiles.claims.lab import Lab
from flashscope.profiles.claims.model import ARITHMETIC, RUN, ClaimResult, Experiment, found, untested
from flashscope.profiles.wire.process import python_command

APPROXIMATE = "approximate"
SEQLEN, HEAD_DIM, RANKS = 1024, 64, (16, 64, 256, 1024)
CHILD, CHILD_LIMIT_S = "flashscope.profiles.claims.low_rank_child:main", 120
REPEATS = 7
EXACT = ("standard", "flash2")
LOSES = 1e-3  # an error above that of any rounding
SHARE = 0.75
LOOK_S = 0.2  # how often it is asked whether to stop

Arrays = npt.NDArray[np.float32]


class Rank(NamedTuple):
    """What one rank gives.

    Attributes:
        rank: k; None: exact attention.
        ms: The shortest of a few runs.
        nbytes: Of scores and projected K and V.
        error: L2 norm of O's error over that of O.
    """

    rank: int | None
    ms: float
    nbytes: int
    error: float


def draw_head(seqlen: int = SEQLEN, head_dim: int = HEAD_DIM) -> tuple[Arrays, Arrays, Arrays]:
    """Q, K and V of one head, float32."""
    q, k, v = np.random.default_rng(0).standard_normal((3, seqlen, head_dim), dtype=np.float32)
    return q, k, v


def projection(rank: int, seqlen: int) -> Arrays:
    """E (k, N): each row averages N / k neighbours; k divides N."""
    matrix: Arrays = np.kron(np.eye(rank), np.full((1, seqlen // rank), rank / seqlen)).astype(np.float32)
    return matrix


def attend(q: Arrays, k: Arrays, v: Arrays) -> Arrays:
    """Plain attention of one head, (Nq, d)."""
    s = q @ k.T * np.float32(q.shape[1] ** -0.5)
    s -= s.max(axis=1, keepdims=True)
    np.exp(s, out=s)
    output: Arrays = s @ v / s.sum(axis=1, keepdims=True)
    return output


def linformer(q: Arrays, k: Arrays, v: Arrays, e: Arrays) -> Arrays:
    """Attention with E K and E V in place of K and V: approximate."""
    return attend(q, e @ k, e @ v)


def low_rank_bytes(seqlen: int, head_dim: int, rank: int | None) -> int:
    """Bytes of scores, and of E, E K and E V, in float32."""
    if rank is None:
        return 4 * seqlen**2
    return 4 * (seqlen * rank + rank * seqlen + 2 * rank * head_dim)


def operations(seqlen: int, head_dim: int, rank: int | None) -> int:
    """Floating-point operations of the products; the two projections are among them."""
    keys = seqlen if rank is None else rank
    return 4 * seqlen * keys * head_dim * (1 if rank is None else 2)


def rank_curve() -> list[Rank]:
    """Exact attention by the faster of two kernels, then every rank: time, memory, error."""
    q, k, v = draw_head()
    exact, matrices = attend(q, k, v), [projection(rank, SEQLEN) for rank in RANKS]
    lower = [partial(linformer, q, k, v, e) for e in matrices]
    ms = _shortest_ms([*map(_exact_run, EXACT), *lower])
    found_ranks = [Rank(None, min(ms[: len(EXACT)]), low_rank_bytes(SEQLEN, HEAD_DIM, None), 0.0)]
    for rank, run, took in zip(RANKS, lower, ms[len(EXACT) :], strict=True):
        off = float(np.linalg.norm(run() - exact) / np.linalg.norm(exact))
        found_ranks.append(Rank(rank, took, low_rank_bytes(SEQLEN, HEAD_DIM, rank), off))
    return found_ranks


def _exact_run(name: str) -> Callable[[], object]:
    """An exact NumPy kernel on such a head, its buffers allocated before."""
    problem = Problem(seqlen_q=SEQLEN, seqlen_k=SEQLEN, head_dim=HEAD_DIM)
    return prepare(find_kernel(name), problem, make_inputs(problem, "cpu"), "cpu").run


def ranks_text(ranks: list[Rank]) -> str:
    """The curve in words."""
    first, *others = ranks
    text = (
        f"{APPROXIMATE}; N = {SEQLEN}, d = {HEAD_DIM}: exact {first.ms:.2f} ms, {first.nbytes / MIB:.2f} MiB"
    )
    parts = (f"k = {r.rank}: {r.ms:.2f} ms, {r.nbytes / MIB:.2f} MiB, error {r.error:.0%}" for r in others)
    return f"{text}; {'; '.join(parts)}"


def loses() -> Experiment:
    """The error over the rank; it stays above rounding by far."""

    def run(lab: Lab) -> ClaimResult:
        ranks = lab.once(rank_curve)
        return found(all(one.error > LOSES for one in ranks[1:-1]), ranks_text(ranks), RUN)

    return Experiment("Run Linformer beside exact attention, over the rank k of its projection.", run)


def fewer_operations() -> Experiment:
    """The low-rank form's operations over those of exact attention."""

    def test() -> tuple[bool, str]:
        shares = {k: operations(SEQLEN, HEAD_DIM, k) / operations(SEQLEN, HEAD_DIM, None) for k in RANKS}
        text = ", ".join(f"{share:.0%} at k = {k}" for k, share in shares.items())
        return all(
            shares[k] < 1 for k in RANKS[:-1]
        ), f"{APPROXIMATE}; {text} of exact attention's at N = {SEQLEN}"

    return confirmed("Count the operations of both, projections among them.", test, ARITHMETIC)


def limited_speedup() -> Experiment:
    """Whether the measured speed-up stays well behind that of the operations."""

    def run(lab: Lab) -> ClaimResult:
        return found(*_limited(lab.once(rank_curve)), f"{RUN}, on this CPU")

    return Experiment("Time both in NumPy, and compare what is gained with the operations saved.", run)


def _limited(ranks: list[Rank]) -> tuple[bool, str]:
    """Whether at small ranks less than three quarters of the operations saved are gained."""
    exact, *others = ranks
    whole = operations(SEQLEN, HEAD_DIM, None)
    saved = [whole / operations(SEQLEN, HEAD_DIM, one.rank) for one in others]
    gained = [exact.ms / one.ms for one in others]
    parts = (
        f"k = {one.rank}: {g:.1f}× for {s:.3g}× fewer operations"
        for one, g, s in zip(others, gained, saved, strict=True)
    )
    limited = all(g < SHARE * s for g, s in zip(gained[:2], saved[:2], strict=True))
    return limited, f"{APPROXIMATE}; {'; '.join(parts)}"


def reaches(seqlen: int) -> Experiment:
    """What it holds there."""

    def test() -> tuple[bool, str]:
        low, full = low_rank_bytes(seqlen, HEAD_DIM, 256), low_rank_bytes(seqlen, HEAD_DIM, None)
        text = (
            f"k = 256 holds {low / MIB:,.0f} MiB a head at N = {seqlen:,}, exact scores {full / GIB:,.1f} GiB"
        )
        return low < full / 10, f"{APPROXIMATE}; {text}"

    return confirmed("Count what both hold, in float32.", test, ARITHMETIC)


def in_torch() -> Experiment:
    """The same curve in PyTorch, in a process of its own: on the GPU where PyTorch sees one."""

    def run(lab: Lab) -> ClaimResult:
        if not installed("torch"):
            return untested(f"PyTorch is not installed: {install_command('torch')}")
        try:
            told_by = json.loads(_child(lab.stopped))
        except (OSError, ValueError) as error:
            return untested(f"PyTorch's process gave no answer ({type(error).__name__})")
        ranks = [Rank(*one) for one in told_by["ranks"]]
        limited, text = _limited(ranks)
        errors = ", ".join(f"{one.error:.0%}" for one in ranks[1:])
        source = f"run here: PyTorch on {told_by['device']}, beside its own fused attention"
        return found(limited, f"{text}; errors {errors}", source)

    words = "Run Linformer in PyTorch beside scaled_dot_product_attention, over the rank k."
    return Experiment(words, run)


def _child(stopped: Callable[[], bool]) -> str:
    """What the process prints.

    Raises:
        TimeoutError: It took too long, or nobody waits for it any more.
    """
    until, command = time.monotonic() + CHILD_LIMIT_S, python_command(CHILD)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while not stopped() and time.monotonic() < until:
            with suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=LOOK_S)[0]
        process.kill()
    raise TimeoutError("PyTorch's process did not end")


def _shortest_ms(runs: Sequence[Callable[[], object]]) -> list[float]:
    """The shortest of each one's times, taken in turns: what slows the machine for a while slows them all."""
    took = [[_seconds(run) for run in runs] for _ in range(REPEATS)]
    return [1e3 * min(times) for times in zip(*took, strict=True)]


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
