"""Where a user's choice of a file to write leads: nothing is written over that nobody was asked about."""

from pathlib import Path


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
