"""The desktop is asked over D-Bus to keep the display on, on a bus of the test's own."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtWidgets import QApplication

from flashscope.app.shell.presenter.awake import PATH, REASON, SERVICE, Awake

TOOLS = ("dbus-daemon", "dbus-monitor")
needs_bus = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason=f"needs {' and '.join(TOOLS)} (Debian: dbus, dbus-bin)"
)
Program = subprocess.Popen[str]


@contextmanager
def running(*command: str) -> Iterator[Program]:
    program = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
    )
    try:
        yield program
    finally:
        program.terminate()
        program.communicate()


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Iterator[str]]:
    """What is said on a session bus, line by line."""
    with running("dbus-daemon", "--session", "--nofork", "--print-address") as bus:
        assert bus.stdout is not None
        address = bus.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        with running("dbus-monitor", "--address", address) as monitor:
            assert monitor.stdout is not None
            monitor.stdout.readline()  # it listens
            yield iter(monitor.stdout.readline, "")


@needs_bus
@pytest.mark.timeout(60)
@pytest.mark.usefixtures("qapp")
def test_a_presentation_asks_for_the_display_to_stay_on_and_takes_the_wish_back(heard: Iterator[str]) -> None:
    awake = Awake()
    awake.begin()
    wish = next(line for line in heard if "member=Inhibit" in line)
    assert f"destination={SERVICE} " in wish
    assert f"path={PATH}; interface={SERVICE};" in wish
    assert [next(heard).strip() for _ in range(2)] == ['string "Flashscope"', f'string "{REASON}"']
    sender = wish.split("sender=")[1].split()[0]
    awake.end()
    assert next(line for line in heard if "member=NameOwnerChanged" in line and gone(heard, sender))


def gone(heard: Iterator[str], name: str) -> bool:
    """Whether a change of owner is that this connection has gone."""
    told = [next(heard).strip() for _ in range(3)]
    return told == [f'string "{name}"', f'string "{name}"', 'string ""']


def test_without_a_bus_nothing_happens(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    del qapp
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    awake = Awake()
    awake.begin()
    awake.end()
    assert not awake._name
