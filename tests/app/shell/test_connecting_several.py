"""How the window leads to several hosts: the box, the dialog, and how one of them is left."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile.form.device_box import SOME
from flashscope.app.shell.connect_dialog import ConnectDialog
from flashscope.app.shell.main_window import MainWindow
from tests.app.shell.test_splitting import box_of, choose, dialog_of, texts
from tests.end_to_end.hosts import RunningHost, host_of

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningHost, RunningHost]]:
    folder = tmp_path_factory.mktemp("hosts")
    with host_of(folder, "CPU 0", name="lab") as lab, host_of(folder, "CPU 0", name="den") as den:
        yield lab, den


@pytest.mark.matrix
def test_two_hosts_are_listed_chosen_together_and_left_one_by_one(
    window: MainWindow, hosts: tuple[RunningHost, RunningHost], qtbot: QtBot
) -> None:
    lab, den = hosts
    box = box_of(window)
    with qtbot.waitSignal(window.controller.machine_found):
        window.connecting.connect_to(str(lab.file))
    assert not any(text.startswith("Disconnect") for text in texts(box))
    with qtbot.waitSignal(window.controller.machine_found):
        window.connecting.connect_to(str(den.file))
    assert "All 2 × CPU · lab and den: split sweeps" in texts(box)
    assert any(text.startswith("CPU 0 · lab · ") for text in texts(box))
    choose(box, SOME)
    dialog = dialog_of(window)
    assert [one.text() for one in dialog.boxes] == ["CPU 0 on lab", "CPU 0 on den"]
    with qtbot.waitSignal(window.controller.machine_found):
        dialog.use_button.click()
    assert box.currentText() == "2 × CPU · lab and den"
    assert window.errors.text == (
        "Sweeps are split over 2 × CPU of lab and den now; all else runs on the first, CPU 0 on lab."
    )
    assert set(window.settings.connections) == {str(lab.file), str(den.file)}
    with qtbot.waitSignal(window.controller.machine_found):
        choose(box, "Disconnect den")
    assert box.currentText().endswith(f" · {window.controller.devices.place.host}")  # type: ignore[union-attr]
    assert not any("den" in text or text.startswith("Disconnect") for text in texts(box))


@pytest.mark.matrix
def test_hosts_of_a_command_line_are_connected_one_after_the_other_and_share_sweeps(
    window: MainWindow, hosts: tuple[RunningHost, RunningHost], qtbot: QtBot
) -> None:
    lab, den = hosts
    devices = window.controller.devices
    window.connecting.connect_to(str(lab.file), str(den.file))

    def shared() -> None:
        dialogs = [one.told.text() for one in window.findChildren(ConnectDialog) if one.isVisible()]
        told = (texts(box_of(window)), devices.dialling, dialogs, window.errors.text)
        assert box_of(window).currentText() == "2 × CPU · lab and den", told

    qtbot.waitUntil(shared)
    assert devices.sharing == "lab and den"
    assert not any(one.isVisible() for one in window.findChildren(ConnectDialog))


@pytest.mark.matrix
def test_a_host_of_a_command_line_that_is_not_there_is_told_and_the_others_wait(
    window: MainWindow, hosts: tuple[RunningHost, RunningHost], tmp_path: Path, qtbot: QtBot
) -> None:
    lab, _den = hosts
    devices = window.controller.devices
    with qtbot.waitSignal(devices.failed):
        window.connecting.connect_to(str(tmp_path / "no.connection"), str(lab.file))
    (dialog,) = (one for one in window.findChildren(ConnectDialog) if one.isVisible())
    assert "cannot be read" in dialog.told.text()
    dialog.field.setText(str(lab.file))
    with qtbot.waitSignal(window.controller.machine_found):
        dialog.connect_button.click()
    qtbot.waitUntil(lambda: not devices.dialling)
    assert devices.seen.keys() == {str(lab.file)}
