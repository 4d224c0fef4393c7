"""A kernel of the user's own on other sizes, and at another scale, than asked for: what it takes is right.

A kernel that takes multiples of some length alone says so (`length_multiple`), or raises where it is called;
one that knows the usual scale alone takes no argument `scale`.
"""

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.passes import draw_given
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.failures import CaughtError
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.vetting.answers import caught, taken, what_is_wrong_in_rows
from flashscope.profiles.worker.vetting.around import Around, bytes_read
from flashscope.profiles.worker.vetting.guards import guarded, prepare_guarded
from flashscope.profiles.worker.vetting.process_state import ProcessState

QUERIES, KEYS = 67, 131  # no multiples of anything, and other than each other
UNUSUAL = 0.5  # of the scale asked for: as a power of two it rounds no 16-bit score anew
SHORT = (1, 63, 65)  # keys: the least there is, and both sides of a tile's edge
MOST_HEADS = 8
TILE = 256  # on a GPU half of a length stays a multiple of half of it
REMEDY = "if it takes multiples of some length alone, have it declare them: length_multiple = ..."
OF_SCALES = "if it knows the usual scale alone, have it take no argument scale"
BROKE = "it broke the GPU's context ({})"


def told_of_other_sizes(
    spec: KernelSpec, problem: Problem, device: Device, bench: Bench, state: ProcessState
) -> str:
    """What is wrong with an answer at another size, as a clause; empty where nothing is or it takes none.

    Args:
        spec: The kernel.
        problem: What was asked for.
        device: Where it runs.
        bench: What runs it.
        state: The process as it is to be.

    Raises:
        CaughtError: It wrote where it may not, changed the process, or broke the GPU's context.
    """
    multiple = spec.own.length_multiple if spec.own else 1
    asked = [(one, _size(one), REMEDY) for one in other_sizes(problem, device, multiple)]
    asked += [(one, f"a scale of {one.scale:.3g}", OF_SCALES) for one in other_scales(problem, multiple)]
    for other, what, remedy in asked:
        if spec.unsupported(other, device) is not None:
            continue
        try:
            told = _told_of(spec, other, device, bench, state)
        except CaughtError as error:
            raise caught(f"At {what}, which it takes: {str(error).rstrip('.')}; {remedy}") from error
        if told:
            return f"at {what}, which it takes, it is wrong: {told.rstrip('.')} ({remedy})"
    return ""


def other_sizes(problem: Problem, device: Device, multiple: int = 1) -> Iterator[Problem]:
    """Problems with the same features and other sizes; none with a block mask, which is of one size.

    Args:
        problem: What was asked for.
        device: Where it runs.
        multiple: What lengths are multiples of.
    """
    if problem.block_mask is not None:
        return
    small = _fewer_heads(problem)
    if device.backend == "cuda":
        half = problem.seqlen_q // 2
        if half and problem.seqlen_q % TILE == 0:
            yield replace(problem, seqlen_q=half)
    else:
        yield replace(small, seqlen_q=QUERIES, seqlen_k=KEYS)
    for other in dict.fromkeys(_shortened(small, short, multiple) for short in SHORT):
        if (other.seqlen_q, other.seqlen_k) != (problem.seqlen_q, problem.seqlen_k):
            yield other


def other_scales(problem: Problem, multiple: int = 1) -> Iterator[Problem]:
    """A short problem with the same features and another scale; none with a block mask.

    Args:
        problem: What was asked for.
        multiple: What lengths are multiples of.
    """
    if problem.block_mask is None:
        other = _shortened(_fewer_heads(problem), SHORT[-1], multiple)
        yield replace(other, scale=UNUSUAL * problem.softmax_scale)


def _shortened(problem: Problem, least: int, multiple: int) -> Problem:
    """The same of the fewest keys that are so many and a multiple, and of no more queries than before."""
    keys = -(-least // multiple) * multiple
    queries = keys if problem.seqlen_q == problem.seqlen_k else min(keys, problem.seqlen_q)
    return replace(problem, seqlen_q=queries, seqlen_k=keys)


def _fewer_heads(problem: Problem) -> Problem:
    """The same of two sequences and few heads at most, as many of Q to one of K and V."""
    group = problem.heads // problem.key_heads
    shared = max(1, min(2, problem.key_heads, MOST_HEADS // group))
    return replace(
        problem,
        batch=min(2, problem.batch),
        heads=shared * group,
        kv_heads=None if problem.kv_heads is None else shared,
    )


def _told_of(spec: KernelSpec, other: Problem, device: Device, bench: Bench, state: ProcessState) -> str:
    """What is wrong with its answer to a problem, in a sentence; empty where nothing is or it refuses it.

    Raises:
        CaughtError: It wrote where it may not, changed the process, or broke the GPU's context.
    """
    given, guards = guarded(draw_given(other, device.backend))
    before, launch = bytes_read(given), None
    try:
        launch = prepare_guarded(spec, other, given, device.backend)
        guards.add(launch)
        launch.spoil()
        bench.time_ms(launch.run)
        bench.wait()
        answer = taken(launch.answer())
        Around(state, guards, given).look(before, launch.answer())
        return what_is_wrong_in_rows(other, given, answer, np.random.default_rng())
    except CaughtError:
        raise
    except Exception as error:
        if bench.healthy():
            return ""  # it refused in so many words
        cause = (str(error).splitlines() or [""])[0].rstrip(".")
        raise caught(BROKE.format(cause)) from error
    finally:
        if launch is not None and bench.healthy():
            launch.release()


def _size(problem: Problem) -> str:
    rows = "query" if problem.seqlen_q == 1 else "queries"
    return f"{problem.seqlen_q} {rows} and {problem.seqlen_k} key{'s' * (problem.seqlen_k > 1)}"
