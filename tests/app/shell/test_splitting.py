"""How a user has sweeps split over several devices: the box, the dialog, and what the window says of them."""

from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.profile.form.device_box import SOME, DeviceBox
from flashscope.app.pages.profile.page import ProfilePage
from flashscope.app.pages.registry import SHOWING
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.split_dialog import REPEAT, SplitDialog
from flashscope.app.words.units import thousands
from flashscope.profiles.store import load
from flashscope.profiles.wire.events import PlanStarted
from tests.app.control.far.shared import GPUS, H100, Shared
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig

ALL = f"All 3 × {H100} · this machine: split sweeps"


def box_of(window: MainWindow) -> DeviceBox:
    page = window.pages[SHOWING]
    assert isinstance(page, ProfilePage)
    return page.device


def plots_of(window: MainWindow) -> list[SweepPlot]:
    page = window.pages[SHOWING]
    assert isinstance(page, ProfilePage)
    page._turns.finish()
    return [card.plot for card in page.plots.cells if isinstance(card.plot, SweepPlot)]


def texts(box: DeviceBox) -> list[str]:
    return [box.itemText(row) for row in range(box.count())]


def choose(box: DeviceBox, text: str) -> None:
    box.activated.emit(texts(box).index(text))


def dialog_of(window: MainWindow) -> SplitDialog:
    (dialog,) = (one for one in window.findChildren(SplitDialog) if one.isVisible())
    return dialog


def is_whole(path: Path) -> bool:
    """Whether all of a sweep is in its file."""
    return load(path).outcome == "finished"


@pytest.mark.matrix  # it takes a second
def test_the_box_offers_all_equal_gpus_or_some_and_the_window_says_how_many_measure(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = Shared(monkeypatch, qtbot.waitUntil)
    rig.engine.gpus = GPUS
    window = rig.window()
    box = box_of(window)
    assert ALL in texts(box)
    assert SOME in texts(box)
    with qtbot.waitSignal(rig.controller.machine_found):
        choose(box, ALL)
    assert box.currentText() == f"3 × {H100}"
    assert ALL not in texts(box)
    assert window.errors.text == (
        f"Sweeps are split over 3 × {H100} of this machine now; all else runs on the first, GPU 0."
    )
    window.trigger("devices.several")
    dialog = dialog_of(window)
    for ticked in (2, 1):
        dialog.boxes[ticked].click()
    assert not dialog.use_button.isEnabled()
    dialog.boxes[2].click()
    with qtbot.waitSignal(rig.controller.machine_found):
        dialog.use_button.click()
    assert box.currentText() == f"2 × {H100}"
    assert window.top_bar.badge.text() == "CPU 2 × Test CPU"
    rig.controller.run(PLAN)
    both = [shared.engines[gpu] for gpu in ("GPU-0a", "GPU-3a")]
    qtbot.waitUntil(lambda: all(engine.rests for engine in both))
    for gpu in ("GPU-0a", "GPU-3a"):
        shared.engines[gpu].say(shared.share(gpu)[:3])
    lengths = ", ".join(map(thousands, (512, 1024)))
    qtbot.waitUntil(lambda: window.status.job.text() == f"2 × Test CPU · N = {lengths}")
    flights = [plot._flight.getData()[0].tolist() for plot in plots_of(window)]
    assert [9.0, 10.0] in flights


def test_two_unlike_gpus_measure_a_sweep_each_and_one_click_leads_to_the_comparison(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = Shared(monkeypatch, qtbot.waitUntil)
    rig.engine.gpus = GPUS[:2]
    window = rig.window()
    box = box_of(window)
    assert not any("split" in text for text in texts(box))
    choose(box, SOME)
    dialog = dialog_of(window)
    assert dialog.way.currentText() == REPEAT
    assert not dialog.way.isEnabled()
    assert dialog.use_button.text() == "Repeat on 2"
    with qtbot.waitSignal(rig.controller.machine_found):
        dialog.use_button.click()
    assert box.currentText() == "Each of 2 devices"
    assert window.errors.text == (
        "Sweeps are repeated on each of 2 devices of this machine now; all else runs on the first, GPU 0."
    )
    rig.controller.run(PLAN)
    both = [shared.engines[gpu] for gpu in ("GPU-0a", "GPU-1a")]
    qtbot.waitUntil(lambda: all(engine.plans for engine in both))
    for number, engine in enumerate(both):
        begun, *rest = sweep()
        assert isinstance(begun, PlanStarted)
        engine.say([replace(begun, session_id=str(number) * 32), *rest])
    place = rig.controller.devices.place
    assert place is not None
    qtbot.waitUntil(lambda: window.errors.text.startswith("Each of 2 devices has measured"))
    first = rig.controller.sweep_path
    assert first is not None
    paths = (first, *place.files)
    for path in paths:
        qtbot.waitUntil(partial(is_whole, path))
    window.errors._act_button.click()
    page = window.page
    assert isinstance(page, ComparePage)
    assert page.lineup.paths == paths


def test_equal_gpus_are_split_over_or_repeated_on_as_the_dialog_is_told(
    rig: Rig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    Shared(monkeypatch, qtbot.waitUntil)
    rig.engine.gpus = GPUS
    window = rig.window()
    window.trigger("devices.several")
    dialog = dialog_of(window)
    assert dialog.use_button.text() == "Split over 3"
    dialog.way.setCurrentIndex(dialog.way.findText(REPEAT))
    assert dialog.use_button.text() == "Repeat on 3"
    dialog.place.setCurrentIndex(1)
    assert dialog.use_button.text() == "Repeat on 4"
    dialog.place.setCurrentIndex(0)
    assert dialog.way.isEnabled()
    dialog.way.setCurrentIndex(0)
    with qtbot.waitSignal(rig.controller.machine_found):
        dialog.use_button.click()
    place = rig.controller.devices.place
    assert place is not None
    assert not place.wanted.repeat


@pytest.mark.matrix
def test_one_gpu_alone_is_not_offered_to_be_split_over(rig: Rig) -> None:
    rig.engine.gpus = GPUS[:1]
    window = rig.window()
    assert not any("split" in text for text in texts(box_of(window)))
    action = window.registry.find("devices.several")
    assert action is not None
    assert not action.isEnabled()
