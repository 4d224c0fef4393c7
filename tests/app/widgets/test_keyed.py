"""A button that does what an action does names its key in its tool tip."""

import pytest
from PySide6.QtWidgets import QAbstractButton

from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.keyed import ACTION
from flashscope.app.widgets.plain import set_tip

AMONG = {
    *("run", "open", "place.home", "place.learn", "planner.find", "claims.test", "profile.new"),
    *("profile.freeze", "profile.note_point", "stepper.play", "replay.play", "sessions.rename"),
    *("compare.open", "compare.view"),
}


@pytest.fixture
def buttons(shared_window: MainWindow) -> list[QAbstractButton]:
    """All of the window, with every page in it."""
    return shared_window.findChildren(QAbstractButton)


@pytest.mark.matrix
def test_every_button_of_an_action_says_what_it_does_and_names_its_keys(
    shared_window: MainWindow, buttons: list[QAbstractButton]
) -> None:
    actions = {action.key: action for action in shared_window.registry}
    found = [(str(key), button) for button in buttons if (key := button.property(ACTION))]
    assert {key for key, _ in found} >= AMONG
    for key, button in found:
        assert button.toolTip(), key
        assert all(keys in button.toolTip() for keys in actions[key].shown_keys), button.toolTip()


@pytest.mark.matrix
def test_no_button_is_called_like_an_action_without_being_one_of_it(
    shared_window: MainWindow, buttons: list[QAbstractButton]
) -> None:
    titles = {action.title.rstrip(" …"): action.key for action in shared_window.registry}
    names = {button.accessibleName(): button for button in buttons if not button.property(ACTION)}
    assert names.keys() & titles.keys() == set()


def test_keys_stay_in_a_tip_that_changes(window: MainWindow) -> None:
    window.pages.make("profile")
    run = window.top_bar.run
    window.top_bar.block_run("Choose a kernel first.")
    assert run.toolTip().startswith("Choose a kernel first. (Ctrl+Ret")
    set_tip(run, "")
    assert run.toolTip() == ""
