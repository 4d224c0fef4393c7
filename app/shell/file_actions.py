"""What a user can do with files: open a session, copy it, export its figures."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event

from PySide6.QtWidgets import QFileDialog, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.appearance import appearance_of
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.look.picture import PictureOptions
from flashscope.app.report.kinds import KINDS, report_bytes
from flashscope.app.shell.elsewhere import draw_elsewhere
from flashscope.app.shell.export_dialog import ExportDialog
from flashscope.app.shell.export_each import Exported, count_of, export_each
from flashscope.app.stage.story import ENDING
from flashscope.app.widgets.dialogs.saving import write_chosen
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.words.results.holding import written_text
from flashscope.app.words.results.provenance import Provenance
from flashscope.app.words.results.sessions import as_file_name, named
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import (
    SUFFIX,
    ReplacedFileError,
    SessionFileError,
    SessionMark,
    copy_session,
    write_atomically,
)
from flashscope.profiles.store.reader import read_mark

FILTER = f"Flashscope sessions (*{SUFFIX})"
OPENED = f"{FILTER};;Stories (*{ENDING})"
NONE_TO_COPY = "There is no finished session to copy; open one or wait for the end."
NONE_TO_EXPORT = "There is no session to export; run a sweep or open a file first."


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
        self._chores, self._closing = Chores(window), Event()
        self._chores.failed.connect(errors.show_error)
        controller.session_changed.connect(self._follow)

    def _follow(self, session: Session | None) -> None:
        """Say no more that there is no session once there is one."""
        if session is not None:
            self._errors.take_back(NONE_TO_EXPORT)
            if not self._controller.moving:
                self._errors.take_back(NONE_TO_COPY)

    def offered(self) -> list[Action]:
        """All actions, in the order of the menu."""
        return [
            Action("open", "Open a session …", self.open_dialog, "File", "Ctrl+O"),
            Action("save-copy", "Save a copy of the session …", self._save_copy, "File", "Ctrl+S"),
            Action("export", "Export the session …", self._export, "File", "Ctrl+E"),
            Action("quit", "Quit", self._quit, "File", "Ctrl+Q", also="exit, close"),
        ]

    def stop(self) -> None:
        """Write no more of several sessions than the one that is being written."""
        self._closing.set()

    def open_dialog(self) -> None:
        """Let the user choose a session file and open it."""
        folder = str(self._controller.sessions_dir)
        path, _filter = QFileDialog.getOpenFileName(self._window, "Open a session", folder, OPENED)
        if path:
            self._open_path(Path(path))

    def _save_copy(self) -> None:
        controller = self._controller
        source = controller.path
        if source is None or controller.moving:
            self._errors.show_error(NONE_TO_COPY)
            return
        name = f"{_proposed(controller.session, source)}{SUFFIX}"
        chosen, _filter = QFileDialog.getSaveFileName(self._window, "Save a copy", name, FILTER)
        if not chosen:
            return
        copy = partial(copy_session, source, meant=controller.mark)
        self._write(Path(chosen), (SUFFIX,), copy, "Saved a copy as")

    def _export(self) -> None:
        controller = self._controller
        session = controller.session
        if session is None:
            self._errors.show_error(NONE_TO_EXPORT)
            return
        dialog = ExportDialog(session, appearance_of().theme.name, self._window)
        dialog.chosen.connect(partial(self._export_as, session))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def export_each(self, paths: Sequence[Path]) -> None:
        """Ask in which format and where to, and write a file of each of these sessions."""
        dialog = ExportDialog(None, appearance_of().theme.name, self._window)
        dialog.chosen.connect(partial(self._export_into, paths))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _export_into(self, paths: Sequence[Path], kind: str, look: PictureOptions) -> None:
        folder = QFileDialog.getExistingDirectory(self._window, f"Folder for {count_of(paths)}")
        if folder:
            self._errors.show_progress(f"Exporting {count_of(paths)} …")
            write = partial(export_each, paths, kind, look, Path(folder), self._closing)
            self._chores.do(write, self._tell_exported)

    def _tell_exported(self, exported: Exported) -> None:
        if exported.failed:
            self._errors.show_error(exported.words, "\n".join(exported.failed))
        else:
            self._errors.show_notice(exported.words)

    def _export_as(self, session: Session, kind: str, look: PictureOptions) -> None:
        """Ask where to, and write."""
        controller = self._controller
        path, source = controller.path, controller.provenance
        of_kind = KINDS[kind]
        if of_kind.picture and (path is None or controller.moving):
            self._errors.show_error("A picture is drawn from a finished session's file; wait for the end.")
            return
        name = f"{_proposed(session, path)}{of_kind.suffix}"
        kinds = f"{of_kind.title} (*{of_kind.suffix})"
        chosen, _filter = QFileDialog.getSaveFileName(self._window, of_kind.title, name, kinds)
        if not chosen:
            return
        if of_kind.picture and path is not None:
            write = partial(_draw, path, controller.mark, kind, look)
        else:
            write = partial(_export_to, kind, session.snapshot(), path, source)
        what = written_text(session, with_ranks=of_kind.with_ranks)
        self._write(Path(chosen), (of_kind.suffix,), write, f"Exported {what} to")

    def _write(
        self, chosen: Path, suffixes: tuple[str, ...], write: Callable[[Path], object], said: str
    ) -> None:
        """Write the file that the choice leads to in the background, and say so; or why it was not."""
        self._errors.show_progress(f"Writing {chosen.name} …")
        self._chores.do(partial(_written, chosen, suffixes, write), partial(self._tell_written, said))

    def _tell_written(self, said: str, result: Path | ReplacedFileError) -> None:
        if isinstance(result, ReplacedFileError):
            self._errors.show_error(str(result), result.detail)
            self._errors.offer("Reload", partial(self._open_path, result.path))
        else:
            self._errors.show_notice(f"{said} {result.name}.")

    def _quit(self) -> None:
        self._window.close()


def _proposed(session: Session | None, path: Path | None) -> str:
    """The name of a new file for a session, without an ending."""
    return "flashscope" if path is None else as_file_name(named(session, path) if session else path.stem)


def _written(
    chosen: Path, suffixes: tuple[str, ...], write: Callable[[Path], object]
) -> Path | ReplacedFileError:
    """The file that was written, or that the session's file holds another one."""
    try:
        return write_chosen(chosen, suffixes, write)
    except ReplacedFileError as error:
        return error


def _draw(path: Path, meant: SessionMark | None, kind: str, look: PictureOptions, target: Path) -> None:
    """Draw a picture of what is on show: it is another process that reads its file."""
    if meant is not None:
        meant.check(path, read_mark(path)[0], recorded=False)
    draw_elsewhere(path, kind, look, target)


def _export_to(kind: str, session: Session, path: Path | None, source: Provenance, target: Path) -> None:
    try:
        content = report_bytes(kind, session, str(path) if path else None, source)
    except UnsupportedError as error:
        raise SessionFileError(f"Nothing was saved: {error}") from error
    write_atomically(target, content, replace=True)
