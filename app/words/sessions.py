"""How a session is named wherever one is meant."""

from pathlib import Path

from profiles.results.session import Session


def named(session: Session, path: Path) -> str:
    """The user's name of a session, else its file's."""
    return session.name or path.stem


def device_of(session: Session) -> str:
    """The name of the device that ran it."""
    device = session.machine.device(session.backend)
    return device.name if device else session.backend


def minute_of(session: Session) -> str:
    """When it was measured, to the minute."""
    return session.started_at[:16].replace("T", " ")
