"""What several ranks reach of n times one device, and a model of what more GPUs would."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from flashscope.kernels.context_parallel.forecast import RankRates, RanksForecast, forecast
from flashscope.kernels.context_parallel.schemes import Partition, Scheme
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.profiles.wire.ranks import PassMeasured, RanksResult, RanksToMeasure

FORECAST_RANKS = (8, 64, 512)
FORECASTS_KEPT = 1_000  # whoever chooses another kind of passes and comes back waits no more


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


class ModelledPass(NamedTuple):
    """A pass beside what the model makes of the rates that the same took on fewer GPUs.

    Attributes:
        told: What was measured.
        base: Whose rates they are.
        found: What the model says.
    """

    told: RanksPass
    base: RanksPass
    found: RanksForecast

    @property
    def off(self) -> float:
        """The efficiency that was measured, less the model's."""
        return (efficiency_of(self.told.measured) or 0.0) - self.found.efficiency


class RateShare(NamedTuple):
    """A rank's rate, where one GPU had not all of it, beside that of one GPU with all of a shorter problem.

    Attributes:
        flops_s: Operations a second of each rank.
        longest: The pass beside which one GPU was timed at the longest N.
    """

    flops_s: float
    longest: RanksPass

    @property
    def share(self) -> float:
        """The former over the latter."""
        alone = self.longest.measured
        return self.flops_s * median(alone.alone_ms) / 1e3 / alone.flops


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
    """At the longest N that has an efficiency, the pass with the highest; None: none has one.

    Of what was measured more than once the newest counts, not the best.
    """
    known = (one for one in passes if efficiency_of(one.measured) is not None)
    return max(
        {(_likeness(one), len(one.measured.ranks)): one for one in known}.values(),
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
        if (said := _forecast(told, rates, ranks)) is not None:
            found.append(ForecastLine(asked, one, rates, said))
    return found


def model_of_itself(told: RanksPass) -> RanksForecast | None:
    """What the model says of the ranks whose rates it takes, to see what it leaves out; None: no rates."""
    rates = rates_of(told.measured)
    return None if rates is None else _forecast(told, rates, len(told.measured.ranks))


def modelled(results: Iterable[RanksResult]) -> list[ModelledPass]:
    """Each pass that fewer GPUs did, too, beside the model of the fewest; of those alike the newest."""
    alike: dict[object, dict[int, tuple[RanksPass, RankRates]]] = {}
    for one in passes_of(results):
        if (rates := rates_of(one.measured)) is not None:
            alike.setdefault(_likeness(one), {})[len(one.measured.ranks)] = one, rates
    found = list[ModelledPass]()
    for by_ranks in alike.values():
        fewest, *more = sorted(by_ranks)
        base, rates = by_ranks[fewest]
        for ranks in more:
            if (said := _forecast(base, rates, ranks)) is not None:
                found.append(ModelledPass(by_ranks[ranks][0], base, said))
    return found


def rate_share(told: RanksPass, among: Iterable[RanksPass]) -> RateShare | None:
    """What each rank's rate is of one GPU's at the longest N, timed beside the same scheme if it may be.

    None: one GPU was timed beside it, or at no N; ranks share a GPU, are on a CPU, or are wrong.
    """
    one = told.measured
    if one.alone_ms or one.shared or one.backend == "cpu" or not one.passed:
        return None
    timed = [other for other in among if other.measured.alone_ms and _shape(other) == _shape(told)]
    longest = max(
        timed,
        key=lambda other: (other.asked.problem.seqlen, other.asked.scheme == told.asked.scheme),
        default=None,
    )
    if longest is None:
        return None
    return RateShare(one.flops / len(one.ranks) / (median(one.ms) / 1e3), longest)


def _shape(one: RanksPass) -> object:
    """What a pass has in common with one of another length, of whatever scheme and number of ranks."""
    problem, measured = one.asked.problem, one.measured
    heads = problem.batch, problem.heads, problem.key_heads, problem.head_dim
    return measured.passes, measured.backend, problem.causal, problem.dtype, heads


def beside_of(one: PassMeasured, beside: Iterable[ModelledPass]) -> ModelledPass | None:
    """What the model says of this pass; None: nothing, for no fewer GPUs did the same."""
    return next((found for found in beside if found.told.measured is one), None)


def _likeness(one: RanksPass) -> object:
    """What a pass has in common with the same on another number of GPUs."""
    asked = one.asked
    return asked.scheme, asked.transport, one.measured.passes, replace(asked.problem, passes="both", seed=0)


def _forecast(told: RanksPass, rates: RankRates, ranks: int) -> RanksForecast | None:
    """What the model says of a pass on so many ranks; None: it is too short, or has not so many heads."""
    asked, one = told
    return _forecast_of(asked.scheme, replace(asked.problem, passes="both"), ranks, rates, one.passes)


@lru_cache(FORECASTS_KEPT)
def _forecast_of(
    scheme: Scheme, problem: Problem, ranks: int, rates: RankRates, passes: Passes
) -> RanksForecast | None:
    try:
        partition = Partition(scheme, problem, ranks)
    except KernelError:
        return None
    return forecast(partition, rates, passes)


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
