"""The machine code of a kernel with its lines, made by a process of its own that can be given up."""

import subprocess
import tempfile
from threading import Lock

import msgspec

from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.cuda.sass.child import MAIN, ListingAnswer
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.process import python_command

MOST_SAID = 300  # characters of what a process that failed had said


class ListingRun:
    """One process that compiles and disassembles; it is started once.

    Args:
        kernel: A kernel of the ladder.
        problem: What it is compiled for.
        card: The GPU, which need not be there.
    """

    def __init__(self, kernel: str, problem: Problem, card: GpuCard) -> None:
        told = (msgspec.json.encode(one).decode() for one in (problem, card))
        self._arguments = (kernel, *told)
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._given_up = False

    def give_up(self) -> None:
        """End the process, or never start it; from any thread."""
        with self._lock:
            self._given_up = True
            if self._process is not None:
                self._process.kill()

    def answer(self) -> ListingAnswer | None:
        """Start the process and wait for its answer; None where it was given up."""
        with tempfile.TemporaryDirectory(prefix="flashscope-") as folder:
            try:
                process = self._start(folder)
            except OSError as error:
                return ListingAnswer(refused=f"No process could be started to compile in: {error}.")
            if process is None:
                return None
            printed, errors = process.communicate()
            with self._lock:
                self._process = None
                if self._given_up:
                    return None
        return read_answer(printed, errors)

    def _start(self, folder: str) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._given_up:
                return None
            command = python_command(MAIN, *self._arguments, folder)
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
            return self._process


def read_answer(printed: bytes, errors: bytes = b"") -> ListingAnswer:
    """What the process printed, or what it had said where that is no answer."""
    try:
        return msgspec.json.decode(printed, type=ListingAnswer)
    except msgspec.DecodeError:
        said = errors.decode(errors="replace").strip()
        last = said.rpartition("\n")[2][:MOST_SAID] or "it said nothing"
        return ListingAnswer(refused=f"The process that compiles ended without an answer: {last}.", log=said)
