"""The results on a stage: the figures of every kernel at one N, side by side."""

from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import Theme
from flashscope.app.pages.instead import elsewhere_text
from flashscope.app.pages.profile.plots_view import PlotsView
from flashscope.app.pages.profile.stage_table import StageTable
from flashscope.app.pages.staging import Staging
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.words.results.headline import headline_text
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.registry import QUANTITIES

USUAL: Sequence[str] = ("runtime", "speed-up", "throughput", "footprint")


class ResultsStaging(Staging):
    """Shows the kernels of the curves on show, in the order of their runtimes.

    Attributes:
        table: What shows them.

    Args:
        controller: Has the session on show.
        plots: The curves; their problems, kernels and crosshair are the table's.
        aside: What is put away.
    """

    def __init__(self, controller: Controller, plots: PlotsView, aside: Sequence[QWidget]) -> None:
        super().__init__("results", controller, aside)
        self._plots, self._quantities = plots, USUAL
        self.table = StageTable()
        self.table.hide()
        plots.drawn.connect(self._write)
        plots.cursor_moved.connect(self._write)

    @property
    def scene(self) -> Scene:
        """The points in the table."""
        plots, kernels = self._plots, self._plots.kernels
        return Scene(plots.rows, plots.seqlen, kernels[-1] if kernels else "", plots.baseline or "")

    @property
    def lack(self) -> str:
        """Where else there is something, if there are no points."""
        return elsewhere_text(self.controller.session)

    @property
    def sentence(self) -> str:
        """The headline."""
        return headline_text(self._plots.headline())

    @property
    def stop(self) -> Stop:
        """The kernels and problems on show at the crosshair's N."""
        plots, scene = self._plots, self.scene
        return replace(
            super().stop,
            quantity=tuple(self._quantities),
            kernels=plots.kernels,
            baseline=scene.baseline,
            curve=plots.curve.label if plots.curve else "",
            seqlen=scene.seqlen,
            sentence=f"At N = {{n}} {scene.kernel} {{fate of {scene.kernel}}}." if scene.kernel else "",
        )

    def show_stop(self, stop: Stop) -> None:
        """Show its kernels at its N, a column for each of its quantities."""
        super().show_stop(stop)
        plots = self._plots
        self._quantities = tuple(QUANTITIES[key].key for key in stop.quantity) or USUAL
        plots.show_curve(stop.curve)
        plots.show_kernels(stop.kernels, stop.baseline)
        if stop.seqlen is not None:
            plots.show_seqlen(stop.seqlen)
        self.table.show()
        self._write()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the table."""
        self.table.apply_theme(theme)

    def leave(self) -> None:
        """Show the table to work with."""
        super().leave()
        self.table.hide()

    def _write(self) -> None:
        if not self.on:
            return
        scene = self.scene
        there = [scene.row(kernel, scene.seqlen) for kernel in self._plots.kernels]
        rows = sorted((row for row in there if row is not None), key=_time)
        base = scene.row(scene.baseline, scene.seqlen)
        quantities = [QUANTITIES[key] for key in self._quantities]
        self.table.show_rows(rows, quantities, base if base is not None and base.done else None)
        self.changed.emit()


def _time(row: PointRow) -> float:
    """By which the fastest come first, and last what has no time."""
    return row.times.median if row.done and row.times is not None else float("inf")
