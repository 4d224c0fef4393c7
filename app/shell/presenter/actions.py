"""What a speaker can do: take the stage, and walk the stops."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import get_args

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog

from flashscope.app.control.actions import Action
from flashscope.app.pages.registry import title_of
from flashscope.app.shell.presenter.notes import NotesWindow
from flashscope.app.shell.presenter.presenter import Stage
from flashscope.app.stage.story import (
    BUNDLED_STORIES,
    ENDING,
    STORIES,
    PageKey,
    StoryError,
    find_story,
    read_story,
)
from flashscope.app.widgets.frame.error_line import ErrorLine

GROUP = "Present"
FORWARD, BACK = "PgDown; Space; Right; Return; Enter", "PgUp; Left; Backspace"
STAGED: Sequence[str] = get_args(PageKey)  # the views that have a form for a stage
FILTER = f"Stories (*{ENDING})"
WALKING = "stage.next", "stage.back", "stage.run", "stage.black", "stage.zoom", "stage.fallback", "escape"
"""What works from the speaker's window, too; and the digits."""


class StageActions:
    """The actions of the Present menu.

    Args:
        stage: What is taken.
        errors: Tells why nothing is presented.
    """

    def __init__(self, stage: Stage, errors: ErrorLine) -> None:
        self._stage, self._errors = stage, errors
        self.notes: NotesWindow | None = None
        stage.changed.connect(self._follow)

    def offered(self) -> list[Action]:
        """What leads to a stage, in the order of the menu."""
        bundled = (
            Action(f"stage.story.{name}", f"Present: {title}", partial(self.present, name), GROUP)
            for name, title in BUNDLED_STORIES.items()
        )
        return [
            Action("stage", "Present what is on show, or end it", self._toggle, GROUP, "F11", staged=True),
            *bundled,
            Action("stage.open", "Present a story …", self._open, GROUP),
            Action("stage.check", "Check a story before the talk …", self._check, GROUP),
        ]

    def walking(self) -> list[Action]:
        """What only a stage has; in the menu it stands behind all that can be done off one."""
        stage, walks = self._stage, self._walks
        on = partial(getattr, stage, "on")
        numbered = [
            _walk(
                f"stop{n}",
                f"Go to stop {n}",
                partial(stage.press_digit, n % 10),
                str(n % 10),
                partial(walks, n),
            )
            for n in range(1, 11)
        ]
        return [
            _walk("next", "Next stop", partial(stage.step, 1), FORWARD, partial(walks, 1)),
            _walk("back", "Previous stop", partial(stage.step, -1), BACK, partial(walks, 1)),
            _walk("run", "Run what this stop runs", stage.run, "Ctrl+Return; Ctrl+Enter", on),
            _walk("black", "Blacken the screen, or show it again", stage.blacken, "B; .", on),
            _walk("crosshair", "Let the pointer move the crosshair, or not", stage.toggle_pointer, "C", on),
            _walk("zoom", "Zoom the plot under the focus, or show all", stage.zoom, "Z", on),
            _walk(
                "fallback",
                "Show a recording in place of a failed run",
                stage.fall_back,
                "R",
                on,
            ),
            _walk("notes", "Show or hide the speaker's notes", self._toggle_notes, "N", on),
            *numbered,
        ]

    def present(self, story: str) -> None:
        """Present a story by its name or path, or say why it cannot be."""
        try:
            found = read_story(find_story(story))
        except StoryError as error:
            self._errors.show_error(f"Nothing was presented: {error}")
        else:
            self._stage.enter(found)

    def _walks(self, stops: int) -> bool:
        return self._stage.on and len(self._stage.stops) >= stops

    def _toggle(self) -> None:
        view = self._stage.window.view
        if self._stage.on:
            self._stage.leave()
        elif view in STAGED and (lack := self._stage.window.staging.lack):
            self._errors.show_error(f"There is nothing to present: {lack}")
        elif view in STAGED:
            self._stage.enter()
        else:
            others = ", ".join(title_of(key) for key in STAGED)
            self._errors.show_here(f"{title_of(view)} has no form for a stage; these have one: {others}.")

    def _open(self) -> None:
        path, _filter = QFileDialog.getOpenFileName(self._stage.window, "Present a story", "", FILTER)
        if path:
            self.present(path)

    def _check(self) -> None:
        """Choose a story, and list what is right for it and what is to be done."""
        window = self._stage.window
        path, _filter = QFileDialog.getOpenFileName(window, "Check a story", str(STORIES), FILTER)
        if path:
            self.check(path)

    def check(self, story: str) -> None:
        """List what is right before this story is presented, and what is to be done."""
        from flashscope.app.shell.presenter.check_dialog import open_check  # noqa: PLC0415 - with it all that draws is loaded

        window = self._stage.window
        try:
            found = read_story(find_story(story))
        except StoryError as error:
            self._errors.show_error(f"Nothing was checked: {error}")
        else:
            open_check(window, window.controller, found)

    def _follow(self) -> None:
        """Keep the speaker's window with the stop; a second screen has it by itself."""
        stage = self._stage
        if not stage.on:
            self._close_notes()
        elif self.notes is None and stage.venue.speaker_apart and stage.stops:
            self._open_notes()
        if self.notes is not None and stage.stop is not None:
            after = stage.stops[stage.at + 1 : stage.at + 2]
            self.notes.show_stop(stage.stop, after[0] if after else None, stage.at + 1)

    def _toggle_notes(self) -> None:
        if self.notes is None:
            self._open_notes()
            self._follow()
        else:
            self._close_notes()

    def _open_notes(self) -> None:
        keys = [*WALKING, "stage.notes", *(f"stage.stop{n}" for n in range(1, 11))]
        shared = [
            action for key in keys if isinstance(action := self._stage.window.registry.find(key), QAction)
        ]
        self.notes = NotesWindow(self._stage.window, shared)
        self.notes.closed.connect(self._forget_notes)
        self._stage.venue.place(self.notes)

    def _forget_notes(self) -> None:
        self.notes = None

    def _close_notes(self) -> None:
        if self.notes is not None:
            self.notes.close()


def _walk(key: str, title: str, do: Callable[[], None], keys: str, can: Callable[[], bool]) -> Action:
    return Action(f"stage.{key}", title, do, GROUP, keys, possible=can, staged=True, claims=True)
