"""Which sessions are one family: runs of one plan, each by processes of its own, as their marks say."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import sep
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from flashscope.profiles.plan.run_mark import RunMark

T = TypeVar("T")


class Kinship(NamedTuple):
    """What decides to which family a session belongs.

    Attributes:
        mark: Which run it is, None: it is alone.
        id: The session's UUID in hex.
        path: Its file.
    """

    mark: RunMark | None
    id: str
    path: Path


class FamilyKey(NamedTuple):
    """What the runs of one family share.

    Attributes:
        folder: Where their files are.
        family: That of their marks.
        copy: 0; of copies that stand beside the runs they were made of 1, 2, ...
    """

    folder: str
    family: str
    copy: int


@dataclass(frozen=True)
class RunFamily(Generic[T]):
    """Runs of one plan, or a session that is alone.

    Attributes:
        key: What they share, None: it is alone.
        runs: In the order in which they were made.
    """

    key: FamilyKey | None
    runs: tuple[T, ...]


def families(items: Iterable[T], kinship: Callable[[T], Kinship]) -> list[RunFamily[T]]:
    """Every item in one family, families in the order of their first items.

    A run that is there twice is a copy: copies make a family of their own, as far as there are several. A run
    that is left alone by itself, as where the others are in another folder, is a session like any other.
    """
    members = list(items)
    keys = _keys([kinship(item) for item in members])
    found: dict[object, list[T]] = {}
    for place, item in enumerate(members):
        found.setdefault(keys.get(place, place), []).append(item)
    return [_family(key, runs, kinship) for key, runs in found.items()]


def _keys(kin: list[Kinship]) -> dict[int, FamilyKey]:
    """The family of each marked item, by its place; files are taken by name, in whatever order they come."""
    seen: Counter[tuple[str, str, str]] = Counter()
    keys: dict[int, FamilyKey] = {}
    named = sorted((*_split(one.path), place) for place, one in enumerate(kin))
    for _name, folder, place in named:
        mark = kin[place].mark
        if mark is not None:
            known = folder, mark.family, kin[place].id
            keys[place] = FamilyKey(folder, mark.family, seen[known])
            seen[known] += 1
    return keys


def _split(path: Path) -> tuple[str, str]:
    """A file's name without its ending, and its folder; of thousands `Path.stem` takes too long."""
    folder, _, name = str(path).rpartition(sep)
    return name.rpartition(".")[0] or name, folder


def _family(key: object, runs: list[T], kinship: Callable[[T], Kinship]) -> RunFamily[T]:
    if not isinstance(key, FamilyKey) or len(runs) == 1:
        return RunFamily(None, tuple(runs))

    def order(item: T) -> tuple[int, str]:
        kin = kinship(item)
        return (kin.mark.run if kin.mark else 0), str(kin.path)

    return RunFamily(key, tuple(sorted(runs, key=order)))
