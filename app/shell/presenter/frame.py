"""What stands around a page on a stage: the sentence, where its figures come from, and a curtain."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.widgets.badge import Badge
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.plain import cut_short, unbroken
from flashscope.app.words.results.provenance import Provenance

MARGIN = 12
MOST_TOLD = 400  # characters of a message: five lines at 1280 x 720


class Curtain(QWidget):
    """A black sheet over a widget, and no pointer on it."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self.setAccessibleName("Black screen")
        self.setCursor(Qt.CursorShape.BlankCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # what is under it is not painted
        self.hide()
        over.installEventFilter(self)

    def draw(self, closed: bool) -> None:
        """Cover what is under it, or not."""
        if closed is self.isVisible():
            return
        self._cover()
        self.raise_()
        self.setVisible(closed)
        if closed:
            self.repaint()  # at once: what follows may be a switch, in which nothing is painted

    def _cover(self) -> None:
        self.setGeometry(self._over.rect())

    @guarded(bool)
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Be as large as what it covers, and painted so: what follows may be a switch, as above."""
        if event.type() == QEvent.Type.Resize:
            self._cover()
            if self.isVisible():
                self.repaint()
        return super().eventFilter(watched, event)

    @guarded()
    def paintEvent(self, _event: QPaintEvent) -> None:
        """Black, whatever the theme."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor("black"))


class StageFrame:
    """The sentence over a page, and the line under it.

    Attributes:
        sentence: What is said of what is on show.
        message: What went wrong, in as many lines as that takes.
        foot: That, and under it the badge, the source and which stop it is.
    """

    def __init__(self) -> None:
        self.sentence = PlainLabel(wordWrap=True, margin=MARGIN)
        self.sentence.setProperty("role", "readout")
        self.sentence.setMinimumWidth(1)
        self.sentence.setAccessibleName("Sentence")
        self.foot = QFrame()
        self._badge, self.source, self.place = Badge(), ElidedLabel(), PlainLabel()
        self.source.setProperty("role", "dim")
        self.place.setProperty("role", "dim")
        self.message = PlainLabel(wordWrap=True)
        self.message.setMinimumWidth(1)
        self.message.setAccessibleName("What went wrong")
        self.message.hide()
        row = QHBoxLayout()
        row.setSpacing(MARGIN)
        row.addWidget(self._badge)
        row.addWidget(self.source, 1)
        row.addWidget(self.place)
        column = QVBoxLayout(self.foot)
        column.setContentsMargins(MARGIN, 0, MARGIN, MARGIN // 2)
        column.setSpacing(MARGIN // 2)
        column.addWidget(self.message)
        column.addLayout(row)
        self.show(False)

    def show(self, on: bool) -> None:
        """Show the frame's parts, or hide them."""
        self.foot.setVisible(on)
        self.sentence.setVisible(on and bool(self.sentence.text()))

    def say(self, sentence: str) -> None:
        """Another sentence; without one there is no room for any."""
        self.sentence.setText(unbroken(sentence))
        self.sentence.setVisible(bool(sentence) and not self.foot.isHidden())

    def name_source(self, source: str) -> None:
        """Where the figures come from; nothing went wrong any more."""
        self.source.setText(source)
        self.message.setText("")
        self.message.hide()

    def tell(self, text: str, role: str = "error") -> None:
        """What went wrong, whole: nobody opens a line on a stage that is cut short."""
        self.message.setProperty("role", role)
        self.message.style().polish(self.message)
        self.message.setText(unbroken(cut_short(text, MOST_TOLD)))
        self.message.setVisible(bool(text))

    def show_provenance(self, provenance: Provenance, why: str) -> None:
        """Say where the figures come from, and in capitals why they are not those of a run here."""
        self._badge.show_provenance(provenance, why)

    @property
    def badge(self) -> str:
        """What the badge says."""
        return self._badge.text()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._badge.apply_theme(theme)
