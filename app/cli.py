"""The way in: a command, or the window, and what ends both alike."""

import errno
from collections.abc import Sequence

from flashscope.app.commands.exit_codes import FAILED, INTERRUPTED
from flashscope.app.commands.messages import complain
from flashscope.app.commands.streams import forget_output
from flashscope.app.look.assets import why_incomplete


def main(arguments: Sequence[str]) -> int:
    """Run one command, or open the window; returns the exit code."""
    try:
        if lack := why_incomplete():
            complain("", lack)
        return _run(arguments)
    except OSError as error:  # the output cannot be written, or too many files are open
        forget_output()
        complain("", in_words(error))
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--"]):  # two dashes alone end options that there are none of
        from flashscope.app.commands.program import run_command  # noqa: PLC0415 - a window has no use for a parser

        return run_command(arguments)
    from flashscope.app.commands import window  # noqa: PLC0415 - a window has no use for a parser, and is on the screen sooner

    try:
        return window.run(None)
    except (OSError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 - looked at there, where more is loaded
        return _why_no_window(error)


def _why_no_window(error: Exception) -> int:
    """Say what a command would say; raises what is nobody's to foresee."""
    from flashscope.app.commands.program import tell_why  # noqa: PLC0415 - only where no window came
    from flashscope.kernels.workload.errors import KernelError  # noqa: PLC0415 - only where no window came
    from flashscope.profiles.store.errors import SessionFileError  # noqa: PLC0415 - only where no window came

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
