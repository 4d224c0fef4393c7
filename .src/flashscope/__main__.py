"""The program: `python -m flashscope`, the command `flashscope`, and `python main.py` in a checkout."""

import os
import sys


def main(*_: str) -> int:
    """Run what the command line (`sys.argv`) asks for; returns the exit code."""
    import signal  # noqa: PLC0415 - not before the working folder is forgotten

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback; commands that run take it over

    from flashscope.app import cli  # noqa: PLC0415 - Ctrl+C is quiet from before the first import
    from flashscope.app.commands.streams import steady  # noqa: PLC0415 - as above

    steady()
    return cli.main(sys.argv[1:])


def _forget_working_folder() -> None:
    """Where `python -m` looks for modules first: a file of the user's would take the place of one."""
    try:
        if sys.path[0] == os.getcwd():  # noqa: PTH109 - pathlib would be looked for there
            del sys.path[0]
            sys.path.append(__file__.rpartition(f"{os.sep}flashscope{os.sep}")[0])
    except OSError:  # the folder has been deleted, and is not looked at
        pass


if __name__ == "__main__":
    _forget_working_folder()
    sys.exit(main())
