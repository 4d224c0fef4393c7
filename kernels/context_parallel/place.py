"""What a rank's arrays lie in and its work runs on: the host's memory, or a GPU with its streams."""

from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from flashscope.kernels.workload.device import Device

RankLane = Literal["product", "transfer"]
"""What may run side by side: products and what comes of them, and transfers."""


class RankPlace(Protocol):
    """Memory and arithmetic of one rank; what it does is enqueued in its lane of products.

    Attributes:
        device: Where it is.
    """

    device: Device

    def here(self) -> AbstractContextManager[Any]:
        """Have what is allocated and launched meanwhile belong to this place and its lane of products."""

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array, row-major."""

    def address(self, array: Any) -> int:
        """Where an array begins."""

    def to_host(self, array: Any) -> Any:
        """A copy in host memory, NumPy, when it is computed."""

    def from_host(self, array: Any) -> Any:
        """A copy of a NumPy array."""

    def put(self, target: Any, source: Any) -> None:
        """Copy into an array or a view of one, in its dtype."""

    def add(self, sums: Any, first: int, part: Any) -> None:
        """Add (batch, heads, rows, d) to those rows of float32 sums, from the first on."""

    def merge(self, output: Any, lse: Any, first: int, part: Any, part_lse: Any) -> None:
        """Take what rows attended to among some keys into what they did among others.

        See `kernels.context_parallel.merging`.

        Args:
            output: O so far, float32 (batch, heads, all rows, dv).
            lse: LSE so far, float32 (batch, heads, all rows).
            first: The first row that the part is of.
            part: O among the other keys, (batch, heads, rows, dv).
            part_lse: LSE among them, float32 (batch, heads, rows).
        """

    def stamp(self, lane: RankLane) -> Any:
        """A moment in a lane, from which a measuring program reads a time; None where nobody measures."""
