"""The landscapes that come with the program: what they are of, and the way to them."""

from itertools import product

import pytest

from flashscope.app.control.bundled import BUNDLED, CUTS, NAMES
from flashscope.app.pages.designer import DesignerPage
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.profiles.results.model.fresh_rounds import FreshRounds
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS
from flashscope.profiles.store import SUFFIX, load
from flashscope.profiles.wire.cuts import FINALISTS
from tests.app.rig import Rig

FILE = BUNDLED / f"{CUTS}{SUFFIX}"
MOST_BYTES = 1 << 20


@pytest.fixture(scope="module")
def landscapes() -> list[CutLandscape]:
    return load(FILE).landscapes


def test_they_are_of_both_kernels_at_two_head_dims_with_and_without_a_mask(
    landscapes: list[CutLandscape],
) -> None:
    assert load(FILE).name == NAMES[CUTS]
    assert FILE.stat().st_size < MOST_BYTES
    found = {(one.kernel, one.problem.head_dim, one.problem.causal) for one in landscapes}
    assert found >= set(product(("flash2", "flash3"), (64, 128), (False, True)))


def test_each_was_timed_on_an_h200_the_fastest_and_the_shipped_cut_anew(
    landscapes: list[CutLandscape],
) -> None:
    for one in landscapes:
        assert one.device.name == "NVIDIA H200"
        fresh = FreshRounds.of_landscape(one)
        assert one.shipped in dict(fresh.ranked)
        assert min(FINALISTS, one.timed) <= len(fresh.ranked) <= FINALISTS + 1
        assert all(len(cell.anew_ms) >= LEAST_ROUNDS for cell in one.cells if cell.anew_ms)
        assert all(cell.refused for cell in one.cells if not cell.first_ms)


def test_the_empty_designer_leads_to_them(rig: Rig) -> None:
    window = rig.window()
    window.show_page("designer")
    page = window.page
    assert isinstance(page, DesignerPage)
    assert page.lineup.open_button.isVisible()
    rig.opening(page.lineup.open_button.click)
    assert window.view == "designer"
    assert page.lineup.shown == page.lineup.kept[0]
    assert not page.lineup.open_button.isVisible()
    assert page.staging.provenance.badge.startswith("SAVED · GPU NVIDIA H200")


def cuts_of(landscape: CutLandscape) -> set[Cut]:
    """The cuts of a kernel that were timed or refused."""
    return {cell.cut for cell in landscape.cells}


def test_only_landscapes_that_share_a_cut_are_offered_to_compare_with(rig: Rig) -> None:
    """With another kernel's nothing would be drawn, and nothing said."""
    window = rig.window()
    window.show_page("designer")
    rig.open(FILE)
    page = window.pages["designer"]
    assert isinstance(page, DesignerPage)
    lineup = page.lineup
    for shown in lineup.landscapes:
        lineup.show_one(shown)
        offered = [lineup.beside.itemData(place) for place in range(1, lineup.beside.count())]
        alike = [
            place
            for place, one in enumerate(lineup.landscapes)
            if one is not shown and cuts_of(one) & cuts_of(shown)
        ]
        assert offered == alike
        assert lineup.beside.isVisible() == bool(alike)


@pytest.mark.matrix  # it takes a second
def test_a_stage_shows_the_cuts_alone_and_says_which_is_the_fastest(rig: Rig) -> None:
    window = rig.window()
    rig.open(FILE)
    window.show_page("designer")
    page = window.page
    assert isinstance(page, DesignerPage)
    page.lineup.show_one(page.lineup.kept[-1])
    put_away = (page.choices, page.lineup, page.cards, page.bar)
    window.trigger("stage")
    assert page.landscape.isVisible()
    assert not any(part.isVisible() for part in put_away)
    assert page.staging.sentence.startswith("Fastest on fresh rounds: ")
    window.trigger("stage")
    assert not window.stage.on
    assert all(part.isVisibleTo(page) for part in put_away)


@pytest.mark.matrix  # it takes a second
def test_a_stop_of_a_story_names_a_landscape_by_its_kernel_and_problem(rig: Rig) -> None:
    window = rig.window()
    rig.open(FILE)
    page = window.pages["designer"]
    assert isinstance(page, DesignerPage)
    meant = next(one for one in page.lineup.kept if one.kernel == "flash3" and one.problem.causal)
    page.lineup.show_one(meant)
    stop = page.staging.stop
    page.lineup.take_session(page.lineup.kept)
    assert page.lineup.shown != meant
    page.staging.show_stop(stop)
    assert page.lineup.shown is not None
    assert (page.lineup.shown.kernel, page.lineup.shown.problem) == (meant.kernel, meant.problem)
    page.staging.leave()
