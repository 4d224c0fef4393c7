"""Builds, runs and records a model in a process of its own, which can be ended at any moment."""

from collections.abc import Callable

from flashscope.profiles.engine.line_process import LineProcess
from flashscope.profiles.wire.audits import AuditAnswer, AuditAsked, AuditEnded, decode_answer

MAIN = "flashscope.profiles.worker.auditing:main"
CUT_OFF = "The process that runs the model ended before it was done."


class AuditProcess(LineProcess[AuditAnswer]):
    """One process that runs a model, and the thread that hears it.

    Args:
        asked: What is to be audited.
        told: Takes every answer, on that thread; AuditEnded is the last, also where the process died.
    """

    def __init__(self, asked: AuditAsked, told: Callable[[AuditAnswer], None]) -> None:
        super().__init__(
            MAIN,
            [asked],
            decode_answer.decode,
            told,
            ending=AuditEnded,
            cut_off=lambda printed: AuditEnded(reason=CUT_OFF, detail=printed),
        )
