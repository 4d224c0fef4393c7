"""Every term of the glossary that heads, labels or names something on screen says what it means."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QGroupBox,
    QHeaderView,
    QLabel,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import alike_recordings, counted_recording
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.widgets.term_label import TermBox, TermLine, tell_terms
from flashscope.app.words.glossary import line_of, lines_in
from tests.app.rig import Rig
from tests.app.stepper.builders import random_trace

TIP = Qt.ItemDataRole.ToolTipRole
TWICE = re.compile(r"(\([^()]*\)) \1")


class Shown(NamedTuple):
    """A text on screen, its tool tip, and what shows it."""

    text: str
    tip: str
    by: str


@pytest.fixture
def full(rig: Rig, qtbot: QtBot) -> MainWindow:
    """A window in which every view has something to show."""
    window = rig.window()
    window.resize(1920, 1080)
    recording = counted_recording()
    assert recording is not None
    rig.open(recording)
    stepper, compare, profile = (window.pages[key] for key in ("stepper", "compare", "profile"))
    assert isinstance(stepper, StepperPage)
    stepper.show_trace(random_trace())
    assert isinstance(compare, ComparePage)
    with qtbot.waitSignal(compare.lineup.found):
        compare.choose(alike_recordings()[:2])
    assert isinstance(profile, ProfilePage)
    profile.open_form(True)
    for row in profile.form.kernels.folds.values():
        row.setChecked(True)
    return window


def shown_in(window: MainWindow) -> Iterator[Shown]:
    """What labels, buttons, boxes, tabs and headings of the view in front say."""
    for widget in (one for one in window.findChildren(QWidget) if one.isVisible()):
        by = f"{type(widget).__name__} in {window.view}"
        match widget:
            case QLabel() | QAbstractButton():
                yield Shown(widget.text().replace("&", ""), widget.toolTip(), by)
            case QGroupBox():
                yield Shown(widget.title(), widget.toolTip(), by)
            case QTabBar():
                yield from (Shown(widget.tabText(k), widget.tabToolTip(k), by) for k in range(widget.count()))
            case QComboBox():
                yield from _entries(widget, by)
            case QHeaderView() if widget.model() is not None:
                yield from _headings(widget, by)


def _entries(box: QComboBox, by: str) -> Iterator[Shown]:
    for place in range(box.count()):
        yield Shown(box.itemText(place), str(box.itemData(place, TIP) or ""), by)
    if isinstance(box, TermBox):
        yield Shown(box.currentText(), box.toolTip(), by)


def _headings(header: QHeaderView, by: str) -> Iterator[Shown]:
    model, way = header.model(), header.orientation()
    for section in range(header.count()):
        if not header.isSectionHidden(section):
            tip = model.headerData(section, way, TIP)
            yield Shown(str(model.headerData(section, way) or ""), str(tip or ""), by)


def flat(text: str) -> str:
    """A text in one line: a tip is broken into several, and parts what Qt could read as markup."""
    return " ".join(text.replace("\u2060", "").split())


@pytest.mark.matrix
def test_every_term_that_is_on_screen_has_its_line_of_the_glossary_as_its_tip(full: MainWindow) -> None:
    told, silent = set[str](), []
    for view in VIEWS:
        full.show_page(view)
        QApplication.processEvents()
        grab_whole(full)
        for text, tip, by in shown_in(full):
            line = line_of(flat(text).strip(":"))
            if line and flat(line) not in flat(tip):
                silent.append(f"{text!r} of {by}: {flat(tip)!r}")
            elif line:
                told.add(flat(text).strip(":").casefold())
            if found := TWICE.search(flat(tip)):
                silent.append(f"{text!r} of {by} names its keys twice: {found[0]}")
    assert not silent, "\n".join(dict.fromkeys(silent))
    assert {
        *("in turns", "counters", "cold", "drift check", "fused", "simt", "flash1", "slides’ β", "tiles"),
        *("flash1 order", "flash2 order", "trust", "samples", "runtime", "verdict", "stepper"),
        *("telemetry", "held back", "causal", "context", "bound by", "dtype", "replay"),
        *("follow", "broken", "predict", "heat map", "library", "traffic", "compare"),
    } <= told


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("drift", ["drift"]),
        ("Sweep finished · drift 1.088×", ["drift"]),
        ("ms · median, q1–q3", ["median", "q1–q3"]),
        ("▸ library peers (6, 1 chosen)", ["library peers"]),
        ("dotted: model", ["dotted"]),
        ("standard · N = 16 384", ["standard", "N"]),
        ("d 128, no mask, batch 1", ["d", "mask", "batch"]),
        ("a name of one's own", []),
    ],
)
def test_the_parts_of_a_short_text_are_told_one_by_one(text: str, terms: list[str]) -> None:
    assert lines_in(text) == "\n".join(map(line_of, terms))


def test_a_line_that_is_shortened_tells_its_terms_and_all_of_itself(qtbot: QtBot) -> None:
    line = TermLine("Sweep finished · drift 1.088×")
    qtbot.addWidget(line)
    line.resize(1000, 20)
    line.show()
    assert flat(line.toolTip()) == line_of("drift")
    line.resize(80, 20)
    assert flat(line.toolTip()) == f"{line_of('drift')} Sweep finished · drift 1.088×"


def test_the_tip_of_a_box_follows_its_choice_even_where_nobody_is_told(qtbot: QtBot) -> None:
    box = TermBox("Loop order")
    qtbot.addWidget(box)
    box.addItems(["flash1 order", "from a file"])
    tell_terms(box)
    assert flat(str(box.itemData(0, TIP))) == line_of("flash1 order")
    box.choose_quietly(1)
    assert box.toolTip() == "Loop order"
    box.choose_quietly(0)
    assert flat(box.toolTip()) == f"{line_of('flash1 order')} Loop order"
