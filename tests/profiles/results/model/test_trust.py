"""Trust: each rule makes of a point what the table in its docstring says, and a good point is solid."""

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.app.control.bundled import AUDITS, bundled_sessions
from flashscope.profiles.engine.batches import broken_off
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.trust import WORDS, Trust, Word, trust_of
from flashscope.profiles.store import load
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, Sample

NAN, INF = math.nan, math.inf
CHECKED = Correctness(outputs=(), rows=1, passed=True)
BRIEF_MS = 0.03  # up to here the microsecond by which launches differ is no small part
STEADY = (1.0, 1.01, 0.99, 1.0, 1.02, 1.0, 0.98, 1.01, 1.0, 0.99)


def point(times: Sequence[float] = STEADY, **figures: Figure) -> Measurement:
    return Measurement(
        timer="CUDA events",
        cold=True,
        correctness=CHECKED,
        samples=tuple(Sample(ms, sm_clock_mhz=1800.0) for ms in times),
        figures=figures,
    )


def clocked(*mhz: float) -> Measurement:
    samples = tuple(
        Sample(ms, sm_clock_mhz=clock) for ms, clock in zip(STEADY, [*mhz, *[mhz[0]] * 8], strict=True)
    )
    return replace(point(), samples=samples)


def rejected(count: int) -> Measurement:
    left_out = tuple(Sample(1.0, "throttled: hardware slowdown") for _ in range(count))
    return replace(point(), samples=(*point().samples, *left_out))


def share(value: float, words: str) -> Figure:
    return Figure(value=value, source=f"NVML after each sample: {words}")


def heat(least: float, most: float) -> Figure:
    return Figure(value=(least + most) / 2, low=least, high=most)


def energy(off: float) -> Figure:
    return Figure(value=100.0, low=100.0 * (1 - off), high=100.0 * (1 + off))


CASES: dict[str, tuple[Measurement, Word, str]] = {
    "no energy at all": (point(energy_mj=Figure(value=0.0, low=0.0, high=0.5)), "fair", "given as 0 mJ"),
    "less than no energy": (
        point(energy_mj=Figure(value=-5.0, low=-6.0, high=-4.0)),
        "fair",
        "given as -5 mJ",
    ),
    "an energy that is none": (point(energy_mj=Figure(value=NAN, low=NAN, high=NAN)), "solid", ""),
    "ends the wrong way round": (
        point(energy_mj=Figure(value=100.0, low=110.0, high=90.0)),
        "fair",
        "leave it to 10%",
    ),
    "a clock without end": (clocked(1800.0, INF), "solid", ""),
    "a heat that is none": (point(temperature_c=Figure(value=NAN, low=NAN, high=INF)), "solid", ""),
    "a share that is none": (point(slowed=Figure(value=NAN)), "solid", ""),
    "others by a count of no whole type": (
        point(other_processes=Figure(value=2.0)),
        "fair",
        "2 other processes on the GPU",
    ),
    "steady samples": (point(), "solid", ""),
    "turns that were broken off": (
        replace(point(), note=f"a note · {broken_off('The worker was killed.')}"),
        "doubtful",
        "sampled apart, as the turns",
    ),
    "alone for want of memory": (
        replace(point(), note="Sampled alone: with the other kernels beside it 9 GiB would be held."),
        "solid",
        "",
    ),
    "five samples": (point(STEADY[:5]), "solid", ""),
    "four samples": (point(STEADY[:4]), "fair", "only 4 samples"),
    "two samples": (point(STEADY[:2]), "doubtful", "only 2 samples"),
    "one outlier": (point((*STEADY[:9], 9.0)), "solid", ""),
    "two outliers": (point((*STEADY[:8], 9.0, 30.0)), "fair", "2 of 10 samples are more than 20% off"),
    "a drift": (point([1 + 0.01 * k for k in range(10)]), "fair", "drift: later samples are 4.9% longer"),
    "a steep drift": (point([1 + 0.04 * k for k in range(10)]), "doubtful", "drift: later samples are 18"),
    "a drift down": (point([1 - 0.01 * k for k in range(10)]), "fair", "shorter"),
    "a few slower ones": (
        point((1, 1.01, 1.1, 1, 1, 1.01, 1.1, 1, 1, 1)),
        "fair",
        "two groups of samples: 1 ms (8) and 1.1 ms (2)",
    ),
    "bimodal samples": (point((1, 1.1) * 5), "doubtful", "two groups of samples: 1 ms (5) and 1.1 ms (5)"),
    "a wide spread": (point((1, 1.04, 1.02, 1.07, 1.1, 1.12, 1.05, 1.0, 1.09, 1.03)), "fair", "spread of"),
    "a very wide spread": (point((1, 2, 1.5, 1.2, 1.8, 1.1, 1.9, 1.4, 1.6, 1.3)), "doubtful", "spread of"),
    "a steady clock": (clocked(1800, 1700), "solid", ""),
    "a clock that moves": (clocked(1800, 1500), "fair", "the SM clock ran from 1500 to 1800 MHz"),
    "a clock that leaps": (clocked(1800, 900), "doubtful", "the SM clock ran from 900 to 1800 MHz"),
    "one rejected of eleven": (rejected(1), "solid", ""),
    "some rejected": (rejected(3), "fair", "23.1% of the samples rejected: throttled: hardware slowdown (3)"),
    "most rejected": (rejected(30), "doubtful", "75% of the samples rejected"),
    "warm": (point(temperature_c=heat(60, 70)), "solid", ""),
    "hot": (point(temperature_c=heat(80, 86)), "fair", "the GPU was at 86 °C"),
    "warming up": (point(temperature_c=heat(40, 58)), "fair", "the GPU went from 40 to 58 °C"),
    "nothing slowed it down": (point(slowed=share(0.0, "none"), capped=share(0.0, "none")), "solid", ""),
    "slowed once": (
        point(slowed=share(0.1, "hardware slowdown 1 of 10")),
        "fair",
        "slowed down: hardware slowdown 1 of 10",
    ),
    "throttled": (
        point(slowed=share(0.6, "software thermal slowdown 6 of 10")),
        "doubtful",
        "slowed down: software thermal slowdown 6 of 10",
    ),
    "capped now and then": (point(capped=share(0.4, "software power cap 4 of 10")), "solid", ""),
    "capped by power": (
        point(capped=share(0.9, "software power cap 9 of 10")),
        "fair",
        "clocks held back: software power cap 9 of 10",
    ),
    "alone on the GPU": (point(other_processes=Figure(value=0)), "solid", ""),
    "not alone": (point(other_processes=Figure(value=2)), "fair", "2 other processes on the GPU"),
    "others unknown": (point(other_processes=Figure(missing="not shown")), "solid", ""),
    "energy between many steps": (point(energy_mj=energy(0.02)), "solid", ""),
    "energy between few steps": (
        point(energy_mj=energy(0.2)),
        "fair",
        "the energy counter's steps leave it to 20%",
    ),
    "energy unknown": (point(energy_mj=Figure(missing="no counter")), "solid", ""),
    "suspected": (
        point(suspected=Figure(value=1, source="it took 1 ms with inputs it had just had")),
        "doubtful",
        "it took 1 ms with inputs it had just had",
    ),
    "not compared": (replace(point(), correctness=None), "fair", "not compared with float64"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_makes_of_a_point_what_its_table_says(name: str) -> None:
    measurement, word, reason = CASES[name]
    trust = trust_of(measurement)
    assert trust is not None
    assert trust.word == word, trust
    assert any(reason in one for one in trust.reasons) if reason else not trust.reasons


@pytest.mark.parametrize("count", [10, 20, 30, 40, 50])
def test_exactly_a_tenth_of_the_samples_rejected_is_worth_a_word_however_many_there_are(count: int) -> None:
    left_out = tuple(Sample(1.0, "throttled: hardware slowdown") for _ in range(count // 10))
    kept = tuple(Sample(1.0) for _ in range(count - len(left_out)))
    trust = trust_of(replace(point(), samples=(*kept, *left_out)))
    assert trust is not None
    assert trust.word == "fair"
    assert trust.reasons[0].startswith("10% of the samples rejected")


def test_a_range_of_clocks_is_set_against_their_median_of_an_even_number_too() -> None:
    clocks = (1300.0,) * 5 + (1010.0,) * 5  # 25.1% of 1155 MHz, and 22.3% of 1300
    samples = tuple(Sample(ms, sm_clock_mhz=mhz) for ms, mhz in zip(STEADY, clocks, strict=True))
    trust = trust_of(replace(point(), samples=samples))
    assert trust is not None
    assert trust.word == "doubtful"


def test_a_wrong_output_is_doubtful_and_a_point_without_samples_has_no_word() -> None:
    wrong = replace(point(()), correctness=replace(CHECKED, passed=False))
    assert trust_of(wrong) == Trust("doubtful", ("its output failed the comparison with float64",))
    assert trust_of(point(())) is None


def test_the_gravest_reason_makes_the_word_and_stands_first() -> None:
    trust = trust_of(replace(point(STEADY[:2]), correctness=None))
    assert trust is not None
    assert (trust.word, trust.reasons) == (
        "doubtful",
        ("only 2 samples", "its output was not compared with float64"),
    )


@given(st.integers(0, 2**32), st.sampled_from([5, 10, 20, 100]))
def test_samples_that_scatter_by_one_percent_are_never_doubtful(seed: int, count: int) -> None:
    draws = random.Random(seed)  # noqa: S311 - not for secrets
    trust = trust_of(point([draws.gauss(1.0, 0.01) for _ in range(count)]))
    assert trust is not None
    assert trust.word != "doubtful"


ABSURD = st.floats() | st.just(0.0)


@given(st.lists(ABSURD, max_size=12), ABSURD, ABSURD)
def test_whatever_a_file_says_there_is_a_word_or_none(times: list[float], one: float, other: float) -> None:
    wild: dict[str, Any] = dict.fromkeys(
        ("slowed", "capped", "temperature_c", "other_processes", "energy_mj"),
        Figure(value=one, low=other, high=one),
    )
    trust = trust_of(point(times, **wild))
    assert trust is None or trust.word in WORDS


ALONE = [path for path in bundled_sessions() if path.stem not in AUDITS]  # those ran beside other work


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_of_the_bundled_recordings_hardly_a_point_is_doubtful_and_almost_all_are_solid(path: Any) -> None:
    trusts = [
        row.trust
        for row in rows(load(path))
        if row.trust is not None and row.times is not None and row.times.median > BRIEF_MS
    ]
    words = [trust.word for trust in trusts]
    assert words.count("doubtful") <= (path.stem in {"h100-peers", "h200-inside"})  # samples in two groups
    # Most by the power limit, the others of short runs: no rest.
    held_back = {
        "h200-traffic": 5,
        "h200-peers": 154,
        "h200-backward": 40,
        "h200-drawn": 40,
        "h200-inside": 12,
        "h100-peers": 264,
        "h100-thin": 4,
        "h100-backward": 40,
        "h100-drawn": 44,
        "h100-caches": 4,
    }
    assert words.count("solid") >= 0.98 * (len(words) - held_back.get(path.stem, 0))
