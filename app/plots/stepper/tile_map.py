"""A map of the tiles (i, j): those done, the current one, those masked. Q on the left, K and V on top."""

from bisect import bisect_right

from flashscope.app.plots.stepper.panel import Panel
from flashscope.app.plots.stepper.tiles import TilePanel, TilesFrame
from flashscope.app.stepper.step_view import StepView


class TileMap(TilePanel[StepView], Panel):
    """The tiles of a trace.

    Signals:
        tile_chosen: A tile that runs was clicked (its index in running order).
    """

    columns = ("tile", "i", "j")

    def words(self, view: StepView) -> str:
        """Progress in words."""
        now = f"; now i = {view.step.i}, j = {view.step.j}" if view.started else ""
        return f"Tiles: {self._captions(view)[0]}{now}"

    def numbers(self, view: StepView) -> list[tuple[int, int, int]]:
        """The tiles in the order in which they run, masked ones left out."""
        return [(tile, *place) for tile, place in enumerate(view.recording.tile.tolist())]

    def frame(self, view: StepView) -> TilesFrame:
        """The tiles, and the one that runs; while parts are merged, all have run."""
        step, recording = view.step, view.recording
        return TilesFrame(
            order=recording.order_of_tile,
            now=recording.tiles if step.merges else step.tile,
            current=(step.i, step.j) if view.started else None,
            captions=self._captions(view),
        )

    def _captions(self, view: StepView) -> tuple[str, ...]:
        """How far it is, and where it runs, with ever fewer words."""
        done = min(bisect_right(view.cursor.timeline.tile_ends, view.cursor.at), view.recording.tiles)
        masked = int((view.recording.order_of_tile < 0).sum())
        sm = view.recording.trace.sm
        runs = view.started and not view.step.merges  # where parts are merged is not recorded
        place = f" · SM {sm.numpy()[view.step.tile]}" if sm is not None and runs else ""
        told, brief = f"{done} of {view.recording.tiles} done", f"{done} of {view.recording.tiles}"
        if not masked:
            return told + place, brief + place, told
        return f"{told} · {masked} masked ✕{place}", f"{brief} · {masked} ✕{place}", f"{brief} · {masked} ✕"
