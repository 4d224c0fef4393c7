"""Which query row the user watches."""

from dataclasses import dataclass

from flashscope.app.stepper.walk import Tiled


@dataclass(frozen=True)
class RowChoice:
    """One query row, counted from 0.

    Attributes:
        row: The row asked for.
        follow: Watch the row at the same place of whichever query block is being computed.
    """

    row: int = 0
    follow: bool = True

    def row_in(self, walk: Tiled, i: int) -> int | None:
        """The row watched while query block i is computed; None when it is in another block."""
        if self.follow:
            return i * walk.block_q + min(self.row % walk.block_q, walk.rows(i) - 1)
        row = self._nearest(walk)
        return row if row // walk.block_q == i else None

    def watched(self, walk: Tiled, i: int) -> int:
        """The row whose state is shown while query block i is computed."""
        row = self.row_in(walk, i)
        return self._nearest(walk) if row is None else row

    def _nearest(self, walk: Tiled) -> int:
        """The row asked for, or the last one of a recording that has fewer."""
        return min(self.row, walk.seqlen_q - 1)
