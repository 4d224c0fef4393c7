"""What the page says of comparisons of several runs is what runs on an H100 show, drawn without overlap."""

from collections.abc import Iterable

import numpy as np
import pytest

from flashscope.profiles.results.statistics.bootstrap import (
    DRAWN,
    FEWEST,
    LEAST_ROUNDS,
    MOST_ROUNDS,
    RESAMPLES,
    resamples_of,
)
from tests.profiles.results.compare.test_run_rates import A_SIDE, H100, H100_PLAN, drawn, pairs
from tests.texts.pages import says, table_after

PAGE = "profiles/README.md"
LENGTHS = {"512": {512}, "1k": {1024}, "2k to 8k": {2048, 4096, 8192}}
DRAWS = 100
POINTS = H100_PLAN.points()
MEDIANS_US = 1000 * np.median(H100["ms"].astype(float), axis=(0, 2))


def span(values: Iterable[float], text: str) -> str:
    """The least and the largest, or the only one."""
    ends = sorted(
        {format(value, text) for value in values}, key=lambda one: float(one.strip("%").replace(",", ""))
    )
    return " to ".join(dict.fromkeys((ends[0], ends[-1])))


def takes(lengths: set[int], *, flash1: bool) -> str:
    """How long launches take of `flash1`, or of the others."""
    chosen = (
        us
        for point, us in zip(POINTS, MEDIANS_US, strict=True)
        if point.problem.seqlen_q in lengths and (point.kernel == "flash1") is flash1
    )
    return f"{span(chosen, ',.0f')} µs"


@pytest.mark.matrix
def test_the_least_change_that_is_found_on_an_h100_is_what_the_page_says() -> None:
    told = np.median(
        [[pair.detectable or 0 for pair in pairs(*sides)] for sides in drawn("h100", DRAWS)], axis=0
    )
    least = {
        name: [one for point, one in zip(POINTS, told, strict=True) if point.problem.seqlen_q in lengths]
        for name, lengths in LENGTHS.items()
    }
    assert table_after(PAGE, "**Which launches show a small change.**") == [
        [name, takes(lengths, flash1=False), takes(lengths, flash1=True), span(least[name], ".1%")]
        for name, lengths in LENGTHS.items()
    ]
    assert {(point.problem.head_dim, point.problem.heads) for point in POINTS} == {(64, 16)}
    shortest = min(us for point, us in zip(POINTS, MEDIANS_US, strict=True) if point.problem.seqlen_q >= 2048)
    assert max(least["2k to 8k"]) < 0.02 < max(least["1k"])
    says(PAGE, f"the median of {DRAWS} draws", f"in launches of {shortest:.0f} µs and more")


@pytest.mark.matrix
def test_comparisons_of_runs_on_an_h100_err_as_seldom_as_the_page_says() -> None:
    count = 1000
    false = sum(any(pair.better is not None for pair in pairs(*sides)) for sides in drawn("h100", count))
    assert A_SIDE == 5
    says(
        PAGE,
        f"Of {len(H100['ms'])} runs on an H100",
        f"{count:,} such comparisons had {false} false verdicts",
    )


def test_the_bootstrap_draws_as_much_as_the_page_says() -> None:
    most = max(rounds for rounds in range(LEAST_ROUNDS, MOST_ROUNDS) if resamples_of(rounds) == RESAMPLES)
    says(
        PAGE,
        f"{RESAMPLES:,} resamples of the rounds. Its time is bounded: above {most} rounds there are fewer",
        f"{DRAWN / 1e6:.1f} million numbers are drawn for an interval, but {FEWEST:,} at least",
        f"of more than {MOST_ROUNDS:,} rounds as many are taken",
    )
