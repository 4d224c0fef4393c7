"""What a user says of a part of a session: a note on a point or on a moment, perhaps without words."""

from collections.abc import Iterable

import msgspec


class Bookmark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A note on one point or one moment.

    Attributes:
        point: Index of the point, None for a moment.
        t_ns: The moment, on the session's clock; None for a point.
        text: The note; empty: the place alone is kept.
    """

    point: int | None = None
    t_ns: int | None = None
    text: str = ""

    @property
    def place(self) -> tuple[bool, int]:
        """The key that notes are sorted by: points by their order, then moments."""
        return (True, self.t_ns or 0) if self.point is None else (False, self.point)


def on_points(bookmarks: Iterable[Bookmark]) -> dict[int, str]:
    """What is said of each point that is marked."""
    told: dict[int, str] = {}
    for one in bookmarks:
        if one.point is not None:
            told[one.point] = "; ".join(filter(None, (told.get(one.point), one.text)))
    return told


def on_moments(bookmarks: Iterable[Bookmark], t0_ns: int) -> list[str]:
    """What is said of moments, each with its seconds since the session began."""
    return [moment_text(one.t_ns, t0_ns, one.text) for one in bookmarks if one.t_ns is not None]


def moment_text(t_ns: int, t0_ns: int, text: str = "") -> str:
    """`at 12.345 s: the fan starts`."""
    return ": ".join(filter(None, (f"at {(t_ns - t0_ns) / 1e9:.3f} s", text)))
