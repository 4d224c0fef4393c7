"""What is found on the Profile page by its name: quantities, and the kernels and problems on show."""

from collections.abc import Callable, Iterator
from functools import partial

from flashscope.app.control.findable import Findable
from flashscope.app.figures.series import kernels_of
from flashscope.app.pages.profile.plots_view import PlotsView
from flashscope.profiles.results.quantities.registry import QUANTITIES


def findables(plots: PlotsView, to_front: Callable[[], None]) -> Iterator[Findable]:
    """Everything that the plots can show.

    Args:
        plots: The plots over N.
        to_front: Brings them to the front.
    """

    def found(kind: str, title: str, choose: Callable[[], None]) -> Findable:
        return Findable(kind, title, partial(_in_turn, to_front, choose))

    for quantity in QUANTITIES.values():
        yield found("quantity", quantity.title, partial(plots.choose_quantity, 0, quantity.key))
    for kernel in kernels_of(plots.rows):
        yield found("kernel", kernel, partial(plots.show_alone, kernel))
    for label in plots.problem_labels:
        yield found("problem", label, partial(plots.show_curve, label))


def _in_turn(*acts: Callable[[], None]) -> None:
    for act in acts:
        act()
