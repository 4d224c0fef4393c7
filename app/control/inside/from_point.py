"""From a point of the session on show to what is inside its kernel, and back."""

from PySide6.QtCore import QObject, Signal


class Insides(QObject):
    """Tells the views of Inside what they are to show of a point, and when they are left for it again.

    Attributes:
        origin: The view that a point was looked at in, by its key; empty: there is no way back.
        coming: Whether a point is asked for as soon as the view that comes is there: it need not ask itself.

    Signals:
        trace_asked: A point is to be stepped through (PointTrace).
        backward_asked: A point's backward pass is to be stepped through (PointBackward).
        timeline_asked: A timeline is to be recorded of a point (PointTimeline).
        back_wanted: The view before is wanted again.
        left: It is there again: what was shown of the point goes.
    """

    trace_asked = Signal(object)
    backward_asked = Signal(object)
    timeline_asked = Signal(object)
    back_wanted = Signal()
    left = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.origin = ""
        self.coming = False
