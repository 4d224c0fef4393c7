"""Which landscapes of timed cuts there are, which one is on show, and which one it is compared with."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.control.bundled import cuts_recording
from flashscope.app.control.inside.keeping import Keeping
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.inside.landscapes import landscape_names, source_words
from flashscope.kernels.workload.landscape import CutLandscape

KEEP, RECORDED = "designer.keep", "designer.recorded"
KEEP_WORDS, RECORDED_WORDS = "Keep in the session on show", "Open recorded cuts of an H200"
DESIGNED, ALONE = "What is chosen here", "Compared with none"
RECORDED_TIP = "Cuts of flash2 and flash3, timed on an H200; they come with the program"


class LandscapeLineup(QWidget):
    """Two boxes, and buttons that keep a landscape or open recorded ones.

    Attributes:
        kept: Those of the session on show.
        recorded: Those that were timed here since, and are in no session.
        shown: The one on show, None: what the other boxes say.

    Signals:
        changed: Another one is on show, or compared.
        recorded_asked: Open those that come with the program.
    """

    changed = Signal()
    recorded_asked = Signal()

    def __init__(self, keeping: Keeping, parent: QWidget) -> None:
        super().__init__(parent)  # shown by itself it would be a window for a moment
        self._keeping = keeping
        self.kept: Sequence[CutLandscape] = ()
        self.recorded: list[CutLandscape] = []
        self.box, self.beside = DropDown(), DropDown()
        self.box.setAccessibleName("Timed cuts on show")
        self.beside.setAccessibleName("Timed cuts to compare with")
        set_tip(self.beside, "Colours can stand for the runtime over that of the same cut there")
        self.source = ElidedLabel()
        self.source.setProperty("role", "dim")
        self.keep_button = does(text_button("Keep", KEEP_WORDS, self.keep), KEEP)
        recorded = text_button("Open recorded: cuts on an H200", RECORDED_WORDS, self.recorded_asked.emit)
        self.open_button = does(recorded, RECORDED)
        set_tip(self.open_button, RECORDED_TIP)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        parts = (self.box, self.beside, self.keep_button, self.open_button, self.source)
        column.addWidget(Lines(parts, (self.source,), 8))
        for box in (self.box, self.beside):
            box.activated.connect(lambda _place: self._tell())
        keeping.kept.connect(self._offer_keeping)
        self._offer()
        self._offer_keeping()

    @property
    def landscapes(self) -> list[CutLandscape]:
        """All that can be shown, the session's first."""
        return [*self.kept, *self.recorded]

    @property
    def shown(self) -> CutLandscape | None:
        """The one on show."""
        return self._at(self.box)

    @property
    def compared(self) -> CutLandscape | None:
        """The one that it is compared with, which shares cuts with it."""
        return self._at(self.beside) if self.shown is not None else None

    def take_session(self, kept: Sequence[CutLandscape]) -> None:
        """Offer another session's, and show its first; where none was and is shown, nothing changes."""
        before = self.shown
        self.kept = tuple(kept)
        self._offer()
        self._choose(self.box, self.kept[0] if self.kept else None)
        self._offer_both()
        if before is not None or self.shown is not None:
            self.changed.emit()

    def take_kept(self, kept: Sequence[CutLandscape]) -> None:
        """The session on show has others now; what is on show stays if it is still there."""
        shown, beside = self.shown, self.compared
        self.recorded = [one for one in self.recorded if one not in kept]
        self.recorded += [one for one in self.kept if one not in kept]
        self.kept = tuple(kept)
        self._offer()
        self._choose(self.beside, beside)
        self.show_one(shown)

    def take_recorded(self, landscape: CutLandscape) -> None:
        """Offer one that was timed just now, and show it."""
        self.recorded.append(landscape)
        self._offer()
        self.show_one(landscape)

    def show_one(self, landscape: CutLandscape | None) -> None:
        """Show one of them; None: what the other boxes say."""
        self._choose(self.box, landscape)
        self._tell()

    def keep(self) -> None:
        """Write the one on show into the session on show."""
        if self.shown in self.recorded and self.shown is not None:
            self._keeping.keep([self.shown])

    def _at(self, box: DropDown) -> CutLandscape | None:
        place, there = box.currentData(), self.landscapes
        return there[place] if place is not None and 0 <= place < len(there) else None

    def _choose(self, box: DropDown, landscape: CutLandscape | None) -> None:
        there = self.landscapes
        place = there.index(landscape) if landscape in there else None
        with QSignalBlocker(box):
            box.setCurrentIndex(max(0, box.findData(place)))

    def _offer(self) -> None:
        names = landscape_names(self.landscapes)
        _fill(self.box, ((DESIGNED, None), *((name, n) for n, name in enumerate(names))))
        _fill(self.beside, ((ALONE, None), *((name, n) for n, name in enumerate(names))))

    def _offer_beside(self) -> None:
        """Offer to compare with those that share a cut with the one on show; another kernel's never do."""
        before, shown, names = self._at(self.beside), self.shown, landscape_names(self.landscapes)
        cuts = set() if shown is None else {cell.cut for cell in shown.cells}
        alike = [
            (names[place], place)
            for place, one in enumerate(self.landscapes)
            if one is not shown and not cuts.isdisjoint(cell.cut for cell in one.cells)
        ]
        _fill(self.beside, ((ALONE, None), *alike))
        self._choose(self.beside, before)

    def _tell(self) -> None:
        self._offer_both()
        self.changed.emit()

    def _offer_both(self) -> None:
        self._offer_beside()
        self._offer_keeping()

    def _offer_keeping(self) -> None:
        """Show what can be done: keep what is in no session yet, open recorded ones where there are none."""
        there = bool(self.landscapes)
        self.box.setVisible(there)
        self.beside.setVisible(self.beside.count() > 1 and self.shown is not None)
        self.open_button.setVisible(not there and cuts_recording() is not None)
        self.keep_button.setVisible(self.shown in self.recorded and self.shown is not None)
        why = self._keeping.why_not
        self.keep_button.setEnabled(not why)
        set_tip(self.keep_button, why or f"{KEEP_WORDS}: they are gone with the window otherwise")
        self.source.setText("" if self.shown is None else source_words(self.shown))
        self.setVisible(there or not self.open_button.isHidden())  # or it would leave a gap


def _fill(box: DropDown, items: Sequence[tuple[str, int | None]]) -> None:
    with QSignalBlocker(box):
        box.clear()
        for text, place in items:
            box.addItem(text, place)
