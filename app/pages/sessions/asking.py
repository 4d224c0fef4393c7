"""Asks for the name, note and tags of sessions; what is left as it is changes nothing."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from flashscope.app.control.edits import Edits
from flashscope.app.control.steps import WordsChanged
from flashscope.app.pages.sessions.columns import session_name
from flashscope.app.pages.sessions.rows import SessionRow, rows_called
from flashscope.app.pages.sessions.tags import TAGS_ASKED, tagged
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.app.widgets.dialogs.note import NoteDialog
from flashscope.app.words.plain import cut_short
from flashscope.profiles.store import SessionInfo
from flashscope.profiles.store.schema import MAX_NAME

NO_NAME = "Nothing was renamed: without a name it is called by its file. Type a name that is not blank."


def ask_name(parent: QWidget, row: SessionRow | None, edits: Edits, tell: Callable[[str], None]) -> None:
    """Ask for another name of a row: of all its runs; tell where a blank one changes nothing."""
    if row is None or row.info.error:
        return
    known = cut_short(session_name(row.info), len(session_name(row.info)))
    answer, accepted = LineDialog.ask(parent, "Rename", "Name of the session", text=known, most=MAX_NAME)
    if not accepted or answer == known:
        return
    name = answer.strip()
    steps = [WordsChanged(one.path, "name", one.name, name, one.id) for one in row.runs if one.name != name]
    edits.do(f"Renamed {row.called}" if name else f"Took away the name of {row.called}", steps)
    if not steps and not name:
        tell(NO_NAME)


def ask_note(parent: QWidget, info: SessionInfo | None, edits: Edits) -> None:
    """Ask for the note of a session."""
    if info is None or info.error:
        return
    known = cut_short(info.note, len(info.note))
    answer, accepted = NoteDialog.ask(parent, f"Note on {session_name(info)}", known)
    if accepted and answer != known:
        step = WordsChanged(info.path, "note", info.note, answer, info.id)
        edits.do(f"Changed the note on {session_name(info)}", [step])


def ask_tags(parent: QWidget, chosen: Sequence[SessionRow], edits: Edits) -> None:
    """Ask for tags of all runs of these rows; those of a single row are there to be edited."""
    rows = [row for row in chosen if not row.info.error]
    text = ", ".join(rows[0].info.tags) if len(rows) == 1 else ""
    answer, accepted = LineDialog.ask(parent, "Tags", TAGS_ASKED, text=text) if rows else ("", False)
    if not accepted or answer == text:
        return
    infos = {info.path: info for row in rows for info in row.runs}.values()
    steps = [
        WordsChanged(info.path, "tags", info.tags, after, info.id)
        for info in infos
        if (after := tagged(info, answer, alone=len(rows) == 1)) != info.tags
    ]
    edits.do(f"Tagged {rows_called(rows)}", steps)
