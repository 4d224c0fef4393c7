"""A version that the devices in use do not measure: it says why it waits, and nothing waits for it."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.far.devices import Devices
from flashscope.app.shell.main_window import MainWindow
from tests.app.fakes import PLAN
from tests.app.pages.watch.scene import TEXT, Watched
from tests.app.rig import Rig


@pytest.mark.matrix  # it takes seconds
def test_a_version_says_that_the_devices_in_use_do_not_measure_it_and_sweeps_go_before_it(
    *, window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Watched(window, rig, qtbot, tmp_path)
    scene.begin()
    scene.end()
    scene.version(1)
    monkeypatch.setattr(Devices, "why_not_again", "Sweeps are repeated there.")
    scene.save(f"{TEXT}# 2\n")
    scene.until(lambda: scene.page.watch.waiting is not None)
    assert scene.page.sentence.text().startswith("v2 waits: Sweeps are repeated there")
    assert not rig.controller.run(PLAN)
    scene.until_planned(2)
    assert scene.plans[1] == PLAN
