"""The Designer page, by sliders, mouse and keys; what the compiler says is put into its mouth."""

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from flashscope.app.control.far.places import HostDevices, TakenDevices, Wanted
from flashscope.app.figures.tile_grid import SHIPPED
from flashscope.app.look.theme import DARK, LIGHT
from flashscope.app.pages.designer import DesignerPage
from flashscope.app.pages.designer.knobs import KnobSlider
from flashscope.app.pages.designer.tiles_view import BEING_TIMED
from flashscope.app.shell.main_window import MainWindow
from flashscope.kernels.cuda.design.cut import shipped
from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.wire.cuts import (
    CutCompiled,
    CutsAsked,
    CutsEnded,
    CutsRound,
    CutsToTime,
    CutTimed,
    CutTimes,
)
from tests.app.fakes import SilentEngine
from tests.app.pages.designer.conftest import Compilers

GPU = Device(backend="cuda", name="NVIDIA A10", memory_bytes=1, compute_capability=(8, 6), multiprocessors=72)


def slider(page: DesignerPage, name: str) -> KnobSlider:
    return next(one for one in page.knobs.shown if one.knob.name == name)


def test_it_begins_with_the_shipped_cut_on_a_published_card(page: DesignerPage) -> None:
    assert page.card.name == "H200"
    assert page.found.cut == shipped("flash2", page.problem, page.card.target)
    assert page.sentence.text().startswith("✓ 2 blocks of 128 threads share an SM of H200")
    assert page.staging.provenance.badge == "MODEL · GPU H200"
    assert all(ours == own for _, ours, own in page.table.texts)


def test_a_slider_changes_all_that_is_on_show(page: DesignerPage) -> None:
    slider(page, "block_k").setValue(15)
    assert page.found.cut.block_k == 256
    assert page.picture.bars[0].of_block > 128 * 1024
    assert ["tile, Br × Bc", "128 × 256", "128 × 96"] in page.table.texts
    assert page.landscape.plot.drawn is not None
    assert page.landscape.plot.drawn.chosen == page.found.cut


def test_values_that_do_not_run_are_marked_on_their_slider(page: DesignerPage) -> None:
    page.choices.next_kernel()
    groups, keys = slider(page, "groups"), slider(page, "block_k")
    assert groups.refused == {4}
    assert {16, 144} <= keys.refused
    assert 128 not in keys.refused
    colours = {mark.value: mark.colour for mark in groups.ticks()}
    assert colours == {2: DARK.text, 3: DARK.error}


def test_a_refused_cut_says_every_reason(page: DesignerPage) -> None:
    page.choices.next_kernel()
    page.show_cut(replace(page.found.cut, groups=4, block_k=144))
    assert page.sentence.text().startswith("× wgmma.cuh has products")
    assert page.others.isVisible()
    assert "5 launched with 96" in page.others.text()
    page.show_shipped()
    assert page.sentence.text().startswith("✓ ")
    assert not page.others.isVisible()


def test_the_shipped_cut_follows_the_problem_and_one_of_ones_own_does_not(page: DesignerPage) -> None:
    page.choices.show_kernel("flash3")
    assert page.found.cut.groups == 3
    page.knobs.head_dim.setValue(2)  # 128
    assert page.found.cut == page.shipped
    assert page.found.cut.groups == 2
    slider(page, "stages").setValue(0)
    own = page.found.cut
    page.knobs.head_dim.setValue(0)
    assert page.found.cut == own != page.shipped


def test_each_kernel_keeps_its_cut(page: DesignerPage) -> None:
    slider(page, "block_k").setValue(0)
    page.choices.next_kernel()
    assert page.found.cut == page.shipped
    assert [one.isVisible() for one in page.knobs.sliders["flash2"]] == [False] * 4
    page.choices.show_kernel("flash2")
    assert page.found.cut.block_k == 16


def test_a_cell_is_picked_by_a_click_and_explained_by_its_tip(page: DesignerPage) -> None:
    plot = page.landscape.plot
    place = plot.box_of(1, 7).center().toPoint()
    QTest.mouseClick(plot, Qt.MouseButton.LeftButton, pos=place)
    assert (page.found.cut.groups, page.found.cut.block_k) == (2, 128)
    QApplication.sendEvent(plot, QHelpEvent(QEvent.Type.ToolTip, place, plot.mapToGlobal(place)))
    assert QToolTip.text().startswith("64 × 128, 2 warps of 2 fragments")
    QToolTip.hideText()
    assert plot.cell_at(QPoint(1, 1).toPointF()) is None


def test_the_cut_and_the_shipped_one_are_compiled_and_told(
    page: DesignerPage, compilers: Compilers, qtbot: QtBot
) -> None:
    slider(page, "block_k").setValue(0)
    page.bar.one.click()
    (asked,) = compilers.asked
    assert isinstance(asked, CutsAsked)
    assert asked.cuts == (page.found.cut, page.shipped)
    assert asked.compute_capability == (9, 0)
    assert page.bar.progress.text() == "Compiled 0 of 2 …"
    assert not page.bar.one.isEnabled()
    with qtbot.waitSignal(page.controller.cuts.changed):
        compilers.say(CutCompiled(compiled=CompiledCut(cut=asked.cuts[0], registers=90)))
        compilers.say(CutCompiled(compiled=CompiledCut(cut=asked.cuts[1], registers=252)))
        compilers.say(CutsEnded())
    assert ["registers", "90", "252"] in page.table.texts
    assert page.bar.progress.text() == "Compiled: 90 registers a thread, no spills."
    assert not page.bar.one.isEnabled()  # there is nothing left to ask
    assert not page.bar.stop.isVisible()


def test_a_refusal_of_the_compiler_is_the_sentence(
    page: DesignerPage, compilers: Compilers, qtbot: QtBot
) -> None:
    page.bar.one.click()
    failure = "The compiler refuses this cut: because (flash2.cu, line 1)."
    with qtbot.waitSignal(page.controller.cuts.compiled):
        compilers.say(CutCompiled(compiled=CompiledCut(cut=page.found.cut, failure=failure)))
    assert page.sentence.text() == f"× {failure}"


def test_all_that_fit_are_asked_for_and_can_be_stopped(page: DesignerPage, compilers: Compilers) -> None:
    page.bar.every.click()
    (asked,) = compilers.asked
    assert isinstance(asked, CutsAsked)
    refused = {cell.cut for row in page.grid.cells for cell in row if cell.refused}
    assert refused
    assert len(asked.cuts) == 80 - len(refused)
    assert not refused & {*asked.cuts}
    page.bar.stop.click()
    assert compilers.ended == 1
    assert page.bar.every.isEnabled()


def test_without_a_compiler_the_reason_is_told(
    page: DesignerPage, compilers: Compilers, qtbot: QtBot
) -> None:
    page.bar.one.click()
    with qtbot.waitSignal(page.controller.error_raised) as told:
        compilers.say(CutsEnded(reason="No CUDA compiler is here; install one."))
    assert told.args[0] == "No CUDA compiler is here; install one."
    assert page.bar.one.isEnabled()


def test_the_gpu_of_this_machine_comes_first_until_another_card_is_chosen(page: DesignerPage) -> None:
    machine = Machine(system="linux", python="3.11", devices=(GPU,))
    page.controller.machine = machine
    page.controller.machine_found.emit(machine)
    assert page.card.name == "A10"
    assert page.choices.cards.currentText() == "A10 · this machine"
    page.choices.next_kernel()
    assert page.sentence.text().startswith("× ")  # flash3 is Hopper's
    page.choices.cards.setCurrentIndex(1)
    page.controller.machine_found.emit(machine)
    assert page.card.name == "H200"


def test_rows_and_colours_of_the_landscape_are_chosen(page: DesignerPage) -> None:
    page.landscape.rows.setCurrentIndex(2)
    assert page.grid.size == (4, 16)
    page.landscape.next_colours()
    assert page.landscape.quantity.key == "shared"
    export = page.landscape.make_export()
    assert export is not None
    lines = [*export.rows]
    assert len(lines) == 64
    assert all(len(line) == len(export.columns) for line in lines)
    page.apply_theme(LIGHT)
    page.grab()


def on_cpu(page: DesignerPage) -> CutsToTime:
    """Ask for the times of all tiles of NumPy at N = 1k."""
    page.time_cuts()
    asked = page.controller.cuts.asked
    assert isinstance(asked, CutsToTime)
    return asked


def timed(cut: Cut, *ms: float, anew: bool = False) -> CutTimed:
    return CutTimed(timed=CutTimes(cut=cut, ms=ms, anew=anew))


def fresh(middle: float) -> list[float]:
    """Five rounds around a time."""
    return [middle - 0.1, middle - 0.05, middle, middle + 0.05, middle + 0.1]


def test_tiles_of_numpy_are_timed_and_the_fastest_on_fresh_rounds_is_named(
    page: DesignerPage, compilers: Compilers, qtbot: QtBot
) -> None:
    asked = on_cpu(page)
    best = replace(SHIPPED, groups=512)
    assert len(asked.cuts) == 49  # 16 to 1024 rows and keys: of more there are none
    assert {SHIPPED, best} <= {*asked.cuts}
    with qtbot.waitSignal(page.controller.cuts.done):
        for answer in (
            *(timed(SHIPPED, 7.0, 7.1, 7.2), timed(best, 5.0, 5.1, 9.0), CutsRound(done=3, total=9)),
            *(timed(best, *fresh(6.1), anew=True), timed(SHIPPED, *fresh(7.5), anew=True)),
            CutsEnded(timer="perf_counter", device=Device(backend="cpu", name="a CPU", memory_bytes=1)),
        ):
            compilers.say(answer)
    assert page.tiles.sentence.text() == (
        "Fastest on fresh rounds: 512 × 512, 6.10 ms (6.05 to 6.15);"
        " the shipped 128 × 512 takes 1.23× as long (1.20 to 1.26), 7.50 ms (7.45 to 7.55)."
    )
    assert page.tiles.progress.text() == "a CPU, perf_counter, cold cache, medians of 7 rounds"
    page.tiles.choose(best)
    assert page.tiles.chosen.text().endswith(
        "5.10 ms (5.05 to 7.05) in the first rounds · 6.10 ms (6.05 to 6.15) in fresh rounds"
    )
    assert page.staging.provenance.badge == "CPU · cuts of flash2 in NumPy, source not told"
    lines = [*page.tiles.make_export().rows]
    assert sum(line[4] is not None for line in lines) == 16
    page.grab()


def test_cuts_of_this_machines_gpu_are_timed_beside_the_shipped_one(
    page: DesignerPage, compilers: Compilers, qtbot: QtBot
) -> None:
    assert not page.bar.time.isVisible()
    machine = Machine(system="linux", python="3.11", devices=(GPU,))
    page.controller.machine = machine
    page.controller.machine_found.emit(machine)
    own = page.shipped
    other = replace(own, block_k=32)
    assert page.bar.time.isVisible()
    page.bar.time.click()
    (asked,) = compilers.asked
    assert isinstance(asked, CutsToTime)
    assert (asked.backend, asked.shipped) == ("cuda", own)
    assert {own, other} <= {*asked.cuts}
    assert page.controller.occupied == BEING_TIMED
    with qtbot.waitSignal(page.controller.cuts.done):
        for answer in (
            *(timed(own, 2.0), timed(other, 3.0), CutsRound(done=1, total=2)),
            *(
                timed(own, 2.1, anew=True),
                CutsEnded(timer="CUDA events", device=GPU),
            ),
        ):
            compilers.say(answer)
    told = f"Fastest on fresh rounds: {own.block_q} × {own.block_k}, 2.10 ms (2.10 to 2.10), the shipped one."
    assert page.bar.progress.text() == told
    assert page.found.tip.endswith("2.10 ms (2.10 to 2.10) in fresh rounds")
    assert page.staging.provenance.badge == "LIVE GPU · cuts of flash2, source not told"
    assert page.landscape.quantity.key == "runtime"
    assert page.landscape.told.text().endswith(" on A10 · measured")
    export = page.landscape.make_export()
    assert export is not None
    assert export.provenance["source"].startswith("Measured: ")
    assert sorted(line[-2] for line in export.rows if line[-2]) == [2.0, 2.1, 3.0]
    page.choices.cards.setCurrentIndex(1)
    assert "fresh rounds" not in page.found.tip  # they are of another card
    assert not page.bar.time.isVisible()


def test_while_another_machine_is_in_use_cuts_are_timed_on_its_gpu_and_nothing_is_known_of_them_yet(
    page: DesignerPage, compilers: Compilers
) -> None:
    there = Machine(system="linux", python="3.11", devices=(GPU,), host="lab")
    timed = CutTimes(cut=page.shipped, ms=(2.0, 2.1, 3.0))
    page.tried.take_timed(page.problem, timed)
    page.controller.devices.here = Machine(system="linux", python="3.11", devices=())
    page.controller.devices.place = TakenDevices(
        Wanted((HostDevices("lab.file", ("GPU 0, A10",), "lab"),)), SilentEngine(print)
    )
    page.controller.devices.moved.emit()
    page.controller.machine = there
    page.controller.machine_found.emit(there)
    assert page.choices.cards.currentText() == "A10 · lab"
    assert not page.tried.times(page.problem)
    assert page.bar.time.isVisible()
    page.bar.time.click()
    (asked,) = compilers.asked
    assert isinstance(asked, CutsToTime)
    page.controller.cuts.cancel()
    page.choices.show_kernel("numpy")
    assert page.staging.provenance.host == "lab"
    page.controller.devices.place = None


def test_no_sweep_runs_beside_tiles_that_are_timed(page: DesignerPage, compilers: Compilers) -> None:
    on_cpu(page)
    assert page.controller.occupied == BEING_TIMED
    assert page.tiles.stop.isVisible()
    page.tiles.stop.click()
    assert compilers.ended == 1
    assert page.controller.occupied == ""
    assert page.tiles.time.isVisible()


def test_tiles_wait_for_what_is_measured_or_compiled(page: DesignerPage, compilers: Compilers) -> None:
    page.bar.one.click()
    page.time_cuts()
    assert len(compilers.asked) == 1
    assert not page.tiles.time.isEnabled()
    page.controller.cuts.cancel()
    page.controller.occupy("claims", "Claims are tested.")
    page.tiles.start()
    assert len(compilers.asked) == 1
    page.controller.occupy("claims", "")
    page.tiles.start()
    assert len(compilers.asked) == 2


def test_a_tile_of_more_than_there_is_says_what_it_would_be(page: DesignerPage) -> None:
    page.choices.show_kernel("numpy")
    assert not page.choices.cards.isVisible()
    page.tiles.choose(replace(SHIPPED, block_k=2048))
    assert (
        page.tiles.chosen.text()
        == "128 × 2048 · There are 1,024 keys: a tile of 2,048 would be one of 1,024."
    )
    page.tiles.turn_inner(-1)
    assert page.tiles.chosen.text().startswith("128 × 1024: a tile holds ")
    page.show_shipped()
    assert page.tiles.chosen.text().startswith("128 × 512: ")


def test_its_keys_move_the_cut(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("designer")
    page = window.page
    assert isinstance(page, DesignerPage)
    before: Cut = page.found.cut
    for key, expected in (
        ("designer.more-keys", replace(before, block_k=before.block_k + 16)),
        ("designer.fewer-keys", before),
        ("designer.more-rows", replace(before, groups=2 * before.groups)),
        ("designer.fewer-rows", before),
    ):
        action = window.registry.find(key)
        assert action is not None
        action.trigger()
        assert page.found.cut == expected
