"""Measures attention on several ranks in a process of its own, which can be ended at any moment."""

from collections.abc import Callable, Sequence

from flashscope.profiles.engine.line_process import LineProcess
from flashscope.profiles.wire.ranks import RanksAnswer, RanksEnded, RanksToMeasure, decode_ranks_answer

RANKS_MAIN = "flashscope.profiles.worker.ranks.serving:main"
RANKS_CUT_OFF = "The process that measures ranks ended before it was done; ask again."


class RanksProcess(LineProcess[RanksAnswer]):
    """One process that does what is asked, and the thread that hears it.

    Args:
        asked: What it does, one after the other.
        told: Takes every answer, on that thread; each request ends with RanksEnded. Where the process ends
            before it is through, one more says so, unless it was ended.
        gpus: The UUIDs of the GPUs that it sees; none: all that this process sees.
    """

    def __init__(
        self,
        asked: Sequence[RanksToMeasure],
        told: Callable[[RanksAnswer], None],
        *,
        gpus: Sequence[str] = (),
    ) -> None:
        super().__init__(
            RANKS_MAIN,
            asked,
            decode_ranks_answer.decode,
            told,
            ending=RanksEnded,
            cut_off=lambda printed: RanksEnded(reason=RANKS_CUT_OFF, detail=printed),
            gpus=gpus,
        )
