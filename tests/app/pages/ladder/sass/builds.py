"""In place of the process that compiles and disassembles: builds of four instructions."""

from collections.abc import Callable
from threading import Event

from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.cuda.reading.step import source_of
from flashscope.kernels.cuda.sass.child import ListingAnswer
from flashscope.kernels.cuda.sass.disassembly import Instruction, SourcePlace
from flashscope.kernels.cuda.sass.listing import BuildListing, KernelListing
from flashscope.kernels.cuda.sass.resources import Resources
from flashscope.kernels.workload.problem import Problem

FILE = "flash2.cu"
LINE, CALL = 61, 71  # of the source, from 1


def code() -> list[Instruction]:
    """Two instructions of a function's line, called at another, one of that other line, one of a header."""
    called = SourcePlace("mma.cuh", 12), SourcePlace(FILE, LINE), SourcePlace(FILE, CALL)
    return [
        Instruction(0x00, "LDC R1, c[0x0][0x28]", "", (SourcePlace(FILE, CALL),)),
        Instruction(0x10, "HMMA.16816.F32.BF16 R4, R4, R8, R12", ".L_x_1", called),
        Instruction(0x20, "@P0 MUFU.EX2 R4, R4", "", called[1:]),
        Instruction(0x30, "EXIT", "", (SourcePlace("a.cuh", 3),)),
    ]


def built(kernel: str, problem: Problem, card: GpuCard) -> BuildListing:
    source = source_of(kernel, problem, card)
    taken = Resources(registers=128, stack=0, spilled=0, shared=0, reloaded=0)
    short = KernelListing("finish", code()[:1], taken, 256, 0, 1)
    return BuildListing(
        source, "sm_90", "NVRTC 13.0", [short, KernelListing("flash2", code(), taken, 128, 4096, 1)]
    )


class Builds:
    """In place of the process: what it answers, and when.

    Attributes:
        asked: The kernels, in order.
        given_up: Which of them were.
        answer: Another answer than a build.
        slow: Whether it answers only when it is given up, or let go on.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.given_up: list[str] = []
        self.answer: ListingAnswer | None = None
        self.slow = False

    def __call__(self, kernel: str, problem: Problem, card: GpuCard) -> "Run":
        self.asked.append(kernel)
        return Run(self, kernel, lambda: built(kernel, problem, card))


class Run:
    def __init__(self, builds: Builds, kernel: str, make: Callable[[], BuildListing]) -> None:
        self._builds, self._kernel, self._make = builds, kernel, make
        self._ended, self._slow = Event(), builds.slow

    def give_up(self) -> None:
        self._builds.given_up.append(self._kernel)
        self._ended.set()

    def answer(self) -> ListingAnswer | None:
        if self._slow and self._ended.wait(60):
            return None
        return self._builds.answer or ListingAnswer(self._make())
