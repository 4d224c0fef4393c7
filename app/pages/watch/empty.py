"""What the view says before anything is watched."""

from functools import partial

from PySide6.QtCore import Signal

from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.keyed import does
from flashscope.app.words.own.watching import HOW_TO_WATCH, WHAT_IS_WATCHED

WATCH, BRING = "profile.watch", "profile.bring"
WAYS = (
    ("Watch a kernel of yours", "Watch a kernel of yours", WATCH, "primary"),
    ("Bring a kernel …", "Bring a kernel of yours", BRING, ""),
)


class EmptyWatch(EmptyView):
    """Words and buttons.

    Signals:
        wanted: Do this action of another page (str).
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(WHAT_IS_WATCHED, HOW_TO_WATCH)
        for text, name, key, role in WAYS:
            self.add(does(text_button(text, name, partial(self.wanted.emit, key), role), key))
