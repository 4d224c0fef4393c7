"""Inputs between stretches of memory that nobody may write to."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.own_source import outputs_surrounded
from flashscope.kernels.launching.passes import Given, PassLaunch, prepare_passes
from flashscope.kernels.workload.arrays import array_module, bits_of
from flashscope.kernels.workload.problem import Backend, Problem

HeldBytes = npt.NDArray[np.uint8]
LEAST = 4096  # bytes of a stretch, a page
ROWS = 64  # which it holds at least: kernels round sizes up to the rows of a tile
ALIGNED = 512  # bytes, as CuPy's allocations


class Guard(NamedTuple):
    """One input within its allocation.

    Attributes:
        name: What it is called.
        block: The allocation, uint8.
        start: Where in it the input begins.
        end: Where it ends.
        written: The bytes before and behind it as they were written.
    """

    name: str
    block: Any
    start: int
    end: int
    written: tuple[HeldBytes, HeldBytes]

    def trouble(self) -> str:
        """Where something else stands than was written; empty where it does not."""
        around = (("before", self.block[: self.start]), ("behind", self.block[self.end :]))
        for (where, found), written in zip(around, self.written, strict=True):
            changed = int((bits_of(found) != written).sum())
            if changed:
                return f"It wrote {where} {self.name}: {changed:,} bytes of memory that is not {self.name}'s."
        return ""


class Guards:
    """The guards of all inputs of a run."""

    def __init__(self, guards: list[Guard]) -> None:
        self._guards = guards

    def add(self, launch: PassLaunch) -> None:
        """Look after the memory around what a launch writes, too, where it says what lies there."""
        rng, surrounded = np.random.default_rng(), getattr(launch.forward, "surrounded", {})
        for name, (block, start, end) in surrounded.items():
            self._guards.append(_guard(name, (block, start, end), rng))

    def trouble(self) -> str:
        """One sentence on what was written outside of an array; empty where nothing was."""
        return next(filter(None, (guard.trouble() for guard in self._guards)), "")


def names_of(given: Given) -> dict[str, Any]:
    """The arrays that are given, by what they are called in messages; those that are None left out."""
    inputs = given.inputs
    named = {"Q": inputs.q, "K": inputs.k, "V": inputs.v, "the page table": inputs.page_table}
    found = {**named, "dO": given.grad_output}
    return {name: array for name, array in found.items() if array is not None}


def guarded(given: Given) -> tuple[Given, Guards]:
    """The same values in memory of their own, each array between two stretches of random bytes.

    Args:
        given: Q, K and V, and dO where there is one.
    """
    rng, guards, inside = np.random.default_rng(), [], {}
    for name, array in names_of(given).items():
        inside[name], guard = _within(name, array, rng)
        guards.append(guard)
    inputs = given.inputs._replace(q=inside["Q"], k=inside["K"], v=inside["V"])
    inputs = inputs._replace(page_table=inside.get("the page table"))
    return given._replace(inputs=inputs, grad_output=inside.get("dO")), Guards(guards)


def _within(name: str, array: Any, rng: np.random.Generator) -> tuple[Any, Guard]:
    """A copy of an array in the middle of an allocation, and its guard."""
    xp = array_module(array)
    room = max(LEAST, ROWS * array.shape[-1] * array.itemsize)
    room += -room % ALIGNED
    block = xp.empty(2 * room + ALIGNED + array.nbytes + -array.nbytes % ALIGNED, "uint8")
    start = room + (0 if xp is not np else -(block.ctypes.data + room) % ALIGNED)
    end = start + array.nbytes
    copy = block[start:end].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy, _guard(name, (block, start, end), rng)


def _guard(name: str, part: tuple[Any, int, int], rng: np.random.Generator) -> Guard:
    """Random bytes around a part of a block, uint8, from one place to another."""
    block, start, end = part
    written = tuple(rng.integers(0, 256, size, np.uint8) for size in (start, block.size - end))
    block[:start], block[end:] = map(array_module(block).asarray, written)
    return Guard(name, block, start, end, (written[0], written[1]))


def prepare_guarded(spec: KernelSpec, problem: Problem, given: Given, backend: Backend) -> PassLaunch:
    """As `prepare_passes`, with room around what a `.cu` file writes to: see `Guards.add`."""
    with outputs_surrounded():
        return prepare_passes(spec, problem, given, backend)
