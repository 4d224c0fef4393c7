"""A process that answers in lines ends with the one that asked it, however that ends."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue

import msgspec
import psutil
import pytest

from flashscope.profiles.engine import line_process
from flashscope.profiles.engine.children import UNKILLED
from flashscope.profiles.engine.line_kinds import LINE_KINDS, start_lines
from flashscope.profiles.engine.line_process import LineProcess
from flashscope.profiles.wire.events import LogLine
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


def told_what_it_sees() -> None:
    """Say which GPUs it sees."""
    sys.stdout.buffer.write(msgspec.json.encode(os.environ.get("CUDA_VISIBLE_DEVICES")) + b"\n")


def told_whom_it_has_started() -> None:
    """Say who that is, and wait for it, as for an instrument that runs for minutes."""
    with subprocess.Popen(["sleep", "600"]) as started:  # noqa: S607 - wherever it is
        sys.stdout.buffer.write(msgspec.json.encode(started.pid) + b"\n")
        sys.stdout.buffer.flush()


def test_what_a_process_has_started_is_ended_with_it() -> None:
    heard: SimpleQueue[int] = SimpleQueue()
    process = LineProcess(
        "tests.profiles.engine.test_line_process:told_whom_it_has_started",
        [1],
        msgspec.json.decode,
        heard.put,
        ending=str,
        cut_off=str,
    )
    started = psutil.Process(heard.get(timeout=PATIENCE_S))
    process.end()
    process.end()  # once more does nothing
    assert psutil.wait_procs([started], PATIENCE_S)[1] == []


def told_what_it_leaves_behind() -> None:
    """Start something in a session of its own that keeps the output open, say who that is, and end."""
    started = subprocess.Popen(["sleep", "600"], start_new_session=True)  # noqa: S607 - wherever it is
    sys.stdout.buffer.write(msgspec.json.encode(started.pid) + b"\n")


@pytest.mark.matrix
def test_what_a_process_leaves_behind_is_ended_and_the_request_is_cut_off() -> None:
    heard: SimpleQueue[int | str] = SimpleQueue()
    process = LineProcess(
        "tests.profiles.engine.test_line_process:told_what_it_leaves_behind",
        [1],
        msgspec.json.decode,
        heard.put,
        ending=str,
        cut_off=lambda _printed: "cut off",
    )
    left = int(heard.get(timeout=PATIENCE_S))
    assert heard.get(timeout=PATIENCE_S) == "cut off"
    process.end()
    with suppress(psutil.NoSuchProcess):
        psutil.Process(left).wait(PATIENCE_S)


@pytest.mark.matrix
def test_one_that_cannot_be_killed_is_left_behind_in_time_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: SimpleQueue[int] = SimpleQueue()
    said: SimpleQueue[LogLine] = SimpleQueue()
    main = "tests.profiles.engine.test_line_process:told_and_waiting"
    deaf = LINE_KINDS["cuts"]._replace(main=main, decode=msgspec.json.decode)
    monkeypatch.setitem(LINE_KINDS, "cuts", deaf)
    process = start_lines("cuts", [1], heard.put, log=said.put)
    child = psutil.Process(heard.get(timeout=PATIENCE_S))
    with monkeypatch.context() as patch:
        patch.setattr(line_process, "RUNG_S", 0.2)
        patch.setattr(LineProcess, "_kill", lambda _: None)
        ending = threading.Thread(target=process.end, daemon=True)
        ending.start()
        line = said.get(timeout=PATIENCE_S)
        ending.join(PATIENCE_S)
        process._thread.join(PATIENCE_S)
    child.kill()
    child.wait(PATIENCE_S)
    assert not ending.is_alive()
    assert not process._thread.is_alive()
    assert (line.source, line.text, line.level) == ("cuts", UNKILLED, "warning")


def test_a_process_sees_the_gpus_that_are_named_to_it() -> None:
    heard: SimpleQueue[str] = SimpleQueue()
    process = LineProcess(
        "tests.profiles.engine.test_line_process:told_what_it_sees",
        [1],
        msgspec.json.decode,
        heard.put,
        ending=str,
        cut_off=str,
        gpus=("GPU-a", "GPU-b"),
    )
    seen = heard.get(timeout=PATIENCE_S)
    process.end()
    assert seen == "GPU-a,GPU-b"


def test_a_parent_that_is_killed_leaves_no_process_that_measures_on() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env={"PYTHONPATH": PYTHONPATH}
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        child.wait(PATIENCE_S)
    assert not child.is_running()
