"""A kernel of the user's own in the window: brought, asked about, changed, taken off the list again."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from flashscope.app.control.chores import wait_for_all
from flashscope.app.pages.own.asking import BRING, NOT_NOW
from flashscope.app.shell.main_window import MainWindow
from flashscope.kernels.own import consent
from flashscope.kernels.own.files import file_of, kernels_folder
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.plan.request import Request
from tests.app.fakes import sweep
from tests.app.mouse import carry
from tests.app.own_files import cuda_file, package, python_file
from tests.app.pages.own.scene import dropped, names, profile, read, row_of
from tests.app.questions import Questions
from tests.app.rig import Rig, Save


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> Questions:
    return Questions(monkeypatch)


@pytest.fixture(autouse=True)
def nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consent, "_named", set())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that packages are installed in."""
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


@pytest.fixture
def mine(window: MainWindow, qtbot: QtBot, tmp_path: Path, questions: Questions) -> Path:
    """A file of Python that was dropped, agreed to and brought in."""
    path = python_file(tmp_path)
    dropped(window, qtbot, path)
    questions.asked.clear()
    return path


def test_a_file_over_the_window_is_said_to_come_into_the_form(window: MainWindow, tmp_path: Path) -> None:
    assert carry(window, [python_file(tmp_path)])
    assert window.drops.sheet.words.text() == "Bring mine.py into the sweep's form; it is read, not run"


def test_cuda_code_that_is_dropped_is_ticked_in_the_form_without_a_question(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    dropped(window, qtbot, cuda_file(tmp_path))
    page = profile(window)
    assert window.page is page
    assert page.form_open
    row = row_of(window, "rows")
    assert row.box.isChecked()
    assert row.line.text() == "not implemented on cpu"
    tip = row.box.toolTip()
    assert "rows.cu" in tip
    assert "head dim 32, 64, 128" in tip
    assert window.errors.text == "rows brought in. Ctrl+Z undoes it."


@pytest.mark.matrix  # it takes a second
def test_python_is_asked_about_once_and_runs_nothing_here(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, questions: Questions
) -> None:
    ran = tmp_path / "ran"
    path = python_file(tmp_path, beside=f"open({str(ran)!r}, 'w').close()")
    dropped(window, qtbot, path)
    [(title, text)] = questions.asked
    assert title == "Python code runs with your rights"
    assert "mine.py" in text
    assert "forward alone; float32 on cpu" in text
    assert profile(window).own.kernels[0].sha256[:12] in text
    dropped(window, qtbot, path)
    window.trigger("run")
    assert len(questions.asked) == 1
    assert "mine" in profile(window).form.kernels.chosen()
    assert not ran.exists()


def test_what_is_not_brought_in_is_neither_listed_nor_allowed_to_run(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, questions: Questions
) -> None:
    questions.answer = NOT_NOW
    dropped(window, qtbot, python_file(tmp_path))
    assert names(window) == []
    assert window.errors.text == "Nothing of mine has run."
    assert not consent._named
    dropped(window, qtbot, python_file(tmp_path))
    assert len(questions.asked) == 2


@pytest.mark.matrix
def test_the_same_name_with_other_content_is_asked_about_again(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, questions: Questions
) -> None:
    dropped(window, qtbot, python_file(tmp_path))
    dropped(window, qtbot, python_file(tmp_path, idea="another idea"))
    assert len(questions.asked) == 2
    assert names(window) == ["mine"]
    assert row_of(window, "mine").line.text() == "another idea"


@pytest.mark.matrix
def test_a_kernel_is_chosen_by_a_dialog_too(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(cuda_file(tmp_path))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([path], ""))
    profile(window)
    window.trigger("profile.bring")
    read(window, qtbot)
    assert names(window) == ["rows"]


@pytest.mark.matrix  # it takes a second
def test_a_plan_of_the_form_carries_the_kernel_and_its_run_is_begun(
    window: MainWindow, qtbot: QtBot, rig: Rig, tmp_path: Path, questions: Questions
) -> None:
    dropped(window, qtbot, python_file(tmp_path))
    window.trigger("run")
    [plan] = rig.engine.plans
    assert [one.name for one in plan.own] == ["mine"]
    assert "mine" in plan.kernels


@pytest.mark.matrix
def test_a_file_that_changed_is_read_anew_said_and_asked_about(
    window: MainWindow, qtbot: QtBot, rig: Rig, tmp_path: Path, questions: Questions
) -> None:
    dropped(window, qtbot, python_file(tmp_path))
    before = profile(window).own.kernels[0].sha256
    python_file(tmp_path, idea="an edit")
    heard: list[str] = []
    profile(window).noticed.connect(heard.append)
    window.trigger("run")
    read(window, qtbot)
    [plan] = rig.engine.plans
    assert plan.own[0].sha256 != before
    assert len(questions.asked) == 2
    assert "mine.py has changed since it was read" in heard[-1]
    assert before[:12] in heard[-1]


@pytest.mark.matrix
def test_a_file_that_is_gone_cannot_be_chosen_and_says_why(
    window: MainWindow, qtbot: QtBot, rig: Rig, tmp_path: Path, questions: Questions
) -> None:
    path = python_file(tmp_path)
    dropped(window, qtbot, path)
    path.unlink()
    profile(window).form.heads.setValue(5)
    row = row_of(window, "mine")
    assert not row.box.isEnabled()
    assert row.reason is not None
    assert "which is not there; put that file back" in row.reason
    window.trigger("run")
    assert "mine" not in rig.engine.plans[0].kernels


@pytest.mark.matrix  # it takes a second
def test_a_wrong_declaration_is_told_with_its_line_and_the_source_line_in_the_details(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = cuda_file(tmp_path)
    path.write_text(path.read_text().replace("threads = 64", "tread = 64"))
    dropped(window, qtbot, path)
    assert "rows.cu, line 3: tread is no key" in window.errors.text
    assert "3: // flashscope: tread = 64" in window.errors._whole
    assert names(window) == []


@pytest.mark.matrix  # it takes a second
def test_bringing_is_undone_and_done_again(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    dropped(window, qtbot, cuda_file(tmp_path))
    window.trigger("undo")
    assert names(window) == []
    window.trigger("redo")
    assert row_of(window, "rows").box.isChecked()


@pytest.mark.matrix
def test_a_kernel_is_taken_off_the_list_by_its_button_and_comes_back(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    dropped(window, qtbot, cuda_file(tmp_path))
    _, button = row_of(window, "rows")._buttons
    button.click()
    assert names(window) == []
    window.trigger("undo")
    assert names(window) == ["rows"]


@pytest.mark.matrix
def test_two_files_of_one_name_stand_beside_each_other(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    dropped(window, qtbot, cuda_file(tmp_path / "a"), cuda_file(tmp_path / "b"))
    assert names(window) == ["rows", "rows-2"]
    marks = {row.spec.mark for row in profile(window).form.kernels.own.rows}
    assert len(marks) == 2


@pytest.mark.matrix
def test_the_folder_of_ones_own_is_listed_unticked_and_what_declares_nothing_says_why(
    window: MainWindow, qtbot: QtBot, rig: Rig, questions: Questions
) -> None:
    ran = kernels_folder() / "ran"
    python_file(kernels_folder(), beside=f"open({str(ran)!r}, 'w').close()")
    (kernels_folder() / "broken.py").write_text("def attend(q, k, v:\n")
    page = profile(window)
    window.show_page("profile")
    read(window, qtbot)
    row = row_of(window, "mine")
    assert not row.box.isChecked()
    assert len(row._buttons) == 1  # it can be watched, and not be taken off
    [fault] = page.own.faults
    assert fault.text.startswith("broken.py, line 1")
    [line] = page.form.kernels.own._faults
    window.resize(1400, 800)
    QApplication.processEvents()
    assert "1: def attend(q, k, v:" in line.toolTip()  # at any width
    assert line.childAt(line.rect().center()) is None
    assert not questions.asked
    row.box.setChecked(True)
    window.trigger("run")
    assert len(questions.asked) == 1
    assert [one.name for one in rig.engine.plans[0].own] == ["mine"]
    assert not ran.exists()


@pytest.mark.matrix  # it takes a second
def test_what_packages_offer_is_listed_unticked_asked_about_and_not_imported(
    window: MainWindow, qtbot: QtBot, rig: Rig, site: Path, questions: Questions
) -> None:
    ran = site / "ran"
    package(site, beside=f"open({str(ran)!r}, 'w').close()")
    window.show_page("profile")
    read(window, qtbot)
    row = row_of(window, "offered")
    assert not row.box.isChecked()
    assert not row._buttons  # it is read once: neither watched nor taken off
    assert "From the installed package's module offering.fast" in row.box.toolTip()
    assert not questions.asked
    row.box.setChecked(True)
    window.trigger("run")
    [(_, text)] = questions.asked
    assert "fast.py:attend" in text
    assert "you have not chosen it yourself" not in text
    [own] = rig.engine.plans[0].own
    assert (own.name, own.module) == ("offered", "offering.fast")
    assert not ran.exists()


@pytest.mark.matrix
def test_a_package_that_has_changed_since_is_read_anew_as_a_package(
    window: MainWindow, qtbot: QtBot, rig: Rig, site: Path, questions: Questions
) -> None:
    module = package(site)
    window.show_page("profile")
    read(window, qtbot)
    row_of(window, "offered").box.setChecked(True)
    module.write_text(module.read_text() + "# an upgrade\n")
    window.trigger("run")
    read(window, qtbot)
    [own] = rig.engine.plans[0].own
    assert (own.name, own.module) == ("offered", "offering.fast")
    assert len(questions.asked) == 1


@pytest.mark.matrix
def test_a_package_whose_entry_point_names_nothing_says_so(
    window: MainWindow, qtbot: QtBot, site: Path
) -> None:
    package(site, entry="offering.gone:attend")
    page = profile(window)
    window.show_page("profile")
    read(window, qtbot)
    told = "package offering: The entry point offered names offering.gone, which has no Python file."
    assert [fault.text for fault in page.own.faults] == [told]
    [line] = page.form.kernels.own._faults
    assert line.isVisible()


@pytest.mark.matrix
def test_where_there_is_none_of_ones_own_the_form_says_how_one_comes(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.show_page("profile")
    read(window, qtbot)
    own = profile(window).form.kernels.own
    assert own.none.isVisible()
    assert own.none.text() == "none yet: bring a .cu or .py file"
    tip = " ".join(own.none.toolTip().split())
    assert "flashscope.kernels" in tip
    rows = [row for row in profile(window).form.kernels.rows if row.isVisible()]
    lines = {row.line.mapTo(window, QPoint()).x() for row in rows}
    assert lines == {own.none.mapTo(window, QPoint()).x()}
    dropped(window, qtbot, cuda_file(tmp_path))
    assert not own.none.isVisible()


def own_plan(window: MainWindow, kernels: tuple[str, ...] = ("flash2", "mine")) -> Plan:
    request = Request.of("cpu", kernels=kernels, seqlens=(256,))
    return Plan(
        backend="cpu",
        kernels=kernels,
        problems=request.plan().problems,
        protocol=Protocol(drift_check=False),
        own=profile(window).own.kernels,
    )


@pytest.mark.matrix  # it takes a second
@pytest.mark.usefixtures("mine")
def test_a_session_that_names_a_kernel_runs_it_only_after_a_question(
    window: MainWindow, rig: Rig, save: Save, questions: Questions
) -> None:
    path = save(sweep(own_plan(window)), "with-own")
    window.trigger("undo")
    consent._named.clear()
    rig.open(path)
    window.trigger("profile.use")
    assert not questions.asked
    assert "mine" in profile(window).form.kernels.chosen()
    questions.answer = NOT_NOW
    window.trigger("run")
    assert not rig.engine.plans
    assert window.errors.text == "Nothing has run: mine was not brought in."
    assert "you have not chosen it yourself" in questions.asked[0][1]
    questions.answer = BRING
    window.trigger("run")
    assert [one.name for one in rig.engine.plans[0].own] == ["mine"]


@pytest.mark.matrix
def test_a_session_whose_kernel_is_another_file_by_now_leaves_it_out_and_says_so(
    window: MainWindow, rig: Rig, save: Save, mine: Path
) -> None:
    path = save(sweep(own_plan(window)), "with-own")
    window.trigger("undo")
    python_file(mine.parent, idea="an edit")
    rig.open(path)
    window.trigger("profile.use")
    page = profile(window)
    assert page.form.kernels.chosen() == ("flash2",)
    assert "is not the file that mine is from" in page.form.changes.sentences[0]
    assert names(window) == []


@pytest.mark.matrix
def test_the_form_remembers_no_kernel_of_ones_own(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, questions: Questions
) -> None:
    dropped(window, qtbot, python_file(tmp_path))
    profile(window).form.heads.setValue(3)
    held = window.settings.form("cpu")
    assert held is not None
    assert "mine" not in held[0].kernels
    assert held[0].heads == 3
    wait_for_all(window)


@pytest.fixture
def broken_off(window: MainWindow, save: Save, mine: Path) -> Path:
    """A session with that kernel, whose sweep was broken off; nobody has named the file since."""
    events = sweep(own_plan(window))
    consent._named.clear()
    return save(events[: len(events) // 2], f"broken-off-{mine.stem}")


@pytest.mark.matrix
def test_resume_asks_for_the_kernel_and_refuses_where_its_file_is_gone(
    window: MainWindow, qtbot: QtBot, rig: Rig, broken_off: Path, questions: Questions
) -> None:
    file = file_of(profile(window).own.kernels[0])
    questions.answer = NOT_NOW
    rig.open(broken_off)
    window.trigger("resume")
    qtbot.waitUntil(lambda: bool(questions.asked))
    qtbot.waitUntil(lambda: window.errors.text == "Nothing has run: mine was not brought in.")
    assert not rig.engine.plans
    file.unlink()
    window.trigger("resume")
    qtbot.waitUntil(lambda: "put that file back" in window.errors.text)
    assert len(questions.asked) == 1
    python_file(file.parent)
    questions.answer = BRING
    window.trigger("resume")
    qtbot.waitUntil(lambda: bool(rig.engine.plans))
