"""What stands in the window in which a story is written."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from flashscope.app.control.actions import ActionRegistry
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.shell.editor.desk import NO_STOPS
from flashscope.app.shell.editor.one_undo import OneUndo, line_field
from flashscope.app.shell.editor.stop_form import StopForm
from flashscope.app.shell.editor.stop_list import StopList
from flashscope.app.widgets.buttons import icon_button, recolour, text_button
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.widgets.keyed import ACTION, does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.scrolling import Scrolling

FIRST_SIZE, SMALLEST = (1120, 640), (600, 340)
LIST_PX, TITLE_PX = 320, 160
HEADING = "This story has no stops yet"


class EditorFrame(QWidget):
    """The story's title and what is done with it over its stops and the chosen one's fields.

    Attributes:
        registry: What can be done here, with its keys.
        undo: Has the keys of undo in all fields.
        title, state: The story's title, and its file.
        stops, form: The list, and the chosen stop.
        stack: Shows the form, or what to do where there is no stop.
        errors: Says what was done, or why not.

    Signals:
        titled: The user has left this title (str).
    """

    titled = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.registry, self.undo, self.errors = ActionRegistry(self), OneUndo(self), ErrorLine()
        self._make_parts()
        self._lay_out()
        self.setMinimumSize(*SMALLEST)
        self.resize(px(FIRST_SIZE[0]), px(FIRST_SIZE[1]))

    def _make_parts(self) -> None:
        self.menu_button = icon_button("mdi6.menu", "Menu of the story", self._open_menu)
        self.title = line_field("Title of the story", "Title of the story", self.titled.emit)
        self.undo.watch(self.title)
        self.state = PlainLabel()
        self.state.setProperty("role", "dim")
        self.state.setAccessibleName("File of the story")
        self.stops, self.form = StopList(), StopForm(self.undo)
        self.icons = [
            self._icon("mdi6.content-copy", "Duplicate the stop", "editor.duplicate"),
            self._icon("mdi6.arrow-up", "Move the stop up", "editor.up"),
            self._icon("mdi6.arrow-down", "Move the stop down", "editor.down"),
            self._icon("mdi6.delete-outline", "Remove the stop", "editor.remove"),
        ]
        self.turns = [
            self._icon("mdi6.undo", "Undo the last edit", "editor.undo"),
            self._icon("mdi6.redo", "Make the undone edit again", "editor.redo"),
        ]

    def _icon(self, icon: str, name: str, key: str) -> QToolButton:
        return does(icon_button(icon, name, lambda: self.trigger(key)), key)

    def _button(self, text: str, key: str, role: str = "") -> QPushButton:
        return does(text_button(text, text, lambda: self.trigger(key), role), key)

    def _lay_out(self) -> None:
        keep(self.title, self.title.setMinimumWidth, TITLE_PX)
        buttons = (
            self._button("Try it from here", "editor.try"),
            self._button("Save as …", "editor.save-as"),
            self._button("Save", "editor.save", "primary"),
        )
        head = (self.menu_button, self.title, self.state, *self.turns, *buttons)
        self.stack = QStackedWidget()
        self.stack.addWidget(Scrolling(self.form))
        self.stack.addWidget(self._empty())
        self.left = self._left()
        middle = QHBoxLayout()
        middle.setSpacing(16)
        middle.addWidget(self.left)
        middle.addWidget(self.stack, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(10)
        column.addWidget(Lines(head, (self.title,), 8))
        column.addLayout(middle, 1)
        column.addWidget(self.errors)

    def _left(self) -> QWidget:
        """The list, and what is done with its stops."""
        add = self._button("Add what is on show", "editor.add")
        beside = QWidget()
        column = QVBoxLayout(beside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.stops, 1)
        column.addWidget(Lines((add, *self.icons), (add,), 4))
        return beside

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave most of the room to the fields."""
        super().resizeEvent(event)
        self.left.setFixedWidth(min(px(LIST_PX), self.width() * 2 // 5))

    def _empty(self) -> EmptyView:
        """Words and a way on where there is no stop."""
        empty = EmptyView(HEADING, NO_STOPS)
        empty.add(self._button("Add what is on show", "editor.add", "primary"))
        return empty

    def trigger(self, key: str) -> None:
        """Do what an action of this window does."""
        action = self.registry.find(key)
        if action is not None:
            action.trigger()

    def enable(self) -> None:
        """A button can be pressed while what it does can be done."""
        for button in self.findChildren(QAbstractButton):
            action = self.registry.find(str(button.property(ACTION) or ""))
            if action is not None:
                button.setEnabled(action.isEnabled())

    def menu(self) -> QMenu:
        """All that can be done here."""
        menu = QMenu(self)
        for action in self.registry:
            qaction = self.registry.find(action.key)
            if qaction is not None:
                menu.addAction(qaction)
        return menu

    def _open_menu(self) -> None:
        pop_up(self.menu(), self.menu_button.mapToGlobal(self.menu_button.rect().bottomLeft()))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour icons."""
        for button in (self.menu_button, *self.icons, *self.turns):
            recolour(button, theme)
        self.errors.apply_theme(theme)
