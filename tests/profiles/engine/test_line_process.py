"""A process that answers in lines ends with the one that asked it, however that ends."""

import subprocess
import sys
import threading

import msgspec
import psutil

from tests.end_to_end.program import PYTHONPATH

PATIENCE_S = 60
PARENT = """
import msgspec
from flashscope.profiles.engine.line_process import LineProcess

LineProcess(
    "tests.profiles.engine.test_line_process:told_and_waiting", [1], msgspec.json.decode,
    lambda pid: print(pid, flush=True), ending=str, cut_off=lambda printed: printed,
)
"""


def told_and_waiting() -> None:
    """Say who it is, and go on for good, as a long measurement does."""
    sys.stdin.buffer.read()
    sys.stdout.buffer.write(msgspec.json.encode(psutil.Process().pid) + b"\n")
    sys.stdout.buffer.flush()
    threading.Event().wait()


def test_a_parent_that_is_killed_leaves_no_process_that_measures_on() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env={"PYTHONPATH": PYTHONPATH}
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        child.wait(PATIENCE_S)
    assert not child.is_running()
