"""Where a user's choice of a file to write leads: nothing is written over that nobody was asked about."""

from collections.abc import Callable
from pathlib import Path

from flashscope.profiles.store import SessionFileError
from flashscope.profiles.store.errors import explain_os


def target_of(chosen: Path, suffixes: tuple[str, ...]) -> Path:
    """The file to write: the one chosen, with the first of the suffixes behind it if it has none of them.

    Raises:
        FileExistsError: There is a file of that longer name, about which the dialog has not asked.
    """
    if chosen.name.lower().endswith(suffixes):
        return chosen
    target = chosen.with_name(chosen.name + suffixes[0])
    if target.exists():
        raise FileExistsError(f"{target} exists already; choose it by its whole name, or choose another.")
    return target


def write_chosen(chosen: Path, suffixes: tuple[str, ...], write: Callable[[Path], object]) -> Path:
    """Write the file that a choice leads to, on any thread; returns its path.

    Args:
        chosen: What the user chose.
        suffixes: As `target_of` takes them.
        write: Writes the file of a path.

    Raises:
        SessionFileError: It was not written, for this reason.
    """
    try:
        target = target_of(chosen, suffixes)
        write(target)
    except FileExistsError as error:
        raise SessionFileError(str(error)) from error
    except OSError as error:
        raise SessionFileError(f"Nothing was saved: {explain_os(error, chosen)}", repr(error)) from error
    return target
