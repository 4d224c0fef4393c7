"""What can be done with the chosen sessions: each a button, a line of their menu and an action."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from PySide6.QtWidgets import QPushButton

from flashscope.app.control.actions import Action
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does


class Verb(NamedTuple):
    """One thing to do.

    Attributes:
        key: Its name, also in the list of what to call.
        label: What its button says.
        title: The same in full.
        keys: Its shortcut.
        role: Of its button.
        place: Where it can be done: among the sessions, in the trash, or in both (empty).
    """

    key: str
    label: str
    title: str
    keys: str = ""
    role: str = ""
    place: str = "sessions"

    def is_done(self, place: str) -> bool:
        """Whether it can be done in this place."""
        return self.place in {"", place}

    def tip(self, place: str) -> str:
        """What it does, and where, unless that is here."""
        return self.title if self.is_done(place) else f"{self.title}: {ELSEWHERE[self.place]}"


ELSEWHERE = {"sessions": "not in the trash", "trash": "only in the trash"}
VERBS = (
    Verb("open", "Open", "Open the chosen session", "Return; Enter", "primary", ""),
    Verb("replay", "Replay", "Replay the chosen session", "R", place=""),
    Verb("resume", "Resume", "Resume the chosen session's sweep: measure what is left of its plan"),
    Verb("compare", "Compare", "Compare the chosen sessions", "C", place=""),
    Verb("export", "Export", "Export the chosen sessions, a file each …", "E", place=""),
    Verb("reveal", "Folder", "Show the chosen session's folder", place=""),
    Verb("rename", "Rename", "Rename the chosen session", "F2"),
    Verb("note", "Note", "Edit the chosen session's note", "N"),
    Verb("tag", "Tags", "Tag the chosen sessions", "T"),
    Verb("join", "Join", "Join the chosen sessions: they are runs of one plan, and one row"),
    Verb("copy", "Duplicate", "Duplicate the chosen sessions", "Ctrl+D"),
    Verb("delete", "Delete", "Delete the chosen sessions", "Del"),
    Verb("restore", "Restore", "Restore the chosen sessions", place="trash"),
)
Acts = Mapping[str, Callable[[], None]]


def buttons_of(acts: Acts) -> dict[str, QPushButton]:
    """A button for each, by key."""
    return {
        one.key: does(text_button(one.label, one.title, acts[one.key], one.role), f"sessions.{one.key}")
        for one in VERBS
    }


def actions_of(acts: Acts) -> list[Action]:
    """An action for each."""
    return [Action(f"sessions.{one.key}", one.title, acts[one.key], "Sessions", one.keys) for one in VERBS]
