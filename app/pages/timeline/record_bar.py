"""What a timeline is recorded of, the button that does, and how far it is."""

from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.look.zoom import keep
from flashscope.app.stepper.point_timeline import ROUNDS
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.drop_down import choice_of
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.inside.timelines import problem_words, run_name
from flashscope.app.words.units import seqlen_text
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.live import LiveKernel, LiveRequest
from flashscope.kernels.workload.problem import Backend, Passes, Problem
from flashscope.kernels.workload.timeline import ClockedKernel, TimelineRequest
from flashscope.profiles.plan.machine import Machine

KERNELS: Sequence[tuple[str, tuple[ClockedKernel, ...]]] = (
    ("flash1 and flash2", ("flash1", "flash2")),
    ("flash2", ("flash2",)),
    ("flash1", ("flash1",)),
)
HEAD_DIMS, HEADS = (64, 128, 256), (1, 4, 8, 16)
MASKS = (("no mask", False), ("causal", True))
SMS: Sequence[tuple[str, int | None]] = (("all SMs", None), ("16 SMs", 16), ("4 SMs", 4), ("1 SM", 1))
PASSES: Sequence[tuple[str, Passes]] = (("forward", "forward"), ("backward", "backward"))
FIRST = 1024, 64, 4
DEVICES: Sequence[tuple[str, Backend]] = (("CPU", "cpu"), ("GPU", "cuda"))
ON_GPU: Sequence[tuple[str, tuple[ClockedKernel, ...]]] = (
    ("flash2 and flash3", ("flash2", "flash3")),
    ("flash3-a and flash3", ("flash3-a", "flash3")),
    ("flash1 and flash2", ("flash1", "flash2")),
    ("flash3", ("flash3",)),
    ("flash2", ("flash2",)),
    ("flash3 and flash3-fp8", ("flash3", "flash3-fp8")),
)
ELSEWHERE: tuple[ClockedKernel, ...] = ("flash2",)  # on a GPU that is no Hopper
IN_16_BITS = Problem(seqlen_q=1024, seqlen_k=1024, dtype="float16")
BAR_PX = 120
RECORD, GIVE_UP, LIVE = "timeline.record", "timeline.cancel", "timeline.live"
LIVE_WORDS = "Launch in slow motion, and watch its tiles"
IN_NUMPY: Sequence[LiveKernel] = ("flash2", "flash1")
IN_CUDA: Sequence[LiveKernel] = ("flash3", *IN_NUMPY)
SECONDS, FIRST_S = (5, 10, 15, 30, 60), 15


class RecordBar(QWidget):
    """Chooses a problem and where to run it, and asks for its timelines.

    Signals:
        asked: Record these (list of TimelineRequest).
        given_up: Record no more.
        launched: Launch this in slow motion (LiveRequest).
    """

    asked = Signal(list)
    given_up = Signal()
    launched = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._asked = self._has_gpu = self._has_flash3 = False
        self.devices = choice_of("Device to record on", list(DEVICES))
        self.devices.currentIndexChanged.connect(lambda _place: self._show_choices())
        self.kernels = choice_of("Kernels to record", [(text, names) for text, names in KERNELS])
        self.gpu_kernels = choice_of("Kernels to record on the GPU", list(ON_GPU))
        self.seqlens = choice_of("Sequence length to record", [(f"N = {seqlen_text(n)}", n) for n in ROUNDS])
        self.dims = choice_of("Head dim to record", [(f"d = {d}", d) for d in HEAD_DIMS])
        self.heads = choice_of("Heads to record", [(f"{h} head{'s' * (h != 1)}", h) for h in HEADS])
        self.passes = choice_of("Pass to record on the GPU", list(PASSES))
        self.masks = choice_of("Mask to record with", list(MASKS))
        self.sms = choice_of("SMs that write out their clocks", list(SMS))
        for box, wanted in zip((self.seqlens, self.dims, self.heads), FIRST, strict=True):
            box.setCurrentIndex(box.findData(wanted))
        self.record = does(text_button("Record", "Record a timeline", self.ask, "primary"), RECORD)
        self.why_not = ElidedLabel()
        self.why_not.setProperty("role", "dim")
        self.progress, self.bar = PlainLabel(), QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Rounds of the timeline that are done")
        keep(self.bar, self.bar.setFixedWidth, BAR_PX)
        self.cancel = does(text_button("Cancel", "Stop recording", self.given_up.emit), GIVE_UP)
        self.live = does(text_button("Live", LIVE_WORDS, self.launch), LIVE)
        self.live_kernels = choice_of("Kernel to launch in slow motion", [(name, name) for name in IN_NUMPY])
        self.seconds = choice_of("Seconds of a launch in slow motion", [(f"{s} s", s) for s in SECONDS])
        self.seconds.setCurrentIndex(self.seconds.findData(FIRST_S))
        problem = (self.seqlens, self.dims, self.heads, self.masks)
        self.choices = (self.devices, self.kernels, self.gpu_kernels, self.passes, *problem, self.sms)
        slow = (self.live, self.live_kernels, self.seconds)
        shown = (*self.choices, self.record, *slow, self.why_not)
        line = Lines((*shown, self.progress, self.bar, self.cancel), (), 8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(line)
        self.show_asked(None)

    @property
    def requests(self) -> list[TimelineRequest]:
        """What is chosen."""
        backend: Backend = self.devices.currentData()
        problem = Problem(
            batch=1,
            dtype="float16" if backend == "cuda" else "float32",
            heads=self.heads.currentData(),
            seqlen_q=self.seqlens.currentData(),
            seqlen_k=self.seqlens.currentData(),
            head_dim=self.dims.currentData(),
            causal=self.masks.currentData(),
            passes=self.passes.currentData() if backend == "cuda" else "forward",
        )
        rounds = ROUNDS[self.seqlens.currentData()]
        sms = self.sms.currentData() if backend == "cuda" else None
        return [
            TimelineRequest(problem=problem, backend=backend, kernel=kernel, sms=sms, rounds=rounds)
            for kernel in self._kernels(backend)
        ]

    def _kernels(self, backend: Backend) -> Sequence[ClockedKernel]:
        """What is chosen of the kernels that have a build with clocks there."""
        if backend == "cpu":
            chosen: tuple[ClockedKernel, ...] = self.kernels.currentData()
        else:
            chosen = self.gpu_kernels.currentData() if self._has_flash3 else ELSEWHERE
        return chosen

    @property
    def actions_offered(self) -> list[Action]:
        """Recording, and giving it up."""
        return [
            Action(RECORD, "Record a timeline", self.ask, "Timeline", "R"),
            Action(LIVE, LIVE_WORDS, self.launch, "Timeline", "L"),
            Action(GIVE_UP, "Stop recording the timeline", self.given_up.emit, "Timeline", "C"),
        ]

    def ask(self) -> None:
        """Ask for what is chosen, unless something is recorded or a sweep runs."""
        if self.record.isEnabled() and not self.record.isHidden():
            self.asked.emit(self.requests)

    def launch(self) -> None:
        """Ask for a launch in slow motion of what is chosen, on the device that is."""
        if self.live.isEnabled() and not self.live.isHidden():
            self.launched.emit(
                LiveRequest(
                    problem=replace(self.requests[-1].problem, passes="forward"),
                    backend=self.devices.currentData(),
                    kernel=self.live_kernels.currentData(),
                    seconds=self.seconds.currentData(),
                )
            )

    def block(self, reason: str, short: str = "") -> None:
        """Let nothing be recorded, for this reason, in short beside the button; without one let it again."""
        self.why_not.setText(short)
        self.why_not.setVisible(bool(short) and not self._asked)
        self.record.setEnabled(not reason)
        self.live.setEnabled(not reason)
        set_tip(self.live, reason or LIVE_WORDS)
        set_tip(self.record, reason or "Run the kernels with clocks between their stages")

    def show_asked(self, request: TimelineRequest | None) -> None:
        """Show how far a timeline is in place of what can be chosen; None: the other way round."""
        self._asked = request is not None
        self._show_choices()
        for part in (self.record, self.live, self.live_kernels, self.seconds):
            part.setVisible(request is None)
        self.why_not.setVisible(request is None and bool(self.why_not.text()))
        for other in (self.progress, self.bar, self.cancel):
            other.setVisible(request is not None)
        if request is not None:
            words = problem_words(request.problem)
            self.progress.setText(f"Recording {run_name(request)}, {words}: warming up …")
            self.bar.setRange(0, 0)

    def show_machine(self, machine: Machine | None) -> None:
        """Offer the GPU where there is one; flash2 is built with clocks for it, for Hopper flash3 too."""
        device = None if machine is None else machine.device("cuda")
        self._has_gpu = device is not None
        self._has_flash3 = (
            device is not None and find_kernel("flash3").unsupported(IN_16_BITS, device) is None
        )
        self.devices.setCurrentIndex(self.devices.findData("cuda" if self._has_gpu else "cpu"))
        self._show_choices()

    def _show_choices(self) -> None:
        """Show what there is to choose."""
        for part in self.choices:
            part.setVisible(not self._asked)
        self.devices.setVisible(not self._asked and self._has_gpu)
        on_cpu = self.devices.currentData() == "cpu"
        self._offer_live(IN_NUMPY if on_cpu or not self._has_flash3 else IN_CUDA)
        self.kernels.setVisible(not self._asked and on_cpu)
        self.gpu_kernels.setVisible(not self._asked and not on_cpu and self._has_flash3)
        for part in (self.passes, self.sms):
            part.setVisible(not self._asked and not on_cpu)

    def _offer_live(self, kernels: Sequence[LiveKernel]) -> None:
        """Offer these to be launched in slow motion; the first of others than before is chosen."""
        box = self.live_kernels
        if [box.itemData(place) for place in range(box.count())] != [*kernels]:
            box.clear()
            for name in kernels:
                box.addItem(name, name)

    def show_progress(self, request: TimelineRequest | None, done: int, total: int) -> None:
        """Say which round runs."""
        if request is not None:
            words = problem_words(request.problem)
            self.progress.setText(f"Recording {run_name(request)}, {words}: round {done + 1} of {total}")
            self.bar.setRange(0, total)
            self.bar.setValue(done)
