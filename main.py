"""Flashscope from a checkout: `python main.py` opens the window, `python main.py COMMAND` does without it."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).with_name(".src"))  # not this folder, whose `kernels` is not the only one

if __name__ == "__main__":
    from flashscope.__main__ import main

    sys.exit(main())
