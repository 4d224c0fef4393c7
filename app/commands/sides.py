"""What `compare` is given: files and folders, each a side of its own, or sides parted by `vs`."""

import os
from pathlib import Path

import click

from flashscope.app.commands.declared.options import SESSION
from flashscope.profiles.store.schema import SUFFIX

AGAINST = "vs"
SideFiles = tuple[Path, ...]


def read_sides(
    context: click.Context, parameter: click.Parameter, words: tuple[str, ...]
) -> tuple[SideFiles, ...]:
    """The files of each side, the baseline's first.

    Without `vs` each word is a side: a file, or a folder with runs. With it, all that stands between two of
    them is one side.

    Raises:
        click.BadParameter: A side is missing or has no file, a folder holds no session, or a file is given
            twice.
    """
    parted = _parted(words) if AGAINST in words else [(word,) for word in words]
    sides = tuple(tuple(file for word in side for file in _files(word)) for side in parted)
    if len(sides) < 2:  # noqa: PLR2004 - a comparison has two sides
        raise click.BadParameter("name a baseline and what is compared with it", context, parameter)
    for side in sides:
        if not side:
            raise click.BadParameter(f"no file stands on one side of `{AGAINST}`", context, parameter)
    _check_different([file for side in sides for file in side])
    return sides


def _parted(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    sides: list[list[str]] = [[]]
    for word in words:
        if word == AGAINST:
            sides.append([])
        else:
            sides[-1].append(word)
    return [tuple(side) for side in sides]


def _files(word: str) -> list[Path]:
    """The session of this name, or those in the folder of this name."""
    path = Path(word)
    if not path.is_dir():
        return [SESSION.convert(word, None, None)]
    found = sorted(file for file in path.iterdir() if file.suffix == SUFFIX)
    if not found:
        raise click.BadParameter(f"the folder {word} holds no {SUFFIX} file")
    return found


def _check_different(files: list[Path]) -> None:
    seen: dict[str, Path] = {}
    for file in files:
        if (first := seen.setdefault(os.path.realpath(file), file)) is not file:
            raise click.BadParameter(f"{first} is given twice; a session compared with itself says nothing")
