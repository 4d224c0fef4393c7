"""`shots DIR`: every page, or every stop of a story, as PNG files, light and dark, on no screen."""

import os
import sys
import tempfile
from pathlib import Path

from flashscope.app.commands import system
from flashscope.app.commands.exit_codes import FAILED
from flashscope.app.commands.messages import complain, pasteable, say
from flashscope.app.stage.story import find_story, read_story

SIZES = ((1280, 720), (1600, 1000))


def run(folder: Path, session: Path | None, story: str | None, theme: str | None) -> int:
    """Render the pages, or the stops of a story; the user's settings and sessions are not changed.

    A StoryError says what is wrong with the story.
    """
    walked = read_story(find_story(story)) if story else None
    system.settle_qt(offscreen=True)
    reason = system.why_no_window()
    if reason is not None:
        complain("shots", reason)
        return FAILED
    from flashscope.app.look.theme import DARK, LIGHT, THEMES  # noqa: PLC0415 - with the next
    from flashscope.app.shell.shots import render_pages  # noqa: PLC0415 - Qt must not be imported before it is known to load
    from flashscope.app.shell.story_shots import render_story  # noqa: PLC0415 - as above

    themes = (THEMES[theme],) if theme else (DARK, LIGHT)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        complain("shots", f"no folder can be made at {folder}: {error.strerror}. Name another.")
        return FAILED
    with tempfile.TemporaryDirectory() as home:
        os.environ["FLASHSCOPE_HOME"] = home
        shown = _copy(session, Path(home)) if session else None
        drawn = render_story(folder, walked, themes) if walked else render_pages(folder, shown, SIZES, themes)
        for path in drawn:
            say(pasteable(path))
            sys.stdout.flush()  # who reads on shows each as it is drawn
    return 0


def _copy(session: Path, home: Path) -> Path:
    """A copy of the session where the Sessions page lists it; refuses what cannot be opened."""
    from flashscope.profiles.store import copy_session, load  # noqa: PLC0415 - with the rest that this command imports late

    load(session)
    copy = home / "sessions" / session.name
    copy.parent.mkdir()
    copy_session(session, copy)
    return copy
