"""Pictures of the stops of a story, as an audience would see them."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from PySide6.QtCore import QSize

from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import Theme
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.full_screen import ANSWER_MS
from flashscope.app.shell.main_window import MainWindow, build_window
from flashscope.app.shell.shots import SETTLE_MS, grab_whole, refuse_taken, run_loop, wait_until
from flashscope.app.shell.start_up.application import make_application
from flashscope.app.stage.story import Stop, Story
from flashscope.profiles.engine.local import LocalEngine
from flashscope.profiles.store import SessionFileError, sessions_dir

SIZE = (1600, 900)  # pixels, for which what a stage shows is sized


def render_story(folder: Path, story: Story, themes: Sequence[Theme]) -> Iterator[Path]:
    """Render every stop as `STORY-NN-THEME.png`; yields each file as it is written.

    Traces are recorded on the CPU: a GPU may be at work.

    Raises:
        SessionFileError: A picture cannot be written, or there is a file of its name.
    """
    make_application()
    numbered = [*product(themes, range(len(story.stops)))]
    paths = {one: folder / f"{story.path.stem}-{one[1] + 1:02}-{one[0].name}.png" for one in numbered}
    refuse_taken(paths.values())
    window = build_window(Controller(LocalEngine, sessions_dir()), themes[0])
    window.show()
    try:
        _walk_on_the_cpu(window)
        window.stage.enter(story)
        run_loop(2 * ANSWER_MS)  # until it fills its screen, which is none and small
        window.stage.venue.stand_as(QSize(*SIZE))
        for theme, at in numbered:
            window.appearance.use(theme)
            _show(window, at)
            if not grab_whole(window).save(str(paths[theme, at])):
                raise SessionFileError(f"{paths[theme, at]} cannot be written: check permissions and disk.")
            yield paths[theme, at]
    finally:
        window.close_unasked()


def _walk_on_the_cpu(window: MainWindow) -> None:
    page = window.pages["stepper"]
    if isinstance(page, StepperPage):
        page.bar.follow_backend("cpu")


def _show(window: MainWindow, at: int) -> None:
    """Bring a stop on the stage, and wait until it has all that it shows."""
    stage = window.stage
    stage.go(at)
    stop = stage.stops[at]
    wait_until(lambda: _is_there(window, stop))
    wait_for_all(window.page)
    run_loop(SETTLE_MS)
    window.appearance.finish()
    wait_until(lambda: not stage.loading.on)  # it is black until then


def _is_there(window: MainWindow, stop: Stop) -> bool:
    """Whether the stop's session is open, and its trace or its figures have come, or never will."""
    stage = window.stage
    if stage.stop is not stop or stage.story is None:
        return False
    wanted = stage.story.session_of(stop)
    opened = wanted is None or wanted.absolute() == window.controller.path
    staging = window.staging
    return opened and staging.settled and (not stop.preset or bool(staging.scene.numbers))
