"""What a recorded trace of a GPU shows in the panels of a small window is whole."""

from itertools import pairwise
from unittest.mock import Mock

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.stepper import cells, code_panel, memory_panel, tiles
from flashscope.app.plots.stepper import panel as panels
from flashscope.app.plots.stepper.panel import put, width_of
from flashscope.app.shell.shots import grab_whole
from tests.app.rig import Rig
from tests.app.stepper.builders import random_trace
from tests.matrix import chosen

PANELS = {code_panel: "code", cells: "scores", memory_panel: "memory", tiles: "tiles"}


class Written:
    """A text that was painted, and the rectangle that it takes."""

    def __init__(self, html: str, rect: QRectF) -> None:
        self.html, self.rect = html, rect


@pytest.fixture
def page(rig: Rig) -> StepperPage:
    window = rig.window()
    window.resize(1280, 720)
    rig.open(BUNDLED / "h200-inside.flashscope")
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


@pytest.mark.matrix
def test_the_caption_of_the_tiles_says_all_that_has_room(
    page: StepperPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = page.board.tiles
    (caption,) = [one for one in written_by(page, "tiles", monkeypatch) if " of 12" in one.html]
    assert "SM" in caption.html
    assert caption.rect.left() >= 0
    assert caption.rect.right() <= panel.width()


@pytest.mark.matrix  # it takes a second
def test_no_line_of_the_algorithm_is_cut(page: StepperPage, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = written_by(page, "code", monkeypatch)
    assert any("8 ln 2" in one.html for one in lines)
    assert all(one.rect.right() <= page.board.code.width() for one in lines)


@pytest.mark.matrix
def test_rows_and_columns_of_a_tile_are_numbered_apart(
    page: StepperPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (one for one in written_by(page, "scores", monkeypatch) if one.html == "256")
    assert not first.rect.intersects(second.rect.adjusted(0, 1, 0, -1))


@pytest.mark.matrix
def test_few_rows_of_many_keys_have_a_tile_as_high_as_others_and_numbers_apart(
    page: StepperPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decoding fills 4 of the 64 rows of a tile, and its keys have numbers of four digits."""
    decoded(page, "output")
    panel = page.board.scores
    assert panel.view is not None
    area = panel._area(panel.frame(panel.view))
    assert area.rows * area.height > panel.height() / 2
    numbers = sorted(
        (one for one in written_by(page, "scores", monkeypatch) if len(one.html) == 4 and one.html.isdigit()),
        key=lambda one: one.rect.left(),
    )
    assert len(numbers) > 2
    assert all(left.rect.right() < right.rect.left() for left, right in pairwise(numbers))


@pytest.mark.matrix
@pytest.mark.parametrize(("kernel", "rows"), [("flash1", 256), ("flash3-fp8", 192)])
def test_a_tile_with_more_rows_than_pixels_is_shown_whole_with_its_scale(
    page: StepperPage, monkeypatch: pytest.MonkeyPatch, kernel: str, rows: int
) -> None:
    session = page.controller.session
    assert session is not None
    page.show_trace(next(one for one in session.traces if one.request.kernel == kernel))
    page.seek(6)
    grab_whole(page.window())
    panel = page.board.scores
    assert panel.view is not None
    area = panel._area(panel.frame(panel.view))
    assert area.rows == rows > panel.height()
    assert area.y + area.rows * area.height <= panel.height()
    low = [one for one in written_by(page, "scores", monkeypatch) if one.html.startswith("−")]
    assert [one.rect.bottom() <= panel.height() for one in low] == [True]


@pytest.mark.matrix
def test_the_long_algorithm_of_parts_has_room_for_its_lines(
    page: StepperPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded(page, "merge")
    lines = written_by(page, "code", monkeypatch)
    smallest = QFontMetricsF(page.board.code.sized(code_panel.SMALLEST)).height()
    assert len(lines) == 13
    assert all(one.rect.height() >= smallest - 1 for one in lines)


@pytest.mark.matrix
@pytest.mark.parametrize("kernel", ["flash2", "flash3-fp8"])
def test_the_bytes_are_those_of_the_kernel_that_was_traced(
    page: StepperPage, monkeypatch: pytest.MonkeyPatch, kernel: str
) -> None:
    session = page.controller.session
    assert session is not None
    page.show_trace(next(one for one in session.traces if one.request.kernel == kernel))
    page.seek(16)
    grab_whole(page.window())
    names = [one for one in written_by(page, "memory", monkeypatch) if one.html in {kernel, "standard"}]
    assert [one.html for one in names] == [kernel, "standard"]
    panel = page.board.memory
    assert panel.view is not None
    assert [row[0] for row in panel.numbers(panel.view)] == [kernel, "standard"]


@pytest.mark.matrix
def test_no_sm_is_named_while_parts_are_merged(page: StepperPage) -> None:
    """Of the launch that merges the trace does not say where it ran."""
    decoded(page, "output")
    assert "SM" in page.board.tiles.accessibleDescription()
    decoded(page, "merge")
    assert "64 of 64 done" in page.board.tiles.accessibleDescription()
    assert "SM" not in page.board.tiles.accessibleDescription()


def decoded(page: StepperPage, phase: str) -> None:
    """Show the recording with keys in parts, at a step of this kind."""
    session = page.controller.session
    assert session is not None
    page.show_trace(next(one for one in session.traces if one.request.splits > 1))
    assert page.position is not None
    steps = page.position.timeline.steps
    page.seek([at for at, step in enumerate(steps) if step.phase == phase][20])
    grab_whole(page.window())


@pytest.mark.matrix
def test_rows_of_the_last_tile_are_numbered_apart(page: StepperPage, monkeypatch: pytest.MonkeyPatch) -> None:
    session = page.controller.session
    assert session is not None
    page.show_trace(next(one for one in session.traces if one.request.kernel == "flash3-fp8"))
    page.seek(16)
    grab_whole(page.window())
    panel = page.board.scores
    assert panel.view is not None
    left = panel._area(panel.frame(panel.view)).x
    written = written_by(page, "scores", monkeypatch)
    rows = [one.rect for one in written if one.html.isdigit() and one.rect.right() < left]
    assert len(rows) > 2
    assert all(above.bottom() <= below.top() for above, below in pairwise(rows))


@pytest.mark.matrix
def test_the_chart_of_what_is_known_ends_where_the_question_does(page: StepperPage) -> None:
    page.choose_mode("predict")
    board = page.modes.board
    grab_whole(page.window())
    question, _score, known = board.cards
    bottoms = [card.mapTo(board, card.rect().bottomLeft()).y() for card in (question, known)]
    assert known.isVisible()
    assert bottoms[0] == bottoms[1]


@pytest.mark.matrix
def test_before_the_first_tile_no_masked_one_looks_like_the_one_that_runs(page: StepperPage) -> None:
    page.show_trace(random_trace(464, block=8, head_dim=2, causal=True))
    page.seek(0)
    tiles = page.board.tiles
    accent = QColor(tiles.theme.accent).rgb()

    def coloured() -> int:
        image = tiles.grab().toImage()
        pixels = ((x, y) for x in range(image.width()) for y in range(image.height()))
        return sum(image.pixel(x, y) == accent for x, y in pixels)

    assert coloured() == 0
    page.seek(9)
    assert coloured() > 0


@chosen("value,told", [(0.0041, "4e−3"), (-2.6e-12, "−3e−12"), (0.0, "0")], [(-2.6e-12, "−3e−12")])
def test_a_cell_has_a_small_value_in_letters_that_have_room_and_no_0_00(
    page: StepperPage, value: float, told: str
) -> None:
    font = QFont("Inter", 10)
    room = QFontMetricsF(font).horizontalAdvance("0.00") + 2
    painter = Mock(font=lambda: font)
    page.board.scores._draw_cell(painter, QRectF(0, 0, room + 1, 20), value, (-1, 1), 2)
    assert painter.drawText.call_args.args[-1] == told
    used = [call.args[0] for call in painter.setFont.call_args_list]
    assert QFontMetricsF(used[0]).horizontalAdvance(told) <= room + 0.5
    assert used[-1] == font, "the cells after it have their own letters"
