"""The stall profiles that there are: of the session on show, sampled here since, and with the program."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from flashscope.app.control.bundled import stalls_recording
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.pages.ladder.source_diff import PROBLEMS, label_of
from flashscope.app.words.inside.stalls import profile_name
from flashscope.app.words.results.provenance import Provenance, of_kept, of_session
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.stalls import StallProfile
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import SessionFileError, loading
from flashscope.profiles.wire.events import Event, StallsReady


class Shelved(NamedTuple):
    """A profile, and where it is from."""

    profile: StallProfile
    provenance: Provenance


class StallShelf(QObject):
    """Gathers them.

    Attributes:
        kept: Those of the session on show.
        sampled: Those that were sampled here since, and are in no session.
        bundled: Those that come with the program, once they are read.

    Signals:
        changed: There are others now.

    Args:
        controller: Has the session on show, and samples.
        parent: Its owner.
    """

    changed = Signal()

    def __init__(self, controller: Controller, parent: QObject) -> None:
        super().__init__(parent)
        self._controller = controller
        self.kept: Sequence[Shelved] = ()
        self.sampled: list[Shelved] = []
        self.bundled: Sequence[Shelved] = ()
        self.chores = Chores(self)
        controller.stalls.ready.connect(self._take_sampled)
        controller.keeping.kept.connect(self._take_kept)
        controller.jumped.connect(self._take_session)
        controller.session_changed.connect(lambda _session: self._take_session())
        controller.events_arrived.connect(self._take_events)

    def read(self) -> None:
        """Read what comes with the program, and take what the session on show has."""
        self._take_session()
        self.chores.do(read_bundled, self._take_bundled)

    def of(self, kernel: str, label: str) -> list[Shelved]:
        """Those of a kernel on the problems of a label: what was sampled here last, first."""
        there = (*reversed(self.sampled), *reversed(self.kept), *self.bundled)
        return [one for one in there if is_of(one.profile, kernel, label)]

    def beside(self, shelved: Shelved, kernel: str) -> Shelved | None:
        """The profile of another kernel on the same problem and device, of the same place if it can be."""
        there = self.of(kernel, label_of(shelved.profile.request.problem))
        found = [one for one in there if alike(one.profile, shelved.profile, kernel)]
        return min(found, key=lambda one: one.provenance != shelved.provenance, default=None)

    def is_fresh(self, shelved: Shelved) -> bool:
        """Whether it is in no session yet."""
        return any(one.profile is shelved.profile for one in self.sampled)

    def _take_sampled(self, profile: StallProfile) -> None:
        self.sampled.append(Shelved(profile, Provenance("live", "cuda", profile.device)))
        self.changed.emit()

    def _take_kept(self) -> None:
        """The session on show has other profiles now; one that was taken out of it can be kept again."""
        before = self.kept
        self._take_session()
        there = [one.profile for one in self.kept]
        self.sampled += [one for one in before if one.profile not in there]
        self.changed.emit()

    def _take_session(self) -> None:
        session = self._controller.session
        kept = () if session is None else shelved(session)
        profiles = [one.profile for one in kept]
        self.sampled = [one for one in self.sampled if one.profile not in profiles]
        self.kept = kept
        self.changed.emit()

    def _take_events(self, events: Sequence[Event]) -> None:
        if any(isinstance(event, StallsReady) for event in events):
            self._take_session()

    def _take_bundled(self, bundled: Sequence[Shelved]) -> None:
        self.bundled = bundled
        self.changed.emit()


def names_of(there: Sequence[Shelved]) -> list[str]:
    """What a list calls them: with a number where two would be called alike."""
    names = [f"{profile_name(one.profile)} · {one.provenance.kind}" for one in there]
    return [f"{name} ({at + 1})" if names.count(name) > 1 else name for at, name in enumerate(names)]


def shelved(session: Session) -> tuple[Shelved, ...]:
    """The profiles of a session."""
    of = of_session(session, "saved")
    return tuple(Shelved(one, of_kept(of, "cuda", one.device)) for one in session.stalls)


@cache
def read_bundled() -> tuple[Shelved, ...]:
    """Those that come with the program; none where this copy has none."""
    path = stalls_recording()
    if path is None:
        return ()
    try:
        with loading(path) as (session, _readings):
            return shelved(session)
    except SessionFileError:  # another's copy of the program: the other profiles are there all the same
        return ()


def there_with(session: Session | None) -> tuple[Shelved, ...]:
    """All that is there while a session is on show: its own, the last first, and those of the program."""
    own = () if session is None else shelved(session)
    return (*reversed(own), *read_bundled())


def is_of(profile: StallProfile, kernel: str, label: str) -> bool:
    """Whether a profile is of this kernel on the problems of a label."""
    problem = profile.request.problem
    known = label in PROBLEMS and _plain(problem) and label_of(problem) == label
    return known and profile.request.kernel == kernel


def alike(profile: StallProfile, other: StallProfile, kernel: str) -> bool:
    """Whether a profile is of this kernel, on the other's problem and device."""
    asked, device = profile.request, profile.device
    return (asked.kernel, asked.problem, device) == (kernel, other.request.problem, other.device)


def _plain(problem: Problem) -> bool:
    """Whether it has no masks but the causal one, and sequences of one length."""
    return replace(problem, window=None, block_mask=None, page_size=None) == problem and problem.even
