"""A timeline in words: what it is of, what it says, and what a bar in it is."""

from collections.abc import Mapping, Sequence

from flashscope.app.words.units import digits, ms_text, seqlen_text, share_text
from flashscope.kernels.catalogue.workspace_backward import WIDE_HEAD
from flashscope.kernels.cuda.reading.step import READ_HEAD_DIMS
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import (
    MERGE,
    NO_PLACE,
    STAGES,
    StageTimeline,
    TimelineRequest,
    stages_of,
)
from flashscope.profiles.plan.problem_words import PASS_WORDS
from flashscope.profiles.results.model.timeline_facts import HELD_UP, TimelineFacts
from flashscope.profiles.wire.text import listed

NOTHING_YET = "Where does the time go inside a kernel?"
NEEDS = (
    "A timeline shows when each stage of each tile ran. flash1 and flash2 are built once more for the CPU, "
    "from the same source with a clock between their stages, and run in turns with the timed kernels: so "
    "you see what the clocks cost. It takes some seconds and no GPU; on a GPU they have such builds, too, "
    "and on Hopper flash3; of all three the backward passes as well."
)
_LOADS, _PRODUCTS = ("::copy(", "wait_copies"), {"QKᵀ": ("multiply_rows<", "apply_mask(")}
_KEY_TILE = ("key_tile(", "group, seqlen_q, mask, scale, kept")  # a function of a header, which has stages
_OWN = ("add_own(", "owned.k0 + place.first_key")  # likewise
_FLASH3: Mapping[str, tuple[str, ...]] = {
    "load": ("load_first(", "produce("),
    "QKᵀ": ("product_qk(", "first_qk("),
    "softmax": ("state.step<", "pack_all(", "rescale(", "state.total("),
    "PV": ("product_pv<",),
    "store": ("store_rows(", "store_boxes("),
    "merge": ("flash3_combine.cuh",),
}
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
    **dict.fromkeys(("flash3-a", "flash3-b", "flash3-c", "flash3"), _FLASH3),
    "flash3-fp8": {
        "load": ("load_bytes(",),
        "QKᵀ": ("state.score(", "product_qk("),
        "softmax": ("softmax.weigh(", "softmax.raise(", "softmax.hide(", "weigh<"),
        "PV": ("state.multiply(", "product_pv(", "state.add("),
        "store": ("store_rows(", "state.finish("),
    },
    "flash1 backward": {
        **dict.fromkeys(("QKᵀ", "softmax", "dOVᵀ", "dS", "dQ", "dV", "dK", "add dQ"), _KEY_TILE),
        "load": (*_KEY_TILE, "row_delta("),
        "store": (*_KEY_TILE, "pass_sums<true>("),
    },
    "flash2 backward": {
        "load": ("KeyTile::copy(", "copy_queries(", "wait_copies"),
        **dict.fromkeys(("QKᵀ", "softmax", "dOVᵀ", "dS"), _OWN),
        "dQ": ("add_queries(",),
        "dV": (*_OWN, "add_others<GradTile>(acc_v"),
        "dK": (*_OWN, "add_others<QueryTile>(acc_k"),
        "add dQ": ("add_queries(",),
        "store": ("store_part<",),
    },
    "flash3 backward": {
        "load": ("load_tiles(",),
        "QKᵀ": ("start_rows(s,",),
        "softmax": ("probabilities(s", "hide(s", "hide_blocks(s"),
        "dOVᵀ": ("start_rows(dp,",),
        "dS": (
            "pack_all(",
            "put_turned(",
            " weights(dp",
            "put_weights(ds_row",
            "hide_weights(",
            "publish_stores()",
        ),
        "dQ": ("start_dq_of(", "start_dq<64>("),
        "dV": ("start_columns(dv,",),
        "dK": ("start_columns(dk,",),
        "add dQ": ("add_at_once(", "add_in_turn("),
        "store": ("store_rows(",),
    },
    "flash3 backward, wide": {
        "load": ("load_queries(", "load_grads("),
        "QKᵀ": ("start_s()", "add_rows<PANELS - 1, 0>(s", "add_rows<1, 1>(s"),
        "softmax": ("probabilities(s", "hide(s", "put_weights(work.weights_row"),
        "dOVᵀ": ("start_dp()", "PIECE_PANELS, 0>(dp", "add_rows<1, 1>(dp"),
        "dS": ("get_weights(p", " weights(dp", "pack_all(ds", "put_weights(weights_row", "publish_stores()"),
        "dQ": ("start_dq(",),
        "dV": ("add_columns(dv",),
        "dK": ("add_columns(dk",),
        "add dQ": ("work.add(",),
        "store": ("store_rows(",),
    },
}
"""What the lines of a stage hold in the CUDA source of a kernel, or of its backward pass."""
_IN_NUMPY = {
    "QKᵀ": (
        "scores(q[rows]",
        "np.matmul(q, k.T",
        "np.float32(problem.softmax_scale)",
        "hide(s, problem.mask if",
    ),
    "softmax": (
        "    online_softmax(tile, m, l)",
        "np.max(s, axis=1",
        "np.maximum(m, row",
        "np.exp(",
        "np.sum(s",
    ),
    "PV": ("weighted(tile.s", "o *= tile.alpha", "np.matmul(p, v, out=out)"),
}
_STORED = "o /= row", "np.log(l, out=lse)", "lse += m"
NUMPY_LINES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "flash1": {
        "load": ("if mask.keeps(", "tile.cut(", "o *= l[:, None]"),
        **_IN_NUMPY,
        "store": ("normalise(o, l, tile.row)", "log_sum_exp(m, l, launch.lse)", *_STORED),
    },
    "flash2": {
        "load": (
            "if mask.keeps(",
            "tile.cut(",
            "begin_rows((m, l, o)",
            "o.fill(0)",
            "m.fill(sink)",
            "l.fill(not",
        ),
        **_IN_NUMPY,
        "store": ("normalise(o, l, tile.row[:count])", "log_sum_exp(m, l, launch.lse[", *_STORED),
    },
}
"""The same in the NumPy source, by the clocks of `kernels.cpu.stages`."""
NUMPY = "NumPy on a CPU"  # in place of a problem that CUDA source is compiled for
US, MS = 1e3, 1e6
ALIKE = 0.01
SMALL_TAIL, SMALL_IMBALANCE, SMALL_HELD_UP, SMALL_WAITS = 0.05, 1.5, 0.1, 0.1
SHORT = 3  # lanes that a line names, each


def source_lines(request: TimelineRequest, stage: str) -> tuple[str, tuple[str, ...]]:
    """Which source of its kernel ran, as Source calls it, and what the lines of a stage hold there."""
    if request.backend == "cpu":
        return NUMPY, NUMPY_LINES[request.kernel][stage]
    problem = request.problem
    mask, words = "causal" if problem.causal else "no mask", PASS_WORDS[problem.passes]
    read = next(one for one in READ_HEAD_DIMS if one >= problem.head_dim)
    label, run = ", ".join(filter(None, (f"d {read}", words, mask))), run_name(request)
    wide = f"{run}, wide" if problem.head_dim > WIDE_HEAD else run
    return label, CUDA_LINES.get(wide, CUDA_LINES[run])[stage]


def stages_on_show(timelines: Sequence[StageTimeline]) -> list[str]:
    """The stages of these in the order in which a tile goes through them; of none those of a forward pass."""
    passes = [one.request.problem.passes for one in timelines] or ["forward"]
    merges = [STAGES[MERGE]] if any((one.stage.numpy() == MERGE).any() for one in timelines) else []
    return [*dict.fromkeys(stage for one in passes for stage in stages_of(one)), *merges]


def run_name(request: TimelineRequest) -> str:
    """The kernel, and its pass where that is not the forward one."""
    return " ".join(filter(None, (request.kernel, PASS_WORDS[request.problem.passes])))


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
    names = [f"{run_name(one.request)} · {problem_words(one.request.problem)}" for one in timelines]
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


def overhead_text(timeline: StageTimeline, facts: TimelineFacts) -> str:
    """What the clocks cost; it is no runtime of the kernel. Of a GPU, why events say more than the axis."""
    rounds, by_events = timeline.request.rounds, timeline.row_kind == "SM"
    low, high = (digits(ratio) for ratio in facts.overheads)
    quickest, turns = "one run", ""
    if rounds > 1:
        quickest, turns = f"quickest of {rounds} runs", f" ({low} to {high} in turns)"
    if by_events:
        blocks, events = ms_text(facts.span_ms), ms_text(facts.quickest_ms)
        quickest += f": {blocks} from first block to last, {events} by events with the launch"
    registers = ""
    if timeline.registers:
        registers = " · {} registers a thread beside {}".format(*timeline.registers)
    sms = timeline.request.sms
    few = "" if sms is None else f" · of the first {sms} SMs" if sms > 1 else " · of the first SM"
    return (
        f"{quickest} · build with clocks {digits(facts.overhead)}× the timed one{turns}: "
        f"{ms_text(facts.clocked_ms)} beside {ms_text(facts.plain_ms)}{' by events' * by_events}"
        f"{registers}{few}"
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
    else:
        told.append(_covered_text(timelines, facts))
    told += _merge_text(timelines[0], facts[0]), _idle_text(timelines, facts), _rows_text(timelines, facts[0])
    return " ".join(filter(None, told))


def _shares_text(timeline: StageTimeline, facts: TimelineFacts) -> str:
    ranked = sorted(facts.shares.items(), key=lambda pair: -pair[1])
    most = [f"{share_text(share)} in {name}" for name, share in ranked[:3]]
    told = f"{run_name(timeline.request)} spends {listed(most)}."
    waits = timeline.row_kind == "SM" and facts.waits > SMALL_WAITS
    lanes = f"{lane_word(timeline)}s"
    return f"{told} Its {lanes} wait {share_text(facts.waits)} of the time." if waits else told


def _covered_text(timelines: Sequence[StageTimeline], facts: Sequence[TimelineFacts]) -> str:
    """How much of the softmax stands beside a product of another lane; empty: of one there is none."""
    shares = [fact.covered for fact in facts if fact.covered is not None]
    if len(shares) < len(facts) or any(one.row_kind != "SM" for one in timelines):
        return ""
    words = {lane_word(one) for one in timelines}
    lane = words.pop() if len(words) == 1 else "lane"
    told = f"While one {lane} takes its softmax, a product of another on its SM is under way"
    if len(shares) == 1:
        return f"{told} {share_text(shares[0])} of the time."
    (one, other), (mine, others) = _two_names(timelines), map(share_text, shares)
    return f"{told} {mine} of the time in {one}, {others} in {other}."


def lane_word(timeline: StageTimeline) -> str:
    """What a lane of a timeline is."""
    words = (word for word in ("warpgroup", "warp") if any(word in lane for lane in timeline.lanes))
    return next(words, "lane")


def lanes_words(lanes: Sequence[str]) -> str:
    """Which lanes a row has, from above; empty where it has one."""
    if len(lanes) == 1:
        return ""
    slot = "".join(lanes[0].rpartition(", ")[:2])
    if all(lane.startswith(slot) for lane in lanes):
        lanes = [lane.removeprefix(slot) for lane in lanes]
    if len(lanes) <= SHORT:
        return f"from above: {', '.join(lanes)}"
    return f"from above: {lanes[0]} to {lanes[-1]}"


def drawn_words(timeline: StageTimeline, drawn: Sequence[str], names: Sequence[str]) -> str:
    """How many of the rows are drawn, and which; empty: all of them."""
    if len(drawn) == len(names):
        return ""
    by_place = names[0].startswith(f"{timeline.row_kind} ")
    return f"{len(drawn)} of {len(names)} {timeline.row_kind if by_place else 'block'}s, the last to end"


def _merge_text(timeline: StageTimeline, facts: TimelineFacts) -> str:
    """How long the parts of the keys are merged; empty: there are none."""
    if not facts.merge_ns:
        return ""
    share = share_text(facts.merge_ns / max(1, timeline.span_ns))
    return f"Merging the parts of the keys takes {ms_text(facts.merge_ns / MS)}, {share} of the run."


def _beside_text(timelines: Sequence[StageTimeline], facts: Sequence[TimelineFacts]) -> str:
    """Where two differ most: in the share of a stage, or in how much of the softmax is covered."""
    one, other = facts[:2]
    mine, others = (dict.fromkeys(STAGES, 0.0) | fact.shares for fact in (one, other))
    name = max(STAGES, key=lambda stage: abs(mine[stage] - others[stage]))
    apart, covered = abs(mine[name] - others[name]), _covered_text(timelines, facts)
    if covered and abs((one.covered or 0.0) - (other.covered or 0.0)) > max(apart, ALIKE):
        return covered
    if apart < ALIKE:
        return "Both spend their time alike."
    kernels = _two_names(timelines)
    return (
        f"They differ most in {name}: {share_text(mine[name])} in {kernels[0]}, "
        f"{share_text(others[name])} in {kernels[1]}."
    )


def _two_names(timelines: Sequence[StageTimeline]) -> tuple[str, str]:
    """What two are called: by their kernels, or by their places where these are the same."""
    one, other = (run_name(timeline.request) for timeline in timelines[:2])
    return ("the upper build", "the lower one") if one == other else (one, other)


def _is_held_up(timeline: StageTimeline, facts: TimelineFacts) -> bool:
    """Whether other programs had so much of a thread's time that its stages cannot be compared."""
    return timeline.row_kind == "thread" and facts.held_up > SMALL_HELD_UP


def _held_up_text(timelines: Sequence[StageTimeline], facts: Sequence[TimelineFacts]) -> str:
    """How much of it is in bars that took far too long; empty where that is little."""
    pairs = [pair for pair in zip(timelines, facts, strict=True) if _is_held_up(*pair)]
    if not pairs:
        return ""
    shares = listed([f"{share_text(fact.held_up)} of {one.request.kernel}'s time" for one, fact in pairs])
    return (
        f"Something else had the core: {shares} is in bars over {HELD_UP:g} times as long as their stage's "
        "median; record again when less runs beside it."
    )


def _idle_text(timelines: Sequence[StageTimeline], facts: Sequence[TimelineFacts]) -> str:
    """How many rows of the first one have nothing to do, beside those of another kernel; empty: none."""
    one, idle, told = timelines[0], facts[0].idle_rows, "have nothing to do"
    if not idle:
        return ""
    text = f"{idle} of {len(one.rows.numpy())} {one.row_kind}s {told}"
    kernels = [run_name(timeline.request) for timeline in timelines[:2]]
    if len({*kernels}) == 1:
        return f"{text}."
    return f"{text} in {kernels[0]}, {facts[1].idle_rows or 'none'} in {kernels[1]}."


def _rows_text(timelines: Sequence[StageTimeline], facts: TimelineFacts) -> str:
    """The tail and the imbalance of the first one, those that there are."""
    timeline, told = timelines[0], []
    of = f" of {run_name(timeline.request)}" if len(timelines) > 1 else ""
    tail = facts.tail_ns / max(1, timeline.span_ns)
    lanes = timeline.block_lane.numpy()[(timeline.block.numpy() != NO_PLACE).all(axis=1)].tolist()
    in_waves = len({*lanes}) < len(lanes)  # else all begin at once, and none is the last
    if in_waves and len(timeline.rows.numpy()) - facts.idle_rows > 1 and tail > SMALL_TAIL:
        alone = f"{ms_text(facts.tail_ns / MS)}, {share_text(tail)} of the run"
        told.append(f"The last blocks{of} run alone for {alone}.")
    if (
        not _is_held_up(timeline, facts)
        and facts.imbalance > SMALL_IMBALANCE
        and _masked(timeline.request.problem)
    ):
        told.append(f"The longest block{of} takes {digits(facts.imbalance)} times as long as the shortest.")
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
