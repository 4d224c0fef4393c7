"""No command, or `window`: open the window, with a session in it when a file is named."""

from argparse import Namespace

from app import system
from app.commands.progress import tell

USAGE_ERROR = 2


def run(options: Namespace) -> int:
    """Open the window and stay until it is closed; what would make Qt abort is said in one line instead."""
    if options.file is not None and not options.file.exists():
        tell(f"flashscope: {options.file} is neither a command nor a file (see python main.py --help)")
        return USAGE_ERROR
    reason = system.why_no_window()
    if reason is not None:
        tell(f"flashscope: {reason}")
        return 1
    from app.main_window import run_window  # noqa: PLC0415 - Qt must not be imported before it is known to load

    return run_window(options.file)
