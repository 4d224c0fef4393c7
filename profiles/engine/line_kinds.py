"""The processes that answer in lines, by kind: there are these and no others."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from flashscope.profiles.engine.audit_process import AuditProcess
from flashscope.profiles.engine.contract import Working
from flashscope.profiles.engine.cut_process import CutProcess
from flashscope.profiles.engine.ranks_process import RanksProcess
from flashscope.profiles.wire import audits, cuts
from flashscope.profiles.wire.audits import AuditEnded
from flashscope.profiles.wire.cuts import CutsEnded
from flashscope.profiles.wire.lines import LineKind
from flashscope.profiles.wire.ranks import RanksEnded, decode_ranks_answer


class StartsLines(Protocol):
    """Starts a process of a kind."""

    def __call__(
        self, asked: Sequence[Any], told: Callable[[Any], None], *, gpus: Sequence[str] = ()
    ) -> Working:
        """See `LineProcess`."""


class LineWork(NamedTuple):
    """What there is of a kind.

    Attributes:
        start: Starts a process of it.
        decode: Makes an answer of a line.
        ending: The type of the answer that ends a request, which takes a `reason`.
    """

    start: StartsLines
    decode: Callable[[bytes], Any]
    ending: type[Any]


LINE_KINDS: dict[LineKind, LineWork] = {
    "audit": LineWork(AuditProcess, audits.decode_answer.decode, AuditEnded),
    "cuts": LineWork(CutProcess, cuts.decode_answer.decode, CutsEnded),
    "ranks": LineWork(RanksProcess, decode_ranks_answer.decode, RanksEnded),
}
