"""What the user looks at of the session on show, the same in every view."""

from collections.abc import Collection
from functools import partial

from PySide6.QtCore import QObject, Signal

from flashscope.profiles.results.model.curves import Curve


class Selection(QObject):
    """What is chosen once and shown so everywhere.

    Attributes:
        point: Index of the chosen point, None for none.
        spoken_of: Index of the point that the sentence over the plots speaks of, None for none.
        seqlen: The sequence length that the user looks at, None before the first.
        curve: The problems on show, None before any was drawn.
        hidden: The kernels that no view shows.

    Signals:
        point_chosen: Another point is chosen (int).
        seqlen_chosen: The user looks at this sequence length, in whichever view (int).
        curve_chosen: Other problems are on show (Curve).
        kernels_hidden: Other kernels are hidden (frozenset of str).
    """

    point_chosen = Signal(int)
    seqlen_chosen = Signal(object)  # N, which may be beyond a C int
    curve_chosen = Signal(object)
    kernels_hidden = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.choose_nothing()
        self.seqlen_chosen.connect(partial(setattr, self, "seqlen"))

    def choose_nothing(self) -> None:
        """Begin anew, as with another session; nothing is told of it."""
        self.point: int | None = None
        self.spoken_of: int | None = None
        self.seqlen: int | None = None
        self.curve: Curve | None = None
        self.hidden: frozenset[str] = frozenset()

    def choose_point(self, index: int) -> None:
        """Choose a point in every view."""
        if index != self.point:
            self.point = index
            self.point_chosen.emit(index)

    def choose_curve(self, curve: Curve | None) -> None:
        """Show these problems in every view."""
        if curve is not None and curve != self.curve:
            self.curve = curve
            self.curve_chosen.emit(curve)

    def hide_kernels(self, hidden: Collection[str], among: Collection[str]) -> None:
        """Hide these of some kernels in every view, and show the others of them."""
        wanted = (self.hidden - frozenset(among)) | frozenset(hidden)
        if wanted != self.hidden:
            self.hidden = wanted
            self.kernels_hidden.emit(wanted)
