"""Which query row the user watches."""

from dataclasses import dataclass

from flashscope.app.stepper.recording import Recording


@dataclass(frozen=True)
class RowChoice:
    """One query row, counted from 0.

    Attributes:
        row: The row asked for.
        follow: Watch the row at the same place of whichever query block is being computed.
    """

    row: int = 0
    follow: bool = True

    def row_in(self, recording: Recording, i: int) -> int | None:
        """The row watched while query block i is computed; None when it is in another block."""
        if self.follow:
            return i * recording.block_q + min(self.row % recording.block_q, recording.rows(i) - 1)
        row = self._nearest(recording)
        return row if row // recording.block_q == i else None

    def watched(self, recording: Recording, i: int) -> int:
        """The row whose state is shown while query block i is computed."""
        row = self.row_in(recording, i)
        return self._nearest(recording) if row is None else row

    def _nearest(self, recording: Recording) -> int:
        """The row asked for, or the last one of a recording that has fewer."""
        return min(self.row, recording.seqlen_q - 1)
