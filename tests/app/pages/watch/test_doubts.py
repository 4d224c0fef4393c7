"""Why a version is doubtful, beside its figures."""

from pytestqt.qtbot import QtBot

from flashscope.app.look.theme import DARK
from flashscope.app.pages.watch.columns import version_columns
from flashscope.app.pages.watch.side_by_side import SideBySide
from flashscope.app.words.glossary import lines_in
from tests.app.words.own.test_versions import LONG, SHORT, cell, version


def test_doubts_of_the_versions_on_show_are_told_beside_their_figures(qtbot: QtBot) -> None:
    card = SideBySide(DARK)
    qtbot.addWidget(card)
    doubted = version(2, cell(SHORT, doubts=("a spread",)), cell(LONG, doubts=("a drift",)))
    card.show_versions((version(1, cell(SHORT)), doubted), "mine.py")
    qtbot.waitUntil(lambda: card.doubts.text() == "v2: doubtful: a spread; doubtful: a drift")
    assert card.doubts.isVisibleTo(card)
    card.show_versions((version(1, cell(SHORT)),), "mine.py")
    qtbot.waitUntil(lambda: not card.doubts.isVisibleTo(card))
    card.close_down()


def test_the_heading_of_the_reasons_has_no_tip_of_another_why() -> None:
    (why,) = [column for column in version_columns(lambda: DARK) if column.title == "why"]
    assert not lines_in(why.title)
