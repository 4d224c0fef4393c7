"""Flashscope: `python main.py` opens the window, `python main.py COMMAND` does one thing without it."""

import sys

from app.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
