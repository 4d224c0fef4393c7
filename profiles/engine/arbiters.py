"""A process that has instruments of others measure kernels, each in a process of its own, and ends."""

import json
import subprocess
import sys

import msgspec

from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.ncu import ARBITER_MAIN, TIMEOUT_S, NcuError, ncu_bytes
from flashscope.profiles.wire.arbiters import ArbiterAsked, ArbiterEnded, decode_request
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.process import python_command
from flashscope.profiles.worker.ncu_tool import find_ncu


def main() -> None:
    """Do what stands on stdin, a request a line; the answers go to stdout, a line each."""
    for line in sys.stdin.buffer.read().splitlines():
        sys.stdout.buffer.write(msgspec.json.encode(_answer(decode_request.decode(line))) + b"\n")
        sys.stdout.buffer.flush()


def _answer(asked: ArbiterAsked) -> ArbiterEnded:
    if asked.by == "ncu":
        counted = counted_by_ncu(asked.kernel, asked.problem)
        return ArbiterEnded(missing=counted) if isinstance(counted, str) else ArbiterEnded(figures=counted)
    timed = timed_by_torch(asked.kernel, asked.problem)
    return ArbiterEnded(missing=timed) if isinstance(timed, str) else ArbiterEnded(times_ms=tuple(timed))


def counted_by_ncu(kernel: str, problem: Problem) -> dict[str, Figure] | str:
    """The bytes of a run by Nsight Compute, by the keys of their quantities, or why there are none."""
    ncu = find_ncu()
    if ncu is None:
        return "Nsight Compute (ncu) is not installed"
    try:
        return ncu_bytes(ncu, kernel, problem)
    except NcuError as error:
        return str(error)


def timed_by_torch(kernel: str, problem: Problem) -> list[float] | str:
    """What the kernels of each of some runs take by PyTorch's profiler, in ms, or why that is not known."""
    if not installed("torch"):
        return "PyTorch is not installed"
    text = msgspec.json.encode(problem).decode()
    command = python_command(ARBITER_MAIN, "times", kernel, text)
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"PyTorch's profiler did not answer: {error}"
    return read_times(ended.stdout, ended.stderr)


def read_times(printed: str, errors: str = "") -> list[float] | str:
    """The times in the last line that was printed, or why there are none."""
    last = printed.strip().rpartition("\n")[2]
    try:
        taken = [float(one) for one in json.loads(last)]
    except (ValueError, TypeError):
        why = errors.strip().rpartition("\n")[2] or "nothing"
        return f"PyTorch's profiler gave no times, but {why[:200]}"
    return taken if taken and min(taken) > 0 else "PyTorch's profiler saw no kernel"
