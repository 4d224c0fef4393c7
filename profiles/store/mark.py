"""Which session a file holds: another program may put another one in its place while it is on show."""

import sqlite3
from pathlib import Path
from typing import NamedTuple

from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store.errors import ReplacedFileError
from flashscope.profiles.wire.events import Outcome


class SessionMark(NamedTuple):
    """What tells a session from others, and from itself after it has gone on.

    Attributes:
        id: The session's UUID in hex.
        parts: How many it has.
        outcome: How it ended.
        ended_ns: When.
    """

    id: str
    parts: int
    outcome: Outcome | None
    ended_ns: int | None

    @classmethod
    def of(cls, session: Session) -> "SessionMark":
        """That of a session in memory."""
        return cls(session.id, 1 + len(session.resumed), session.outcome, session.ended_ns)

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> "SessionMark":
        """That of a file of this version."""
        (last,) = connection.execute("SELECT max(part) FROM parts").fetchone()
        head = connection.execute("SELECT id, outcome, ended_ns FROM session").fetchone()
        return cls(head[0], last or 1, *head[1:])

    def check(self, path: Path, found: "SessionMark", *, recorded: bool) -> None:
        """Refuse a file that holds another session; one that is being recorded has no end yet.

        Raises:
            ReplacedFileError: It holds another session than this, or more of it.
        """
        if found.id != self.id or (found != self and not recorded):
            raise ReplacedFileError(path)
