"""The window in which a story is written: its stops in a list, and the fields of the chosen one."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from msgspec.structs import replace
from PySide6.QtCore import QChildEvent, QEvent, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPixmap, QShowEvent, QWindow
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.pages.registry import title_of
from flashscope.app.shell.editor.asking import ask_for_session
from flashscope.app.shell.editor.desk import Desk
from flashscope.app.shell.editor.filing import Filing
from flashscope.app.shell.editor.frame import EditorFrame
from flashscope.app.shell.editor.keys import editor_actions
from flashscope.app.shell.editor.one_undo import show_line
from flashscope.app.shell.editor.scenes import Scenes
from flashscope.app.shell.editor.sentence import said
from flashscope.app.shell.editor.shown_stop import stop_on_show
from flashscope.app.shell.editor.stop_list import StopEntry
from flashscope.app.shell.editor.thumbnails import Thumbnails
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.shell.presenter.presenter import Stage
from flashscope.app.stage.blanks import filled
from flashscope.app.stage.draft import showing
from flashscope.app.stage.story import ENDING, Stop, StoryError
from flashscope.app.stage.writing import session_named
from flashscope.app.widgets.frame.dropping import dropped_file
from flashscope.app.widgets.keyed import name_keys
from flashscope.app.words.plain import cut_short
from flashscope.profiles.store import SUFFIX

SETTLE_MS = 150  # in which several news of sessions are one
MOST_FILES = 30  # sessions that are offered from a folder
MOST_OF_FILE = 32  # characters of its name


class StoryEditor(EditorFrame):
    """One story, beside the window whose views its stops show.

    Attributes:
        desk: Has the story.
        filing: Opens and saves it.
        scenes: Knows what stops show.
        thumbnails: Has pictures of them.

    Args:
        window: Shows what becomes a stop.
        stage: Presents the story.
    """

    def __init__(self, window: PagedWindow, stage: Stage) -> None:
        super().__init__(window)
        self._window, self._stage, self._trying = window, stage, False
        controller = window.controller
        self.desk = Desk(controller.sessions_dir, self)
        self.filing = Filing(self, self.desk, self.errors)
        self.scenes = Scenes(controller, self)
        self.thumbnails = Thumbnails(controller, window.appearance, self)
        self._says: dict[Stop, str] = {}  # what stops say now
        self._settle = QTimer(self, interval=SETTLE_MS, singleShot=True)
        for action in editor_actions(self):
            self.addAction(self.registry.add(action))
        name_keys(self, self.registry)
        self._connect()
        self.setAcceptDrops(True)
        self.apply_theme(window.appearance.theme)

    def _connect(self) -> None:
        desk = self.desk
        desk.changed.connect(self.refresh)
        self.titled.connect(lambda text: desk.edit(desk.draft.titled(text), "story's title"))
        self.stops.chosen.connect(desk.choose)
        self.stops.moved.connect(lambda source, place: desk.edit(desk.draft.moved(source, place)))
        self.form.edited.connect(lambda stop, mark: desk.edit(desk.draft.changed(stop), mark))
        self.form.take.clicked.connect(lambda _checked=False: self.take())
        self.form.file_wanted.connect(self._choose_file)
        self.undo.left.connect(desk.pause)
        self.scenes.changed.connect(self._hear)
        self.thumbnails.drawn.connect(self._hear)
        self._settle.timeout.connect(self.refresh)
        self._stage.changed.connect(self._follow_stage)
        self._window.appearance.changed.connect(self.apply_theme)

    def refresh(self) -> None:
        """Show the story as it is now."""
        desk, draft = self.desk, self.desk.draft
        self.setWindowTitle(f"{cut_short(desk.name)}[*] – Story – Flashscope")
        self.setWindowModified(desk.dirty)
        self.state.setText(state_of(desk))
        show_line(self.title, draft.title)
        looks = [
            self.thumbnails.look(stop, desk.session_of(stop), desk.beside_of(stop)) for stop in draft.stops
        ]
        pictures = [(self.thumbnails.picture(look), self.thumbnails.words(look)) for look in looks]
        entries = [
            self._entry(number, stop, *picture)
            for number, (stop, picture) in enumerate(zip(draft.stops, pictures, strict=True), 1)
        ]
        self.stops.show_entries(entries, draft.at)
        self.stack.setCurrentIndex(int(draft.stop is None))
        if draft.stop is not None:
            scene = self.scenes.scene(draft.stop, desk.session_of(draft.stop))
            self.form.show_stop(draft.stop, scene, f"Stop {draft.at + 1} of {len(draft.stops)}")
        self.registry.refresh()
        self.enable()
        if self.isVisible():
            self.thumbnails.want(looks)

    def _entry(self, number: int, stop: Stop, picture: QPixmap | None, words: str) -> StopEntry:
        wrong = self.desk.problem(stop)
        says = wrong or self._said(stop)
        return StopEntry(number, stop.title or title_of(stop.page), says, picture, words, bool(wrong))

    def _said(self, stop: Stop) -> str:
        """What a stop says now; kept until something else has been read."""
        if stop not in self._says:
            scene = self.scenes.scene(stop, self.desk.session_of(stop))
            self._says[stop] = said(stop.sentence, filled(stop.sentence, scene))
        return self._says[stop]

    def _hear(self) -> None:
        """Something was read or drawn."""
        self._says = {}
        if self.isVisible() and not self._settle.isActive():
            self._settle.start()

    def add(self) -> int:
        """Add what is on show behind the chosen stop; gives its number.

        Raises:
            StoryError: The view in front has no place in a story.
        """
        self.desk.edit(self.desk.draft.added(stop_on_show(self._window, self.desk.base)))
        return self.desk.draft.at + 1

    def take(self) -> None:
        """Let the chosen stop show what is on show."""
        stop = self.desk.draft.stop
        if stop is not None:
            self.telling("Nothing was taken", lambda: self._take(stop))

    def _take(self, stop: Stop) -> None:
        shown = stop_on_show(self._window, self.desk.base)
        self.desk.edit(self.desk.draft.changed(showing(stop, shown)))

    def telling(self, failed: str, act: Callable[[], object]) -> None:
        """Do something, or say why it cannot be done."""
        try:
            act()
        except StoryError as error:
            self.errors.show_error(f"{failed}: {error}")

    def try_here(self) -> None:
        """Present the story from the chosen stop on; this window comes back when the stage is left."""
        try:
            story = self.desk.story()
        except StoryError as error:
            self.errors.show_error(f"Nothing was presented: {error}")
            return
        at, self._trying = self.desk.draft.at, True
        self.hide()
        self._window.activateWindow()
        self._stage.enter(story)
        self._stage.go(at)

    def _follow_stage(self) -> None:
        """Come back once the stage is left, at the stop that was on it."""
        if self._trying and not self._stage.on:
            self._trying = False
            self.desk.choose(self._stage.at)
            self.open()

    def open(self) -> None:
        """Come to the front."""
        self.form.offer_sessions(self._files())
        self.show()
        self.raise_()
        self.activateWindow()
        self.refresh()
        (self.stops if self.desk.draft.stops else self.title).setFocus()

    def _files(self) -> list[tuple[str, str]]:
        """The sessions beside the story, and the newest of the user's."""
        folders = dict.fromkeys((self.desk.base.parent, self._window.controller.sessions_dir))
        files = [path for folder in folders for path in _newest(folder)]
        named = (session_named(Stop("profile"), path, self.desk.base).session for path in files)
        return [(said, path.stem) for said, path in zip(named, files, strict=True)]

    def _choose_file(self) -> None:
        stop, path = self.desk.draft.stop, ask_for_session(self, self.desk.base.parent)
        if path is not None and stop is not None:
            named = session_named(stop, path.absolute(), self.desk.base)
            self.desk.edit(self.desk.draft.changed(replace(stop, session=named.session)))
        else:
            self.refresh()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour icons; other pictures are drawn."""
        super().apply_theme(theme)
        if self.isVisible():
            self.refresh()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Stand beside the main window and not always over it, whose views the user needs meanwhile."""
        super().showEvent(event)
        handle = self.windowHandle()
        if handle is not None:
            handle.setTransientParent(cast("QWindow", None))

    @guarded(bool)
    def event(self, event: QEvent) -> bool:
        """Dress a dialog; look whether the file has changed whenever the user comes back."""
        child = event.child() if isinstance(event, QChildEvent) and event.polished() else None
        if isinstance(child, QWidget) and child.isWindow():
            self._window.appearance.dress(child)
        if event.type() == QEvent.Type.WindowActivate:
            self.filing.look_at_disk()
        return super().event(event)

    @guarded()
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one story."""
        if _is_story(dropped_file(event)):
            event.acceptProposedAction()

    @guarded()
    def dropEvent(self, event: QDropEvent) -> None:
        """Open the story dropped."""
        path = dropped_file(event)
        if path is not None and _is_story(path):
            event.acceptProposedAction()
            self.filing.open(path)

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask once where edits would be lost."""
        if not self.filing.may_go():
            event.ignore()
            return
        self.stop()
        super().closeEvent(event)

    def stop(self) -> None:
        """Let the story go, saved or not, and draw and read no more."""
        self._trying = False
        self.desk.begin()
        self._settle.stop()
        self.thumbnails.stop()
        self.scenes.wait()


def _is_story(path: Path | None) -> bool:
    return path is not None and path.suffix.lower() == ENDING


def state_of(desk: Desk) -> str:
    """The name of the story's file, and whether it has all edits."""
    file = cut_short(desk.path.name, MOST_OF_FILE) if desk.path is not None else "No file yet"
    return f"{file} · edited" if desk.dirty else file


def _newest(folder: Path) -> list[Path]:
    """The newest sessions of a folder."""
    try:
        files = [*folder.glob(f"*{SUFFIX}")]
        return sorted(files, key=lambda path: -path.stat().st_mtime_ns)[:MOST_FILES]
    except OSError:
        return []
