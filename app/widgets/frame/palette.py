"""The command palette: every action, and whatever else has a name, found by a few letters."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action, ActionRegistry
from flashscope.app.control.findable import Findable, Findables
from flashscope.app.look.zoom import px
from flashscope.app.widgets.pick_list import PickList
from flashscope.app.words.matching import match, nothing_found

COMMAND = "command"  # the kind of an action
TERM = "term"  # that of a word of the glossary, which does nothing
WIDTH_PX = 520


class Offer(NamedTuple):
    """A line of the list.

    Attributes:
        key: What it is remembered by.
        text: What stands at the left.
        name: What it is called: the text without the group and the keys of a command.
        kind: A word for what it is, at the right.
        run: Does it, or shows it.
        usable: Whether it can be done now.
        also: Other words that find it, if not by scattered letters, and other names, between commas.
    """

    key: str
    text: str
    name: str
    kind: str
    run: Callable[[], None]
    usable: bool = True
    also: str = ""

    def is_called(self, wanted: str) -> int:
        """How much of a name that is: 0 is the whole of one, 1 its begin, 2 neither, or a term's."""
        if self.kind == TERM:
            return 2
        if wanted and wanted in (self.name.casefold(), *self.also.casefold().split(", ")):
            return 0
        return 1 if wanted and self.name.casefold().startswith(wanted) else 2


class CommandPalette(QDialog):
    """Type, choose, Return; of what fits equally well, what was run last comes first.

    What is called so comes before what begins so, and that before the rest; commands come before all else,
    and a term of the glossary before what fits less well.
    What cannot be done now comes after all that can, and Return does not run it. Without a query the actions
    stand here, and of all else what was shown lately.

    Args:
        registry: What can be run.
        parent: The window.
        recent: The keys of what was run, newest first.
        others: What can be shown.

    Signals:
        ran: This was run or shown (its key).
    """

    ran = Signal(str)

    def __init__(
        self,
        registry: ActionRegistry,
        parent: QWidget,
        recent: Callable[[], Sequence[str]] = tuple,
        others: Findables = tuple,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._registry, self._recent, self._others = registry, recent, others
        self._offers: list[Offer] = []
        self._query = QLineEdit(placeholderText="Type a command, a session, a quantity, a kernel or a term")
        self._query.setAccessibleName("Command, or name of what is to be shown")
        self._list = PickList()
        self._list.setAccessibleName("Found")
        column = QVBoxLayout(self)
        column.addWidget(self._query)
        column.addWidget(self._list)
        self._query.textChanged.connect(self._fill)
        self._query.returnPressed.connect(self._run)
        self._list.itemClicked.connect(lambda _item: self._run())
        self._list.follow(self._query)
        self._fill("")

    def open_over(self, window: QWidget) -> None:
        """Show the palette in the upper middle of a window, empty."""
        self._query.clear()
        self._fill("")
        self.resize(min(px(WIDTH_PX), window.width()), min(px(360), window.height() - px(64)))
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - self.width()) // 2, corner.y() + px(64))
        self.show()
        self._query.setFocus()

    def refresh(self) -> None:
        """Find again what is on show: there is more or less than before."""
        if self.isVisible():
            place = self._list.currentRow()
            self._fill(self._query.text())
            self._list.setCurrentRow(min(place, self._list.count() - 1))

    def _fill(self, query: str) -> None:
        self._list.clear()
        self._offers = self._found(query)
        for offer in self._offers:
            self._list.add(offer.text, offer.kind, usable=offer.usable)
        if not self._offers:
            self._list.add(nothing_found(query), usable=False)
        self._list.setCurrentRow(0)

    def _found(self, query: str) -> list[Offer]:
        """What fits, best first: what cannot be done now comes last."""
        wanted, recent = query.casefold().strip(), self._recent()
        places = {key: place for place, key in enumerate(recent)}
        offers = [*map(self._command, self._registry), *map(_shown, self._others())]
        if not wanted:
            offers = [offer for offer in offers if offer.kind == COMMAND or offer.key in places]
        fits = [
            (
                not offer.usable,
                offer.is_called(wanted),
                score,
                places.get(offer.key, len(places)),
                offer,
            )
            for offer in offers
            if (score := match(query, offer.text, f"{offer.kind} {offer.also}")) is not None
        ]
        return [offer for *_, offer in sorted(fits, key=lambda fit: fit[:4])]

    def _command(self, action: Action) -> Offer:
        keys = "".join(f"   ({keys})" for keys in action.shown_keys[:1])
        qaction = self._registry.find(action.key)
        run = qaction.trigger if qaction is not None else lambda: None
        usable = qaction is not None and qaction.isEnabled()
        title = action.title.removeprefix(f"{action.group}: ")
        text = f"{action.group}: {title}{keys}"
        return Offer(action.key, text, title, COMMAND, run, usable, action.also)

    def _run(self) -> None:
        place = self._list.currentRow()
        if not 0 <= place < len(self._offers) or not self._offers[place].usable:
            return
        self.hide()
        offer = self._offers[place]
        self.ran.emit(offer.key)
        offer.run()


def _shown(one: Findable) -> Offer:
    name = " ".join(one.title.split())
    return Offer(one.key, name, name, one.kind, one.show, also=one.also)
