"""Forecasts: told from measured points, with an error that holds, or not at all."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.planner.forecast import Forecast, forecast
from flashscope.profiles.store import load
from flashscope.profiles.wire.measurement import Measurement, Sample

SESSIONS = Path(__file__).parents[4] / "assets" / "sessions"


def problem(seqlen: int, **fields: object) -> Problem:
    chosen = {"heads": 8, "head_dim": 64, "dtype": "float16", **fields}
    return Problem(seqlen_q=seqlen, seqlen_k=seqlen, **chosen)  # type: ignore[arg-type]


def row(at: Problem, ms: float, kernel: str = "flash2", spread: float = 0.0) -> PointRow:
    samples = tuple(Sample(ms * (1 + spread * k)) for k in (-2, -1, 0, 1, 2))
    return PointRow(
        point=Point(index=0, kernel=kernel, problem=at),
        backend="cuda",
        status="done",
        reason="",
        predicted_bytes=0,
        sampling_ns=None,
        measurement=Measurement(samples=samples, timer="events", cold=True),
    )


def told(points: Sequence[PointRow], at: Problem, kernel: str = "flash2") -> Forecast:
    found = forecast(points, kernel, at)
    assert isinstance(found, Forecast)
    return found


def quadratic(spread: float = 0.0) -> list[PointRow]:
    return [row(problem(n), 1e-6 * n * n, spread=spread) for n in (1024, 2048, 4096)]


def test_points_that_grow_with_n_squared_forecast_just_that() -> None:
    found = told(quadratic(), problem(65_536))
    assert found.ms == pytest.approx(1e-6 * 65_536**2)
    assert found.low == pytest.approx(found.ms)
    assert found.high == pytest.approx(found.ms)
    assert (found.seqlen, found.measured, found.differs) == (4096, "d 64, no mask", ())


def test_batch_and_heads_multiply_and_a_causal_mask_halves() -> None:
    doubled = told(quadratic(), problem(4096, batch=2, heads=16))
    causal = told(quadratic(), problem(4096, causal=True))
    assert doubled.ms == pytest.approx(4 * 1e-6 * 4096**2)
    assert causal.ms == pytest.approx(0.5 * 1e-6 * 4096**2, rel=1e-3)
    assert causal.differs == ("no mask in place of causal",)
    assert doubled.differs == ("batch 1 in place of batch 2", "8 in place of 16 heads")


def test_heads_that_share_keys_are_a_difference() -> None:
    found = told(quadratic(), problem(4096, kv_heads=2))
    assert found.differs == ("1 in place of 4 query heads a K/V head",)


def test_an_error_of_more_than_half_is_no_forecast_but_a_reason() -> None:
    points = [row(problem(n), 1e-6 * n ** (2 + k)) for k, n in enumerate((1024, 2048, 4096))]
    found = forecast(points, "flash2", problem(8192))
    assert isinstance(found, str)
    assert found.startswith("the nearest point of flash2, at N = 4096, is too far: the error would be ")


def test_the_quartiles_are_part_of_the_error() -> None:
    found = told(quadratic(spread=0.1), problem(4096))
    assert found.high == pytest.approx(1.1 * found.ms)


def test_a_rate_that_drifts_widens_the_error_with_every_doubling() -> None:
    points = [
        row(problem(n), 1e-6 * n ** (2 + drift)) for n, drift in ((1024, 0.0), (2048, 0.01), (4096, 0.02))
    ]
    errors = [found.high / found.ms for n in (8192, 16_384) if (found := told(points, problem(n))).high]
    assert 1.05 < errors[0] < errors[1]


def test_one_point_alone_says_nothing_of_the_error() -> None:
    found = told(quadratic()[:1], problem(4096))
    assert (found.low, found.high) == (None, None)


def test_the_nearest_shape_is_taken_and_what_differs_is_told() -> None:
    points = [row(problem(4096, head_dim=d), float(d)) for d in (32, 128)]
    found = told(points, problem(4096, head_dim=96, dtype="bfloat16"))
    assert found.measured == "d 128, no mask"
    assert found.differs == ("float16 in place of bfloat16", "d 128 in place of d 96")


def test_standard_grows_with_the_bytes_of_s_and_p_not_with_the_head_dim() -> None:
    points = [row(problem(n), 1e-6 * n * n, "standard") for n in (8192, 16_384)]
    found = told(points, problem(16_384, head_dim=128), "standard")
    assert found.ms == pytest.approx(1e-6 * 16_384**2, rel=0.02)


def test_points_of_fewer_query_rows_say_nothing_of_whole_problems() -> None:
    decoding = [row(replace(problem(n), seqlen_q=1), 1e-3 * n) for n in (1024, 2048, 4096)]
    told_why = forecast(decoding, "flash2", problem(8192))
    assert told_why == "flash2 was measured with another pass, or other query rows, lengths or pages"
    assert told([*decoding, *quadratic()], problem(8192)).ms == pytest.approx(1e-6 * 8192**2)


def test_a_point_whose_mask_keeps_nothing_has_no_rate_to_forecast_by() -> None:
    nothing = BlockMask.random(512, 512, block_q=64, block_k=64, kept_share=0.0, seed=1)
    empty = problem(512, block_mask=nothing)
    for kernel in ("flash2", "standard"):
        made = row(empty, 1.0, kernel)
        assert forecast([made], kernel, problem(1024)) == f"no measured point of {kernel}"


def test_without_a_done_point_of_the_kernel_there_is_no_forecast_but_a_reason() -> None:
    failed = [PointRow(**{**vars(one), "status": "wrong"}) for one in quadratic()]
    for points in ([], failed, quadratic()):
        kernel = "flash3" if points and points[0].done else "flash2"
        assert forecast(points, kernel, problem(8192)) == f"no measured point of {kernel}"


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=4), st.integers(1, 1 << 24)
)
def test_whatever_times_a_file_holds_a_forecast_is_a_number_or_a_reason(
    times: list[float], tokens: int
) -> None:
    points = [row(problem(64 << k), ms) for k, ms in enumerate(times)]
    found = forecast(points, "flash2", problem(tokens))
    assert isinstance(found, str) or found.ms >= 0


@pytest.mark.parametrize("name", ["h200-peers", "h200-standard-flash2"])
def test_every_last_point_of_a_recording_is_within_the_error_of_its_forecast_from_the_others(
    name: str,
) -> None:
    measured = [one for one in rows(load(SESSIONS / f"{name}.flashscope")) if one.done]
    for kernel in ("standard", "flash1", "flash2", "flash3"):
        for members in by_curve([one for one in measured if one.kernel == kernel]).values():
            last = max(members, key=lambda one: one.seqlen)
            found = forecast([one for one in members if one is not last], kernel, last.problem)
            if isinstance(found, str):  # its rate drifts by more than half a doubling
                assert kernel == "flash1"
                continue
            assert last.times
            assert found.low is not None
            assert found.high is not None
            assert found.low <= last.times.median <= found.high, (kernel, last.problem)


def test_a_seed_is_no_shape() -> None:
    found = told(quadratic(), replace(problem(4096), seed=3))
    assert found.differs == ()
