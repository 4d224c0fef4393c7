"""What flash3's key tiles cost at head dim 128, by their keys: it takes those whose steps cost least."""

from math import ceil, gcd

from flashscope.kernels.workload.problem import Problem

GROUP_ROWS = 64  # query rows of a warpgroup
HALVED_KEYS, HALF_KEYS = 128, 64  # of a key tile of which half may be computed: flash3_layout.cuh
STEP_COSTS = {112: 128, 128: 144, 160: 172}  # of a tile of so many keys at head dim 128: measured on an H200
HALF_STEP_COST = 112  # of one of which half is computed


def row_cost(keys: int, block_k: int) -> int:
    """Time of a row of key tiles at head dim 128, in a unit of its own."""
    whole, rest = divmod(keys, block_k)
    halved = block_k == HALVED_KEYS and rest <= HALF_KEYS
    last = HALF_STEP_COST if halved else STEP_COSTS[block_k]
    return whole * STEP_COSTS[block_k] + last * (rest > 0)


def causal_cost(problem: Problem, block_k: int) -> int:
    """The same of all rows of a head: of 128 keys one of two warpgroups computes half of its last tile."""
    rows, diagonal = 2 * GROUP_ROWS, problem.seqlen_k - problem.seqlen_q
    before = max(0, -diagonal // rows)  # row tiles that see no key
    others = ceil(problem.seqlen_q / rows) - before - 1  # that see some; the last ends with the keys
    tiles = _tiles_up_to((before + 1) * rows + diagonal, rows, others, block_k)
    tiles += ceil(problem.seqlen_k / block_k)
    step = STEP_COSTS[block_k]
    spared = (step - HALF_STEP_COST) // 2 if block_k == HALVED_KEYS else 0
    return tiles * step - spared * (others + 1)


def _tiles_up_to(first: int, step: int, ends: int, block_k: int) -> int:
    """Key tiles up to each of so many ends that follow each other by `step`, in all.

    In closed form, as a window asks for the cost of a million rows: every `block_k / gcd(step, block_k)` ends
    the same rest comes again.
    """
    again = block_k // gcd(step, block_k)
    total = 0
    for place in range(min(again, ends)):
        times = ceil((ends - place) / again)
        total += times * ceil((first + place * step) / block_k)
        total += (again * step // block_k) * (times * (times - 1) // 2)
    return total
