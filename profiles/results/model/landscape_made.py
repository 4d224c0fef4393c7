"""A landscape as it comes to be: from what was asked, what the formulas refuse, and answers cut by cut."""

from collections.abc import Mapping

from msgspec.structs import replace

from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.landscape import CutLandscape, CutOutcome
from flashscope.profiles.wire.cuts import CutAnswer, CutCompiled, CutsEnded, CutsToTime, CutTimed, CutTimes

NOT_TIMED = "It was not timed: no run of it counted."


class LandscapeMaker:
    """Takes answers in, and makes a landscape of them once they have ended.

    Attributes:
        asked: What is timed.
        begun: Whether anything has been told.

    Args:
        asked: What is timed.
        rows: The number of a cut that differs between rows.
        refused: All cuts that are not timed, each with the reasons why it does not run.
    """

    def __init__(self, asked: CutsToTime, rows: str, refused: Mapping[Cut, tuple[str, ...]]) -> None:
        self.asked = asked
        self.begun = False
        self._rows = rows
        self._cells = {cut: CutOutcome(cut=cut, refused=reasons) for cut, reasons in refused.items()}
        self._cells |= {cut: CutOutcome(cut=cut) for cut in asked.cuts}

    def take(self, answer: CutAnswer) -> None:
        """Take in what is told of a cut; other answers change nothing."""
        self.begun = True
        match answer:
            case CutCompiled(compiled=compiled):
                self._cells[compiled.cut] = _with_compiled(self._cells[compiled.cut], compiled)
            case CutTimed(timed=timed):
                self._cells[timed.cut] = _with_times(self._cells[timed.cut], timed)
            case _:
                pass

    @property
    def first_reason(self) -> str:
        """Why the first cut has no times, of those that were asked for; empty: it has."""
        failed = (cell.refused for cell in map(self._cells.__getitem__, self.asked.cuts) if cell.refused)
        return " ".join(next(failed, ()))

    def made(self, ended: CutsEnded) -> CutLandscape | None:
        """The landscape; None: it broke off, or nothing was timed."""
        if ended.reason or ended.device is None or not any(one.first_ms for one in self._cells.values()):
            return None
        return CutLandscape(
            problem=self.asked.problem,
            rows=self._rows,
            device=ended.device,
            timer=ended.timer,
            build=ended.build,
            shipped=self.asked.shipped,
            cells=tuple(map(_closed, self._cells.values())),
        )


def _with_compiled(cell: CutOutcome, compiled: CompiledCut) -> CutOutcome:
    if compiled.failure:
        return replace(cell, refused=(compiled.failure,))
    return replace(cell, registers=compiled.registers, spilled=compiled.spilled)


def _with_times(cell: CutOutcome, timed: CutTimes) -> CutOutcome:
    """A cut that fails has no times; one that fails on its second check keeps those of the first rounds."""
    if timed.failure:
        return cell if cell.first_ms else replace(cell, refused=(timed.failure,))
    return replace(cell, anew_ms=timed.ms) if timed.anew else replace(cell, first_ms=timed.ms)


def _closed(cell: CutOutcome) -> CutOutcome:
    """Every cut has times or a reason."""
    return cell if cell.first_ms or cell.refused else replace(cell, refused=(NOT_TIMED,))
