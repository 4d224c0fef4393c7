"""From a kernel in the form's list to its file being watched: which one, by what, and whether it may run."""

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QMenu, QWidget

from flashscope.app.control.own.shelf import OwnShelf
from flashscope.app.control.own.watch import OwnWatch, WatchAsked
from flashscope.app.pages.own.bringing import Bringing
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import button_text
from flashscope.app.words.own.watching import NOTHING_TO_WATCH
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.own.consent import obstacle_to_run
from flashscope.kernels.own.files import is_there
from flashscope.profiles.plan.request import Request

USUAL = 1024  # N of a version, where the form has it


class WatchStarter(QObject):
    """Asks what has to be asked, and starts.

    Args:
        watch: What watches.
        shelf: Has the kernels.
        bringing: Asks whether one may run.
        request: What the form says.
        parent: A widget of the window that a menu belongs to.

    Signals:
        begun: Something is to be watched, or the view of it is wanted.
        noticed: Why nothing is to be watched (str).
    """

    begun = Signal()
    noticed = Signal(str)

    def __init__(
        self,
        watch: OwnWatch,
        shelf: OwnShelf,
        bringing: Bringing,
        request: Callable[[], Request],
        *,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._watch, self._shelf, self._bringing, self._request = watch, shelf, bringing, request
        self._widget = parent

    def offer(self) -> None:
        """Watch the kernel that there is, let the user choose among several, or show what is watched."""
        there = [one for one in self._shelf.kernels if not one.module and is_there(one)]
        if self._watch.active:
            self.begun.emit()
        elif not there:
            self.begun.emit()
            self.noticed.emit(NOTHING_TO_WATCH)
        elif len(there) == 1:
            self.start(there[0].name)
        else:
            self._choose([one.name for one in there])

    def start(self, name: str) -> None:
        """Watch the kernel of this name, after a question where its code may not run yet."""
        own = self._shelf.find(name)
        if own is not None:
            go_on, again = partial(self._start, name), partial(self.start, name)
            self._bringing.may_run([own], go_on, again, watched=True)

    def _start(self, name: str) -> None:
        own = self._shelf.find(name)
        if own is None:
            return
        self._shelf.register()
        asked = self._request()
        request = replace(asked, kernels=(AUTO,), seqlens=(usual_length(asked.seqlens),))
        self._watch.start(WatchAsked(own, request, tuple(self._others(own))))
        self.begun.emit()

    def _others(self, own: OwnKernel) -> list[str]:
        others = (one for one in self._shelf.kernels if one.name != own.name)
        return [one.name for one in others if not obstacle_to_run(one)]

    def _choose(self, names: list[str]) -> None:
        window = self._widget.window()
        menu = QMenu(window)
        for name in names:
            menu.addAction(button_text(f"Watch {name}"), partial(self.start, name))
        pop_up(menu, window.mapToGlobal(QPoint(window.width() // 3, window.height() // 4)))
        menu.setActiveAction(menu.actions()[0])


def usual_length(seqlens: tuple[int, ...]) -> int:
    """The N of the form that versions are measured at, at first: the largest up to 1k, or its smallest."""
    short = [seqlen for seqlen in seqlens if seqlen <= USUAL]
    return max(short) if short else min(seqlens, default=USUAL)
