"""How one quantity of one kernel developed over sessions: a curve for each machine, problem and protocol."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from flashscope.profiles.results.model.dates import moment
from flashscope.profiles.wire.measurement import Figure


class Kind(NamedTuple):
    """What the entries of one curve share: only like is compared with like.

    Attributes:
        machine: The model of the device that ran it.
        card: The UUID of the GPU; None: the sessions do not tell one device of the model from another.
        problem: Head dim, mask, heads, batch and dtype in words.
        cold: Whether the cache was flushed.
        in_turns: Whether the kernels of a problem took turns.
    """

    machine: str
    card: str | None
    problem: str
    cold: bool
    in_turns: bool

    @property
    def device(self) -> str:
        """The device in words: the first eight digits of its UUID tell it from others of its model."""
        return f"{self.machine}, {'-'.join(self.card.split('-')[:2]) if self.card else 'by model'}"

    @property
    def protocol(self) -> str:
        """How it was sampled, in words."""
        turns = "" if self.in_turns else ", one kernel after the other"
        return f"{'cold' if self.cold else 'warm'} cache{turns}"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One session's part in a trend.

    Attributes:
        file: The session's file.
        name: The user's name for it; empty: it has none.
        started_at: When it began, ISO 8601 with offset.
        kind: Which curve it belongs to.
        figure: What it measured, None when it did not.
        reason: Why not; empty otherwise.
    """

    file: str
    name: str
    started_at: str
    kind: Kind
    figure: Figure | None
    reason: str = ""

    @property
    def title(self) -> str:
        """The user's name of the session, else its file's."""
        return self.name or Path(self.file).stem


def entries_by_curve(entries: Iterable[Entry]) -> dict[Kind, list[Entry]]:
    """The entries of each curve, by date."""
    curves: dict[Kind, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: (moment(entry.started_at), entry.file)):
        curves.setdefault(entry.kind, []).append(entry)
    return curves
