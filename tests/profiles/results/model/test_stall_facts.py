"""Numbers of a stall profile: shares add up, lines are the instructions' own, changes balance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from msgspec.structs import replace

from flashscope.kernels.workload.stalls import ISSUED, NO_LINE, StallProfile
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.results.model.stall_facts import StallFacts, changes
from tests.profiles.store import builders

KNOWN = builders.stalls()  # three instructions, three reasons


@st.composite
def profiles(draw: st.DrawFn) -> StallProfile:
    samples = draw(arrays(np.int32, (3, 3), elements=st.integers(0, 1000)))
    line = draw(arrays(np.int32, (3,), elements=st.integers(NO_LINE, 4)))
    return replace(
        KNOWN,
        samples=Array.of(samples),
        line=Array.of(line),
        idle=Array.of(samples[:, 1].astype(np.int32)),
    )


def test_the_counts_are_those_of_the_samples() -> None:
    facts = StallFacts.of(KNOWN)
    assert (facts.total, dict(facts.reasons)) == (20, {"barrier": 10, "wait": 7, ISSUED: 3})
    assert list(facts.reasons) == ["barrier", "wait", ISSUED], "most first"
    assert facts.lines == {7: {ISSUED: 3, "wait": 7, "barrier": 10}}
    assert (facts.most, facts.line_of("barrier"), facts.line_of("membar")) == ("barrier", (7, 1.0), None)
    assert (facts.issued, facts.idle) == (0.15, 0.6)
    assert facts.plain_ms == pytest.approx(0.001)
    assert facts.sampled == pytest.approx(1.02)


def test_a_warp_that_never_waits_has_no_reason() -> None:
    samples = np.zeros((3, 3), np.int32)
    samples[0, 0] = 9
    facts = StallFacts.of(replace(KNOWN, samples=Array.of(samples), idle=Array.of(samples[:, 1])))
    assert (facts.most, facts.issued, facts.share("barrier")) == ("", 1.0, 0.0)


def test_of_lines_with_as_many_samples_the_first_is_named() -> None:
    samples = np.array([[0, 5, 0], [0, 5, 0], [0, 0, 0]], np.int32)
    profile = replace(KNOWN, samples=Array.of(samples), line=Array.of(np.array([9, 4, 0], np.int32)))
    assert StallFacts.of(profile).line_of("wait") == (4, 0.5)


@given(profiles())
def test_every_sample_is_counted_once(profile: StallProfile) -> None:
    facts = StallFacts.of(profile)
    assert facts.total == sum(facts.reasons.values())
    assert facts.total == sum(sum(samples.values()) for samples in facts.instructions)
    lined = sum(sum(samples.values()) for samples in facts.lines.values())
    unlined = profile.samples.numpy()[profile.line.numpy() == NO_LINE].sum()
    assert lined + unlined == facts.total
    assert facts.total == 0 or sum(map(facts.share, facts.reasons)) == pytest.approx(1)


@given(profiles(), profiles())
def test_what_reasons_gain_others_lose_and_the_largest_change_comes_first(
    before: StallProfile, after: StallProfile
) -> None:
    facts = StallFacts.of(before), StallFacts.of(after)
    told = changes(*facts)
    sizes = [abs(one.change) for one in told]
    assert sizes == sorted(sizes, reverse=True)
    assert {one.reason for one in told} == set(facts[0].reasons) | set(facts[1].reasons)
    if all(one.total for one in facts):
        assert sum(one.change for one in told) == pytest.approx(0, abs=1e-12)
