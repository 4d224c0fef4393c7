"""No command, or `window`: open the window, with a session in it when a file is named."""

from pathlib import Path

from app.commands import system
from app.commands.exit_codes import FAILED, USAGE_ERROR
from app.commands.messages import tell


def run(file: Path | None) -> int:
    """Open the window and stay until it is closed; what would make Qt abort is said in one line instead."""
    if file is not None and (reason := _why_no_file(file)):
        tell(f"flashscope: {reason} (see python main.py --help)")
        return USAGE_ERROR
    hindrance = system.why_no_window()
    if hindrance is not None:
        tell(f"flashscope: {hindrance}")
        return FAILED
    from app.shell.splash import show_splash  # noqa: PLC0415 - Qt must not be imported before it is known to load

    splash = show_splash()
    from app.shell.run import run_window  # noqa: PLC0415 - it takes a second, with something to look at

    return run_window(file, splash)


def _why_no_file(file: Path) -> str:
    """Why there is nothing to open, empty when there is."""
    try:
        file.stat()
    except FileNotFoundError:
        return f"{file} is neither a command nor a file"
    except OSError as error:
        return f"{file} cannot be opened: {error.strerror}"
    return ""
