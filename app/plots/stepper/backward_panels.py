"""The panels of a backward pass: its tiles, P, dP and dS of one, dQ, dK and dV, formulas and algorithm."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from PySide6.QtCore import Signal

from flashscope.app.look.theme import Theme
from flashscope.app.plots.stepper.cells import CellFrame, CellPanel
from flashscope.app.plots.stepper.code_panel import Coded, CodeOf
from flashscope.app.plots.stepper.formula_panel import FormulasOf
from flashscope.app.plots.stepper.tiles import TilePanel, TilesFrame
from flashscope.app.stepper.backward.code import (
    BackwardFormula,
    D,
    backward_formulas,
    backward_lines,
)
from flashscope.app.stepper.backward.recording import Sums, Weights
from flashscope.app.stepper.backward.view import BackwardView
from flashscope.app.stepper.numbers import number
from flashscope.app.stepper.recording import RecordedFloats
from flashscope.app.widgets.plain import set_tip

NAMES: dict[Weights, str] = {"p": "P", "dp": "dP", "ds": "dS"}
SCALES: dict[Weights, str] = {"p": "cividis", "dp": "CET-CBD1", "ds": "CET-CBD1"}
SPLIT = "a launch of its own computes it"


class BackwardTiles(TilePanel[BackwardView]):
    """The tiles of the query head on show, in the launch that is on show."""

    columns = ("tile", "head", "i", "j")

    def words(self, view: BackwardView) -> str:
        """Progress in words."""
        head, i, j = view.place
        now = f"; now head {head}, i = {i}, j = {j}" if view.started else ""
        return f"Tiles: {self._captions(view)[0]}{now}"

    def numbers(self, view: BackwardView) -> list[tuple[int, ...]]:
        """The tiles in the order in which they are told, masked ones left out."""
        return [(tile, *place) for tile, place in enumerate(view.recording.tile.tolist())]

    def frame(self, view: BackwardView) -> TilesFrame:
        """The tiles of the head, and the one that runs."""
        place = view.place
        return TilesFrame(
            order=view.recording.order_of_tile(view.tile),
            now=view.step.tile,
            current=(place.i, place.j) if view.started else None,
            captions=self._captions(view),
        )

    def _captions(self, view: BackwardView) -> tuple[str, ...]:
        """How far all heads are, and where it runs, with ever fewer words."""
        recording = view.recording
        done = min(bisect_right(view.cursor.timeline.tile_ends, view.cursor.at), recording.tiles)
        sm = recording.sm(view.tile) if view.started else None
        place = "" if sm is None else f" · SM {sm}"
        told, brief = f"{done} of {recording.tiles} done", f"{done} of {recording.tiles}"
        masked = int((recording.order_of_tile(view.tile) < 0).sum())
        if not masked:
            return told + place, brief + place, told
        return f"{told} · {masked} masked ✕{place}", f"{brief} · {masked} ✕{place}", f"{brief} · {masked} ✕"


class PairCells(CellPanel[BackwardView]):
    """P, dP or dS of the tile on show.

    Signals:
        pair_chosen: A pair was clicked ((row, key) in the tile).
    """

    pair_chosen = Signal(object)
    columns = ("query", "key", "value")

    def __init__(self, theme: Theme, name: Weights) -> None:
        super().__init__(theme, f"{NAMES[name]} of the current tile", SCALES[name], 2)
        self.name = name
        self.row_chosen.connect(self._choose)
        set_tip(self, "Click a pair to have its numbers in the formulas")

    def words(self, view: BackwardView) -> str:
        """The numbers of the row that is watched, or why there are none."""
        values = view.weights(self.name)
        if values is None:
            return "not computed yet" if view.started else "no tile loaded yet"
        return ", ".join(number(float(one)) for one in values[view.pair[0]])

    def numbers(self, view: BackwardView) -> list[tuple[int, int, float]]:
        """Each value by its query and its key; none before they are computed."""
        values = view.weights(self.name)
        if values is None:
            return []
        query, key = (one.start for one in view.area)
        return [(query + row, key + column, float(one)) for (row, column), one in np.ndenumerate(values)]

    def frame(self, view: BackwardView) -> CellFrame:
        """The tile, its queries and keys by their numbers, and the row of the pair."""
        recording = view.recording
        rows, keys = view.area
        asked = recording.request_at(view.tile)
        first_rows, first_keys = asked.area(0, 0)
        top = recording.limit(self.name)
        return CellFrame(
            values=view.weights(self.name),
            levels=(0.0, max(1.0, top)) if self.name == "p" else (-top, top),
            shape=(rows.stop - rows.start, keys.stop - keys.start),
            most=(first_rows.stop, first_keys.stop),
            first=(rows.start, keys.start),
            last=asked.problem.seqlen_q,
            empty=self.words(view) if view.weights(self.name) is None else "",
            watched=view.pair[0] if view.started else None,
        )

    def readout(self) -> str:
        """The value under the pointer with its query and key, empty without one."""
        values = None if self.view is None else self.view.weights(self.name)
        if self.view is None or values is None or self.hovered is None:
            return ""
        row, column = self.hovered
        if row >= values.shape[0] or column >= values.shape[1]:
            return ""
        query, key = (one.start for one in self.view.area)
        return f"[{query + row}, {key + column}] = {number(float(values[row, column]))}"

    def _choose(self, row: int) -> None:
        column = 0 if self.hovered is None else self.hovered[1]
        self.pair_chosen.emit((row, column))


class SumCells(CellPanel[BackwardView]):
    """dQ of the tile's queries, or dK or dV of its keys: the rows, by the d components."""

    headed: ClassVar[dict[Sums, str]] = {"dq": "query", "dk": "key", "dv": "key"}

    def __init__(self, theme: Theme, name: Sums) -> None:
        super().__init__(theme, f"{D[name]} of the current tile", "CET-CBD1", 2)
        self.name = name
        set_tip(self, "Rows by components; without the scale until it is written")

    def headings(self, view: BackwardView) -> Sequence[str]:
        """Rows are queries or keys."""
        del view
        return self.headed[self.name], "component", "value"

    columns = ("row", "component", "value")

    def words(self, view: BackwardView) -> str:
        """Component 0 of every row, or why there is none."""
        values = view.sums(self.name)
        return self._why(view) if values is None else ", ".join(number(float(row[0])) for row in values)

    def numbers(self, view: BackwardView) -> list[tuple[int, int, float]]:
        """Each component by its row; none before they are computed."""
        values = view.sums(self.name)
        if values is None:
            return []
        first = self._span(view).start
        return [(first + row, column, float(one)) for (row, column), one in np.ndenumerate(values)]

    def frame(self, view: BackwardView) -> CellFrame:
        """The rows by their numbers, and the one of the pair that is watched."""
        span, values = self._span(view), view.sums(self.name)
        asked, width = view.recording.request_at(view.tile), view.recording.trace.request.problem.head_dim
        first = asked.area(0, 0)[self._axis]
        top = view.recording.limit(self.name)
        return CellFrame(
            values=values,
            levels=(-top, top),
            shape=(span.stop - span.start, width),
            most=(first.stop, width),
            first=(span.start, 0),
            last=(asked.problem.seqlen_q, asked.problem.seqlen_k)[self._axis],
            empty=self._why(view) if values is None else "",
            watched=view.pair[self._axis] if view.started else None,
        )

    def readout(self) -> str:
        """The value under the pointer with its row and component, empty without one."""
        values: RecordedFloats | None = None if self.view is None else self.view.sums(self.name)
        if self.view is None or values is None or self.hovered is None:
            return ""
        row, column = self.hovered
        if row >= values.shape[0] or column >= values.shape[1]:
            return ""
        return f"[{self._span(self.view).start + row}, {column}] = {number(float(values[row, column]))}"

    @property
    def _axis(self) -> int:
        return 0 if self.name == "dq" else 1

    def _span(self, view: BackwardView) -> slice:
        return view.area[self._axis]

    def _why(self, view: BackwardView) -> str:
        if not view.started:
            return "no tile loaded yet"
        return "not added yet" if view.recording.has(self.name, view.tile) else SPLIT


class BackwardFormulas(FormulasOf[BackwardView]):
    """The formulas of the pair that is watched, and of what its tile adds to."""

    def told(self, view: BackwardView) -> list[BackwardFormula]:
        """Its formulas; none before the first tile."""
        return backward_formulas(view)

    def idle(self, view: BackwardView) -> str:
        """What there is before the first tile."""
        del view
        return "Before the first tile:; dQ = 0,  dK = 0,  dV = 0"


class BackwardCode(CodeOf[BackwardView]):
    """All lines of the launches."""

    def coded(self, view: BackwardView) -> list[Coded]:
        """Those of the kernel on show."""
        apart = view.started and view.recording.apart(view.tile)
        code = backward_lines(view.recording)
        return [Coded(line.depth, line.text, line.active(view.step, apart=apart)) for line in code]
