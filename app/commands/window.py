"""No command, or `window`: open the window, with a session in it when a file is named."""

import gc
from pathlib import Path
from typing import TYPE_CHECKING

from flashscope.app.commands import system
from flashscope.app.commands.exit_codes import FAILED, USAGE_ERROR
from flashscope.app.commands.messages import complain
from flashscope.installation import PROGRAM

if TYPE_CHECKING:  # it takes a while to load, and nothing is on the screen yet
    from flashscope.app.stage.story import Story


def run(file: Path | None, story: "Story | None" = None, connect: tuple[str, ...] = ()) -> int:
    """Open the window, and present a story in it, or connect it to other machines, until it is closed.

    What would make Qt abort is said in one line instead.
    """
    if file is not None and (reason := _why_no_file(file)):
        complain("", f"{reason} (see {PROGRAM} --help)")
        return USAGE_ERROR
    system.settle_qt()
    hindrance = system.why_no_window()
    if hindrance is not None:
        complain("", hindrance)
        return FAILED
    from flashscope.app.shell.start_up.splash import show_splash  # noqa: PLC0415 - Qt must not be imported before it is known to load

    gc.disable()  # what is made until the window is there stays; it collects what comes then
    splash = show_splash()
    from flashscope.app.shell.start_up.run import run_window  # noqa: PLC0415 - it takes a second, with something to look at

    return run_window(file, splash, story, connect)


def _why_no_file(file: Path) -> str:
    """Why there is nothing to open, empty when there is."""
    try:
        file.stat()
    except FileNotFoundError:
        return f"{file} is neither a command nor a file"
    except OSError as error:
        return f"{file} cannot be opened: {error.strerror}"
    return ""
