"""The figures on the page about several ranks are those of the bundled recording."""

from statistics import median

import pytest

from flashscope.app.words.ranks import points_text
from flashscope.app.words.units import bytes_text
from flashscope.profiles.results.model.ranks import (
    ModelledPass,
    RanksPass,
    efficiency_of,
    held_of,
    modelled,
    passes_of,
    rate_share,
    rates_of,
)
from tests.texts.figures import session_of
from tests.texts.pages import says, table_after

PAGE = "kernels/context_parallel/README.md"
SCHEMES = ("ring", "zigzag", "all-gather", "ulysses")


TABLES = {
    "h100-ranks": "**Measured** on H100s",
    "h100-ranks-long": "**Longer, and without a mask**",
    "h100-ranks-512k": "**Backward at 512k, what was left of it**",
}


def recorded(name: str = "h100-ranks") -> list[RanksPass]:
    return passes_of(session_of(name).ranks)


def beside_a_model() -> list[ModelledPass]:
    return modelled(session_of("h100-ranks").ranks)


def where(told: RanksPass) -> tuple[str, str, str]:
    """The first cells of a pass: which it is, on how many GPUs, at which N."""
    asked, one = told
    mask = "causal" if asked.problem.causal else "no mask"
    return f"{one.passes}, {mask}", str(len(one.ranks)), f"{asked.problem.seqlen >> 10}k"


@pytest.mark.parametrize("name", TABLES)
def test_the_table_has_every_efficiency_that_was_recorded(name: str) -> None:
    found = {}
    for one in recorded(name):
        share = efficiency_of(one.measured)
        if share is not None:
            key = (*where(one), one.asked.scheme)
            found[key] = f"{share:.1%}"
    told = {
        (*place, scheme): cell
        for *place, ring, zigzag, gathered, traded in table_after(PAGE, TABLES[name])
        for scheme, cell in zip(SCHEMES, (ring, zigzag, gathered, traded), strict=True)
        if cell
    }
    assert told == found


def test_all_that_was_recorded_is_right_and_zigzag_hides_its_transfers_forward() -> None:
    assert all(one.passed for name in TABLES for _, one in recorded(name))
    for asked, one in recorded():
        if asked.scheme == "zigzag" and one.passes == "forward":
            assert max(rank.exposed_ms for rank in one.ranks) < 0.001 * median(one.ms)


def test_the_longest_sequences_are_told_with_their_times_and_memory() -> None:
    (longest,) = (one for one in recorded() if one.asked.problem.seqlen == 1024 << 10)
    share = efficiency_of(longest.measured)
    assert share is not None
    says(
        PAGE,
        f"1024k tokens on four GPUs in {median(longest.measured.ms) / 1e3:.2f} s, {share:.1%} of four times",
        f"and a rank holds {bytes_text(held_of(longest.measured))}. On other",
    )
    four, two = passes_of(session_of("h100-ranks-longest").ranks)
    assert (four.asked.problem.seqlen, two.asked.problem.seqlen) == (2048 << 10, 1024 << 10)
    assert four.measured.passed
    assert two.measured.passed
    says(
        PAGE,
        f"in {median(four.measured.ms) / 1e3:.1f} s, each at {rank_tflops(four):.0f} TFLOP/s, "
        f"and a rank holds {bytes_text(held_of(four.measured))}",
        f"1024k on two in {median(two.measured.ms) / 1e3:.2f} s, each at {rank_tflops(two):.0f}",
    )


def test_what_a_long_backward_pass_waits_for_is_told() -> None:
    (zigzag,) = (
        one
        for one in recorded("h100-ranks-long")
        if where(one) == ("backward, causal", "4", "512k") and one.asked.scheme == "zigzag"
    )
    exposed = max(rank.exposed_ms for rank in zigzag.measured.ranks)
    says(PAGE, f"waits for {exposed:.1f} ms of zigzag's transfers of {median(zigzag.measured.ms):,.0f} ms")


def test_a_pass_without_one_gpu_beside_it_is_told_by_its_ranks_rate() -> None:
    passes = recorded("h100-ranks-512k")
    (without,) = (one for one in passes if not one.measured.alone_ms)
    assert without.asked.scheme == "all-gather"
    shared = rate_share(without, passes)
    assert shared is not None
    says(PAGE, f"reaches {shared.flops_s / 1e12:.0f} TFLOP/s, {shared.share:.1%} of what one GPU does")


def rank_tflops(told: RanksPass) -> float:
    """What a rank computes a second, transfers and all."""
    return told.measured.flops / median(told.measured.ms) / 1e9 / len(told.measured.ranks)


def test_a_share_of_more_than_all_is_told_with_the_rates_of_both() -> None:
    (zigzag,) = (
        one
        for one in recorded()
        if where(one) == ("forward, no mask", "4", "256k") and one.asked.scheme == "zigzag"
    )
    rates, alone = rates_of(zigzag.measured), zigzag.measured
    assert rates is not None
    says(
        PAGE,
        f"reaches {rates.flops_s / 1e12:.0f} there where the GPU alone reaches "
        f"{alone.flops / median(alone.alone_ms) / 1e9:.0f}",
    )


def test_every_pass_that_fewer_gpus_did_stands_beside_the_model_of_their_rates() -> None:
    found = [
        [
            *(*where(one.told), one.told.asked.scheme, f"{efficiency_of(one.told.measured):.1%}"),
            *(f"{one.found.efficiency:.1%}", f"{points_text(one.off)} pp"),
        ]
        for one in beside_a_model()
    ]
    assert {len(one.base.measured.ranks) for one in beside_a_model()} == {2}
    assert table_after(PAGE, "**Beside a model.**") == found


def test_what_the_model_leaves_out_is_told_with_the_rates_of_two_and_of_four() -> None:
    (zigzag,) = (
        one
        for one in beside_a_model()
        if where(one.told) == ("forward, causal", "4", "64k") and one.told.asked.scheme == "zigzag"
    )
    two, four = rates_of(zigzag.base.measured), rates_of(zigzag.told.measured)
    assert two is not None
    assert four is not None
    says(
        PAGE,
        f"at {two.link_bytes_s / 1e9:.0f} GB/s on two and at {four.link_bytes_s / 1e9:.0f} GB/s on four",
        f"products at {two.flops_s / 1e12:.0f} and {four.flops_s / 1e12:.0f} TFLOP/s",
    )
