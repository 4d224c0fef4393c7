"""The fastest of some points: one alone only where the rounds tell it from all others."""

import dataclasses

from flashscope.profiles.results.findings.fastest import fastest_of
from flashscope.profiles.results.model.rows import PointRow
from tests.profiles.results.findings.test_headline import row


def names(*rows: PointRow) -> set[str]:
    return {one.kernel for one in fastest_of(rows, {})}


def test_points_within_the_noise_of_the_fastest_are_all_the_fastest() -> None:
    assert names(row("standard", 9.0), row("flash1", 1.0), row("flash2", 1.004)) == {"flash1", "flash2"}
    assert names(row("standard", 9.0), row("flash1", 2.0), row("flash2", 1.0)) == {"flash2"}


def test_what_is_doubtful_altered_or_inexact_is_never_the_fastest() -> None:
    doubtful, rounded = row("flash1", 0.1, rounds=2), row("flash3-fp8", 0.1)
    altered = dataclasses.replace(row("flash3", 0.1), altered=True)
    impossible = dataclasses.replace(row("simt", 0.1), status="impossible")
    assert names(doubtful, rounded, altered, impossible, row("flash2", 1.0)) == {"flash2"}
    assert names(doubtful, row("standard", status="oom")) == set()
