"""The engine's side of a child: process, pipe, captured output, and the ladder that ends it."""

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Literal
from uuid import uuid4

from flashscope.profiles.engine.child import Log
from flashscope.profiles.engine.frames import Frames, MalformedError
from flashscope.profiles.wire import heirs
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.messages import Command, Message, StopChild, encode
from flashscope.profiles.wire.process import python_command

RUNG_S = 2.0  # each rung of the ladder: asked to end, terminated, killed, given up
STALL_S = 10.0  # a child that sends no byte for so long in the middle of a message is broken
MAIN = "flashscope.profiles.worker.child:main"
READ_BYTES = 1 << 18
MOST_READS = 64  # of messages, at once: what a child has left behind may send for ever
LINE_BYTES = 1 << 12  # a line without an end is cut here
KEPT_LINES = 40  # what a failure shows as its details
UNKILLED = "It could not be killed; if the GPU stays busy, restart the machine."

Rung = Literal["asked", "terminated", "killed", "given up"]


class SpawnedChild:
    """One spawned process under supervision; implements profiles.engine.child.Child.

    Args:
        name: What log lines call it.
        serve: `module:function` that it runs, see profiles.worker.child.main.
        argument: What that serves with.
        log: Takes what it prints, line by line.
        ahead: A folder in which it finds modules before all others; empty: none.
        gpu: The UUID of the one GPU that it sees; empty: all that this process sees.
    """

    def __init__(
        self, name: str, serve: str, argument: str, log: Log, ahead: str = "", *, gpu: str = ""
    ) -> None:
        self._name = name
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._log = log
        self._rest = b""
        self._frames = Frames()
        self._stalled_at: float | None = None  # when the message that has begun to arrive is given up
        self._fault = ""  # why it was ended, as a clause, when it broke the rules
        self._rung: Rung | None = None
        self._due: float | None = None
        self._pipe: Connection | None
        self._output: Connection | None
        self._pipe, theirs = Pipe()
        _limit_sending(self._pipe)
        self._output, output = Pipe(duplex=False)
        os.set_blocking(self._output.fileno(), False)
        self._life, its_life = Pipe()  # nothing is sent: each side sees that the other has ended
        self._mark = uuid4().hex
        added = {heirs.MARK: self._mark, **({"CUDA_VISIBLE_DEVICES": gpu} if gpu else {})}
        self._process = _start_shielded((theirs, output, its_life), (ahead, serve, argument), added)
        self._pidfd = pidfd(self._process.pid)
        for end in (theirs, output, its_life):
            end.close()

    @property
    def lines(self) -> list[str]:
        """The last lines it printed."""
        return list(self._lines)

    @property
    def waitables(self) -> list[Connection | int]:
        """What to wait on: messages, output, the end of the process."""
        return [w for w in (self._pipe, self._output, self._end) if w is not None]

    @property
    def due(self) -> float | None:
        """When the next rung of the ladder is reached or a message is given up (time.monotonic), or None."""
        return min((d for d in (self._due, self._stalled_at) if d is not None), default=None)

    @property
    def alive(self) -> bool:
        """Whether the process still runs; asked of the system, so that nobody else's waitpid can mislead."""
        return self._rung != "given up" and not wait([self._end], 0)

    def send(self, command: Command) -> None:
        """Give it a command; one that died meanwhile is noticed by its end, one that takes none is ended."""
        if self._pipe is None:
            return
        try:
            self._pipe.send_bytes(encode(command))
        except BlockingIOError:
            self._break("takes no commands")
        except OSError:
            pass

    def messages(self) -> Iterator[Message]:
        """Everything that has arrived; a child that sends anything else is ended."""
        arrived = self._receive()
        try:
            yield from self._frames.messages()
        except MalformedError as error:
            self._break(f"sent what is no message ({error})")
        if self._pipe is None or not self._frames.partial:
            self._stalled_at = None
        elif arrived or self._stalled_at is None:
            self._stalled_at = time.monotonic() + STALL_S
        elif time.monotonic() >= self._stalled_at:
            self._break("stopped in the middle of a message")

    def read_output(self) -> bool:
        """Turn some of what it has printed into log lines; False when nothing waits to be read."""
        if self._output is None:
            return False
        try:
            data = os.read(self._output.fileno(), READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._close_output()
            return False
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._say(line)
        if len(self._rest) > LINE_BYTES:
            self._flush_rest()
        return True

    def end(self, *, ask: bool, at_once: bool = False, patience_s: float = RUNG_S) -> None:
        """Step on the ladder that ends it: ask (or not), terminate, kill, 2 s each; or at its last rung.

        One that has children of its own to end is given `patience_s` after it was asked.
        """
        if at_once and self._rung in {None, "asked"}:
            self._rung = "terminated"
            self._climb()
        elif self._rung is None:
            self._rung, self._due = "asked", time.monotonic() + patience_s
            if ask:
                self.send(StopChild())
            else:
                self._climb()

    def tick(self) -> None:
        """Climb to the next rung once its time has come."""
        if self._due is not None and time.monotonic() >= self._due:
            self._climb()

    def kill(self) -> None:
        """End it at once, without the ladder, and give everything back."""
        self._process.kill()
        wait([self._end], RUNG_S)
        self.finish()

    def finish(self) -> None:
        """After its end: read what is left and give everything back."""
        if wait([self._end], 0):
            self._kill_left()
            self._process.wait()
        else:  # it could not be killed, and is nobody's to wait for
            self._process.returncode = -signal.SIGKILL
        self.read_output()  # a pipe holds less than is read at once; who else has it may print for ever
        self._close_output()
        self._close_pipe()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        self._life.close()

    def _kill_left(self) -> None:
        """End what it has started and left behind."""
        if left := heirs.end_group(self._process, self._mark):
            text = f"Ended what was left in a session of its own: {', '.join(left)}."
            self._log(LogLine(source=self._name, text=text, level="warning"))

    def epitaph(self) -> str:
        """How it ended: `was killed by SIGSEGV`, `ended with exit code 1`."""
        if self._fault:
            return self._fault
        code = self._process.returncode or 0
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"

    @property
    def _end(self) -> Connection | int:
        """What can be waited on for its end: a process that it has left behind may keep its pipes open."""
        return self._life if self._pidfd is None else self._pidfd

    def _receive(self) -> bool:
        """Read what waits in the pipe, but never wait for more; whether there was anything."""
        arrived = False
        try:
            for _ in range(MOST_READS):
                if self._pipe is None or not self._pipe.poll():
                    break
                data = os.read(self._pipe.fileno(), READ_BYTES)
                if not data:
                    self._close_pipe()
                self._frames.add(data)
                arrived = arrived or bool(data)
        except OSError:
            self._close_pipe()
        return arrived

    def _break(self, fault: str) -> None:
        """End it at once for what it did; no word of it counts any more."""
        self._fault, self._rung = f"{fault} and was ended", "terminated"
        self._close_pipe()
        self._climb()

    def _climb(self) -> None:
        self._due = time.monotonic() + RUNG_S
        if self._rung == "asked":
            self._process.terminate()
            self._rung = "terminated"
        elif self._rung == "terminated":
            self._process.kill()
            self._rung = "killed"
        elif self._rung == "killed":
            self._rung, self._due, self._fault = "given up", time.monotonic(), "could not be killed"
            self._log(LogLine(source=self._name, text=UNKILLED, level="warning"))

    def _say(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        for start in range(0, len(text), LINE_BYTES):
            part = text[start : start + LINE_BYTES]
            self._lines.append(part)
            self._log(LogLine(source=self._name, text=part))

    def _flush_rest(self) -> None:
        rest, self._rest = self._rest, b""
        self._say(rest)

    def _close_output(self) -> None:
        self._flush_rest()
        if self._output is not None:
            self._output.close()
            self._output = None

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None


def _start_shielded(
    ends: Sequence[Connection], arguments: Sequence[str], added: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a process that Ctrl-C cannot reach, not even before it runs its first line.

    It leads a session, so that what it starts can be ended with it; `added` goes into its environment.
    """
    numbers = [end.fileno() for end in ends]
    command = python_command(MAIN, *map(str, numbers), *arguments)
    environment = os.environ | added
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=numbers, start_new_session=True, env=environment
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def pidfd(pid: int) -> int | None:
    """A descriptor that can be read once the process has ended; None where the system has no such thing."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _limit_sending(pipe: Connection) -> None:
    """Have a send that the other end does not take within RUNG_S raise BlockingIOError."""
    limit = struct.pack("ll", *divmod(int(RUNG_S * 1e6), 1_000_000))
    with socket.socket(fileno=os.dup(pipe.fileno())) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
