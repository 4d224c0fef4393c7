"""What one plot over N shows: a figure of a row, its unit, its scale and its model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from profiles.summary import PointRow

Scale = Literal["log2", "log10", "linear"]
Figure = Callable[[PointRow, PointRow | None], float | None]  # the row, and its baseline at the same N


@dataclass(frozen=True)
class Metric:
    """One figure drawn over sequence length.

    Attributes:
        key: Its name in exports.
        title: Its name on the card.
        heading: What stands over a column of its readouts, with the unit that their text leaves out.
        unit: What stands at the right of the card's title.
        unit_name: The unit of exported values.
        scale: The y axis it opens with.
        text: A value as the readout shows it.
        tick: A value as the axis shows it.
        value: The figure of a done row; None when it has none.
        low: Lower end of its spread, None where there is no spread.
        high: Upper end of its spread.
        model: The same figure by theory, for any row whatever its status.
        model_source: Where the model comes from, in words.
    """

    key: str
    title: str
    heading: str
    unit: str
    unit_name: str
    scale: Scale
    text: Callable[[float], str]
    tick: Callable[[float], str]
    value: Figure
    low: Figure | None = None
    high: Figure | None = None
    model: Figure | None = None
    model_source: str = ""
