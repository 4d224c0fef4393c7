"""Landscapes in the Designer: those of a session, those timed here, two compared, and what is kept."""

from dataclasses import replace as with_changes

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.pages.designer import DesignerPage
from flashscope.app.pages.designer.choices import SEQLENS
from flashscope.app.pages.designer.compile_bar import STOPS
from flashscope.app.pages.designer.tiles_view import NOT_YET
from flashscope.kernels.catalogue.sources import source_digest
from flashscope.kernels.cuda.design.cut import shipped
from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.cut import CutKernel
from flashscope.kernels.workload.landscape import CutLandscape, CutOutcome
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.formats.landscapes import COLUMNS
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load, sessions_dir
from tests.app.pages.designer.conftest import Compilers
from tests.app.rig import Rig
from tests.profiles.sessions import session_of
from tests.profiles.store import builders

H100 = CARDS[1]
ROUNDS = (0.999, 1.0, 1.001, 1.0, 1.002)


def timed(kernel: CutKernel = "flash2", *, faster: float = 0.9, build: str | None = None) -> CutLandscape:
    """The shipped cut, one that is faster, one that is refused, on an H100."""
    backward = kernel.endswith("backward")
    problem = Problem(
        heads=32,
        seqlen_q=8192,
        seqlen_k=8192,
        head_dim=64,
        dtype="bfloat16",
        causal=True,
        passes="backward" if backward else "forward",
    )
    own = shipped(kernel, problem, H100.target)
    other, none = (replace(own, **{"queries" if backward else "block_k": n}) for n in (32, 16))
    cells = (
        CutOutcome(cut=own, registers=200, spilled=0, first_ms=(1.1, 1.0), anew_ms=ROUNDS),
        CutOutcome(
            cut=other,
            registers=190,
            spilled=8,
            first_ms=(faster, faster),
            anew_ms=tuple(faster * one for one in ROUNDS),
        ),
        CutOutcome(cut=none, refused=("The compiler does not like it.",)),
    )
    return CutLandscape(
        problem=problem,
        rows="groups",
        device=H100.device,
        timer="CUDA events",
        build=build if build is not None else source_digest("cuda", kernel) or "",
        shipped=own,
        cells=cells,
    )


def session_with(*landscapes: CutLandscape) -> Session:
    return with_changes(session_of([builders.plan_started()]), landscapes=[*landscapes])


def show(page: DesignerPage, *landscapes: CutLandscape) -> None:
    page.controller._shown.kind = "saved"
    page.controller._shown.session = session_with(*landscapes)
    page.show_session(page.controller.session)


def test_a_sessions_first_landscape_is_shown_as_it_was_timed(page: DesignerPage) -> None:
    assert not page.lineup.box.isVisible()
    show(page, timed())
    assert page.lineup.box.isVisible()
    assert page.card.name == "H100"
    assert (page.problem.seqlen_q, page.choices.masks.currentText()) == (8192, "causal")
    assert page.knobs.head_dim.chosen == 64
    assert page.landscape.measured
    assert page.found.cut == timed().shipped
    assert "takes 1.11× as long" in page.bar.progress.text()
    assert page.staging.provenance.badge.startswith("SAVED · GPU NVIDIA H100 · cuts of flash2, source ")
    assert "another version" not in page.staging.provenance.badge
    assert page.grid.place_of(timed().cells[1].cut) is not None


def test_the_boxes_have_what_a_landscape_was_timed_of_also_where_they_offered_no_such_problem(
    page: DesignerPage,
) -> None:
    found = timed()
    problem = replace(found.problem, seqlen_q=131072, seqlen_k=131072, heads=5)
    for _ in range(2):
        show(page, replace(found, problem=problem))
        texts = [box.currentText() for box in (page.choices.seqlens, page.choices.heads)]
        assert texts == ["N = 128k", "5 heads"]
    assert page.problem == problem
    assert page.choices.seqlens.count() == len(SEQLENS) + 1


def test_what_was_refused_says_so_and_what_was_compiled_says_what_it_spills(page: DesignerPage) -> None:
    show(page, timed())
    cells = {cell.cut: cell for row in page.grid.cells for cell in row}
    own, spilling, refused = (cells[one.cut] for one in timed().cells)
    assert refused.refused == ("The compiler does not like it.",)
    assert spilling.spills
    assert not own.spills
    assert own.times.told[1].endswith("in fresh rounds")


def test_times_of_another_version_of_the_source_are_named_so(page: DesignerPage) -> None:
    show(page, timed(build="0123456789ab"))
    assert page.staging.provenance.badge.endswith("source 0123456789ab, another version")
    assert "source 0123456789ab, another version" in page.lineup.source.text()


def test_a_backward_pass_has_queries_in_its_columns(page: DesignerPage) -> None:
    show(page, timed("flash2 backward"))
    assert page.choices.kernel == "flash2 backward"
    assert page.problem.runs_backward
    assert [cell.cut.queries for cell in page.grid.cells[0]][:3] == [16, 32, 48]
    page.grab()


def test_another_choice_leaves_the_landscape_and_it_can_be_shown_again(page: DesignerPage) -> None:
    show(page, timed())
    page.choices.masks.setCurrentIndex(0)
    assert page.lineup.shown is None
    assert page.staging.provenance.badge == "MODEL · GPU H100"
    page.lineup.show_one(timed())
    assert page.choices.masks.currentText() == "causal"
    page.knobs.head_dim.setValue(page.knobs.head_dim.value() + 1)
    assert page.lineup.shown is None


def test_a_session_without_landscapes_has_nothing_worked_out_anew_where_none_was_on_show(
    page: DesignerPage,
) -> None:
    before = page.grid
    show(page)
    assert page.grid is before
    show(page, timed())
    assert page.grid is not before
    show(page)
    assert page.lineup.shown is None
    assert page.staging.provenance.badge.startswith("MODEL · ")


def test_timing_anew_leaves_what_was_recorded(page: DesignerPage, compilers: Compilers) -> None:
    show(page, builders.landscape())
    assert page.choices.on_cpu
    assert page.tiles.sentence.text().startswith("Fastest on fresh rounds: 32 × 16")
    page.tiles.time.click()
    assert page.lineup.shown is None
    assert page.tiles.sentence.text() == NOT_YET
    (asked,) = compilers.asked
    assert asked.problem == page.choices.cpu_problem


def test_two_landscapes_are_compared_cut_by_cut(page: DesignerPage) -> None:
    one, two = timed(), timed(faster=0.45, build="0123456789ab")
    show(page, one, two)
    page.lineup.beside.setCurrentIndex(1)
    page.lineup.beside.activated.emit(1)
    assert page.landscape.quantity.key == "ratio"
    cells = {cell.cut: cell for row in page.grid.cells for cell in row}
    assert page.landscape.quantity.of(cells[one.shipped]) == pytest.approx(1.0)
    assert page.landscape.quantity.of(cells[one.cells[1].cut]) == pytest.approx(2.0)
    assert "compared: " in cells[one.shipped].tip


def test_every_run_of_a_landscape_is_exported_with_its_source(page: DesignerPage) -> None:
    show(page, timed())
    export = page.landscape.make_export()
    assert export is not None
    assert export.columns == COLUMNS
    lines = [dict(zip(COLUMNS, line, strict=True)) for line in export.rows]
    assert sum(line["ms"] is not None for line in lines) == 14
    (refused,) = [line for line in lines if not line["runs"]]
    assert refused["why_not"] == "The compiler does not like it."
    assert [line["shipped"] for line in lines].count(1) == 7
    assert export.provenance["timed"].startswith("NVIDIA H100 · source ")


@pytest.mark.matrix
def test_what_was_timed_here_is_kept_in_the_session_on_show(rig: Rig, qtbot: QtBot) -> None:
    sessions_dir().mkdir(parents=True, exist_ok=True)
    path = builders.recorded(sessions_dir() / "a.flashscope")
    window = rig.window()
    rig.open(path)
    window.show_page("designer")
    page = window.page
    assert isinstance(page, DesignerPage)
    page.lineup.take_recorded(timed())
    assert page.staging.provenance.badge.startswith("LIVE GPU · cuts of flash2")
    assert page.lineup.keep_button.isEnabled()
    with qtbot.waitSignal(rig.controller.keeping.kept):
        page.lineup.keep_button.click()
    assert load(path).landscapes == [builders.landscape(), timed()]
    assert page.lineup.shown == timed()
    assert not page.lineup.keep_button.isVisible()
    assert page.staging.provenance.badge.startswith("SAVED · GPU NVIDIA H100")


def test_stop_says_what_it_ends(page: DesignerPage, compilers: Compilers) -> None:
    page.bar.every.click()
    assert page.bar.stop.toolTip() == STOPS["compile"]
    page.bar.stop.click()
    assert compilers.ended == 1
    page.bar.show_work("time")
    assert page.bar.stop.toolTip() == STOPS["time"]
    assert page.bar.stop.accessibleName() == "Time no more"
