"""What was compiled and timed of cuts since the window opened, by problem and GPU."""

from collections.abc import Mapping
from typing import NamedTuple

from flashscope.app.figures.cut_grid import Known
from flashscope.app.figures.cut_times import RoundTimes
from flashscope.app.figures.landscapes import known_of
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.landscape_made import LandscapeMaker
from flashscope.profiles.wire.cuts import CutCompiled, CutRequest, CutsAsked, CutsEnded, CutTimed, CutTimes


class CutPlace(NamedTuple):
    """Where cuts are: what they compute, and on what GPU."""

    problem: Problem
    card: GpuCard


class Tried:
    """Remembers what is told of cuts.

    Attributes:
        maker: Takes in what is timed now, None: nothing is.
    """

    def __init__(self) -> None:
        self.maker: LandscapeMaker | None = None
        self._compiled: dict[tuple[Problem, tuple[int, int]], dict[Cut, CompiledCut]] = {}
        self._times: dict[Problem, dict[Cut, RoundTimes]] = {}

    def forget(self) -> None:
        """Know nothing: another device is in use."""
        self.maker = None
        self._compiled.clear()
        self._times.clear()

    def begin(self, maker: LandscapeMaker) -> None:
        """Forget earlier times of what is to be timed now."""
        self.maker = maker
        self._times.pop(maker.asked.problem, None)

    def compiled(self, place: CutPlace) -> dict[Cut, CompiledCut]:
        """What the compiler made of cuts for a problem on GPUs like this."""
        return self._compiled.setdefault((place.problem, place.card.compute_capability), {})

    def times(self, problem: Problem) -> Mapping[Cut, RoundTimes]:
        """How long cuts of a problem took on the device in use."""
        return self._times.get(problem, {})

    def take_compiled(self, asked: CutRequest, compiled: CompiledCut, card: GpuCard) -> None:
        """Take in what the compiler made of a cut; of one that is timed, for the GPU in use."""
        capability = asked.compute_capability if isinstance(asked, CutsAsked) else card.compute_capability
        self._compiled.setdefault((asked.problem, capability), {})[compiled.cut] = compiled
        if self.maker is not None and asked is self.maker.asked:
            self.maker.take(CutCompiled(compiled=compiled))

    def take_timed(self, problem: Problem, timed: CutTimes) -> None:
        """Take in how long a cut took."""
        of = self._times.setdefault(problem, {})
        of[timed.cut] = of.get(timed.cut, RoundTimes()).with_one(timed)
        if self.maker is not None:
            self.maker.take(CutTimed(timed=timed))

    def end(self, ended: CutsEnded) -> CutLandscape | None:
        """The landscape of what was timed; None: there is none."""
        maker, self.maker = self.maker, None
        return None if maker is None else maker.made(ended)

    def known(self, place: CutPlace, *, here: bool) -> Known:
        """What is known of a place; `here`: it is the one in use, so that times count."""
        return Known(self.compiled(place), self.times(place.problem) if here else {})


def known_beside(
    shown: CutLandscape, compared: CutLandscape | None, compiled: dict[Cut, CompiledCut]
) -> Known:
    """What a landscape knows, beside what the compiler said since, and beside another landscape."""
    known = known_of(shown)
    beside = {} if compared is None or compared is shown else known_of(compared).times
    return Known({**compiled, **known.compiled}, known.times, beside)
