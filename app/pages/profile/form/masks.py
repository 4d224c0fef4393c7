"""Draws and counts large block masks on a thread of its own: some have millions of blocks."""

from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from flashscope.app.control.chores import Chores
from flashscope.app.control.guard import guarded
from flashscope.kernels.workload.block_mask import count_blocks
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.request import Request

AT_ONCE = 1 << 17  # blocks that are drawn and counted in about ten milliseconds
PAUSE_MS = 250  # of typing, before a mask is drawn


class Masks(QObject):
    """Has the masks of a request made before anything asks for them: they are kept where they are made.

    Signals:
        ready: Those of the request asked for last are there.
    """

    ready = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._newest: Request | None = None  # what was made last
        self._wanted: Request | None = None  # what is being made, or will be
        self._chores = Chores(self)
        self._timer = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._timer.timeout.connect(self._start)

    def has(self, request: Request) -> bool:
        """Whether the masks of a request are there, or made in no time; if not, `ready` follows."""
        wanted = _of_masks(request)
        if _blocks(request) <= AT_ONCE or wanted == self._newest:
            self._wanted = None
            self._timer.stop()
            return True
        if wanted != self._wanted:
            self._wanted = wanted
            self._timer.start()
        return False

    def wait(self) -> None:
        """Return when nothing is being made; to be called before this object goes."""
        self._timer.stop()
        self._wanted = None
        self._chores.wait()

    def _take(self, made: Request) -> None:
        if made == self._wanted:
            self._newest, self._wanted = made, None
            self.ready.emit()

    def _start(self) -> None:
        wanted = self._wanted
        if wanted is not None:
            self._chores.do_instead(partial(self._try, wanted), lambda _none: self._take(wanted))

    @guarded()
    def _try(self, request: Request) -> None:
        """Make them; where that fails nobody is to wait for them any more either."""
        _make(request)


def _make(request: Request) -> None:
    """Draw and count the masks of a request, on any thread."""
    for seqlen in request.seqlens:
        with suppress(InputError, MemoryError):  # whoever asks for it is told why there is none
            _ = request.problem(seqlen).kept_share


def _of_masks(request: Request) -> Request:
    """What the masks depend on, and nothing else."""
    return Request.of(
        "cpu",
        seqlens=request.seqlens,
        causal=request.causal,
        window=request.window,
        blocks=request.blocks,
        block_size=request.block_size,
        seed=request.seed,
    )


def _blocks(request: Request) -> int:
    """Blocks of all masks of a request."""
    if request.blocks is None:
        return 0
    return sum(_blocks_of(seqlen, request.block_size) for seqlen in request.seqlens)


def _blocks_of(seqlen: int, block: int) -> int:
    """Blocks of one mask; none of one that is refused for having too many."""
    try:
        rows, columns = count_blocks(seqlen, seqlen, block_q=block, block_k=block)
    except InputError:
        return 0
    return rows * columns
