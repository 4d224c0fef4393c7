"""What a user can do on the Profile page, for menus, the palette and keys."""

from functools import partial
from typing import Protocol

from flashscope.app.control.actions import Action, staged
from flashscope.app.pages.own.bringing import Bringing
from flashscope.app.pages.own.watching import WatchStarter
from flashscope.app.pages.profile.bottom import BottomCard
from flashscope.app.pages.profile.plots_view import PlotsView
from flashscope.app.pages.profile.replay_bar import ReplayBar
from flashscope.app.pages.profile.run_chooser import RunChooser
from flashscope.profiles.plan.presets import PRESETS


class Profile(Protocol):
    """Where sweeps are set up, run and watched.

    Attributes:
        plots: The plots over N.
        bottom: Telemetry, results and notes.
        replay: Moves through a replay.
        runs: Leads to the other runs of the plan on show.
        bringing: Brings kernels of the user's own into the form.
        watching: Has one of them measured at each save.
    """

    plots: PlotsView
    bottom: BottomCard
    replay: ReplayBar
    runs: RunChooser
    bringing: Bringing
    watching: WatchStarter

    def run(self) -> None:
        """Start the form's sweep."""

    def run_preset(self, name: str) -> None:
        """Measure a preset's problems."""

    def fit(self) -> None:
        """Follow the data in all plots."""

    def copy_command_line(self) -> None:
        """Put the form's sweep on the clipboard as a command line."""

    def offer_presets(self) -> None:
        """Bring the form to the front, and open its presets."""

    def save_preset(self) -> None:
        """Keep what the form says under a name."""

    def use_session(self) -> None:
        """Fill the form with the parameters of the problems on show."""

    def toggle_form(self) -> None:
        """Open the form, or close it."""

    def new_counted_sweep(self) -> None:
        """Bring the form to the front, which asks for hardware counters then."""

    def new_sweep(self) -> None:
        """Bring the form to the front."""


def offers(page: Profile) -> list[Action]:
    """Everything that the page offers, in the order of the menus."""
    plots, notes, table = page.plots, page.bottom.notes, page.bottom.table
    four, step = plots.four, plots.step_cursor
    return [
        Action("run", "Run the sweep", page.run, "Sweep", "Ctrl+Return; Ctrl+Enter", everywhere=True),
        *staged(
            Action("profile.log", "Logarithmic or linear bytes and times", four.toggle_log, "View", "L"),
            Action("profile.autorange", "Show all in the plots", page.fit, "View", "A"),
            Action("profile.grid", "Show or hide the grid", four.toggle_grid, "View", "G"),
            Action("profile.next", "Crosshair to the next N", partial(step, 1), "View", "Alt+Right"),
            Action("profile.back", "Crosshair to the previous N", partial(step, -1), "View", "Alt+Left"),
        ),
        Action("profile.fill", "Fill the page with one plot, or show all", plots.full.fill, "View", "O"),
        Action("profile.copy", "Copy the sweep as a command line", page.copy_command_line, "Sweep"),
        Action("profile.copy_rows", "Copy the chosen rows of the results", table.copy_rows, "Sweep"),
        Action("profile.presets", "Presets of the form …", page.offer_presets, "Sweep", everywhere=True),
        Action("profile.save_preset", "Save the form as a preset …", page.save_preset, "Sweep"),
        Action("profile.bring", "Bring a kernel …", page.bringing.choose, "Sweep", everywhere=True),
        Action(
            "profile.watch",
            "Watch a kernel of yours …",
            page.watching.offer,
            "Sweep",
            "Ctrl+Shift+W",
            everywhere=True,
        ),
        Action("profile.use", "Use the parameters of this session", page.use_session, "Sweep"),
        Action("profile.new", "New sweep …", page.new_sweep, "Sweep", "Ctrl+N", everywhere=True),
        Action(
            "profile.counted", "New sweep with counters …", page.new_counted_sweep, "Sweep", everywhere=True
        ),
        Action("profile.form", "Show or hide the sweep form", page.toggle_form, "View", "P"),
        Action("profile.runs", "Show another run of this plan", page.runs.open, "View"),
        Action("profile.note_point", "Note on the chosen point", notes.note_point, "Sweep", "Ctrl+B"),
        Action("profile.note_moment", "Note on the chosen moment", notes.note_moment, "Sweep", "Ctrl+M"),
        Action("profile.freeze", "Freeze the telemetry", page.bottom.freeze.toggle, "View", "F"),
        *(
            Action(
                f"profile.preset.{name}",
                f"Run {name}: {preset.about}",
                partial(page.run_preset, name),
                "Sweep",
            )
            for name, preset in PRESETS.items()
        ),
        *page.replay.offered.values(),
    ]
