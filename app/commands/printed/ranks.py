"""What `ranks` prints: a line for each scheme and pass, and what a model makes of that for more GPUs."""

from collections.abc import Sequence
from statistics import median

from flashscope.app.commands.messages import say
from flashscope.app.commands.printed.printing import BEST, Styled, TableCell, print_table
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.ranks import (
    BESIDE_A_MODEL,
    HEADINGS,
    MODEL_HEADINGS,
    model_cells,
    notes_of,
    pass_cells,
    refusals_of,
    title_of,
    way_of,
    where_text,
)
from flashscope.app.words.units import ms_text
from flashscope.kernels.context_parallel.forecast import RanksForecast
from flashscope.profiles.plan.seqlens import short_seqlen
from flashscope.profiles.results.model.ranks import (
    FORECAST_RANKS,
    ModelledPass,
    RanksPass,
    efficiency_of,
    forecasts,
    modelled,
    passes_of,
)
from flashscope.profiles.wire.ranks import RanksResult

KEYS = 3  # the columns that say what a line is about


def progress_line(result: RanksResult) -> str:
    """What came of a request, in a line for who waits."""
    told = []
    for one in result.passes:
        efficiency = efficiency_of(one)
        share = "" if efficiency is None else f", {efficiency:.1%}"
        told.append(f"{one.passes} {ms_text(median(one.ms))}{share}{'' if one.passed else ', wrong'}")
    return f"{title_of(result.asked)}: {'; '.join(told)}"


def print_ranks(results: Sequence[RanksResult]) -> None:
    """Print all that a session holds of ranks: the table, what was not measured, and the model."""
    print_results(results)
    for text in refusals_of(results):
        say(text)
    print_modelled(modelled(results))
    print_forecasts(results)


def print_results(results: Sequence[RanksResult]) -> None:
    """Where it ran, a line for each pass, and what a reader must know of them."""
    passes = passes_of(results)
    if not passes:
        return
    say(where_text(results))
    print_table(HEADINGS, list(map(_line, passes)), keys=KEYS)
    for text in notes_of(passes):
        say(text)


def _line(one: RanksPass) -> tuple[TableCell, ...]:
    *figures, verdict, errors = pass_cells(*one)
    return (*figures, Styled(verdict, BEST if one.measured.passed else "bold red"), errors)


def print_modelled(beside: Sequence[ModelledPass]) -> None:
    """A line for each pass that fewer GPUs did, too; nothing where there is none."""
    if not beside:
        return
    say("")
    say(BESIDE_A_MODEL)
    print_table(MODEL_HEADINGS, list(map(model_cells, beside)), keys=KEYS)


def print_forecasts(results: Sequence[RanksResult]) -> None:
    """A line for each scheme, pass and length; nothing where no rates were measured."""
    lines = forecasts(results)
    if not lines:
        return
    say("")
    say(
        "A model, no measurement: efficiency on more GPUs, each linked as these are, at the rates above; "
        "their blocks are shorter, and so slower than here, which it leaves out"
    )
    by_pass: dict[tuple[str, str], dict[int, RanksForecast]] = {}
    for line in lines:
        what = f"{line.asked.scheme}, {line.measured.passes}, {way_of(line.asked)}"
        key = f"{what}, {len(line.measured.ranks)} ranks", short_seqlen(line.asked.problem.seqlen)
        by_pass.setdefault(key, {})[line.found.ranks] = line.found
    headings = ("scheme, pass, mask, measured on", "N", *(f"{ranks} GPUs" for ranks in FORECAST_RANKS))
    rows = [
        (*key, *(f"{found[n].efficiency:.1%}" if n in found else NOTHING for n in FORECAST_RANKS))
        for key, found in by_pass.items()
    ]
    print_table(headings, rows, keys=2)
