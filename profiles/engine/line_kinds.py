"""The processes that answer in lines, by kind: there are these and no others."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from flashscope.profiles.engine.child import Log
from flashscope.profiles.engine.children import UNKILLED
from flashscope.profiles.engine.line_process import LineProcess
from flashscope.profiles.wire import arbiters, audits, cuts, ranks
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.lines import LineKind


class LineWork(NamedTuple):
    """What there is of a kind.

    Attributes:
        main: What runs in the process, as `module:function`.
        decode: Makes an answer of a line.
        ending: The type of the answer that ends a request, which takes a `reason` and a `detail`.
        cut_off: The reason where the process ended before it was through.
    """

    main: str
    decode: Callable[[bytes], Any]
    ending: type[Any]
    cut_off: str


LINE_KINDS: dict[LineKind, LineWork] = {
    "arbiter": LineWork(
        "flashscope.profiles.engine.arbiters:main",
        arbiters.decode_answer.decode,
        arbiters.ArbiterEnded,
        "The process that asks other instruments ended before it was done; ask again.",
    ),
    "audit": LineWork(
        "flashscope.profiles.worker.auditing:main",
        audits.decode_answer.decode,
        audits.AuditEnded,
        "The process that runs the model ended before it was done.",
    ),
    "cuts": LineWork(
        "flashscope.profiles.worker.cutting:main",
        cuts.decode_answer.decode,
        cuts.CutsEnded,
        "The process that compiles or times cuts ended before it was done; ask again.",
    ),
    "ranks": LineWork(
        "flashscope.profiles.worker.ranks.serving:main",
        ranks.decode_ranks_answer.decode,
        ranks.RanksEnded,
        "The process that measures ranks ended before it was done; ask again.",
    ),
}


def start_lines(
    kind: LineKind,
    asked: Sequence[Any],
    told: Callable[[Any], None],
    gpus: Sequence[str] = (),
    log: Log = lambda _line: None,
) -> LineProcess[Any]:
    """Start a process of a kind.

    Args:
        kind: Of which.
        asked: What it does, one after the other.
        told: Takes every answer, on another thread; each request ends with the kind's last one. Where the
            process ends before it is through, one more says so, unless it was ended.
        gpus: The UUIDs of the GPUs that it sees; none: all that this process sees.
        log: Hears of one that could not be killed.
    """
    work = LINE_KINDS[kind]
    return LineProcess(
        work.main,
        asked,
        work.decode,
        told,
        ending=work.ending,
        cut_off=lambda printed: work.ending(reason=work.cut_off, detail=printed),
        gpus=gpus,
        left_behind=lambda: log(LogLine(source=kind, text=UNKILLED, level="warning")),
    )
