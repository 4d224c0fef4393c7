"""The chips of the sessions that are compared: baseline, keys, removal."""

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QFileDialog

from flashscope.app.shell.shots import grab_whole
from flashscope.app.widgets.scrolling import Scrolling
from tests.app.fakes import GPU_MACHINE
from tests.app.mouse import drop
from tests.app.pages.compare.conftest import Desk, press, recorded
from tests.app.rest import come_to_rest
from tests.app.shell.layout.test_fits import is_cut, texts
from tests.matrix import chosen

BEFORE_PX = 40  # of a chip, before its words: its edge and the dash


@pytest.mark.matrix
def test_a_chip_shows_the_whole_date_however_long_the_device_is_called(desk: Desk) -> None:
    device = replace(GPU_MACHINE.devices[0], name="Intel(R) Xeon(R) Platinum 8480+ Processor")
    desk.choose(recorded("base"), recorded("other", devices=(device, *GPU_MACHINE.devices[1:])))
    told = [chip.button.text().splitlines()[1] for chip in desk.page.chips.chips]
    assert told[1].startswith("Intel Xeon P")
    assert told[1].endswith("… · 2026-11-21 10:00")
    assert told[0] == f"{GPU_MACHINE.devices[0].name} · 2026-11-21 10:00"
    assert not any(is_cut(chip.button) for chip in desk.page.chips.chips)


@pytest.mark.matrix
def test_no_words_of_a_chip_stand_under_its_cross(desk: Desk) -> None:
    device = replace(GPU_MACHINE.devices[0], name="NVIDIA H100 80GB HBM3")
    desk.choose(recorded("base"), recorded("traffic, energy and all roofs there are", devices=(device,)))
    QApplication.processEvents()
    for chip in desk.page.chips.chips:
        words = chip.button.fontMetrics().size(0, chip.button.text()).width()
        assert BEFORE_PX + words <= chip.cross.x(), chip.button.text()


def test_one_key_makes_another_session_the_baseline(desk: Desk) -> None:
    slow, fast = recorded("slow", times=1.2), recorded("fast")
    desk.choose(slow, fast)
    assert desk.sentences() == ["standard 20% faster (geometric mean); 3 more of 6 points faster"]
    desk.after(lambda: press(desk, "compare.baseline"))
    assert desk.page.lineup.paths == (fast, slow)
    assert desk.sentences() == ["standard 20% slower (geometric mean); 3 more of 6 points slower"]


@pytest.mark.matrix
def test_a_chips_cross_and_menu_remove_it_and_make_it_the_baseline(desk: Desk) -> None:
    paths = [recorded(name, times=times) for name, times in (("a", 1.0), ("b", 1.1), ("c", 1.2))]
    desk.choose(*paths)
    chip = desk.page.chips.chips[2]
    desk.after(chip.menu().actions()[0].trigger)
    assert list(desk.page.lineup.paths) == [paths[2], paths[0], paths[1]]
    desk.after(desk.page.chips.chips[1].cross.click)
    assert list(desk.page.lineup.paths) == [paths[2], paths[1]]


@pytest.mark.matrix
def test_the_keys_stay_on_a_chip_while_its_session_is_read_moved_or_removed(desk: Desk) -> None:
    slow, fast = recorded("slow", times=1.2), recorded("fast")
    desk.page.choose([slow, fast])
    desk.page.chips.chips[0].button.setFocus()
    desk.after(lambda: None)
    assert desk.window.focusWidget() is desk.page.chips.chips[0].button
    desk.after(lambda: press(desk, "compare.baseline"))
    assert desk.window.focusWidget() is desk.page.chips.chips[1].button
    desk.after(lambda: desk.page.lineup.remove(slow))
    assert desk.window.focusWidget() is desk.page.chips.chips[0].button


@pytest.mark.matrix
def test_six_sessions_are_compared_and_a_seventh_is_told_of(desk: Desk) -> None:
    paths = [recorded(f"run {k}", times=1 + k / 10) for k in range(7)]
    desk.choose(*paths)
    assert desk.page.lineup.paths == tuple(paths[:6])
    assert desk.window.errors.text == "Up to 6 sessions can be compared; left out: run 6."
    assert len(desk.sentences()) == 5
    assert not desk.board.tables.pairs.isColumnHidden(0), "the session stands in the table"
    desk.page.chips.chips[4].button.click()
    desk.drawn()
    assert desk.board.current == 4


@pytest.mark.matrix
def test_files_dropped_on_the_page_are_compared_too(desk: Desk) -> None:
    files = [recorded("base"), recorded("other", times=1.2)]
    desk.after(lambda: drop(desk.window, files))
    assert desk.page.lineup.paths == tuple(files)


@pytest.mark.matrix
def test_files_of_a_dialog_are_added(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [recorded("base"), recorded("other")]
    answer = ([str(file) for file in files], "")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: answer)
    desk.after(desk.page.open_files)
    assert desk.page.lineup.paths == tuple(files)


@pytest.mark.matrix
@chosen("percent", [100, 200], {200})
def test_six_sessions_fit_a_small_window_at_every_zoom(desk: Desk, percent: int) -> None:
    desk.window.resize(1280, 720)
    desk.choose(*(recorded(f"run {k}", times=1 + k / 10) for k in range(6)))
    desk.window.appearance.zoom(percent)
    desk.window.appearance.finish()
    grab_whole(desk.window)
    come_to_rest(desk.window)
    areas = [desk.window._frames["compare"], *desk.page.findChildren(Scrolling)]
    sideways = [area.horizontalScrollBar().maximum() for area in areas]
    cut = [
        f"{one.accessibleName() or one!r} {one.size()} {one.sizeHint()}"
        for one in texts(desk.window)
        if is_cut(one)
    ]
    desk.window.appearance.zoom(100)
    desk.window.appearance.finish()
    assert not any(sideways), sideways
    assert not cut, "\n".join(cut)
