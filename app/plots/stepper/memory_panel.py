"""The memory, the chip, and what goes between them: bytes by the tile-level IO model, tiled against standard.

Both have the names of the device that the trace is of.
"""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from flashscope.app.look.kernel_marks import KERNEL_MARKS, OTHER_MARK
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.plots.stepper.held import chip_widths, draw_arrow, draw_chips
from flashscope.app.plots.stepper.ink import mix
from flashscope.app.plots.stepper.panel import SMALL, Panel, put, put_first, width_of
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.step_view import StepView
from flashscope.app.stepper.traffic import on_chip, standard_bytes
from flashscope.app.words.inside.tracing import MEMORIES
from flashscope.app.words.units import bytes_text, traffic_text

NEVER = "S and P are never here"
HOPPER_SHARED_BYTES = 227 * 1024  # the largest opt-in shared memory of one block, CUDA C++ guide, table 27
CPU_COLUMNS = ("kernel", "modelled_memory_bytes_so_far", "modelled_memory_bytes_in_all")
LONGEST_NAME = "flash3-fp8"  # of what moves bytes


class MemoryPanel(Panel):
    """Two lanes with arrows as wide as their bytes, and two running counters.

    Attributes:
        limit: Shared memory that one block may use, in bytes; None where no GPU tells: a Hopper's is shown.
    """

    columns = ("kernel", "modelled_hbm_bytes_so_far", "modelled_hbm_bytes_in_all")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Memory lanes")
        self.limit: int | None = None
        keep(self, self.setMinimumSize, 320, 84)

    def words(self, view: StepView) -> str:
        """What is on the chip, what this step moves, and both counters."""
        held = on_chip(view.recording, view.step)
        names = ", ".join(plain(array.label) for array in held) or "nothing"
        used, limit = bytes_text(sum(array.nbytes for array in held)), self._limit_text(view)
        memory, chip = _names(view)
        return (
            f"On {chip}: {names}, {used}{f' of {limit}' if limit else ''}; {self._moving(view)}; "
            f"through {memory} so far (model): tiled {traffic_text(view.bytes_moved.total)}, "
            f"standard {traffic_text(self._standard(view))}"
        )

    def headings(self, view: StepView) -> tuple[str, ...]:
        """What goes through a CPU's memory has its name; HBM has had the other for long."""
        return self.columns if view.recording.request.backend == "cuda" else CPU_COLUMNS

    def numbers(self, view: StepView) -> list[tuple[str, int, int]]:
        """What goes through the memory, tiled and standard."""
        recording = view.recording
        return [
            (_tiled(view), view.bytes_moved.total, view.story.traffic[-1].total),
            ("standard", self._standard(view), standard_bytes(recording)),
        ]

    def draw(self, painter: QPainter, view: StepView) -> None:
        """Paint the lanes on the left and the counters on the right."""
        split = self.width() * 0.66
        room = self.height()
        lane = min(max(self.unit() * 2.1, room * 0.26), room * 0.34, self.unit() * 3)
        memory = QRectF(0, 0, split - 16, lane)
        chip = QRectF(memory.width() * 0.08, self.height() - lane, memory.width() * 0.84, lane)
        self._draw_memory(painter, view, memory)
        self._draw_chip(painter, view, chip)
        self._draw_arrow(painter, view, memory, chip)
        self._draw_counters(painter, view, QRectF(split, 0, self.width() - split, self.height()))

    def _limit_text(self, view: StepView) -> str:
        """How much the chip holds; empty: of a CPU's core nothing tells."""
        if view.recording.request.backend == "cpu":
            return ""
        return f"{bytes_text(HOPPER_SHARED_BYTES)} (Hopper)" if self.limit is None else bytes_text(self.limit)

    def _standard(self, view: StepView) -> int:
        """Standard attention's bytes at the same share of tiles."""
        return round(standard_bytes(view.recording) * (view.step.tile + 1) / max(1, view.recording.tiles))

    def _step_bytes(self, view: StepView) -> tuple[int, int]:
        at, traffic = view.cursor.at, view.story.traffic
        if not at:
            return 0, 0
        return traffic[at].read - traffic[at - 1].read, traffic[at].written - traffic[at - 1].written

    def _moving(self, view: StepView) -> str:
        read, written = self._step_bytes(view)
        if read:
            return f"load {traffic_text(read)}"
        return f"write {traffic_text(written)}" if written else "no traffic in this step"

    def _draw_memory(self, painter: QPainter, view: StepView, rect: QRectF) -> None:
        problem = view.recording.trace.request.shown
        dv, e = view.recording.value_dim, problem.itemsize
        sizes = (
            ("Q", problem.seqlen_q * problem.head_dim * e),
            ("K", problem.seqlen_k * problem.head_dim * e),
            ("V", problem.seqlen_k * dv * e),
            ("O", problem.seqlen_q * dv * e),
        )
        self._lane(painter, rect, self.theme.line)
        painter.setFont(self.sized(bold=True))
        x = rect.left() + 12
        x += put(painter, QRectF(x, rect.top(), 60, rect.height()), _names(view)[0], self.theme.text) + 14
        painter.setFont(self.sized(SMALL))
        arrays = " · ".join(f"{name} {bytes_text(nbytes)}" for name, nbytes in sizes)
        room = QRectF(x, rect.top(), rect.right() - x, rect.height())
        whole = f"{arrays} — {NEVER}"
        if width_of(whole, painter.font()) <= room.width():
            put(painter, room, whole, self.theme.dim)
            return
        told = arrays, " · ".join(name for name, _ in sizes)
        if room.height() >= 2 * self.unit():  # one under the other
            half = QPointF(0, self.unit() / 2)
            put_first(painter, room.translated(half), (NEVER,), self.theme.dim)
            room.translate(-half)
        put_first(painter, room, told, self.theme.dim)

    def _draw_chip(self, painter: QPainter, view: StepView, rect: QRectF) -> None:
        held = on_chip(view.recording, view.step)
        self._lane(painter, rect, self.theme.accent)
        painter.setFont(self.sized(bold=True))
        x = rect.left() + 12
        x += put(painter, QRectF(x, rect.top(), 60, rect.height()), _names(view)[1], self.theme.text) + 12
        painter.setFont(self.sized(SMALL))
        used, chips = bytes_text(sum(array.nbytes for array in held)), sum(chip_widths(held, painter.font()))
        limit = self._limit_text(view)
        told = [f"{used} / {text}" for text in (limit, limit.partition(" (")[0]) if text] or [used]
        least = rect.right() - x - chips - 20
        used = next((text for text in told if width_of(text, painter.font()) <= least), told[-1])
        right = rect.right() - width_of(used, painter.font()) - 12
        put(painter, QRectF(right, rect.top(), rect.right() - right, rect.height()), used, self.theme.dim)
        draw_chips(painter, self.theme, held, QRectF(x, rect.top() + 5, right - 8 - x, rect.height() - 10))

    def _draw_arrow(self, painter: QPainter, view: StepView, memory: QRectF, chip: QRectF) -> None:
        read, written = self._step_bytes(view)
        middle = (memory.bottom() + chip.top()) / 2
        painter.setFont(self.sized(SMALL))
        x = memory.left() + memory.width() * 0.42
        label = QRectF(x + 26, middle - self.unit() / 2, memory.right() - x, self.unit())
        moving = bool(read or written)
        put(painter, label, self._moving(view), self.theme.text if moving else self.theme.dim)
        if not moving:
            return
        top, bottom = memory.bottom() + 2, chip.top() - 2
        tip, tail = (bottom, top) if read else (top, bottom)
        draw_arrow(
            painter, x, (tail, tip), self._arrow_width(view, read or written), OTHER_MARK.on(self.theme)
        )

    def _arrow_width(self, view: StepView, nbytes: int) -> float:
        return 3 + 17 * nbytes / max(1, view.story.busiest)

    def _lane(self, painter: QPainter, rect: QRectF, line: str) -> None:
        painter.setPen(QPen(QColor(line), 1))
        painter.setBrush(QBrush(mix(self.theme.raised, self.theme.panel, 0.2)))
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    def _draw_counters(self, painter: QPainter, view: StepView, rect: QRectF) -> None:
        painter.setFont(self.sized(SMALL))
        line = min(self.unit() * 1.5, rect.height() / 4)
        total, standard = view.story.traffic[-1].total, standard_bytes(view.recording)
        tiled = _tiled(view)
        rows = (
            (tiled, view.bytes_moved.total, KERNEL_MARKS[tiled].on(self.theme)),
            ("standard", self._standard(view), KERNEL_MARKS["standard"].on(self.theme)),
        )
        head = QRectF(rect.left(), rect.top(), rect.width(), line)
        put(painter, head, f"through {_names(view)[0]} so far · <i>model</i>", self.theme.dim)
        for k, (name, nbytes, colour) in enumerate(rows):
            row = QRectF(rect.left(), rect.top() + (k + 1) * line, rect.width(), line)
            self._draw_counter(painter, row, name, nbytes / max(total, standard, 1), (nbytes, colour))
        foot = QRectF(rect.left(), rect.top() + 3 * line, rect.width(), line)
        put(painter, foot, f"at the end {traffic_text(total)} and {traffic_text(standard)}", self.theme.dim)

    def _draw_counter(
        self, painter: QPainter, row: QRectF, name: str, share: float, value: tuple[int, str]
    ) -> None:
        nbytes, colour = value
        put(painter, row, name, self.theme.text)
        longest = width_of(LONGEST_NAME, painter.font()) + self.unit() * 0.4
        left, right = row.left() + longest, row.right() - self.unit() * 4.6
        track = QRectF(left, row.center().y() - 4, max(0.0, right - left), 8)
        painter.fillRect(track, QColor(self.theme.raised))
        painter.fillRect(QRectF(track.left(), track.top(), track.width() * share, 8), QColor(colour))
        number = QRectF(right, row.top(), row.right() - right, row.height())
        put(painter, number, traffic_text(nbytes), self.theme.text, Qt.AlignmentFlag.AlignRight)


def _tiled(view: StepView) -> str:
    """What moves the bytes of the trace: the timed kernel, or the loop order that is walked."""
    return view.recording.request.kernel or view.recording.order


def _names(view: StepView) -> tuple[str, str]:
    """What the arrays of the problem are in, and what a tile is computed in."""
    return MEMORIES[view.recording.request.backend]
