"""What a user can do in the window itself, whatever page is in front."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app.actions import Action
from app.appearance import Choice
from app.controller import Controller
from app.pages.registry import PAGES
from app.settings import SCALES
from app.widgets.palette import CommandPalette
from app.widgets.shortcut_sheet import ShortcutSheet
from profiles.export import to_csv, to_json
from profiles.session import Session
from profiles.store import SUFFIX
from profiles.store.errors import explain_os

if TYPE_CHECKING:
    from app.main_window import MainWindow

EXPORTS = "CSV table (*.csv);;JSON document (*.json)"
FILTER = f"Flashscope sessions (*{SUFFIX})"


class WindowActions:
    """The window's own actions; each does one thing to the window or its controller."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window
        self._palette: CommandPalette | None = None

    def offered(self) -> list[Action]:
        """All of them, in the order of the menus."""
        return [*self._file(), *self._sweep(), *self._view(), *self._help()]

    def open_dialog(self) -> None:
        """Let the user choose a session file and open it."""
        folder = str(self._window.controller.sessions_dir)
        path, _filter = QFileDialog.getOpenFileName(self._window, "Open a session", folder, FILTER)
        if path:
            self._window.open_path(Path(path))

    def _file(self) -> list[Action]:
        return [
            Action("open", "Open a session …", self.open_dialog, "File", "Ctrl+O"),
            Action("save-copy", "Save a copy of the session …", self._save_copy, "File", "Ctrl+S"),
            Action("export", "Export the figures as CSV or JSON …", self._export, "File", "Ctrl+E"),
            Action("quit", "Quit", self._quit, "File", "Ctrl+Q"),
        ]

    def _sweep(self) -> list[Action]:
        controller = self._window.controller
        return [
            Action("cancel", "Cancel the sweep or the replay", controller.cancel, "Sweep", "Esc"),
            Action("replay", "Replay the session on show", lambda: controller.replay(1.0), "Sweep"),
        ]

    def _view(self) -> list[Action]:
        pages = [
            Action(f"page.{page.key}", f"Show {page.title}", self._shower(page.key), "View", f"Ctrl+{number}")
            for number, page in enumerate(PAGES, 1)
        ]
        return [
            Action("page.start", "Show the start page", self._shower("start"), "View", "Ctrl+0"),
            *pages,
            Action("log", "Show or hide the log", self._toggle_log, "View", "Ctrl+L"),
            Action("theme.toggle", "Switch between light and dark", self._toggle_theme, "View", "Ctrl+T"),
            Action("theme.system", "Follow the system's theme", lambda: self._choose("system"), "View"),
            Action("theme.contrast", "Use high contrast", lambda: self._choose("contrast"), "View"),
            Action("scale.up", "Make everything larger", lambda: self._scale(1), "View", "Ctrl++; Ctrl+="),
            Action("scale.down", "Make everything smaller", lambda: self._scale(-1), "View", "Ctrl+-"),
            Action("fullscreen", "Fill the screen", self._toggle_full_screen, "View", "Ctrl+Shift+F"),
        ]

    def _help(self) -> list[Action]:
        return [
            Action("palette", "Find a command", self._open_palette, "Help", "Ctrl+Shift+P"),
            Action("shortcuts", "Show the keyboard shortcuts", self._open_sheet, "Help", "?; F1"),
        ]

    def _quit(self) -> None:
        self._window.close()

    def _shower(self, key: str) -> Callable[[], None]:
        return partial(self._window.show_page, key)

    def _save_copy(self) -> None:
        source = self._window.controller.path
        if source is None or self._window.controller.running:
            self._window.errors.show_error(
                "There is no finished session to copy; open one or wait for the end."
            )
            return
        chosen, _filter = QFileDialog.getSaveFileName(self._window, "Save a copy", source.name, FILTER)
        if not chosen:
            return
        target = _with_suffix(Path(chosen), (SUFFIX,))
        written = self._write(Path(chosen), target, lambda: shutil.copyfile(source, target))
        if written:
            self._window.errors.show_notice(f"Saved a copy as {target.name}.")

    def _export(self) -> None:
        controller, errors = self._window.controller, self._window.errors
        session = controller.session
        if session is None:
            errors.show_error("There is no session to export; run a sweep or open a file first.")
            return
        stem = controller.path.stem if controller.path else "flashscope"
        chosen, kind = QFileDialog.getSaveFileName(self._window, "Export", f"{stem}.csv", EXPORTS)
        if not chosen:
            return
        suffixes = (".json", ".csv") if "json" in kind else (".csv", ".json")
        target = _with_suffix(Path(chosen), suffixes)
        content = _exported(controller, session, target)
        if self._write(Path(chosen), target, lambda: target.write_bytes(content)):
            errors.show_notice(f"Exported {session.plan.cells} points to {target.name}.")

    def _write(self, chosen: Path, target: Path, write: Callable[[], object]) -> bool:
        """Write the file, or say why not; a file that the user did not choose is never overwritten."""
        try:
            if target != chosen and target.exists():
                text = f"{target} exists already; choose it by its whole name, or choose another."
                self._window.errors.show_error(text)
                return False
            write()
        except OSError as error:
            self._window.errors.show_error(f"Nothing was saved: {explain_os(error, target)}", repr(error))
            return False
        return True

    def _toggle_log(self) -> None:
        self._window.log.setVisible(not self._window.log.isVisible())

    def _toggle_theme(self) -> None:
        self._choose("light" if self._window.appearance.theme.name != "light" else "dark")

    def _choose(self, choice: Choice) -> None:
        self._window.settings.appearance = choice
        self._window.appearance.choose(choice)

    def _scale(self, direction: int) -> None:
        settings = self._window.settings
        place = SCALES.index(settings.scale) + direction
        if 0 <= place < len(SCALES):
            settings.scale = SCALES[place]
        self._window.errors.show_notice(f"{settings.scale} % from the next start of Flashscope on.")

    def _toggle_full_screen(self) -> None:
        window = self._window
        window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _open_palette(self) -> None:
        if self._palette is None:
            self._palette = CommandPalette(self._window.registry, self._window)
        self._palette.open_over(self._window)

    def _open_sheet(self) -> None:
        sheet = ShortcutSheet(self._window.registry, self._window)
        sheet.finished.connect(sheet.deleteLater)
        sheet.open()


def _with_suffix(chosen: Path, suffixes: tuple[str, ...]) -> Path:
    """The path, with the first of the suffixes if it has none of them."""
    if chosen.suffix.lower() in suffixes:
        return chosen
    return chosen.with_name(chosen.name + suffixes[0])


def _exported(controller: Controller, session: Session, target: Path) -> bytes:
    if target.suffix.lower() == ".json":
        return to_json(session, str(controller.path) if controller.path else None)
    return f"# provenance: {controller.provenance.badge}\n{to_csv(session)}".encode()
