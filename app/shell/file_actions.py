"""What a user can do with files: open a session, copy it, export its figures."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.control.actions import Action
from app.control.controller import Controller
from app.widgets.error_line import ErrorLine
from app.widgets.saving import target_of
from profiles.results.cells import comment
from profiles.results.export import to_csv, to_json
from profiles.results.session import Session
from profiles.store import SUFFIX, SessionFileError, copy_session
from profiles.store.errors import explain_os

EXPORTS = "CSV table (*.csv);;JSON document (*.json)"
FILTER = f"Flashscope sessions (*{SUFFIX})"


class FileActions:
    """The actions of the File menu.

    Args:
        window: What dialogs stand over, and what is closed in the end.
        controller: Has the session on show and its file.
        errors: Tells what was written, or why not.
        open_path: Shows a session file.
    """

    def __init__(
        self, window: QWidget, controller: Controller, errors: ErrorLine, open_path: Callable[[Path], None]
    ) -> None:
        self._window, self._controller, self._errors = window, controller, errors
        self._open_path = open_path

    def offered(self) -> list[Action]:
        """All of them, in the order of the menu."""
        return [
            Action("open", "Open a session …", self.open_dialog, "File", "Ctrl+O"),
            Action("save-copy", "Save a copy of the session …", self._save_copy, "File", "Ctrl+S"),
            Action("export", "Export the figures as CSV or JSON …", self._export, "File", "Ctrl+E"),
            Action("quit", "Quit", self._quit, "File", "Ctrl+Q"),
        ]

    def open_dialog(self) -> None:
        """Let the user choose a session file and open it."""
        folder = str(self._controller.sessions_dir)
        path, _filter = QFileDialog.getOpenFileName(self._window, "Open a session", folder, FILTER)
        if path:
            self._open_path(Path(path))

    def _save_copy(self) -> None:
        source = self._controller.path
        if source is None or self._controller.running:
            self._errors.show_error("There is no finished session to copy; open one or wait for the end.")
            return
        chosen, _filter = QFileDialog.getSaveFileName(self._window, "Save a copy", source.name, FILTER)
        if not chosen:
            return
        target = self._written(Path(chosen), (SUFFIX,), lambda target: copy_session(source, target))
        if target is not None:
            self._errors.show_notice(f"Saved a copy as {target.name}.")

    def _export(self) -> None:
        controller, errors = self._controller, self._errors
        session = controller.session
        if session is None:
            errors.show_error("There is no session to export; run a sweep or open a file first.")
            return
        stem = controller.path.stem if controller.path else "flashscope"
        chosen, kind = QFileDialog.getSaveFileName(self._window, "Export", f"{stem}.csv", EXPORTS)
        if not chosen:
            return
        suffixes = (".json", ".csv") if "json" in kind else (".csv", ".json")
        target = self._written(
            Path(chosen),
            suffixes,
            lambda target: target.write_bytes(_exported(controller, session, target)),
        )
        if target is not None:
            errors.show_notice(f"Exported {session.plan.cells} points to {target.name}.")

    def _written(
        self, chosen: Path, suffixes: tuple[str, ...], write: Callable[[Path], object]
    ) -> Path | None:
        """Write the file that the choice leads to and return its path; None, and said: it was not written."""
        try:
            target = target_of(chosen, suffixes)
            write(target)
        except (FileExistsError, SessionFileError) as error:
            self._errors.show_error(str(error))
        except OSError as error:
            self._errors.show_error(f"Nothing was saved: {explain_os(error, chosen)}", repr(error))
        else:
            return target
        return None

    def _quit(self) -> None:
        self._window.close()


def _exported(controller: Controller, session: Session, target: Path) -> bytes:
    if target.suffix.lower() == ".json":
        return to_json(session, str(controller.path) if controller.path else None)
    return (comment("provenance", controller.provenance.badge) + to_csv(session)).encode()
