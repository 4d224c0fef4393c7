"""Sessions on the start page: a recording with its curves and its sentence, a recent one in two lines."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.plots.thumbnail import Thumbnail, load_marks
from flashscope.app.widgets.buttons import ElidedLink, text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import PlainLabel, set_tip

if TYPE_CHECKING:
    from flashscope.app.control.teasers import Teaser

STAMP_PX = 44  # least height of the curves
UNBROKEN = "\u00a0=\u00a0"  # a letter stays with its value


def read_teaser(path: Path) -> "Teaser | None":
    """What is shown of a session; in the background, where what reads and draws it is loaded, too."""
    from flashscope.app.control.teasers import teaser_of  # noqa: PLC0415 - see above

    load_marks()
    return teaser_of(path)


class RecordingCard(Card):
    """A recording that comes with the program; its curves and its sentence follow when they are read."""

    def __init__(self, name: str, opened: Callable[[], object], theme: Theme) -> None:
        super().__init__()
        self.thumbnail = Thumbnail(theme, STAMP_PX)
        self.sentence = PlainLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.sentence.setProperty("role", "title")
        self.sentence.setMinimumWidth(1)
        self.facts = ElidedLabel()
        self.facts.setProperty("role", "dim")
        self.link = ElidedLink(name, f"Open the recording {name}", opened)
        self.body.addWidget(self.link)
        self.body.addWidget(self.thumbnail, 1)
        self.body.addWidget(self.sentence)
        self.body.addWidget(self.facts)

    def show_large(self, large: bool) -> None:
        """Write the sentence large, where there is room for it."""
        self.sentence.setProperty("role", "readout" if large else "title")
        self.sentence.style().polish(self.sentence)

    def tell(self, teaser: "Teaser | None") -> None:
        """Show what was read."""
        if teaser is not None:
            self.thumbnail.show_curves(teaser.curves, teaser.altered)
            self.sentence.setText(teaser.sentence.replace(" = ", UNBROKEN))
            self.facts.set_texts(teaser.facts, *teaser.shorter)


class RecentRow(QWidget):
    """A recent session: its name, which opens it, when it ran, and what is in it once that is read.

    Args:
        name: What the session is called.
        tip: Where it is, or why it cannot be read.
        when: To the minute.
        facts: What is known of it before it is read.
        opened: Opens it.
    """

    def __init__(self, name: str, *, tip: str, when: str, facts: str, opened: Callable[[], object]) -> None:
        super().__init__()
        button = text_button(name, f"Open {name}", opened, "link")
        set_tip(button, tip)
        button.setMinimumWidth(1)  # a long name makes no page wider
        minute = ElidedLabel(when)
        minute.setProperty("role", "dim")
        self.facts = ElidedLabel(facts, padding=6)
        self.facts.setProperty("role", "unit")
        self.facts.setIndent(5)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        line = QHBoxLayout()
        line.addWidget(self.facts, 1)
        line.addWidget(minute)
        column.addWidget(button)
        column.addLayout(line)

    def tell(self, teaser: "Teaser | None") -> None:
        """Show what was read."""
        if teaser is not None:
            self.facts.set_texts(
                " · ".join(filter(None, (teaser.facts, teaser.ratio))), teaser.facts, *teaser.shorter
            )
