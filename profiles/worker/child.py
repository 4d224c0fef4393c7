"""The child's side of an engine's processes: where one starts, and its link to the engine."""

import faulthandler
import os
import signal
import site
import sys
import threading
from importlib import import_module
from multiprocessing.connection import Connection, wait

from flashscope.profiles.wire import heirs
from flashscope.profiles.wire.messages import Cancel, Command, Message, StopChild, decode_command, encode

# NumPy's and PyTorch's thread pools, read when they are imported; the first that is set counts. With as many
# threads as cores, any other program on one of them has all the others wait: a kernel of 8 ms took up to 1 s.
BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
INDUCTOR_PROCESSES = "TORCHINDUCTOR_COMPILE_THREADS"

FORKED = b"A copy of the worker that a kernel forked was ended: end such copies with os._exit.\n"


class CancelledError(Exception):
    """The engine asked to give up what is in flight."""


class StopRequestedError(SystemExit):
    """The engine asked the child to end; it passes every `except Exception` on its way out."""


class Link:
    """The child's end of the pipe to its engine.

    A copy of the process that a kernel has forked, and that comes back from the kernel, ends where it would
    speak or listen here: two that answer as one spoil what is recorded.
    """

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._process = pipe, os.getpid()

    def send(self, message: Message) -> None:
        """Say something to the engine."""
        self._end_in_copy()
        self._pipe.send_bytes(encode(message))

    def receive(self, timeout_s: float | None = None) -> Command | None:
        """The next command; None when none came within the timeout (None: wait for ever).

        Raises:
            StopRequestedError: The child is to end.
        """
        self._end_in_copy()
        if not self._pipe.poll(timeout_s):
            return None
        command: Command = decode_command(self._pipe.recv_bytes())
        if isinstance(command, StopChild):
            raise StopRequestedError(0)
        return command

    def check(self, timeout_s: float = 0) -> None:
        """Between two repeats: go on, or give up; a timeout waits for so long whether to.

        Raises:
            CancelledError: The work in flight is no longer wanted.
            StopRequestedError: The child is to end.
        """
        if isinstance(self.receive(timeout_s), Cancel):
            raise CancelledError

    def _end_in_copy(self) -> None:
        if os.getpid() != self._process:
            os.write(2, FORKED)
            os._exit(1)


def main(pipe: str, output: str, life: str, ahead: str, *served: str) -> None:
    """Run a child: take over its standard streams, watch its parent, serve.

    Args:
        pipe: The descriptor of a pipe for messages, both ways.
        output: That of one for every byte that is written to descriptors 1 and 2, also from C.
        life: That of one which can be read once the parent has ended.
        ahead: A folder in which it finds modules before all others; empty: none.
        served: `module:function` to call with a Link and an argument, and that argument.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the parent decides
    messages, parent = (_kept(Connection(int(number))) for number in (pipe, life))
    _redirect(_kept(Connection(int(output), readable=False)))
    use_one_blas_thread()
    compile_in_this_process()
    _watch(parent)
    if ahead:
        find_first(ahead)
    serve, argument = served
    module, _, function = serve.partition(":")
    getattr(import_module(module), function)(Link(messages), argument)


def answer_lines(work: str, life: str) -> None:
    """Run a process that is asked and answers on its standard streams, and watch its parent.

    Args:
        work: `module:function` to call.
        life: The descriptor of a pipe that can be read once the parent has ended.
    """
    parent = _kept(Connection(int(life)))
    _watch(parent)
    module, _, function = work.partition(":")
    getattr(import_module(module), function)()


def find_first(folder: str) -> None:
    """Find modules in a folder before all others, and where its .pth files lead, as pip's packages expect."""
    before = sys.path[:]
    site.addsitedir(folder)  # at the end
    sys.path[:] = [*(entry for entry in sys.path if entry not in before), *before]


def _kept(end: Connection) -> Connection:
    """An end of a pipe that no process started from here is to have."""
    os.set_inheritable(end.fileno(), False)
    return end


def use_one_blas_thread() -> None:
    """Have matrix products run on one thread, unless the user has chosen; NumPy must not be imported yet."""
    if not any(name in os.environ for name in BLAS_VARIABLES):
        os.environ.update(dict.fromkeys(BLAS_VARIABLES, "1"))


def compile_in_this_process() -> None:
    """Have torch.compile start no processes, unless the user has chosen; PyTorch must not be imported yet.

    A pool of them, one a core, imports PyTorch for seconds after the first call: beside what is timed.
    """
    os.environ.setdefault(INDUCTOR_PROCESSES, "1")


def blas_threads() -> int | None:
    """The number of threads that matrix products run on, None where the libraries choose it."""
    chosen = next((os.environ[name] for name in BLAS_VARIABLES if name in os.environ), "")
    return int(chosen) if chosen.isdecimal() else None


def _redirect(output: Connection) -> None:
    """Send both standard streams, buffered by line at most, into the pipe of log lines."""
    for fd in (1, 2):
        os.dup2(output.fileno(), fd)
    output.close()
    # The interpreter's own streams may be missing (a windowed start) or wrap another descriptor.
    sys.stdout = open(1, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115 - open for good
    sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115 - open for good
    faulthandler.enable()


def _watch(parent: Connection) -> None:
    """End with the parent, on a thread; by the mark as it is now, whatever becomes of the environment."""
    threading.Thread(target=_die_with, args=(parent, os.environ.get(heirs.MARK, "")), daemon=True).start()


def _die_with(parent: Connection, mark: str) -> None:
    """End at once when the parent is gone, however it went and whatever the main thread is doing.

    What was started from here, and has the mark, ends, too.
    """
    wait([parent])
    if os.getpgrp() == os.getpid():
        heirs.end_heirs(mark, os.getpgrp())
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
