"""`export FILE OUT`: write a saved session in a format that other programs read, or as a picture."""

from pathlib import Path
from typing import Any

from flashscope.app.commands import system
from flashscope.app.commands.arguments import STDOUT
from flashscope.app.commands.exit_codes import FAILED
from flashscope.app.commands.messages import complain, pasteable, put, say
from flashscope.app.report.kinds import KINDS, report_bytes
from flashscope.app.words.results.holding import written_text
from flashscope.app.words.results.provenance import of_session
from flashscope.app.words.units import bytes_text
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load, write_atomically


def run(file: Path, out: Path, *, kind: str, force: bool, look: dict[str, Any]) -> int:
    """Write the session, and say how large the file is; `look` are the options of a picture."""
    picture = KINDS[kind].picture
    if picture and (reason := _why_no_picture()) is not None:
        complain("export", reason)
        return FAILED
    session = load(file)
    if picture:
        content = _picture(kind, session, look)
    else:
        content = report_bytes(kind, session, str(file), of_session(session, "saved"))
    if out == STDOUT:
        put(content)
        return 0
    write_atomically(out, content, replace=force)
    told = f"{KINDS[kind].title}, {bytes_text(len(content))}"
    what = written_text(session, with_ranks=KINDS[kind].with_ranks)
    say(f"Exported {what} to {pasteable(out)} ({told})")
    return 0


def _why_no_picture() -> str | None:
    system.settle_qt(offscreen=True)
    return system.why_no_window()


def _picture(kind: str, session: Session, look: dict[str, Any]) -> bytes:
    from flashscope.app.shell.pictures import picture_bytes  # noqa: PLC0415 - Qt must not be imported before it is known to load

    return picture_bytes(kind, session, look)
