"""Sliders of the numbers of a cut: each shows which of its values would not run."""

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.widgets.frame.typing_guard import MOVED_BY_SHORTCUTS
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.scrubber import Scrubber, ScrubberMark
from flashscope.kernels.cuda.design.knobs import KEY_GROUPS, KNOBS, Knob, inner
from flashscope.kernels.workload.cut import CUT_KERNELS, Cut, CutKernel

VALUE_PX = 34
UNDER, OVER = 8.0, 15.0  # the ticks, in pixels above the groove
HEAD_DIM = Knob("head_dim", "Head dim, d", 64, 256, 32, tip="Width of one head")


class KnobSlider(Scrubber):
    """The values of one number.

    Attributes:
        knob: The number.
        refused: The values with which the cut would not run.
        shipped: The value of the shipped cut.
    """

    def __init__(self, theme: Theme, knob: Knob) -> None:
        super().__init__(theme, knob.title, f"{knob.tip}; red ticks do not run, the other one is shipped")
        self.knob = knob
        self.refused: frozenset[int] = frozenset()
        self.shipped: int | None = None
        self.setMaximum(len(knob.values) - 1)
        self.setPageStep(1)
        self.setProperty(MOVED_BY_SHORTCUTS, False)  # its own keys move it

    @property
    def chosen(self) -> int:
        """The value."""
        return self.knob.values[self.value()]

    def choose(self, value: int) -> None:
        """Stand at the nearest value, and tell nobody."""
        nearest = min(self.knob.values, key=lambda one: abs(one - value))
        with QSignalBlocker(self):
            self.setValue(self.knob.values.index(nearest))
        self.update()

    def mark(self, refused: Iterable[int], shipped: int | None) -> None:
        """Mark what does not run, and what is shipped."""
        self.refused, self.shipped = frozenset(refused), shipped
        self.update()

    def ticks(self) -> Iterable[ScrubberMark]:
        """Red where it would not run."""
        for place, value in enumerate(self.knob.values):
            if value in self.refused:
                yield ScrubberMark(place, self.theme.error, OVER, UNDER)
            elif value == self.shipped:
                yield ScrubberMark(place, self.theme.text, OVER, UNDER)


class Knobs(QWidget):
    """The head dim, and all numbers of a cut; those that the kernel has no use for are hidden.

    Attributes:
        sliders: By kernel and name; the head dim under the empty name of a kernel.

    Signals:
        changed: Another value was chosen by the user.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.kernel: CutKernel = "flash2"
        self.head_dim = KnobSlider(theme, HEAD_DIM)
        self.sliders: dict[CutKernel, list[KnobSlider]] = {
            kernel: [KnobSlider(theme, knob) for knob in KNOBS[kernel]] for kernel in CUT_KERNELS
        }
        self._lines: list[tuple[KnobSlider, PlainLabel, PlainLabel]] = []
        grid = self._grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        for slider in self.every:
            self._add(slider)
        self.take_kernel("flash2")

    @property
    def every(self) -> Sequence[KnobSlider]:
        """All sliders, hidden ones too."""
        return [self.head_dim, *(slider for sliders in self.sliders.values() for slider in sliders)]

    @property
    def shown(self) -> Sequence[KnobSlider]:
        """Those of the kernel, without the head dim."""
        return self.sliders[self.kernel]

    @property
    def cut(self) -> Cut:
        """The cut that is chosen."""
        chosen = {slider.knob.name: slider.chosen for slider in self.shown}
        return Cut(kernel=self.kernel, **{"groups": KEY_GROUPS, **chosen})

    def take_kernel(self, kernel: CutKernel) -> None:
        """Show the numbers of another kernel."""
        self.kernel = kernel
        for slider, *labels in self._lines:
            for part in (slider, *labels):
                part.setVisible(slider is self.head_dim or slider in self.shown)

    def show_cut(self, cut: Cut) -> None:
        """Stand at the numbers of a cut, and tell nobody."""
        self.take_kernel(cut.kernel)
        for slider in self.shown:
            slider.choose(getattr(cut, slider.knob.name))
        self._write()

    def turn_inner(self, by: int) -> None:
        """Go on to the next number of keys that pass by, or of queries, or back."""
        self._turn(inner(self.kernel), by)

    def turn_first(self, by: int) -> None:
        """Go on to the next value of the first other number, or back."""
        self._turn(next(one.knob for one in self.shown if one.knob != inner(self.kernel)), by)

    def _turn(self, knob: Knob, by: int) -> None:
        slider = next(one for one in self.shown if one.knob == knob)
        slider.setValue(slider.value() + by)

    def mark(self, refused: Callable[[str, int], bool], shipped: Cut) -> None:
        """Mark on each slider which of its values would not run, the others as they are."""
        for slider in self.shown:
            name = slider.knob.name
            wrong = [value for value in slider.knob.values if refused(name, value)]
            slider.mark(wrong, getattr(shipped, name))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        for slider in self.every:
            slider.apply_theme(theme)

    def _add(self, slider: KnobSlider) -> None:
        row = len(self._lines)
        title, value = PlainLabel(slider.knob.title), PlainLabel()
        set_tip(title, slider.knob.tip)
        value.setProperty("role", "title")
        keep(value, value.setFixedWidth, VALUE_PX)
        for column, part in enumerate((title, slider, value)):
            self._grid.addWidget(part, row, column)
        self._lines.append((slider, title, value))
        slider.valueChanged.connect(self._tell)

    def _tell(self) -> None:
        self._write()
        self.changed.emit()

    def _write(self) -> None:
        for slider, _title, value in self._lines:
            value.setText(str(slider.chosen))
