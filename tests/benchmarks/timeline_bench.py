"""How fast a timeline of 1.3 million bars follows zoom and pan: pytest -m benchmark -s timeline_bench.py.

Prints frames a second, of the wall and of the thread's own processor time, for 132 SMs with three warpgroups
each, on two sizes of window, and how long it takes to make such a timeline ready, which no window waits for.
Gates on nothing. The bars are made up; no GPU is needed.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.controller import Controller
from flashscope.app.figures.timeline_rows import TimelineRows
from flashscope.app.pages.timeline import TimelinePage
from flashscope.app.pages.timeline.shown_timelines import DrawnTimeline
from flashscope.app.plots.timeline.bars_item import BarsItem
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import STAGES, StageTimeline, TimelineRequest
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.wire.events import TimelineReady
from tests.app.fakes import FakeEngine
from tests.app.timelines import made_timeline
from tests.benchmarks.heart import Heart, line, now, shown

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]

SMS, LANES = 132, ("producer", "warpgroup 1", "warpgroup 2")
BARS = 1_300_000
FRAMES = 120
PAINTED = [0]


def large_timeline() -> StageTimeline:
    """So many bars of 200 to 2000 ns with short waits between them, spread over all lanes."""
    lanes = SMS * len(LANES)
    each = BARS // lanes
    draw = np.random.default_rng(0)
    took, waited = draw.integers(200, 2_000, (lanes, each)), draw.integers(0, 100, (lanes, each))
    end = np.cumsum(took + waited, axis=1)
    begin = end - took
    tile = np.tile(np.arange(each) // len(STAGES), lanes)
    many = Problem(seqlen_q=16_384, seqlen_k=16_384, batch=1, heads=2, head_dim=8)
    columns = {
        "lane": np.repeat(np.arange(lanes, dtype=np.int32), each),
        "stage": np.tile(np.arange(each) % len(STAGES), lanes).astype(np.uint8),
        "tile": np.column_stack((np.zeros_like(tile), tile, tile)).astype(np.int32),
        "begin": begin.ravel(),
        "end": end.ravel(),
        "rows": np.arange(SMS, dtype=np.int32),
    }
    return replace(
        made_timeline(),
        request=TimelineRequest(problem=many, kernel="flash2", rounds=3),
        row_kind="SM",
        lanes=LANES,
        span_ns=int(end.max()),
        **{name: Array.of(column) for name, column in columns.items()},
    )


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)], ids=str)
def test_moving_through_a_million_bars(
    size: tuple[int, int], qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    image = BarsItem._image

    def counted(item: BarsItem, *of: Any) -> Any:
        PAINTED[0] += 1
        return image(item, *of)

    monkeypatch.setattr(BarsItem, "_image", counted)
    window = shown(qtbot, Controller(FakeEngine, tmp_path))
    window.resize(*size)
    window.show_page("timeline")
    page = window.page
    assert isinstance(page, TimelinePage)
    timeline = large_timeline()
    begun = now()
    rows = TimelineRows.of(timeline)
    rows.bars.make_ready()
    facts = TimelineFacts.of(timeline)
    ready = (now()[0] - begun[0]) / 1e3
    print(f"\n{len(rows.bars.lane)} bars at {size[0]} x {size[1]}, ready after {ready:.1f} s")  # noqa: T201 - the table
    page.lineup.chores.wait()
    QApplication.processEvents()
    page.lineup._take([DrawnTimeline(rows, facts)])
    QApplication.processEvents()
    told("pan over all of it", lambda k: page._pan_by(0.02 if k % 16 < 8 else -0.02), page, 0.5)
    told("zoom in and out", lambda k: page._zoom_middle(0.8 if k % 32 < 16 else 1.25), page, 1.0)
    told("pan where bars have names", lambda k: page._pan_by(0.02 if k % 16 < 8 else -0.02), page, 0.002)
    told("scroll the rows", lambda k: page._scroll(3.0 if k % 64 < 32 else -3.0), page, 0.1)


def told(what: str, move: Callable[[int], object], page: TimelinePage, part: float) -> None:
    """Move so often, each time until all is painted, and print how fast that was."""
    page.show_all()
    page._zoom_middle(part)
    QApplication.processEvents()
    begun = now()
    for frame in range(FRAMES):
        move(frame)
        painted = PAINTED[0]
        while painted == PAINTED[0]:
            QApplication.processEvents()
    wall, processor = (FRAMES / (b - a) * 1e3 for a, b in zip(begun, now(), strict=True))
    print(f"{what:<40} {wall:.0f} frames/s, {processor:.0f} a processor second")  # noqa: T201 - the table


def test_the_longest_block_while_a_large_timeline_arrives(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path / "home"))
    window = shown(qtbot, Controller(FakeEngine, tmp_path))
    window.show_page("timeline")
    page = window.page
    assert isinstance(page, TimelinePage)
    page.lineup.chores.wait()
    for what, timeline in (
        ("68 bars, the first there is", made_timeline()),
        (f"{BARS} bars", large_timeline()),
    ):
        heart = Heart()
        qtbot.wait(300)
        with heart.beating():
            window.controller._bridge.push(TimelineReady(timeline=timeline))
            qtbot.waitUntil(partial(is_drawn, page, timeline), timeout=60_000)
            qtbot.wait(300)
        line(f"a timeline of {what}", heart.longest)


def is_drawn(page: TimelinePage, timeline: StageTimeline) -> bool:
    return any(one.rows.timeline is timeline for one in page.lineup.drawn)
