"""No command, or `window`: open the window, with a session in it when a file is named."""

from pathlib import Path

from app.commands import system
from app.commands.exit_codes import FAILED, USAGE_ERROR
from app.commands.messages import tell


def run(file: Path | None) -> int:
    """Open the window and stay until it is closed; what would make Qt abort is said in one line instead."""
    if file is not None and not file.exists():
        tell(f"flashscope: {file} is neither a command nor a file (see python main.py --help)")
        return USAGE_ERROR
    reason = system.why_no_window()
    if reason is not None:
        tell(f"flashscope: {reason}")
        return FAILED
    from app.shell.run import run_window  # noqa: PLC0415 - Qt must not be imported before it is known to load

    return run_window(file)
