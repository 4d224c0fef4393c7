"""The form's own presets, its runs, what it remembers, and sweeps of other machines, in the window."""

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QMenu

from flashscope.app.control.settings import Settings
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.profiles.plan.presets import PRESETS
from flashscope.profiles.plan.request import Request
from tests.app.fakes import GPU_MACHINE, sweep
from tests.app.rig import Rig, Save


def profile(window: MainWindow) -> ProfilePage:
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    return page


def answer(monkeypatch: pytest.MonkeyPatch, name: str, accepted: bool = True) -> None:
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: (name, accepted))


def texts(menu: QMenu) -> list[str]:
    return [line.text() for line in menu.actions() if line.text()]


def line_of(menu: QMenu, text: str, under: str = "") -> object:
    """What the menu's line of this text does when it is chosen."""
    if under:
        menu = next(one for one in menu.findChildren(QMenu) if one.title() == under)
    next(one for one in menu.actions() if one.text() == text).trigger()
    return menu


@pytest.mark.matrix  # it takes a second
def test_what_the_form_says_is_saved_under_a_name_and_fills_it_again(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = profile(window)
    window.show_page("profile")
    page.form.heads.setValue(7)
    page.form.runs.setValue(3)
    said = page.form.request()
    answer(monkeypatch, "  Seven   heads ")
    window.trigger("profile.save_preset")
    assert window.errors.text == "Preset Seven heads saved. Ctrl+Z undoes it."
    page.form.show_request(Request.of("cpu"))
    page.form.runs.setValue(1)
    menu = page.preset_button.menu_now()
    assert texts(menu)[0] == "Seven heads  (3 runs)"
    line_of(menu, "Seven heads  (3 runs)")
    assert page.form.request() == said
    assert page.form.runs.value() == 3
    assert page.form_open


def test_a_preset_is_replaced_renamed_and_deleted_and_every_change_undone(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = profile(window)
    answer(monkeypatch, "mine")
    page.presetting.save()
    page.form.heads.setValue(5)
    page.presetting.save()
    assert window.errors.text.startswith("Preset mine replaced")
    window.trigger("undo")
    found = page.presets.find("mine")
    assert found is not None
    assert found.request is not None
    assert found.request.heads == 2
    answer(monkeypatch, "ours")
    line_of(page.preset_button.menu_now(), "mine", "Rename")
    assert page.presets.find("mine") is None
    line_of(page.preset_button.menu_now(), "ours", "Delete")
    assert page.presets.all() == ((), "")
    window.trigger("undo")
    window.trigger("undo")
    assert [one.name for one in page.presets.all()[0]] == ["mine"]
    window.trigger("redo")
    assert [one.name for one in page.presets.all()[0]] == ["ours"]


@pytest.mark.matrix
def test_the_built_in_presets_stand_beside_the_own_ones_and_run(window: MainWindow, rig: Rig) -> None:
    menu = profile(window).preset_button.menu_now()
    assert texts(menu)[0] == "None of your own yet"
    line_of(menu, f"thin: {PRESETS['thin'].about}", "Run a built-in one")
    assert len(rig.engine.plans) == 1


@pytest.mark.matrix
def test_a_broken_file_is_explained_in_the_menu_and_said_where_it_went(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = profile(window)
    page.presets.path.write_text("{")
    line_of(page.preset_button.menu_now(), "Your presets cannot be read: why?")
    assert "presets.json cannot be read: it is no JSON" in window.errors.text
    answer(monkeypatch, "mine")
    page.presetting.save()
    assert "presets-unreadable.json" in window.errors.text


@pytest.mark.matrix  # it takes a second
def test_a_preset_without_a_name_is_refused_in_words(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_page("profile")
    answer(monkeypatch, "  ")
    window.trigger("profile.save_preset")
    assert window.errors.text == "A preset needs a name."
    answer(monkeypatch, "x", accepted=False)
    window.trigger("profile.save_preset")
    assert profile(window).presets.all() == ((), "")


@pytest.mark.matrix
def test_the_palette_finds_a_preset_by_its_name(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    page = profile(window)
    answer(monkeypatch, "mine")
    page.presetting.save()
    found = [one for one in page.findables() if one.kind == "preset"]
    assert [one.title for one in found] == ["mine"]


@pytest.mark.matrix
def test_several_runs_are_asked_for_and_said_on_the_command_line(window: MainWindow, rig: Rig) -> None:
    page = profile(window)
    page.form.runs.setValue(3)
    page.run()
    assert len(rig.engine.plans) == 1
    (rest,) = rig.controller.queue.entries
    assert rest.left_told.startswith("runs 2 to 3 of 3 · ")
    page.copy_command_line()
    assert " --runs 3 " in QApplication.clipboard().text()


@pytest.mark.matrix  # it takes a second
def test_the_form_says_at_the_next_start_what_it_said_at_the_last(window: MainWindow, rig: Rig) -> None:
    page = profile(window)
    page.form.heads.setValue(9)
    page.form.runs.setValue(4)
    said = page.form.request()
    assert Settings().form("cpu") == (said, 4)
    again = Rig(rig._qtbot)
    try:
        second = again.window()
        form = profile(second).form
        assert (form.request(), form.runs.value()) == (said, 4)
    finally:
        again.close()


@pytest.mark.matrix
def test_another_device_brings_what_the_form_said_last_of_it(window: MainWindow) -> None:
    page = profile(window)
    page.form.heads.setValue(9)
    page.set_backend("cuda")
    assert page.form.request() == Request.of("cuda")
    page.set_backend("cpu")
    assert page.form.heads.value() == 9


@pytest.mark.matrix
def test_a_gpus_session_fills_a_form_that_can_run_here_and_says_what_it_changed(
    window: MainWindow, rig: Rig, save: Save
) -> None:
    asked = Request.of("cuda", kernels=("standard", "flash2", "flash3"), seqlens=(256, 512), dtype="bfloat16")
    rig.open(save(sweep(asked.plan(), GPU_MACHINE), "gpu"))
    page = profile(window)
    page.use_session()
    form = page.form
    assert form.blocked_reason is None
    assert page.form_open
    assert form.changes.isVisible()
    assert list(form.changes.sentences) == [
        "CPU in the place of the GPU: this machine has none that can be used.",
        "float32 in the place of bfloat16, which no kernel takes on this CPU.",
        "flash3 is left out: not implemented on cpu.",
    ]
    page.run()
    (plan,) = rig.engine.plans
    assert (plan.backend, plan.kernels, plan.problems[0].dtype) == ("cpu", ("standard", "flash2"), "float32")
    form.show_request(replace(form.request(), heads=1))
    assert not form.changes.isVisible()
