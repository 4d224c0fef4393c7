"""Keeps the display from going dark while something is presented, where the desktop can be asked to."""

import os
from uuid import uuid4

SERVICE, PATH = "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"
REASON = "A presentation is on show"


class Awake:
    """Asks the desktop's screen saver to wait, over D-Bus; where there is none nothing happens.

    The wish is a connection's own and goes with it: each time has a connection of its own.
    """

    def __init__(self) -> None:
        self._name = ""

    def begin(self) -> None:
        """Keep the display on from now on."""
        if self._name or not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
            return  # without an address a bus would be started
        try:
            from PySide6.QtDBus import QDBusConnection, QDBusMessage  # noqa: PLC0415 - Qt may come without it
        except ImportError:
            return
        self._name = f"flashscope-{uuid4().hex}"
        bus = QDBusConnection.connectToBus(QDBusConnection.BusType.SessionBus, self._name)
        wish = QDBusMessage.createMethodCall(SERVICE, PATH, SERVICE, "Inhibit")
        wish.setArguments(["Flashscope", REASON])
        if bus.isConnected():
            bus.send(wish)

    def end(self) -> None:
        """Let the display go dark again."""
        if not self._name:
            return
        from PySide6.QtDBus import QDBusConnection  # noqa: PLC0415 - it was there when this began

        QDBusConnection.disconnectFromBus(self._name)
        self._name = ""


def why_not_awake() -> str:
    """Why the desktop cannot be asked to keep the display on; empty: it can."""
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return "there is no session bus (D-Bus)"
    try:
        from PySide6.QtDBus import QDBusConnection  # noqa: PLC0415 - Qt may come without it
    except ImportError:
        return "this Qt has no D-Bus"
    bus = QDBusConnection.sessionBus()
    there = bus.isConnected() and bus.interface().isServiceRegistered(SERVICE).value()
    return "" if there else f"nothing on the session bus answers as {SERVICE}"
