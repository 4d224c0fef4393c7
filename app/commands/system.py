"""What Qt needs of the operating system, looked at without Qt: shared libraries and a display."""

import ctypes
import glob
import importlib.util
import os
import socket
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from flashscope.installation import PROGRAM, install_command

# (Debian package, the library it brings); the second group is needed for windows on X11 only.
LIBRARIES = (
    ("libegl1", "libEGL.so.1"),
    ("libgl1", "libGL.so.1"),
    ("libdbus-1-3", "libdbus-1.so.3"),
    ("libfontconfig1", "libfontconfig.so.1"),
    ("libxkbcommon0", "libxkbcommon.so.0"),
    ("libglib2.0-0", "libglib-2.0.so.0"),
)
X11_LIBRARIES = (
    ("libxcb-cursor0", "libxcb-cursor.so.0"),
    ("libxcb-icccm4", "libxcb-icccm.so.4"),
    ("libxcb-keysyms1", "libxcb-keysyms.so.1"),
    ("libxcb-image0", "libxcb-image.so.0"),
    ("libxcb-randr0", "libxcb-randr.so.0"),
    ("libxcb-render-util0", "libxcb-render-util.so.0"),
    ("libxcb-shape0", "libxcb-shape.so.0"),
    ("libxcb-xkb1", "libxcb-xkb.so.1"),
    ("libxkbcommon-x11-0", "libxkbcommon-x11.so.0"),
)
OUR_QT = {"QT_API": "pyside6", "PYQTGRAPH_QT_LIB": "PySide6"}  # read by QtPy and by pyqtgraph
SCREEN_PLATFORMS = {"", "xcb", "wayland", "wayland-egl"}
NO_DISPLAY = (
    f"there is no display to open a window on. Use a virtual one (xvfb-run {PROGRAM}), or work without a "
    f"window: QT_QPA_PLATFORM=offscreen {PROGRAM} shots DIR, or the command line ({PROGRAM} --help)."
)


def missing_packages(libraries: Sequence[tuple[str, str]] = LIBRARIES + X11_LIBRARIES) -> list[str]:
    """Debian packages whose library cannot be loaded here; empty on other systems than Linux."""
    if not sys.platform.startswith("linux"):
        return []
    return [package for package, library in libraries if not _loads(library)]


def apt_command(packages: Sequence[str]) -> str:
    """The one command that installs them on Debian and its kin."""
    return f"sudo apt-get install -y {' '.join(packages)}"


def qt_missing() -> str | None:
    """Why there can be no window for want of Python packages, None when they are there."""
    missing = [name for name in ("PySide6", "pyqtgraph") if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    return f"{' and '.join(missing)} cannot be imported; run `{install_command()}`."


def settle_qt(environment: MutableMapping[str, str] = os.environ, *, offscreen: bool = False) -> None:
    """Before Qt is imported: have what was set for other programs' Qt change nothing in ours.

    Args:
        environment: The variables, which are changed.
        offscreen: Whether no screen is to be used, whatever was set.
    """
    environment.update(OUR_QT)
    environment.pop("QT_STYLE_OVERRIDE", None)
    if offscreen:
        environment["QT_QPA_PLATFORM"] = "offscreen"
    if platform(environment) not in SCREEN_PLATFORMS:  # a desktop's theme would look for its display
        environment.pop("QT_QPA_PLATFORMTHEME", None)


def why_no_window(environment: Mapping[str, str] = os.environ) -> str | None:
    """Why Qt could not open a window and would abort, with the remedy; None when it can."""
    reason = qt_missing()
    if reason is not None:
        return reason
    on_screen = platform(environment) in SCREEN_PLATFORMS
    packages = missing_packages(LIBRARIES + X11_LIBRARIES if on_screen else LIBRARIES)
    if packages:
        return f"system libraries are missing; install them with: {apt_command(packages)}"
    if on_screen and sys.platform.startswith("linux") and not has_display(environment):
        return NO_DISPLAY
    return None if on_screen else unknown_platform(environment)


def unknown_platform(environment: Mapping[str, str]) -> str | None:
    """Why Qt would abort over QT_QPA_PLATFORM, None when it has that plugin or may find it elsewhere."""
    asked, qt = platform(environment), importlib.util.find_spec("PySide6")
    if qt is None or not qt.origin or "QT_QPA_PLATFORM_PLUGIN_PATH" in environment:
        return None
    plugins = Path(qt.origin).parent / "Qt" / "plugins" / "platforms"
    if not plugins.is_dir() or any(plugins.glob(f"libq{glob.escape(asked.split('-')[0])}.so")):
        return None
    return f"Qt has no platform {asked!r}; unset QT_QPA_PLATFORM, or set it to offscreen."


def platform(environment: Mapping[str, str]) -> str:
    """Qt's platform plugin that the environment asks for; empty: Qt chooses."""
    return environment.get("QT_QPA_PLATFORM", "").split(";")[0].split(":")[0]


def has_display(environment: Mapping[str, str]) -> bool:
    """Whether the display server that Qt would use answers."""
    asked = platform(environment)
    wayland = asked != "xcb" and _wayland_answers(environment)
    return wayland or (asked in {"", "xcb"} and _x11_answers(environment))


def _x11_answers(environment: Mapping[str, str]) -> bool:
    """Whether the X server can be connected to.

    The connection stays open until the process ends: a virtual server starts anew when its last client
    leaves, and would refuse Qt in that moment.
    """
    name = environment.get("DISPLAY")
    if not name:
        return False
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(name.encode(), None))
    return bool(xcb.xcb_connection_has_error(connection) == 0)


def _wayland_answers(environment: Mapping[str, str]) -> bool:
    name, folder = environment.get("WAYLAND_DISPLAY"), environment.get("XDG_RUNTIME_DIR", "")
    if not name:
        return False
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(Path(folder) / name))
        except OSError:
            return False
    return True


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
