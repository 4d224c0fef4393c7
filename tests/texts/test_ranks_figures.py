"""The figures on the page about several ranks are those of the bundled recording."""

from statistics import median

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


def recorded() -> list[RanksPass]:
    return passes_of(session_of("h100-ranks").ranks)


def beside_a_model() -> list[ModelledPass]:
    return modelled(session_of("h100-ranks").ranks)


def where(told: RanksPass) -> tuple[str, str, str]:
    """The first cells of a pass: which it is, on how many GPUs, at which N."""
    asked, one = told
    mask = "causal" if asked.problem.causal else "no mask"
    return f"{one.passes}, {mask}", str(len(one.ranks)), f"{asked.problem.seqlen >> 10}k"


def test_the_table_has_every_efficiency_that_was_recorded() -> None:
    found = {}
    for one in recorded():
        share = efficiency_of(one.measured)
        if share is not None:
            key = (*where(one), one.asked.scheme)
            found[key] = f"{share:.1%}"
    told = {
        (*place, scheme): cell
        for *place, ring, zigzag, gathered, traded in table_after(PAGE, "**Measured** on H100s")
        for scheme, cell in zip(SCHEMES, (ring, zigzag, gathered, traded), strict=True)
        if cell
    }
    assert told == found


def test_all_that_was_recorded_is_right_and_zigzag_hides_its_transfers_forward() -> None:
    assert all(one.passed for _, one in recorded())
    for asked, one in recorded():
        if asked.scheme == "zigzag" and one.passes == "forward":
            assert max(rank.exposed_ms for rank in one.ranks) < 0.001 * median(one.ms)


def test_the_longest_sequence_is_told_with_its_time_and_memory() -> None:
    (longest,) = (one for one in recorded() if one.asked.problem.seqlen == 2048 << 10)
    found = rate_share(longest, recorded())
    assert found is not None
    assert found.longest.asked.problem.seqlen == 256 << 10
    seconds, held = median(longest.measured.ms) / 1e3, bytes_text(held_of(longest.measured))
    says(
        PAGE,
        f"in {seconds:.1f} s, each at {found.flops_s / 1e12:.0f} TFLOP/s, {found.share:.1%} of what one does "
        f"at 256k, and a rank holds {held}",
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
    (zigzag,) = (one for one in beside_a_model() if one.told.asked.scheme == "zigzag")
    two, four = rates_of(zigzag.base.measured), rates_of(zigzag.told.measured)
    assert two is not None
    assert four is not None
    says(
        PAGE,
        f"at {two.link_bytes_s / 1e9:.0f} GB/s on two and at {four.link_bytes_s / 1e9:.0f} GB/s on four",
        f"products at {two.flops_s / 1e12:.0f} and {four.flops_s / 1e12:.0f} TFLOP/s",
    )
