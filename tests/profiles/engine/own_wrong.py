"""Functions that a user might bring, each wrong in its way; read by the tests of kernels of one's own."""

import os
import signal
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]


def raises(q: Floats, k: Floats, v: Floats) -> Any:
    """A shape that does not fit, as NumPy tells it."""
    return q @ v


def imports_relatively(q: Floats, k: Floats, v: Floats) -> Any:
    """A module beside it, as in a package."""
    from . import helper  # type: ignore[attr-defined]  # noqa: PLC0415

    return helper.attend(q, k, v)


def leaves(q: Floats, k: Floats, v: Floats) -> Any:
    """The process, at once and without a word."""
    os._exit(3)


def exits(q: Floats, k: Floats, v: Floats) -> Any:
    """The process, as a script would."""
    raise SystemExit("enough")


def hangs(q: Floats, k: Floats, v: Floats) -> Any:
    """For ever."""
    while True:
        pass


def gives_none(q: Floats, k: Floats, v: Floats) -> Any:
    """Nothing."""


def gives_rows(q: Floats, k: Floats, v: Floats) -> Any:
    """A shape of another."""
    return np.zeros(q.shape[:3], np.float32)


def gives_float64(q: Floats, k: Floats, v: Floats) -> Any:
    """Another dtype."""
    return np.zeros(q.shape)


def gives_nan(q: Floats, k: Floats, v: Floats) -> Any:
    """NaN in one row."""
    output = right(q, k, v)
    output[0, 0, 3] = np.nan
    return output


def gives_list(q: Floats, k: Floats, v: Floats) -> Any:
    """Lists of numbers."""
    return right(q, k, v).tolist()


def wrong_lse(q: Floats, k: Floats, v: Floats) -> Any:
    """An LSE of another shape."""
    return right(q, k, v), np.zeros(q.shape, np.float32)


class Odd(BaseException):
    """What no `except Exception` sees."""


def raises_odd(q: Floats, k: Floats, v: Floats) -> Any:
    """What ends a process."""
    raise Odd("enough")


def shapes_its_inputs(q: Floats, k: Floats, v: Floats) -> Any:
    """The right answer, from arrays whose shapes and flags it sets in place, and read-only."""
    shape = q.shape
    for array in (q, k, v):
        array.shape = (shape[0] * shape[1], *shape[2:])
        array.flags.writeable = False
    output = right(q, k, v).reshape(shape)
    output.flags.writeable = False
    return output


def forks(q: Floats, k: Floats, v: Floats) -> Any:
    """A copy of the process, which goes on where it was called from."""
    os.fork()
    return right(q, k, v)


def leaves_a_process(q: Floats, k: Floats, v: Floats) -> Any:
    """The process, while another that it has started goes on."""
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL)
    os.write(1, b"left behind: %d\n" % left.pid)
    os._exit(3)


def leaves_a_thread_at_work(q: Floats, k: Floats, v: Floats) -> Any:
    """The right answer, and a thread that takes the time of whatever comes next."""
    threading.Thread(target=_work, daemon=True).start()
    return right(q, k, v)


def _work() -> None:
    while True:
        pass


def leaves_a_process_at_work(q: Floats, k: Floats, v: Floats) -> Any:
    """The right answer, and a process that takes the time of whatever comes next."""
    subprocess.Popen([sys.executable, "-c", "while True: pass"])
    return right(q, k, v)


def leaves_a_daemon_at_work(q: Floats, k: Floats, v: Floats) -> Any:
    """The same by a process that forks twice, so that it is in no group of ours; for a minute."""
    _start_daemon("while True: pass")
    return right(q, k, v)


def crashes_beside_a_daemon(q: Floats, k: Floats, v: Floats) -> Any:
    """The process, while such a daemon waits."""
    _start_daemon("signal.pause()")
    os.kill(os.getpid(), signal.SIGKILL)


def hangs_beside_a_daemon(q: Floats, k: Floats, v: Floats) -> Any:
    """For ever, while such a daemon waits."""
    _start_daemon("signal.pause()")
    hangs(q, k, v)


def _start_daemon(does: str) -> None:
    daemon = (
        "import os, signal\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
        f"os.write(1, b'left behind: %d\\n' % os.getpid())\nsignal.alarm(60)\n{does}"
    )
    starting = subprocess.Popen([sys.executable, "-c", daemon], stdout=subprocess.PIPE)
    assert starting.stdout is not None
    os.write(1, starting.stdout.readline())
    starting.wait()


def right(q: Floats, k: Floats, v: Floats) -> Any:
    """Plain attention."""
    s = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(q.shape[-1]))
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
