"""`export FILE OUT`: write a saved session in a format that other programs read, or as a picture."""

import os
from pathlib import Path
from typing import Any

from app.commands import system
from app.commands.exit_codes import FAILED
from app.commands.messages import say, tell
from app.report.kinds import KINDS
from app.words.provenance import of_session
from app.words.units import bytes_text
from profiles.results.session import Session
from profiles.store import load, write_whole


def run(file: Path, out: Path, *, kind: str, force: bool, look: dict[str, Any]) -> int:
    """Write the session, and say how large the file is; `look` are the options of a picture."""
    picture = KINDS[kind].picture
    if picture and (reason := _why_no_picture()) is not None:
        tell(f"flashscope export: {reason}")
        return FAILED
    session = load(file)
    content = _picture(kind, session, look) if picture else _document(kind, session, file)
    write_whole(out, content, replace=force)
    say(f"Exported {session.plan.cells} points to {out} ({KINDS[kind].title}, {bytes_text(len(content))})")
    return 0


def _document(kind: str, session: Session, file: Path) -> bytes:
    from app.report.documents import document  # noqa: PLC0415 - a picture needs none of it

    return document(kind, session, str(file), of_session(session, "saved"))


def _why_no_picture() -> str | None:
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return system.why_no_window()


def _picture(kind: str, session: Session, look: dict[str, Any]) -> bytes:
    from app.shell.pictures import picture  # noqa: PLC0415 - Qt must not be imported before it is known to load

    return picture(kind, session, look)
