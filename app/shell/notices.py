"""What the window says of the session on show and of what happens: in its title, log and message line."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.control.presence import STATES, Presence
from flashscope.app.control.queue import QueuedSweep
from flashscope.app.control.settings import Settings
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.widgets.frame.log_panel import LogPanel
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.results.efficiency import efficiency_lines
from flashscope.app.words.results.sessions import named
from flashscope.profiles.results.model.drift import drift_text
from flashscope.profiles.results.model.parts import part_text, parts, warnings
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store.errors import REPLACED
from flashscope.profiles.wire.events import Event, LogLine, PlanFinished

REWRITTEN = "Another program has changed the words about this session; they are shown as they are now."

ENDED = "The sweep has ended."


class Notices:
    """Listens to the controller.

    Args:
        window: Has the title.
        controller: What happens.
        presence: Whether the file on show is still there.
        settings: Keeps the recent files.
        log: Takes what is told at length.
        errors: The message line.
        open_path: Shows a session file.
    """

    def __init__(
        self,
        window: QWidget,
        controller: Controller,
        presence: Presence,
        *,
        settings: Settings,
        log: LogPanel,
        errors: ErrorLine,
        open_path: Callable[[Path], None],
    ) -> None:
        self._window, self._controller, self._presence = window, controller, presence
        self._settings, self._log, self._errors, self._open_path = settings, log, errors, open_path
        controller.error_raised.connect(self.show_error)
        controller.not_opened.connect(self._offer_retry)
        self._no_trace = ""  # why the last trace failed
        controller.trace_failed.connect(partial(setattr, self, "_no_trace"))
        controller.trace_ready.connect(lambda _trace: errors.take_back(self._no_trace))
        controller.sweep_told.connect(self._follow)
        controller.queue.begun.connect(self._tell_begun)
        controller.session_changed.connect(self._tell_parts)
        controller.words.changed.connect(self._tell_file)
        presence.changed.connect(self._tell_file)
        presence.changed.connect(self._offer_reload)
        presence.rewritten.connect(lambda: errors.show_notice(REWRITTEN))

    def show_error(self, text: str, details: str) -> None:
        """Tell what went wrong, in the message line and in the log."""
        self._errors.show_error(text, details)
        self._log.append(LogLine(source="flashscope", text=text, level="error"))

    def offer(self, text: str, title: str, act: Callable[[], None]) -> None:
        """Say something and offer what can be done about it, but in the place of no error."""
        if not self._errors.isVisible():
            self._errors.show_notice(text)
            self._errors.offer(title, act)

    def _offer_retry(self, path: Path) -> None:
        self._errors.offer("Retry", lambda: self._open_path(path))

    def _tell_file(self) -> None:
        """Name the file on show in the title and, while it is there, among the recent ones."""
        path, session = self._controller.path, self._controller.session
        if path is None:
            self._window.setWindowTitle("Flashscope")
            return
        state = self._presence.state
        mark = f" ({STATES[state]})" if state != "there" else ""
        name = cut_short(named(session, path) if session else path.stem, MOST_OF_NAME)
        self._window.setWindowTitle(f"{name}{mark} – Flashscope")
        if session is not None and state == "there":
            self._settings.add_recent(path, session.name)

    def _offer_reload(self) -> None:
        """Say that the file holds something else now: what is on show stays until the user wants that.

        What was refused for this reason stays told: its details may hold words that are nowhere else.
        """
        path = self._controller.path
        if path is None or self._presence.state != "replaced":
            return
        replaced, errors = REPLACED.format(path.name), self._errors
        if not (errors.isVisible() and errors.text.startswith(replaced)):
            errors.show_error(f"{replaced}; what is shown is as it was opened.")
            errors.offer("Reload", partial(self._open_path, path))

    def _follow(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, LogLine):
                self._log.append(event)
            elif isinstance(event, PlanFinished) and not self._controller.aside:
                self._tell_end(self._controller.sweep)
                if not self._controller.sweep_on_show and not self._controller.queue.goes_on:
                    self.offer(ENDED, "Show the sweep", self._controller.show_sweep)

    def _tell_begun(self, entry: QueuedSweep) -> None:
        """Say which sweep has begun by itself, but in the place of no error."""
        if not self._errors.isVisible():
            self._errors.show_notice(f"The next one has begun: {entry.told}.")

    def _tell_end(self, session: Session | None) -> None:
        """Say in the log how far a sweep drifted, and where its time went."""
        if session is not None and (drift := drift_text(session)):
            self._log.append(LogLine(source="drift check", text=drift))
        for text in efficiency_lines(session) if session is not None else ():
            self._log.append(LogLine(source="sweep", text=text))
        self._tell_parts(session)

    def _tell_parts(self, session: Session | None) -> None:
        """Say in the log which parts a session has, and warn where they cannot be compared."""
        if session is None:
            return
        for part in parts(session) if session.resumed else ():
            self._log.append(LogLine(source="parts", text=part_text(part)))
        if told := warnings(session):
            self._errors.show_error(" ".join(told))
