"""The pages of a window, each made when it is first asked for."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from flashscope.app.control.chores import wait_for_all
from flashscope.app.pages.base import Page


class Pages(Mapping[str, Page]):
    """All pages, by key. To look one up makes it; to ask for the keys does not.

    Args:
        keys: In the order of the places and their views.
        make: Makes the page of a key.
        take: Is given each page that was made, once it can be looked up.
    """

    def __init__(
        self, keys: Iterable[str], make: Callable[[str], Page], take: Callable[[Page], None]
    ) -> None:
        self._keys, self._make, self._take = tuple(keys), make, take
        self._made: dict[str, Page] = {}
        self._begun: dict[str, Page] = {}  # not taken yet
        self._given_up: set[str] = set()  # the keys of those that could not be made with the rest

    def __getitem__(self, key: str) -> Page:
        self.make(key)
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def made(self) -> Sequence[Page]:
        """The pages that have been made."""
        return tuple(self._made.values())

    @property
    def missing(self) -> Sequence[str]:
        """The keys of the pages that have not been made."""
        return tuple(key for key in self._keys if key not in self._made)

    def make(self, *keys: str) -> None:
        """Make these pages where they have not been made."""
        for key in keys:
            if key in self._keys and key not in self._made:
                begun = self._begun.pop(key, None)
                self._made[key] = self._make(key) if begun is None else begun
                self._take(self._made[key])

    def make_in_steps(self, key: str) -> Iterator[None]:
        """The same of one page, in two steps; whoever looks it up between them has it at once."""
        if key in self.missing and key not in self._begun:
            self._begun[key] = self._make(key)
            yield
        self.make(key)

    def close(self) -> None:
        """Close all there are, taken or not, and wait for what they do in the background."""
        for page in (*self._made.values(), *self._begun.values()):
            page.close()
            wait_for_all(page)

    def complete(self) -> None:
        """Have all that can be made; `sys.excepthook` is told of one that cannot, which is tried once."""
        for key in self.missing:
            if key not in self._given_up:
                try:
                    self.make(key)
                except Exception as error:  # noqa: BLE001 - whatever it is, the others are wanted
                    self._given_up.add(key)
                    sys.excepthook(type(error), error, error.__traceback__)
