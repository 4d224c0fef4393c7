"""What the sentence over the plots may name, and beside what."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.catalogue import registry
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.spec import admit
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.engine.batches import broken_off
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.compare.significance import has_rounds
from flashscope.profiles.results.findings.headline import Headline, headline, of_curve
from flashscope.profiles.results.findings.spared import Spared
from flashscope.profiles.results.formats.export import metadata
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.rows import rows as rows_of
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import (
    FOOTPRINT,
    QUANTITIES,
    RUNTIME,
    SPEEDUP,
    THROUGHPUT,
)
from flashscope.profiles.results.theory.bytes_moved import compulsory
from flashscope.profiles.wire.ceilings import Ceiling, Ceilings
from flashscope.profiles.wire.events import PointStatus
from flashscope.profiles.wire.measurement import (
    TURNS_BROKEN_OFF,
    Correctness,
    Figure,
    Measurement,
    OutputError,
    Sample,
)
from tests.profiles.results.compare.built import shuffled

SPREAD = (0.990, 0.994, 0.996, 0.998, 1.0, 1.0, 1.002, 1.004, 1.006, 1.010)
CLOCK = 1980.0
NAMES = ("standard", "flash1", "flash2", "flash3", "flash3-b", "flash3-fp8", "torch-flash")
STATUSES: tuple[PointStatus, ...] = (
    *("done", "wrong", "will-not-fit", "oom", "timeout", "failed"),
    *("unsupported", "cancelled", "interrupted", "altered", "pending", "running"),
)


def measurement(ms: float, held: float | None, rounds: int) -> Measurement:
    parts = {} if held is None else {"input_bytes": held, "output_bytes": 0.0, "workspace_bytes": 0.0}
    return Measurement(
        samples=tuple(Sample(ms * SPREAD[k % 10], sm_clock_mhz=CLOCK) for k in range(rounds)),
        timer="CUDA events",
        cold=True,
        figures={key: Figure(value=value) for key, value in parts.items()},
        correctness=Correctness(
            outputs=(OutputError(output="O", error=1e-4, bound=1e-3),), rows=64, passed=True
        ),
    )


def row(
    kernel: str,
    ms: float = 1.0,
    *,
    held: float | None = 1e9,
    n: int = 1024,
    status: PointStatus = "done",
    backend: Backend = "cuda",
    rounds: int = 10,
) -> PointRow:
    return PointRow(
        point=Point(index=0, kernel=kernel, problem=Problem(seqlen_q=n, seqlen_k=n)),
        backend=backend,
        status=status,
        reason="" if status == "done" else "a script",
        predicted_bytes=0,
        sampling_ns=None,
        measurement=measurement(ms, held, rounds) if status in {"done", "wrong"} else None,
        part=1,
    )


def told(rows: Sequence[PointRow], n: int = 1024, baseline: str = "standard", **given: Any) -> Headline:
    found = headline(rows, n, baseline, **given)
    assert found is not None
    return found


def test_the_fastest_kernel_is_named_beside_the_baseline() -> None:
    found = told([row("standard", 2.7, held=255e6), row("flash1", 2.0), row("flash2", 1.0, held=1e6)])
    assert (found.kernel, found.baseline, found.seqlen) == ("flash2", "standard", 1024)
    time, memory = found.clauses
    assert (time.quantity, time.verdict) == (RUNTIME, "better")
    assert time.factor == pytest.approx(2.7)
    assert (memory.quantity, memory.verdict, memory.factor) == (FOOTPRINT, "better", 255)


def test_a_slower_kernel_is_said_to_be_slower() -> None:
    assert told([row("standard", 1.0), row("flash2", 1.5)]).clauses[0].verdict == "worse"


def test_two_runtimes_within_the_noise_are_the_same() -> None:
    assert told([row("standard", 1.0), row("flash2", 1.004)]).clauses[0].verdict == "same"


@pytest.mark.parametrize("rounds", [1, 4, 5, 12])
def test_any_number_of_rounds_tells_a_tie_from_a_gap(rounds: int) -> None:
    def pair(standard_ms: float) -> Headline:
        return told([row("standard", standard_ms, rounds=rounds), row("flash2", rounds=rounds)])

    if rounds > 2:  # of fewer a point is doubtful
        assert [pair(ms).clauses[0].verdict for ms in (1.004, 2.0)] == ["same", "better"]
    else:
        assert not pair(2.0).timed
        assert RUNTIME not in [clause.quantity for clause in pair(2.0).clauses]


def test_of_kernels_that_are_as_fast_our_own_is_named() -> None:
    fast = [row("torch-flash", 1.0), row("flash3-b", 1.002), row("flash3", 1.004), row("flash2", 1.5)]
    assert told([row("standard", 9.0), *fast]).kernel == "flash3"


def test_a_kernel_that_rounds_its_inputs_is_not_named() -> None:
    assert told([row("standard", 9.0), row("flash3-fp8", 1.0), row("flash3", 2.0)]).kernel == "flash3"


def test_a_hidden_kernel_is_not_named() -> None:
    rows = [row("standard", 9.0), row("flash3", 1.0), row("flash2", 2.0)]
    assert told(rows, hidden={"flash3"}).kernel == "flash2"


@pytest.mark.parametrize("status", [one for one in STATUSES if one != "done"])
def test_a_point_that_is_not_done_is_not_named(status: PointStatus) -> None:
    found = told([row("standard", 2.0), row("flash2", 1.0, status=status), row("flash1", 3.0)])
    assert found.kernel == "flash1"


def test_a_doubtful_or_altered_point_is_not_named() -> None:
    doubtful = row("flash2", 1.0, rounds=2)
    assert doubtful.trust is not None
    assert doubtful.trust.word == "doubtful"
    altered = dataclasses.replace(row("flash3", 0.5), altered=True)
    assert told([row("standard", 2.0), doubtful, altered, row("flash1", 3.0)]).kernel == "flash1"


def test_a_kernel_sampled_apart_when_the_turns_were_broken_off_is_not_called_faster() -> None:
    base, apart = row("standard", 2.0), row("flash2", 1.0)
    assert apart.measurement is not None
    note = broken_off("The worker was killed.")
    apart = apart.with_measurement(replace(apart.measurement, note=note))
    found = told([base, apart])
    assert [clause.quantity for clause in found.clauses] == [FOOTPRINT]
    assert found.doubts == (("flash2", TURNS_BROKEN_OFF),)
    assert [one.kernel for one in told([apart, base], baseline="flash2").doubts] == ["flash2"]


def noisy(kernel: str, held: float, n: int = 1024) -> PointRow:
    """Done, with a runtime that nobody can trust."""
    made = row(kernel, 1.0, held=held, n=n, rounds=2)
    assert made.trust is not None
    assert made.trust.word == "doubtful"
    return made


def test_memory_is_said_where_no_runtime_can_be_trusted() -> None:
    found = told([noisy("standard", 62e6), noisy("flash1", 2e6), noisy("flash2", 1e6)])
    assert (found.kernel, found.baseline, found.timed, found.lost) == ("flash2", "standard", False, None)
    (memory,) = found.clauses
    assert (memory.quantity, memory.verdict, memory.factor) == (FOOTPRINT, "better", 62)


def test_memory_is_compared_with_a_baseline_whose_runtime_is_doubtful() -> None:
    found = told([noisy("standard", 62e6), row("flash2", 1.0, held=1e6)])
    memory, time = found.clauses
    assert (memory.quantity, memory.verdict, memory.factor) == (FOOTPRINT, "better", 62)
    assert (time.quantity, time.base) == (RUNTIME, None)
    assert found.timed
    assert found.lost is not None
    assert found.lost.why == "doubtful"


def test_what_is_sure_is_said_before_a_tie_of_runtimes() -> None:
    found = told([row("standard", 1.0, held=62e6), row("flash2", 1.004, held=1e6)])
    assert [(one.quantity, one.verdict) for one in found.clauses] == [
        (FOOTPRINT, "better"),
        (RUNTIME, "same"),
    ]
    equal = told([row("standard", 1.0, held=1e6), row("flash2", 1.004, held=1e6)])
    assert [one.quantity for one in equal.clauses] == [RUNTIME, FOOTPRINT]


def test_a_noisy_kernel_beside_a_baseline_that_is_not_leaves_its_memory() -> None:
    found = told([row("standard", 1.0, held=62e6), noisy("flash2", 1e6)])
    assert (found.kernel, found.timed, found.clauses[0].factor) == ("flash2", False, 62)


def test_a_baseline_that_was_refused_is_lost_here_and_nothing_is_compared() -> None:
    found = told([row("standard", status="will-not-fit"), row("flash2", 1.0)])
    assert found.lost is not None
    assert (found.lost.seqlen, found.lost.why) == (1024, "will-not-fit")
    assert all(clause.base is None for clause in found.clauses)


def test_the_next_length_at_which_the_baseline_was_refused_is_said() -> None:
    later = [row("standard", n=n, status="oom") for n in (4096, 2048)]
    found = told([row("standard", 2.0), row("flash2", 1.0), *later])
    assert found.lost is not None
    assert (found.lost.seqlen, found.lost.why) == (2048, "oom")


@pytest.mark.parametrize("status", ["failed", "cancelled", "unsupported", "pending"])
def test_a_longer_length_is_lost_only_to_memory(status: PointStatus) -> None:
    rows = [row("standard", 2.0), row("flash2", 1.0), row("standard", n=2048, status=status)]
    assert told(rows).lost is None


def test_a_baseline_alone_is_named_beside_nothing() -> None:
    found = told([row("standard", 2.0), row("flash2", status="failed")])
    assert (found.kernel, found.baseline, found.clauses[0].base) == ("standard", "", None)


def test_nothing_is_said_before_a_point_has_ended() -> None:
    assert headline([row("standard", status="running"), row("flash2", status="pending")], 1024, None) is None
    assert headline([], None, None) is None


def test_where_no_figure_counts_no_kernel_is_named() -> None:
    found = told([row("standard", status="oom"), row("flash2", status="wrong")])
    assert not found.kernel
    assert found.lost is not None
    assert found.lost.why == "oom"


def test_the_quantity_on_show_is_said() -> None:
    rows = [row("standard", 2.0, held=8e9), row("flash2", 1.0)]
    shown: Mapping[tuple[Quantity, ...], list[Quantity]] = {
        (FOOTPRINT,): [FOOTPRINT],
        (SPEEDUP, THROUGHPUT): [RUNTIME],
        (FOOTPRINT, THROUGHPUT, QUANTITIES["max-error"]): [RUNTIME, FOOTPRINT],
        (QUANTITIES["tile_io_bytes"],): [RUNTIME, FOOTPRINT],  # worked out, not measured
        (QUANTITIES["sm_clock_mhz"],): [RUNTIME, FOOTPRINT],  # neither way is better
    }
    for quantities, said in shown.items():
        assert [one.quantity for one in told(rows, quantities=quantities).clauses] == said


def test_figures_whose_spreads_meet_are_the_same_and_without_a_spread_nothing_is_told() -> None:
    def energy(kernel: str, *ends: float | None) -> PointRow:
        made = row(kernel, 2.0 if kernel == "standard" else 1.0)
        assert made.measurement is not None
        figure = Figure(value=ends[0], low=ends[1], high=ends[2])
        made.measurement.figures["energy_mj"] = figure
        return made

    quantity = QUANTITIES["energy_mj"]
    cases = [((9.0, 8.0, 10.0), "same"), ((4.0, 3.0, 5.0), "better"), ((4.0, None, None), None)]
    for ends, verdict in cases:
        rows = [energy("standard", 9.0, 8.5, 9.5), energy("flash2", *ends)]
        assert told(rows, quantities=[quantity]).clauses[0].verdict == verdict


POINTS = st.builds(
    row,
    kernel=st.sampled_from(NAMES),
    ms=st.floats(1e-3, 1e3),
    held=st.none() | st.floats(0, 1e12),
    n=st.sampled_from([512, 1024, 2048]),
    status=st.sampled_from(["done"] * 6 + [*STATUSES]),
    backend=st.sampled_from(["cuda", "cpu"]),
    rounds=st.integers(0, 12),
)


@given(st.lists(POINTS, max_size=12), st.sampled_from(NAMES))
def test_nothing_is_claimed_of_drawn_points_that_was_not_measured(
    rows: list[PointRow], baseline: str
) -> None:
    found = headline(rows, 1024, baseline)
    here = {one.kernel: one for one in rows if one.seqlen == 1024}
    if found is None:
        assert all(one.status in {"pending", "running"} for one in here.values())
        return
    if found.kernel:
        named = here[found.kernel]
        assert named.done
        counts = named.trust is not None and named.trust.word != "doubtful"
        assert found.timed == (counts and has_rounds(named))
        assert found.kernel != "flash3-fp8" or baseline == "flash3-fp8"
    for clause in found.clauses:
        assert (clause.verdict is None) == (clause.base is None)
        assert clause.factor >= 1
        if clause.base is not None:
            base = here[baseline]
            assert base.done
            trusted = base.trust is not None and base.trust.word != "doubtful"
            assert trusted or clause.quantity.exact
    if found.lost is not None:
        assert found.lost.seqlen >= 1024
        lost = next(
            one for one in reversed(rows) if (one.kernel, one.seqlen) == (baseline, found.lost.seqlen)
        )
        assert found.lost.why in {lost.status, "doubtful"}


@given(st.lists(POINTS, max_size=8))
def test_changing_places_of_kernels_turns_a_drawn_verdict_round(rows: list[PointRow]) -> None:
    found = headline(rows, 1024, "standard", [RUNTIME])
    if found is None or not found.clauses or found.clauses[0].base is None:
        return
    here = {one.kernel: one for one in rows if one.seqlen == 1024}
    pair = [here["standard"], here[found.kernel]]
    back = headline(pair, 1024, found.kernel, [RUNTIME])
    if back is None or back.kernel != "standard":
        return
    turned = {"better": "worse", "worse": "better", "same": "same"}
    assert back.clauses[0].verdict == turned[found.clauses[0].verdict or "same"]


def on_a_cpu(kernel: str, ms: float = 1.0, held: float = 1e6) -> PointRow:
    problem = Problem(seqlen_q=1024, seqlen_k=1024, heads=2, head_dim=64, dtype="float32")
    made = row(kernel, ms, held=held, backend="cpu")
    return dataclasses.replace(made, point=Point(index=0, kernel=kernel, problem=problem), cache_bytes=2**20)


def rates(**figures: float) -> Ceilings:
    return Ceilings(rates={key: Ceiling(figure=Figure(value=value)) for key, value in figures.items()})


def test_on_a_cpu_memory_is_said_before_time() -> None:
    pair = [on_a_cpu("standard", 1.5, held=18e6), on_a_cpu("flash2", 1.0)]
    assert [one.quantity for one in told(pair).clauses] == [FOOTPRINT, RUNTIME]
    again = [dataclasses.replace(one, backend="cuda") for one in pair]
    assert [one.quantity for one in told(again).clauses] == [RUNTIME, FOOTPRINT]


def test_on_a_cpu_what_a_tiled_kernel_spares_is_computed_from_the_rates_of_that_cpu() -> None:
    pair = [on_a_cpu("standard", 9.0, held=18e6), on_a_cpu("flash2", 10.0)]
    found = told(pair, ceilings={1: rates(copy_gbs=50.0, matmul_float32_tflops=0.12)}).spared
    assert found is not None
    assert found.matrices_bytes == 2 * 2 * 1024 * 1024 * 4  # S and P of two heads
    assert found.products_ms == pytest.approx(4 * 64 * 2 * 1024**2 / 0.12e12 * 1e3)
    moved = [compulsory(one).value for one in pair]
    assert moved[0] is not None
    assert moved[1] is not None
    assert found.traffic_ms == pytest.approx((moved[0] - moved[1]) / 50e9 * 1e3)
    assert told(pair).spared == Spared(found.matrices_bytes), "no rates were measured"


def test_nothing_is_spared_beside_a_baseline_that_holds_no_matrices() -> None:
    assert told([on_a_cpu("flash1", 9.0), on_a_cpu("flash2")], baseline="flash1").spared is None
    assert told([row("standard"), row("flash2")]).spared is None, "a GPU shows it in its times"


def test_what_a_kernel_of_ones_own_spares_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_OWN", {})
    own = OwnKernel(
        name="mine",
        path="/mine.py",
        sha256=64 * "0",
        function="attend",
        backends=("cpu",),
        dtypes=("float32",),
    )
    admit((own,))
    found = told([on_a_cpu("standard", 9.0), on_a_cpu("mine")])
    assert found.kernel == "mine"
    assert found.spared is None


def test_the_baseline_is_the_plans_in_whatever_order_its_points_were_measured() -> None:
    made = shuffled()
    measured = rows_of(made)
    assert measured[0].kernel != made.plan.kernels[0]
    found = of_curve(made, measured)
    assert found is not None
    assert found.baseline == metadata(made)["baseline"] == made.plan.kernels[0]
