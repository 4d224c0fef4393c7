"""A timeline in words: what it is of, what it says, and what a bar in it is."""

from collections.abc import Mapping, Sequence

from flashscope.app.words.units import digits, ms_text, seqlen_text, share_text
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import NO_PLACE, STAGES, StageTimeline
from flashscope.profiles.results.model.timeline_facts import HELD_UP, TimelineFacts

STAGE_WORDS = {
    "load": "finding a tile and taking what it needs; in flash1 also O, which comes back at every visit",
    "QKᵀ": "the scores of a tile: the product of Q and K, scaled and masked",
    "softmax": "the row maxima m, the exponentials P and their sums l",
    "PV": "the product of P and V, added to the rescaled O",
    "store": "O divided by l and written back: flash1 at every tile, flash2 once a block",
}
NOTHING_YET = "Where does the time go inside a kernel?"
NEEDS = (
    "A timeline shows when each stage of each tile ran. flash1 and flash2 are built once more for the CPU, "
    "from the same source with a clock between their stages, and run in turns with the timed kernels: so "
    "you see what the clocks cost. It takes some seconds and no GPU; on a GPU flash2 has such a build, too, "
    "and on Hopper flash3."
)
_LOADS, _PRODUCTS = ("::copy(", "wait_copies"), {"QKᵀ": ("multiply_rows<", "apply_mask(")}
CUDA_LINES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "flash1": {
        "load": (*_LOADS, "old[n] ="),
        **_PRODUCTS,
        "softmax": ("row_max(", "exponentiate(", "exp2_approx("),
        "PV": ("multiply_columns<",),
        "store": ("reinterpret_cast<float2*>(place", "make_float2(fmaf(", "log_sum_exp("),
    },
    "flash2": {
        "load": _LOADS,
        **_PRODUCTS,
        "softmax": ("row_max(", "exponentiate(", "exp2_approx("),
        "PV": ("multiply_columns<", "*= alpha"),
        "store": ("store_rows<", "log_sum_exp("),
    },
    "flash3": {
        "load": ("load_tile<", "load_keys(", "produce("),
        "QKᵀ": ("product_qk(",),
        "softmax": ("state.step<", "pack_all(", "rescale("),
        "PV": ("product_pv",),
        "store": ("store_rows(",),
    },
}
"""What the lines of a stage hold in the CUDA source of a kernel."""
US, MS = 1e3, 1e6
ALIKE = 0.01
SMALL_TAIL, SMALL_IMBALANCE, SMALL_HELD_UP, SMALL_WAITS = 0.02, 1.5, 0.1, 0.1


def problem_words(problem: Problem) -> str:
    """The problem, short."""
    heads = problem.batch * problem.heads
    masks = [word for word, there in (("causal", problem.causal), ("window", problem.window)) if there]
    lengths = f"N = {seqlen_text(problem.seqlen_q)}"
    if problem.seqlen_k != problem.seqlen_q:
        lengths += f" × {seqlen_text(problem.seqlen_k)}"
    return ", ".join((lengths, f"d = {problem.head_dim}", f"{heads} head{'s' * (heads != 1)}", *masks))


def timeline_names(timelines: Sequence[StageTimeline]) -> list[str]:
    """Timelines, as a list names them; those of one kernel and problem with their builds or their places."""
    names = [f"{one.request.kernel} · {problem_words(one.request.problem)}" for one in timelines]
    builds = [f"{name} · build {one.build[:6]}" for name, one in zip(names, timelines, strict=True)]
    told = []
    for place, (name, build) in enumerate(zip(names, builds, strict=True)):
        if names.count(name) == 1:
            told.append(name)
        elif builds.count(build) == 1:
            told.append(build)
        else:
            told.append(f"{name} · no. {names[: place + 1].count(name)}")
    return told


def overhead_text(facts: TimelineFacts, rounds: int) -> str:
    """What the clocks cost; it is no runtime of the kernel."""
    low, high = (digits(ratio) for ratio in facts.overheads)
    quickest, turns = "one run", ""
    if rounds > 1:
        quickest, turns = f"quickest of {rounds} runs", f" ({low} to {high} in turns)"
    return (
        f"{quickest} · build with clocks {digits(facts.overhead)}× the timed one{turns}: "
        f"{ms_text(facts.clocked_ms)} beside {ms_text(facts.plain_ms)}"
    )


def sentence(timelines: Sequence[StageTimeline], facts: Sequence[TimelineFacts]) -> str:
    """What the timelines on show say, the first one first."""
    if not facts:
        return ""
    told, held_up = [_shares_text(timelines[0], facts[0])], _held_up_text(timelines, facts)
    if held_up:
        told.append(held_up)
    elif len(facts) > 1:
        told.append(_beside_text(timelines, facts))
    told.append(_rows_text(timelines[0], facts[0]))
    return " ".join(filter(None, told)).replace(" %", "\N{NO-BREAK SPACE}%")


def _shares_text(timeline: StageTimeline, facts: TimelineFacts) -> str:
    ranked = sorted(facts.shares.items(), key=lambda pair: -pair[1])
    most = [f"{share_text(share)} in {name}" for name, share in ranked[:3]]
    told = f"{timeline.request.kernel} spends {', '.join(most[:-1])} and {most[-1]}."
    waits = timeline.row_kind == "SM" and facts.waits > SMALL_WAITS
    return f"{told} Its lanes wait {share_text(facts.waits)} of the time." if waits else told


def _beside_text(timelines: Sequence[StageTimeline], facts: Sequence[TimelineFacts]) -> str:
    """Where two differ most."""
    one, other = facts[:2]
    name = max(STAGES, key=lambda stage: abs(one.shares[stage] - other.shares[stage]))
    if abs(one.shares[name] - other.shares[name]) < ALIKE:
        return "Both spend their time alike."
    kernels: list[str] = [timeline.request.kernel for timeline in timelines[:2]]
    if kernels[0] == kernels[1]:
        kernels = ["the upper build", "the lower one"]
    return (
        f"They differ most in {name}: {share_text(one.shares[name])} in {kernels[0]}, "
        f"{share_text(other.shares[name])} in {kernels[1]}."
    )


def _is_held_up(timeline: StageTimeline, facts: TimelineFacts) -> bool:
    """Whether other programs had so much of a thread's time that its stages cannot be compared."""
    return timeline.row_kind == "thread" and facts.held_up > SMALL_HELD_UP


def _held_up_text(timelines: Sequence[StageTimeline], facts: Sequence[TimelineFacts]) -> str:
    """How much of it is in bars that took far too long; empty where that is little."""
    pairs = [pair for pair in zip(timelines, facts, strict=True) if _is_held_up(*pair)]
    if not pairs:
        return ""
    shares = " and ".join(f"{share_text(fact.held_up)} of {one.request.kernel}'s time" for one, fact in pairs)
    return (
        f"Something else had the core: {shares} is in bars over {HELD_UP:g} times as long as their stage's "
        "median; record again when less runs beside it."
    )


def _rows_text(timeline: StageTimeline, facts: TimelineFacts) -> str:
    """The tail, idle rows and the imbalance, those that there are."""
    rows, kind, told = len(timeline.rows.numpy()), timeline.row_kind, []
    if facts.idle_rows:
        told.append(f"{facts.idle_rows} of {rows} {kind}s have nothing to do.")
    tail = facts.tail_ns / max(1, timeline.span_ns)
    if rows - facts.idle_rows > 1 and tail > SMALL_TAIL:
        told.append(f"The last blocks run alone for {ms_text(facts.tail_ns / MS)}, {share_text(tail)} of it.")
    if (
        not _is_held_up(timeline, facts)
        and facts.imbalance > SMALL_IMBALANCE
        and _masked(timeline.request.problem)
    ):
        told.append(f"The longest block takes {digits(facts.imbalance)} times as long as the shortest.")
    return " ".join(told)


def tile_words(tile: Sequence[int]) -> str:
    """A bar's head and tile, as far as it belongs to one."""
    head, i, j = tile
    if head == NO_PLACE:
        return "all heads"
    place = f"head {head}"
    if i == NO_PLACE:
        return place
    return f"{place}, block i {i}" if j == NO_PLACE else f"{place}, tile (i {i}, j {j})"


def bar_words(stage: int, tile: Sequence[int], times: tuple[int, int], span_ns: int) -> str:
    """What a bar is: its stage, its tile, how long it took and when."""
    begin, end = times
    took = end - begin
    return (
        f"{STAGES[stage]} of {tile_words(tile)}: {ms_text(took / MS)}, "
        f"{share_text(took / max(1, span_ns))} of the run, from {begin / US:.2f} µs on"
    )


def _masked(problem: Problem) -> bool:
    """Whether blocks have other many tiles: else they are alike, and what one took more says nothing."""
    return problem.causal or problem.window is not None or problem.block_mask is not None
