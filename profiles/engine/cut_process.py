"""Compiles or times cuts in a process of its own, which can be ended at any moment."""

from collections.abc import Callable, Sequence

from flashscope.profiles.engine.line_process import LineProcess
from flashscope.profiles.wire.cuts import CutAnswer, CutRequest, CutsEnded, decode_answer

MAIN = "flashscope.profiles.worker.cutting:main"
CUT_OFF = "The process that compiles or times cuts ended before it was done; ask again."


class CutProcess(LineProcess[CutAnswer]):
    """One process that does what is asked, and the thread that hears it.

    Args:
        asked: What it does, one after the other.
        told: Takes every answer, on that thread; each request ends with CutsEnded. Where the process ends
            before it is through, one more says so, unless it was ended.
        gpus: The UUIDs of the GPUs that it sees; none: all that this process sees.
    """

    def __init__(
        self, asked: Sequence[CutRequest], told: Callable[[CutAnswer], None], *, gpus: Sequence[str] = ()
    ) -> None:
        super().__init__(
            MAIN,
            asked,
            decode_answer.decode,
            told,
            ending=CutsEnded,
            cut_off=lambda printed: CutsEnded(reason=CUT_OFF, detail=printed),
            gpus=gpus,
        )
