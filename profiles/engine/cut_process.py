"""Compiles or times cuts in a process of its own, which can be ended at any moment."""

import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

import msgspec

from flashscope.profiles.wire.cuts import CutAnswer, CutRequest, CutsEnded, decode_answer, encode_line
from flashscope.profiles.wire.process import python_command

MAIN = "flashscope.profiles.worker.cutting:main"
KEPT_LINES = 20  # of what it prints besides
CUT_OFF = "The process that compiles or times cuts ended before it was done; ask again."


class CutProcess:
    """One process that does what is asked, and the thread that hears it.

    Args:
        asked: What it does, one after the other.
        told: Takes every answer, on that thread; each request ends with CutsEnded. Where the process ends
            before it is through, one more says so, unless it was ended.
    """

    def __init__(self, asked: Sequence[CutRequest], told: Callable[[CutAnswer], None]) -> None:
        self._told = told
        self._ended = False
        self._process = subprocess.Popen(
            python_command(MAIN),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal is the window's
        )
        self._thread = Thread(target=self._hear, args=(asked,), name="cuts")
        self._thread.start()

    def end(self) -> None:
        """End it at once and wait for that; nothing more is told."""
        self._ended = True
        self._process.kill()
        self._thread.join()

    def _hear(self, asked: Sequence[CutRequest]) -> None:
        process, printed, left = self._process, deque[str](maxlen=KEPT_LINES), len(asked)
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101 - as above
        with suppress(OSError):  # it is gone already
            process.stdin.write(b"".join(encode_line(one) + b"\n" for one in asked))
        with suppress(OSError):
            process.stdin.close()
        with process.stdout:
            for line in process.stdout:
                try:
                    answer = decode_answer.decode(line)
                except msgspec.DecodeError:
                    printed.append(line.decode(errors="replace").rstrip())
                    continue
                left -= isinstance(answer, CutsEnded)
                self._tell(answer)
        process.wait()
        if left:
            self._tell(CutsEnded(reason=CUT_OFF, detail="\n".join(printed)))

    def _tell(self, answer: CutAnswer) -> None:
        if not self._ended:
            self._told(answer)
