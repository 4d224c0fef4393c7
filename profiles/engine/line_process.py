"""A process that is asked and answers in JSON, a line each, and ends with this one, or at any moment."""

import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Pipe
from threading import Thread
from typing import Any, Generic, TypeVar

import msgspec

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
    ) -> None:
        self._decode, self._told, self._ending, self._cut_off = decode, told, ending, cut_off
        self._ended = False
        seen = {"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {}
        life, self._life = Pipe(duplex=False)  # the other end goes with this process, however that ends
        with life:
            self._process = subprocess.Popen(
                python_command("flashscope.profiles.worker.child:answer_lines", main, str(life.fileno())),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal is the window's
                pass_fds=(life.fileno(),),
                env={**os.environ, **seen},
            )
        self._thread = Thread(target=self._hear, args=(asked,), name=main)
        self._thread.start()

    def end(self) -> None:
        """End it at once, with what it has started, and wait for that; nothing more is told."""
        self._ended = True
        if self._process.poll() is None:
            with suppress(ProcessLookupError):  # it has ended by now
                os.killpg(self._process.pid, signal.SIGKILL)
        self._thread.join()

    def _hear(self, asked: Sequence[Any]) -> None:
        process, printed, left = self._process, deque[str](maxlen=KEPT_LINES), len(asked)
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101 - as above
        with suppress(OSError):  # it is gone already
            process.stdin.write(b"".join(msgspec.json.encode(one) + b"\n" for one in asked))
        with suppress(OSError):
            process.stdin.close()
        with process.stdout:
            for line in process.stdout:
                try:
                    answer = self._decode(line)
                except msgspec.DecodeError:
                    if line.strip():
                        printed.append(line.decode(errors="replace").rstrip())
                    continue
                left -= isinstance(answer, self._ending)
                self._tell(answer)
        process.wait()
        self._life.close()
        if left:
            self._tell(self._cut_off("\n".join(printed)))

    def _tell(self, answer: LineAnswer) -> None:
        if not self._ended:
            self._told(answer)
