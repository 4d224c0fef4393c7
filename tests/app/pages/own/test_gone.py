"""A session with a kernel of the user's own whose file is gone: every page and every reader deals with it."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from flashscope.app.pages.sessions.preview import _facts
from flashscope.app.pages.sessions.rows import SessionRow
from flashscope.app.report.kinds import report_bytes
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.results.provenance import of_session
from flashscope.kernels.catalogue import registry
from flashscope.kernels.own.references import declared
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.store import list_sessions, load
from tests.app.fakes import sweep
from tests.app.own_files import python_file
from tests.app.readers import READERS, read
from tests.app.rig import Rig, Save
from tests.app.shell.played.drawn import drawn_on_every_page


@pytest.fixture
def gone(tmp_path: Path, save: Save, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a process that knew the kernel, read in one that does not, on a machine without its file."""
    file = python_file(tmp_path / "elsewhere")
    own = declared(str(file))
    plan = Plan(
        backend="cpu",
        kernels=("standard", "flash2", own.name),
        problems=tuple(Problem(seqlen_q=n, seqlen_k=n, heads=2) for n in (256, 512)),
        protocol=Protocol(drift_check=False),
        own=(own,),
    )
    path = save(sweep(plan), "gone")
    file.unlink()
    monkeypatch.setattr(registry, "_OWN", {})
    return path


def test_every_reader_deals_with_a_session_whose_own_kernel_is_gone(gone: Path) -> None:
    for reader in READERS:
        read(reader, gone)


@pytest.mark.matrix
def test_every_page_draws_it(gone: Path, rig: Rig, window: MainWindow, raised: list[str]) -> None:
    drawn_on_every_page(gone, rig, window)
    assert not raised, raised[0]


def chosen(window: MainWindow, rig: Rig, gone: Path) -> None:
    rig.open(gone)
    session = rig.controller.session
    assert session is not None
    index = next(state.point.index for state in session.planned if state.point.kernel == "mine")
    window.show_page("roofline")
    rig.controller.choose_point(index)


@pytest.mark.matrix
def test_inside_says_what_stands_for_it_and_a_timeline_why_there_is_none(
    gone: Path, rig: Rig, window: MainWindow
) -> None:
    chosen(window, rig, gone)
    window.trigger("inside")
    told = "\n".join(label.text() for label in window.page.findChildren(QLabel))
    assert "mine is a kernel of one's own, of whose steps nothing is recorded; flash2 stands nearest" in told
    window.show_page("roofline")
    window.trigger("inside.timeline")
    assert window.errors.text.startswith("mine has no build with clocks here")


def test_the_library_and_the_report_say_which_file_it_was(gone: Path) -> None:
    [info] = list_sessions(gone.parent)
    told = _facts(SessionRow.of(info))["Own kernels"]
    assert told.startswith("mine: ")
    assert "mine.py:attend, sha256 " in told
    session = load(gone)
    report = report_bytes("html", session, None, of_session(session, "saved")).decode()
    assert "mine.py:attend, sha256 " in report
    assert "forward alone; float32 on cpu; any head dim; causal" in report
