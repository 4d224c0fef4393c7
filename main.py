"""Flashscope: `python main.py` opens the window, `python main.py COMMAND` does one thing without it."""

if __name__ == "__main__":  # a child process imports this file, too
    import signal
    import sys

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback; commands that run take it over

    from app.cli import main
    from app.commands.streams import steady

    steady()
    sys.exit(main(sys.argv[1:]))
