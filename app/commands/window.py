"""No command, or `window`: open the window, with a session in it when a file is named."""

import gc
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands import system
from app.commands.exit_codes import FAILED, USAGE_ERROR
from app.commands.messages import tell

if TYPE_CHECKING:  # it takes a while to load, and nothing is on the screen yet
    from app.stage.story import Story


def run(file: Path | None, story: "Story | None" = None) -> int:
    """Open the window, and present a story in it, and stay until it is closed.

    What would make Qt abort is said in one line instead.
    """
    if file is not None and (reason := _why_no_file(file)):
        tell(f"flashscope: {reason} (see python main.py --help)")
        return USAGE_ERROR
    hindrance = system.why_no_window()
    if hindrance is not None:
        tell(f"flashscope: {hindrance}")
        return FAILED
    from app.shell.splash import show_splash  # noqa: PLC0415 - Qt must not be imported before it is known to load

    gc.disable()  # what is made until the window is there stays; see app/shell/run.py
    splash = show_splash()
    from app.shell.run import run_window  # noqa: PLC0415 - it takes a second, with something to look at

    return run_window(file, splash, story)


def _why_no_file(file: Path) -> str:
    """Why there is nothing to open, empty when there is."""
    try:
        file.stat()
    except FileNotFoundError:
        return f"{file} is neither a command nor a file"
    except OSError as error:
        return f"{file} cannot be opened: {error.strerror}"
    return ""
