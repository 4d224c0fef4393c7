"""What a timeline says in words, of timelines whose numbers are known."""

import numpy as np
from msgspec.structs import replace

from flashscope.app.look.contrast import contrast
from flashscope.app.look.stage_colours import stage_colours
from flashscope.app.look.theme import CONTRAST, DARK, LIGHT
from flashscope.app.words.inside.timelines import (
    bar_words,
    lanes_words,
    overhead_text,
    sentence,
    stages_on_show,
    timeline_names,
)
from flashscope.kernels.workload.timeline import MERGE, STAGES, StageTimeline
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from tests.app.timelines import made_timeline

LEAST = 3.0  # WCAG 2.1 of what is no text, to its ground


def said(*timelines: StageTimeline) -> str:
    facts = [TimelineFacts.of(one) for one in timelines]
    return sentence(timelines, facts).replace("\N{NO-BREAK SPACE}", " ")


def test_one_timeline_tells_the_three_largest_shares() -> None:
    assert said(made_timeline()) == "flash2 spends 23.5% in load, 23.5% in QKᵀ and 23.5% in softmax."
    assert said() == ""


def test_how_long_lanes_wait_is_told_of_a_gpu_where_it_is_much() -> None:
    late = made_timeline(row_kind="SM")
    late = replace(late, span_ns=2 * late.span_ns)
    assert "Its lanes wait 50.0% of the time." in said(late)
    assert "wait" not in said(made_timeline(row_kind="SM"))
    assert "wait" not in said(replace(late, row_kind="thread"))


def test_two_kernels_are_told_apart_by_the_stage_in_which_they_differ_most() -> None:
    idle = made_timeline()
    stages = idle.stage.numpy().copy()
    stages[stages == STAGES.index("PV")] = STAGES.index("softmax")
    other = replace(idle, stage=Array.of(stages))
    told = "They differ most in softmax: 23.5% in the upper build, 47.1% in the lower one."
    assert told in said(idle, other)
    named = "They differ most in softmax: 23.5% in flash1, 47.1% in flash2."
    assert named in said(made_timeline("flash1"), other)


def test_two_that_differ_by_less_than_a_hundredth_spend_their_time_alike() -> None:
    assert said(made_timeline("flash1"), made_timeline()).endswith("Both spend their time alike.")


def test_rows_tell_their_tail_and_those_that_have_nothing_to_do() -> None:
    assert "The last blocks run alone for 4.25 µs, 33.3% of the run." in said(
        made_timeline(rows=3, row_kind="SM")
    )
    assert "1 of 9 SMs have nothing to do." in said(made_timeline(rows=9, row_kind="SM"))
    assert "run alone" not in said(made_timeline(rows=4, row_kind="SM"))


def test_blocks_that_begin_all_at_once_have_no_last_ones_among_them() -> None:
    """A causal mask has the first row done early; the others work on, and that is the imbalance."""
    warps = ("warp 0", "warp 1")
    one_wave = made_timeline(rows=4, lanes=warps, causal=True, row_kind="SM")
    assert TimelineFacts.of(one_wave).tail_ns > 0.1 * one_wave.span_ns
    assert "run alone" not in said(one_wave)
    assert "times as long as the shortest" in said(one_wave)
    assert "run alone" in said(made_timeline(rows=3, causal=True, row_kind="SM"))


def test_the_merge_of_parts_is_told_and_takes_no_part_in_the_shares_or_the_tail() -> None:
    plain = made_timeline("flash3", rows=4, lanes=("producer", "merge"), row_kind="SM")
    stages = plain.stage.numpy().copy()
    stages[plain.lane.numpy() == 7] = MERGE
    merged = replace(plain, stage=Array.of(stages))
    took = plain.end.numpy()[stages == MERGE].max() - plain.begin.numpy()[stages == MERGE].min()
    share = f"{100 * took / plain.span_ns:.3g}%"
    assert f"Merging the parts of the keys takes {took / 1e3:.2f} µs, {share} of the run." in said(merged)
    assert "Merging" not in said(plain)
    assert "merge" in stages_on_show([plain, merged])
    assert "merge" not in stages_on_show([plain])
    facts = TimelineFacts.of(merged)
    assert "merge" not in facts.shares
    assert facts.idle_rows == 0
    assert facts.tail_ns == TimelineFacts.of(plain).tail_ns


def test_a_backward_pass_is_named_and_told_apart_from_the_forward_one_of_its_kernel() -> None:
    forward = made_timeline()
    backward = made_timeline(passes="backward")
    assert said(backward).startswith("flash2 backward spends")
    assert timeline_names([forward, backward])[1].startswith("flash2 backward · ")
    assert said(backward, forward).startswith("flash2 backward spends")
    assert stages_on_show([]) == stages_on_show([forward]) == ["load", "QKᵀ", "softmax", "PV", "store"]
    assert {*stages_on_show([backward])} > {"dOVᵀ", "dS", "dQ", "dV", "dK", "add dQ"}


def test_of_two_kernels_both_tell_what_has_nothing_to_do() -> None:
    pair = made_timeline("flash2", rows=9, row_kind="SM"), made_timeline("flash1", rows=8, row_kind="SM")
    assert "1 of 9 SMs have nothing to do in flash2, none in flash1." in said(*pair)


def test_what_a_softmax_is_covered_by_is_told_of_lanes_that_share_an_sm() -> None:
    names = "warpgroup 1", "warpgroup 2"
    alike = made_timeline(lanes=names, row_kind="SM")
    told = "While one warpgroup takes its softmax, a product of another on its SM is under way"
    assert f"{told} 0.000% of the time." in said(alike)
    assert told not in said(made_timeline(row_kind="SM"))
    assert told not in said(made_timeline(lanes=names))


def in_turns(timeline: StageTimeline) -> StageTimeline:
    """The same, but that every other lane takes its softmax while the ones beside it have QKᵀ."""
    softmax, qk = (STAGES.index(name) for name in ("softmax", "QKᵀ"))
    odd, stage = timeline.lane.numpy() % 2 == 1, timeline.stage.numpy()
    turned = np.where(odd & (stage == qk), softmax, np.where(odd & (stage == softmax), qk, stage))
    return replace(timeline, stage=Array.of(turned.astype(np.uint8)))


def test_two_kernels_are_told_apart_by_what_covers_their_softmax_where_that_differs_most() -> None:
    names = "warpgroup 1", "warpgroup 2"
    bare = made_timeline("flash3-a", lanes=names, row_kind="SM")
    turns = in_turns(made_timeline("flash3", lanes=names, row_kind="SM"))
    told = "a product of another on its SM is under way 0.000% of the time in flash3-a, 100% in flash3."
    assert f"While one warpgroup takes its softmax, {told}" in said(bare, turns)
    assert "They differ most" not in said(bare, turns)
    of_warps = in_turns(made_timeline("flash2", lanes=("warp 0", "warp 1"), row_kind="SM"))
    assert "While one lane takes its softmax" in said(bare, of_warps)
    assert "in the upper build, 0.000% in the lower one." in said(in_turns(bare), bare)
    assert said(bare, replace(bare, request=turns.request)).endswith("Both spend their time alike.")


def test_the_lanes_of_a_row_are_named_from_above() -> None:
    assert lanes_words(("Python",)) == ""
    assert lanes_words(("producer", "warpgroup 1")) == "from above: producer, warpgroup 1"
    assert lanes_words(tuple(f"block slot 1, warp {n}" for n in range(4))) == "from above: warp 0 to warp 3"


def test_the_imbalance_is_told_of_a_mask_alone() -> None:
    told = "The longest block takes 3.40 times as long as the shortest."
    assert told in said(made_timeline(causal=True))
    assert "longest block" not in said(made_timeline())


def test_what_held_up_a_thread_is_told_in_place_of_an_imbalance() -> None:
    timeline = made_timeline(causal=True)
    end = timeline.end.numpy().copy()
    end[-1] += 20_000
    late = replace(timeline, end=Array.of(end), span_ns=int(end[-1]))
    assert "Something else had the core: 48." in said(late)
    assert "of flash2's time is in bars over 5 times as long as their stage's median" in said(late)
    assert "longest block" not in said(late)
    assert "Something else" not in said(replace(late, row_kind="SM"))


def test_stages_are_not_compared_where_one_of_two_was_held_up() -> None:
    timeline = made_timeline()
    end = timeline.end.numpy().copy()
    end[-1] += 20_000
    late = replace(timeline, end=Array.of(end), span_ns=int(end[-1]))
    told = said(made_timeline("flash1"), late)
    assert "of flash2's time" in told
    assert "differ" not in told
    assert "alike" not in told


def test_the_overhead_names_both_runtimes_and_the_spread_of_the_rounds() -> None:
    timeline = replace(
        made_timeline(),
        clocked_ns=Array.of(np.array([1.1e6, 3e6, 1.2e6], np.int64)),
        plain_ns=Array.of(np.array([1e6, 1e6, 1.5e6], np.int64)),
    )
    assert overhead_text(timeline, TimelineFacts.of(timeline)) == (
        "quickest of 3 runs · build with clocks 1.20× the timed one (0.800 to 3.00 in turns): "
        "1.20 ms beside 1.00 ms"
    )


def test_of_a_gpu_what_the_blocks_took_stands_beside_what_events_say_of_their_launch() -> None:
    timeline = replace(
        made_timeline(row_kind="SM"),
        clocked_ns=Array.of(np.array([48_800, 43_900, 51_000], np.int64)),
        plain_ns=Array.of(np.array([44_400, 44_400, 44_400], np.int64)),
        span_ns=31_100,
    )
    assert overhead_text(timeline, TimelineFacts.of(timeline)) == (
        "quickest of 3 runs: 31.1 µs from first block to last, 43.9 µs by events with the launch · "
        "build with clocks 1.10× the timed one (0.989 to 1.15 in turns): 48.8 µs beside 44.4 µs by events"
    )


def test_registers_of_both_builds_are_told_where_they_are_known() -> None:
    timeline = made_timeline(row_kind="SM")
    known = replace(timeline, registers=(246, 228))
    facts = TimelineFacts.of(known)
    assert overhead_text(known, facts).endswith(" · 246 registers a thread beside 228")
    assert "registers" not in overhead_text(timeline, facts)


def test_of_few_sms_it_is_told_how_many_wrote_out_their_clocks() -> None:
    timeline = made_timeline(row_kind="SM")
    facts = TimelineFacts.of(timeline)
    few, one = (replace(timeline, request=replace(timeline.request, backend="cuda", sms=n)) for n in (4, 1))
    assert overhead_text(few, facts).endswith(" · of the first 4 SMs")
    assert overhead_text(one, facts).endswith(" · of the first SM")
    assert "SMs" not in overhead_text(timeline, facts)


def test_names_have_a_build_or_a_number_only_where_they_would_be_alike() -> None:
    one, other = made_timeline(build="a" * 12), made_timeline(build="b" * 12)
    assert timeline_names([one]) == ["flash2 · N = 64, d = 8, 2 heads"]
    assert [name[-12:] for name in timeline_names([one, other])] == ["build aaaaaa", "build bbbbbb"]
    assert [name[-5:] for name in timeline_names([one, one])] == ["no. 1", "no. 2"]


def test_a_bar_tells_what_it_belongs_to_as_far_as_it_does() -> None:
    told = [bar_words(4, tile, (1_000, 3_000), 10_000) for tile in ((-1, -1, -1), (0, -1, -1), (0, 2, -1))]
    assert told[0] == "store of all heads: 2.00 µs, 20.0% of the run, from 1.00 µs on"
    assert told[1].startswith("store of head 0:")
    assert told[2].startswith("store of head 0, block i 2:")


def test_stages_stand_out_from_every_ground_and_no_two_have_one_colour() -> None:
    for theme in (DARK, LIGHT, CONTRAST):
        colours = stage_colours(theme)
        assert list(colours) == list(STAGES)
        assert len(set(colours.values())) == len(STAGES)
        assert min(contrast(colour, theme.panel) for colour in colours.values()) >= LEAST
