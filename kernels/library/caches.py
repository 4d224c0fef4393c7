"""Where libraries that compile for the GPU at hand keep what they compiled."""

import os

from flashscope.home import own_home


def keep_at_home(variable: str, folder: str) -> None:
    """Have a library that is not imported yet keep what it compiles in `$FLASHSCOPE_HOME/compiled`.

    Where that variable names no folder, or the library's own is set, nothing changes.

    Args:
        variable: The library's own variable.
        folder: A folder for it alone.
    """
    home = own_home()
    if home is not None:
        os.environ.setdefault(variable, str(home / "compiled" / folder))
