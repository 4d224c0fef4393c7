"""Why a point did not end well: its status, one sentence for the user, and the details."""

import time
import traceback
from typing import NamedTuple

from flashscope.kernels.workload.errors import CompileError, InputError, KernelError, UnsupportedError
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.wire.events import FailedStatus, PointFailed
from flashscope.profiles.wire.measurement import Measurement
from flashscope.profiles.worker.child import CancelledError


class Refusal(NamedTuple):
    """A status, one sentence, and the details: arithmetic, compiler log or traceback."""

    status: FailedStatus
    reason: str
    detail: str = ""

    def failed(self, point: Point, measurement: Measurement | None = None) -> PointFailed:
        """The end of a point for this reason, now."""
        return PointFailed(
            index=point.index,
            t_ns=time.monotonic_ns(),
            status=self.status,
            reason=self.reason,
            detail=self.detail,
            measurement=measurement,
        )


class CaughtError(Exception):
    """A kernel of the user's own did what none may do.

    Attributes:
        refusal: What its point is refused with.
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


def explain(error: BaseException, phase: str) -> Refusal:
    """What was raised in a phase, in words."""
    return error.refusal if isinstance(error, CaughtError) else _explained(error, phase)


def _explained(error: BaseException, phase: str) -> Refusal:
    match error:
        case CancelledError():
            return Refusal("cancelled", "It was cancelled.")
        case MemoryError():
            reason = f"Memory ran out in the {phase} phase; choose a shorter sequence or fewer heads."
            return Refusal("oom", reason, _details(error))
        case UnsupportedError():
            return Refusal("unsupported", str(error))
        case CompileError():
            return Refusal("failed", str(error), error.log)
        case KernelError():
            return Refusal("failed", str(error), _details(error))
        case _:
            first = (str(error).splitlines() or [""])[0].rstrip(".")
            what = f"{type(error).__name__}{first and ': '}{first}"
            return Refusal("failed", f"The kernel failed in the {phase} phase: {what}.", _details(error))


def _details(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def misused(error: BaseException) -> bool:
    """Whether another request would have been right, and nothing went wrong."""
    return isinstance(error, InputError | UnsupportedError)
