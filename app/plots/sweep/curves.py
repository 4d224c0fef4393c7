"""The curves of all kernels in one plot: which of them shines, and which is under the pointer."""

from collections.abc import Collection, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF

from flashscope.app.figures.series import Values
from flashscope.app.look.theme import Theme
from flashscope.app.plots.sweep.doubt_marks import DoubtedPoints
from flashscope.app.plots.sweep.kernel_curves import Ending, KernelCurves, Stress

NEAR_PX = 12  # from the pointer to a curve that is meant


class Curves(dict[str, KernelCurves]):
    """The curves by kernel; those of one that is asked for are made when they are not there.

    Attributes:
        hero: The kernel that outshines the others; empty: none does.
        lit: The one that is pointed at, behind which all others stand; empty: none is.
    """

    def __init__(self, plot: pg.PlotWidget, theme: Theme) -> None:
        super().__init__()
        self._plot, self._theme = plot, theme
        self.hero = self.lit = ""

    def __missing__(self, kernel: str) -> KernelCurves:
        made = self[kernel] = KernelCurves(self._plot, kernel, self._theme)
        made.set_stress(self._stress(kernel))
        return made

    def stress(self, hero: str, lit: str) -> None:
        """Let this kernel shine, and all others stand behind the one that is pointed at."""
        self.hero, self.lit = hero, lit
        for kernel, curves in self.items():
            curves.set_stress(self._stress(kernel))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour all."""
        self._theme = theme
        for curves in self.values():
            curves.apply_theme(theme)

    def endings(self, shown: Sequence[str], first: Collection[str]) -> list[Ending]:
        """Where those that are shown end, these first."""
        known = [ending for kernel in shown if (ending := self[kernel].ending()) is not None]
        return sorted(known, key=lambda ending: ending.kernel not in first)

    def doubted(self, shown: Sequence[str]) -> list[DoubtedPoints]:
        """The points that are not trusted of those that are shown, by kernel; those of the hero first."""
        first = sorted(shown, key=lambda kernel: self._stress(kernel) != "hero")
        return [doubted for kernel in first if len((doubted := self[kernel].doubted()).places)]

    def near(self, shown: Sequence[str], position: QPointF) -> str:
        """The kernel whose curve is nearest to a position in the scene; empty: none is near."""
        view = self._plot.getViewBox()
        zero, one = (view.mapViewToScene(QPointF(place, place)) for place in (0, 1))
        scale = np.array([one.x() - zero.x(), one.y() - zero.y()])
        at = np.array([position.x() - zero.x(), position.y() - zero.y()])
        distances = {kernel: _distance(self[kernel].places() * scale, at) for kernel in shown}
        nearest = min(distances, key=distances.__getitem__, default="")
        return nearest if nearest and distances[nearest] <= NEAR_PX else ""

    def _stress(self, kernel: str) -> Stress:
        if self.lit:
            return "hero" if kernel == self.lit else "back"
        return "hero" if kernel == self.hero else "plain"


def _distance(line: Values, at: Values) -> float:
    """From a point to a line through points, (points, 2), all in pixels; infinite where there is no line."""
    line = line[np.isfinite(line).all(axis=1)]
    if not len(line):
        return float("inf")
    starts, steps = line, np.diff(line, axis=0, append=line[-1:])
    lengths = np.maximum((steps**2).sum(axis=1), 1e-12)
    along = np.clip(((at - starts) * steps).sum(axis=1) / lengths, 0, 1)
    return float(np.hypot(*(starts + steps * along[:, None] - at).T).min())
