"""The timelines that come with the program: what they hold, and how the empty view leads to them."""

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control import bundled
from flashscope.app.control.bundled import NAMES, clocked_recording, cpu_clocked_recording, inside_recording
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.pages.timeline.recorded import RECORDED, BundledTimelines
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.store import load
from tests.app.rig import Rig
from tests.matrix import chosen

MOST_BYTES = 128 << 10
UNDISTURBED = 0.05  # of a run that is in bars far too long


def test_the_bundled_timelines_are_of_both_kernels_undisturbed_and_small() -> None:
    path = cpu_clocked_recording()
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
    of_cpu = page.empty.recorded[2]
    assert of_cpu.accessibleName() == "Open recorded timelines: flash1 beside flash2 on a CPU"
    rig.opening(of_cpu.click)
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
    assert not of_cpu.isVisible()
    assert page.keep_button.isHidden()


def test_the_timelines_of_an_h200_are_of_the_steps_of_the_ladder_backward_and_decoding() -> None:
    path = clocked_recording()
    assert path is not None
    session = load(path)
    assert session.name == NAMES[path.stem]
    asked = [one.request for one in session.timelines]
    assert {one.kernel for one in asked} == {"flash1", "flash2", "flash3-a", "flash3"}
    assert {one.problem.passes for one in asked} == {"forward", "backward"}
    assert {one.problem.seqlen_q for one in asked} == {1, 1024, 2048}
    assert {one.problem.causal for one in asked} == {False, True}
    assert {one.device for one in session.timelines} == {"NVIDIA H200"}


def test_the_timelines_of_a_gpu_are_of_the_device_that_the_recording_names() -> None:
    path = inside_recording()
    assert path is not None
    session = load(path)
    gpu = session.machine.device("cuda")
    assert gpu is not None
    assert gpu.name == "NVIDIA H200"
    told = [(one.request.kernel, one.request.problem.seqlen_q) for one in session.timelines]
    assert told[-3:] == [("flash3", 2048), ("flash2", 1024), ("flash3", 1024)]
    assert {one.request.problem.passes for one in session.timelines} == {"forward", "backward"}
    for one in session.timelines:
        assert one.device == gpu.name
        assert one.rows.shape == (gpu.multiprocessors,)
    assert {trace.request.kernel for trace in session.traces} == {"flash1", "flash2", "flash3", "flash3-fp8"}
    assert not session.altered


@pytest.mark.matrix
def test_the_empty_view_leads_to_a_gpu_first_and_shows_its_kernels_side_by_side(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.show_page("timeline")
    page = window.page
    assert isinstance(page, TimelinePage)
    of_gpu = page.empty.recorded[0]
    assert of_gpu.text() == "Open recorded: flash2 beside flash3 on an H200"
    rig.opening(of_gpu.click)
    qtbot.waitUntil(lambda: [card.kernel for card in page.shown] == ["flash2", "flash3"])
    problems = [one.rows.timeline.request.problem for one in page.lineup.drawn]
    assert [(one.seqlen_q, one.passes) for one in problems] == [(1024, "forward")] * 2
    assert window.view == "timeline"
    assert page.staging.provenance.badge.startswith("SAVED · GPU NVIDIA H200 · ")
    assert "4 of 132 SMs have nothing to do in flash2, 4 in flash3." in page.told
    assert "from above: producer, warpgroup 1" in page.cards[1].told.text()


@chosen("one", RECORDED, RECORDED[1:2])
def test_the_palette_has_them(window: MainWindow, rig: Rig, one: BundledTimelines) -> None:
    window.show_page("timeline")
    rig.opening(lambda: window.trigger(f"timeline.{one.key}"))
    assert rig.controller.path == one.find()


def test_a_copy_without_them_offers_none(
    window: MainWindow, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "bundled_sessions", list)
    window.show_page("timeline")
    page = window.page
    assert isinstance(page, TimelinePage)
    assert all(button.isHidden() for button in page.empty.recorded)
    for one in RECORDED:
        window.trigger(f"timeline.{one.key}")
    assert rig.controller.session is None
