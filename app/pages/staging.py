"""What a page does on a stage: it puts away what is there to work with, and shows what a stop names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Generic, TypeVar, cast, get_args

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import Theme
from flashscope.app.stage.scene import Scene, scene_of
from flashscope.app.stage.story import PageKey, Stop
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.yielding import Yielding
from flashscope.app.words.results.provenance import Provenance
from flashscope.app.words.results.sessions import named

P = TypeVar("P")


class Staging(QObject):
    """What a page does on a stage that shows there what it shows elsewhere; subclasses do more.

    Attributes:
        on: Whether it is on a stage now.
        pointed: Whether the pointer moves what a sentence speaks of, and what it is on stands out.
        beside: The files of what a stop compares with its session.

    Signals:
        changed: The scene is another one.
        left: It is no longer on a stage.

    Args:
        key: The page's name.
        controller: Has the session on show.
        aside: What is put away.
        cards: What stands without its frame there.
    """

    changed = Signal()
    left = Signal()

    def __init__(
        self,
        key: str,
        controller: Controller,
        aside: Sequence[QWidget] = (),
        cards: Sequence[Card] = (),
    ) -> None:
        super().__init__()
        self.controller = controller
        self._key, self._aside, self._cards = key, aside, cards
        self._away: list[QWidget] = []
        self.on, self.pointed = False, True
        self.beside: Sequence[Path] = ()

    @property
    def possible(self) -> bool:
        """Whether the page has anything for a stage."""
        return self._key in get_args(PageKey)

    @property
    def compared(self) -> Sequence[Path]:
        """The files of what is compared, the baseline first; none where nothing is."""
        return ()

    @property
    def lack(self) -> str:
        """Why there is nothing to present of what is on show, in a sentence; empty: there is something."""
        return ""

    @property
    def settled(self) -> bool:
        """Whether all that was asked for is there, beside what the page draws and reads in the background."""
        return True

    @property
    def scene(self) -> Scene:
        """What a sentence may speak of."""
        return scene_of(self.controller.session, self.controller.seqlen)

    @property
    def sentence(self) -> str:
        """What the page itself has to say of it, where a stop says nothing."""
        return ""

    @property
    def provenance(self) -> Provenance:
        """Where the figures on show come from, for the badge."""
        return self.controller.provenance

    @property
    def source(self) -> str:
        """What is on show in a line: the session's name."""
        session, path = self.controller.session, self.controller.path
        return named(session, path) if session is not None and path is not None else ""

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """What may fill the stage alone."""
        return ()

    @property
    def stop(self) -> Stop:
        """What is on show as a stop of a story."""
        return Stop(cast("PageKey", self._key))

    @property
    def as_shown(self) -> Stop:
        """What is on show as it is presented without a story: the view says itself what there is to say."""
        return replace(self.stop, sentence="")

    def show_stop(self, stop: Stop) -> None:
        """Show what a stop names, and no more."""
        del stop
        self.on = True
        self.follow_pointer(False)
        self._away += [part for part in self._aside if not part.isHidden()]
        for part in self._away:
            part.hide()
        self._take_stage(on=True)

    def take_cards(self, cards: Sequence[Card]) -> None:
        """Let these stand without their frames on a stage, in place of those before, and with them elsewhere.

        One that the stage did not show to its end had still to be given its frame back.
        """
        self._cards = cards
        self._take_stage(on=self.on)

    def _take_stage(self, *, on: bool) -> None:
        """Have one ground behind all of the page, and its plots take the room there is."""
        page = self.parent()
        if not isinstance(page, QWidget):
            return
        for card in (page, *self._cards):
            if bool(card.property("stage")) is not on:
                card.setProperty("stage", on)
                card.style().unpolish(card)
                card.style().polish(card)
        for drawn in page.findChildren(Yielding):
            drawn.take_any_room(on)

    def follow_pointer(self, pointed: bool) -> None:
        """Let the pointer move what a sentence speaks of, or not: a hand on the mouse says nothing."""
        self.pointed = pointed
        page = self.parent()
        if not isinstance(page, QWidget):
            return
        if bool(page.property("still")) is pointed:
            page.setProperty("still", not pointed)
            for button in page.findChildren(QPushButton):
                if button.property("role") == "legend":
                    button.style().unpolish(button)
                    button.style().polish(button)
        for drawn in page.findChildren(Yielding):
            drawn.let_go()

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Let one of the exhibits fill the stage; None: show all of them."""
        del exhibit

    def apply_theme(self, theme: Theme) -> None:
        """Recolour what only a stage shows."""

    def leave(self) -> None:
        """Show all there is to work with again."""
        for part in self._away:
            part.show()
        self._take_stage(on=False)
        self._away, self.on = [], False
        self.follow_pointer(True)
        self.left.emit()


class PageStaging(Staging, Generic[P]):
    """What a page does there that shows a few figures, any of which may fill the stage.

    Args:
        key: The page's name.
        page: What shows them.
        controller: Has the session on show.
        aside: What is put away.
    """

    def __init__(self, key: str, page: P, controller: Controller, aside: Sequence[QWidget]) -> None:
        super().__init__(key, controller, aside)
        self._page = page

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one of the figures, or all of them."""
        for one in self.exhibits:
            one.setVisible(exhibit in {None, one})
