"""Whether the place is right: the screen, the letters on it, that it stays on, and that nothing else runs."""

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication

from flashscope.app.look.theme import CAPTION_PX
from flashscope.app.shell.presenter.awake import why_not_awake
from flashscope.app.shell.presenter.venue import zoom_on
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import ProbeFinding
from flashscope.profiles.wire.events import Reading

SMALLEST = QSize(1280, 720)
LARGE = 1080  # pixels of height from which letters have 20 pt
POINTS = {False: 18, True: 20}  # the least of the smallest letters, on a screen so high or higher
POINTS_IN_PX = 0.75  # at 96 dots an inch
BUSY: dict[Backend, float] = {"cuda": 10.0, "cpu": 50.0}  # percent: what a desktop takes is less


def screen_findings() -> list[ProbeFinding]:
    """Of the audience's screen; needs a QGuiApplication."""
    speaker = QGuiApplication.primaryScreen()
    audience = next((one for one in QGuiApplication.screens() if one is not speaker), speaker)
    room = audience.geometry().size()
    dots = f"{room.width()} × {room.height()}"
    apart = "the second screen" if audience is not speaker else "the one screen: notes are on N"
    fits = room.expandedTo(SMALLEST) == room
    found = [
        ProbeFinding(
            name="Screen",
            ok=fits,
            detail=f"{dots}, scale {100 * audience.devicePixelRatio():.0f}%, {apart}",
            remedy="" if fits else "Choose 1280 × 720 or more, or a smaller scale, in the system's settings.",
        )
    ]
    return [*found, letters_finding(room), awake_finding(why_not_awake())]


def letters_finding(room: QSize) -> ProbeFinding:
    """How large the smallest letters are on a screen of so many pixels."""
    points = CAPTION_PX * zoom_on(room.height()) / 100 * POINTS_IN_PX
    least = POINTS[room.height() >= LARGE]
    return ProbeFinding(
        name="Letters",
        ok=points >= least,
        detail=f"the smallest have {points:.0f} pt, {least} pt at least",
        remedy="" if points >= least else "Choose a larger screen.",
    )


def awake_finding(why: str) -> ProbeFinding:
    """Whether the display stays on; why it cannot be asked to."""
    if not why:
        return ProbeFinding(name="Display", ok=True, detail="stays on while something is presented")
    remedy = "Switch screen saver and power saving off in the system's settings."
    return ProbeFinding(name="Display", ok=False, detail=f"may go dark: {why}", remedy=remedy)


def idle_finding(readings: Sequence[Reading], *, sweeps: bool, backend: Backend) -> ProbeFinding:
    """Whether nothing else runs on the device.

    Args:
        readings: Of the last second or so.
        sweeps: Whether a sweep of this program runs.
        backend: Whose device it is.
    """
    if sweeps:
        remedy = "Wait for its end, or cancel it."
        return ProbeFinding(name="Device", ok=False, detail="a sweep runs", remedy=remedy)
    busy = [reading.utilisation for reading in readings if reading.utilisation is not None]
    if busy and min(busy) > BUSY[backend]:
        remedy = "End what runs on it, or figures measured on stage will be off."
        return ProbeFinding(name="Device", ok=False, detail=f"is {min(busy):.0f}% busy", remedy=remedy)
    return ProbeFinding(name="Device", ok=True, detail="nothing else runs on it")
