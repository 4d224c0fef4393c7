"""A name of a million characters neither keeps the window busy nor makes it wider."""

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.words.plain import MOST_DETAILS, MOST_OF_NAME, MOST_SHOWN, cut_short
from tests.app.rig import Rig
from tests.app.shell.shown import texts, window_full_of

LONG = "w" * 900_000  # what a file may hold is a million
SIGNS = 32  # around a name: what is done with it, an ellipsis


@pytest.mark.matrix  # it takes seconds
def test_no_widget_lays_out_more_than_can_be_read(rig: Rig, qtbot: QtBot) -> None:
    window = window_full_of(LONG, rig, qtbot)
    longest = {kind: max(map(len, found)) for kind, found in texts(window, rows=2).items()}
    assert longest.pop("line") == MOST_DETAILS
    names = {kind: longest.pop(kind) for kind in ("button", "choice", "action")}
    assert MOST_OF_NAME <= max(names.values()) <= MOST_OF_NAME + SIGNS, names
    assert MOST_SHOWN <= max(longest.values()) <= MOST_SHOWN * 1.1, longest  # a tip is broken into lines


@pytest.mark.matrix  # it takes seconds
def test_no_page_grows_wider(rig: Rig, qtbot: QtBot) -> None:
    def widths(text: str) -> list[int]:
        window = window_full_of(text, rig, qtbot)
        return [page.minimumSizeHint().width() for page in window.pages.values()]

    short, long = widths("a name of usual length"), widths(LONG)
    assert max(long) <= max(short) + 60, (short, long)


@pytest.mark.parametrize("length", [0, 1, MOST_SHOWN, MOST_SHOWN + 1, 10 * MOST_SHOWN])
def test_only_what_is_too_long_is_cut_and_says_so(length: int) -> None:
    text = "n" * length
    assert (cut_short(text) == text) is (length <= MOST_SHOWN)
    assert len(cut_short(text)) == min(length, MOST_SHOWN)
    assert cut_short(text).endswith("…") is (length > MOST_SHOWN)
