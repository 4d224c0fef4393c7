"""A process that is asked and answers in JSON, a line each, and ends with this one, or at any moment."""

import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from threading import Lock, Thread
from typing import IO, Any, Generic, TypeVar, cast
from uuid import uuid4

import msgspec

from flashscope.profiles.engine.children import READ_BYTES, RUNG_S, pidfd
from flashscope.profiles.wire import heirs
from flashscope.profiles.wire.process import python_command

KEPT_LINES = 20  # of what it prints besides
LineAnswer = TypeVar("LineAnswer")


class LineProcess(Generic[LineAnswer]):
    """One process that does what is asked, and the thread that hears it.

    Args:
        main: `module:function` that it runs.
        asked: What it does, one after the other.
        decode: Makes an answer of a line; a DecodeError says that the line is none.
        told: Takes every answer, on that thread.
        ending: The type of the answer that ends a request.
        cut_off: Makes, of the last lines that it printed, the answer that says that it ended before it was
            through; this is told unless it was ended by `end`.
        gpus: The UUIDs of the GPUs that it sees; none: all that this process sees.
        left_behind: Called where it cannot be killed, and nobody waits for it any more.
    """

    def __init__(
        self,
        main: str,
        asked: Sequence[Any],
        decode: Callable[[bytes], LineAnswer],
        told: Callable[[LineAnswer], None],
        *,
        ending: type,
        cut_off: Callable[[str], LineAnswer],
        gpus: Sequence[str] = (),
        left_behind: Callable[[], None] = lambda: None,
    ) -> None:
        self._decode, self._told, self._ending, self._cut_off = decode, told, ending, cut_off
        self._ended, self._left_behind = False, left_behind
        self._reaping = Lock()
        self._mark = uuid4().hex
        seen = {"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {}
        life, self._life = Pipe()  # nothing is sent: each side sees that the other has ended
        with life:
            self._process = subprocess.Popen(
                python_command("flashscope.profiles.worker.child:answer_lines", main, str(life.fileno())),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal is the window's
                pass_fds=(life.fileno(),),
                env={**os.environ, heirs.MARK: self._mark, **seen},
            )
        self._pidfd = pidfd(self._process.pid)
        self._thread = Thread(target=self._hear, args=(asked,), name=main)
        self._thread.start()

    def end(self) -> None:
        """End it at once, with what it has started, and wait for that a while; nothing more is told."""
        self._ended = True
        self._kill()
        self._thread.join(RUNG_S)
        if self._thread.is_alive():
            self._left_behind()

    def _kill(self) -> None:
        """End it and what it has started, unless that was done."""
        with self._reaping:
            if self._process.returncode is None:
                heirs.end_group(self._process, self._mark)

    def _hear(self, asked: Sequence[Any]) -> None:
        process, printed, left = self._process, deque[str](maxlen=KEPT_LINES), len(asked)
        stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        with suppress(OSError):  # it is gone already
            stdin.write(b"".join(msgspec.json.encode(one) + b"\n" for one in asked))
        with suppress(OSError):
            stdin.close()
        with stdout:
            for line in self._lines(stdout.fileno()):
                try:
                    answer = self._decode(line)
                except msgspec.DecodeError:
                    if line.strip():
                        printed.append(line.decode(errors="replace").rstrip())
                    continue
                left -= isinstance(answer, self._ending)
                self._tell(answer)
        with self._reaping:
            if wait([self._end], 0):
                process.wait()
            else:  # it could not be killed, and is nobody's to wait for
                process.returncode = -signal.SIGKILL
        self._life.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        if left:
            self._tell(self._cut_off("\n".join(printed)))

    @property
    def _end(self) -> Connection | int:
        """What can be waited on for its end."""
        return self._life if self._pidfd is None else self._pidfd

    def _lines(self, output: int) -> Iterator[bytes]:
        """What it prints until it has ended: what it leaves behind is ended then, and may print for ever.

        One that says nothing for so long after it was killed is not waited for.
        """
        end = self._end
        rest, ended, sources = b"", False, [output, end]
        os.set_blocking(output, False)
        while not ended:
            killed, there = self._ended, wait(sources, RUNG_S)
            if killed and not there:
                return
            ended = end in there
            if ended:
                self._kill()
            try:
                data = os.read(output, READ_BYTES)  # all that a pipe holds
            except BlockingIOError:
                continue
            if not data:
                sources = [end]
            *lines, rest = (rest + data).split(b"\n")
            yield from lines
        yield rest

    def _tell(self, answer: LineAnswer) -> None:
        if not self._ended:
            self._told(answer)
