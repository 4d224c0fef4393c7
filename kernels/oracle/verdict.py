"""What a comparison with the oracle says: the error of each output, and the largest that passes."""

import math
from typing import Any, NamedTuple, Protocol

OF_A_ROW = " of a row"  # ends the name of the worst row's error
OF_A_PART = " of an eighth of the rows"  # of the worst eighth's
ON_ROUNDED = " on 8-bit inputs"  # ends the name of an error against the oracle on the inputs as rounded


class Deviation(NamedTuple):
    """How far one output is off the oracle's.

    Attributes:
        output: Which one: `O`, `LSE`, and with `OF_A_ROW` behind the name its worst row. Of a kernel that
            rounds its inputs O and LSE stand twice: against the oracle on the inputs as given, and, with
            `ON_ROUNDED` behind the name, on the inputs as it rounds them; its rows are judged there alone,
            and with `OF_A_PART` many of them together.
        error: max |output - oracle's| over the rows compared; of a row of O, the L2 norm of the error
            relative to the oracle's; of a part, the root mean square of the shares that its rows use of their
            bounds. NaN or inf when the output holds one; inf for an LSE when a row without keys does not
            hold exactly -inf.
        bound: The largest error that passes.
        place: Sequence, head and query row of the worst row; None where no row is meant.
    """

    output: str
    error: float
    bound: float
    place: tuple[int, int, int] | None = None

    @property
    def passed(self) -> bool:
        """Whether the error lies within its bound; False where it is NaN."""
        return self.error <= self.bound

    @property
    def used(self) -> float:
        """The share of its bound that the error uses; inf where it is NaN, or no error passes."""
        if math.isnan(self.error) or (self.error and not self.bound):
            return math.inf
        return self.error / self.bound if self.error else 0.0


class Verdict(NamedTuple):
    """Outcome of one comparison.

    Attributes:
        outputs: The error of every output that there is to compare, O first.
        rows: Query rows compared, of all batch * heads * seqlen_q.
    """

    outputs: tuple[Deviation, ...]
    rows: int

    @property
    def passed(self) -> bool:
        """Every error lies within its bound and nothing is NaN."""
        return all(one.passed for one in self.outputs)

    def of(self, output: str) -> Deviation | None:
        """The error of an output, None where there was nothing to compare."""
        return next((one for one in self.outputs if one.output == output), None)


class Judging(Protocol):
    """What answers are compared by."""

    def judge(self, output: Any, lse: Any) -> Verdict:
        """Compare O and LSE with the oracle, see `kernels.oracle.verify.Criterion`."""
