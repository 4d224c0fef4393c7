"""What a quantity is: something that every point has a figure of, or the reason why it has none."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.measurement import Figure

QuantityKind = Literal[
    "time",
    "bytes",
    "traffic",
    "rate",
    "bandwidth",
    "energy",
    "efficiency",
    "power",
    "temperature",
    "clock",
    "ratio",
    "share",
    "error",
    "count",
]
QuantityGroup = Literal["Time", "Memory", "Accuracy", "Traffic", "Device"]
Better = Literal["lower", "higher"]
Derived = Callable[[PointRow, PointRow | None], Figure | None]
"""The figure of a point, and of it beside the baseline at the same N; None: it has none."""


@dataclass(frozen=True)
class Quantity:
    """Something that a point has a figure of.

    Attributes:
        key: Its name in files, of a measured one also in `Measurement.figures`.
        title: Its name where people read it.
        kind: What it is; this decides unit, text, ticks and axis. Bytes are those that are held, traffic is
            those that are moved. Times are in ms, rates in TFLOP/s, bandwidths in GB/s, energies in mJ,
            efficiencies in tokens/J, powers in W, temperatures in °C, clocks in MHz, shares from 0 to 1.
        about: One sentence on what it says.
        group: Among which others it is looked for.
        better: Whether less or more of it is better; None: neither.
        columns: The names of value, low and high in JSON and CSV, those there are; empty: the key alone.
        caption: What the figure is, in a few words beside the unit: `median, quartiles`.
        heading: Its name over a narrow column; empty: the title.
        ends: The names of low and high over narrow columns: quartiles, or the ends of what is not known.
        of: The figure by a function; None: a worker measures it.
        relative: Whether the figure needs a baseline.
        model: The same figure by theory, known before a point has run.
        model_source: Where the model comes from.
        beside: The same figure by another instrument, of points that it was asked about.
        beside_source: Who that is.
        detail: Whether it is left out where there is room for the main figures alone.
        telling: Whether it says anything of a point; None: where there is a figure.
        rounds: The values of single rounds of which its figure is the median; None: there are none on record.
        exact: Whether its figure is counted or worked out, so that two of them are equal or not.
    """

    key: str
    title: str
    kind: QuantityKind
    about: str
    group: QuantityGroup = field(kw_only=True)
    better: Better | None = None
    columns: tuple[str, ...] = ()
    caption: str = ""
    heading: str = ""
    ends: tuple[str, str] = ("q1", "q3")
    of: Derived | None = None
    relative: bool = False
    model: Callable[[PointRow], float | None] | None = None
    model_source: str = ""
    beside: Callable[[PointRow], float | None] | None = None
    beside_source: str = ""
    detail: bool = False
    telling: Callable[[PointRow], bool] | None = None
    rounds: Callable[[PointRow], Sequence[float]] | None = None
    exact: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns in JSON and CSV: of the value, then of the ends of its spread."""
        return self.columns or (self.key,)

    @property
    def short(self) -> str:
        """The quantity's name over a narrow column."""
        return self.heading or self.inside

    @property
    def inside(self) -> str:
        """Its title inside a sentence; what is an abbreviation stays one."""
        first, second = self.title[0], self.title[1:2]
        return self.title if second.isupper() or second.isdigit() else f"{first.lower()}{self.title[1:]}"

    def figure(self, row: PointRow, baseline: PointRow | None = None) -> Figure | None:
        """The quantity's figure of a point, whatever became of that; None where there is none.

        Args:
            row: The point.
            baseline: What a relative quantity compares with: a done point at the same N, or None.
        """
        known = row.measured(self.key) if self.of is None else self.of(row, baseline)
        return known if known is None or self.kind == "error" else _a_number(known)

    def says(self, row: PointRow) -> bool:
        """Whether it says anything of this point."""
        return self.figure(row) is not None if self.telling is None else self.telling(row)


def value_of(quantity: Quantity, row: PointRow, baseline: PointRow | None = None) -> float | None:
    """The value of a quantity's figure, None where there is none."""
    figure = quantity.figure(row, baseline)
    return None if figure is None else figure.value


def _a_number(figure: Figure) -> Figure:
    """The figure, or that there is none where it is NaN or infinite; an error may well be."""
    if all(one is None or math.isfinite(one) for one in (figure.value, figure.low, figure.high)):
        return figure
    return replace(figure, value=None, low=None, high=None, missing=f"{figure.value} is no figure")
