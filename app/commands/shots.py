"""`shots DIR`: every page as PNG files, light and dark, small and large, on no screen."""

import os
import tempfile
from pathlib import Path

from app.commands import system
from app.commands.exit_codes import FAILED
from app.commands.messages import say, tell

SIZES = ((1280, 720), (1600, 1000))


def run(folder: Path, session: Path | None) -> int:
    """Render the pages; the user's settings and sessions are neither shown nor changed."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    reason = system.why_no_window()
    if reason is not None:
        tell(f"flashscope shots: {reason}")
        return FAILED
    from app.shell.shots import render_pages  # noqa: PLC0415 - Qt must not be imported before it is known to load

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        tell(f"flashscope shots: no folder can be made at {folder}: {error.strerror}. Name another.")
        return FAILED
    with tempfile.TemporaryDirectory() as home:
        os.environ["FLASHSCOPE_HOME"] = home
        shown = _copy(session, Path(home)) if session else None
        for path in render_pages(folder, shown, SIZES):
            say(str(path))
    return 0


def _copy(session: Path, home: Path) -> Path:
    """A copy of the session where the Sessions page lists it; refuses what cannot be opened."""
    from profiles.store import copy_session, load  # noqa: PLC0415 - with the rest that this command imports late

    load(session)
    copy = home / "sessions" / session.name
    copy.parent.mkdir()
    copy_session(session, copy)
    return copy
