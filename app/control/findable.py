"""What is found by its name beside the actions; whoever knows of such things tells of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Findable:
    """One thing that can be shown.

    Attributes:
        kind: A word for what it is.
        title: Its name.
        show: Shows it.
        also: Other words that it is looked for by.
    """

    kind: str
    title: str
    show: Callable[[], None]
    also: str = ""

    @property
    def key(self) -> str:
        """What it is remembered by."""
        return f"{self.kind}: {self.title}"


Findables = Callable[[], Iterable[Findable]]
"""What there is to be found now."""
