"""A process that answers in lines on a host: as that holds it for a client, and as the client hears of it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from flashscope.profiles.cluster.calls import EndLines, EngineRequest, LineSaid, StartLines
from flashscope.profiles.engine.contract import Engine, Working
from flashscope.profiles.engine.line_kinds import LINE_KINDS
from flashscope.profiles.wire.lines import LineKind

LOST_REMEDY = "Look whether serve runs there, and ask again."


class HeldLines:
    """Starts such processes on a host, one at a time; usable from any thread.

    Args:
        engine: Starts them.
        say: Takes their answers, on another thread.
    """

    def __init__(self, engine: Engine, say: Callable[[LineSaid], None]) -> None:
        self._engine, self._say = engine, say
        self._lock = threading.Lock()
        self._number = -1
        self._working: Working | None = None
        self._closed = False

    def start(self, asked: StartLines) -> None:
        """Start one in place of the one before; after `close` nothing is started."""

        def told(answer: Any) -> None:
            self._say(LineSaid(number=asked.number, line=msgspec.json.encode(answer)))

        with self._lock:
            self._end()
            if not self._closed:
                lines = list(map(msgspec.Raw, asked.asked))
                self._working = self._engine.lines(asked.kind, lines, told, asked.gpus)
                self._number = asked.number

    def end(self, number: int) -> None:
        """End the one of this number, if it is the one that runs."""
        with self._lock:
            if number == self._number:
                self._end()

    def close(self) -> None:
        """End what runs, for good."""
        with self._lock:
            self._closed = True
            self._end()

    def _end(self) -> None:
        working, self._working = self._working, None
        if working is not None:
            working.end()


class LineAnswers:
    """The answers of one such process, on their way to who asked; usable from any thread.

    Args:
        kind: Of which kind it is.
        requests: How many it has to answer.
        told: Takes every answer.
    """

    def __init__(self, kind: LineKind, requests: int, told: Callable[[Any], None]) -> None:
        self._told, self._left = told, requests
        self._ending = LINE_KINDS[kind].ending
        self._lock = threading.Lock()

    def tell(self, answer: Any) -> None:
        """One has come; after the last of them nothing is told."""
        with self._lock:
            if self._left:
                self._left -= isinstance(answer, self._ending)
                self._told(answer)

    def lose(self, reason: str) -> None:
        """Nothing more comes, as the device is lost: each request that has not ended ends for this reason."""
        self.refuse(f"{reason} {LOST_REMEDY}")

    def refuse(self, reason: str) -> None:
        """Each request that has not ended ends for this reason, which names its remedy."""
        with self._lock:
            while self._left:
                self._left -= 1
                self._told(self._ending(reason=reason))

    def end(self) -> None:
        """Tell nothing more."""
        with self._lock:
            self._left = 0


class FarLines:
    """Hears one such process, and has it ended.

    Args:
        request: What the host is asked for to start it.
        told: Takes every answer, on the engine's thread; where the device is lost, each request that has not
            ended ends with why.
        post: Passes on to the host what it is asked for.
    """

    def __init__(
        self, request: StartLines, told: Callable[[Any], None], post: Callable[[EngineRequest], None]
    ) -> None:
        self._number, self._post = request.number, post
        self._decode = LINE_KINDS[request.kind].decode
        self._answers = LineAnswers(request.kind, len(request.asked), told)

    def end(self) -> None:
        """Have it ended; nothing more is told."""
        self._answers.end()
        self._post(EndLines(number=self._number))

    def heard(self, said: LineSaid) -> None:
        """A line has come, of this process or of one before."""
        if said.number == self._number:
            self._answers.tell(self._decode(said.line))

    def refused(self, asked: StartLines, reason: str) -> None:
        """The host starts this process, or one before, not, for this reason."""
        if asked.number == self._number:
            self._answers.refuse(reason)

    def lose(self, reason: str) -> None:
        """Nothing more comes, for this reason."""
        self._answers.lose(reason)


def start_request(number: int, kind: LineKind, asked: Sequence[Any], gpus: Sequence[str]) -> StartLines:
    """What starts such a process there."""
    lines = tuple(map(msgspec.json.encode, asked))
    return StartLines(number=number, kind=kind, asked=lines, gpus=tuple(gpus))
