"""What the comparison says in a sentence for each session, and what differs around the current one."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLayout, QPushButton, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.plots.compare.dashes import SAMPLE, dash_icon
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel, button_text, set_tip
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.glossary import with_line
from flashscope.app.words.plain import cut_short
from flashscope.app.words.results.verdicts import bearing, differing_text
from flashscope.profiles.results.compare import MOST_OTHERS, Difference

NO_DIFFERENCE = "✓ Nothing that is on record about the two differs but their figures."
BESIDE_PX = 760  # of the card, from which circumstances stand beside the sentences
LOWEST, HEIGHT, HEIGHT_OF_SEVERAL = 40, 128, 88  # pixels of what scrolls; chips name several already
NAME_CHARACTERS = 16


class CompareHead(Card):
    """Sentences on the left, circumstances on the right.

    Signals:
        picked: A session's sentence was chosen: its number (int).
    """

    picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._highest = theme, HEIGHT
        self.setContentsMargins(0, -2, 0, -4)
        self.sentences = QGridLayout()
        self.sentences.setContentsMargins(0, 0, 8, 0)
        self.sentences.setVerticalSpacing(4)
        self.circumstances = QVBoxLayout()
        self.circumstances.setContentsMargins(0, 0, 8, 0)
        self.circumstances.setSpacing(3)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(16)
        self._words = [_holding(layout) for layout in (self.sentences, self.circumstances)]
        self._frames = [Scrolling(words) for words in self._words]
        for frame, stretch in zip(self._frames, (5, 6), strict=True):
            frame.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self._row.addWidget(frame, stretch)
        self.body.addLayout(self._row)
        self._told: QWidget | None = None  # the sentence of the current session
        self._soon = QTimer(self, interval=0, singleShot=True)  # once the words have their places
        self._soon.timeout.connect(self._reveal)

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As narrow as one of its two sides."""
        return QSize(px(200), super().minimumSizeHint().height())

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the circumstances beside the sentences, or under them."""
        super().resizeEvent(event)
        beside = self.width() >= px(BESIDE_PX)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if direction != self._row.direction():
            self._row.setDirection(direction)
        self._fit()

    def _fit(self) -> None:
        """Be as high as the words, up to where they scroll."""
        for label in (label for words in self._words for label in words.findChildren(QWidget)):
            label.show()  # or it would have no height until the event loop has its turn
        pairs = zip(self._words, self._frames, strict=True)
        heights = [words.heightForWidth(max(1, frame.width())) for words, frame in pairs]
        for frame in self._frames:
            frame.setFixedHeight(min(max(px(LOWEST), *heights), px(self._highest)))
        self._soon.start()

    def _reveal(self) -> None:
        """Scroll to what is said of the current session."""
        if self._told is not None:
            self._frames[0].ensureWidgetVisible(self._told, 0, 0)

    def show_words(self, text: str) -> None:
        """Say what is being done, in place of a verdict, in the room of those that stood there."""
        self._empty()
        label = PlainLabel(text)
        label.setProperty("role", "readout")
        self.sentences.addWidget(label, 0, 0)

    def show_findings(self, findings: Findings, current: int) -> None:
        """Show every sentence, that of the current session stronger, and what differs around it."""
        self._empty()
        names, several = findings.names(), len(findings.comparison.contrasts) > 1
        self._highest, large = (HEIGHT_OF_SEVERAL, "title") if several else (HEIGHT, "readout")
        for row, contrast in enumerate(findings.comparison.contrasts):
            number = row + 1
            if several:
                self.sentences.addWidget(self._name(number, names[number], number == current), row, 0)
            sentence = PlainLabel(contrast.summary, wordWrap=True)
            sentence.setProperty("role", large if number == current else "dim")
            sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self.sentences.addWidget(sentence, row, 1)
            if number == current:
                self._told = sentence
        self.sentences.setColumnStretch(1, 1)
        self.sentences.setRowStretch(MOST_OTHERS, 1)
        if findings.comparison.caution:
            self.circumstances.addWidget(_words(f"▲ {findings.comparison.caution}", "warn"))
        runs = any(len(findings.members[number].runs) > 1 for number in (0, current))
        around = f"{names[0]} and {names[current]}" if runs else "them"
        self._show_differences(findings.comparison.contrasts[current - 1].differences, around)

    def _empty(self) -> None:
        self._told = None
        _empty(self.sentences)
        _empty(self.circumstances)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours; the sentences are drawn anew by `show_findings`."""
        self._theme = theme

    def _name(self, number: int, name: str, current: bool) -> QPushButton:
        button = QPushButton(button_text(cut_short(name, NAME_CHARACTERS)))
        button.setProperty("role", "legend")
        button.setCheckable(True)
        button.setChecked(current)
        button.setIcon(dash_icon(number, self._theme))
        button.setIconSize(QSize(*map(px, SAMPLE)))
        button.setAccessibleName(f"Show what differs around {name}")
        button.clicked.connect(lambda _checked: self.picked.emit(number))
        return button

    def _show_differences(self, differences: Sequence[Difference], around: str) -> None:
        caption = PlainLabel(
            differing_text(differences, around) if differences else "Circumstances", wordWrap=True
        )
        caption.setProperty("role", "caption")
        self.circumstances.addWidget(caption)
        for difference in differences:
            self.circumstances.addWidget(_line(difference))
        if not differences:
            self.circumstances.addWidget(_words(NO_DIFFERENCE, "dim"))
        self.circumstances.addStretch(1)
        self._fit()


def _line(difference: Difference) -> PlainLabel:
    told = bearing(difference)
    text = f"{told.glyph} {difference.title}: {' → '.join(difference.names)} · {told.words}"
    line = _words(text, told.role)
    marks = f"{difference.base} → {difference.other}"
    shown = difference.names == (difference.base, difference.other)
    set_tip(line, with_line(difference.title, "" if shown else marks))
    return line


def _words(text: str, role: str) -> PlainLabel:
    label = PlainLabel(text, wordWrap=True)
    label.setProperty("role", role)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _holding(layout: QLayout) -> QWidget:
    content = QWidget()
    content.setLayout(layout)
    return content


def _empty(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.setParent(None)
            widget.deleteLater()
