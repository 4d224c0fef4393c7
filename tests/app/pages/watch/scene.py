"""A kernel of NumPy arrays that a window watches, over an engine that says what a test scripts."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.control.chores import wait_for_all
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.watch import WatchPage
from flashscope.app.pages.watch.side_by_side import Compared
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.watching.versions import Version
from flashscope.profiles.wire.events import Event, PlanFinished, PointFailed
from tests.app.fakes import SECOND, plan_started, sweep
from tests.app.own_files import PLAIN, python_file
from tests.app.rig import Rig

TEXT = PLAIN.format(idea="whole matrices", beside="")
BROKEN = TEXT.replace("return (p", "return ((p")


class Watched:
    """A window whose kernel is watched.

    Attributes:
        path: The kernel's file.
        page: The view.
    """

    def __init__(self, window: MainWindow, rig: Rig, qtbot: QtBot, folder: Path) -> None:
        self.window, self.rig, self.qtbot = window, rig, qtbot
        window.resize(1280, 720)
        self.path = python_file(folder)
        found = window.pages["watch"]
        assert isinstance(found, WatchPage)
        self.page = found

    @property
    def plans(self) -> list[Plan]:
        """What the engine was asked to run."""
        return self.rig.engine.plans

    def begin(self) -> None:
        """Bring the kernel, watch it, and wait until its first version runs."""
        bring(self.window, self.qtbot, self.path)
        self.window.trigger("profile.watch")
        self.until_planned(1)

    def until_planned(self, count: int) -> None:
        """Wait until the engine has been asked for so many runs."""
        self.until(lambda: len(self.plans) >= count)

    def save(self, text: str) -> None:
        """Save the file with this text."""
        self.path.write_text(text, encoding="utf-8")

    def end(self) -> None:
        """Let what runs end well."""
        self.rig.say(sweep(self.plans[-1]))

    def fail(self, reason: str) -> None:
        """Let the version that runs be wrong."""
        plan = self.plans[-1]
        failed = [
            PointFailed(index=point.index, t_ns=SECOND, status="wrong", reason=reason)
            for point in plan.points()
            if point.kernel == plan.kernels[0]
        ]
        over: list[Event] = [PlanFinished(t_ns=2 * SECOND, outcome="cancelled")]
        self.rig.say([plan_started(plan), *failed, *over])

    def cancelled(self) -> None:
        """Let what runs end because it was cancelled."""
        self.rig.say([plan_started(self.plans[-1]), PlanFinished(t_ns=SECOND, outcome="cancelled")])

    def version(self, number: int) -> Version:
        """A version, once it has ended."""
        self.until(lambda: any(one.version.number == number for one in self.page.watch.told))
        return next(one.version for one in self.page.watch.told if one.version.number == number)

    def save_and_end(self, text: str) -> None:
        """Save the file, and let its version end well."""
        count = len(self.plans)
        self.save(text)
        self.until_planned(count + 1)
        self.end()

    def until(self, reached: Callable[[], bool]) -> None:
        """Wait for something."""
        self.qtbot.waitUntil(reached)

    def compared(self, *numbers: int) -> Compared:
        """What is shown of these versions, once they are on show."""

        def there() -> bool:
            shown = self.page.comparison.shown
            return shown is not None and tuple(one.number for one in shown.versions) == numbers

        self.until(there)
        shown = self.page.comparison.shown
        assert shown is not None
        return shown

    def column(self, title: str) -> list[str]:
        """What stands under a heading of the strip, from top to bottom."""
        model = self.page.table.list
        place = [one.title for one in model.columns].index(title)
        return [model.columns[place].written(model.row_at(row)) for row in range(model.rowCount())]


def bring(window: MainWindow, qtbot: QtBot, *paths: Path) -> None:
    """Bring kernels, and wait until they are in the form."""
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    page.take_kernels(paths)
    wait_for_all(page)
    qtbot.waitUntil(lambda: {one.name for one in page.own.kernels} >= {path.stem for path in paths})
    QApplication.processEvents()


def quick(plan: Plan) -> Plan:
    """A plan of the user's own, beside the watch."""
    return replace(plan, problems=plan.problems[:1])
