"""What `ranks` prints: a line for each scheme and pass, and what a model makes of that for more GPUs."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import BEST, Styled, TableCell, print_table
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.units import bytes_text, ms_text, traffic_text
from flashscope.kernels.context_parallel.forecast import RankRates, RanksForecast, forecast
from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.kernels.workload.errors import KernelError
from flashscope.profiles.plan.seqlens import short_seqlen
from flashscope.profiles.wire.ranks import PassMeasured, RanksEnded, RanksToMeasure

FORECAST_RANKS = (8, 64, 512)
HEADINGS = (
    *("scheme, pass", "N", "ranks", "runtime", "alone", "speed-up", "efficiency", "limit of the mask"),
    *(
        "product",
        "transfer",
        "exposed",
        "sent by a rank",
        "memory of a rank",
        "errors",
        "share of what passes",
    ),
)
KEYS = 3  # the columns that say what a line is about


class RanksResult(NamedTuple):
    """What came of a request."""

    asked: RanksToMeasure
    passes: tuple[PassMeasured, ...]
    ended: RanksEnded


class ForecastLine(NamedTuple):
    """What the model says of one scheme and pass on so many GPUs, from these rates."""

    asked: RanksToMeasure
    measured: PassMeasured
    rates: RankRates
    found: RanksForecast


def title_of(asked: RanksToMeasure) -> str:
    """A request in a few words."""
    return f"{asked.scheme}, N = {short_seqlen(asked.problem.seqlen)}"


def efficiency_of(measured: PassMeasured) -> float | None:
    """What one device took over n times what n took; None: one had none, ranks share a GPU, or are wrong."""
    if not measured.alone_ms or measured.shared or not measured.passed:
        return None
    return median(measured.alone_ms) / (len(measured.ranks) * median(measured.ms))


def progress_line(result: RanksResult) -> str:
    """What came of a request, in a line for who waits."""
    told = []
    for one in result.passes:
        efficiency = efficiency_of(one)
        share = "" if efficiency is None else f", {efficiency:.1%}"
        told.append(f"{one.passes} {ms_text(median(one.ms))}{share}{'' if one.passed else ', wrong'}")
    return f"{title_of(result.asked)}: {'; '.join(told)}"


def print_results(results: Sequence[RanksResult]) -> None:
    """Where it ran, a line for each pass, and what a reader must know of them."""
    done = [one for one in results if one.passes]
    if not done:
        return
    ended = done[0].ended
    say(f"Ranks on {ended.device}, {ended.kernel}; {ended.timer}; medians")
    lines = [_line(result.asked, one) for result in done for one in result.passes]
    print_table(HEADINGS, lines, keys=KEYS)
    for text in dict.fromkeys(_notes(done)):
        say(text)


def _line(asked: RanksToMeasure, one: PassMeasured) -> tuple[TableCell, ...]:
    alone, efficiency = one.alone_ms, efficiency_of(one)
    slowest = max(one.ranks, key=lambda rank: rank.product_ms)
    used, first = max(error.used for error in one.errors), one.errors[0]
    largest = "no number" if first.error is None else f"{first.error:.1e}"
    return (
        f"{asked.scheme}, {one.passes}",
        short_seqlen(asked.problem.seqlen),
        str(len(one.ranks)),
        ms_text(median(one.ms)),
        ms_text(median(alone)) if alone else NOTHING,
        NOTHING if efficiency is None else f"{efficiency * len(one.ranks):.2f}×",
        NOTHING if efficiency is None else f"{efficiency:.1%}",
        f"{one.limit:.1%}",
        ms_text(slowest.product_ms),
        ms_text(max(rank.transfer_ms for rank in one.ranks)),
        ms_text(max(rank.exposed_ms for rank in one.ranks)),
        traffic_text(max(rank.sent_bytes for rank in one.ranks)),
        bytes_text(max(rank.held_bytes for rank in one.ranks)),
        Styled("right", BEST) if one.passed else Styled("wrong", "bold red"),
        f"{used:.0%}; {first.output}: {largest}",
    )


def _notes(results: Sequence[RanksResult]) -> Iterator[str]:
    for result in results:
        for one in result.passes:
            if one.alone_missing:
                yield f"{title_of(result.asked)}, {one.passes}: {one.alone_missing}"
            if one.shared:
                yield "Ranks share a GPU: that proves what is computed; no time is that of several GPUs."
            if one.backend == "cpu":
                yield "Ranks took turns on one core: times count work and say nothing of a link."


def forecasts(results: Sequence[RanksResult]) -> list[ForecastLine]:
    """The model for more GPUs, from what ranks on GPUs of their own reached."""
    found = []
    for asked, one in ((result.asked, one) for result in results for one in result.passes):
        rates = rates_of(one)
        if rates is None:
            continue
        for ranks in FORECAST_RANKS:
            problem = replace(asked.problem, passes="both")
            try:
                partition = Partition(asked.scheme, problem, ranks)
            except KernelError:  # too short, or not so many heads
                continue
            found.append(ForecastLine(asked, one, rates, forecast(partition, rates, one.passes)))
    return found


def rates_of(one: PassMeasured) -> RankRates | None:
    """What the ranks' products and the link reached; None where that says nothing of GPUs and their link."""
    moved = [rank for rank in one.ranks if rank.transfer_ms > 0]
    if one.shared or one.backend == "cpu" or not one.passed or not moved:
        return None
    products_s = sum(rank.product_ms for rank in one.ranks) / 1e3
    transfers_s = sum(rank.transfer_ms for rank in moved) / 1e3
    return RankRates(one.flops / products_s, sum(rank.sent_bytes for rank in moved) / transfers_s)


def print_forecasts(results: Sequence[RanksResult]) -> None:
    """A line for each scheme, pass and length; nothing where no rates were measured."""
    lines = forecasts(results)
    if not lines:
        return
    say("")
    say("A model, no measurement: efficiency on more GPUs, each linked as these are, at the rates above")
    by_pass: dict[tuple[str, str], dict[int, RanksForecast]] = {}
    for line in lines:
        key = f"{line.asked.scheme}, {line.measured.passes}", short_seqlen(line.asked.problem.seqlen)
        by_pass.setdefault(key, {})[line.found.ranks] = line.found
    headings = ("scheme, pass", "N", *(f"{ranks} GPUs" for ranks in FORECAST_RANKS))
    rows = [
        (*key, *(f"{found[n].efficiency:.1%}" if n in found else NOTHING for n in FORECAST_RANKS))
        for key, found in by_pass.items()
    ]
    print_table(headings, rows, keys=2)


def result_document(result: RanksResult) -> dict[str, Any]:
    """A request and all that came of it, as JSON has it."""
    return {
        "asked": result.asked,
        "ended": result.ended,
        "passes": [{**msgspec.to_builtins(one), "efficiency": efficiency_of(one)} for one in result.passes],
        "model": [
            {
                "pass": line.measured.passes,
                "ranks": line.found.ranks,
                "efficiency": line.found.efficiency,
                "seconds": line.found.seconds,
                "exposed_s": line.found.exposed_s,
                "flops_s": line.rates.flops_s,
                "link_bytes_s": line.rates.link_bytes_s,
            }
            for line in forecasts([result])
        ],
    }
