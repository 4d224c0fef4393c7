"""What a timeline says in numbers, of timelines whose numbers are known."""

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.timeline import STAGES, StageTimeline
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from tests.app.timelines import made_timeline


def test_stages_and_waits_make_up_the_time_of_all_lanes() -> None:
    facts = TimelineFacts.of(made_timeline())
    assert facts.shares == pytest.approx(
        {"load": 16 / 68, "QKᵀ": 16 / 68, "softmax": 16 / 68, "PV": 16 / 68, "store": 4 / 68}
    )
    assert facts.waits == pytest.approx(0)
    assert facts.tail_ns == 0


def test_one_row_that_has_a_block_more_works_on_alone() -> None:
    facts = TimelineFacts.of(made_timeline(rows=3, row_kind="SM"))  # 8 blocks: 3, 3 and 2
    assert facts.tail_ns == 4_250
    assert facts.waits == pytest.approx(1 / 9)
    assert facts.idle_rows == 0


def test_rows_without_a_bar_are_idle_and_take_no_part_in_the_shares() -> None:
    facts = TimelineFacts.of(made_timeline(rows=9, row_kind="SM"))
    assert (facts.idle_rows, facts.tail_ns) == (1, 0)
    assert facts.waits == pytest.approx(0)


def test_a_lane_that_loads_alone_takes_no_part_in_the_shares_of_the_others() -> None:
    timeline = made_timeline(rows=1, lanes=("producer", "warpgroup 1"), row_kind="SM")
    stage = timeline.stage.numpy().copy()
    stage[timeline.lane.numpy() == 0] = STAGES.index("load")
    facts = TimelineFacts.of(replace(timeline, stage=Array.of(stage)))
    assert facts.shares["softmax"] == pytest.approx(4 / 17)
    assert facts.waits == pytest.approx(0)


def shifted(by_ns: int) -> StageTimeline:
    """Two lanes of one SM that do the same, the second one so much later."""
    timeline = made_timeline(lanes=("warpgroup 1", "warpgroup 2"), row_kind="SM")
    later = np.where(timeline.lane.numpy() == 1, by_ns, 0)
    begin, end = timeline.begin.numpy() + later, timeline.end.numpy() + later
    return replace(timeline, begin=Array.of(begin), end=Array.of(end), span_ns=int(end.max()))


@pytest.mark.parametrize(("by_ns", "covered"), [(0, 0.0), (125, 0.5), (250, 1.0)])
def test_a_softmax_is_covered_while_another_lane_of_its_row_has_a_product(by_ns: int, covered: float) -> None:
    assert TimelineFacts.of(shifted(by_ns)).covered == pytest.approx(covered)


def test_nothing_covers_a_softmax_where_a_row_has_one_lane_or_no_product() -> None:
    assert TimelineFacts.of(made_timeline(rows=3, row_kind="SM")).covered is None
    timeline = shifted(250)
    no_product = np.full(timeline.stage.shape, STAGES.index("softmax"), np.uint8)
    assert TimelineFacts.of(replace(timeline, stage=Array.of(no_product))).covered == 0


def test_a_causal_mask_makes_the_last_block_the_longest() -> None:
    assert TimelineFacts.of(made_timeline(causal=True)).imbalance == pytest.approx(4_250 / 1_250)
    assert TimelineFacts.of(made_timeline()).imbalance == pytest.approx(1)


def test_the_overhead_is_of_medians_beside_the_ratio_of_each_round() -> None:
    timeline = replace(
        made_timeline(),
        clocked_ns=Array.of(np.array([110, 300, 120], np.int64)),
        plain_ns=Array.of(np.array([100, 100, 150], np.int64)),
    )
    facts = TimelineFacts.of(timeline)
    assert facts.overhead == pytest.approx(1.2)
    assert facts.overheads == pytest.approx((0.8, 3.0))


def test_a_bar_that_took_far_more_than_others_of_its_stage_was_held_up() -> None:
    timeline = made_timeline()
    begin, end = timeline.begin.numpy().copy(), timeline.end.numpy().copy()
    end[-1] += 16_900  # the last store: the rest are 67 bars of 250 ns
    late = replace(timeline, begin=Array.of(begin), end=Array.of(end), span_ns=int(end[-1]))
    assert TimelineFacts.of(timeline).held_up == 0
    assert TimelineFacts.of(late).held_up == pytest.approx(17_150 / (17_150 + 2 * 17_000 - 250))
