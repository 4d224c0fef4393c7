"""A column of figures in one unit, which its heading names."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from flashscope.app.words.units import KIB, KILO, digits, whole_text
from flashscope.profiles.results.quantities.quantity import Quantity, QuantityKind


class Unit(NamedTuple):
    """A unit of a kind of quantity.

    Attributes:
        name: As it stands in a heading.
        size: What one of it is, in the unit in which values are held.
        text: A number of them.
    """

    name: str
    size: float = 1.0
    text: Callable[[float], str] = digits

    def write(self, value: float) -> str:
        """A value without the unit."""
        return self.text(value / self.size)


UNITS: dict[QuantityKind, tuple[Unit, ...]] = {
    "time": (Unit("µs", 1e-3), Unit("ms"), Unit("s", 1e3)),
    "bytes": tuple(Unit(name, KIB**power) for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))),
    "traffic": tuple(Unit(name, KILO**power) for power, name in enumerate(("B", "kB", "MB", "GB", "TB"))),
    "rate": (Unit("TFLOP/s"),),
    "bandwidth": (Unit("GB/s"), Unit("TB/s", 1e3)),
    "energy": (Unit("mJ"), Unit("J", 1e3)),
    "efficiency": (Unit("tokens/J"),),
    "power": (Unit("W", text=whole_text),),
    "temperature": (Unit("°C", text=whole_text),),
    "clock": (Unit("MHz", text=whole_text),),
}
"""From the smallest up; a kind that is not here has values that say themselves what they are, as 2.7×."""


def unit_of(quantity: Quantity, values: Sequence[float]) -> Unit | None:
    """The largest unit of which the middle one of the values is at least one; None: they need none."""
    units = UNITS.get(quantity.kind)
    if units is None:
        return None
    middle = median(map(abs, values)) if values else 0.0
    return next((unit for unit in reversed(units) if middle >= unit.size), units[0])
