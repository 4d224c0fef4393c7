"""What a list shows of one session file."""

from pathlib import Path

import msgspec

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.workload.problem import Backend, Dtype
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.results.model.remaining import OPEN
from flashscope.profiles.wire.events import Outcome, PointStatus


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a list shows of one file.

    Attributes:
        path: The file.
        size_bytes: Its size.
        error: Why it cannot be opened, empty when it can; then nothing below is known.
        id: The session's UUID in hex.
        name: The user's name for it; empty: named by its start.
        note: The user's words about it.
        tags: The user's words to find it by.
        bookmarks: Number of its notes on points and moments.
        started_at: Wall clock of the start, ISO 8601 with offset.
        backend: Where it ran.
        device: Name of the device that ran it.
        kernels: Kernels of its plan.
        own: What those of them declared that are of the user's own.
        seqlens: Query sequence lengths of its plan, of one without points those on several ranks, rising.
        dtype: Element type of its first problem.
        passes: The passes of its problems in words, each once; empty: forward.
        outcome: How the sweep ended, None when it did not.
        statuses: Number of the plan's kernels x problems by status, as the file has them; a drift check's
            points are none of them.
        run_mark: Which of several runs of one plan it is, None: it is alone.
        held: Of one without points how many values of each kind it has, by their places in a Session.
    """

    path: Path
    size_bytes: int
    error: str = ""
    id: str = ""
    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    bookmarks: int = 0
    started_at: str = ""
    backend: Backend | None = None
    device: str = ""
    kernels: tuple[str, ...] = ()
    own: tuple[OwnKernel, ...] = ()
    seqlens: tuple[int, ...] = ()
    dtype: Dtype | None = None
    passes: tuple[str, ...] = ()
    outcome: Outcome | None = None
    statuses: dict[PointStatus, int] = {}
    run_mark: RunMark | None = None
    held: dict[str, int] = {}

    @property
    def unfinished(self) -> bool:
        """Whether points of its plan have no answer yet, or its sweep was broken off."""
        return not self.error and (self.outcome != "finished" or not OPEN.isdisjoint(self.statuses))
