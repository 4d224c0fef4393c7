"""What every empty view has alike: words above the middle, in narrow lines, and buttons under them."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.look.zoom import px
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.empty_view import WORDS_PX, EmptyView


def test_its_words_are_narrow_and_its_ways_stand_under_them_in_the_middle(qtbot: QtBot) -> None:
    view = EmptyView("What is it?", "a word " * 200)
    first, last = QPushButton("Have one"), QPushButton("Open one")
    view.add(first, last)
    qtbot.addWidget(view)
    view.resize(1200, 700)
    view.show()
    assert view.words.width() <= px(WORDS_PX)
    tops = [one.mapTo(view, QPoint()).y() for one in (view.words, first, last)]
    assert tops == sorted(tops)
    middles = {one.mapTo(view, one.rect().center()).x() for one in (view.words, first, last)}
    assert max(middles) - min(middles) <= 1
    assert first.width() == first.sizeHint().width()


def test_every_page_without_anything_to_show_is_one(window: MainWindow) -> None:
    for key in ("traffic", "timeline", "watch", "compare", "audit"):
        window.show_page(key)
        shown = [one for one in window.page.findChildren(EmptyView) if one.isVisible()]
        assert len(shown) == 1, key
