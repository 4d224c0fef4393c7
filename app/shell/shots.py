"""Pictures of every view, and of the memories behind one of them, in both themes, at several sizes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from PySide6.QtCore import QEvent, QEventLoop, QTimer
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from flashscope.app.control.bundled import alike_recordings
from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK, LIGHT, Theme
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.roofline import RooflinePage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.app.shell.start_up.application import make_application
from flashscope.app.widgets.paint_turns import PaintTurns
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import SessionFileError, sessions_dir

MEMORIES = "roofline-memories"
PICTURES = (*VIEWS, MEMORIES)
PROBE_MS = 60_000  # a machine that does not answer by then is shown as unknown
TWO = 2  # sessions make a comparison
SETTLE_MS = 200  # layouts, coalesced plots


def render_pages(
    folder: Path,
    session: Path | None,
    sizes: Sequence[tuple[int, int]],
    themes: Sequence[Theme] = (DARK, LIGHT),
) -> Iterator[Path]:
    """Render every view as `VIEW-THEME-WxH.png`; yields each file as it is written.

    Raises:
        SessionFileError: A picture cannot be written, or there is a file of its name.
    """
    make_application()
    window = build_window(Controller(LocalEngine, sessions_dir()), DARK)
    window.show()
    try:
        refuse_taken(folder / _name(*one) for one in product(PICTURES, themes, sizes))
        _wait_for_machine(window.controller)
        if session is not None:
            _open(window, session)
        _step(window)
        _compare(window)
        for theme, size in product(themes, sizes):
            window.appearance.use(theme)
            window.resize(*size)
            for key in PICTURES:
                path = folder / _name(key, theme, size)
                _save(window, key, path)
                yield path
    finally:
        window.close_unasked()


def _name(key: str, theme: Theme, size: tuple[int, int]) -> str:
    return f"{key}-{theme.name}-{size[0]}x{size[1]}.png"


def refuse_taken(paths: Iterable[Path]) -> None:
    """Refuse to write over a picture.

    Raises:
        SessionFileError: One of these files is there.
    """
    for path in paths:
        if path.exists():
            raise SessionFileError(f"{path} exists already; remove it, or name another folder.")


def grab_whole(window: QWidget) -> QPixmap:
    """A window or page as it is, whole also in the middle of a sweep, when its parts are painted in turns."""
    for turns in window.findChildren(PaintTurns):
        turns.finish()
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)  # of texts that were written just now
    return window.grab()


def _save(window: MainWindow, key: str, path: Path) -> None:
    window.show_page(key if key in VIEWS else "roofline")
    if isinstance(window.page, RooflinePage):
        window.page.show_memories(key == MEMORIES)
    wait_for_all(window.page)  # what it reads in the background
    run_loop(SETTLE_MS)
    if not grab_whole(window).save(str(path)):
        raise SessionFileError(f"{path} cannot be written: check the folder's permissions and the disk.")


def _step(window: MainWindow) -> None:
    """Bring the Stepper into the middle of a trace, where every panel has something to show."""
    page = window.pages["stepper"]
    if not isinstance(page, StepperPage):
        return
    loop = QEventLoop()
    window.controller.trace_ready.connect(loop.quit)
    QTimer.singleShot(PROBE_MS, loop.quit)
    page.show_preset("random")
    loop.exec()
    if page.story is not None:
        page.seek(len(page.story.timeline.steps) // 2)


def _compare(window: MainWindow) -> None:
    """Compare the session on show, or a recording that comes with the program, with the others of these."""
    page, shown = window.pages["compare"], window.controller.path
    files = compared_with(shown, alike_recordings())
    if not isinstance(page, ComparePage) or len(files) < TWO:
        return
    loop = QEventLoop()
    page.lineup.found.connect(loop.quit)
    QTimer.singleShot(PROBE_MS, loop.quit)
    page.choose(files)
    loop.exec()


def compared_with(shown: Path | None, others: Sequence[Path]) -> list[Path]:
    """These files, that on show first; none twice, of which that on show may be a copy."""
    found: dict[str, Path] = {}
    for path in others if shown is None else (shown, *others):
        found.setdefault(path.name, path)
    return [*found.values()]


def _open(window: MainWindow, session: Path) -> None:
    """Show a session, or the reason why it cannot be shown."""
    loop = QEventLoop()
    window.controller.session_changed.connect(loop.quit)
    window.controller.not_opened.connect(loop.quit)
    window.open_path(session)
    loop.exec()


def _wait_for_machine(controller: Controller) -> None:
    loop = QEventLoop()
    controller.machine_found.connect(loop.quit)
    QTimer.singleShot(PROBE_MS, loop.quit)
    loop.exec()


def run_loop(milliseconds: int) -> None:
    """Let the window do what it has to for so long."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
    QApplication.sendPostedEvents()


def wait_until(there: Callable[[], bool]) -> None:
    """Let the window do what it has to until something is there, or nobody would wait any longer."""
    for _ in range(PROBE_MS // SETTLE_MS):
        if there():
            return
        run_loop(SETTLE_MS)
