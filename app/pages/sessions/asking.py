"""Asks for the name, note and tags of sessions; what is left as it is changes nothing."""

from collections.abc import Sequence

from PySide6.QtWidgets import QInputDialog, QWidget

from flashscope.app.control.edits import Edits
from flashscope.app.control.steps import WordsChanged
from flashscope.app.pages.sessions.columns import session_name, sessions_named
from flashscope.app.pages.sessions.tags import TAGS_ASKED, tagged
from flashscope.app.widgets.note_dialog import NoteDialog
from flashscope.app.words.plain import cut_short
from flashscope.profiles.store import SessionInfo


def ask_name(parent: QWidget, info: SessionInfo | None, edits: Edits) -> None:
    """Ask for another name of a session."""
    if info is None or info.error:
        return
    known = cut_short(session_name(info), len(session_name(info)))
    answer, accepted = QInputDialog.getText(parent, "Name", "Name", text=known)
    if accepted and answer != known:
        step = WordsChanged(info.path, "name", info.name, answer, info.id)
        edits.do(f"Renamed {session_name(info)}", [step])


def ask_note(parent: QWidget, info: SessionInfo | None, edits: Edits) -> None:
    """Ask for the note of a session."""
    if info is None or info.error:
        return
    known = cut_short(info.note, len(info.note))
    answer, accepted = NoteDialog.ask(parent, f"Note on {session_name(info)}", known)
    if accepted and answer != known:
        step = WordsChanged(info.path, "note", info.note, answer, info.id)
        edits.do(f"Changed the note on {session_name(info)}", [step])


def ask_tags(parent: QWidget, chosen: Sequence[SessionInfo], edits: Edits) -> None:
    """Ask for tags of all these sessions; those of a single one are there to be edited."""
    infos = [info for info in chosen if not info.error]
    text = ", ".join(infos[0].tags) if len(infos) == 1 else ""
    answer, accepted = QInputDialog.getText(parent, "Tags", TAGS_ASKED, text=text) if infos else ("", False)
    if not accepted or answer == text:
        return
    steps = [
        WordsChanged(info.path, "tags", info.tags, after, info.id)
        for info in infos
        if (after := tagged(info, answer, alone=len(infos) == 1)) != info.tags
    ]
    edits.do(f"Tagged {sessions_named(infos)}", steps)
