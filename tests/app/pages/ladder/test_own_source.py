"""The source of a kernel of one's own: kept in the session, that of the file here, or why there is none."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.ladder.own_source import HERE, KEPT, NO_STAGE, NO_TEXT, NOT_OURS, OWN, SPOILT
from flashscope.app.pages.ladder.source_diff import LABELS
from flashscope.app.shell.main_window import MainWindow
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.own.references import declared, with_source
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from tests.app.fakes import sweep
from tests.app.own_files import cuda_file, python_file
from tests.app.rig import Rig, Save
from tests.matrix import chosen

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Shelf:
    """Opens sessions with kernels of one's own, and looks at their sources."""

    def __init__(self, window: MainWindow, rig: Rig, save: Save, qtbot: QtBot) -> None:
        self.window, self.rig, self.save, self.qtbot = window, rig, save, qtbot
        window.resize(1280, 720)
        window.show_page("ladder")
        found = window.pages["ladder"]
        assert isinstance(found, LadderPage)
        self.page = found

    def open(self, *own: OwnKernel, name: str = "own") -> None:
        """Open a session that measured these."""
        plan = Plan(
            backend="cpu",
            kernels=(*(one.name for one in own), "flash2"),
            problems=(Problem(seqlen_q=256, seqlen_k=256, heads=2),),
            protocol=Protocol(drift_check=False),
            own=own,
        )
        self.rig.open(self.save(sweep(plan), name))

    def choose(self, label: str = OWN) -> None:
        """Choose a problem, or the kernels of one's own, and wait for the source."""
        self.page.problems.setCurrentText(label)
        self.page.chores.wait()
        QApplication.processEvents()

    @property
    def text(self) -> str:
        """What stands in the column of the kernel."""
        return self.page.board.columns[1].toPlainText()


@pytest.fixture
def shelf(window: MainWindow, rig: Rig, save: Save, qtbot: QtBot) -> Shelf:
    return Shelf(window, rig, save, qtbot)


def labels(page: LadderPage) -> list[str]:
    return [page.problems.itemText(k) for k in range(page.problems.count())]


def test_a_text_that_the_session_keeps_is_shown_though_its_file_is_gone(shelf: Shelf, tmp_path: Path) -> None:
    file = python_file(tmp_path, idea="whole matrices of scores")
    own = replace(with_source(declared(str(file))), commit=COMMIT, differs=True)
    file.unlink()
    assert labels(shelf.page) == [*LABELS]
    shelf.open(own)
    assert labels(shelf.page) == [*LABELS, OWN]
    shelf.choose()
    assert shelf.page.kernel == "mine"
    assert "s = q @ k.swapaxes(-1, -2) * scale" in shelf.text
    assert shelf.page.idea.text() == "mine: whole matrices of scores."
    told = shelf.page.gain.text()
    assert told.startswith(KEPT)
    assert f"sha256 {own.sha256[:12]}…" in told
    assert f"commit {COMMIT[:12]} and changed since" in told
    colours = shelf.page.board.columns[1]._colours.tokens
    assert any(token.kind == "keyword" for line in colours for token in line)  # as Python is


@pytest.mark.matrix
def test_without_a_text_the_file_of_that_hash_is_shown(shelf: Shelf, tmp_path: Path) -> None:
    file = cuda_file(tmp_path)
    shelf.open(declared(str(file)))
    shelf.choose()
    assert 'extern "C" __global__ void rows' in shelf.text
    assert shelf.page.gain.text().startswith(HERE)


@chosen("there", [True, False], {False})
def test_a_file_that_is_gone_or_another_by_now_is_not_shown_and_why_is_said(
    shelf: Shelf, tmp_path: Path, there: bool
) -> None:
    file = python_file(tmp_path)
    own = declared(str(file))
    shelf.open(own)
    if there:
        python_file(tmp_path, idea="an edit")
    else:
        file.unlink()
    shelf.choose()
    told = shelf.page.gain.text()
    assert told.startswith(NO_TEXT)
    assert ("is not the file that mine is from" if there else "which is not there") in told
    assert not shelf.page.board.isVisible()
    shelf.choose(LABELS[0])
    shelf.qtbot.waitUntil(shelf.page.board.isVisible)


def test_a_text_with_another_hash_is_not_shown(shelf: Shelf, tmp_path: Path) -> None:
    file = python_file(tmp_path)
    own = replace(declared(str(file)), source="print('another')\n")
    file.unlink()
    shelf.open(own)
    shelf.choose()
    assert shelf.page.gain.text().startswith(SPOILT)
    assert not shelf.page.board.isVisible()


def test_two_versions_of_a_session_stand_side_by_side(shelf: Shelf, tmp_path: Path) -> None:
    file = python_file(tmp_path)
    before = replace(with_source(declared(str(file))), name="mine-v1")
    python_file(tmp_path, idea="an edit")
    own = replace(with_source(declared(str(file))), name="mine-v2")
    shelf.open(own, before)
    shelf.choose()
    assert shelf.page.kernel == "mine-v2"
    headings = [heading.text() for heading in shelf.page.board.headings]
    assert headings == ["- mine-v1 · mine.py", "+ mine-v2 · mine.py"]
    shelf.window.trigger("ladder.next")
    shelf.choose()
    assert shelf.page.kernel == "mine-v1"
    assert shelf.page.board._sides[0].isHidden()


@pytest.mark.matrix
def test_it_has_neither_machine_code_nor_stalls_nor_a_stage_and_says_so(shelf: Shelf, tmp_path: Path) -> None:
    shelf.open(declared(str(python_file(tmp_path))))
    shelf.page.sass.setChecked(True)
    shelf.choose()
    assert not shelf.page.sass.isChecked()
    assert not shelf.page.sass.isEnabled()
    assert shelf.page.sass.toolTip() == NOT_OURS
    shelf.window.trigger("ladder.stalls")
    assert shelf.window.errors.text == NOT_OURS
    shelf.window.trigger("stage")
    assert not shelf.window.stage.on
    assert NO_STAGE.rstrip(".") in shelf.window.errors.text
    shelf.choose(LABELS[0])
    assert shelf.page.sass.isEnabled()


@pytest.mark.matrix
def test_another_session_leads_back_to_the_ladder(shelf: Shelf, tmp_path: Path) -> None:
    own = declared(str(python_file(tmp_path)))
    shelf.open(own)
    shelf.choose()
    shelf.open(name="ours")
    assert labels(shelf.page) == [*LABELS]
    assert shelf.page.label in LABELS
    assert shelf.page.kernel not in {own.name, ""}


def test_a_stop_of_a_story_finds_its_step_whatever_was_on_show(shelf: Shelf, tmp_path: Path) -> None:
    shelf.open(declared(str(python_file(tmp_path))))
    shelf.choose()
    shelf.page.show_step("flash3", "")
    assert (shelf.page.kernel, shelf.page.label in LABELS) == ("flash3", True)
    assert shelf.page.sass.isEnabled()
