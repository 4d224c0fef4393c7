"""What a sentence on stage may speak of: the figures and numbers that are on show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.results.model.curves import by_curve
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session


@dataclass(frozen=True)
class Scene:
    """What a page shows.

    Attributes:
        rows: The points on show, of the problems of one curve.
        seqlen: N under the crosshair, None for none.
        kernel: Whose figures are meant where a sentence names no kernel; empty: nobody's.
        baseline: What it is compared with where a sentence names nothing else; empty: nothing.
        numbers: Those of a step of the Stepper, by name, as text.
        waiting: What is said as long as none of it is there yet; empty: it is.
        passes: What is run, where no points are on show.
    """

    rows: Sequence[PointRow] = ()
    seqlen: int | None = None
    kernel: str = ""
    baseline: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    waiting: str = ""
    passes: Passes = "forward"

    @property
    def runs(self) -> Passes:
        """The pass that is spoken of."""
        return self.rows[0].problem.passes if self.rows else self.passes

    @property
    def problem(self) -> str:
        """What the points on show are of, in words; empty without any."""
        return next((curve.whole_label for curve in by_curve(self.rows)), "")

    def row(self, kernel: str, seqlen: int | None) -> PointRow | None:
        """The last point of a kernel at one N, None where there is none."""
        found = [row for row in self.rows if (row.kernel, row.seqlen) == (kernel, seqlen)]
        return found[-1] if found else None


def scene_of(session: Session | None, seqlen: int | None) -> Scene:
    """The first curve of a session."""
    curves = by_curve(rows(session)) if session is not None else {}
    return Scene(next(iter(curves.values()), ()), seqlen)
