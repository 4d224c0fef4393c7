"""What every kernel must get right, on every backend: lengths, head dims, probes. Arrays are NumPy's."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec
import numpy as np

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

# (Nq, Nk): single elements, tails, more rows than keys and the other way round, exact multiples of tiles.
LENGTHS = (
    (1, 1),
    (64, 128),
    (239, 1),
    (799, 3),
    (113, 203),
    (108, 256),
    (1023, 1024),
    (1024, 1023),
    (4224, 4224),
)
# On the CPU 4224 = 33 * 128 shrinks to 9 * 128: still many tiles and no tail.
CPU_LENGTHS = (*LENGTHS[:-1], (1152, 1152))
HEAD_DIMS = (16, 24, 40, 64, 80, 96, 128)
CAUSAL = (False, True)


class Case(NamedTuple):
    """One problem with inputs made to show one kind of bug."""

    problem: Problem
    inputs: Inputs


def draw(problem: Problem) -> Inputs:
    """Standard-normal Q, K and V in float32, whatever the problem's dtype."""
    rng = np.random.default_rng(problem.seed)
    shapes = (problem.q_shape, problem.k_shape, problem.v_shape)
    return Inputs(*(rng.standard_normal(shape, dtype=np.float32) for shape in shapes))


def values_are_identity_columns() -> Case:
    """V = 1: the output is P itself."""
    problem = Problem(seqlen_q=130, seqlen_k=128, heads=2, head_dim=128)
    identity = np.broadcast_to(np.eye(128, dtype=np.float32), problem.k_shape)
    return Case(problem, draw(problem)._replace(v=np.ascontiguousarray(identity)))


def keys_are_zero() -> Case:
    """K = 0: every key weighs the same and O is the mean of V."""
    problem = Problem(seqlen_q=70, seqlen_k=333, heads=2, head_dim=64)
    return Case(problem, draw(problem)._replace(k=np.zeros(problem.k_shape, np.float32)))


def queries_are_spikes() -> Case:
    """Row i is one key's code: O is that key's value, so a wrong index shows at once. See `spiked_keys`."""
    problem = Problem(seqlen_q=300, seqlen_k=201, heads=2, head_dim=64, scale=4.0)
    inputs = draw(problem)
    codes = np.sign(inputs.k)
    return Case(problem, inputs._replace(q=codes[:, :, spiked_keys(problem)].copy(), k=codes))


def spiked_keys(problem: Problem) -> list[int]:
    """The key each query row of `queries_are_spikes` asks for."""
    return [(7 * row + 3) % problem.seqlen_k for row in range(problem.seqlen_q)]


def maximum_comes_last() -> Case:
    """Scores rise along the keys: every tile raises m, and what was summed before must shrink."""
    problem = Problem(seqlen_q=65, seqlen_k=1100, heads=2, head_dim=32, scale=1.0)
    return rising(problem, [*np.linspace(0, 60, problem.seqlen_k)])


def maximum_comes_first() -> Case:
    """The same for kernels that begin with the last keys: every second tile or so raises m by 2^8."""
    problem = Problem(seqlen_q=65, seqlen_k=1100, heads=2, head_dim=32, scale=1.0)
    return rising(problem, [*np.linspace(40, 0, problem.seqlen_k)])


def rising(problem: Problem, scores: list[float]) -> Case:
    """For each key its product with every row, but for little more than roundings."""
    inputs = draw(problem)
    q, k = inputs.q.copy(), 0.01 * inputs.k
    q[..., 0], k[..., 0] = 1, scores
    return Case(problem, inputs._replace(q=q, k=k))


def rising_in_every_second_row(problem: Problem, rise: float) -> Case:
    """Scores that rise by so much, in base 2, for every 128 keys towards the first ones; for two heads.

    They rise in rows 0 to 7 of every 16 of one head and in the others of the other: a thread of flash3 has
    one of either kind.
    """
    scores = rise * np.log(2) / 128 * np.arange(problem.seqlen_k)[::-1]
    case = rising(problem, [*(scores / problem.softmax_scale)])
    case.inputs.q[..., 0] = np.arange(problem.seqlen_q) // 8 % 2 == np.arange(2)[:, None]
    return case


def first_rows_see_nothing() -> Case:
    """Causal with more rows than keys: whole tiles of rows keep no key, and that border splits one tile."""
    problem = Problem(seqlen_q=400, seqlen_k=170, heads=2, head_dim=64, causal=True)
    return Case(problem, draw(problem))


def logits_are_huge() -> Case:
    """Scores of 1e4: exp of anything but s - m overflows."""
    problem = Problem(seqlen_q=129, seqlen_k=257, heads=2, head_dim=64)
    inputs = draw(problem)
    scores = np.einsum("bhqd,bhkd->bhqk", inputs.q, inputs.k) * problem.softmax_scale
    return Case(problem, inputs._replace(q=inputs.q * np.float32(1e4 / np.abs(scores).max())))


def scores_are_huge_and_negative() -> Case:
    """All scores near -1e4: a running maximum that starts at 0 yields nothing but zeros."""
    problem = Problem(seqlen_q=33, seqlen_k=150, heads=1, head_dim=16, scale=1.0)
    inputs = draw(problem)
    q, k = 0.01 * inputs.q, inputs.k.copy()
    q[..., 0], k[..., 0] = 100, -100
    return Case(problem, inputs._replace(q=q, k=k))


PROBES: tuple[Callable[[], Case], ...] = (
    values_are_identity_columns,
    keys_are_zero,
    queries_are_spikes,
    maximum_comes_last,
    maximum_comes_first,
    first_rows_see_nothing,
    logits_are_huge,
    scores_are_huge_and_negative,
)


def causal(case: Case) -> Case:
    """The same inputs under the causal mask."""
    return case._replace(problem=msgspec.structs.replace(case.problem, causal=True))


def in_mode(problem: Problem, deterministic: bool = True) -> Problem:
    """The backward pass of a problem, in every run to the same bits or in any order."""
    return msgspec.structs.replace(problem, passes="backward", deterministic=deterministic)
