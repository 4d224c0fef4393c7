"""Why a point did not end well: its status, one sentence for the user, and the details."""

import time
import traceback
from collections.abc import Mapping
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


ON_A_GPU: Mapping[str, str] = {
    "illegal memory access": "it read or wrote memory that is not its own",
    "misaligned address": "it read or wrote at an address that is no multiple of what it moves at once",
    "too many resources": "a block of its threads needs more registers or shared memory than there are",
    "illegal instruction": "it ran an instruction that this GPU does not have, or a trap",
    "device-side assert": "an assert in it failed",
    "unspecified launch failure": "the GPU broke it off, as after a trap or a fault in shared memory",
}
"""What a driver says of a fault on a GPU, and what that means."""


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
            told = next((f"{words} ({what})" for sign, words in ON_A_GPU.items() if sign in first), what)
            return Refusal("failed", f"The kernel failed in the {phase} phase: {told}.", _details(error))


def _details(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def misused(error: BaseException) -> bool:
    """Whether another request would have been right, and nothing went wrong."""
    return isinstance(error, InputError | UnsupportedError)
