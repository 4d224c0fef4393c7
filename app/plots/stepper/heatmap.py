"""A tile as coloured cells with their values: the scores S and the weights P."""

import numpy as np
from numpy.typing import NDArray

from flashscope.app.look.theme import Theme
from flashscope.app.plots.stepper.cells import CellFrame, CellIndex, CellPanel
from flashscope.app.plots.stepper.panel import Panel
from flashscope.app.stepper.numbers import brief, number
from flashscope.app.stepper.recording import RecordedFloats
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.inside.tracing import key_words, row_words

__all__ = ["CellIndex", "Heatmap", "ScoreHeatmap", "WeightHeatmap"]


class Heatmap(CellPanel[StepView], Panel):
    """A tile of numbers on a colour scale that stays fixed over the trace."""

    def __init__(self, theme: Theme, name: str, scale: str, digits: int) -> None:
        super().__init__(theme, name, scale, digits)
        set_tip(self, "Click a row to watch it")

    def values(self, view: StepView) -> RecordedFloats | None:
        """The tile (rows, columns); None before it is computed."""
        del view
        return None

    def levels(self, view: StepView) -> tuple[float, float]:
        """The values at the two ends of the colour scale, the same over a whole trace."""
        del view
        return 0.0, 1.0

    def ringed(self, view: StepView) -> NDArray[np.intp] | None:
        """The column to ring in each row, -1 for none; None: no ring."""
        del view
        return None

    def words(self, view: StepView) -> str:
        """The values of the row watched, or why there are none."""
        values = self.values(view)
        if values is None:
            if view.step.merges:
                return "no scores: parts are merged"
            return "not computed yet" if view.started else "no tile loaded yet"
        row = view.local_row or 0
        return ", ".join(brief(float(v), self._digits) for v in values[row])

    def numbers(self, view: StepView) -> list[tuple[int, int, float]]:
        """Each value by its query row and its key; none before they are computed."""
        values = self.values(view)
        if values is None:
            return []
        query, key = view.step.i * view.recording.block_q, view.step.j * view.recording.block_k
        return [(query + row, key + column, float(one)) for (row, column), one in np.ndenumerate(values)]

    def readout(self) -> str:
        """The value under the pointer with its query row and key, empty without one."""
        if self.view is None or self.hovered is None:
            return ""
        values = self.values(self.view)
        row, column = self.hovered
        if values is None or row >= values.shape[0] or column >= values.shape[1]:
            return ""
        step, recording = self.view.step, self.view.recording
        query, key = step.i * recording.block_q + row, step.j * recording.block_k + column
        query_name = row_words(recording.request, query).removeprefix("row ")
        key_name = key_words(recording.trace, key)
        return f"[{query_name}, {key_name}] = {number(float(values[row, column]))}"

    def frame(self, view: StepView) -> CellFrame:
        """The tile, its rows and keys by their numbers, and the row watched."""
        recording, step = view.recording, view.step
        return CellFrame(
            values=self.values(view),
            levels=self.levels(view),
            shape=(recording.rows(step.i), recording.columns(step.j)),
            most=(recording.rows(0), recording.columns(0)),  # of a tile; decoding fills few
            first=(step.i * recording.block_q, step.j * recording.block_k),
            last=recording.seqlen_q,
            empty=self.words(view),
            watched=view.local_row,
            rings=self.ringed(view),
        )


class ScoreHeatmap(Heatmap):
    """S of the current tile: diverging and symmetric about 0, each row's maximum ringed."""

    columns = ("query", "key", "s")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Scores S of the current tile", "CET-CBD1", 1)

    def values(self, view: StepView) -> RecordedFloats | None:
        """S once it is computed."""
        return view.scores

    def levels(self, view: StepView) -> tuple[float, float]:
        """The largest |S| of the whole trace, on both sides of 0."""
        limit = view.recording.score_limit
        return -limit, limit

    def ringed(self, view: StepView) -> NDArray[np.intp] | None:
        """Each row's maximum, once the algorithm has taken it."""
        if view.scores is None or not view.step.reached("maximum"):
            return None
        return np.where(np.isfinite(view.scores).any(axis=1), view.scores.argmax(axis=1), -1)


class WeightHeatmap(Heatmap):
    """P of the current tile on a scale from 0 to 1; to more where m lags and exponents are positive."""

    columns = ("query", "key", "p")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Weights P of the current tile", "cividis", 2)

    def levels(self, view: StepView) -> tuple[float, float]:
        """0, and the largest P that there can be, or that there is in the whole trace where m lags."""
        return 0.0, view.recording.weight_limit

    def values(self, view: StepView) -> RecordedFloats | None:
        """P once it is computed."""
        return view.weights
