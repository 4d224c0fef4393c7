"""The QApplication: icon, name, and a warning about versions that are known to break."""

import sys
from importlib.metadata import version

from PySide6.QtCore import QLibraryInfo
from PySide6.QtWidgets import QApplication

from flashscope.app.shell.start_up.splash import bare_application
from flashscope.installation import PROGRAM

GOOD_QT = (6, 10)
GOOD_PYQTGRAPH = "0.14.0"


def make_application() -> QApplication:
    """The one QApplication, ready for windows."""
    app = bare_application()
    warning = version_warning(QLibraryInfo.version().toString(), version("pyqtgraph"))
    if warning:
        sys.stderr.write(f"{PROGRAM}: {warning}\n")
    return app


def version_warning(qt: str, plotting: str) -> str:
    """What is known to break with these versions of Qt and pyqtgraph, empty for the pair that was tested."""
    major_minor = tuple(int(part) for part in qt.split(".")[:2])
    if major_minor >= (6, 12) and sys.version_info < (3, 12):
        return f"Qt {qt} aborts within minutes on this Python; install PySide6-Essentials 6.10.3."
    if major_minor == (6, 11):
        return f"Qt {qt} breaks SVG export; install PySide6-Essentials 6.10.3."
    if major_minor < GOOD_QT or plotting != GOOD_PYQTGRAPH:
        return (
            f"Qt {qt} with pyqtgraph {plotting} is untested; "
            f"install PySide6-Essentials 6.10.3 and pyqtgraph {GOOD_PYQTGRAPH}."
        )
    return ""
