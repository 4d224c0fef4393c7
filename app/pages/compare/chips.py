"""The sessions compared, as chips: the baseline first, each with the dashes of its lines."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import TEXT_PX, Theme
from flashscope.app.look.zoom import ZOOM, keep, px
from flashscope.app.pages.compare.lineup import Chosen
from flashscope.app.plots.compare.dashes import SAMPLE, dash_icon
from flashscope.app.widgets.buttons import icon_button, recolour
from flashscope.app.widgets.flowing import Flowing
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.plain import cut_short
from flashscope.app.words.results.sessions import device_of, minute_of, short_device, side_called

WIDTH = 290  # pixels of a chip
BESIDE = 74  # of it, beside its words: the dash before them, the cross behind
READING = "reading …"


class Chip(QWidget):
    """One session: a click chooses it, its cross removes it, its menu does the rest.

    Signals:
        picked: It was clicked (Path).
        baseline_wanted: Compare the others with it (Path).
        removal_wanted: Compare it no more (Path).
        opening_wanted: Show it by itself (Path).
    """

    picked = Signal(object)
    baseline_wanted = Signal(object)
    removal_wanted = Signal(object)
    opening_wanted = Signal(object)

    def __init__(self, number: int, chosen: Chosen, theme: Theme) -> None:
        super().__init__()
        self.path, self.number = chosen.path, number
        self.button = QPushButton()
        self.button.setCheckable(True)
        self.button.setProperty("role", "session")
        self.button.clicked.connect(lambda _checked: self.picked.emit(self.path))
        self.button.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.button.customContextMenuRequested.connect(self._open_menu)
        keep(self.button, self.button.setFixedWidth, WIDTH)
        name = _name(chosen)
        self.cross = icon_button("mdi6.close", f"Remove {cut_short(name)}", self._ask_removal)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.button)
        inside = QHBoxLayout(self.button)
        inside.setContentsMargins(0, 0, 2, 0)
        inside.addStretch(1)
        inside.addWidget(self.cross)
        self._fill(chosen, name)
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Redraw the dashes."""
        self.button.setIcon(dash_icon(self.number, theme))
        self.button.setIconSize(QSize(*map(px, SAMPLE)))
        recolour(self.cross, theme)

    def menu(self) -> QMenu:
        """What can be done with it."""
        menu = QMenu(self)
        baseline = menu.addAction("Make it the baseline\tB")
        baseline.triggered.connect(lambda: self.baseline_wanted.emit(self.path))
        baseline.setEnabled(self.number != 0)
        menu.addAction("Open its curves").triggered.connect(lambda: self.opening_wanted.emit(self.path))
        menu.addAction("Remove\tDel").triggered.connect(self._ask_removal)
        return menu

    def _fill(self, chosen: Chosen, name: str) -> None:
        session = chosen.session
        circumstances = READING if session is None else f"{device_of(session)} · {minute_of(session)}"
        role = "baseline" if self.number == 0 else f"session {self.number}"
        when = "" if session is None else f" · {minute_of(session)}"
        short = READING if session is None else f"{_fitting(short_device(session), when)}{when}"
        self.button.setText(f"{_fitting(name)}\n{short}".replace("&", "&&"))
        self.button.setAccessibleName(f"{role}: {cut_short(name)}, {cut_short(circumstances)}")
        hint = "The baseline" if self.number == 0 else "B makes it the baseline, Del removes it"
        files = "\n".join(map(str, chosen.files))
        set_tip(self.button, f"{name}\n{circumstances}\n{files}\n{hint}")

    def _ask_removal(self) -> None:
        self.removal_wanted.emit(self.path)

    def _open_menu(self, where: QPoint) -> None:
        menu = self.menu()
        pop_up(menu, self.button.mapToGlobal(where))


class Chips(Flowing):
    """A chip for each session; one other is the current one, whose circumstances are on show.

    Attributes:
        chips: In the order of the sessions.

    Signals:
        picked: Another session was clicked: its number (int).
        baseline_wanted: As a chip's (Path).
        removal_wanted: As a chip's (Path).
        opening_wanted: As a chip's (Path).
    """

    picked = Signal(int)
    baseline_wanted = Signal(object)
    removal_wanted = Signal(object)
    opening_wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.chips: list[Chip] = []
        ZOOM.changed.connect(self._zoomed)

    def show_chosen(self, chosen: Sequence[Chosen], current: int) -> None:
        """Show these sessions, and which of the others is the current one; the keys stay where they are."""
        focused = self._focused()
        self.chips = [self._chip(number, one) for number, one in enumerate(chosen)]
        self.put(self.chips)
        self.show_current(current)
        if focused is not None and self.chips:
            alike = (chip for chip in self.chips if chip.path == focused.path)
            next(alike, self.chips[min(focused.number, len(chosen) - 1)]).button.setFocus()

    def show_current(self, current: int) -> None:
        """Mark another session."""
        for chip in self.chips:
            chip.button.setChecked(chip.number == current)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        for chip in self.chips:
            chip.apply_theme(theme)

    def _focused(self) -> Chip | None:
        """The chip that has the keys."""
        focus = self.window().focusWidget()
        return next((chip for chip in self.chips if focus is not None and chip.isAncestorOf(focus)), None)

    def _zoomed(self) -> None:
        self.apply_theme(self._theme)
        self.fit()

    def _chip(self, number: int, chosen: Chosen) -> Chip:
        chip = Chip(number, chosen, self._theme)
        chip.picked.connect(partial(self._pick, number))
        chip.baseline_wanted.connect(self.baseline_wanted)
        chip.removal_wanted.connect(self.removal_wanted)
        chip.opening_wanted.connect(self.opening_wanted)
        return chip

    def _pick(self, number: int, _path: Path) -> None:
        self.picked.emit(number)


def _fitting(text: str, beside: str = "") -> str:
    """What of a text has room in a chip, in a line with some more beside it."""
    metrics = QFontMetrics(ui_font(TEXT_PX - 1))  # as the style sheet has it, at the zoom in use
    room = px(WIDTH - BESIDE) - metrics.horizontalAdvance(beside)
    return metrics.elidedText(" ".join(cut_short(text).split()), Qt.TextElideMode.ElideRight, room)


def _name(chosen: Chosen) -> str:
    return side_called(chosen.read, chosen.files) if chosen.read else chosen.path.name
