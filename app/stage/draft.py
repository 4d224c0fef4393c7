"""A story that is being edited, and every edit of it that can be undone: plain data, changed by nobody."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import fields, replace

from flashscope.app.control.bundled import NAMES
from flashscope.app.stage.story import SHOWN_BY, PageKey, Stop
from flashscope.app.stage.writing import beside

WORDS = ("title", "sentence", "notes")
"""What a stop says; all other fields are what it shows."""


class Draft(msgspec.Struct, frozen=True):
    """A story as it would be written, and which of its stops is looked at.

    Attributes:
        title: What it is called.
        stops: In the order they are walked; there may be none yet.
        at: The stop that is chosen, from 0; of a story without stops 0.
    """

    title: str = ""
    stops: tuple[Stop, ...] = ()
    at: int = 0

    @property
    def stop(self) -> Stop | None:
        """The chosen one."""
        return self.stops[self.at] if self.stops else None

    @property
    def content(self) -> tuple[str, tuple[Stop, ...]]:
        """What is written of it."""
        return self.title, self.stops

    def titled(self, title: str) -> "Draft":
        """Called otherwise."""
        return replace(self, title=title)

    def chosen(self, at: int) -> "Draft":
        """With another stop chosen, the nearest there is."""
        return replace(self, at=max(0, min(at, len(self.stops) - 1)))

    def changed(self, stop: Stop) -> "Draft":
        """With another stop in the place of the chosen one."""
        return self._with(self.at, self.at + 1, [stop])

    def added(self, stop: Stop) -> "Draft":
        """With a stop more behind the chosen one, which is chosen."""
        place = self.at + 1 if self.stops else 0
        return self._with(place, place, [stop]).chosen(place)

    def removed(self) -> "Draft":
        """Without the chosen stop; the next one is chosen."""
        return self._with(self.at, self.at + 1, []).chosen(self.at)

    def moved(self, source: int, place: int) -> "Draft":
        """With a stop in another place, where it is chosen; where there is no such stop or place as it is."""
        if not all(0 <= one < len(self.stops) for one in (source, place)):
            return self
        stops = [*self.stops]
        stops.insert(place, stops.pop(source))
        return replace(self, stops=tuple(stops), at=place)

    def based(self, before: Path, now: Path) -> "Draft":
        """With its sessions named from where another file is."""
        return replace(self, stops=tuple(_based(stop, before, now) for stop in self.stops))

    def _with(self, begin: int, end: int, stops: Sequence[Stop]) -> "Draft":
        return replace(self, stops=(*self.stops[:begin], *stops, *self.stops[end:]))


class History(msgspec.Struct, frozen=True):
    """A draft, and what it was before each edit.

    Attributes:
        now: The draft.
        past: What it was, the oldest first.
        future: What it was before it was undone, the last undone last.
        mark: What the last edit changed, where the next one of the same belongs to it; empty: none does.
    """

    now: Draft
    past: tuple[Draft, ...] = ()
    future: tuple[Draft, ...] = ()
    mark: str = ""

    def do(self, draft: Draft, mark: str = "") -> "History":
        """One edit more; letters typed into one field, by its mark, are one edit. Without a change none."""
        if draft.content == self.now.content:
            return replace(self, now=draft)
        goes_on = bool(mark) and mark == self.mark
        return History(draft, self.past if goes_on else (*self.past, self.now), (), mark)

    def choose(self, at: int) -> "History":
        """Look at another stop, which is no edit; what is typed next is a new one."""
        return replace(self, now=self.now.chosen(at), mark="")

    def pause(self) -> "History":
        """Let what is typed next be a new edit."""
        return replace(self, mark="")

    def based(self, before: Path, now: Path) -> "History":
        """With the sessions of all its drafts named from where another file is, which is no edit."""
        past, future = (
            tuple(one.based(before, now) for one in drafts) for drafts in (self.past, self.future)
        )
        return History(self.now.based(before, now), past, future)

    def undo(self) -> "History":
        """As it was before the last edit; without one as it is."""
        if not self.past:
            return self
        return History(self.past[-1], self.past[:-1], (*self.future, self.now))

    def redo(self) -> "History":
        """As it was before the last undoing; without one as it is."""
        if not self.future:
            return self
        return History(self.future[-1], (*self.past, self.now), self.future[:-1])


def of_page(stop: Stop, page: PageKey) -> Stop:
    """The stop on another page, without what that page does not show."""
    useless = {name for name, pages in SHOWN_BY.items() if page not in pages}
    if page != stop.page:
        useless.add("mode")  # each has its own
    unset = {field.name: field.default for field in fields(stop) if field.name in useless}
    return replace(stop, page=page, **unset)


def showing(stop: Stop, shown: Stop) -> Stop:
    """The stop showing what another one shows; its words stay, and the other's stand where it has none."""
    words = {name: getattr(stop, name) or getattr(shown, name) for name in WORDS}
    looks = {"session", *(name for name, pages in SHOWN_BY.items() if shown.page in pages)}
    looked = {name: getattr(shown, name) for name in looks}
    return replace(of_page(stop, shown.page), **(looked | words))


def as_seen(stop: Stop) -> Stop:
    """The stop without what its audience does not read: two of which these are equal look the same."""
    return replace(stop, title="", notes="")


def _based(stop: Stop, before: Path, now: Path) -> Stop:
    """The stop with its sessions named from where the story is now."""

    def named(session: str) -> str:
        return session if not session or session in NAMES else beside(before.parent / session, now)

    if before.parent == now.parent:
        return stop
    return replace(stop, session=named(stop.session), beside=tuple(map(named, stop.beside)))
