"""The way in: a command, or the window, and what ends both alike."""

import errno
from collections.abc import Sequence

from app.commands.exit_codes import FAILED, INTERRUPTED
from app.commands.messages import tell
from app.commands.streams import forget_output


def main(arguments: Sequence[str]) -> int:
    """Run one command, or open the window; returns the exit code."""
    try:
        return _run(arguments)
    except OSError as error:  # the output cannot be written, or too many files are open
        forget_output()
        if not isinstance(error, BrokenPipeError):  # whoever reads the output has had enough
            tell(f"flashscope: {in_words(error)}")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--"]):  # two dashes alone end options that there are none of
        from app.commands.program import run_command  # noqa: PLC0415 - as below

        return run_command(arguments)
    from app.commands import window  # noqa: PLC0415 - a window has no use for a parser, and is on the screen sooner

    try:
        return window.run(None)
    except (OSError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 - looked at there, where more is loaded
        return _why_no_window(error)


def _why_no_window(error: Exception) -> int:
    """Say what a command would say; raises what is nobody's to foresee."""
    from app.commands.program import tell_why  # noqa: PLC0415 - as above
    from kernels.errors import KernelError  # noqa: PLC0415 - as above
    from profiles.store.errors import SessionFileError  # noqa: PLC0415 - as above

    if isinstance(error, SessionFileError | KernelError):
        return tell_why(error, "window")
    raise error


def in_words(error: OSError) -> str:
    """What the system refused, and a remedy where there is one."""
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return "too many files are open; raise the limit (ulimit -n), or close some programs"
    if error.filename:
        return f"{error.filename} cannot be used: {error.strerror}"
    return f"the output cannot be written: {error.strerror or error}"
