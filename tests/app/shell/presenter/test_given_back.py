"""A story gives back what was on show, whatever began while it was told."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import Story, read_story
from flashscope.profiles.wire.events import PlanStarted
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save
from tests.app.shell.presenter.conftest import profile, settle

BEGUN = 7  # events of a sweep of which one point has ended and the next has begun
Meanwhile = Callable[[Rig, QtBot], None]


def nothing(_rig: Rig, _qtbot: QtBot) -> None: ...


def it_goes_on(rig: Rig, _qtbot: QtBot) -> None:
    rig.say(sweep()[BEGUN:-1])


def it_ends(rig: Rig, _qtbot: QtBot) -> None:
    rig.say(sweep()[BEGUN:])


def the_next_begins(rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep()[BEGUN:])
    qtbot.waitUntil(lambda: rig.controller.measuring)
    rig.say(sweep()[:-1])


@pytest.fixture
def told(save: Save) -> Story:
    """A stop that names all that the curves can show."""
    begun, *others = sweep()
    assert isinstance(begun, PlanStarted)
    path = save([replace(begun, session_id="f" * 32), *others], "told")
    named = path.with_name("told.toml")
    named.write_text(
        f'title = "Told"\n[[stop]]\npage = "profile"\nsession = "{path.name}"\nquantity = "throughput"\n'
        'kernels = ["flash2"]\nbaseline = "flash2"\nseqlen = 256\n[[stop]]\npage = "results"\n'
        f'session = "{path.name}"\nkernels = ["standard"]\nbaseline = "flash2"\nseqlen = 512\n'
    )
    return read_story(named)


def present(window: MainWindow, rig: Rig, qtbot: QtBot, story: Story, meanwhile: Meanwhile) -> None:
    """Walk the stops, and leave them."""
    window.stage.enter(story)
    settle(window, rig, qtbot)
    meanwhile(rig, qtbot)
    window.stage.step(1)
    settle(window, rig, qtbot)
    path = rig.controller.path
    window.stage.leave()
    window.appearance.finish()
    qtbot.waitUntil(lambda: not window.stage.loading.on and rig.controller.path != path)


@pytest.mark.matrix
@pytest.mark.parametrize("meanwhile", [nothing, it_goes_on, it_ends, the_next_begins])
@pytest.mark.parametrize("baseline", ["", "flash2"])
def test_after_a_story_a_sweep_has_the_baseline_that_it_had(
    window: MainWindow, rig: Rig, qtbot: QtBot, told: Story, *, meanwhile: Meanwhile, baseline: str
) -> None:
    window.show_page("profile")
    rig.controller.run(PLAN)
    rig.say(sweep()[:BEGUN])
    plots = profile(window).plots
    plots.show_kernels((), baseline)
    before = plots.baseline
    present(window, rig, qtbot, told, meanwhile)
    assert plots.baseline == before == (baseline or "standard")
    assert plots.kernels == ("standard", "flash2")
    assert [card.quantity.key for card in plots.cells][:2] == ["footprint", "runtime"]
    if rig.controller.measuring:
        rig.say(sweep()[-1:])
    rig.controller.run(PLAN)
    rig.say(sweep())
    assert plots.baseline == before, "and so has a later one"


@pytest.mark.matrix
@pytest.mark.parametrize("seqlen", [None, 256])
def test_after_a_story_a_recording_has_the_kernels_and_the_crosshair_that_it_had(
    window: MainWindow, rig: Rig, qtbot: QtBot, save: Save, told: Story, *, seqlen: int | None
) -> None:
    rig.open(save(sweep(), "seen"))
    window.show_page("profile")
    plots = profile(window).plots
    plots.show_kernels(["standard"], "standard")
    if seqlen is not None:
        plots.show_seqlen(seqlen)
    before = plots.seqlen
    present(window, rig, qtbot, told, nothing)
    assert rig.controller.path == Path(told.path.with_name("seen.flashscope"))
    assert (plots.kernels, plots.baseline, plots.seqlen) == (("standard",), "standard", before)
    assert rig.controller.seqlen in {None, before}, "the other views look there, too"
