"""What is written in a roofline: every kernel's name and the chosen N, nothing on anything else."""

from dataclasses import replace
from itertools import combinations

import pytest
from PySide6.QtCore import QPointF, QRectF
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.figures.series import kernels_of
from flashscope.app.look.theme import DARK
from flashscope.app.look.zoom import ZOOM
from flashscope.app.plots.roofline.plot import RooflinePlot
from flashscope.app.words.devices.roofline import roof_label, staged_tier_text, tier_text
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.theory.roofline import Roof, Roofline, roofline
from flashscope.profiles.store import load
from flashscope.profiles.wire.ceilings import EXPONENTIALS
from tests.matrix import chosen

MARGIN = 4  # that a text item has around its text


@pytest.fixture(scope="module")
def found() -> Roofline:
    session = load(next(path for path in bundled_sessions() if path.stem == "h200-traffic"))
    return roofline(rows(session), session.ceilings)


def written(plot: RooflinePlot) -> dict[str, QRectF]:
    items = [item for item in plot._labels._items if item.isVisible()]
    boxes = {item.toPlainText(): item.mapRectToScene(item.boundingRect()) for item in items}
    return {text: box.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN) for text, box in boxes.items()}


@chosen("size", [(840, 530), (1500, 900)], {(840, 530)})
def test_every_name_and_the_chosen_n_have_room_and_stand_on_nothing(
    qtbot: QtBot, found: Roofline, size: tuple[int, int]
) -> None:
    plot = RooflinePlot(DARK)
    qtbot.addWidget(plot)
    plot.resize(*size)
    plot.show()
    qtbot.waitExposed(plot)
    plot.show_roofline(found, frozenset())
    for spot in found.spots:
        plot.show_chosen(spot.row.point.index)
        texts = written(plot)
        if spot.row.kernel == "standard":
            assert set(kernels_of([one.row for one in found.spots])) <= set(texts)
            assert seqlen_text(spot.row.seqlen) in texts
        assert not any(a.intersects(b) for a, b in combinations(texts.values(), 2))
        assert all(plot.getViewBox().sceneBoundingRect().contains(box) for box in texts.values())


@chosen("size", [(640, 440), (1600, 900), (3200, 1700)], {(1600, 900)})
def test_at_200_percent_no_name_of_a_ceiling_stands_on_another(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(ZOOM, "factor", 2.0)
    session = load(next(path for path in bundled_sessions() if path.stem == "h200-peers"))
    narrow = [row for row in rows(session) if row.problem.head_dim == 64 and not row.problem.causal]
    found = roofline(narrow, session.ceilings)
    plot = RooflinePlot(DARK)
    qtbot.addWidget(plot)
    plot.resize(*size)
    plot.show()
    qtbot.waitExposed(plot)
    plot.show_roofline(found, frozenset())
    plot.grab()
    names = [roof._text for roof in plot._roofs if roof._text.isVisible()]
    whole = [name.mapRectToScene(name.boundingRect()) for name in names]
    boxes = [box.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN) for box in whole]
    assert not any(a.intersects(b) for a, b in combinations(boxes, 2))
    assert len(names) >= len(plot._roofs) - (size[0] < 1000)  # the slope's has none in the smallest


def test_no_name_of_a_slope_stands_on_a_mark_where_there_is_another_place(qtbot: QtBot) -> None:
    session = load(next(path for path in bundled_sessions() if path.stem == "h200-peers"))
    narrow = [row for row in rows(session) if row.problem.head_dim == 64 and not row.problem.causal]
    plot = RooflinePlot(DARK)
    qtbot.addWidget(plot)
    plot.resize(840, 440)
    plot.show()
    qtbot.waitExposed(plot)
    plot.show_roofline(roofline(narrow, session.ceilings), frozenset())
    plot.grab()
    slopes = [roof._text for roof in plot._roofs if roof.rises]
    assert len(slopes) == 3
    assert all(name.isVisible() for name in slopes)
    marks = [plot.getViewBox().mapViewToScene(QPointF(*place)) for place in plot._places()]
    boxes = [name.mapRectToScene(name.boundingRect()) for name in slopes]
    inner = [box.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN) for box in boxes]
    assert not [mark for mark in marks if any(box.contains(mark) for box in inner)]


def test_points_of_which_nothing_tells_the_bytes_are_named_as_not_drawn() -> None:
    session = load(next(path for path in bundled_sessions() if path.stem == "h200-peers"))
    wide = [row for row in rows(session) if row.problem.head_dim == 128 and not row.problem.causal]
    told = tier_text(roofline(wide, session.ceilings).spots)
    assert told == (
        "filled: DRAM bytes by formula · hollow: L2 (tile) bytes by formula · "
        "small: bytes of shared memory by formula · not drawn, as nothing tells their bytes: torch-math"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("h200-traffic", "bytes by counters: filled DRAM, hollow L2"),
        ("h200-inside", "bytes by formula: filled DRAM, hollow L2, small shared memory"),
    ],
)
def test_a_stage_tells_in_few_words_whether_bytes_were_counted(name: str, said: str) -> None:
    session = load(next(path for path in bundled_sessions() if path.stem == name))
    plain = [row for row in rows(session) if not row.problem.causal]
    assert staged_tier_text(roofline(plain, session.ceilings).spots) == said


def test_a_stage_names_no_memory_of_a_gpu_for_points_of_a_cpu() -> None:
    session = load(next(path for path in bundled_sessions() if path.stem == "cpu-timelines"))
    assert staged_tier_text(roofline(rows(session), session.ceilings).spots) == (
        "bytes by formula: filled DRAM, hollow caches"
    )


def test_a_name_of_a_ceiling_is_legible_over_the_lines_of_others(qtbot: QtBot) -> None:
    plot = RooflinePlot(DARK)
    qtbot.addWidget(plot)
    for roof in plot._roofs:
        assert roof._text.fill.color().name() == DARK.panel.lower()
        assert roof._text.zValue() > max(one._line.zValue() for one in plot._roofs)


def test_before_a_point_is_done_the_level_of_exponentials_names_the_head_dim_of_those_to_come() -> None:
    session = load(next(path for path in bundled_sessions() if path.stem == "h200-peers"))
    dims = {row.problem.head_dim: row for row in rows(session)}
    assert len(dims) > 1
    for head_dim, row in dims.items():
        found = roofline([replace(row, status="pending", measurement=None)], session.ceilings)
        assert not found.spots
        (roof,) = (one for one in found.roofs if one.key == EXPONENTIALS)
        assert f"(d {head_dim})" in roof_label(roof)


def test_the_level_of_exponentials_names_vs_head_dim_where_it_is_another() -> None:
    roof = Roof(EXPONENTIALS, 4e12, 2560.0, "a test", (192, 128))
    assert "(d 192/128)" in roof_label(roof)
