"""Curves, ratios and the preset: what a table of peers is made of."""

from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from flashscope.app.words.command_line import repeating_preset
from flashscope.kernels.catalogue.registry import KERNELS, lesson_on
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.plan import Plan, Point, Protocol
from flashscope.profiles.plan.presets import PRESETS, preset_plan
from flashscope.profiles.results.findings.ratios import standings_of
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.store import load
from flashscope.profiles.wire.measurement import Sample
from tests.end_to_end.program import ROOT
from tests.profiles.store import builders


def row_of(problem: Problem) -> PointRow:
    made = row("flash2", 64, 1.0)
    return replace(made, point=structs.replace(made.point, problem=problem))


def row(
    kernel: str, seqlen: int, tflops: float | None, *, causal: bool = False, batch: int = 1, **others: Any
) -> PointRow:
    problem = Problem(
        seqlen_q=seqlen, seqlen_k=seqlen, batch=batch, heads=2, dtype="float16", causal=causal, **others
    )
    samples = () if tflops is None else (Sample(problem.flops / tflops / 1e9),)
    return PointRow(
        point=Point(index=0, kernel=kernel, problem=problem),
        backend="cuda",
        status="wrong" if kernel == "broken" else "oom" if tflops is None else "done",
        reason="",
        predicted_bytes=1,
        sampling_ns=None,
        measurement=builders.measurement(samples),
    )


ROWS = (
    row("flash2", 1024, 200.0),
    row("peer", 1024, 100.0),
    row("broken", 1024, 900.0),
    row("flash2", 2048, 300.0),
    row("peer", 2048, 400.0),
    row("flash2", 4096, 50.0, causal=True),
    row("peer", 4096, None, causal=True),
)


def test_ratios_are_those_of_each_cell_and_their_mean_is_geometric() -> None:
    found = standings_of(ROWS, ["peer"])
    assert [one.ratios.get("flash2") for one in found.contests] == [
        pytest.approx(2.0),
        pytest.approx(0.75),
        None,
    ]
    assert found.means["flash2"] == pytest.approx((2.0 * 0.75) ** 0.5)
    assert found.means["peer"] == 1
    assert found.worst["flash2"].ratio == pytest.approx(0.75)
    assert found.worst["flash2"].contest.seqlen == 2048


def test_what_is_wrong_or_was_not_measured_is_never_compared() -> None:
    found = standings_of(ROWS, ["peer"])
    assert "broken" not in found.means
    assert found.contests[2].ratios == {}
    nobody = standings_of(ROWS, ["elsewhere"])
    assert not nobody.means
    assert not nobody.worst


def test_of_several_peers_the_fastest_of_each_cell_counts() -> None:
    found = standings_of(
        (*ROWS, row("second", 1024, 160.0), row("second", 4096, 40.0, causal=True)), ["peer", "second"]
    )
    assert [one.peer for one in found.contests] == ["second", "peer", "second"]
    assert [one.ratios["flash2"] for one in found.contests] == pytest.approx([1.25, 0.75, 1.25])
    assert found.worst["flash2"].contest.peer == "peer"


def test_a_batch_that_follows_from_n_stays_on_one_curve() -> None:
    tokens = (row("flash2", 1024, 1.0, batch=4), row("flash2", 4096, 1.0, batch=1))
    (curve,) = by_curve(tokens)
    assert curve.label == "d 64, no mask"
    twice = (*tokens, row("flash2", 1024, 1.0, batch=1))
    assert [curve.label for curve in by_curve(twice)] == ["d 64, no mask, batch 4", "d 64, no mask, batch 1"]


def test_points_that_differ_in_seed_or_scale_alone_are_never_taken_for_one_another() -> None:
    points = (row("flash2", 64, 1.0), row("flash2", 64, 2.0, seed=3), row("flash2", 64, 3.0, scale=0.5))
    assert [curve.label for curve in by_curve(points)] == [
        "d 64, no mask, seed 0",
        "d 64, no mask, seed 3",
        "d 64, no mask, scale 0.5",
    ]
    assert len(standings_of(points, ["flash2"]).contests) == 3


def test_heads_and_dtype_are_named_where_curves_are_else_alike() -> None:
    heads = [Problem(seqlen_q=64, seqlen_k=64, heads=8 * n, batch=n, dtype="float16") for n in (1, 2)]
    other = Problem(seqlen_q=64, seqlen_k=64, heads=8, head_dim=128, dtype="float16")
    single = structs.replace(other, dtype="bfloat16")
    causal = structs.replace(other, causal=True)
    points = [row_of(problem) for problem in (*heads, other, single, causal)]
    assert [curve.label for curve in by_curve(points)] == [
        "d 64, no mask, 8 heads",
        "d 64, no mask, 16 heads",
        "d 128, no mask, float16",
        "d 128, no mask, bfloat16",
        "d 128, causal",
    ]
    assert [curve.label for curve in by_curve(points[:1])] == ["d 64, no mask"]


def test_a_batch_is_named_only_where_it_tells_curves_apart() -> None:
    points = (
        *(row("flash2", 1024, 1.0, batch=n) for n in (1, 2)),
        *(row("flash2", n, 1.0, batch=4096 // n, causal=True) for n in (1024, 4096)),
    )
    assert [curve.label for curve in by_curve(points)] == [
        "d 64, no mask, batch 1",
        "d 64, no mask, batch 2",
        "d 64, causal",
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "assets" / "sessions").glob("*.flashscope")), ids=str)
def test_no_two_curves_of_a_recording_have_one_label(path: Path) -> None:
    labels = [curve.label for curve in by_curve(rows(load(path)))]
    assert len(set(labels)) == len(labels)


def test_masks_are_curves_apart() -> None:
    assert [len(found) for found in by_curve(ROWS).values()] == [5, 2]


def shape(plan: Plan) -> set[tuple[int, bool, int]]:
    return {(p.head_dim, p.causal, p.seqlen_q) for p in plan.problems}


def test_the_peers_preset_holds_every_problem_with_tokens_and_width_constant() -> None:
    plan = preset_plan("peers", "cuda", Protocol())
    lengths = (1024, 2048, 4096, 8192, 16384)
    assert shape(plan) == {(d, c, n) for d in (64, 128, 256) for c in (False, True) for n in lengths}
    assert len(plan.problems) == 30
    assert {p.batch * p.seqlen_q for p in plan.problems} == {16384}
    assert {p.heads * p.head_dim for p in plan.problems} == {2048}
    assert {p.dtype for p in plan.problems} == {"bfloat16"}
    assert plan.kernels == tuple(spec.name for spec in KERNELS if "cuda" in spec.dtypes)
    assert plan.protocol.cold


def test_the_peers_preset_is_small_on_the_cpu_and_offers_only_what_exists_there() -> None:
    plan = preset_plan("peers", "cpu", Protocol(), seed=7)
    assert {p.dtype for p in plan.problems} == {"float32"}
    assert {p.seed for p in plan.problems} == {7}
    assert max(p.score_elements for p in plan.problems) < 2**22
    assert set(plan.kernels) >= {*lesson_on("cpu"), "torch-math", "torch-flash", "torch-auto"}
    assert not set(plan.kernels) & {"torch-efficient", "torch-cudnn"}


def test_the_peers_preset_of_a_backward_pass_has_the_same_problems_and_the_kernels_that_have_one() -> None:
    forward, backward = (
        preset_plan("peers", "cuda", Protocol(), passes=passes) for passes in ("forward", "backward")
    )
    assert shape(forward) == shape(backward)
    assert {problem.passes for problem in backward.problems} == {"backward"}
    assert {"standard", "flash2", "torch-cudnn", "flash-attn-4"} <= set(backward.kernels)
    assert not set(backward.kernels) & {"fused", "flash3-fp8"}
    assert "flash1" in preset_plan("peers", "cpu", Protocol(), passes="both").kernels
    assert "--preset peers" in str(repeating_preset(backward))
    assert "--pass backward" in str(repeating_preset(backward))


def test_a_preset_s_gradients_can_be_asked_to_repeat() -> None:
    plan = preset_plan("peers-backward", "cuda", Protocol(), deterministic=True)
    assert all(problem.deterministic for problem in plan.problems)
    assert {"flash2", "flash3"} <= set(plan.kernels)
    assert not {"torch-cudnn", "flash-attn-4"} & set(plan.kernels)
    assert "--deterministic" in str(repeating_preset(plan))
    with pytest.raises(InputError, match="with pass backward or both"):
        preset_plan("peers", "cuda", Protocol(), deterministic=True)


def test_the_decode_preset_has_few_query_rows_before_many_keys_and_grouped_heads() -> None:
    problems = preset_plan("decode", "cuda", Protocol(), seed=3).problems
    assert {problem.seed for problem in problems} == {3}
    assert max(problem.seqlen_q for problem in problems) <= 64
    assert min(problem.seqlen_k // problem.seqlen_q for problem in problems) >= 256
    assert {problem.heads // problem.key_heads for problem in problems} == {1, 4, 8}
    assert len({(p.batch, p.heads, p.kv_heads, p.seqlen_q) for p in problems}) == 6


def test_the_thin_preset_holds_every_small_problem() -> None:
    plan = preset_plan("thin", "cuda", Protocol())
    sides = [(p.head_dim, p.causal, p.batch, p.heads, p.seqlen_q) for p in plan.problems]
    expected = product((64, 128), (False, True), (1, 4), (8, 16, 32), (256, 512, 1024, 2048, 4096))
    assert sides == list(expected)


@pytest.mark.parametrize("backend", ["cuda", "cpu"])
@pytest.mark.parametrize("name", PRESETS)
def test_a_session_of_a_preset_tells_the_command_that_repeats_it(name: str, backend: Backend) -> None:
    plan = preset_plan(name, backend, Protocol(), seed=5, kernels=("flash2",))
    told = str(repeating_preset(plan))
    meant = "peers" if name == "peers-backward" else name
    assert f"--preset {meant} " in told
    assert ("--pass backward" in told) == (name == "peers-backward")


def test_kernels_take_turns_within_a_problem() -> None:
    plan = preset_plan("peers", "cpu", Protocol(), kernels=("flash2", "torch-flash"))
    points = plan.points()
    assert [p.kernel for p in points[:4]] == ["flash2", "torch-flash"] * 2
    assert points[0].problem == points[1].problem != points[2].problem


def test_the_scores_of_torch_math_are_predicted() -> None:
    problem = Problem(seqlen_q=64, seqlen_k=128, heads=2, dtype="float16")
    spec = next(spec for spec in KERNELS if spec.name == "torch-math")
    assert spec.workspace_bytes(problem, "cuda") > 2 * 4 * prod((2, 64, 128))
