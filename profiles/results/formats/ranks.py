"""Attention on several ranks as JSON has it: what was asked and measured, and what follows."""

from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.results.model.ranks import (
    ForecastLine,
    ModelledPass,
    beside_of,
    efficiency_of,
    exposed_of,
    forecasts,
    held_of,
    modelled,
    passes_of,
)
from flashscope.profiles.wire.ranks import PassMeasured, RanksEnded, RanksResult, RanksToMeasure

LINE = (
    *("scheme", "pass", "backend", "seqlen", "causal", "ranks", "runtime_ms_median", "alone_ms_median"),
    *("efficiency", "limit", "exposed_ms", "sent_bytes", "held_bytes", "passed"),
    *("model_ranks", "model_efficiency"),
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


class RanksModelledDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a model says of a pass that was measured, from the rates of the same on fewer GPUs.

    Attributes:
        passes: Which pass.
        measured: Its efficiency.
        efficiency: What the model says of it.
        difference: The former less the latter.
        from_ranks: On how many GPUs the rates were measured.
        seconds: What the model says of the pass.
        exposed_s: The same of the transfer that no product hides.
    """

    passes: Passes = msgspec.field(name="pass")
    measured: float | None
    efficiency: float
    difference: float
    from_ranks: int
    seconds: float
    exposed_s: float


class RanksDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A result of ranks in JSON."""

    asked: RanksToMeasure
    ended: RanksEnded
    passes: tuple[RanksPassDocument, ...]
    model: tuple[RanksModelDocument, ...]
    model_from_fewer: tuple[RanksModelledDocument, ...]


def ranks_documents(
    results: Sequence[RanksResult], earlier: Sequence[RanksResult] = ()
) -> list[RanksDocument]:
    """Requests and all that came of them, with what follows; models take rates of earlier results, too."""
    beside = modelled([*earlier, *results])
    return [_document(result, beside) for result in results]


def _document(result: RanksResult, beside: Sequence[ModelledPass]) -> RanksDocument:
    return RanksDocument(
        asked=result.asked,
        ended=result.ended,
        passes=tuple(
            RanksPassDocument(**msgspec.structs.asdict(one), efficiency=efficiency_of(one))
            for one in result.passes
        ),
        model=tuple(map(_model, forecasts([result]))),
        model_from_fewer=tuple(
            _modelled(found) for one in result.passes if (found := beside_of(one, beside)) is not None
        ),
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


def _modelled(one: ModelledPass) -> RanksModelledDocument:
    return RanksModelledDocument(
        passes=one.told.measured.passes,
        measured=efficiency_of(one.told.measured),
        efficiency=one.found.efficiency,
        difference=one.off,
        from_ranks=len(one.base.measured.ranks),
        seconds=one.found.seconds,
        exposed_s=one.found.exposed_s,
    )


def ranks_lines(results: Sequence[RanksResult]) -> Iterator[Sequence[RanksCell]]:
    """LINE, and a line of CSV for each pass; missing is empty, times are in ms and memory in bytes."""
    yield LINE
    beside = modelled(results)
    for asked, one in passes_of(results):
        model = beside_of(one, beside)
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
            *((None, None) if model is None else (len(model.base.measured.ranks), model.found.efficiency)),
        )
