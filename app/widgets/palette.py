"""The command palette: every action, found by a few of its letters."""

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action, ActionRegistry
from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px

KEY_ROLE = Qt.ItemDataRole.UserRole
MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


def match(query: str, text: str) -> int | None:
    """Score of a fuzzy match, 0 for the best; None unless the text has the query's letters in this order.

    The query as a whole at the begin of a word comes first, then within one, then its letters scattered.
    """
    wanted, folded = query.casefold().strip(" "), text.casefold()
    if re.search(rf"(?<!\w){re.escape(wanted)}", folded):
        return 0
    if wanted in folded:
        return 1
    skipped = _skipped(wanted.replace(" ", ""), folded)
    return None if skipped is None else 2 + skipped


def _skipped(letters: str, text: str) -> int | None:
    """How many characters lie between letters found one after the other, except where one begins a word."""
    position, skipped = 0, 0
    for letter in letters:
        at = text.find(letter, position)
        if at < 0:
            return None
        starts_word = at == 0 or not text[at - 1].isalnum()
        skipped += 0 if starts_word else at - position
        position = at + 1
    return skipped


class CommandPalette(QDialog):
    """Type, choose, Return; of what fits equally well, what was run last comes first.

    What cannot be done now comes after all that can, and Return does not run it.

    Args:
        registry: What can be run.
        parent: The window.
        recent: The keys of what was run, newest first.

    Signals:
        ran: This was run (the action's key).
    """

    ran = Signal(str)

    def __init__(
        self, registry: ActionRegistry, parent: QWidget, recent: Callable[[], Sequence[str]] = tuple
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._registry, self._recent = registry, recent
        self._query = QLineEdit(placeholderText="Type a command")
        self._query.setAccessibleName("Command")
        self._list = QListWidget()
        self._list.setAccessibleName("Commands found")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.addWidget(self._query)
        column.addWidget(self._list)
        self._query.textChanged.connect(self._fill)
        self._query.returnPressed.connect(self._run)
        self._list.itemClicked.connect(lambda _item: self._run())
        self._query.installEventFilter(self)
        self._fill("")

    def open_over(self, window: QWidget) -> None:
        """Show the palette in the upper middle of a window, empty."""
        self._query.clear()
        self._fill("")
        self.resize(min(px(480), window.width()), min(px(360), window.height() - px(64)))
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - self.width()) // 2, corner.y() + px(64))
        self.show()
        self._query.setFocus()

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrows move in the list while the query keeps the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in MOVES:
            self._list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def _fill(self, query: str) -> None:
        self._list.clear()
        for action, usable in self._found(query):
            keys = "".join(f"   ({keys})" for keys in action.shown_keys[:1])
            item = QListWidgetItem(f"{action.group}: {action.title}{keys}")
            item.setData(KEY_ROLE, action.key)
            if not usable:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self._list.addItem(item)
        self._list.setCurrentRow(0)

    def _found(self, query: str) -> list[tuple[Action, bool]]:
        """The actions that fit, best first, and whether each can be done now: those that cannot come last."""
        places = {key: place for place, key in enumerate(self._recent())}
        fits = [
            (not self._usable(action), score, places.get(action.key, len(places)), action)
            for action in self._registry
            if (score := match(query, f"{action.group}: {action.title}")) is not None
        ]
        return [(action, not unusable) for unusable, _, _, action in sorted(fits, key=lambda fit: fit[:3])]

    def _usable(self, action: Action) -> bool:
        qaction = self._registry.find(action.key)
        return qaction is not None and qaction.isEnabled()

    def _run(self) -> None:
        item = self._list.currentItem()
        if item is None or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        self.hide()
        key = str(item.data(KEY_ROLE))
        action = self._registry.find(key)
        if action is not None:
            self.ran.emit(key)
            action.trigger()
