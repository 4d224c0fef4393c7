"""What is measured of a point: samples, figures, correctness."""

import math

import msgspec

from flashscope.profiles.wire.traffic import Traffic

Number = int | float
BY_POWER = "energy_by_power_mj"  # the figure beside `energy_mj` that leaves the counter out

SUSPECTED = "suspected"
"""The figure of a kernel of the user's own that did what none should, though its answers were right: of how
many things it is suspected, and in `source` which, as clauses."""


class Sample(msgspec.Struct, frozen=True, gc=False):
    """One timed run.

    Attributes:
        ms: Milliseconds.
        rejected: Why it does not count, None when it does.
        round: In which round of the turns it was taken, from 0; None: its kernel was sampled alone.
        t_ns: When it ended, `time.monotonic_ns()` of the machine that measured; None in older recordings.
        sm_clock_mhz: Mean clock of a multiprocessor over the run; None where it cannot be read.
    """

    ms: float
    rejected: str | None = None
    round: int | None = None
    t_ns: int | None = None
    sm_clock_mhz: float | None = None


class Figure(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One value of a quantity, or the reason why there is none.

    Attributes:
        value: In the quantity's unit; None: it could not be had, `missing` says why.
        low: Lower end of its spread or uncertainty, None where there is none.
        high: Upper end of the same.
        source: What it was read from or computed by, in words: `CUDA events`, `tracemalloc`, a formula.
        missing: Why there is no value, as a clause; empty when there is one.
    """

    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    source: str = ""
    missing: str = ""


class OutputError(msgspec.Struct, frozen=True, kw_only=True):
    """One output of a kernel beside the float64 oracle's.

    Attributes:
        output: Which one: `O`, `LSE`, `dQ`, `dK`, `dV`, or the worst row of one: `O of a row` (see
            kernels.oracle.verify).
        error: max |output - oracle's| over the rows compared; of a row, but for LSE, the L2 norm of its error
            relative to the oracle's. NaN or inf where the output holds one.
        bound: The largest error that passes.
        place: Sequence, head and row of the worst row, of dK and dV key/value head and key; None where no row
            is meant.
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
    def where(self) -> str:
        """The place in words; empty where no row is meant."""
        if self.place is None:
            return ""
        sequence, head, row = self.place
        of_keys = self.output.startswith(("dK", "dV"))
        return f"sequence {sequence}, head {head}, {'key row' if of_keys else 'query row'} {row}"


class Correctness(msgspec.Struct, frozen=True, kw_only=True):
    """Comparison with the float64 oracle.

    Attributes:
        outputs: Every output that the kernel returns: O and LSE, then dQ, dK and dV.
        rows: How many query rows were compared, of all `batch * heads * seqlen_q`.
        passed: Whether every error lies within its bound and nothing is NaN.
    """

    outputs: tuple[OutputError, ...]
    rows: int
    passed: bool

    def of(self, output: str) -> OutputError | None:
        """The error of an output, None where there is no such output."""
        return next((one for one in self.outputs if one.output == output), None)


class Measurement(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one point yielded.

    Attributes:
        timer: What timed its runs: `CUDA events`, `perf_counter`.
        cold: Whether the cache was flushed before each sample.
        figures: Everything that was read of it once, by the key of its quantity.
        correctness: None when it was not verified.
        samples: Every timed run, in order.
        note: What the kernel and the engine have to say of its run.
        traffic: The traffic of one run, None where none was counted.
    """

    timer: str
    cold: bool
    figures: dict[str, Figure] = {}
    correctness: Correctness | None = None
    samples: tuple[Sample, ...] = ()
    note: str = ""
    traffic: Traffic | None = None

    def value(self, key: str) -> Number | None:
        """The value of a figure, None where there is none."""
        figure = self.figures.get(key)
        return None if figure is None else figure.value

    @property
    def held_bytes(self) -> int | None:
        """The memory ledger, inputs + outputs + workspace; None where one is not known or is no number."""
        parts = [self.value(key) for key in LEDGER]
        if None in parts:
            return None
        held = sum(part for part in parts if part is not None)
        return int(held) if math.isfinite(held) else None


LEDGER = ("input_bytes", "output_bytes", "workspace_bytes")
"""Keys of the figures that make up the footprint: what is given, what is written, what is held beside."""


SEPARATOR = " · "  # between two notes
TURNS_BROKEN_OFF = "sampled apart, as the turns of its problem's kernels were broken off"
"""How the note begins of a point whose samples lie apart in time from those it was to take turns with."""


def joined_notes(*notes: str) -> str:
    """Several notes as one; empty ones leave no trace."""
    return SEPARATOR.join(filter(None, notes))
