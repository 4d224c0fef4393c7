"""Attention on several ranks in words: titles, the sentence over them, and what a reader must know."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from flashscope.app.words.figures import NOTHING
from flashscope.app.words.units import bytes_text, ms_text, tflops_text, traffic_text
from flashscope.installation import PROGRAM
from flashscope.kernels.context_parallel.drawing import SURE, share_met
from flashscope.kernels.workload.problem import ONE_PASS
from flashscope.profiles.plan.seqlens import short_seqlen
from flashscope.profiles.results.model.ranks import (
    ModelledPass,
    RanksPass,
    best_of,
    efficiency_of,
    exposed_of,
    forecasts_of,
    held_of,
    model_of_itself,
    passes_of,
    rate_share,
    rates_of,
)
from flashscope.profiles.wire.ranks import PassMeasured, RanksCompared, RanksResult, RanksToMeasure

HEADINGS = (
    *("scheme, pass, mask", "N", "ranks", "runtime", "alone", "speed-up", "efficiency", "limit of the mask"),
    *("product", "transfer", "exposed", "sent by a rank", "memory of a rank"),
    *("errors", "share of what passes"),
)
MODEL_HEADINGS = (
    *("scheme, pass, mask", "N", "ranks", "measured", "model", "from the rates of"),
    "measured less model",
)
BESIDE_A_MODEL = "Efficiency as measured, beside a model of it from the rates on fewer GPUs"
WHAT_RANKS_ARE = "How near do n GPUs on one sequence come to n times one?"
HOW_TO_MEASURE = (
    "Of each scheme: its efficiency, what a rank holds, and the transfers that no product hides.\n\n"
    f"Measure it: {PROGRAM} ranks --gpus all --out ranks.flashscope, or without a GPU "
    f"{PROGRAM} ranks --backend cpu --ranks 4 --seqlen 256:2k --heads 4 --head-dim 32 --out "
    "ranks.flashscope; then open that file."
)
TURNS = "Ranks took turns on one core: times count work and say nothing of a link."
SHARED = "Ranks share a GPU: that proves what is computed; no time is that of several GPUs."
ON_TURNS = "ranks took turns on one core: this is no speed-up, but how evenly work is shared"


def title_of(asked: RanksToMeasure) -> str:
    """A request in a few words."""
    return f"{asked.scheme}, {way_of(asked)}, N = {short_seqlen(asked.problem.seqlen)}"


def way_of(asked: RanksToMeasure) -> str:
    """Its mask, and NCCL where that moves arrays in place of copies."""
    return mask_of(asked) if asked.transport == "peer" else f"{mask_of(asked)}, by {asked.transport.upper()}"


def mask_of(asked: RanksToMeasure) -> str:
    """Its mask."""
    return "causal" if asked.problem.causal else "no mask"


def shape_of(asked: RanksToMeasure) -> str:
    """What its problem is but for N and the mask."""
    problem = asked.problem
    shared = "" if problem.key_heads == problem.heads else f"/{problem.key_heads}"
    batch = f", batch {problem.batch}" if problem.batch > 1 else ""
    return f"{problem.heads}{shared} heads, d = {problem.head_dim}, {problem.dtype}{batch}"


def kind_of(one: RanksPass) -> str:
    """What passes that may be drawn over N together have alike."""
    return (
        f"{one.measured.passes}, {mask_of(one.asked)}, {len(one.measured.ranks)} ranks, "
        f"{shape_of(one.asked)}, {one.asked.transport if on_gpus(one) else 'NumPy'}"
    )


def by_kind(passes: Iterable[RanksPass]) -> dict[str, list[RanksPass]]:
    """Passes that may be drawn over N together, under what these have alike."""
    found: dict[str, list[RanksPass]] = {}
    for one in passes:
        found.setdefault(kind_of(one), []).append(one)
    return found


def on_gpus(one: RanksPass) -> bool:
    """Whether GPUs computed it."""
    return one.measured.backend == "cuda"


def percent_text(share: float | None) -> str:
    """A share as the tables have it."""
    return NOTHING if share is None else f"{share:.1%}"


def sentence_of(passes: Sequence[RanksPass]) -> str:
    """The best scheme at the longest N with its efficiency and exposed transfer; or why there is none."""
    best = best_of(passes)
    if best is None:
        why = next(_hindrances(passes), "No pass is right and has a time on one device.")
        return f"There is no efficiency here. {why}"
    asked, one = best
    of_what = "GPU" if on_gpus(best) else "core"
    told = (
        f"{asked.scheme} reaches {efficiency_of(one):.1%} of {len(one.ranks)} times one {of_what} "
        f"at N = {short_seqlen(asked.problem.seqlen)}, {one.passes}, {way_of(asked)}"
    )
    return f"{told}; {_hidden_text(one) if on_gpus(best) else ON_TURNS}."


def _hidden_text(one: PassMeasured) -> str:
    """How much of its transfers no product hides."""
    exposed = exposed_of(one)
    if not exposed:
        return "products hide all that it transfers"
    return f"{ms_text(exposed)} of its {ms_text(median(one.ms))} is transfer that no product hides"


def verdict_text(one: PassMeasured) -> str:
    """Whether its errors pass against float64, by how much, and which is the largest."""
    used, first = max(error.used for error in one.errors), one.errors[0]
    largest = "no number" if first.error is None else f"{first.error:.1e}"
    return f"{used:.0%}; {first.output}: {largest}"


def pass_cells(asked: RanksToMeasure, one: PassMeasured) -> tuple[str, ...]:
    """A pass under HEADINGS."""
    alone, efficiency = one.alone_ms, efficiency_of(one)
    return (
        f"{asked.scheme}, {one.passes}, {way_of(asked)}",
        short_seqlen(asked.problem.seqlen),
        str(len(one.ranks)),
        ms_text(median(one.ms)),
        ms_text(median(alone)) if alone else NOTHING,
        NOTHING if efficiency is None else f"{efficiency * len(one.ranks):.2f}×",
        percent_text(efficiency),
        f"{one.limit:.1%}",
        ms_text(max(rank.product_ms for rank in one.ranks)),
        ms_text(max(rank.transfer_ms for rank in one.ranks)),
        ms_text(exposed_of(one)),
        traffic_text(max(rank.sent_bytes for rank in one.ranks)),
        bytes_text(held_of(one)),
        "right" if one.passed else "wrong",
        verdict_text(one),
    )


def model_cells(one: ModelledPass) -> tuple[str, ...]:
    """A pass beside the model of it, under MODEL_HEADINGS."""
    first, seqlen, ranks = pass_cells(*one.told)[:3]
    return (
        *(first, seqlen, ranks),
        percent_text(efficiency_of(one.told.measured)),
        percent_text(one.found.efficiency),
        f"{len(one.base.measured.ranks)} ranks",
        f"{points_text(one.off)} pp",
    )


def points_text(share: float) -> str:
    """A difference of shares, in percentage points."""
    return f"{100 * share:+.1f}".replace("-", "−")


def beside_model_text(beside: Sequence[ModelledPass]) -> str:
    """What the marks of a model say, and how far what was measured is off it; empty where there is none."""
    if not beside:
        return ""
    bases = sorted({len(one.base.measured.ranks) for one in beside})
    least, most = (points_text(find(one.off for one in beside)) for find in (min, max))
    span = most if least == most else f"{least} to {most}"
    rates = f"a model from the rates on {' and '.join(map(str, bases))} GPUs"
    return f"hollow: {rates}; measured less model: {span}\N{NO-BREAK SPACE}pp"


def where_text(results: Sequence[RanksResult]) -> str:
    """What computed and timed them."""
    ended = [one.ended for one in results if one.passes and one.ended.device]
    told = dict.fromkeys(f"{one.device}, {one.kernel}; {one.timer}" for one in ended)
    shapes = dict.fromkeys(shape_of(one.asked) for one in results if one.passes)
    where = f"Ranks on {' and on '.join(told) or 'a device that was not told'}"
    return f"{where}; medians; {'; '.join(shapes)}"


def notes_of(passes: Sequence[RanksPass], among: Sequence[RanksPass] = ()) -> Iterator[str]:
    """What a reader must know, each once; `among` are all that one GPU may have been timed beside."""
    judged = (_judged_text(one.compared) for _, one in passes if one.compared is not None)
    shares = (_share_text(one, among or passes) for one in passes)
    told = *_hindrances(passes), *_excesses(passes), *shares, *judged
    yield from filter(None, dict.fromkeys(told))


def _hindrances(passes: Iterable[RanksPass]) -> Iterator[str]:
    """Why passes have no efficiency, or none that is one of several GPUs."""
    for asked, one in passes:
        if one.alone_missing:
            yield f"{title_of(asked)}, {one.passes}: {one.alone_missing}"
        if one.shared:
            yield SHARED
        if one.backend == "cpu":
            yield TURNS


def _share_text(one: RanksPass, among: Sequence[RanksPass]) -> str:
    """What a rank reaches of one GPU's rate, where that had not all of it; empty: nothing to compare with."""
    found = rate_share(one, among)
    if found is None:
        return ""
    at = short_seqlen(found.longest.asked.problem.seqlen)
    reached = f"each rank reaches {tflops_text(found.flops_s / 1e12)}"
    share = f"{found.share:.1%} of what one GPU does at N = {at}"
    return f"{title_of(one.asked)}, {one.measured.passes}: {reached}, {share}."


def _excesses(passes: Iterable[RanksPass]) -> Iterator[str]:
    """Why passes have an efficiency over 100 %."""
    for asked, one in passes:
        rates = rates_of(one)
        if rates is not None and rates.alone_flops_s and (efficiency_of(one) or 0.0) > 1:
            alone, part = (tflops_text(rate / 1e12) for rate in (rates.alone_flops_s, rates.flops_s))
            yield (
                f"{title_of(asked)}, {one.passes}: more than 100%, for one GPU with all of it reaches "
                f"{alone} and a rank with its part {part}."
            )


def _judged_text(compared: RanksCompared) -> str:
    """How much of a run was compared with float64; empty where all rows were."""
    if compared.rows is None:
        return ""
    heads, met = f"{compared.heads} K/V head{'s' * (compared.heads != 1)}", share_met(compared.rows)
    return (
        f"Judged against float64 in {compared.rows} rows of each rank, drawn by seed {compared.seed}, and at "
        f"the ends of chunks, in each of {heads}: a fault in {met:.0%} of a rank's rows is met with "
        f"{SURE:.1%}, a smaller one may be missed. dK and dV are judged from the ranks' own O and LSE, and "
        "these in the same rows as dQ."
    )


def refusals_of(results: Sequence[RanksResult]) -> list[str]:
    """What was not measured, and why."""
    return [f"{_left_of(one)}: {one.ended.reason}" for one in results if one.ended.reason]


def _left_of(result: RanksResult) -> str:
    """A request, with the passes of it that were not measured, and on how many ranks if it says so."""
    asked, done = result.asked, {one.passes for one in result.passes}
    left = [one for one in ONE_PASS if asked.problem.passes in {one, "both"} and one not in done]
    many = asked.ranks or asked.gpus
    told = title_of(asked), " and ".join(left), f"{many} rank{'s' * (many != 1)}" if many else ""
    return ", ".join(filter(None, told))


def model_text(passes: Sequence[RanksPass]) -> str:
    """What a model says of the best of these passes on more GPUs; empty where no rates were measured."""
    best = best_of(passes)
    lines = [] if best is None else forecasts_of(best)
    if best is None or not lines:
        return ""
    told = ", ".join(f"{line.found.efficiency:.1%} on {line.found.ranks}" for line in lines)
    itself, measured = model_of_itself(best), best.measured
    checked = (
        f"; of these {len(measured.ranks)} it says {itself.efficiency:.1%}, and "
        f"{percent_text(efficiency_of(measured))} was measured"
        if itself is not None
        else ""
    )
    return f"A model, no measurement, from the rates of {title_of(best.asked)}: at most {told} GPUs{checked}."


def holds_text(results: Sequence[RanksResult]) -> str:
    """What a session holds of ranks, in a line."""
    schemes = ", ".join(dict.fromkeys(one.asked.scheme for one in passes_of(results)))
    return f"{len(results)} result{'s' * (len(results) != 1)} of ranks ({schemes or 'none measured'})"
