"""What takes the memory of the kernels on show, beside the plots."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor, QFontMetricsF

from flashscope.app.look.fonts import ui_font
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.profile.memory_bars import BAR, BETWEEN, GAP, LINE, MemoryBars, broken
from flashscope.app.words.units import bytes_text
from flashscope.profiles.results.theory.holdings import holdings
from tests.app.bench import Bench
from tests.app.pixels import pixels
from tests.profiles.sessions import make_plan, script


def argb(colour: str) -> int:
    return QColor(colour).rgb()


def painted(memory: MemoryBars, number: int) -> list[int]:
    """The pixels of a bar from left to right, up to its end."""
    picture = pixels(memory.grab().toImage())
    place = GAP + LINE + number * (LINE + BAR + GAP) + LINE + BAR // 2
    line, ground = picture[min(place, len(picture) - 1)], picture[0, 0]
    filled = [x for x, pixel in enumerate(line) if pixel != ground]
    return [int(pixel) for pixel in line[: filled[-1] + 1]] if filled else []


@pytest.fixture
def memory(bench: Bench) -> MemoryBars:
    bench.page.resize(1500, 1000)
    bench.sweep(script(make_plan(("standard", "flash2"), (512, 1024, 2048))))
    return bench.page.plots.panel.memory


def test_bars_stand_under_the_figures_on_one_scale_and_follow_the_crosshair(
    bench: Bench, memory: MemoryBars
) -> None:
    assert memory.has_room
    for seqlen in (2048, 512):
        bench.page.plots.move_cursor(seqlen)
        bench.drawn()
        rows = [row for row in bench.page.plots.rows if row.seqlen == seqlen]
        tensors, s, p = holdings(next(row for row in rows if row.kernel == "standard"))
        told = f"standard: Q K V O LSE {bytes_text(tensors.nbytes)} · S {bytes_text(s.nbytes)} · P "
        assert memory.accessibleDescription().startswith(told)
        whole, alone = (len(painted(memory, number)) for number in (0, 1))
        share = tensors.nbytes / (tensors.nbytes + s.nbytes + p.nbytes)
        assert abs(whole - memory.width()) <= 1
        assert abs(alone - share * whole) <= 2


@pytest.mark.matrix
def test_tensors_are_grey_and_buffers_have_the_colour_of_their_kernel_in_every_theme(
    bench: Bench, memory: MemoryBars
) -> None:
    bench.page.plots.move_cursor(512)
    bench.drawn()
    for theme in (DARK, LIGHT):
        memory.apply_theme(theme)
        first, second = (painted(memory, number) for number in (0, 1))
        assert first[0] == argb(theme.dim)
        assert first[-1] == argb(kernel_mark("standard").on(theme))
        assert set(second) == {argb(theme.dim)}


@pytest.mark.matrix
def test_a_kernel_that_is_hidden_takes_none_of_the_room(bench: Bench, memory: MemoryBars) -> None:
    bench.page.plots.panel.button("flash2").click()
    bench.drawn()
    assert "flash2" not in memory.accessibleDescription()
    assert not painted(memory, 1)


@given(st.lists(st.text("abc 12", min_size=1, max_size=12), min_size=1, max_size=8), st.integers(1, 400))
def test_words_are_broken_into_lines_that_fit_and_none_is_lost(words: list[str], width: int) -> None:
    metrics = QFontMetricsF(ui_font())
    lines = broken("flash3: ", words, metrics, width)
    assert BETWEEN.join(lines) == f"flash3: {BETWEEN.join(words)}"
    for line in lines:
        assert metrics.horizontalAdvance(line) <= width or line.removeprefix("flash3: ") in words


@pytest.mark.matrix
def test_what_a_line_has_no_room_for_stands_on_the_next_if_all_have_room(memory: MemoryBars) -> None:
    assert [len(lines) for lines in memory._lines(QFontMetricsF(ui_font()))] == [1, 1]
    memory.resize(150, 400)
    first = memory._lines(QFontMetricsF(ui_font()))[0]
    assert len(first) > 1
    assert BETWEEN.join(first) in memory.accessibleDescription()
    memory.resize(150, GAP + LINE + 2 * (LINE + BAR + GAP))
    assert [len(lines) for lines in memory._lines(QFontMetricsF(ui_font()))] == [1, 1]


@pytest.mark.matrix
def test_nothing_is_painted_where_there_is_no_room_for_all_of_it(memory: MemoryBars) -> None:
    memory.resize(memory.width(), 82)
    assert not memory.has_room
    assert not painted(memory, 0)
