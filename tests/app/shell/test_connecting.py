"""How the window leads to another machine: the box, the dialog, and what is said of a device that is lost."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile.form.device_box import CONNECT, DeviceBox
from flashscope.app.pages.profile.page import ProfilePage
from flashscope.app.pages.registry import SHOWING
from flashscope.app.shell.connect_dialog import ConnectDialog
from flashscope.app.shell.main_window import MainWindow
from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.profiles.cluster.connection import connections_dir, write_connection
from tests.end_to_end.hosts import RunningHost, assert_gone, running_host
from tests.end_to_end.sshd import WITHOUT, lab

pytestmark = pytest.mark.cluster
PATIENCE_MS = 60_000
THERE = tuple(spec.name for spec in KERNELS if spec.library_is_here())


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with running_host(tmp_path_factory.mktemp("host")) as running:
        yield running


def box_of(window: MainWindow) -> DeviceBox:
    page = window.pages[SHOWING]
    assert isinstance(page, ProfilePage)
    return page.device


def dialog_of(window: MainWindow) -> ConnectDialog:
    (dialog,) = (one for one in window.findChildren(ConnectDialog) if one.isVisible())
    return dialog


def texts(box: DeviceBox) -> list[str]:
    return [box.itemText(row) for row in range(box.count())]


def test_the_box_leads_to_the_dialog_and_lists_both_machines_once_connected(
    window: MainWindow, host: RunningHost, qtbot: QtBot
) -> None:
    write_connection(host.connection, connections_dir() / "lab.connection")
    box = box_of(window)
    box.activated.emit(texts(box).index(CONNECT))
    dialog = dialog_of(window)
    assert dialog.list.count() == 1
    dialog.list.itemActivated.emit(dialog.list.item(0))
    with qtbot.waitSignal(window.controller.machine_found, timeout=PATIENCE_MS):
        pass
    place = window.controller.devices.place
    assert place is not None
    assert not any(one.isVisible() for one in window.findChildren(ConnectDialog))
    assert box.currentText().endswith(f"· {place.host}")
    machine = window.controller.machine
    assert machine is not None
    assert [one.libraries for one in machine.devices] == [THERE]
    assert any(text == "CPU · Test CPU · this machine" for text in texts(box))
    assert window.settings.connections == [str(connections_dir() / "lab.connection")]
    assert window.top_bar.badge.text().endswith(f"· {place.host}")
    before = texts(box)
    with qtbot.waitSignal(window.controller.devices.changed, timeout=PATIENCE_MS):
        box.showPopup()  # who has which device is asked anew
    assert texts(box) == before
    box.hidePopup()
    back = texts(box).index("CPU · Test CPU · this machine")
    with qtbot.waitSignal(window.controller.machine_found, timeout=PATIENCE_MS):
        box.activated.emit(back)
    assert window.controller.devices.place is None
    assert box.currentText() == "CPU · Test CPU"


def test_what_is_wrong_is_told_in_the_dialog_which_stays(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window.trigger("connect")
    dialog = dialog_of(window)
    dialog.field.setText(str(tmp_path / "nothing.connection"))
    with qtbot.waitSignal(window.controller.devices.failed, timeout=PATIENCE_MS):
        dialog.connect_button.click()
    assert "cannot be read" in dialog.told.text()
    assert dialog.isVisible()
    assert dialog.connect_button.isEnabled()
    assert not window.errors.isVisible()


@pytest.mark.matrix  # it takes a second
def test_cancel_leaves_the_dialog_open_while_something_goes_on(window: MainWindow, qtbot: QtBot) -> None:
    window.trigger("connect")
    dialog = dialog_of(window)
    dialog.field.setText("tls://127.0.0.1:1")
    dialog.connect_button.click()
    assert dialog.bar.isVisible()
    dialog.reject()
    assert dialog.isVisible()
    assert window.controller.devices.dialling == ""
    dialog.reject()
    assert not dialog.isVisible()


@pytest.mark.matrix
def test_a_lost_device_is_told_in_the_message_line_and_one_click_leads_back(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    devices = window.controller.devices
    with running_host(tmp_path) as dying:
        with qtbot.waitSignal(window.controller.machine_found, timeout=PATIENCE_MS):
            window.connecting.connect_to(str(dying.file))
        box = box_of(window)
        everything = dying.everything()
        with qtbot.waitSignal(devices.went, timeout=PATIENCE_MS) as went:
            for one in everything:
                one.kill()
        assert window.errors.text == went.args[0]
        assert box.currentText().startswith("Lost: the CPU")
    with running_host(tmp_path) as fresh:
        assert fresh.file == dying.file
        with qtbot.waitSignal(window.controller.machine_found, timeout=PATIENCE_MS):
            window.errors._act_button.click()
        assert devices.lost == ""


@pytest.mark.matrix
@pytest.mark.skipif(WITHOUT is not None, reason=str(WITHOUT))
def test_a_host_by_ssh_is_lost_as_soon_as_its_ssh_ends(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lab(tmp_path) as far:
        monkeypatch.setenv("PATH", far.path)
        with qtbot.waitSignal(window.controller.machine_found, timeout=PATIENCE_MS):
            window.connecting.connect_to(f"ssh://lab/{far.checkout}")
        there = psutil.Process(far.server.pid).children(recursive=True)
        (ssh,) = (one for one in psutil.Process().children() if one.name() == "ssh")
        with qtbot.waitSignal(window.controller.devices.went, timeout=PATIENCE_MS) as went:
            ssh.kill()
        assert box_of(window).currentText().startswith("Lost: the CPU")
        assert "is lost" in went.args[0]
        assert_gone(there)


@pytest.mark.matrix  # it takes a second or more
def test_a_connection_of_this_machines_folder_is_listed_by_its_name(
    window: MainWindow, host: RunningHost
) -> None:
    write_connection(host.connection, connections_dir() / "lab.connection")
    window.settings.add_connection("tls://lab:8786")
    window.trigger("connect")
    listed = dialog_of(window).list
    shown = [listed.item(row).text() for row in range(listed.count())]
    assert shown == ["tls://lab:8786", "lab.connection"]
    dialog_of(window).reject()
