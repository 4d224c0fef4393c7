"""How a user has sweeps split over several devices: the box, the dialog, and what the window says of them."""

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile.form.device_box import SOME, DeviceBox
from flashscope.app.pages.profile.page import ProfilePage
from flashscope.app.pages.registry import SHOWING
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.split_dialog import SplitDialog
from flashscope.app.words.units import seqlen_full
from tests.app.control.far.shared import GPUS, H100, Shared
from tests.app.fakes import PLAN
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
    assert not dialog.split_button.isEnabled()
    dialog.boxes[2].click()
    with qtbot.waitSignal(rig.controller.machine_found):
        dialog.split_button.click()
    assert box.currentText() == f"2 × {H100}"
    assert window.top_bar.badge.text() == "CPU 2 × Test CPU"
    rig.controller.run(PLAN)
    both = [shared.engines[gpu] for gpu in ("GPU-0a", "GPU-3a")]
    qtbot.waitUntil(lambda: all(engine.rests for engine in both))
    for gpu in ("GPU-0a", "GPU-3a"):
        shared.engines[gpu].say(shared.share(gpu)[:3])
    lengths = ", ".join(map(seqlen_full, (512, 1024)))
    qtbot.waitUntil(lambda: window.status.job.text() == f"2 × Test CPU · N = {lengths}")
    flights = [plot._flight.getData()[0].tolist() for plot in plots_of(window)]
    assert [9.0, 10.0] in flights


@pytest.mark.matrix
def test_one_gpu_alone_is_not_offered_to_be_split_over(rig: Rig) -> None:
    rig.engine.gpus = GPUS[:2]
    window = rig.window()
    assert not any("split" in text for text in texts(box_of(window)))
    action = window.registry.find("devices.several")
    assert action is not None
    assert not action.isEnabled()
