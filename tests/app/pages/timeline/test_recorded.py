"""The timelines that come with the program: what they hold, and how the empty view leads to them."""

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import NAMES, clocked_recording
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.pages.timeline import page as timeline_page
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.store import load
from tests.app.rig import Rig

MOST_BYTES = 128 << 10
UNDISTURBED = 0.05  # of a run that is in bars far too long


def test_the_bundled_timelines_are_of_both_kernels_undisturbed_and_small() -> None:
    path = clocked_recording()
    assert path is not None
    session = load(path)
    assert path.stat().st_size < MOST_BYTES
    assert session.name == NAMES[path.stem]
    assert [one.request.kernel for one in session.timelines] == ["flash1", "flash2"]
    cpu = session.machine.device("cpu")
    assert cpu is not None
    for one in session.timelines:
        assert one.device == cpu.name
        assert one.request.problem.seqlen_k == 1024
        assert TimelineFacts.of(one).held_up < UNDISTURBED
        assert one.plain_ns.shape == one.clocked_ns.shape == (one.request.rounds,)


def test_the_empty_view_opens_them_and_says_of_which_cpu_and_what_the_clocks_cost(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.show_page("timeline")
    page = window.page
    assert isinstance(page, TimelinePage)
    assert page.recorded.accessibleName() == "Open a recorded timeline"
    rig.opening(page.recorded.click)
    qtbot.waitUntil(lambda: len(page.lineup.drawn) == 2)
    assert window.view == "timeline"
    assert rig.controller.session is not None
    cpu = rig.controller.session.machine.device("cpu")
    assert cpu is not None
    assert page.staging.provenance.badge.startswith(f"SAVED · CPU {cpu.name} · ")
    for card in page.shown:
        described = card.plot.accessibleDescription()
        assert "quickest of 60 runs · build with clocks 1.0" in described
        assert f". {cpu.name}, recorded by a clock" in described
    assert not page.recorded.isVisible()
    assert page.keep_button.isHidden()


def test_the_palette_has_them_and_a_copy_without_them_offers_none(
    window: MainWindow, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline_page, "clocked_recording", lambda: None)
    window.show_page("timeline")
    page = window.page
    assert isinstance(page, TimelinePage)
    assert all(one.isHidden() for one in page.findChildren(QPushButton) if one is page.recorded)
    window.trigger("timeline.recorded")
    assert rig.controller.session is None
    monkeypatch.undo()
    rig.opening(lambda: window.trigger("timeline.recorded"))
    assert rig.controller.path == clocked_recording()
