"""The Traffic page on a stage: a few kernels, each with its curve."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import PageStaging
from flashscope.app.pages.traffic.shown import CountedPoint
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.widgets.plain import PlainLabel


class TrafficCurves(Protocol):
    """The curves of several kernels at one N.

    Attributes:
        words: Why there is none.
    """

    words: PlainLabel

    @property
    def seqlen(self) -> int | None:
        """N on show, None where there is no curve."""

    @property
    def counted(self) -> Sequence[CountedPoint]:
        """What is on show."""

    @property
    def cards(self) -> Mapping[str, QWidget]:
        """What is on show of each kernel."""

    def show_seqlen(self, seqlen: int) -> None:
        """Show this N, or the nearest that has a curve."""

    def show_kernels(self, kernels: Collection[str]) -> None:
        """Show these kernels alone; none: all."""


class TrafficStaging(PageStaging[TrafficCurves]):
    """Shows the curves of the kernels that a stop names.

    Args:
        page: What shows them.
        controller: Has the session on show.
        aside: What is put away.
    """

    def __init__(self, page: TrafficCurves, controller: Controller, aside: Sequence[QWidget]) -> None:
        super().__init__("traffic", page, controller, aside)

    @property
    def lack(self) -> str:
        """Why there is no curve."""
        return "" if self._page.counted else self._page.words.text()

    @property
    def scene(self) -> Scene:
        """The points that have a curve on show."""
        page = self._page
        return Scene([one.row for one in page.counted], page.seqlen, next(reversed(list(page.cards)), ""))

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """A card for each kernel."""
        return list(self._page.cards.values())

    @property
    def stop(self) -> Stop:
        """Kernels and N on show."""
        page = self._page
        shown = [one.row.kernel for one in page.counted]
        kernel = next(iter(shown), "")
        told = f"At N = {{n}} {kernel} reads {{dram_read_bytes of {kernel}}} from DRAM." if kernel else ""
        return replace(super().stop, kernels=tuple(shown), seqlen=page.seqlen, sentence=told)

    def show_stop(self, stop: Stop) -> None:
        """Show its kernels at its N."""
        super().show_stop(stop)
        if stop.seqlen is not None:
            self._page.show_seqlen(stop.seqlen)
        self._page.show_kernels(stop.kernels)

    @property
    def sentence(self) -> str:
        """What the kernels on show read from DRAM."""
        cards = list(self._page.cards)
        if not cards:
            return ""
        told = " and ".join(f"{{dram_read_bytes of {kernel}}} in {kernel}" for kernel in cards)
        return fill(f"One run at N = {{n}} reads {told} from DRAM.", self.scene)

    def leave(self) -> None:
        """Show every kernel."""
        super().leave()
        self._page.show_kernels(())
