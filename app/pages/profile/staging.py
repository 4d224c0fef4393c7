"""The Profile page on a stage: its plots with a legend, without form, table and panel."""

from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.look.theme import DARK, Theme
from flashscope.app.pages.compare.legend import KernelLegend
from flashscope.app.pages.instead import elsewhere_text
from flashscope.app.pages.profile.plots_view import PlotsView
from flashscope.app.pages.staging import Staging
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.words.results.headline import brief_text
from flashscope.profiles.results.quantities.registry import QUANTITIES

UPPER_ROW = 2  # plots that a stop has which names none


class ProfileStaging(Staging):
    """Shows one to four of the plots.

    Attributes:
        legend: Which curve is whose.

    Args:
        controller: Has the session on show.
        plots: The four plots.
        aside: What is put away beside their panel.
    """

    def __init__(self, controller: Controller, plots: PlotsView, aside: Sequence[QWidget]) -> None:
        exports = [card.export_button for card in plots.cells]
        super().__init__("profile", controller, [*aside, plots.panel, *exports], plots.cells)
        self._plots = plots
        self._shown: Sequence[SweepCard] = ()
        self._before: list[str] = []  # what the plots showed before the stage
        self.legend = KernelLegend(DARK)
        self.legend.hide()
        self.legend.toggled.connect(plots.panel.kernel_toggled)
        plots.cursor_moved.connect(self.changed)
        plots.drawn.connect(self._follow)

    @property
    def scene(self) -> Scene:
        """The curve on show, where the crosshair stands."""
        plots = self._plots
        kernels = plots.kernels
        return Scene(plots.rows, plots.seqlen, kernels[-1] if kernels else "", plots.baseline or "")

    @property
    def lack(self) -> str:
        """Where else there is something, if there are no points."""
        return elsewhere_text(self.controller.session)

    @property
    def sentence(self) -> str:
        """The headline, and what a user should know of it."""
        return brief_text(self._plots.headline())

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The plots."""
        return self._shown

    @property
    def stop(self) -> Stop:
        """The upper plots, or those that are on the stage; the sentence is on the headline's kernel."""
        plots, scene = self._plots, self.scene
        shown = self._shown or plots.cells[:UPPER_ROW]
        told = plots.headline()
        kernel = (told.kernel if told is not None else "") or scene.kernel
        base = scene.baseline if scene.baseline != kernel else ""
        compared = f" Beside {base}: {{runtime of {kernel} against {base}}}." if base else ""
        return replace(
            super().stop,
            quantity=tuple(card.quantity.key for card in shown),
            kernels=plots.kernels,
            baseline=scene.baseline,
            curve=plots.curve.label if plots.curve else "",
            seqlen=scene.seqlen,
            sentence=f"At N = {{n}} {kernel} {{fate of {kernel}}}.{compared}" if kernel else "",
        )

    @property
    def as_shown(self) -> Stop:
        """The same; at an N that nobody chose the crosshair goes on with what is measured."""
        stop = super().as_shown
        return stop if self._plots.kept.seqlen is not None else replace(stop, seqlen=None)

    def show_stop(self, stop: Stop) -> None:
        """Show its quantities, kernels and problems, the crosshair where it says."""
        self._plots.full.back()
        if not self.on:
            self._plots.four.hold_still(True)
        super().show_stop(stop)
        keys = [card.quantity.key for card in self._plots.cells]
        self._before = self._before or keys
        wanted = [QUANTITIES[key].key for key in stop.quantity] or self._before[:UPPER_ROW]
        self._shown = self._plots.cells[: len(wanted)]
        self._plots.show_quantities(
            [*wanted, *(key for key in self._before if key not in wanted)][: len(keys)]
        )
        self._plots.show_curve(stop.curve)
        self._plots.show_kernels(stop.kernels, stop.baseline)
        if stop.seqlen is not None:
            self._plots.show_seqlen(stop.seqlen)
        self.fill_with(None)
        self.legend.show()
        self._title(on_stage=True)

    def follow_pointer(self, pointed: bool) -> None:
        """Let the crosshair go with the pointer, or not."""
        super().follow_pointer(pointed)
        self._plots.follows_pointer = pointed

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one plot, or all of the stop."""
        self._plots.full.stand([card for card in self._shown if exhibit in {None, card}])

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the legend."""
        self.legend.apply_theme(theme)

    def _follow(self) -> None:
        """Name the curves that are drawn."""
        self.legend.show_kernels(self._plots.kernels, ())
        self.changed.emit()

    def _title(self, *, on_stage: bool) -> None:
        for card in self._plots.cells:
            card.chooser.take_stage(on=on_stage)

    def leave(self) -> None:
        """Show the four plots as they were."""
        super().leave()
        self._plots.four.hold_still(False)
        if self._before:
            self._plots.show_quantities(self._before)
            self._plots.full.restore()
        self.legend.hide()
        self._title(on_stage=False)
        self._before, self._shown = [], ()
