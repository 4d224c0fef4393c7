"""What a recorded trace of a GPU shows in the panels of a small window is whole."""

import pytest
from PySide6.QtCore import QRectF

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.stepper import code_panel, heatmap, tile_map
from flashscope.app.plots.stepper import panel as panels
from flashscope.app.plots.stepper.panel import put, width_of
from flashscope.app.shell.shots import grab_whole
from tests.app.rig import Rig

PANELS = {code_panel: "code", heatmap: "scores", tile_map: "tiles"}


class Written:
    """A text that was painted, and the rectangle that it takes."""

    def __init__(self, html: str, rect: QRectF) -> None:
        self.html, self.rect = html, rect


@pytest.fixture
def page(rig: Rig) -> StepperPage:
    window = rig.window()
    window.resize(1280, 720)
    rig.open(BUNDLED / "h100-inside.flashscope")
    window.show_page("stepper")
    found = window.pages["stepper"]
    assert isinstance(found, StepperPage)
    session = rig.controller.session
    assert session is not None
    found.show_trace(next(one for one in session.traces if one.request.kernel == "flash2"))
    found.choose_mode("blocks")
    found.seek(40)
    grab_whole(window)
    return found


def written_by(page: StepperPage, name: str, monkeypatch: pytest.MonkeyPatch) -> list[Written]:
    """What a panel writes, each where it stands."""
    texts: list[Written] = []

    def noting(painter: object, rect: QRectF, html: str, *rest: object) -> float:
        wide = width_of(html, painter.font())  # type: ignore[attr-defined]
        high = rect.height()
        align = int(getattr(rest[1], "value", 1)) if len(rest) > 1 else 1
        left = {2: rect.right() - wide, 4: rect.center().x() - wide / 2}.get(align, rect.left())
        texts.append(Written(html, QRectF(left, rect.center().y() - high / 2, wide, high)))
        return put(painter, rect, html, *rest)  # type: ignore[arg-type]

    for module in (*PANELS, panels):
        monkeypatch.setattr(module, "put", noting)
    getattr(page.board, name).grab()
    return texts


def test_the_caption_of_the_tiles_says_all_that_has_room(
    page: StepperPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = page.board.tiles
    (caption,) = [one for one in written_by(page, "tiles", monkeypatch) if " of 12" in one.html]
    assert "SM" in caption.html
    assert caption.rect.left() >= 0
    assert caption.rect.right() <= panel.width()


def test_no_line_of_the_algorithm_is_cut(page: StepperPage, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = written_by(page, "code", monkeypatch)
    assert any("8 ln 2" in one.html for one in lines)
    assert all(one.rect.right() <= page.board.code.width() for one in lines)


def test_rows_and_columns_of_a_tile_are_numbered_apart(
    page: StepperPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (one for one in written_by(page, "scores", monkeypatch) if one.html == "256")
    assert not first.rect.intersects(second.rect.adjusted(0, 1, 0, -1))


def test_the_chart_of_what_is_known_ends_where_the_question_does(page: StepperPage) -> None:
    page.choose_mode("predict")
    board = page.modes.board
    grab_whole(page.window())
    question, _score, known = board.cards
    bottoms = [card.mapTo(board, card.rect().bottomLeft()).y() for card in (question, known)]
    assert known.isVisible()
    assert bottoms[0] == bottoms[1]
