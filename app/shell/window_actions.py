"""What a user can do in the window itself, whatever page is in front; files have a module of their own."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from flashscope.app.control.actions import Action, ActionRegistry, staged
from flashscope.app.control.appearance import Appearance, ThemeChoice
from flashscope.app.control.controller import Controller
from flashscope.app.control.findable import Findable
from flashscope.app.control.queue_edits import cancel_all
from flashscope.app.control.resuming import Resumer
from flashscope.app.control.settings import SCALES, Settings
from flashscope.app.pages.registry import PLACES, VIEWS, PlaceEntry, ViewEntry
from flashscope.app.shell.finding import Finding
from flashscope.app.shell.full_screen import FullScreen
from flashscope.app.shell.tour import Tour
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.widgets.frame.glossary_sheet import GlossarySheet
from flashscope.app.widgets.frame.palette import TERM, CommandPalette
from flashscope.app.widgets.frame.shortcut_sheet import ShortcutSheet
from flashscope.app.words.glossary import GLOSSARY

ESCAPE_MS = 3000  # in which a second Esc cancels
ASKED = "Press Esc once more to cancel."


class SweepActions:
    """What the window adds to the Sweep menu.

    Args:
        full_screen: What Esc leaves first.
        leaves: What it leaves before that, one a time; each says whether there was anything to leave.
        controller: What runs and is cancelled.
        resumer: Goes on with what was broken off.
        errors: Tells what another Esc does.
    """

    def __init__(
        self,
        full_screen: FullScreen,
        leaves: Sequence[Callable[[], bool]],
        controller: Controller,
        resumer: Resumer,
        errors: ErrorLine,
    ) -> None:
        self._full_screen, self._controller, self._errors = full_screen, controller, errors
        self._leaves, self._resumer = leaves, resumer
        self._asked = QTimer(full_screen, interval=ESCAPE_MS, singleShot=True)
        self._asked.timeout.connect(self._forget)
        controller.running_changed.connect(lambda _running: self._forget())

    def offered(self) -> list[Action]:
        """All actions, in the order of the menu."""
        return [
            Action("cancel", "Cancel the sweep or the replay", self._cancel, "Sweep", also="stop, abort"),
            *staged(
                Action("escape", "Leave stage or full screen; twice: cancel", self._escape, "Sweep", "Esc")
            ),
            Action("resume", "Resume the sweep of the session on show", self._resumer.resume, "Sweep"),
            Action(
                "show_sweep",
                "Show the sweep that runs",
                self._controller.show_sweep,
                "Sweep",
                possible=lambda: self._controller.sweep_behind,
            ),
            Action("replay", "Replay the session on show", lambda: self._controller.replay(1.0), "Sweep"),
        ]

    def _escape(self) -> None:
        """Leave what is open; a key hit by mistake, as on a stage, ends no sweep."""
        if any(leave() for leave in self._leaves):
            return
        if self._full_screen.on:
            self._full_screen.toggle()
        elif self._asked.isActive():
            self._forget()
            self._cancel()
        elif self._controller.running:
            self._asked.start()
            self._errors.show_notice(ASKED)

    def _cancel(self) -> None:
        """Cancel what runs; say what begins then."""
        queue, measuring = self._controller.queue, self._controller.measuring
        self._controller.cancel()
        if measuring and queue.goes_on:
            self._errors.show_notice(f"Cancelled; the next one begins: {queue.entries[0].told}.")
            self._errors.offer("Cancel all", partial(cancel_all, self._controller))

    def _forget(self) -> None:
        """Let the next Esc be the first one again, and say no more what it would do."""
        self._asked.stop()
        if self._errors.text == ASKED:
            self._errors.hide()


class ViewActions:
    """What the window adds to the View menu.

    Args:
        full_screen: Lets the window fill the screen.
        show_place: Brings a place to the front by its key.
        show_view: Brings a view to the front by its key.
        log: What is shown and hidden.
        errors: Tells what was changed.
        appearance: The theme in use.
        settings: Where choices are kept.
    """

    def __init__(
        self,
        full_screen: FullScreen,
        show_place: Callable[[str], None],
        show_view: Callable[[str], None],
        *,
        log: QWidget,
        errors: ErrorLine,
        appearance: Appearance,
        settings: Settings,
    ) -> None:
        self._full_screen, self._show_place, self._show_view = full_screen, show_place, show_view
        self._log, self._errors, self._appearance, self._settings = log, errors, appearance, settings

    def offered(self) -> list[Action]:
        """All actions, in the order of the menu."""
        return [
            *(self._place_action(place, number) for number, place in enumerate(PLACES, 1)),
            *(self._view_action(view) for view in VIEWS.values()),
            Action("log", "Show or hide the log", self._toggle_log, "View", "Ctrl+L"),
            *staged(
                self._theme_action(),
                Action("theme.system", "Follow the system's theme", lambda: self._choose("system"), "View"),
                Action("theme.contrast", "Use high contrast", lambda: self._choose("contrast"), "View"),
            ),
            *self._size_actions(),
        ]

    def _theme_action(self) -> Action:
        title, also = "Switch between light and dark", "theme, mode, colours, colors"
        return Action("theme.toggle", title, self._toggle_theme, "View", "Ctrl+T", also=also)

    def _size_actions(self) -> list[Action]:
        fill, up, down = self._full_screen.toggle, partial(self._scale, 1), partial(self._scale, -1)
        larger, smaller = (f"zoom {way}, size, scale, font, text" for way in ("in, bigger", "out"))
        return [
            Action("scale.up", "Make everything larger", up, "View", "Ctrl++; Ctrl+=", also=larger),
            Action("scale.down", "Make everything smaller", down, "View", "Ctrl+-", also=smaller),
            Action(
                "fullscreen", "Fill the screen", fill, "View", "Ctrl+Shift+F", also="full screen, maximize"
            ),
        ]

    def _place_action(self, place: PlaceEntry, number: int) -> Action:
        show = partial(self._show_place, place.key)
        key, title = f"place.{place.key}", f"Go to {place.title}"
        return Action(key, title, show, "View", f"Ctrl+{number}", also=place.title)

    def _view_action(self, view: ViewEntry) -> Action:
        show, keys = partial(self._show_view, view.key), view.keys or view.own_keys
        on = (view.page_key, *view.beside) if view.own_keys else ()
        title = f"Show {view.title}"
        return Action(f"page.{view.key}", title, show, "View", keys, keys_on=on, also=view.title)

    def _toggle_log(self) -> None:
        self._log.setVisible(not self._log.isVisible())

    def _toggle_theme(self) -> None:
        self._choose("light" if self._appearance.theme.name != "light" else "dark")

    def _choose(self, choice: ThemeChoice) -> None:
        self._settings.appearance = choice
        self._appearance.choose(choice)

    def _scale(self, direction: int) -> None:
        settings = self._settings
        place = SCALES.index(settings.scale) + direction
        if 0 <= place < len(SCALES):
            settings.scale = SCALES[place]
            self._appearance.zoom(settings.scale)
        self._errors.show_notice(f"Size: {settings.scale}%")


class HelpActions:
    """The palette, the sheet of keys and the glossary over a window, and the tour through it."""

    def __init__(
        self, window: QWidget, registry: ActionRegistry, settings: Settings, tour: Tour, finding: Finding
    ) -> None:
        self._window, self._registry, self._settings, self._tour = window, registry, settings, tour
        self._finding = finding
        self._palette: CommandPalette | None = None

    def offered(self) -> list[Action]:
        """All actions, in the order of the menu."""
        return [
            *staged(
                Action("palette", "Find anything by its name", self._open_palette, "Help", "Ctrl+Shift+P"),
                Action("shortcuts", "Show the keyboard shortcuts", self._open_sheet, "Help", "?; F1"),
            ),
            *staged(Action("glossary", "Glossary", self.open_glossary, "Help")),
            Action("tour", "Take the tour", self._tour.begin, "Help"),
        ]

    def _open_palette(self) -> None:
        if self._palette is None:
            settings = self._settings
            self._palette = CommandPalette(
                self._registry, self._window, lambda: settings.commands, self._findables
            )
            self._palette.ran.connect(settings.add_command)
            self._finding.sessions.changed.connect(self._palette.refresh)
        self._finding.sessions.look()
        self._palette.open_over(self._window)

    def _findables(self) -> Iterator[Findable]:
        yield from self._finding.findables()
        for term in GLOSSARY:
            yield Findable(TERM, term.name, partial(self.open_glossary, term.name))

    def open_glossary(self, term: str = "") -> None:
        """Show what the words on screen mean, that of this term first."""
        sheet = GlossarySheet(self._window, term)
        sheet.finished.connect(sheet.deleteLater)
        sheet.open()

    def _open_sheet(self) -> None:
        sheet = ShortcutSheet(self._registry, self._window)
        sheet.finished.connect(sheet.deleteLater)
        sheet.open()
