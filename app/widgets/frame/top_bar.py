"""The top bar: menu, provenance, Present, Replay, Resume, Cancel, and New sweep or Run."""

from collections.abc import Callable

from PySide6.QtCore import QMetaObject, QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QWidget

from flashscope.app.control.actions import ActionRegistry
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.control.resuming import resumable
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.badge import Badge
from flashscope.app.widgets.buttons import (
    ICON_PX,
    SteadyButton,
    icon_button,
    recolour,
    size_icon,
    text_button,
)
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.results.provenance import Provenance

NEW = "New sweep …"
PRESENT = "Present"  # the group of what can be done with a story, too
RUN, RUN_ROOMY = "Run", "Run  Ctrl+⏎"
QUEUE = "Add to queue"  # what Run does while something runs or waits
RUN_TIP, QUEUE_TIP = "Run the sweep", "Run the sweep after what runs and waits"
CANCEL_TIP, CANCEL_ONE_TIP = "Cancel the sweep", "Cancel this sweep; the next one in the queue begins"
RESUME_TIP = "Measure what is left of this session's plan, in its file"
ROOMY, BRANDED = (
    700,
    560,
)  # pixels: a narrower bar names no keys, then not the program, so the badge can be read


class TopBar(QFrame):
    """The bar at the top of the window: where the figures come from, and what begins or ends something.

    Signals:
        home_requested: Show the start page.
    """

    home_requested = Signal()

    def __init__(
        self, controller: Controller, registry: ActionRegistry, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("topBar")
        self._controller, self._registry = controller, registry
        self._menu_button = icon_button("mdi6.menu", "Menu", self._open_menu)
        self.home = text_button("Flashscope", "Home page", self.home_requested.emit, "brand")
        does(self.home, "place.home")
        self.badge = Badge()
        self._blocked, self._form_open, self._form_in_front = "", True, False
        self.present = text_button(PRESENT, "Present a story, or what is on show", self._open_stories)
        self.replay = text_button("Replay", "Replay the session on show", lambda: self._trigger("replay"))
        self.sweep = text_button(
            "Show the sweep", "Show the sweep that runs", lambda: self._trigger("show_sweep")
        )
        self.new = text_button(
            NEW, "New sweep", lambda: self._trigger("profile.new"), "primary", SteadyButton
        )
        self.cancel = text_button("Cancel", "Cancel the sweep", lambda: self._trigger("cancel"))
        self.resume = text_button("Resume", RESUME_TIP, lambda: self._trigger("resume"))
        self.run = text_button(
            RUN_ROOMY, "Run the sweep", lambda: self._trigger("run"), "primary", SteadyButton
        )
        buttons = {"cancel": self.cancel, "resume": self.resume, "run": self.run}
        buttons |= {"replay": self.replay, "profile.new": self.new, "show_sweep": self.sweep}
        for key, button in buttons.items():
            does(button, key)
        self.run.setProperty("iconName", "mdi6.play")
        size_icon(self.run, ICON_PX)
        self._lay_out()
        self._source, self._told = self._of_session, QMetaObject.Connection()
        self._follow(controller)

    def follow(self, changed: SignalInstance, source: Callable[[], Provenance]) -> None:
        """Have the badge tell where what the view in front shows comes from, again whenever that changes."""
        QObject.disconnect(self._told)
        self._source, self._told = source, changed.connect(self._show_badge)
        self._show_badge()

    def _of_session(self) -> Provenance:
        return self._controller.provenance

    def _show_badge(self) -> None:
        self.badge.show_provenance(self._source())

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 16, 6)
        row.setSpacing(8)
        for widget in (self._menu_button, self.home, self.badge):
            row.addWidget(widget, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(1)
        for button in (self.present, self.replay, self.sweep, self.resume, self.cancel, self.new, self.run):
            row.addWidget(button)
        keep(self, self._share_room)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave room for the badge."""
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self) -> None:
        roomy = self.width() >= px(ROOMY)
        self.run.setText(QUEUE if self._queues else RUN_ROOMY if roomy else RUN)
        self.home.setVisible(self.width() >= px(BRANDED))

    def _follow(self, controller: Controller) -> None:
        for signal in (
            controller.machine_found,
            controller.session_changed,
            controller.running_changed,
            controller.occupied_changed,
            controller.path_found,
        ):
            signal.connect(lambda _value: self.refresh())
        controller.queue.changed.connect(self.refresh)
        self.refresh()

    @property
    def _queues(self) -> bool:
        """Whether what is run now waits first."""
        return self._controller.measuring or bool(self._controller.queue.entries)

    def apply_theme(self, theme: Theme) -> None:
        """Draw icons and badge in a theme's colours."""
        recolour(self._menu_button, theme)
        recolour(self.run, theme, theme.on_accent)
        self.badge.apply_theme(theme)

    def menu(self) -> QMenu:
        """All actions, one submenu a group."""
        menu = QMenu(self)
        for group, actions in self._registry.groups().items():
            submenu = menu.addMenu(group)
            for action in actions:
                qaction = self._registry.find(action.key)
                if qaction is not None:
                    submenu.addAction(qaction)
        return menu

    @property
    def begins(self) -> QPushButton:
        """What leads to a sweep now: it opens the form, or runs what the form says."""
        return self.run if self._form_open and self._form_in_front else self.new

    def form_shown(self, opened: bool) -> None:
        """Offer Run while the form is open, else what opens it."""
        self._form_open = opened
        self.refresh()

    def page_shown(self, *, has_form: bool) -> None:
        """The same where another page than the form's is in front."""
        self._form_in_front = has_form
        self.refresh()

    def block_run(self, reason: str) -> None:
        """Disable Run and say why in its tooltip; an empty reason enables it."""
        self._blocked = reason
        self.refresh()

    def refresh(self) -> None:
        """Show the controller's state as it is now."""
        controller = self._controller
        self._show_badge()
        blocked = controller.occupied or self._blocked
        self.run.setEnabled(not controller.replaying and not blocked)
        set_tip(self.run, blocked or (QUEUE_TIP if self._queues else RUN_TIP))
        self._share_room()
        self.cancel.setVisible(controller.running)
        set_tip(self.cancel, CANCEL_ONE_TIP if controller.queue.goes_on else CANCEL_TIP)
        self.resume.setVisible(resumable(controller))
        self.resume.setEnabled(not controller.occupied)
        set_tip(self.resume, controller.occupied or RESUME_TIP)
        self.replay.setVisible(controller.session is not None and not controller.running)
        self.sweep.setVisible(controller.sweep_behind)
        self.run.setVisible(self.begins is self.run)
        self.new.setVisible(self.begins is self.new)

    def _trigger(self, key: str) -> None:
        action = self._registry.find(key)
        if action is not None:
            action.trigger()

    def _open_stories(self) -> None:
        """What can be presented, as one menu."""
        menu = QMenu(self)
        for action in self._registry.groups().get(PRESENT, ()):
            qaction = self._registry.find(action.key)
            if qaction is not None and not action.claims:
                menu.addAction(qaction)
        pop_up(menu, self.present.mapToGlobal(self.present.rect().bottomLeft()))

    def _open_menu(self) -> None:
        menu = self.menu()
        pop_up(menu, self._menu_button.mapToGlobal(self._menu_button.rect().bottomLeft()))
