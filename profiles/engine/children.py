"""The engine's side of a child: process, pipe, captured output, and the ladder that ends it."""

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Literal

from profiles.engine.child import Log
from profiles.wire.events import LogLine
from profiles.wire.messages import Command, Message, Stop, decode_message, encode
from profiles.worker.child import main

RUNG_S = 2.0  # each rung of the ladder: asked to end, terminated, killed
READ_BYTES = 1 << 16
LINE_BYTES = 1 << 12  # a line without an end is cut here
KEPT_LINES = 40  # what a failure shows as its details

Rung = Literal["asked", "terminated", "killed"]


class SpawnedChild:
    """One spawned process under supervision; implements profiles.engine.child.Child.

    Args:
        name: What log lines call it.
        serve: `module:function` that it runs, see profiles.worker.child.main.
        argument: What that serves with.
        log: Takes what it prints, line by line.
    """

    def __init__(self, name: str, serve: str, argument: str, log: Log) -> None:
        context = multiprocessing.get_context("spawn")
        self._name = name
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._log = log
        self._rest = b""
        self._rung: Rung | None = None
        self._due: float | None = None
        self._pipe: Connection | None
        self._output: Connection | None
        self._pipe, theirs = context.Pipe()
        self._output, output = context.Pipe(duplex=False)
        os.set_blocking(self._output.fileno(), False)
        self._process = context.Process(
            target=main, args=(theirs, output, serve, argument), name=name, daemon=True
        )
        _start_shielded(self._process)
        theirs.close()
        output.close()

    @property
    def lines(self) -> list[str]:
        """The last lines it printed."""
        return list(self._lines)

    @property
    def waitables(self) -> list[Connection | int]:
        """What to wait on: messages, output, the end of the process."""
        return [w for w in (self._pipe, self._output, self._process.sentinel) if w is not None]

    @property
    def due(self) -> float | None:
        """When the next rung of the ladder is reached (time.monotonic), None when nobody ends it."""
        return self._due

    @property
    def alive(self) -> bool:
        """Whether the process still runs; asked of the system, so that nobody else's waitpid can mislead."""
        return not wait([self._process.sentinel], 0)

    def send(self, command: Command) -> None:
        """Give it a command; one that died meanwhile is noticed by its end."""
        if self._pipe is not None:
            with suppress(OSError):
                self._pipe.send_bytes(encode(command))

    def messages(self) -> Iterator[Message]:
        """Everything that has arrived."""
        try:
            while self._pipe is not None and self._pipe.poll():
                yield decode_message(self._pipe.recv_bytes())
        except (EOFError, OSError):
            self._close_pipe()

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

    def end(self, *, ask: bool) -> None:
        """Step on the ladder that ends it: ask (or not), terminate, kill, 2 s each."""
        if self._rung is None:
            self._rung, self._due = "asked", time.monotonic() + RUNG_S
            if ask:
                self.send(Stop())
            else:
                self._climb()

    def tick(self) -> None:
        """Climb to the next rung once its time has come."""
        if self._due is not None and time.monotonic() >= self._due:
            self._climb()

    def kill(self) -> None:
        """End it at once, without the ladder, and give everything back."""
        self._process.kill()
        self.finish()

    def finish(self) -> None:
        """After its end: read what is left and give everything back."""
        self._process.join()
        while self.read_output():
            pass
        self._close_output()
        self._close_pipe()

    def epitaph(self) -> str:
        """How it ended: `was killed by SIGSEGV`, `ended with exit code 1`."""
        code = self._process.exitcode or 0
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"

    def _climb(self) -> None:
        if self._rung == "asked":
            self._process.terminate()
            self._rung, self._due = "terminated", time.monotonic() + RUNG_S
        else:
            self._process.kill()
            self._rung, self._due = "killed", None

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


def _start_shielded(process: multiprocessing.process.BaseProcess) -> None:
    """Start a process that Ctrl-C cannot reach, not even before it runs its first line."""
    resource_tracker.ensure_running()  # starting it later would lift the block again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
