"""What several ranks reach of n times one device, and a model of what more GPUs would."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from flashscope.kernels.context_parallel.forecast import RankRates, RanksForecast, forecast
from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.wire.ranks import PassMeasured, RanksResult, RanksToMeasure

FORECAST_RANKS = (8, 64, 512)


class RanksPass(NamedTuple):
    """One pass, and what was asked for."""

    asked: RanksToMeasure
    measured: PassMeasured


class ForecastLine(NamedTuple):
    """What the model says of one scheme and pass on so many GPUs, from these rates."""

    asked: RanksToMeasure
    measured: PassMeasured
    rates: RankRates
    found: RanksForecast


def passes_of(results: Iterable[RanksResult]) -> list[RanksPass]:
    """Every pass that was measured."""
    return [RanksPass(result.asked, one) for result in results for one in result.passes]


def efficiency_of(measured: PassMeasured) -> float | None:
    """What one device took over n times what n took; None: one had none, ranks share a GPU, or are wrong."""
    if not measured.alone_ms or measured.shared or not measured.passed:
        return None
    return median(measured.alone_ms) / (len(measured.ranks) * median(measured.ms))


def exposed_of(measured: PassMeasured) -> float:
    """The longest that a rank had a transfer and no product, in ms."""
    return max(rank.exposed_ms for rank in measured.ranks)


def held_of(measured: PassMeasured) -> int:
    """The memory that the rank took which took most."""
    return max(rank.held_bytes for rank in measured.ranks)


def best_of(passes: Iterable[RanksPass]) -> RanksPass | None:
    """At the longest N that has an efficiency, the pass with the highest; None: none has one."""
    found = [one for one in passes if efficiency_of(one.measured) is not None]
    return max(
        found,
        key=lambda one: (one.asked.problem.seqlen, efficiency_of(one.measured) or 0.0),
        default=None,
    )


def forecasts(results: Sequence[RanksResult]) -> list[ForecastLine]:
    """The model for more GPUs, from what ranks on GPUs of their own reached."""
    return [line for one in passes_of(results) for line in forecasts_of(one)]


def forecasts_of(told: RanksPass) -> list[ForecastLine]:
    """The model from what one pass reached; it takes some hundredths of a second."""
    asked, one = told
    rates = rates_of(one)
    found = list[ForecastLine]()
    if rates is None:
        return found
    for ranks in FORECAST_RANKS:
        problem = replace(asked.problem, passes="both")
        try:
            partition = Partition(asked.scheme, problem, ranks)
        except KernelError:  # too short, or not so many heads
            continue
        found.append(ForecastLine(asked, one, rates, forecast(partition, rates, one.passes)))
    return found


def rates_of(one: PassMeasured) -> RankRates | None:
    """What the ranks' products, the link and one GPU alone reached; None where there is no efficiency."""
    moved = [rank for rank in one.ranks if rank.transfer_ms > 0]
    products_s = sum(rank.product_ms for rank in one.ranks) / 1e3
    if efficiency_of(one) is None or one.backend == "cpu" or not moved or not products_s:
        return None
    transfers_s = sum(rank.transfer_ms for rank in moved) / 1e3
    return RankRates(
        one.flops / products_s,
        sum(rank.sent_bytes for rank in moved) / transfers_s,
        alone_flops_s=one.flops / (median(one.alone_ms) / 1e3),
    )
