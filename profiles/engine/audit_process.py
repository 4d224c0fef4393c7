"""Builds, runs and records a model in a process of its own, which can be ended at any moment."""

from collections.abc import Callable, Sequence

from flashscope.profiles.engine.line_process import LineProcess
from flashscope.profiles.wire.audits import AuditAnswer, AuditAsked, AuditEnded, decode_answer

MAIN = "flashscope.profiles.worker.auditing:main"
CUT_OFF = "The process that runs the model ended before it was done."


class AuditProcess(LineProcess[AuditAnswer]):
    """One process that runs a model, and the thread that hears it.

    Args:
        asked: What is to be audited, one after the other.
        told: Takes every answer, on that thread; AuditEnded is the last of each, also where the process died.
        gpus: The UUIDs of the GPUs that it sees; none: all that this process sees.
    """

    def __init__(
        self, asked: Sequence[AuditAsked], told: Callable[[AuditAnswer], None], *, gpus: Sequence[str] = ()
    ) -> None:
        super().__init__(
            MAIN,
            asked,
            decode_answer.decode,
            told,
            ending=AuditEnded,
            cut_off=lambda printed: AuditEnded(reason=CUT_OFF, detail=printed),
            gpus=gpus,
        )
