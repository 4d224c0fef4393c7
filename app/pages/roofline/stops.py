"""What a stop of a story may say of a roofline: its kernels' points, at the longest N that has a place."""

from collections.abc import Collection, Sequence

from flashscope.app.figures.series import kernels_of
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.registry import favoured_baseline
from flashscope.profiles.results.theory.roofline import Spot, roofline

NONE = "No point has a place under the roofline: nothing tells its bytes."


def scene_of_spots(spots: Sequence[Spot], kernels: Collection[str], planned: tuple[str, ...]) -> Scene:
    """What a sentence may speak of while the points of these kernels, of those planned, are on show."""
    there = [spot.row for spot in spots if spot.placed]
    placed = [row for row in there if row.kernel in kernels]
    if not placed:
        return Scene(waiting=NONE)
    longest = max(row.seqlen for row in placed)
    return Scene(there, longest, kernels_of(placed)[-1], favoured_baseline(planned) or "")


def fastest_first(spots: Sequence[Spot], kernels: Collection[str]) -> list[Spot]:
    """The points of these kernels at the longest N that has a place, those of the highest rate first."""
    placed = [spot for spot in spots if spot.placed and spot.row.kernel in kernels]
    longest = max((spot.row.seqlen for spot in placed), default=0)
    return sorted((spot for spot in placed if spot.row.seqlen == longest), key=lambda one: -one.tflops)


def roofline_scene(stop: Stop, members: Sequence[PointRow], planned: tuple[str, ...]) -> Scene:
    """The same of a stop, from the points of one curve."""
    spots, there = roofline(members, {}).spots, kernels_of(members)
    return scene_of_spots(spots, [kernel for kernel in there if kernel in stop.kernels] or there, planned)
