"""Where what is the user's own is kept, and that nobody else on the machine can read it."""

import os
from contextlib import suppress
from pathlib import Path

VARIABLE = "FLASHSCOPE_HOME"
OWN_FILE, OWN_FOLDER = 0o600, 0o700  # notes are nobody else's to read


def own_home() -> Path | None:
    """The folder that FLASHSCOPE_HOME names, None where it names none."""
    named = os.environ.get(VARIABLE)
    return in_home(Path(named)) if named else None


def in_home(path: Path) -> Path:
    """The path with `~` or `~name` at its beginning replaced by that user's folder, as a shell would do."""
    with suppress(RuntimeError):  # there is no such user
        return path.expanduser()
    return path


def make_own_folder(folder: Path) -> None:
    """Make a folder for the user's own files, with those it is in, unless it is there; others may not look.

    Raises:
        OSError: It cannot be made.
    """
    for one in (*reversed(folder.parents), folder):
        if not one.is_dir():
            one.mkdir(OWN_FOLDER, exist_ok=True)
