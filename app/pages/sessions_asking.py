"""Asks for the name, note and tags of sessions; what is left as it is changes nothing."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QInputDialog, QWidget

from app.control.edits import Edits
from app.control.steps import Said
from app.pages.sessions_columns import named, session_name
from app.pages.sessions_tags import TAGS_ASKED, tagged
from app.words.plain import cut
from profiles.store import SessionInfo


def ask_name(parent: QWidget, info: SessionInfo | None, edits: Edits) -> None:
    """Ask for another name of a session."""
    if info is None or info.error:
        return
    answer = _asked(parent, QInputDialog.getText, "Name", session_name(info))
    if answer is not None:
        step = Said(info.path, "name", info.name, answer, info.id)
        edits.do(f"Renamed {session_name(info)}", [step])


def ask_note(parent: QWidget, info: SessionInfo | None, edits: Edits) -> None:
    """Ask for the note of a session."""
    if info is None or info.error:
        return
    answer = _asked(parent, QInputDialog.getMultiLineText, "Note", info.note)
    if answer is not None:
        step = Said(info.path, "note", info.note, answer, info.id)
        edits.do(f"Changed the note on {session_name(info)}", [step])


def ask_tags(parent: QWidget, chosen: Sequence[SessionInfo], edits: Edits) -> None:
    """Ask for tags of all these sessions; those of a single one are there to be edited."""
    infos = [info for info in chosen if not info.error]
    text = ", ".join(infos[0].tags) if len(infos) == 1 else ""
    answer, accepted = QInputDialog.getText(parent, "Tags", TAGS_ASKED, text=text) if infos else ("", False)
    if not accepted or answer == text:
        return
    steps = [
        Said(info.path, "tags", info.tags, after, info.id)
        for info in infos
        if (after := tagged(info, answer, alone=len(infos) == 1)) != info.tags
    ]
    edits.do(f"Tagged {named(infos)}", steps)


def _asked(parent: QWidget, ask: Callable[..., tuple[str, bool]], title: str, known: str) -> str | None:
    """The answer; None: there is none, or it is what was known."""
    text = cut(known, len(known))
    answer, accepted = ask(parent, title, title, text=text)
    return answer if accepted and answer != text else None
