"""What theory says of a kernel: tile-level IO, DRAM traffic, intensity.

Everything here is a formula and is shown as *model*, never as a measurement. Three kinds of bytes are never
mixed: the footprint (what is held), the tile-level IO (what the SMs move to and from L2) and the DRAM traffic
(what must cross the bus of the memory). The re-reads of K and V of a tiled kernel are mostly served by L2, so
its tile-level IO is tens of times its DRAM traffic. The formula of a kernel's loops stands beside the kernel
(`flashscope.kernels.catalogue.traffic`).

Of sequences of different lengths each is counted for itself, and what is written into padding; of pages not
the table that names them.

Source:
    Roofline: Williams, Waterman, Patterson, 2009.
"""

from msgspec import structs

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.traffic import TILES, Passed, Tiles
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.walk import loaded


def tile_io_bytes(kernel: str, problem: Problem, backend: Backend) -> int | None:
    """Bytes that thread blocks move between SM and L2 in one run; None where there is no formula.

    There is none for some kernels, nor for any backward pass.

    On the CPU: between the last cache and the tile that is computed.

    Raises:
        KeyError: No kernel has this name.
    """
    traffic = find_kernel(kernel).traffic
    if traffic is None or problem.runs_backward:
        return None
    tiles = traffic.tiles(problem, backend)
    if "ragged" not in problem.features:
        return traffic.nbytes(problem, backend, tiles)
    own = sum(count * traffic.nbytes(one, backend, tiles) for one, count in problem.alike.items())
    return own + _padding_bytes(problem)


def tiles_of(kernel: str, problem: Problem, backend: Backend) -> Tiles:
    """The tiles that a kernel's formula is for; the usual ones of a kernel without a formula.

    Raises:
        KeyError: No kernel has this name.
    """
    traffic = find_kernel(kernel).traffic
    return TILES[backend] if traffic is None else traffic.tiles(problem, backend)


def _padding_bytes(problem: Problem) -> int:
    """O = 0 and LSE = -inf, written into each row that is padding or meets no key."""
    return problem.output_bytes - sum(count * one.output_bytes for one, count in problem.alike.items())


def compulsory_dram_bytes(kernel: str, problem: Problem, backend: Backend, cache_bytes: int = 0) -> int:
    """Bytes that cross the bus of the memory on account of a forward pass: inputs and outputs once, S and P.

    Sequences of different lengths are counted as if one came after the other.

    `standard` makes S of all heads before it reads any of it, and P of all heads before it reads any of that:
    both are written, at the latest when other data take their place, and read again as far as the cache has
    lost them. Of K and V what the masks hide from all queries is left out, as far as the kernel leaves it
    out; of a block mask that is counted in whole blocks of keys.

    Args:
        kernel: By name.
        problem: What it computes, forward.
        backend: Where.
        cache_bytes: Size of the last cache before the memory, for all heads together.

    Raises:
        KeyError: No kernel has this name.
    """
    if "ragged" in problem.features:
        asked, alike = (backend, cache_bytes), problem.alike.items()
        own = sum(count * compulsory_dram_bytes(kernel, one, *asked) for one, count in alike)
        return own + _padding_bytes(problem)
    traffic = find_kernel(kernel).traffic
    masked = problem if traffic is None else traffic.as_computed(problem, backend)
    inputs = structs.replace(problem, page_size=None).input_bytes - _hidden_bytes(masked)
    once = inputs + problem.output_bytes
    if traffic is None:
        return once
    scores, weights = traffic.passed_on(problem, backend)
    kept = _kept(scores, weights, cache_bytes), _kept(weights, scores, cache_bytes)
    read = scores.read * (1 - kept[0]) + weights.read * (1 - kept[1])
    return once + scores.written + weights.written + round(read)


def _hidden_bytes(problem: Problem) -> int:
    """Those of the rows of K and V that the masks keep for no query."""
    blocks = problem.block_mask
    size = 1 if blocks is None else blocks.block_k
    found = loaded(problem.mask, problem.seqlen_q, size)
    seen = found.blocks * size - found.last * (-problem.seqlen_k % size)
    row = (problem.head_dim + problem.value_dim) * problem.itemsize
    return problem.batch * problem.key_heads * (problem.seqlen_k - seen) * row


def _kept(matrix: Passed, other: Passed, cache_bytes: int) -> float:
    """The share of a matrix that a cache which drops what is oldest still has when it is read.

    Between the moment when a row of S is written and that when it is read, all of S passes, and of P the rows
    before it; between those of a row of P all of P, and of S the rows behind it.
    """
    room = cache_bytes - matrix.written
    return min(1.0, max(0.0, room / other.written)) if other.written else 1.0


def arithmetic_intensity(problem: Problem, moved_bytes: float) -> float:
    """FLOP a byte moved; say which bytes (L2 or DRAM) next to the figure (Williams et al. 2009)."""
    return problem.flops / moved_bytes
