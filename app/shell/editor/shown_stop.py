"""What the main window shows, as a stop."""

from pathlib import Path

from flashscope.app.pages.registry import title_of
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.shell.presenter.actions import STAGED
from flashscope.app.stage.story import Stop, StoryError
from flashscope.app.stage.writing import session_named


def stop_on_show(window: PagedWindow, story: Path) -> Stop:
    """What the window shows as a stop of a story of this file.

    Raises:
        StoryError: The view in front has no form for a stage; the text names those that have.
    """
    check_stageable(window)
    staging = window.staging
    return session_named(staging.stop, window.controller.path, story, staging.compared)


def check_stageable(window: PagedWindow) -> None:
    """Refuse a view that a stage cannot show.

    Raises:
        StoryError: It is one.
    """
    if window.view not in STAGED:
        others = ", ".join(title_of(key) for key in STAGED)
        raise StoryError(f"{title_of(window.view)} has no place in a story; show one of these: {others}.")
