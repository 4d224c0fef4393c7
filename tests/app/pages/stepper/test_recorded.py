"""The traces that a session brings along, in the Stepper of a machine that has no GPU."""

import pytest

from flashscope.app.control.bundled import bundled_sessions, inside_recording
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.pages.stepper.options_bar import RECORDED
from flashscope.app.shell.main_window import MainWindow
from tests.app.rig import Rig


def opened(window: MainWindow, rig: Rig) -> StepperPage:
    """The Stepper over the recording that has traces."""
    window.show_page("stepper")
    page = window.page
    assert isinstance(page, StepperPage)
    recording = inside_recording()
    assert recording is not None
    rig.open(recording)
    return page


def test_every_trace_of_a_session_can_be_chosen_and_is_named(window: MainWindow, rig: Rig) -> None:
    page = opened(window, rig)
    preset = page.bar.preset
    assert preset.currentText() == "Recorded: flash3 on a GPU, N = 384, causal"
    assert page.staging.provenance.of == "trace of flash3"
    preset.setCurrentIndex(preset.findText("Recorded: flash2 on a GPU, N = 384, causal"))
    assert page.story is not None
    assert page.story.recording.trace.request.kernel == "flash2"


@pytest.mark.matrix
def test_traces_go_with_their_session_and_what_is_on_show_stays_named(window: MainWindow, rig: Rig) -> None:
    page = opened(window, rig)
    rig.open(bundled_sessions()[0])
    keys = [str(page.bar.preset.itemData(index)) for index in range(page.bar.preset.count())]
    assert not [key for key in keys if key.startswith(RECORDED)]
    assert page.bar.preset.currentText() == "Own problem"
