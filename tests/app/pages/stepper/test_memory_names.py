"""The memories have the names of the device that a trace is of: of a CPU nothing says HBM or SRAM."""

import re

import pytest
from PySide6.QtGui import QFont, QStaticText
from PySide6.QtWidgets import QLabel, QWidget

from flashscope.app.pages.stepper.page import StepperPage
from flashscope.app.pages.stepper.panel_card import PanelCard
from flashscope.app.plots.stepper import panel as panels
from flashscope.app.stepper.modes import MODES
from flashscope.app.words.inside.tracing import MEMORIES
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.trace import LoopOrder, TraceRequest
from tests.app.pages.stepper.conftest import Bench
from tests.app.stepper.builders import build_trace
from tests.matrix import chosen

GPU_NAMES = re.compile(r"\b(HBM|SRAM|shared memory)\b|hbm", re.IGNORECASE)
MODE_KEYS = [mode.key for mode in MODES]


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that a panel has painted or measured."""
    texts: list[str] = []
    lay_out = panels._static

    def noting(html: str, font: QFont) -> QStaticText:
        texts.append(html)
        return lay_out(html, font)

    monkeypatch.setattr(panels, "_static", noting)
    return texts


def walk(bench: Bench, backend: Backend, order: LoopOrder, mode: str) -> StepperPage:
    page = bench.show("random")
    problem = Problem(seqlen_q=16, seqlen_k=16, head_dim=8)
    page.show_trace(
        build_trace(TraceRequest(problem=problem, backend=backend, order=order, block_q=8, block_k=8))
    )
    page.choose_mode(mode)
    bench.qtbot.waitUntil(lambda: "trace is being recorded" not in page.words())
    bench.qtbot.waitUntil(lambda: all(one.updatesEnabled() for one in page.findChildren(QWidget)))  # in turns
    return page


def said(page: StepperPage, painted: list[str]) -> list[str]:
    """All that the page says at any step: painted, written, in tips, to screen readers, exported."""
    texts: list[str] = []
    for at in range(len(page.story.timeline.steps)):  # type: ignore[union-attr]
        page.seek(at)
        page.grab()
        texts.append(page.words())
    shown = [one for one in page.findChildren(QWidget) if one.isVisible()]
    for one in shown:
        texts += [one.toolTip(), one.accessibleName(), one.accessibleDescription()]
    texts += [one.text() for one in shown if isinstance(one, QLabel)]
    for card in (one for one in shown if isinstance(one, PanelCard)):
        written = card.make_export()
        assert written is not None
        texts += [written.title, *written.columns, *written.provenance.values()]
    return [*texts, *painted]


@chosen("order", ["flash1", "flash2"], {"flash2"})
@chosen("mode", MODE_KEYS, {"blocks"})
def test_of_a_trace_on_a_cpu_nothing_names_the_memories_of_a_gpu(
    bench: Bench, painted: list[str], mode: str, order: LoopOrder
) -> None:
    page = walk(bench, "cpu", order, mode)
    assert [text for text in said(page, painted) if GPU_NAMES.search(text)] == []


@pytest.mark.matrix
@pytest.mark.parametrize("mode", ["blocks", "lanes"])
@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_the_memories_of_the_device_are_named(
    bench: Bench, painted: list[str], mode: str, backend: Backend
) -> None:
    page = walk(bench, backend, "flash2", mode)
    texts = said(page, painted)
    for name in MEMORIES[backend]:
        assert name in painted
        assert any(name in text for text in texts if text not in painted)


@pytest.mark.parametrize(
    ("backend", "key"),
    [("cpu", "modelled_memory_bytes_so_far"), ("cuda", "modelled_hbm_bytes_so_far")],
)
def test_the_numbers_of_the_memory_lanes_are_exported_under_its_name(
    bench: Bench, backend: Backend, key: str
) -> None:
    page = walk(bench, backend, "flash2", "blocks")
    card = next(one for one in page.findChildren(PanelCard) if one.panel is page.board.memory)
    written = card.make_export()
    assert written is not None
    assert written.columns[1] == key
    assert all(len(row) == len(written.columns) for row in written.rows)


def test_what_a_core_s_cache_holds_has_no_limit_that_a_gpu_has(bench: Bench) -> None:
    page = walk(bench, "cpu", "flash2", "blocks")
    page.seek(3)
    words = page.board.memory.words(page.board.memory.view)  # type: ignore[arg-type]
    assert words.startswith("On core’s cache: ")
    assert "KiB (Hopper)" not in words
