"""One lane: what a kernel has in memory and on the chip, what goes between them, and what went so far."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from flashscope.app.look.kernel_marks import KERNEL_MARKS, OTHER_MARK
from flashscope.app.look.theme import Theme
from flashscope.app.plots.stepper.held import draw_arrow, draw_chips
from flashscope.app.plots.stepper.ink import Role, mix, on_fill, role_ink
from flashscope.app.plots.stepper.lane_memory import LaneMemory
from flashscope.app.plots.stepper.panel import SMALL, Panel, put, put_first, width_of
from flashscope.app.stepper.lane_state import RowNow, WholeMatrices, tiled_row
from flashscope.app.stepper.lanes import KernelLane, LaneKey, StandardLane
from flashscope.app.stepper.lock_step import LockStep
from flashscope.app.stepper.numbers import number, plain
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.words.units import bytes_text, traffic_text

UNKNOWN = "–"
WAITING = "m, ℓ, O: the trace is being recorded", "trace is being recorded", UNKNOWN
NO_TRACE = "m, ℓ, O: there is no trace", "no trace", UNKNOWN
STAYS = "S and P never leave the chip", "S and P stay on the chip"
DOES = {
    "start": "about to begin",
    "scores": "S = QKᵀ",
    "softmax": "P = softmax(S)",
    "output": "O = PV",
}
KEEPS = "keeps O"
DOES_TILED = {
    "start": "about to begin",
    "load": "loads",
    "scores": "S = QKᵀ",
    "maximum": "m′ = max(m, S)",
    "weights": "P = exp(S − m′)",
    "output": "O += PV",
    "write": "writes back",
}
LINES = {"between": 4.3, "chip": 3.8, "row": 1.5, "counter": 3.7}  # of captions, that each band is high
SHORT_LINES = {"between": 2.0, "chip": 3.2, "row": 0.0, "counter": 2.4}  # where there is little room
LEAST_MEMORY = 8.0  # of captions, that the memory has where there is no lack of room
EDGE = 10  # pixels from the edge of a box to what is in it


class Surroundings(NamedTuple):
    """What is around a lane.

    Attributes:
        memory: What the arrays are in.
        chip: What a tile is computed in.
        room: How much that holds, in words; empty: not known.
    """

    memory: str = "HBM"
    chip: str = "SRAM"
    room: str = ""


class Bands(NamedTuple):
    """Where the parts of a lane lie, from top to bottom."""

    memory: QRectF
    between: QRectF
    chip: QRectF
    row: QRectF
    counter: QRectF


class LanePanel(Panel):
    """What one kernel does at a step.

    Attributes:
        key: Which kernel.
        setting: What is around it.
        story: The trace that its state is from, with the steps of all lanes; None: there is none yet.
        whole: Whole S and P, which standard has in memory.
        memory: Paints what is in memory.
    """

    def __init__(self, theme: Theme, key: LaneKey) -> None:
        super().__init__(theme, f"Lane of {key}")
        self.key = key
        self.setting = Surroundings()
        self.story: SteppedTrace | None = None
        self._missing = WAITING
        self.whole: WholeMatrices | None = None
        self.memory = LaneMemory(self)

    def take_story(self, story: SteppedTrace | None) -> None:
        """Show the state of another trace; None: there is none yet."""
        self.story, self._missing = story, WAITING
        self.memory.recording = story.recording if story is not None else None

    def give_up(self) -> None:
        """Say that no trace will come."""
        self._missing = NO_TRACE

    def words(self, view: StepView) -> str:
        """What it does, holds and has moved; what is a model says so."""
        lane, at = self._lane(view), view.cursor.at
        held, moving = lane.on_chip(at), lane.moving(at)
        names = ", ".join(plain(array.label) for array in held) or "nothing"
        used = bytes_text(sum(array.nbytes for array in held))
        stored = ", ".join(
            f"{one.label} {bytes_text(one.filled)}{'' if one.filled == one.nbytes else ' so far'}"
            for one in lane.stored(at)
            if one.filled
        )
        doing = " ".join(filter(None, (f"{self.activity(view)}.", self.passing(view))))
        return (
            f"{self.key}: {doing} On {self.setting.chip}: {names}, {used}{self._of_room}. "
            f"In {self.setting.memory}: {stored}. This step reads {traffic_text(moving.read)} and writes "
            f"{traffic_text(moving.written)}; so far {traffic_text(lane.moved(at).total)} of "
            f"{traffic_text(lane.total)} (model). {self._row_words(view)}."
        )

    def does(self, view: StepView) -> str:
        """What it does at the step."""
        lane, at = self._lane(view), view.cursor.at
        phase = lane.place(at).phase
        if isinstance(lane, StandardLane):
            return DOES[phase]
        return KEEPS if phase == "write" and not lane.moving(at).written else DOES_TILED[phase]

    def activity(self, view: StepView) -> str:
        """What it does at the step, and in which tile."""
        lane = self._lane(view)
        place = lane.place(view.cursor.at)
        if place.tile < 0:
            return self.does(view)
        half = f": {'writes' if place.writes else 'reads'}" if isinstance(lane, StandardLane) else ""
        return f"{self.does(view)}, tile {place.i},{place.j}{half}"

    def passing(self, view: StepView) -> str:
        """Where a matrix of standard leaves or comes back in this tile; empty in other lanes."""
        return _story(view).remark(view.cursor.at, self.setting.memory) if self.key == "standard" else ""

    def draw(self, painter: QPainter, view: StepView) -> None:
        """Paint the memory on top, the chip below it, and what went between them."""
        lane, bands = self._lane(view), self._bands()
        self._draw_memory(painter, view, lane, bands.memory)
        self._draw_between(painter, view, lane, bands.between)
        self._draw_chip(painter, view, lane, bands.chip)
        painter.setFont(self.sized(SMALL))
        if bands.row.height():
            put_first(painter, bands.row, self._row_texts(view), self.theme.dim)
        self._draw_counter(painter, view, lane, bands.counter)

    def _lane(self, view: StepView) -> KernelLane:
        return _story(view).lanes[self.key]

    @property
    def short(self) -> bool:
        """Whether there is so little height that the row is left out, and what passes takes turns."""
        return self.height() < (sum(LINES.values()) + LEAST_MEMORY) * self.unit()

    @property
    def _of_room(self) -> str:
        return f" of {self.setting.room}" if self.setting.room else ""

    def _bands(self) -> Bands:
        unit, width = self.unit(), float(self.width())
        lines_of = SHORT_LINES if self.short else LINES
        top = max(self.height() - sum(lines_of.values()) * unit, 4.0 * unit)
        rects = [QRectF(0, 0, width, top)]
        for lines in lines_of.values():
            rects.append(QRectF(0, rects[-1].bottom(), width, lines * unit))
        return Bands(*rects)

    def _draw_memory(self, painter: QPainter, view: StepView, lane: KernelLane, rect: QRectF) -> None:
        at = view.cursor.at
        held = bytes_text(sum(one.filled for one in lane.stored(at)))
        body = self._draw_box(painter, rect, self.theme.line, self.setting.memory, (f"{held} held", held))
        largest = max(one.nbytes for other in _story(view).lanes.values() for one in other.stored(0))
        self.memory.draw(painter, lane, at, body, largest)

    def _draw_chip(self, painter: QPainter, view: StepView, lane: KernelLane, rect: QRectF) -> None:
        held, room = lane.on_chip(view.cursor.at), self.setting.room
        used = bytes_text(sum(array.nbytes for array in held))
        told = [f"{used} / {limit}" for limit in (room, room.partition(" (")[0])] if room else [used]
        body = self._draw_box(painter, rect, self.theme.accent, self.setting.chip, told)
        draw_chips(painter, self.theme, held, body)

    def _draw_box(self, painter: QPainter, rect: QRectF, line: str, name: str, told: Sequence[str]) -> QRectF:
        """Paint a memory with its name on the left and what it holds on the right; gives the room in it."""
        painter.setPen(QPen(QColor(line), 1))
        painter.setBrush(QBrush(mix(self.theme.raised, self.theme.panel, 0.2)))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        head = QRectF(rect.left() + EDGE, rect.top() + 3, rect.width() - 2 * EDGE, 1.4 * self.unit())
        painter.setFont(self.sized(SMALL, bold=True))
        wide = put(painter, head, name, self.theme.text)
        painter.setFont(self.sized(SMALL))
        room = head.adjusted(wide + 8, 0, 0, 0)
        put_first(painter, room, told, self.theme.dim, Qt.AlignmentFlag.AlignRight)
        return QRectF(head.left(), head.bottom() + 2, head.width(), rect.bottom() - head.bottom() - 9)

    def _draw_between(self, painter: QPainter, view: StepView, lane: KernelLane, rect: QRectF) -> None:
        """Paint what this step reads and writes, and say where S or P leaves or comes back."""
        moving, unit = lane.moving(view.cursor.at), self.unit()
        mark = QRectF(rect.left(), rect.top() + 3, rect.width(), 1.45 * unit)
        if not self.short:
            rect = rect.adjusted(0, 1.6 * unit, 0, 0)
        elif self.passing(view):
            self._draw_mark(painter, mark, view)
            return
        if not self.short:
            self._draw_mark(painter, mark, view)
        painter.setFont(self.sized(SMALL))
        ways = ("read", "↓", moving.read), ("written", "↑", moving.written)
        for k, (word, sign, nbytes) in enumerate(ways):
            half = QRectF(rect.left() + k * rect.width() / 2, rect.top(), rect.width() / 2, rect.height())
            room = half.adjusted(2.1 * unit, 0, 0, 0)
            told = f"{word} {traffic_text(nbytes)}", f"{sign} {traffic_text(nbytes)}"
            put_first(painter, room, told, self.theme.text if nbytes else self.theme.dim)
            if nbytes:
                ends = (rect.top() + 2, rect.bottom() - 2)
                width = 3 + 0.9 * unit * nbytes / max(1, view.story.busiest)
                colour = OTHER_MARK.on(self.theme)
                draw_arrow(painter, half.left() + unit, ends if word == "read" else ends[::-1], width, colour)

    def _draw_mark(self, painter: QPainter, rect: QRectF, view: StepView) -> None:
        """Write on a ground of its own what leaves or comes back; of a tiled lane that nothing does."""
        if self.key != "standard":
            painter.setFont(self.sized(SMALL))
            put_first(painter, rect, STAYS, self.theme.dim)
            return
        text, font = self.passing(view), self.sized(SMALL, bold=True)
        if not text:
            return
        painter.setFont(font)
        room = rect.width() - self.unit()
        told = text if width_of(text, font) <= room else text.rpartition(". ")[2]  # else the last of them
        box, fill = QRectF(rect), QColor(self.theme.warn)
        box.setWidth(width_of(told, font) + self.unit())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(box, 4, 4)
        put(painter, box, told, on_fill(fill), Qt.AlignmentFlag.AlignHCenter)

    def _row_texts(self, view: StepView) -> tuple[str, ...]:
        """The row watched as far as it is known, in full and shorter."""
        now = self._row_now(view)
        if now is None:
            return self._missing
        told = [
            f"<span style='color:{role_ink(self.theme, role)}'>{text}</span>"
            for role, text in self._told(now).items()
        ]
        values = "&nbsp; ".join(told)
        return f"row {now.row}: {values}", values, told[0]

    def _row_words(self, view: StepView) -> str:
        """The same for a screen reader."""
        now = self._row_now(view)
        return (
            self._missing[0]
            if now is None
            else f"row {now.row}: {plain(', '.join(self._told(now).values()))}"
        )

    def _told(self, now: RowNow) -> Mapping[Role, str]:
        """m, l and component 0 of O; that of flash2 is not divided by l before the end."""
        output = "Ō<sub>0</sub>" if self.key == "flash2" else "O<sub>0</sub>"
        known: dict[Role, tuple[str, float | None]] = {
            "m": ("m", now.m),
            "l": ("ℓ", now.l),
            "o": (output, now.o),
        }
        return {
            role: f"{letter} = {UNKNOWN if value is None else number(value, 2)}"
            for role, (letter, value) in known.items()
        }

    def _row_now(self, view: StepView) -> RowNow | None:
        lane, at = self._lane(view), view.cursor.at
        if isinstance(lane, StandardLane):
            return self.whole.row(lane, at, view.choice) if self.whole is not None else None
        return tiled_row(self.story, at, view.choice) if self.story is not None else None

    def _draw_counter(self, painter: QPainter, view: StepView, lane: KernelLane, rect: QRectF) -> None:
        """Paint what was moved so far against what the lane that moves most moves in all."""
        unit, moved = self.unit(), lane.moved(view.cursor.at).total
        painter.setFont(self.sized(1.25, bold=True))
        top = QRectF(rect.left(), rect.top(), rect.width(), 1.7 * unit)
        wide = put(painter, top, traffic_text(moved), self.theme.text)
        painter.setFont(self.sized(SMALL))
        told = "moved so far · <i>model</i>", "moved · <i>model</i>", "<i>model</i>"
        put_first(painter, top.adjusted(wide + 0.6 * unit, 0, 0, 0), told, self.theme.dim)
        track = QRectF(rect.left(), top.bottom() + 2, rect.width(), 0.5 * unit)
        painter.fillRect(track, QColor(self.theme.raised))
        scale = track.width() / max(1, _story(view).most)
        colour = QColor(KERNEL_MARKS[self.key].on(self.theme))
        painter.fillRect(QRectF(track.left(), track.top(), scale * moved, track.height()), colour)
        last = track.left() + scale * lane.total
        painter.fillRect(QRectF(last - 2, track.top() - 2, 2, track.height() + 4), colour)
        foot, end = (
            QRectF(rect.left(), track.bottom() + 2, rect.width(), 1.1 * unit),
            traffic_text(lane.total),
        )
        if not self.short:
            put_first(painter, foot, (f"at the end {end}", end), self.theme.dim)


def _story(view: StepView) -> LockStep:
    if not isinstance(view.story, LockStep):
        raise TypeError("a lane is drawn of a trace in lock-step")
    return view.story
