"""The one way to show text: as it stands, whatever markup, image or mnemonic Qt could read into it."""

import re
from functools import lru_cache
from html import escape
from textwrap import fill
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px
from flashscope.app.words.plain import MOST_OF_NAME, cut_short

TIP_COLUMNS = 100
FORMULA_PX = 240
KEYS = "keys"  # the property that has them
_WORD_JOINER = "\u2060"  # takes no room


class PlainLabel(QLabel):
    """A label of plain text.

    Args:
        text: The text, cut where it is longer than can be shown.
        parent: Its owner.
        properties: Qt's own, such as `wordWrap`.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None, **properties: Any) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText, **properties)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(cut_short(text))


class FormulaLabel(QLabel):
    """A label of a formula in HTML of our own; what is from elsewhere enters it through `escaped`.

    Args:
        html: What it shows.
        parent: Its owner.
        room: Pixels at 100 % that it asks for at most; the rest of a longer one is cut off where they lack.
    """

    def __init__(self, html: str = "", parent: QWidget | None = None, *, room: int = FORMULA_PX) -> None:
        super().__init__(html, parent, textFormat=Qt.TextFormat.RichText)
        self._room = room

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """Room for a formula; a mask's name or a reason gives way to what stands beside it."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), px(self._room)), hint.height())


def escaped(text: str) -> str:
    """A text as it stands, for a place that takes HTML."""
    return escape(cut_short(text))


def strong(words: str) -> str:
    """Words of rich text in the bundled semi-bold; of `<b>`, which is bolder, Qt draws every letter twice."""
    return f'<span style="font-weight:600">{words}</span>'


def plain_tip(text: str) -> str:
    """A text for a tool tip, in lines that fit a screen, in which Qt finds no markup.

    A tool tip's label decides by itself whether a text is markup; what begins a tag or an entity is parted
    from what follows by a character that is not drawn. Several such texts may be joined.
    """
    return _in_lines(cut_short(text))


@lru_cache(maxsize=1024)
def _in_lines(text: str) -> str:
    """Kept: every window has the same tips, and a page tells its own again whenever it is drawn."""
    told = "\n".join(fill(line, TIP_COLUMNS) for line in text.splitlines())
    return re.sub("[<&]", rf"\g<0>{_WORD_JOINER}", told)


def set_tip(shown: QWidget | QAction, text: str, *, keyed: bool = True) -> None:
    """Give a widget or an action its tool tip; its keys stand at the end, if it has any that do something."""
    keys = shown.property(KEYS) if keyed else None
    shown.setToolTip(plain_tip(f"{text} ({keys})" if text and keys else text))


def button_text(text: str) -> str:
    """A name for a button or a menu: one line, cut, and an ampersand in it underlines nothing."""
    return cut_short(" ".join(cut_short(text).split()), MOST_OF_NAME).replace("&", "&&")
