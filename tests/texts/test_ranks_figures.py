"""The figures on the page about several ranks are those of the bundled recording."""

from statistics import median

from flashscope.app.words.units import bytes_text
from flashscope.profiles.results.model.ranks import RanksPass, efficiency_of, held_of, passes_of
from tests.texts.figures import session_of
from tests.texts.pages import says, table_after

PAGE = "kernels/context_parallel/README.md"
SCHEMES = ("ring", "zigzag", "all-gather", "ulysses")


def recorded() -> list[RanksPass]:
    return passes_of(session_of("h100-ranks").ranks)


def test_the_table_has_every_efficiency_that_was_recorded() -> None:
    found = {}
    for asked, one in recorded():
        mask = "causal" if asked.problem.causal else "no mask"
        where = f"{one.passes}, {mask}", str(len(one.ranks)), f"{asked.problem.seqlen >> 10}k"
        share = efficiency_of(one)
        if share is not None:
            key = (*where, asked.scheme)
            found[key] = f"{share:.1%}"
    told = {
        (*where, scheme): cell
        for *where, ring, zigzag, gathered, traded in table_after(PAGE, "**Measured** on H100s")
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
    (longest,) = (one for asked, one in recorded() if asked.problem.seqlen == 2048 << 10)
    says(PAGE, f"in {median(longest.ms) / 1e3:.1f} s, and a rank holds {bytes_text(held_of(longest))}")
