"""Tags of sessions: the choice of one to show by, and what a user's answer makes of a session's."""

from flashscope.app.widgets.plain import button_text
from flashscope.app.widgets.wheel import ChoiceBox
from flashscope.profiles.store import SessionInfo, with_tags

ANY_TAG = "All tags"
TAGS_ASKED = "Tags, separated by commas; one with a minus in front (-old) is taken away"


class TagChooser(ChoiceBox):
    """One tag of those that there are, or any."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Show the sessions with a tag")
        self.addItem(ANY_TAG)

    def chosen(self) -> str:
        """The chosen tag, empty for any."""
        return self.currentData() or ""

    def offer(self, tags: list[str]) -> None:
        """Offer these, the chosen one still chosen; one that is gone is told of as another choice."""
        if [self.itemData(k) for k in range(1, self.count())] == tags:
            return
        kept = self.chosen()
        self.blockSignals(True)
        self.clear()
        self.addItem(ANY_TAG)
        for tag in tags:
            self.addItem(button_text(tag), tag)
        self.setCurrentIndex(tags.index(kept) + 1 if kept in tags else 0)
        self.blockSignals(False)
        if self.chosen() != kept:
            self.currentIndexChanged.emit(self.currentIndex())


def tagged(info: SessionInfo, answer: str, *, alone: bool) -> tuple[str, ...]:
    """The tags of a session after the user has answered: all of a single one's, else what is added or not."""
    said = [tag.strip() for tag in answer.split(",")]
    added = [tag for tag in said if not tag.startswith("-")]
    removed = [tag[1:].strip() for tag in said if tag.startswith("-")]
    return with_tags(() if alone else info.tags, added, removed)
