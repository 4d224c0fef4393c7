"""One registry of everything a user can do; the menu, the palette, the buttons and the `?` sheet read it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence

LAST_GROUPS = frozenset({"View", "Help"})


@dataclass(frozen=True)
class Action:
    """One thing a user can do.

    Attributes:
        key: Stable name, `page.verb` for a page's own, `verb` for the window's.
        title: What the menu and the palette show, as an imperative: `Run the sweep`.
        trigger: What it does.
        group: The menu it stands in: `File`, `Sweep`, `View`, `Stepper`, `Help`.
        shortcut: Portable key sequence (`Ctrl+Return`, `Space`, `[`), several separated by `; `.
        everywhere: Whether it works on every page; a page's action otherwise works on its page only.
        checkable: Whether it is a state that is switched on and off.
        possible: Whether it can be done now; None: always. Its keys mean nothing while it cannot.
        staged: Whether it works on a stage, too.
        claims: Whether its keys mean nothing else while it can be done.
        keys_on: The pages on which its keys mean it; none: all.
        also: Other words that it is looked for by.
    """

    key: str
    title: str
    trigger: Callable[[], None]
    group: str
    shortcut: str = ""
    everywhere: bool = False
    checkable: bool = False
    possible: Callable[[], bool] | None = None
    staged: bool = False
    claims: bool = False
    keys_on: tuple[str, ...] = ()
    also: str = ""

    @property
    def keys(self) -> list[str]:
        """The action's key sequences, one by one."""
        return [keys for keys in self.shortcut.split("; ") if keys]

    @property
    def shown_keys(self) -> list[str]:
        """The action's key sequences as this system writes them."""
        return [QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) for keys in self.keys]


def staged(*actions: Action) -> list[Action]:
    """These actions again, which work on a stage, too."""
    return [replace(action, staged=True) for action in actions]


class ActionRegistry(QObject):
    """All actions of one window, each with the one QAction that every menu, button and key shares.

    Args:
        parent: The window.
        order: The keys of its pages: their actions stand in this order, after the window's own.
        complete: Brings the actions of pages that are still to be made; whoever wants all has it done.

    Signals:
        changed: An action was added, or the page in front is another one.
    """

    changed = Signal()

    def __init__(
        self,
        parent: QObject | None = None,
        order: Iterable[str] = (),
        complete: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(parent)
        self._order, self._complete = ("", *order), complete
        self._actions: dict[str, Action] = {}
        self._qactions: dict[str, QAction] = {}
        self._owners: dict[str, str] = {}
        self._page = ""
        self._on_stage = False
        self._keys: dict[str, list[str]] = {}  # that each action has now

    def add(self, action: Action, page: str = "") -> QAction:
        """Take in an action; `page` is the key of the page it belongs to, empty for the window's own.

        Raises:
            ValueError: Another action has this key.
        """
        if action.key in self._actions:
            raise ValueError(f"two actions are called {action.key!r}")
        qaction = QAction(action.title.replace("&", "&&"), self)  # no key is underlined
        qaction.setObjectName(action.key)
        qaction.setCheckable(action.checkable)
        qaction.setShortcuts([QKeySequence(keys) for keys in action.keys])
        qaction.triggered.connect(lambda _checked=False: action.trigger())
        self._actions[action.key], self._qactions[action.key] = action, qaction
        self._keys[action.key] = action.keys
        self._owners[action.key] = page
        self.changed.emit()
        return qaction

    def show_page(self, page: str) -> None:
        """Let only the actions of this page, and those that work everywhere, be triggered."""
        self._page = page
        self.refresh()

    def take_stage(self, on: bool) -> None:
        """Let only what belongs on a stage be triggered, or everything again."""
        self._on_stage = on
        self.refresh()

    def refresh(self) -> None:
        """Ask again of every action whether it can be triggered."""
        for key, action in self._actions.items():
            self._qactions[key].setEnabled(self._can(key, action))
        self._share_keys()
        self.changed.emit()

    def _can(self, key: str, action: Action) -> bool:
        here = action.everywhere or self._owners[key] in {"", self._page}
        allowed = action.staged or not self._on_stage
        return here and allowed and (action.possible is None or action.possible())

    def _share_keys(self) -> None:
        """Leave keys that are claimed to those who claim them, and keys of another page alone."""
        able = (a for key, a in self._actions.items() if a.claims and self._qactions[key].isEnabled())
        claimed = {keys for action in able for keys in action.keys}
        for key, action in self._actions.items():
            elsewhere = bool(action.keys_on) and self._page not in action.keys_on
            left = [keys for keys in action.keys if not elsewhere and (action.claims or keys not in claimed)]
            if left != self._keys[key]:
                self._keys[key] = left
                self._qactions[key].setShortcuts([QKeySequence(keys) for keys in left])

    def find(self, key: str) -> QAction | None:
        """The QAction of that key, None when no page brings it."""
        if key not in self._qactions:
            self._complete()
        return self._qactions.get(key)

    def known(self, key: str) -> Action | None:
        """The action of that key, None when none has been added yet."""
        return self._actions.get(key)

    def groups(self) -> dict[str, list[Action]]:
        """All actions by group: what the window does with files, what the pages do, what is seen of it."""
        grouped: dict[str, list[Action]] = {}
        for action in sorted(self, key=lambda action: action.group in LAST_GROUPS):
            grouped.setdefault(action.group, []).append(action)
        return grouped

    def __iter__(self) -> Iterator[Action]:
        self._complete()
        return iter(sorted(self._actions.values(), key=lambda action: self._place(self._owners[action.key])))

    def _place(self, page: str) -> int:
        return self._order.index(page) if page in self._order else len(self._order)
