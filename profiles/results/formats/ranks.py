"""Attention on several ranks as JSON has it: what was asked and measured, and what follows."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

import msgspec

from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.results.model.ranks import (
    ForecastLine,
    efficiency_of,
    exposed_of,
    forecasts,
    held_of,
    passes_of,
)
from flashscope.profiles.wire.ranks import PassMeasured, RanksEnded, RanksResult, RanksToMeasure

LINE = (
    *("scheme", "pass", "backend", "seqlen", "causal", "ranks", "runtime_ms_median", "alone_ms_median"),
    *("efficiency", "limit", "exposed_ms", "sent_bytes", "held_bytes", "passed"),
)
"""The columns of a pass on several ranks in CSV."""
RanksCell = str | int | float | None


class RanksPassDocument(PassMeasured, frozen=True, kw_only=True, tag="pass"):
    """A pass in JSON; `efficiency` is what one device took over n times what n ranks took."""

    efficiency: float | None


class RanksModelDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a model says of a pass on more GPUs, and the rates that it goes by."""

    passes: Passes = msgspec.field(name="pass")
    ranks: int
    efficiency: float
    seconds: float
    exposed_s: float
    flops_s: float
    link_bytes_s: float


class RanksDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A result of ranks in JSON."""

    asked: RanksToMeasure
    ended: RanksEnded
    passes: tuple[RanksPassDocument, ...]
    model: tuple[RanksModelDocument, ...]


def ranks_document(result: RanksResult) -> RanksDocument:
    """A request and all that came of it, with what follows."""
    return RanksDocument(
        asked=result.asked,
        ended=result.ended,
        passes=tuple(
            RanksPassDocument(**msgspec.structs.asdict(one), efficiency=efficiency_of(one))
            for one in result.passes
        ),
        model=tuple(map(_model, forecasts([result]))),
    )


def _model(line: ForecastLine) -> RanksModelDocument:
    return RanksModelDocument(
        passes=line.measured.passes,
        ranks=line.found.ranks,
        efficiency=line.found.efficiency,
        seconds=line.found.seconds,
        exposed_s=line.found.exposed_s,
        flops_s=line.rates.flops_s,
        link_bytes_s=line.rates.link_bytes_s,
    )


def ranks_lines(results: Iterable[RanksResult]) -> Iterator[Sequence[RanksCell]]:
    """LINE, and a line of CSV for each pass; missing is empty, times are in ms and memory in bytes."""
    yield LINE
    for asked, one in passes_of(results):
        yield (
            *(asked.scheme, one.passes, one.backend, asked.problem.seqlen, str(asked.problem.causal)),
            len(one.ranks),
            median(one.ms),
            median(one.alone_ms) if one.alone_ms else None,
            efficiency_of(one),
            one.limit,
            exposed_of(one),
            max(rank.sent_bytes for rank in one.ranks),
            held_of(one),
            str(one.passed),
        )
