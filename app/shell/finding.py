"""What the palette finds in a window beside the actions and the glossary."""

from collections.abc import Iterator

from flashscope.app.control.findable import Findable
from flashscope.app.control.session_names import SessionNames
from flashscope.app.shell.pages import Pages
from flashscope.app.shell.presenter.presenter import Stage


class Finding:
    """Sessions, and what the pages have; nothing on a stage, which shows what its story says.

    Attributes:
        sessions: The names of sessions.
    """

    def __init__(self, sessions: SessionNames, pages: Pages, stage: Stage) -> None:
        self.sessions, self._pages, self._stage = sessions, pages, stage

    def findables(self) -> Iterator[Findable]:
        """All there is now; of the pages that have been made."""
        if not self._stage.on:
            yield from self.sessions.findables()
            for page in self._pages.made:
                yield from page.findables()
