"""What more GPUs reached, beside a model of the rates that fewer took for the same."""

from typing import Any

import pytest

from flashscope.profiles.results.model.ranks import (
    best_of,
    efficiency_of,
    forecasts,
    modelled,
    passes_of,
    rate_share,
    rates_of,
)
from tests.profiles.rank_results import measured, on_four, result


def test_what_four_reached_stands_beside_the_model_of_the_rates_of_two() -> None:
    (found,) = modelled([result(on_four()), result(measured())])
    assert (found.told.measured, found.base.measured) == (on_four(), measured())
    rates, said = rates_of(measured()), found.found
    assert rates is not None
    assert said.ranks == len(on_four().ranks)
    assert said.seconds == pytest.approx(measured().flops / rates.flops_s / 4, rel=1e-3)
    assert found.off == pytest.approx(110 / (4 * 32) - said.efficiency)


def test_the_fewest_are_the_base_of_all_and_of_what_was_measured_twice_the_newest_counts() -> None:
    three = measured(devices=(0, 1, 2), ms=(42.0,), ranks=(*measured().ranks, measured().ranks[0]))
    again = measured(ms=(58.0,))
    found = modelled([result(one) for one in (measured(), three, on_four(), again)])
    assert [len(one.told.measured.ranks) for one in found] == [3, 4]
    assert all(one.base.measured is again for one in found)


@pytest.mark.parametrize(
    "other",
    [
        result(on_four(), scheme="ring"),
        result(on_four(), seqlen_q=1 << 17, seqlen_k=1 << 17),
        result(on_four(), causal=False),
        result(on_four(passes="backward")),
        result(on_four(alone_ms=(), alone_missing="It was not asked for.")),
        result(measured(devices=(0, 0, 1, 1), ranks=2 * measured().ranks)),
    ],
)
def test_what_is_not_the_same_or_has_no_efficiency_has_no_model_beside_it(other: Any) -> None:
    assert modelled([result(measured()), other]) == []


def test_inputs_of_another_seed_and_passes_asked_for_together_are_the_same() -> None:
    assert (
        len(modelled([result(measured(), passes="forward"), result(on_four(), passes="both", seed=7)])) == 1
    )


def test_a_model_of_more_gpus_than_share_the_sequence_is_left_out() -> None:
    (told,) = passes_of([result(measured(), seqlen_q=600, seqlen_k=600)])
    assert efficiency_of(told.measured)
    assert [one.found.ranks for one in forecasts([result(measured(), seqlen_q=600, seqlen_k=600)])] == [8, 64]


def test_of_what_was_measured_twice_the_newest_is_the_best_of_its_scheme_and_not_the_luckiest() -> None:
    lucky, again, ring = measured(ms=(56.0,)), measured(ms=(60.0,)), measured(ms=(90.0,))
    best = best_of(passes_of([result(lucky), result(again), result(ring, scheme="ring")]))
    assert best is not None
    assert best.measured is again


def test_without_a_time_alone_a_rank_is_compared_with_the_rate_of_one_gpu_at_the_longest_n() -> None:
    missing = {"alone_ms": (), "alone_missing": "It has no room."}
    (told,) = passes_of([result(measured(**missing), seqlen_q=1 << 18, seqlen_k=1 << 18)])
    twice: dict[str, Any] = {"seqlen_q": 1 << 17, "seqlen_k": 1 << 17}
    timed = [
        result(measured()),
        result(measured(alone_ms=(500.0,)), scheme="ring", **twice),
        result(measured(alone_ms=(440.0,)), **twice),
    ]
    found = rate_share(told, passes_of([*timed, result(measured(), causal=False, seqlen_q=1 << 19)]))
    assert found is not None
    assert found.longest.measured.alone_ms == (440.0,)
    assert found.share == pytest.approx(440 / (2 * 60))
    assert rate_share(told, passes_of([result(measured(), causal=False)])) is None
    assert rate_share(passes_of(timed)[0], passes_of(timed)) is None
