"""Which query row the user watches."""

from dataclasses import dataclass

from app.stepper.recording import Recording


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
        block, local = divmod(self.row, recording.block_q)
        if self.follow:
            return i * recording.block_q + min(local, recording.rows(i) - 1)
        return self.row if block == i else None

    def watched(self, recording: Recording, i: int) -> int:
        """The row whose state is shown while query block i is computed."""
        row = self.row_in(recording, i)
        return min(self.row, recording.seqlen_q - 1) if row is None else row
